"""Matching and angles."""

import numpy as np
import pytest

from altmin.metrics import match_components, sine_errors, total_correlation_error

rng = np.random.default_rng(0)
A = rng.standard_normal((6, 20))


def test_order_sign_and_scale_do_not_matter():
    order = rng.permutation(6)
    other = (A * np.array([1, -2, 1e-3, 1e3, -5, 1])[:, None])[order]
    assert total_correlation_error(other, A) < 1e-14
    index, _ = match_components(other, A)
    np.testing.assert_array_equal(order[index], np.arange(6))


def test_the_sign_counts_where_it_is_asked_to():
    assert sine_errors(-A[:1], A[:1]) < 1e-14
    assert sine_errors(-A[:1], A[:1], signed=True) == 1.0


@pytest.mark.parametrize("angle", [1e-3, 1e-8, 1e-12])
def test_small_angles_are_seen(angle):
    a, b = np.eye(20)[:1], np.eye(20)[1:2]
    np.testing.assert_allclose(sine_errors(a + angle * b, a), [angle], rtol=1e-3)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_extreme_scales_do_not_overflow(scale):
    assert total_correlation_error(scale * A, A) < 1e-14


def test_a_zero_component_matches_nothing():
    other = A.copy()
    other[2] = 0
    np.testing.assert_allclose(sine_errors(other, A)[2], 1.0)


def test_more_reference_than_components_is_an_error():
    with pytest.raises(ValueError, match="more than"):
        match_components(A[:3], A)
