"""What the factorization machine promises on planted problems."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from harness import Figure, promise

from altmin import FactorizationMachineRegressor
from altmin.datasets import make_quadratic

SEEDS = range(10)
PRINTED = {"step": 1.0, "fit_intercept": False, "moments": "gaussian", "whiten": False}


def _fit(batches: int, c: int, d: int, k: int, seed: int, parameters: dict, **kind: object) -> tuple:
    n = c * k * d
    problem = make_quadratic(batches * n, d, k, random_state=seed, **kind)
    model = FactorizationMachineRegressor(
        k, batch_size=n, max_iter=batches, random_state=seed, **parameters
    ).fit(problem.X, problem.y)
    error = problem.error(model.coef_, model.factors_, model.eigenvalues_)
    return error, model, problem


def _rate(model: FactorizationMachineRegressor) -> float:
    losses = np.array([row["loss"] for row in model.history_])
    kept = losses[3:][losses[3:] > 1e-22]
    return float((kept[-1] / kept[0]) ** (0.5 / (len(kept) - 1)))


@promise
def printed_algorithm() -> Iterator[Figure]:
    """d=100, k=3, 25 batches of 20kd, the printed algorithm: below 1e-11, rate .27 to .36."""
    fits = [_fit(25, 20, 100, 3, seed, PRINTED) for seed in SEEDS]
    rates = [_rate(model) for _, model, _ in fits]
    yield Figure("printed algorithm, worst error", max(error for error, *_ in fits), at_most=1e-11)
    yield Figure("printed algorithm, smallest rate", min(rates), at_least=0.27)
    yield Figure("printed algorithm, largest rate", max(rates), at_most=0.36)


@promise
def hard_conditions() -> Iterator[Figure]:
    """Condition number 100 and ||w*|| = 100: below 1e-8."""
    errors = [_fit(25, 20, 100, 3, s, PRINTED, condition=100.0, coef_norm=100.0)[0] for s in SEEDS]
    yield Figure("printed algorithm, condition 100 and ||w||=100, 25 batches", max(errors), at_most=1e-8)


@promise
def defaults() -> Iterator[Figure]:
    """At defaults, 40 batches: below 1e-8, mixed signs the same, intercept 50 below 1e-5."""
    yield Figure("defaults, 40 batches", max(_fit(40, 20, 100, 3, s, {})[0] for s in SEEDS), at_most=1e-8)
    mixed = [_fit(40, 20, 100, 3, s, {}, mixed_signs=True)[0] for s in SEEDS]
    yield Figure("defaults, mixed signs", max(mixed), at_most=1e-8)
    worst = 0.0
    for seed in SEEDS:
        error, model, problem = _fit(40, 20, 100, 3, seed, {}, intercept=50.0)
        worst = max(worst, error + abs(model.intercept_ - problem.intercept))
    yield Figure("defaults, intercept 50 (its own error included)", worst, at_most=1e-5)


@promise
def small_batches() -> Iterator[Figure]:
    """100 batches of 2kd: below 1e-12 with damping."""
    errors = [_fit(100, 2, 100, 3, seed, {})[0] for seed in SEEDS]
    yield Figure("100 batches of 2kd, d=100, k=3", max(errors), at_most=1e-12)


@promise
def noise_floor() -> Iterator[Figure]:
    """Noise .5, 100 batches of 20kd, d=50, k=3: within 2 times 1.7 xi sqrt(d/N)."""
    floor = 1.7 * 0.5 * np.sqrt(50 / (100 * 20 * 3 * 50))
    errors = [_fit(100, 20, 50, 3, seed, {}, noise=0.5)[0] for seed in SEEDS]
    yield Figure("noise .5: worst error over 1.7 xi sqrt(d/N)", max(errors) / floor, at_most=2.0)


@promise
def other_features() -> Iterator[Figure]:
    """Exponential features below 1e-8, correlated Gaussian ones (.6) below 1e-6; plain fails on both."""
    kinds = {"exponential": {"features": "exponential"}, "correlated .6": {"correlation": 0.6}}
    for (name, kind), bound in zip(kinds.items(), (1e-8, 1e-6), strict=True):
        errors = [_fit(40, 20, 100, 3, seed, {}, **kind)[0] for seed in SEEDS]
        yield Figure(f"{name} features, defaults", max(errors), at_most=bound)
        plain = [_fit(40, 20, 100, 3, seed, PRINTED, **kind) for seed in SEEDS]
        yield Figure(f"{name} features, plain: smallest error", min(e for e, *_ in plain), at_least=1e-5)


@promise
def quadratic_truth() -> Iterator[Figure]:
    """Test 1 - R^2 on a true quadratic with mixed signs (d=50, N=15000, noise .05): under .01."""
    worst = 0.0
    for seed in SEEDS:
        problem = make_quadratic(20000, 50, 5, mixed_signs=True, noise=0.05, random_state=seed)
        model = FactorizationMachineRegressor(5, random_state=seed).fit(problem.X[:15000], problem.y[:15000])
        worst = max(worst, 1 - model.score(problem.X[15000:], problem.y[15000:]))
    yield Figure("true quadratic with mixed signs: test 1 - R^2", worst, at_most=0.01)
