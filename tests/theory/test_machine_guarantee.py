"""The report of a factorization machine says 'recovered' only where it is true, and why not elsewhere."""

from dataclasses import replace

import numpy as np
import pytest

from altmin import FactorizationMachineRegressor, RankOneSensing
from altmin.datasets import make_quadratic
from altmin.engine import open_source
from altmin.estimators.quadratic import regressor
from altmin.guarantees.refits import halves

PRINTED = {"step": 1.0, "fit_intercept": False, "moments": "gaussian", "whiten": False, "batch_size": 800}


def report(problem, rank=2, **parameters):
    return (
        FactorizationMachineRegressor(rank, random_state=0, **parameters).fit(problem.X, problem.y).guarantee_
    )


def violated(found):
    return {row.id for row in found if row.status == "violated"}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [{}, {"noise": 0.05}, {"features": "exponential"}, {"correlation": 0.6}])
def test_true_fits_are_called_recovered(kind, seed):
    assert report(make_quadratic(6000, 15, 2, random_state=seed, **kind)).verdict == "recovered"


def twisted(how, seed):
    rng = np.random.default_rng(seed)
    problem = make_quadratic(6000, 15, 3, noise=0.01, random_state=seed)
    X, y = problem.X.copy(), problem.y
    if how == "cubic":
        y = y + 0.2 * X[:, 0] ** 3
    elif how == "absolute":
        y = y + 0.3 * np.abs(X[:, 0])
    elif how == "noisy features":
        X = X + 0.1 * rng.standard_normal(X.shape)
    elif how == "collinear":
        X[:, 1] = X[:, 0]
        y = X @ problem.coef + np.square(X @ problem.factors.T) @ problem.eigenvalues
    elif how == "copies":
        X, y = X[np.arange(6000) % 60], y[np.arange(6000) % 60]
    elif how == "noise":
        y = y + 3 * rng.standard_normal(len(y))
    return replace(problem, X=X, y=y)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("cubic", "no_further_shape"),
        ("absolute", "no_further_shape"),
        ("noisy features", "no_noise_in_features"),
        ("collinear", "identifiable"),
        ("copies", "distinct"),
        ("noise", "error"),
    ],
)
def test_wrong_fits_are_never_called_recovered(how, why, seed):
    found = report(twisted(how, seed), rank=3)
    assert found.verdict != "recovered"
    assert why in violated(found)


def test_too_low_a_rank_shows_in_the_residual():
    found = report(make_quadratic(6000, 15, 3, noise=0.01, random_state=0), rank=2)
    assert found.verdict == "contradicted"
    assert "no_further_rank" in violated(found)


@pytest.mark.parametrize(
    ("kind", "why"),
    [({"features": "exponential"}, "tails_of_the_features"), ({"correlation": 0.6}, "uncorrelated_features")],
)
def test_the_printed_algorithm_is_told_which_condition_failed(kind, why):
    found = report(make_quadratic(24000, 20, 2, random_state=0, **kind), **PRINTED)
    assert found.verdict in ("unknown", "contradicted")
    assert why in violated(found)


def test_a_stream_is_plausible_at_most():
    problem = make_quadratic(20000, 10, 2, random_state=0)
    blocks = ((problem.X[i : i + 500], problem.y[i : i + 500]) for i in range(0, 20000, 500))
    model = FactorizationMachineRegressor(2, batch_size=500, random_state=0).fit(blocks)
    assert model.guarantee_.verdict == "plausible"


def test_halves_are_fitted_as_users_would_fit_them(monkeypatch):
    """Each with its own sample of its own rows: a search on a sample numbers the rows of what it is given."""
    problem = make_quadratic(1500, 3, 1, noise=0.3, random_state=0)
    model = FactorizationMachineRegressor(1, random_state=0).fit(problem.X, problem.y)
    fits = [
        FactorizationMachineRegressor(1, random_state=0).fit(problem.X[ids], problem.y[ids])
        for ids in halves(open_source(problem.X, problem.y))
    ]
    refits = []
    monkeypatch.setattr(regressor, "difference", lambda one, other, unit: refits.append(other) or 0.0)
    model.guarantee(problem.X, problem.y, effort="full")
    for refit, fit in zip(refits, fits, strict=True):
        np.testing.assert_allclose(refit.coef, fit.coef_, atol=1e-9)


def test_full_effort_compares_halves():
    problem = make_quadratic(6000, 10, 2, noise=0.1, random_state=0)
    model = FactorizationMachineRegressor(2, random_state=0).fit(problem.X, problem.y)
    assert model.guarantee(problem.X, problem.y, effort="full").effort == "full"


@pytest.mark.parametrize("seed", range(3))
def test_copied_rows_do_not_shrink_the_estimated_error(seed):
    """Copies that fall into both halves make them agree; they have to stay together."""
    problem = make_quadratic(160, 6, 1, noise=0.3, random_state=seed)
    rows = np.random.default_rng(seed).permutation(np.repeat(np.arange(160), 20))
    X, y = problem.X[rows], problem.y[rows]
    model = FactorizationMachineRegressor(1, random_state=0).fit(X, y)
    found = model.guarantee(X, y)
    M = (problem.factors.T * problem.eigenvalues) @ problem.factors
    error = np.hypot(np.linalg.norm(model.coef_ - problem.coef), np.linalg.norm(model.matrix() - M))
    error /= np.hypot(np.linalg.norm(problem.coef), np.linalg.norm(M))
    assert found.estimated_error > 0.5 * error
    assert found.verdict != "recovered"


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_where_a_slight_curve_could_hide_the_claim_says_what_the_coefficients_are(noise):
    claim = report(make_quadratic(6000, 15, 2, noise=noise, random_state=0)).claim
    assert ("comes closest to the target over rows like these" in claim) == bool(noise)


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_sensing_says_so_too(noise):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 8))
    y = (X @ rng.standard_normal(8)) ** 2 + noise * rng.standard_normal(2000)
    claim = RankOneSensing(1, random_state=0).fit(X, y).guarantee_.claim
    assert ("comes closest to measurements like these" in claim) == bool(noise)
