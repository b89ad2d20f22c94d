"""The report is green for what is recovered, and turns red when a condition is broken on purpose."""

import numpy as np
import pytest

import altmin
from altmin import CompleteDictionaryLearning, OnlineDictionaryLearning, OrthogonalDictionaryLearning
from altmin.datasets import make_sparse_dictionary
from altmin.metrics import atom_error, sine_errors


def test_exact_recovery_is_said_by_all_three():
    problem = make_sparse_dictionary(2000, 12, density=0.15, orthogonal=True, random_state=0)
    for model in (
        OrthogonalDictionaryLearning(),
        CompleteDictionaryLearning(random_state=0),
        OnlineDictionaryLearning(random_state=0),
    ):
        model.fit(problem.X)
        assert atom_error(model.components_, problem.components) < 1e-12
        assert model.guarantee_.verdict == "recovered", model.guarantee_
        assert {factor.verdict for factor in model.guarantee_.factors} == {"recovered"}
        assert model.guarantee_["off"].status == model.guarantee_["span"].status == "holds"


@pytest.mark.parametrize("seed", [0, 1])
def test_data_without_structure_are_never_recovered(seed):
    X = np.random.default_rng(seed).standard_normal((600, 5))
    report = CompleteDictionaryLearning(random_state=0, max_iter=300).fit(X).guarantee_
    assert report.verdict in ("unknown", "contradicted")
    assert report["off"].status == "violated" or report["structure"].status == "violated"


def test_codes_that_share_their_support_break_the_span():
    problem = make_sparse_dictionary(2000, 8, density=0.15, random_state=1)
    codes = problem.codes.copy()
    codes[:, 1] = np.where(codes[:, 0] != 0, np.random.default_rng(0).standard_normal(len(codes)), 0.0)
    model = CompleteDictionaryLearning(random_state=0).fit(codes @ problem.components)
    if atom_error(model.components_, problem.components) > 0.05:
        assert model.guarantee_.verdict != "recovered"
    assert model.guarantee_["phi"].status == "violated"


def test_a_mixed_pair_is_not_recovered():
    """(x_1 +- x_2) / sqrt 2 has exact zeros, too: the two are doubted, the others are not."""
    problem = make_sparse_dictionary(2000, 6, density=0.3, kind="rad", random_state=2)
    model = CompleteDictionaryLearning(random_state=0).fit(problem.X)
    assert model.guarantee(problem.X, effort="cheap").verdict == "recovered"
    mixed = problem.components.copy()
    mixed[:2] = np.array([[1.0, 1.0], [1.0, -1.0]]) @ problem.components[:2]
    model.components_ = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    report = model.guarantee(problem.X, effort="cheap")
    assert report.verdict != "recovered"
    said = [factor.verdict == "recovered" for factor in report.factors]
    assert said == [False, False, True, True, True, True]


def test_copies_of_few_samples_are_no_evidence():
    problem = make_sparse_dictionary(15, 8, density=0.2, random_state=3)
    X = problem.X[np.random.default_rng(0).integers(15, size=1500)]
    model = CompleteDictionaryLearning(random_state=0, max_iter=400).fit(X)
    assert model.guarantee_.verdict != "recovered"


def test_noise_is_no_obstacle_and_the_errors_are_honest():
    problem = make_sparse_dictionary(3000, 8, density=0.15, condition=3, snr_db=20, random_state=4)
    model = CompleteDictionaryLearning(random_state=0).fit(problem.X)
    report = model.guarantee(problem.X)
    assert model.guarantee_.verdict == report.verdict == "recovered"
    assert report.effort == "full"
    errors = sine_errors(problem.components, model.components_)
    bounds = np.array([factor.bound for factor in report.factors])
    assert np.mean(errors <= bounds) >= 0.7
    assert np.all(errors <= 3 * bounds)
    assert model.guarantee(problem.X, effort="cheap").effort == "cheap"
    with pytest.raises(ValueError, match="effort"):
        model.guarantee(problem.X, effort="some")


def test_image_like_data_are_warned_about():
    rng = np.random.default_rng(5)
    walks = np.cumsum(rng.standard_normal((800, 24)), axis=1)  # smooth signals
    with pytest.warns(UserWarning, match="whitening"):
        CompleteDictionaryLearning(random_state=0, max_iter=200).fit(walks)


@pytest.mark.parametrize("name", ["Orthogonal", "Complete", "Online"])
def test_models_and_their_reports_survive_a_file(name, tmp_path):
    problem = make_sparse_dictionary(1500, 6, density=0.2, orthogonal=True, random_state=6)
    model = getattr(altmin, f"{name}DictionaryLearning")().set_params(random_state=0).fit(problem.X)
    altmin.save(model, tmp_path / "model.altmin")
    loaded = altmin.load(tmp_path / "model.altmin")
    np.testing.assert_array_equal(loaded.transform(problem.X), model.transform(problem.X))
    assert loaded.guarantee_.verdict == model.guarantee_.verdict
    if name == "Online":
        more = problem.X[:1000]
        np.testing.assert_array_equal(
            loaded.partial_fit(more).components_, model.partial_fit(more).components_
        )


def test_the_full_report_of_orthogonal_dictionaries_starts_elsewhere():
    problem = make_sparse_dictionary(1200, 6, density=0.15, orthogonal=True, snr_db=20, random_state=7)
    model = OrthogonalDictionaryLearning().fit(problem.X)
    report = model.guarantee(problem.X)
    assert report.verdict == "recovered"
    assert 0 < report["restarts"].measured < 0.05
    noise = np.random.default_rng(0).standard_normal((500, 6))
    assert OrthogonalDictionaryLearning().fit(noise).guarantee(noise).verdict in ("unknown", "contradicted")
