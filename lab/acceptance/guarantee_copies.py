"""Copied rows are no evidence: the full report of a machine must not shrink its error by them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from harness import Figure, promise

from altmin import FactorizationMachineRegressor
from altmin.datasets import make_quadratic

SIZES, NOISES, COPIES = ((6, 1), (8, 2), (12, 2)), (0.1, 0.3, 0.6), (5, 20)


def problem(d: int, rank: int, noise: float, copies: int, seed: int):
    """A few rows per parameter with noise, each of them many times over, and the true (w, M)."""
    n = 8 * (1 + d + d * rank)
    truth = make_quadratic(n, d, rank, noise=noise, random_state=seed)
    rows = np.random.default_rng(seed).permutation(np.repeat(np.arange(n), copies))
    return truth, truth.X[rows], truth.y[rows]


def relative_error(model, truth) -> float:
    """Of (w, M), as the report estimates it."""
    M = (truth.factors.T * truth.eigenvalues) @ truth.factors
    gap = np.hypot(np.linalg.norm(model.coef_ - truth.coef), np.linalg.norm(model.matrix() - M))
    return float(gap / np.hypot(np.linalg.norm(truth.coef), np.linalg.norm(M)))


@promise
def copies() -> Iterator[Figure]:
    """Over 18 noisy problems with copied rows no estimate is below half of the error, and none is false."""
    lowest, false, cheap = np.inf, 0, np.inf
    for number, ((d, rank), noise, times) in enumerate(product(SIZES, NOISES, COPIES)):
        truth, X, y = problem(d, rank, noise, times, number)
        model = FactorizationMachineRegressor(rank, random_state=0).fit(X, y)
        report, error = model.guarantee(X, y), relative_error(model, truth)
        lowest = min(lowest, report.estimated_error / error)
        cheap = min(cheap, model.guarantee_.estimated_error / error)
        false += report.verdict == "recovered" and error > 0.05
    yield Figure("full effort: smallest estimated / true error", lowest, at_least=0.5)
    yield Figure("with the fit: smallest estimated / true error", cheap, at_least=0.5)
    yield Figure("false 'recovered'", false, at_most=0)
