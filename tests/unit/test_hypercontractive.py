"""2 -> p norms: near the truth from below, never below it from above."""

import numpy as np
import pytest

from altmin import hypercontractive_norm


def brute(A, p):
    """Power method from many random starts, and a grid in the plane."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, A.shape[1]))
    for _ in range(60):
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        G = X @ A.T
        X = (np.abs(G) ** (p - 2) * G) @ A
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return (np.abs(X @ A.T) ** p).sum(axis=1).max() ** (1 / p)


def test_bounds_enclose_brute_force():
    rng = np.random.default_rng(0)
    for number in range(12):
        A = rng.standard_normal((rng.integers(2, 12), rng.integers(2, 6)))
        p = (2.5, 3, 4, 8)[number % 4]
        found, best = hypercontractive_norm(A, p), brute(A, p)
        assert found.value >= 0.999 * best
        assert found.upper_bound >= best * (1 - 1e-12)
        assert np.linalg.norm(A @ found.vector, p) == pytest.approx(found.value)


@pytest.mark.parametrize("p", [2, 4, np.inf])
def test_scale_and_extremes(p):
    A = np.random.default_rng(1).standard_normal((6, 4))
    one, huge = hypercontractive_norm(A, p), hypercontractive_norm(1e150 * A, p)
    assert huge.value == pytest.approx(1e150 * one.value)
    assert one.value <= one.upper_bound
    assert hypercontractive_norm(np.zeros((2, 3)), p).value == 0.0


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="p=1"):
        hypercontractive_norm(np.eye(2), 1)
    with pytest.raises(ValueError, match="finite matrix"):
        hypercontractive_norm([[np.nan]], 3)
