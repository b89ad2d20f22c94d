"""What orthogonal matching pursuit promises for any input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from altmin import omp

shapes = st.tuples(st.integers(1, 12), st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**32 - 1))


@settings(max_examples=60, deadline=None)
@given(shapes, st.sampled_from(["omp", "ormp"]), st.booleans(), st.floats(0.1, 1))
def test_codes_are_the_least_squares_fit_on_a_support_of_bounded_size(shape, selection, masked, density):
    n_samples, n_atoms, n_features, seed = shape
    rng = np.random.default_rng(seed)
    X, D = rng.standard_normal((n_samples, n_features)), rng.standard_normal((n_atoms, n_features))
    seen = rng.random(X.shape) < density if masked else np.ones(X.shape, bool)
    L = int(rng.integers(1, n_atoms + 1))
    codes = omp(X, D, L, mask=seen if masked else None, selection=selection)
    assert np.count_nonzero(codes, axis=1).max() <= L
    rest = np.where(seen, X - codes @ D, 0.0)
    # Normal equations, relative to the sizes that cancel in them.
    sizes = 1 + np.abs(codes).sum(axis=1, keepdims=True) * np.abs(D).max()
    assert np.abs((rest @ D.T) * (codes != 0) / sizes).max() < 1e-7


@settings(max_examples=40, deadline=None)
@given(st.integers(-500, 500), st.integers(-300, 300), st.sampled_from(["omp", "ormp"]), st.booleans())
def test_scale_of_signals_and_atoms_is_free(signal_exponent, atom_exponent, selection, masked):
    rng = np.random.default_rng(0)
    X, D = rng.standard_normal((5, 8)), rng.standard_normal((12, 8))
    mask = rng.random(X.shape) < 0.7 if masked else None
    tol = 0.01 * (X**2).sum(axis=1)
    a, b = 2.0**signal_exponent, 2.0**atom_exponent
    plain = omp(X, D, 4, mask=mask, selection=selection)
    scaled = omp(a * X, b * D, 4, mask=mask, selection=selection)
    np.testing.assert_allclose(scaled, plain * (a / b), rtol=1e-10)
    if abs(signal_exponent) < 400:
        np.testing.assert_allclose(
            omp(a * X, D, tol=a * a * tol, selection=selection) / a,
            omp(X, D, tol=tol, selection=selection),
            rtol=1e-10,
            atol=1e-13,
        )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["omp", "ormp"]))
def test_order_of_atoms_and_signals_is_free(seed, selection):
    rng = np.random.default_rng(seed)
    X, D = rng.standard_normal((6, 9)), rng.standard_normal((14, 9))
    rows, atoms = rng.permutation(6), rng.permutation(14)
    codes = omp(X, D, 4, selection=selection)
    shuffled = omp(X[rows], D[atoms], 4, selection=selection)
    np.testing.assert_allclose(shuffled, codes[rows][:, atoms], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("exponent", [-40, 60])
def test_float32_beyond_the_range_of_its_squares(exponent):
    rng = np.random.default_rng(0)
    X, D = rng.standard_normal((5, 8)).astype(np.float32), rng.standard_normal((12, 8)).astype(np.float32)
    scale = np.float32(2.0**exponent)
    np.testing.assert_allclose(omp(scale * X, D, 3), scale * omp(X, D, 3), rtol=1e-4)
