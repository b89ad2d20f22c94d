"""The one-pass machine finds the planted quadratic, in the settings of its theorems and beyond them."""

import numpy as np
import pytest

from altmin import FactorizationMachineRegressor
from altmin.datasets import make_quadratic

PRINTED = {"step": 1.0, "fit_intercept": False, "moments": "gaussian", "whiten": False}


def fit(problem, rank=2, **parameters):
    model = FactorizationMachineRegressor(rank, random_state=0, **parameters)
    return model.fit(problem.X, problem.y)


def error(problem, model):
    return problem.error(model.coef_, model.factors_, model.eigenvalues_)


@pytest.mark.seeds(3)
def test_printed_algorithm_converges_linearly(seed):
    n = 20 * 2 * 30
    problem = make_quadratic(25 * n, 30, 2, random_state=seed)
    model = fit(problem, batch_size=n, max_iter=25, **PRINTED)
    losses = np.array([row["loss"] for row in model.history_])
    rates = np.sqrt(losses[5:15] / losses[4:14])
    assert error(problem, model) < 1e-8
    assert 0.15 < np.median(rates) < 0.5


@pytest.mark.parametrize(
    "kind",
    [
        {"mixed_signs": True, "intercept": 50.0},
        {"features": "exponential"},
        {"features": "uniform"},
        {"correlation": 0.6},
        {"condition": 100.0, "coef_norm": 100.0},
    ],
    ids=["mixed signs and intercept", "exponential", "uniform", "correlated", "ill-conditioned"],
)
@pytest.mark.seeds
def test_defaults_recover(kind, seed):
    problem = make_quadratic(40 * 1200, 30, 2, random_state=seed, **kind)
    model = fit(problem, batch_size=1200)
    assert error(problem, model) < 1e-7
    assert abs(model.intercept_ - problem.intercept) < 1e-7


@pytest.mark.parametrize("kind", [{"features": "exponential"}, {"correlation": 0.6}])
def test_printed_algorithm_fails_outside_its_theory(kind):
    problem = make_quadratic(40 * 1200, 30, 2, random_state=1, **kind)
    assert error(problem, fit(problem, batch_size=1200, max_iter=40, **PRINTED)) > 1e-5


def test_small_batches_need_the_damped_step():
    problem = make_quadratic(100 * 120, 30, 2, random_state=2)
    damped = fit(problem, batch_size=120, max_iter=100)
    assert error(problem, damped) < 1e-8


def test_noise_averages_over_all_rows_not_over_a_batch():
    problem = make_quadratic(100 * 800, 20, 2, noise=0.5, random_state=3)
    model = fit(problem, batch_size=800)
    floor = 1.7 * 0.5 * np.sqrt(20 / len(problem.X))
    assert error(problem, model) < 2 * floor


def test_too_high_a_rank_does_no_harm():
    problem = make_quadratic(20000, 20, 2, random_state=0)
    assert error(problem, fit(problem, rank=4)) < 1e-8


def test_finite_rows_are_reused():
    problem = make_quadratic(10 * 2 * 20, 20, 2, mixed_signs=True, random_state=4)
    assert error(problem, fit(problem, max_iter=300)) < 1e-6
