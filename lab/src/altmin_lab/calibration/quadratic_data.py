"""What problems of machines and of sensing share: features, matrices of low rank, targets of other models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin_lab.calibration.trial import between, whole

Array = NDArray[Any]


def features(rng: np.random.Generator, n: int, d: int, law: str | None = None) -> Array:
    """Standardised columns."""
    law = law or str(rng.choice(["gaussian", "gaussian", "exponential", "uniform", "correlated"]))
    if law == "exponential":
        return rng.exponential(size=(n, d)) - 1.0
    if law == "uniform":
        return rng.uniform(-np.sqrt(3), np.sqrt(3), (n, d))
    X = rng.standard_normal((n, d))
    if law == "correlated":
        rho = rng.uniform(0.1, 0.7)
        X = np.sqrt(1 - rho) * X + np.sqrt(rho) * rng.standard_normal((n, 1))
    return X


def low_rank(rng: np.random.Generator, d: int, k: int, condition: float = 5.0) -> Array:
    """A symmetric matrix of rank k and norm 1, eigenvalues of both signs."""
    Q = np.linalg.qr(rng.standard_normal((d, k)))[0]
    values = np.geomspace(1, 1 / between(rng, 1, condition), k) * rng.choice([-1, 1], k)
    return np.asarray((Q * values) @ Q.T)


def quadratic(X: Array, M: Array) -> Array:
    """The values x'Mx."""
    return np.einsum("ij,jk,ik->i", X, M, X)


def noise(rng: np.random.Generator, y: Array, level: float) -> Array:
    """Y with noise of this share of its spread."""
    return np.asarray(y + level * y.std() * rng.standard_normal(len(y)))


def shape(rng: np.random.Generator) -> tuple[int, int]:
    """Features and rank."""
    d = whole(rng, 4, 10)
    return d, whole(rng, 1, min(3, d - 1))


def foreign_target(rng: np.random.Generator, X: Array) -> Array:
    """A smooth or broken function of two directions that no quadratic equals."""
    u, v = (X @ (w / np.linalg.norm(w)) for w in rng.standard_normal((2, X.shape[1])))
    shapes: list[Callable[[], Array]] = [
        lambda: u**3 + u * v,
        lambda: np.abs(u) + v,
        lambda: np.tanh(2 * u) * v,
        lambda: np.sin(2 * u) + v**2,
        lambda: np.maximum(u, 0) + np.maximum(v, 0),
        lambda: np.where(u > 0, 1.0, -1.0) + np.where(v > 0.5, 1.0, 0.0),
        lambda: u * v * (X @ rng.standard_normal(X.shape[1])),
        lambda: np.exp(0.7 * u) + v**2,
    ]
    return shapes[whole(rng, 0, len(shapes) - 1)]()
