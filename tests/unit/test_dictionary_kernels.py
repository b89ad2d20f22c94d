"""Thresholds, histograms and polar factors against plain NumPy."""

import numpy as np
import pytest

from altmin import hard_threshold, polar
from altmin.kernels.thresholds import histogram_quantile, keep_large, magnitude_histogram


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_keep_large_is_hard_threshold_with_counts(dtype):
    Z = np.random.default_rng(0).standard_normal((300, 7)).astype(dtype)
    threshold = np.linspace(0.0, 2.0, 7)
    expected = hard_threshold(Z, threshold.astype(dtype))
    counts, squares = keep_large(Z, threshold)
    np.testing.assert_array_equal(Z, expected)
    np.testing.assert_array_equal(counts, (expected != 0).sum(axis=0))
    np.testing.assert_allclose(squares, np.square(expected, dtype=np.float64).sum(axis=0), rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_quantiles_of_the_histogram_are_those_of_the_values(scale):
    values = scale * np.random.default_rng(1).standard_normal(20000)
    for share in (0.1, 0.5, 0.9, 0.99):
        found = histogram_quantile(magnitude_histogram(values), share)
        assert found == pytest.approx(np.quantile(np.abs(values), share), rel=0.03)


def test_histograms_of_parts_add_up():
    values = np.random.default_rng(2).standard_normal(1000)
    parts = magnitude_histogram(values[:300]) + magnitude_histogram(values[300:])
    np.testing.assert_array_equal(parts, magnitude_histogram(values))


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_polar_is_the_nearest_orthogonal_matrix(scale):
    M = np.random.default_rng(3).standard_normal((6, 6))
    Q = polar(scale * M)
    np.testing.assert_allclose(Q @ Q.T, np.eye(6), atol=1e-14)
    S = Q.T @ M
    np.testing.assert_allclose(S, S.T, atol=1e-13)
    assert np.linalg.eigvalsh((S + S.T) / 2).min() > 0


def test_polar_of_a_deficient_matrix_stays_where_it_was():
    D = polar(np.random.default_rng(4).standard_normal((5, 5)))
    M = D.copy()
    M[3:] = 0.0
    np.testing.assert_allclose(polar(M, toward=D), D, atol=1e-7)
    np.testing.assert_allclose(polar(np.zeros((5, 5)), toward=D), D, atol=1e-7)
    with pytest.raises(ValueError, match="NaN"):
        polar(np.full((2, 2), np.nan))
