"""Orthogonal matching pursuit against a plain NumPy reference."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import orthogonal_mp_gram

from altmin import omp


def reference(x, D, n_nonzero, *, tol=0.0, seen=None, selection="omp", weights=None):
    """Textbook pursuit: least squares anew after each choice, scores from explicit projections."""
    seen = np.ones(len(x), bool) if seen is None else seen
    A, b = D[:, seen], x[seen]
    weights = np.ones(len(D)) if weights is None else weights
    norms = np.linalg.norm(D, axis=1)
    A, chosen, codes, rest = A / norms[:, None], [], np.zeros(0), b
    while len(chosen) < min(n_nonzero, seen.sum()) and rest @ rest > tol:
        outside = A
        if selection == "ormp" and chosen:
            Q = np.linalg.qr(A[chosen].T)[0]
            outside = A - A @ Q @ Q.T
        score = weights * (A @ rest) ** 2 / np.maximum((outside**2).sum(axis=1), 1e-30)
        score[chosen] = 0
        best = int(np.argmax(score))
        if abs(A[best] @ rest) < 1e-12 * np.linalg.norm(b):
            break
        chosen.append(best)
        codes = np.linalg.lstsq(A[chosen].T, b, rcond=None)[0]
        rest = b - codes @ A[chosen]
    full = np.zeros(len(D))
    full[chosen] = codes / norms[chosen]
    return full


def problem(seed, n_samples=12, n_atoms=30, n_features=20):
    rng = np.random.default_rng(seed)
    D = rng.standard_normal((n_atoms, n_features)) * rng.uniform(0.1, 10, (n_atoms, 1))
    return rng.standard_normal((n_samples, n_features)), D, rng.random((n_samples, n_features)) < 0.6


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("selection", ["omp", "ormp"])
def test_equals_the_textbook_pursuit(selection, seed):
    X, D, _ = problem(seed)
    expected = [reference(x, D, 7, selection=selection) for x in X]
    np.testing.assert_allclose(omp(X, D, 7, selection=selection), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("n_atoms", [31, 32, 33, 100])
@pytest.mark.parametrize("selection", ["omp", "ormp"])
def test_the_best_of_many_atoms_is_found_wherever_it_stands(selection, n_atoms):
    """Scores are searched 32 at a time."""
    X, D, _ = problem(5, n_samples=40, n_atoms=n_atoms)
    expected = [reference(x, D, 3, selection=selection) for x in X]
    np.testing.assert_allclose(omp(X, D, 3, selection=selection), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("selection", ["omp", "ormp"])
def test_masked_equals_the_textbook_pursuit_on_the_observed_entries(selection, seed):
    X, D, seen = problem(seed)
    expected = [reference(x, D, 5, seen=s, selection=selection) for x, s in zip(X, seen, strict=True)]
    holes = np.where(seen, X, np.nan)  # whatever stands in the holes is not looked at
    found = omp(holes, D, 5, mask=seen, selection=selection)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("selection", ["omp", "ormp"])
def test_weights_multiply_the_squared_scores(selection, masked):
    X, D, seen = problem(0)
    weights = np.random.default_rng(1).uniform(0.01, 1, len(D))
    seen = seen if masked else np.ones_like(seen)
    expected = [
        reference(x, D, 5, seen=s, selection=selection, weights=weights) for x, s in zip(X, seen, strict=True)
    ]
    found = omp(X, D, 5, mask=seen if masked else None, selection=selection, weights=3 * weights)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


def test_supports_and_codes_agree_with_scikit_learn():
    X, D, _ = problem(0, n_samples=50)
    D /= np.linalg.norm(D, axis=1, keepdims=True)
    theirs = orthogonal_mp_gram(D @ D.T, D @ X.T, n_nonzero_coefs=6).T
    np.testing.assert_allclose(omp(X, D, 6), theirs, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("selection", ["omp", "ormp"])
def test_tolerance_is_met_with_the_fewest_atoms_of_the_path(selection):
    X, D, _ = problem(3)
    tol = 0.2 * (X**2).sum(axis=1)
    codes = omp(X, D, tol=tol, selection=selection)
    assert np.all(((X - codes @ D) ** 2).sum(axis=1) <= tol * (1 + 1e-12))
    for x, code, bound in zip(X, codes, tol, strict=True):
        one_less = reference(x, D, np.count_nonzero(code) - 1, selection=selection)
        assert ((x - one_less @ D) ** 2).sum() > bound


def test_masked_residual_is_orthogonal_to_the_chosen_atoms_on_the_mask():
    X, D, seen = problem(4, n_samples=200, n_atoms=100, n_features=100)
    codes = omp(X, D, 35, mask=seen)
    rest = np.where(seen, X - codes @ D, 0.0)
    along = (rest @ D.T) * (codes != 0) / np.linalg.norm(D, axis=1)
    assert np.abs(along).max() <= 1e-10


@pytest.mark.parametrize("selection", ["omp", "ormp"])
def test_duplicated_atoms_stop_at_a_safe_pivot(selection):
    rng = np.random.default_rng(0)
    base = rng.standard_normal((3, 10))
    D = np.vstack([base, base, base + 1e-13 * rng.standard_normal((3, 10)), np.zeros((1, 10))])
    X = rng.standard_normal((20, 10))
    for mask in (None, rng.random(X.shape) < 0.8):
        codes = omp(X, D, 9, selection=selection, mask=mask)
        assert np.all(np.isfinite(codes)) and np.count_nonzero(codes, axis=1).max() <= 3
        seen = np.ones_like(X) if mask is None else mask
        fits = [np.linalg.lstsq((s * base).T, s * x)[0] for x, s in zip(X, seen, strict=True)]
        best = seen * (X - np.array(fits) @ base)
        np.testing.assert_allclose(seen * (X - codes @ D), best, atol=1e-9)


def test_exactly_sparse_signals_get_no_atom_too_many():
    rng = np.random.default_rng(0)
    D = np.linalg.qr(rng.standard_normal((40, 40)))[0]
    codes = np.where(rng.random((50, 40)) < 0.1, rng.standard_normal((50, 40)), 0.0)
    np.testing.assert_allclose(omp(codes @ D, D, 20), codes, atol=1e-13)
    assert np.array_equal(omp(codes @ D, D, 20) != 0, codes != 0)


def test_zero_signals_and_signals_without_an_observed_entry_have_zero_codes():
    D = np.random.default_rng(0).standard_normal((6, 4))
    assert not omp(np.zeros((3, 4)), D, 2).any()
    assert not omp(np.ones((3, 4)), D, 2, mask=np.zeros((3, 4), bool)).any()


def test_sparse_signals_equal_dense_ones():
    rng = np.random.default_rng(0)
    X = sp.random(30, 20, density=0.2, format="csr", random_state=0)
    D = rng.standard_normal((25, 20))
    np.testing.assert_allclose(omp(X, D, 4), omp(X.toarray(), D, 4), rtol=1e-10, atol=1e-13)


def test_float32_stays_and_agrees():
    X, D, seen = problem(0)
    for mask in (None, seen):
        single = omp(X.astype(np.float32), D.astype(np.float32), 4, mask=mask)
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, omp(X, D, 4, mask=mask), rtol=2e-3, atol=1e-4)


def test_result_does_not_depend_on_the_number_of_threads():
    X, D, _ = problem(0, n_samples=20_000)
    assert np.array_equal(omp(X, D, 3, n_jobs=1), omp(X, D, 3, n_jobs=3))


def test_default_is_a_tenth_of_the_features():
    X, D, _ = problem(0)
    assert np.count_nonzero(omp(X, D), axis=1).max() == 2
