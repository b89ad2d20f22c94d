"""Quadratic regression of low rank: what is left of new targets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.datasets import make_quadratic
from altmin.estimators.quadratic.regressor import FactorizationMachineRegressor
from altmin_lab.bench.board import Point, Problem, clocked
from altmin_lab.peers.machines import PeerMissing, fastfm, myfm, quasi_newton, river

PROBLEM = Problem(
    "quadratic",
    "Factorization machines: prediction against fastFM, myFM, river, L-BFGS and a full quadratic ridge",
    "test 1 - R^2",
    (1e-1, 2e-2, 1e-2),
    (6.0, 30.0),
)


@dataclass(frozen=True)
class Data:
    """Training and test rows."""

    X: NDArray[Any]
    y: NDArray[Any]
    test: NDArray[Any]
    truth: NDArray[Any]
    rank: int

    def left(self, values: NDArray[Any]) -> float:
        """1 - R^2 on the test rows."""
        return float(np.mean((values - self.truth) ** 2) / np.var(self.truth))


def _split(X: NDArray[Any], y: NDArray[Any], rank: int) -> Data:
    n = 3 * len(X) // 4
    return Data(X[:n], y[:n], X[n:], y[n:], rank)


@PROBLEM.dataset("squares and mixed signs")
def mixed(quick: bool) -> Data:
    """A true quadratic: eigenvalues of both signs, a diagonal. The usual machines can't represent it."""
    n, d = (8000, 30) if quick else (40_000, 50)
    p = make_quadratic(n, d, 5, mixed_signs=True, noise=0.05, random_state=0)
    return _split(p.X, p.y, 5)


@PROBLEM.dataset("products of different columns")
def products(quick: bool) -> Data:
    """A true factorization machine (Rendle 2010): no squares. The peers' own model."""
    n, d = (8000, 30) if quick else (40_000, 50)
    rng = np.random.default_rng(0)
    X, V, w = rng.standard_normal((n, d)), rng.standard_normal((d, 5)), rng.standard_normal(d)
    y = X @ w + 0.5 * (np.square(X @ V).sum(1) - np.square(X) @ np.square(V).sum(1))
    return _split(X, y + 0.05 * np.std(y) * rng.standard_normal(n), 5)


@PROBLEM.solver("FactorizationMachineRegressor", "defaults", ours=True)
def own(data: Data, budget: float) -> Iterator[Point]:
    """Growing numbers of steps."""
    for steps in (5, 10, 20, 100, 1000):
        model = FactorizationMachineRegressor(data.rank, max_iter=steps, random_state=0, n_jobs=1)
        seconds, _ = clocked(partial(model.fit, data.X, data.y))
        yield seconds, data.left(model.predict(data.test))


@PROBLEM.solver("the same, more directions", "rank 4 times as large: room for a diagonal", ours=True)
def own_wide(data: Data, budget: float) -> Iterator[Point]:
    """A machine without squares is a quadratic of full rank, so a larger rank may help."""
    rank = min(4 * data.rank, data.X.shape[1])
    model = FactorizationMachineRegressor(rank, random_state=0, n_jobs=1)
    seconds, _ = clocked(lambda: model.fit(data.X, data.y))
    yield seconds, data.left(model.predict(data.test))


@PROBLEM.solver("fastFM ALS", "init_stdev .1, l2 1, standardised target")
def fast(data: Data, budget: float) -> Iterator[Point]:
    """In its own interpreter, timed there."""
    centre, scale = data.y.mean(), data.y.std()
    for sweeps in (5, 20, 80):
        settings: dict[str, Any] = {
            "rank": data.rank,
            "n_iter": sweeps,
            "init_stdev": 0.1,
            "l2_reg_w": 1.0,
            "l2_reg_V": 1.0,
        }
        values, seconds = fastfm(data.X, (data.y - centre) / scale, data.test, random_state=0, **settings)
        yield seconds, data.left(values * scale + centre)


@PROBLEM.solver("myFM", "Gibbs samples, its own hyperparameters")
def bayesian(data: Data, budget: float) -> Iterator[Point]:
    """Growing numbers of samples."""
    for samples in (10, 30, 100):
        values, seconds = myfm(data.X, data.y, data.test, rank=data.rank, n_iter=samples)
        yield seconds, data.left(values)
        if 3 * seconds > budget:
            return


@PROBLEM.solver(
    "L-BFGS on the squared loss", "scipy, the same model and rank, best of 3 starts, to its own end"
)
def newton(data: Data, budget: float) -> Iterator[Point]:
    """Growing numbers of iterations, until the gradient vanishes."""
    for iterations in (20, 60, 200, 1000):
        values, seconds = quasi_newton(data.X, data.y, data.test, rank=data.rank, n_iter=iterations)
        yield seconds, data.left(values)
        if 3 * seconds > budget:
            return


@PROBLEM.solver("river", "steps of .002, one pass over at most 3000 rows, standardised target")
def online(data: Data, budget: float) -> Iterator[Point]:
    """Row by row, in Python."""
    centre, scale = data.y.mean(), data.y.std()
    n = min(3000, len(data.X))
    model, seconds = river(data.X[:n], (data.y[:n] - centre) / scale, rank=data.rank)
    rows = [{str(j): float(value) for j, value in enumerate(row)} for row in data.test[:500]]
    values = np.array([model.predict_one(row) for row in rows]) * scale + centre
    yield seconds, float(np.mean((values - data.truth[:500]) ** 2) / np.var(data.truth[:500]))


@PROBLEM.solver("ridge on all squares and products", "scikit-learn, alpha 1, standardised")
def ridge(data: Data, budget: float) -> Iterator[Point]:
    """All d (d + 1) / 2 of them: no rank, so it needs many rows."""
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    if data.X.shape[1] > 200:
        raise PeerMissing("more than 20000 columns of products")
    model = make_pipeline(PolynomialFeatures(2, include_bias=False), StandardScaler(), Ridge(1.0))
    seconds, _ = clocked(lambda: model.fit(data.X, data.y))
    yield seconds, data.left(model.predict(data.test))
