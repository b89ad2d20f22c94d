"""Machines on tables, clicks and streams: what users bring, and what must not happen to it."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning

from altmin import (
    CodedDiffraction,
    FactorizationMachineClassifier,
    FactorizationMachineRegressor,
    InductiveMatrixCompletion,
    PhaseRetrieval,
    RankOneSensing,
)
from altmin.algorithms.quadratic import grow_cut, least_squares
from altmin.datasets import make_quadratic


def heavy(kind, n, d, rng):
    if kind == "binary":
        return (rng.random((n, d)) < 0.1).astype(float)
    if kind == "t3":
        return rng.standard_t(3, (n, d))
    return np.exp(rng.standard_normal((n, d)))


@pytest.mark.parametrize("kind", ["binary", "t3", "lognormal"])
def test_laws_in_heavy_tailed_and_sparse_features_are_found(kind):
    rng = np.random.default_rng(21)
    X = heavy(kind, 5000, 12, rng)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    U = np.linalg.qr(rng.standard_normal((12, 2)))[0]
    law = Z @ rng.standard_normal(12) / 3 + np.square(Z @ U) @ [1.0, -1.0]
    law /= law.std()
    fitted = FactorizationMachineRegressor(2, random_state=0).fit(
        X[:4000], (law + 0.1 * rng.standard_normal(5000))[:4000]
    )
    assert np.mean((fitted.predict(X[4000:]) - law[4000:]) ** 2) < 0.01


def test_few_noiseless_rows_suffice():
    planted = make_quadratic(110, 20, 2, mixed_signs=True, random_state=3)  # 60 parameters
    fitted = FactorizationMachineRegressor(2, random_state=0).fit(planted.X, planted.y)
    assert planted.error(fitted.coef_, fitted.factors_, fitted.eigenvalues_) < 1e-8


def test_more_rows_are_never_worse():
    errors = []
    for n in (5_000, 80_000):
        planted = make_quadratic(n, 6, 2, noise=0.3, random_state=1)
        fitted = FactorizationMachineRegressor(2, random_state=0).fit(planted.X, planted.y)
        errors.append(planted.error(fitted.coef_, fitted.factors_, fitted.eigenvalues_))
    assert errors[1] < 0.5 * errors[0]  # a quarter is expected


def test_a_noisy_table_with_few_rows_is_shrunk():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 10))
    y = X[:, 0] + 2 * rng.standard_normal(600)
    fitted = FactorizationMachineRegressor(8, random_state=0).fit(X[:150], y[:150])
    design = np.column_stack([np.ones(600), X])
    linear = design[150:] @ np.linalg.lstsq(design[:150], y[:150], rcond=None)[0]
    assert np.mean((fitted.predict(X[150:]) - y[150:]) ** 2) < 1.05 * np.mean((linear - y[150:]) ** 2)


def test_columns_that_are_nearly_copies_of_each_other_are_shrunk_together():
    rng = np.random.default_rng(931)
    X = np.repeat(rng.standard_normal((2500, 5)), 2, axis=1)
    X[:, 1::2] += 0.02 * rng.standard_normal((2500, 5))
    law = np.square(X @ rng.standard_normal(10)) / 10 + X[:, 0]
    y = law[:500] + 0.5 * law.std() * rng.standard_normal(500)
    fitted = FactorizationMachineRegressor(6, random_state=0).fit(X[:500], y)
    products = np.hstack(
        [X[:, ::2], *(X[:, [i]] * X[:, i:10:2] for i in range(0, 10, 2)), np.ones((2500, 1))]
    )
    oracle = products @ np.linalg.lstsq(products[:500], y, rcond=None)[0]  # who knows that there are five
    left, least = (np.mean((f - law)[500:] ** 2) for f in (fitted.predict(X), oracle))
    assert left < least


@pytest.mark.parametrize("kind", ["mean 3", "uniform", "poisson"])
def test_symmetric_sensing_with_designs_of_any_mean(kind):
    rng = np.random.default_rng(5)
    X = {
        "mean 3": 3 + rng.standard_normal((1500, 8)),
        "uniform": rng.random((1500, 8)),
        "poisson": rng.poisson(2.0, (1500, 8)).astype(float),
    }[kind]
    U = rng.standard_normal((8, 2))
    M = (U * [1.0, -1.0]) @ U.T
    fitted = RankOneSensing(2, random_state=0).fit(X, np.einsum("ij,jk,ik->i", X, M, X))
    np.testing.assert_allclose(fitted.matrix(), M, atol=1e-8)


def clicks(n, seed=0):
    """One-hot rows of three fields whose odds come from products of levels."""
    rng = np.random.default_rng(seed)
    columns = np.column_stack(
        [rng.integers(0, 50, n), 50 + rng.integers(0, 40, n), 90 + rng.integers(0, 10, n)]
    )
    X = sp.csr_array((np.ones(3 * n), columns.ravel(), np.arange(0, 3 * n + 1, 3)), shape=(n, 100))
    V = np.random.default_rng(1).standard_normal((100, 2))
    odds = 1.5 * np.sum(V[columns[:, 0]] * V[columns[:, 1]], axis=1)
    return X, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int), odds


def test_clicks_are_learned_sparse_and_their_probabilities_are_calibrated():
    X, y, odds = clicks(9000)
    fitted = FactorizationMachineClassifier(2, random_state=0).fit(X[:6000], y[:6000])
    p = fitted.predict_proba(X[6000:])[:, 1]
    truth = 1 / (1 + np.exp(-odds[6000:]))
    assert np.mean((p - truth) ** 2) < 0.1 * np.var(truth)
    likely = p > 0.8
    assert abs(p[likely].mean() - y[6000:][likely].mean()) < 0.05
    assert fitted.outcome_.kind == "converged"


def test_chunks_of_clicks_come_close_to_the_whole():
    X, y, _ = clicks(9000)
    whole = FactorizationMachineClassifier(2, random_state=0).fit(X[:6000], y[:6000])
    parts = FactorizationMachineClassifier(2, random_state=0)
    for start in range(0, 6000, 500):
        parts.partial_fit(X[start : start + 500], y[start : start + 500], classes=[0, 1])
    assert parts.score(X[6000:], y[6000:]) > whole.score(X[6000:], y[6000:]) - 0.02
    assert [row["iteration"] for row in parts.history_] == list(range(1, len(parts.history_) + 1))


@pytest.mark.parametrize("kind", ["shuffled", "small first", "sorted", "changed"])
def test_streams_of_any_order_are_learned_and_judged_as_a_fit_is(kind):
    planted = make_quadratic(8000, 8, 2, mixed_signs=True, random_state=7)
    X, y = planted.X.copy(), planted.y
    fitted = FactorizationMachineRegressor(2, random_state=0)
    if kind == "small first":
        X[:400] *= 0.1
        M = (planted.factors.T * planted.eigenvalues) @ planted.factors
        y = planted.intercept + X @ planted.coef + np.einsum("ij,jk,ik->i", X, M, X)
    if kind == "sorted":
        order = np.argsort(X[:, 0])
        X, y = X[order], y[order]
    if kind == "changed":
        other = make_quadratic(4000, 8, 2, random_state=8)
        for start in range(0, 4000, 400):
            fitted.partial_fit(other.X[start : start + 400], other.y[start : start + 400])
    for start in range(0, 8000, 400):
        fitted.partial_fit(X[start : start + 400], y[start : start + 400])
    assert planted.error(fitted.coef_, fitted.factors_, fitted.eigenvalues_) < 1e-8
    assert fitted.guarantee_.verdict == "recovered"


def test_clicks_without_ratings_are_ranked():
    rng = np.random.default_rng(0)
    taste = rng.integers(0, 4, 300)
    likes = rng.random((300, 40)) < np.where(np.arange(40) % 4 == taste[:, None], 0.5, 0.03)
    seen = sp.csr_array((likes & (rng.random(likes.shape) < 0.7)).astype(float))
    with pytest.warns(UserWarning, match="taken for clicks"):
        fitted = InductiveMatrixCompletion(random_state=0).fit(seen)
    best = fitted.recommend(np.arange(300), 3)
    assert np.mean(best % 4 == taste[:, None]) > 0.9
    assert not seen[[5]].toarray()[0, best[5]].any()
    assert fitted.recommend(5, 3).tolist() == best[5].tolist()
    with pytest.raises(ValueError, match="all ratings are 1"):
        InductiveMatrixCompletion(feedback="explicit").fit(seen)


def test_sparse_features_bring_biases_and_new_columns():
    rng = np.random.default_rng(0)
    genres = sp.csr_array((rng.random((60, 12)) < 0.15).astype(float))
    level, genre = rng.standard_normal(80), rng.standard_normal(12)
    R = 3 + level[:, None] + genres @ genre
    mask = rng.random(R.shape) < 0.5
    mask[:, 50:] = False
    seen = sp.csr_array((R[mask], np.nonzero(mask)), shape=R.shape)
    fitted = InductiveMatrixCompletion(2, random_state=0).fit(seen[:, :50], None, genres[:50])
    assert np.sqrt(np.mean((fitted.complete(None, genres[50:]) - R[:, 50:]) ** 2)) < 0.2 * R.std()


def test_phase_retrieval_survives_scales_outliers_and_noise_below_zero():
    rng = np.random.default_rng(0)
    s = rng.standard_normal(30)
    X = rng.standard_normal((200, 30)) * np.geomspace(1, 1e3, 30)
    y = (X @ s) ** 2
    y[[3, 77]] = 40 * y.mean()
    found = PhaseRetrieval(random_state=0).fit(X, y).signal_
    assert min(np.abs(found - s).max(), np.abs(found + s).max()) < 1e-8
    clean = (X @ s) ** 2
    noisy = clean + 0.02 * clean.mean() * rng.standard_normal(200)
    assert noisy.min() < 0
    found = PhaseRetrieval(random_state=0).fit(X, noisy).signal_
    unit = np.geomspace(1, 1e3, 30)
    gap = min(np.linalg.norm((found - s) * unit), np.linalg.norm((found + s) * unit))
    assert gap < 0.1 * np.linalg.norm(s * unit)
    with pytest.raises(ValueError, match="mean of the intensities"):
        PhaseRetrieval().fit(X, -clean)


def test_coded_diffraction_needs_no_matrix():
    rng = np.random.default_rng(1)
    s = rng.standard_normal((16, 20)) + 1j * rng.standard_normal((16, 20))
    designs = CodedDiffraction(np.exp(2j * np.pi * rng.random((8, 16, 20))))
    y = designs.intensities(s)
    np.testing.assert_allclose(y[2], np.abs(np.fft.fft2(designs.masks[2] * s)) ** 2)
    fitted = PhaseRetrieval(random_state=0).fit(designs, y)
    turn = np.vdot(fitted.signal_, s)
    np.testing.assert_allclose(fitted.signal_ * turn / abs(turn), s, atol=1e-8)
    np.testing.assert_allclose(fitted.predict(designs), y, rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match="y has shape"):
        PhaseRetrieval().fit(designs, y[:3])


@pytest.mark.parametrize("dtype", [float, complex])
def test_any_linear_operator_serves_as_design(dtype):
    rng = np.random.default_rng(3)
    X, s = rng.standard_normal((240, 30)), rng.standard_normal(30)
    if dtype is complex:
        X, s = X + 1j * rng.standard_normal(X.shape), s + 1j * rng.standard_normal(30)
    X = X * np.geomspace(1, 20, 30)
    operator = LinearOperator(
        X.shape, dtype=X.dtype, matvec=lambda v: X @ v, rmatvec=lambda v: X.conj().T @ v
    )
    y = np.abs(X @ s) ** 2
    fitted = PhaseRetrieval(random_state=0).fit(operator, y)
    turn = np.vdot(fitted.signal_, s)
    np.testing.assert_allclose(fitted.signal_ * turn / abs(turn), s, atol=1e-8)
    np.testing.assert_allclose(fitted.predict(operator), y, rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match="can't be kept"):
        PhaseRetrieval(checkpoint="somewhere").fit(operator, y)


def test_a_complex_signal_behind_real_designs_is_not_called_found():
    rng = np.random.default_rng(4)
    X, s = rng.standard_normal((300, 20)), rng.standard_normal(20) + 1j * rng.standard_normal(20)
    fitted = PhaseRetrieval(random_state=0).fit(X, np.abs(X @ s) ** 2)
    assert fitted.outcome_.kind == "stalled"
    assert "a complex signal, which real designs" in str(fitted.outcome_)


def test_two_real_rows_an_unknown_suffice_for_phase_retrieval():
    found = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, s = rng.standard_normal((200, 100)), rng.standard_normal(100)
        z = PhaseRetrieval(random_state=0).fit(X, (X @ s) ** 2).signal_
        found += min(np.linalg.norm(z - s), np.linalg.norm(z + s)) < 1e-3 * np.linalg.norm(s)
    assert found == 4


def test_the_classifier_takes_frames_with_text_columns():
    pd = pytest.importorskip("pandas")
    X, y, _ = clicks(9000)
    names = X.indices.reshape(-1, 3)
    frame = pd.DataFrame({f"field {j}": [f"level {level}" for level in names[:, j]] for j in range(3)})
    frame["age"] = np.random.default_rng(0).random(9000)
    fitted = FactorizationMachineClassifier(2, random_state=0).fit(frame[:6000], y[:6000])
    assert fitted.score(frame[6000:], y[6000:]) > 0.6
    assert len(fitted.encoded_names_) == 101
    again = FactorizationMachineClassifier(2, random_state=0).fit(X[:6000], y[:6000])
    assert fitted.score(frame[6000:], y[6000:]) > again.score(X[6000:], y[6000:]) - 0.03
    with pytest.raises(ValueError, match="needs one"):
        fitted.predict(X)


def _left_near_the_limit(seed, n_rows):
    """Share of a noiseless law of rank 3 and 118 degrees of freedom that a fit misses."""
    rng = np.random.default_rng([seed, 30, 3])
    X = rng.standard_normal((n_rows + 2000, 30))
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    U = np.linalg.qr(rng.standard_normal((30, 3)))[0]
    law = Z @ rng.standard_normal(30) / np.sqrt(30) + np.square(Z @ U) @ [1.0, -1.0, 1.0]
    fitted = FactorizationMachineRegressor(3, random_state=0).fit(X[:n_rows], law[:n_rows])
    return np.mean((fitted.predict(X[n_rows:]) - law[n_rows:]) ** 2) / law.var()


@pytest.mark.parametrize("seed", [10, 38])
def test_near_the_information_limit_fits_begin_again(seed, monkeypatch):
    assert _left_near_the_limit(seed, 130) < 1e-8
    monkeypatch.setattr(grow_cut, "_MOST_FRESH", 0)
    assert _left_near_the_limit(seed, 130) > 0.1


@pytest.mark.parametrize("seed", [12, 19])
def test_near_the_information_limit_the_first_descent_is_wider_than_the_rank(seed, monkeypatch):
    monkeypatch.setattr(grow_cut, "_MOST_FRESH", 0)
    assert _left_near_the_limit(seed, 153) < 1e-8
    monkeypatch.setattr(least_squares, "wider", lambda rank: rank)
    assert _left_near_the_limit(seed, 153) > 0.1


@pytest.mark.parametrize("max_iter", [2, 4])
def test_a_fit_that_is_stopped_on_the_way_has_the_rank_that_was_asked_for(max_iter):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 10))
    with pytest.warns(ConvergenceWarning):
        stopped = FactorizationMachineRegressor(2, max_iter=max_iter, random_state=0).fit(
            X, X[:, 0] * X[:, 1]
        )
    assert stopped.factors_.shape == (2, 10)
    with pytest.warns(ConvergenceWarning):
        sensed = RankOneSensing(2, max_iter=max_iter, random_state=0).fit((X, X[:, :8]), X[:, 0] * X[:, 1])
    assert np.linalg.matrix_rank(sensed.matrix()) <= 2
