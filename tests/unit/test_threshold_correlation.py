"""Threshold correlation: certificates that hold, refinement that never loses, scores that stay exact."""

import numpy as np
import pytest

from altmin import threshold_correlation
from altmin.datasets import make_star
from altmin.kernels.correlation import RowScores


def ball(rng, n, d):
    V = rng.standard_normal((n, d))
    return V / np.linalg.norm(V, axis=1, keepdims=True) * rng.random((n, 1)) ** 0.3


def brute_scores(V, w, threshold):
    U = V / np.maximum(np.linalg.norm(V, axis=1, keepdims=True), 1e-300)
    g2 = (U @ V.T) ** 2
    return np.where(g2 >= threshold, g2, 0) @ w


def optimum(V, w, tau):
    """Dense search over directions of the plane or of space."""
    if V.shape[1] == 2:
        angle = np.linspace(0, np.pi, 20001)
        D = np.stack([np.cos(angle), np.sin(angle)])
    else:
        i = np.arange(20000) + 0.5
        z, phi = i / 20000, np.pi * (1 + 5**0.5) * i
        D = np.stack([np.sqrt(1 - z**2) * np.cos(phi), np.sqrt(1 - z**2) * np.sin(phi), z])
    g2 = (V @ D) ** 2
    return (np.where(g2 >= tau, g2, 0) * w[:, None]).sum(axis=0).max()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exact_scores_equal_a_plain_scan(dtype):
    rng = np.random.default_rng(0)
    V, w = ball(rng, 700, 9).astype(dtype), rng.random(700)
    V[5] = 0
    found = RowScores(V, w, 0.1).scores()
    expected = brute_scores(V.astype(float), w, 0.1)
    np.testing.assert_allclose(found, expected, rtol=1e-12 if dtype == np.float64 else 1e-2, atol=1e-12)


def test_scores_stay_exact_while_rows_change():
    rng = np.random.default_rng(1)
    V, w = ball(rng, 600, 16), rng.random(600)
    scores = RowScores(V, w, 0.05)
    for _ in range(20):
        rows = np.sort(rng.choice(600, 40, replace=False))
        V[rows] -= 0.7 * (V[rows] @ V[3])[:, None] * V[3]
        scores.change(rows, V[rows])
        expected = brute_scores(V, w, 0.05)
        assert np.abs(scores.scores() - expected).max() <= 1e-12 * expected.max()


@pytest.mark.parametrize("method", ["exact", "sampled"])
def test_certificate_holds_against_dense_search(method):
    rng = np.random.default_rng(2)
    for number in range(20):
        V, w = ball(rng, 40, 2 + number % 2), rng.random(40)
        tau = rng.uniform(0.05, 0.95)
        found = threshold_correlation(V, tau, sample_weight=w, method=method, random_state=number)
        best = optimum(V, w, tau)
        assert best <= found.upper_bound * (1 + 1e-9)
        assert found.value >= found.beta * best * (1 - 1e-9)
        g2 = (V @ found.vector) ** 2
        assert found.value == pytest.approx((w * g2)[found.support].sum())


def test_refinement_never_returns_less():
    rng = np.random.default_rng(3)
    for _ in range(30):
        V, w = ball(rng, 50, 6), rng.random(50)
        tau = rng.uniform(0.05, 0.9)
        plain = threshold_correlation(V, tau, sample_weight=w, refine=False)
        assert threshold_correlation(V, tau, sample_weight=w).value >= plain.value


def test_star_needs_refinement():
    star = make_star(400, 0.1)
    assert 0.05 < threshold_correlation(star, 0.1, refine=False).value / 40 < 0.13
    assert threshold_correlation(star, 0.1).value / 40 > 0.99


def test_lengths_only_change_units():
    rng = np.random.default_rng(4)
    V = ball(rng, 60, 5)
    one, other = threshold_correlation(V, 0.3), threshold_correlation(1e3 * V, 0.3e6)
    np.testing.assert_allclose(one.vector, other.vector, atol=1e-9)
    assert other.value == pytest.approx(1e6 * one.value)
    assert other.alpha == pytest.approx(one.alpha)


def test_zero_threshold_is_the_largest_singular_vector():
    V = np.random.default_rng(5).standard_normal((30, 4))
    found = threshold_correlation(V, 0.0)
    assert found.value == pytest.approx(np.linalg.svd(V)[1][0] ** 2)


def test_unreachable_threshold_and_zero_rows_are_defined():
    V = np.vstack([np.zeros((3, 4)), 0.1 * np.eye(4)])
    found = threshold_correlation(V, 0.5)
    assert found.upper_bound == 0.0
    assert np.isfinite(found.vector).all()
    assert threshold_correlation(np.zeros((3, 4)), 0.5).value == 0.0


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"tau": -1}, "tau=-1"),
        ({"relax": 1.0}, "relax=1.0"),
        ({"method": "magic"}, "method='magic'"),
        ({"sample_weight": [1.0]}, "sample_weight"),
        ({"V": [[np.nan, 1.0]]}, "row 0"),
    ],
)
def test_wrong_arguments_are_named(change, match):
    arguments = {"V": np.eye(3), "tau": 0.5, **change}
    with pytest.raises(ValueError, match=match):
        threshold_correlation(**arguments)


@pytest.mark.parametrize("method", ["exact", "sampled"])
def test_beta_is_what_value_and_bound_or_the_theorem_prove_and_no_more(method):
    rng = np.random.default_rng(7)
    proven = []
    for number in range(6):
        V = rng.standard_normal((60, 12))
        V /= np.linalg.norm(V, axis=1, keepdims=True)
        found = threshold_correlation(V, 0.6, method=method, random_state=number, relax=0.5)
        share = found.value / found.upper_bound
        by_theorem = 0.5 * 0.6 if method == "exact" else 0.25 * 0.6
        assert found.beta in (pytest.approx(min(share, 1.0)), pytest.approx(by_theorem))
        assert found.beta >= min(share, 1.0) * (1 - 1e-9)
        proven.append(share)
    assert min(proven) < 0.9  # where less than all is proven, doubling it would show
