"""Model files of strangers: nothing in them is called, replaces a method, or allocates what it announces."""

import hashlib
import io
import json
import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

import altmin
from altmin.datasets import make_dir
from altmin.guarantees.report import VERDICTS
from altmin.io.container import ContainerError, read_container, write_container

X = make_dir(300, 30, 4, random_state=0).X
GOLDEN = Path(__file__).parent.parent / "golden"


def forge(path, tree=None, estimator="AND", array=None, **changes):
    """A container whose checksums are right, whatever is in it."""
    write_container(path, tree if tree is not None else {"parameters": {}, "fitted": {}}, {})
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"])
    manifest["meta"] = {"estimator": estimator}
    if array is not None:
        members["arrays/0.npy"] = array
        manifest["sha256"] = [hashlib.sha256(array).hexdigest()]
        manifest["structure"] = {"$": "array", "array": 0}
    manifest.update(changes)
    members["manifest.json"] = json.dumps(manifest).encode()
    members["manifest.sha256"] = hashlib.sha256(members["manifest.json"]).hexdigest().encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def model(parameters=None, **fitted):
    return {"parameters": {"n_components": 4, **(parameters or {})}, "fitted": fitted}


@pytest.mark.parametrize("name", ["save", "load", "omp", "os.system", "__import__", 3, None, ["AND"]])
def test_only_estimators_are_made_and_functions_never_called(tmp_path, name):
    forge(tmp_path / "m", model(), estimator=name)
    with pytest.raises(ContainerError, match="unknown kind"):
        altmin.load(tmp_path / "m")


@pytest.mark.parametrize(
    "name", ["fit", "transform", "__class__", "__dict__", "_run", "a b", "x", "__reduce__"]
)
def test_no_method_is_replaced(tmp_path, name):
    forge(tmp_path / "m", model(**{name: 1}))
    with pytest.raises(ContainerError, match="no fitted attribute"):
        altmin.load(tmp_path / "m")


@pytest.mark.parametrize(
    "tree",
    [
        [1],
        {},
        {"parameters": {}},
        {"parameters": [], "fitted": {}},
        model({"n_components": "many"}, components_=1),
        model({"no_such": 1}),
        model({"random_state": {"random_state": ("MT19937", 1, 2)}}),
    ],
)
def test_what_is_no_model_is_refused(tmp_path, tree):
    forge(tmp_path / "m", tree)
    with pytest.raises(ContainerError):
        altmin.load(tmp_path / "m")


def npy(descr, shape, data=b"\0" * 64):
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": descr, "fortran_order": False, "shape": shape})
    return head.getvalue() + data


@pytest.mark.parametrize(
    "array",
    [
        npy("<f8", (10**15,)),
        npy("<f8", (-2, -4)),
        npy("|V8", (8,)),
        npy([("a", "<f8")], (8,)),
        npy("<M8[s]", (8,)),
        npy("|O", (8,), pickle.dumps([1])),
        b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535,
        b"\x93NUMPY\x03\x00" + struct.pack("<I", 2**31) + b"{}",
        b"garbage",
    ],
)
def test_arrays_that_announce_nonsense_are_refused(tmp_path, array):
    forge(tmp_path / "m", array=array)
    with pytest.raises(ContainerError):
        read_container(tmp_path / "m")


def test_deep_nesting_is_refused(tmp_path):
    forge(tmp_path / "m")
    text = '{"format": "altmin", "version": 1, "meta": {}, "sha256": [], "structure": %s}'
    data = (text % ("[" * 100_000 + "]" * 100_000)).encode()
    with zipfile.ZipFile(tmp_path / "m", "w") as archive:
        archive.writestr("manifest.json", data)
        archive.writestr("manifest.sha256", hashlib.sha256(data).hexdigest())
    with pytest.raises(ContainerError):
        read_container(tmp_path / "m")


def test_a_member_that_announces_more_than_the_file_has_is_not_allocated(tmp_path):
    path = tmp_path / "m"
    write_container(path, {"a": np.zeros(100)}, {})
    data = bytearray(path.read_bytes())
    entry = data.index(b"PK\x01\x02")  # the manifest's entry of the central directory
    struct.pack_into("<II", data, entry + 20, 0xFFFFFFF0, 0xFFFFFFF0)
    path.write_bytes(bytes(data))
    with pytest.raises(ContainerError, match="announces"):
        read_container(path)


def test_a_random_state_comes_back_in_its_state(tmp_path):
    state = np.random.RandomState(5)
    state.rand(3)
    altmin.save(altmin.AND(4, random_state=state), tmp_path / "m")
    back = altmin.load(tmp_path / "m").random_state
    assert back is not state
    np.testing.assert_array_equal(back.rand(10), state.rand(10))


def test_a_function_as_parameter_is_refused_by_name(tmp_path):
    with pytest.raises(TypeError, match="the parameter init is a function"):
        altmin.save(altmin.AND(4, init=len), tmp_path / "m")


@pytest.mark.parametrize("name", ["and", "complete", "machine"])
def test_files_of_earlier_versions_are_read(name):
    """Written by the first version of the format; they have to be readable for ever."""
    expected = np.load(GOLDEN / f"{name}.npy")
    back = altmin.load(GOLDEN / f"{name}.altmin")
    rows = np.random.default_rng(1).random((5, back.n_features_in_))
    values = back.predict(rows) if name == "machine" else back.transform(rows)
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-12)
    assert back.guarantee_.verdict in VERDICTS


def test_a_checkpoint_of_an_earlier_version_is_read():
    import altmin.algorithms.nonnegative.and_nmf  # noqa: F401 (whose state it is)

    saved, meta = read_container(GOLDEN / "checkpoint.altmin")
    assert saved.n_iter == 4
    assert [row["iteration"] for row in saved.history] == [1, 2, 3, 4]
    assert len(meta["key"]) == 64


def test_skops_keeps_models_too():
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    fitted = altmin.AND(4, max_iter=5).fit(X)
    data = skops.dumps(fitted)
    foreign = skops.get_untrusted_types(data=data)
    assert all(name.startswith(("altmin.", "numpy.", "sklearn.")) for name in foreign), foreign
    back = skops.loads(data, trusted=foreign)
    np.testing.assert_array_equal(back.transform(X), fitted.transform(X))
    with pytest.raises(Exception, match="Untrusted"):
        skops.loads(data)
