"""Moments of columns in one pass, against the sums that they stand for."""

import numpy as np
import pytest

from altmin.kernels.column_moments import central_sums, column_extremes

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_extremes_are_of_rows_that_count(dtype):
    X, w = RNG.standard_normal((30, 4)).astype(dtype), RNG.random(30)
    w[::3] = 0.0
    X[0] = 100.0
    sums, low, high = np.ones(4), np.full(4, np.inf), np.full(4, -np.inf)
    column_extremes(X, w, sums, low, high)
    np.testing.assert_allclose(sums, 1 + w @ X.astype(float), rtol=1e-6)
    np.testing.assert_array_equal(low, X[w > 0].min(axis=0))
    np.testing.assert_array_equal(high, X[w > 0].max(axis=0))


@pytest.mark.parametrize("height", [4, 7, 50])
@pytest.mark.parametrize("wanted", [False, True])
def test_central_sums_are_those_of_powers_and_products(height, wanted):
    X, w = RNG.standard_normal((30, 4)) + 2, RNG.random(30)
    centre, scale = RNG.standard_normal(4), 1 + RNG.random(4)
    powers, products = np.ones((4, 4)), np.ones((4, 4) if wanted else (0, 0))
    central_sums(X, centre, scale, w, height, powers, products)
    Z = (X - centre) * scale
    np.testing.assert_allclose(powers, [1 + w @ Z**p for p in range(1, 5)], rtol=1e-10)
    if wanted:
        np.testing.assert_allclose(products, 1 + Z.T @ (w[:, None] * Z), rtol=1e-10)
