"""Noise, a mean, scales, outliers, sorted rows, changes: what real data do to a dictionary."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from altmin import CompleteDictionaryLearning, OnlineDictionaryLearning, OrthogonalDictionaryLearning
from altmin.datasets import make_sparse_dictionary
from altmin.metrics import atom_error, sine_errors


def oracle_ratio(model, problem):
    """Worst atom, over the worst atom of least squares with the true codes."""
    best = np.linalg.lstsq(problem.codes, problem.X, rcond=None)[0]
    best = best / np.linalg.norm(best, axis=1, keepdims=True)
    ours = sine_errors(model.components_, problem.components).max()
    return ours / sine_errors(best, problem.components).max()


@pytest.mark.parametrize(("kind", "density", "snr_db", "condition"), [
    ("gauss", 0.1, 20, None), ("gap", 0.2, 40, None), ("gauss", 0.2, 60, None), ("gauss", 0.1, 30, 100),
])  # fmt: skip
def test_noise_leaves_little_more_than_the_oracle(kind, density, snr_db, condition):
    problem = make_sparse_dictionary(
        4000, 20, density=density, kind=kind, snr_db=snr_db, condition=condition, random_state=11
    )
    model = CompleteDictionaryLearning(random_state=0).fit(problem.X)
    assert oracle_ratio(model, problem) < 1.5
    assert abs(model.noise_std_ / problem.noise_std - 1) < 0.05
    assert model.outcome_.kind == "converged"


def test_a_direction_that_is_nearly_lost_costs_nothing():
    rng = np.random.default_rng(3)
    U, s, Vt = np.linalg.svd(rng.standard_normal((12, 12)))
    s[-1] = s[0] / 1e4
    A = (U * s) @ Vt
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    problem = make_sparse_dictionary(2400, 12, density=0.1, kind="gauss", random_state=3)
    X = problem.codes @ A
    X += 0.01 * np.sqrt(np.mean(X**2)) * rng.standard_normal(X.shape)
    model = CompleteDictionaryLearning(random_state=0).fit(X)
    assert oracle_ratio(model, replace(problem, X=X, components=A)) < 1.5


@pytest.mark.parametrize("size", [1.0, 100.0])
def test_a_mean_is_found_with_the_atoms(size):
    problem = make_sparse_dictionary(2000, 15, density=0.15, kind="gauss", random_state=1)
    mean = size * np.sqrt(np.mean(problem.X**2)) * np.random.default_rng(0).standard_normal(15)
    model = CompleteDictionaryLearning(random_state=0).fit(problem.X + mean)
    assert atom_error(model.components_, problem.components) < 1e-12
    np.testing.assert_allclose(model.intercept_, mean, atol=1e-12 * size)
    X = problem.X + mean
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-10 * size)


def test_without_an_intercept_the_mean_is_the_user_s_affair():
    problem = make_sparse_dictionary(1000, 10, density=0.15, random_state=1)
    plain = CompleteDictionaryLearning(random_state=0).fit(problem.X)
    told = CompleteDictionaryLearning(random_state=0, fit_intercept=False).fit(problem.X)
    np.testing.assert_array_equal(plain.components_, told.components_)
    assert not plain.intercept_.any()


def test_codes_of_one_sign_have_a_mean_and_no_intercept():
    problem = make_sparse_dictionary(3000, 12, density=0.15, random_state=2)
    X = np.abs(problem.codes) @ problem.components
    model = CompleteDictionaryLearning(random_state=0).fit(X)
    assert atom_error(model.components_, problem.components) < 1e-12
    assert np.abs(model.intercept_).max() < 1e-12


@pytest.mark.parametrize("kind", ["scales", "outliers", "gross"])
def test_uneven_rows_and_outliers_are_named_and_do_no_harm(kind):
    problem = make_sparse_dictionary(3000, 15, density=0.15, kind="gauss", random_state=3)
    rng, X = np.random.default_rng(0), problem.X.copy()
    bad = rng.random(3000) < 0.05
    if kind == "scales":
        X, bad = X * 10 ** rng.uniform(-3, 3, (3000, 1)), np.zeros(3000, bool)
    elif kind == "outliers":
        X[bad] = 20 * rng.standard_normal((bad.sum(), 15))
    else:
        entries = rng.random(X.shape) < 0.001
        X[entries] += 100 * rng.standard_normal(entries.sum())
        bad = entries.any(axis=1)
    with pytest.warns(UserWarning, match="shrunk"):
        model = CompleteDictionaryLearning(random_state=0).fit(X)
    assert atom_error(model.components_, problem.components) < 1e-12
    assert np.all(model.outlier_mask_[bad])
    assert model.outlier_mask_.mean() < bad.mean() + 0.02
    codes = model.transform(X[~bad])
    np.testing.assert_array_equal((codes != 0).sum(), (problem.codes[~bad] != 0).sum())


def test_codes_with_heavy_tails_lose_no_atom_in_noise():
    """A tenth of the rows holds no atom: scaled to the size of the others, they were outliers."""
    rng = np.random.default_rng(8)
    A = rng.standard_normal((20, 20))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    codes = (rng.random((4000, 20)) < 0.1) * rng.standard_t(3, (4000, 20))
    X = codes @ A
    X = X + 10 ** (-40 / 20) * np.sqrt(np.mean(X**2)) * rng.standard_normal(X.shape)
    with pytest.warns(UserWarning, match="shrunk"):
        model = CompleteDictionaryLearning(random_state=0).fit(X)
    best = np.linalg.lstsq(codes, X, rcond=None)[0]
    best /= np.linalg.norm(best, axis=1, keepdims=True)
    assert sine_errors(model.components_, A).max() < 4 * sine_errors(best, A).max()
    assert model.outlier_mask_.mean() < 0.02


@pytest.mark.parametrize("threshold", [0.05, 0.3])
def test_a_threshold_given_as_a_number_is_kept(threshold):
    problem = make_sparse_dictionary(2000, 12, density=0.15, kind="gap", random_state=4)
    model = CompleteDictionaryLearning(random_state=0, threshold=threshold).fit(problem.X)
    np.testing.assert_allclose(model.thresholds_, threshold)
    assert atom_error(model.components_, problem.components) < 1e-12
    assert np.count_nonzero(model.transform(problem.X)) == np.count_nonzero(problem.codes)


def test_a_threshold_given_as_a_number_costs_no_accuracy_in_noise():
    problem = make_sparse_dictionary(3000, 15, density=0.15, kind="gap", snr_db=30, random_state=4)
    model = CompleteDictionaryLearning(random_state=0, threshold=0.3).fit(problem.X)
    assert oracle_ratio(model, problem) < 1.5
    np.testing.assert_allclose(model.thresholds_, 0.3)
    codes = model.transform(problem.X)
    assert np.abs(codes[codes != 0]).min() >= 0.3


@pytest.mark.parametrize("batch_size", [200, 1000])
def test_sorted_rows_are_as_good_as_shuffled_ones(batch_size):
    problem = make_sparse_dictionary(4000, 15, density=0.1, random_state=5)
    order = np.argsort(problem.X[:, 0])
    model = CompleteDictionaryLearning(random_state=0, batch_size=batch_size).fit(problem.X[order])
    assert atom_error(model.components_, problem.components) < 1e-12


def test_data_that_span_less_are_fitted_in_their_span_and_said_so():
    problem = make_sparse_dictionary(2000, 12, 8, density=0.2, random_state=6)
    with pytest.warns(UserWarning, match="span only 8 of 12"):
        model = CompleteDictionaryLearning(random_state=0).fit(problem.X)
    assert atom_error(model.components_, problem.components) < 1e-12


def test_many_features_and_few_atoms():
    problem = make_sparse_dictionary(1500, 800, 10, density=0.2, random_state=7)
    model = CompleteDictionaryLearning(10, random_state=0).fit(problem.X)
    assert atom_error(model.components_, problem.components) < 1e-12


@pytest.mark.parametrize("seed", [0, 1])
def test_signs_under_an_orthogonal_dictionary(seed):
    """One start by a falling threshold finds about a quarter of these."""
    problem = make_sparse_dictionary(4000, 30, density=0.2, kind="rad", orthogonal=True, random_state=seed)
    model = OrthogonalDictionaryLearning(random_state=seed).fit(problem.X)
    assert atom_error(model.components_, problem.components) < 1e-12
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(30), atol=1e-12)


@pytest.mark.parametrize(("n_changed", "snr_db"), [(1, None), (4, None), (2, 40)])
def test_a_change_of_some_atoms_is_found_and_named(n_changed, snr_db):
    rng = np.random.default_rng([n_changed, 5])
    before = rng.standard_normal((12, 12))
    before /= np.linalg.norm(before, axis=1, keepdims=True)
    after, atoms = before.copy(), rng.choice(12, n_changed, replace=False)
    after[atoms] = rng.standard_normal((n_changed, 12))
    after /= np.linalg.norm(after, axis=1, keepdims=True)
    codes = (rng.random((8000, 12)) < 0.15) * rng.standard_normal((8000, 12))
    X = np.vstack([codes[:5200] @ before, codes[5200:] @ after])
    noise = 0.0 if snr_db is None else np.sqrt(np.mean(X**2)) * 10 ** (-snr_db / 20)
    model = OnlineDictionaryLearning(batch_size=500, random_state=0)
    model.fit(X + noise * rng.standard_normal(X.shape))
    error = sine_errors(model.components_, after).max()
    assert error < (1e-12 if snr_db is None else 5 * noise)
    assert len(model.changes_) >= 1
    assert 5200 < model.changes_[0]["n_samples"] < 8200
    assert len(model.changes_[0]["atoms"]) == n_changed


def test_no_change_is_seen_in_a_stationary_stream():
    problem = make_sparse_dictionary(30_000, 10, density=0.15, snr_db=30, random_state=8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = OnlineDictionaryLearning(batch_size=500, random_state=0).fit(problem.X)
    assert model.changes_ == []
    assert model.n_searches_ == 1


def test_a_search_that_led_astray_is_left_for_the_next_one():
    """Coded photographs: the first search ends in zeros of a wrong dictionary, and has to end."""
    pytest.importorskip("PIL", reason="the extra 'demo' is not installed")
    from altmin.demo.scrambled import _china, _key

    codes, rng = _china().codes, np.random.default_rng(0)
    codes = codes[np.abs(codes).sum(axis=1) > 0]
    X = np.vstack([rng.permutation(codes) for _ in range(2)])[:3000] @ _key(0)
    model = CompleteDictionaryLearning(random_state=0).fit(X)
    assert model.outcome_ == "converged"
    assert sine_errors(model.components_, _key(0)).max() < 1e-12


@pytest.mark.seeds
def test_noise_of_90_db_ends_at_the_oracle(seed):
    """Too small for starts to see and too large for exact zeros: thresholds above it would cost 20 times."""
    problem = make_sparse_dictionary(2000, 12, density=0.1, kind="gauss", snr_db=90, random_state=seed)
    model = CompleteDictionaryLearning(random_state=0).fit(problem.X)
    oracle = np.linalg.lstsq(problem.codes, problem.X, rcond=None)[0]
    ours, best = (np.max(sine_errors(A, problem.components)) for A in (model.components_, oracle))
    assert ours < 1.5 * best
