"""Model files: what was saved is what is loaded, and anything else is refused."""

import zipfile

import numpy as np
import pandas as pd
import pytest

import altmin
from altmin.datasets import make_dir
from altmin.io.container import ContainerError, write_container

X = make_dir(300, 30, 4, random_state=0).X


def test_a_model_comes_back_with_everything(tmp_path):
    frame = pd.DataFrame(X, columns=[f"word {i}" for i in range(30)])
    model = altmin.AND(4, max_iter=7, random_state=3).fit(frame)
    altmin.save(model, tmp_path / "m.altmin")
    back = altmin.load(tmp_path / "m.altmin")
    assert back.get_params() == model.get_params()
    assert vars(back).keys() == vars(model).keys()
    np.testing.assert_array_equal(back.transform(frame), model.transform(frame))
    assert list(back.feature_names_in_) == list(frame.columns)
    assert back.outcome_ == model.outcome_
    assert back.history_ == model.history_


def test_an_array_as_parameter_comes_back(tmp_path):
    model = altmin.AND(4, init=X[:4], threshold=(0.1, 1.1), max_iter=3).fit(X)
    altmin.save(model, tmp_path / "m.altmin")
    back = altmin.load(tmp_path / "m.altmin")
    np.testing.assert_array_equal(back.init, X[:4])
    assert back.threshold == (0.1, 1.1)


def test_only_estimators_of_altmin_are_saved(tmp_path):
    from sklearn.decomposition import PCA

    with pytest.raises(TypeError, match="not an estimator of altmin"):
        altmin.save(PCA(2), tmp_path / "m.altmin")


def test_other_containers_are_no_models(tmp_path):
    write_container(tmp_path / "m.altmin", {"a": 1}, {"estimator": "os.system"})
    with pytest.raises(ContainerError, match="unknown kind"):
        altmin.load(tmp_path / "m.altmin")
    with pytest.raises(FileNotFoundError):
        altmin.load(tmp_path / "missing.altmin")


@pytest.mark.parametrize("member", ["arrays/0.npy", "manifest.json"])
def test_a_file_that_was_changed_and_zipped_again_is_refused(tmp_path, member):
    """The zip's own checksum is right then: only ours can tell."""
    path = tmp_path / "model.altmin"
    altmin.save(altmin.AND(4, max_iter=5, random_state=0).fit(X), path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    content = members[member]
    if member == "manifest.json":
        members[member] = content.replace(b'"max_iter": 5', b'"max_iter": 7')
    else:
        members[member] = content[:-1] + bytes([content[-1] ^ 1])
    assert members[member] != content
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(ContainerError, match="checksum"):
        altmin.load(path)
