"""Problems of factorization machines. Error of (w, M), relative, in standardised columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from altmin.estimators.quadratic.regressor import FactorizationMachineRegressor
from altmin_lab.calibration.quadratic_data import (
    Array,
    features,
    foreign_target,
    low_rank,
    noise,
    quadratic,
    shape,
)
from altmin_lab.calibration.trial import Group, Trial, between, kind, whole


def parameters(d: int, k: int) -> int:
    """Free numbers of (b, w, M)."""
    return 1 + d + d * k - k * (k - 1) // 2


def trial(rng: np.random.Generator, X: Array, y: Array, w: Array, M: Array, rank: int) -> Trial:
    """Fit a machine of this rank and compare with (w, M)."""
    size = np.hypot(np.linalg.norm(w), np.linalg.norm(M))

    def error(model: FactorizationMachineRegressor) -> float:
        gap = np.hypot(np.linalg.norm(model.coef_ - w), np.linalg.norm(model.matrix() - M))
        return float(gap / size)

    return Trial(FactorizationMachineRegressor(rank, random_state=whole(rng, 0, 9999)), (X, y), error)


def draw(rng: np.random.Generator, rows: float = 12.0, law: str | None = None) -> tuple[Any, ...]:
    """Features, target without noise, w, M, rank; rows in units of the parameters."""
    d, k = shape(rng)
    X = features(rng, int(rows * parameters(d, k)), d, law)
    w, M = rng.standard_normal(d) / np.sqrt(d), low_rank(rng, d, k)
    return X, rng.normal() + X @ w + quadratic(X, M), w, M, k


@kind("machine", "quadratic law", "clean", 5)
def _clean(rng: np.random.Generator) -> Trial:
    X, y, w, M, k = draw(rng, rng.uniform(4, 30))
    return trial(rng, X, y, w, M, k + whole(rng, 0, 1) if k < X.shape[1] else k)


@kind("machine", "little noise", "noisy", 6)
def _noise(rng: np.random.Generator) -> Trial:
    X, y, w, M, k = draw(rng, rng.uniform(8, 40))
    return trial(rng, X, noise(rng, y, between(rng, 1e-3, 0.05)), w, M, k)


@kind("machine", "strong noise", "noisy", 3)
def _strong(rng: np.random.Generator) -> Trial:
    X, y, w, M, k = draw(rng, rng.uniform(4, 20))
    return trial(rng, X, noise(rng, y, between(rng, 0.3, 5)), w, M, k)


@kind("machine", "too few rows", "clean", 3)
def _few(rng: np.random.Generator) -> Trial:
    X, y, w, M, k = draw(rng, rng.uniform(0.4, 1.6))
    return trial(rng, X, y if rng.random() < 0.5 else noise(rng, y, 0.03), w, M, k)


@kind("machine", "copies of few rows", "clean")
def _copies(rng: np.random.Generator) -> Trial:
    X, y, w, M, k = draw(rng, rng.uniform(0.4, 1.2))
    rows = rng.integers(len(y), size=20 * len(y))
    return trial(rng, X[rows], y[rows], w, M, k)


@kind("machine", "too low a rank", "noisy", 3)
def _low(rng: np.random.Generator) -> Trial:
    d, k = whole(rng, 4, 10), whole(rng, 2, 4)
    X, w, M = (
        features(rng, 15 * parameters(d, k), d),
        rng.standard_normal(d) / np.sqrt(d),
        low_rank(rng, d, k, 3),
    )
    y = X @ w + quadratic(X, M)
    return trial(rng, X, noise(rng, y, between(rng, 1e-3, 0.1)) if rng.random() < 0.5 else y, w, M, k - 1)


@kind("machine", "collinear features", "clean", 2)
def _collinear(rng: np.random.Generator) -> Trial:
    X, _, w, M, k = draw(rng, 12, "gaussian")
    if rng.random() < 0.5:
        X[:, 1] = X[:, 0] + between(rng, 1e-9, 1e-3) * X[:, 1]
    else:
        X = (
            X
            @ rng.standard_normal((X.shape[1], X.shape[1] - 1))
            @ rng.standard_normal((X.shape[1] - 1, X.shape[1]))
        )
    X /= X.std(axis=0)
    y = X @ w + quadratic(X, M)
    return trial(rng, X, noise(rng, y, 0.01) if rng.random() < 0.5 else y, w, M, k)


@kind("machine", "a constant feature", "clean")
def _constant(rng: np.random.Generator) -> Trial:
    X, _, w, M, k = draw(rng, 12, "gaussian")
    X[:, 0] = rng.normal()
    return trial(rng, X, X @ w + quadratic(X, M), w, M, k)


@kind("machine", "binary features", "clean")
def _binary(rng: np.random.Generator) -> Trial:
    X, _, w, M, k = draw(rng, 15)
    some = rng.random(X.shape[1]) < rng.uniform(0.2, 1)
    X[:, some] = np.sign(X[:, some])
    return trial(rng, X, X @ w + quadratic(X, M), w, M, k)


@kind("machine", "noise in the features", "noisy", 2)
def _errors_in_variables(rng: np.random.Generator) -> Trial:
    X, y, w, M, k = draw(rng, rng.uniform(10, 40), "gaussian")
    seen = X + between(rng, 0.12, 0.7) * rng.standard_normal(X.shape)
    return trial(rng, seen, noise(rng, y, between(rng, 1e-3, 0.05)), w, M, k)


@kind("machine", "outlying targets", "noisy", 2)
def _outliers(rng: np.random.Generator) -> Trial:
    X, y, w, M, k = draw(rng, rng.uniform(8, 30))
    rows = rng.permutation(len(y))[: max(int(between(rng, 0.003, 0.1) * len(y)), 1)]
    y[rows] += between(rng, 3, 50) * y.std() * rng.standard_normal(len(rows))
    return trial(rng, X, y, w, M, k)


@kind("machine", "small eigenvalues beside", "noisy")
def _tail(rng: np.random.Generator) -> Trial:
    X, _, w, M, k = draw(rng, rng.uniform(10, 40), "gaussian")
    S = rng.standard_normal(M.shape)
    M = M + between(rng, 0.06, 0.4) * (S + S.T) / (2 * np.linalg.norm(S, 2))
    return trial(rng, X, noise(rng, X @ w + quadratic(X, M), 1e-2), w, M, k)


def _foreign(name: str, group: Group, target: Any, share: int = 1) -> None:
    def make(rng: np.random.Generator) -> Trial:
        d, k = shape(rng)
        X = features(rng, int(rng.uniform(4, 25) * parameters(d, k)), d)
        return Trial(FactorizationMachineRegressor(k, random_state=whole(rng, 0, 9999)), (X, target(rng, X)))

    kind("machine", name, group, share)(make)


_foreign("another law", "other", foreign_target, 3)
_foreign("another law and noise", "other", lambda rng, X: noise(rng, foreign_target(rng, X), 0.1))
_foreign("pure noise", "noise", lambda rng, X: rng.standard_normal(len(X)), 2)
