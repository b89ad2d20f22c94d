"""Bad data, interrupted and resumed fits, streams where none can be: errors that help, never NaN."""

import numpy as np
import pytest

from altmin import CompleteDictionaryLearning, OnlineDictionaryLearning, OrthogonalDictionaryLearning
from altmin.datasets import make_sparse_dictionary
from altmin.metrics import atom_error

PROBLEM = make_sparse_dictionary(1200, 6, density=0.2, orthogonal=True, random_state=0)
MODELS = [
    OrthogonalDictionaryLearning(),
    CompleteDictionaryLearning(random_state=0),
    OnlineDictionaryLearning(batch_size=200, start_size=400, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_value_is_named_and_the_model_unchanged(model, bad):
    model.fit(PROBLEM.X)
    before = model.components_.copy()
    X = PROBLEM.X.copy()
    X[777, 3] = bad
    with pytest.raises(ValueError, match=r"NaN|inf"):
        model.fit(X)
    np.testing.assert_array_equal(model.components_, before)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_degenerate_data_give_a_clear_error_or_finite_atoms(model):
    rng = np.random.default_rng(0)
    constant = PROBLEM.X.copy()
    constant[:, 2] = 0.0
    for X in (
        PROBLEM.X[:1],
        np.zeros((50, 6)),
        np.repeat(PROBLEM.X[:1], 50, axis=0),
        constant,
        rng.standard_normal((50, 6)) * np.array([1, 1, 1, 1, 1, 1e-12]),
    ):
        try:
            fitted = model.fit(X)
        except ValueError as error:
            assert any(word in str(error) for word in ("zeros", "span", "samples"))
        else:
            assert np.isfinite(fitted.components_).all()
            assert np.isfinite(fitted.transform(X)).all()


@pytest.mark.parametrize("stop", [3, 25, 40])
@pytest.mark.parametrize("model", MODELS[:2], ids=lambda m: type(m).__name__)
def test_a_resumed_fit_gives_the_same_bits(model, stop, tmp_path):
    whole = type(model)(**model.get_params()).fit(PROBLEM.X)
    parted = type(model)(**model.get_params()).set_params(checkpoint=tmp_path)
    parted.set_params(max_iter=stop).fit(PROBLEM.X)
    parted.set_params(max_iter=model.max_iter).fit(PROBLEM.X)
    np.testing.assert_array_equal(parted.components_, whole.components_)
    assert parted.n_iter_ == whole.n_iter_


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_leave_the_bits_alone(n_jobs):
    problem = make_sparse_dictionary(20000, 8, density=0.2, random_state=1)
    one = CompleteDictionaryLearning(random_state=0, n_jobs=1).fit(problem.X)
    more = CompleteDictionaryLearning(random_state=0, n_jobs=n_jobs).fit(problem.X)
    np.testing.assert_array_equal(one.components_, more.components_)


def test_a_one_way_stream_needs_the_online_estimator():
    for model in MODELS[:2]:
        with pytest.raises(ValueError, match="one-way stream"):
            model.fit(block for block in np.split(PROBLEM.X, 3))


def test_a_stream_that_changes_width_is_refused():
    blocks = [PROBLEM.X[:500], PROBLEM.X[:500, :4]]
    with pytest.raises(ValueError, match="features"):
        OnlineDictionaryLearning(batch_size=200, start_size=400).fit(iter(blocks))


@pytest.mark.parametrize("threshold", [0.05, 0.3])
def test_a_threshold_that_is_given_is_the_threshold_of_the_codes(threshold):
    """In units of the data: codes of unit atoms below it are zero, in the fit and in transform."""
    problem = make_sparse_dictionary(2000, 12, density=0.2, random_state=0)
    model = CompleteDictionaryLearning(threshold=threshold, random_state=0).fit(problem.X)
    np.testing.assert_allclose(model.thresholds_, threshold)
    codes = model.transform(problem.X)
    magnitudes = np.abs(codes[codes != 0])
    assert magnitudes.min() >= threshold
    assert atom_error(model.components_, problem.components) < 0.02
    linear = np.abs(problem.X @ np.linalg.pinv(model.components_))
    np.testing.assert_array_equal(codes != 0, linear >= threshold)
