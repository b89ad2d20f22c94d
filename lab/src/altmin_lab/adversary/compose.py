"""A problem is a base model and one perturbation of it; both act on a draft of the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass
class Draft:
    """Data in the making: X = codes @ factors, then ``after`` is applied, then noise is added.

    Parameters
    ----------
    rng : Generator
        All randomness of the problem.
    factors : ndarray of shape (n_factors, n_features)
        The truth.
    codes : ndarray of shape (n_samples, n_factors)
        What mixes it.
    noise : float
        Standard deviation over the root mean square of the data; 0: none.
    asked : int or None
        Components that the estimator is asked for; None: as many as there are.
    after : list of callable
        What happens to X before the noise.
    last : list of callable
        What happens to X after the noise.
    counts : float or ndarray of shape (n_samples, 1)
        Expected count of a sample where the data are counts; 0: they aren't.
    sound : bool
        Whether the truth can be recovered in principle; otherwise every claim about the whole is false.
    assume : str or None
        An assumption that is true of these data and may be declared.
    holds : bool
        Whether the data follow the model; where they don't, silence is right even if the error is small.
    by_nature : bool
        Whether the truth lies below the resolution that the report prints.
    stop : int or None
        Iterations after which the fit is stopped; None: as many as it takes.
    """

    rng: np.random.Generator
    factors: Array
    codes: Array
    noise: float = 0.0
    asked: int | None = None
    after: list[Callable[[Array], Array]] = field(default_factory=list)
    last: list[Callable[[Array], Array]] = field(default_factory=list)
    counts: Any = 0.0
    sound: bool = True
    assume: str | None = None
    holds: bool = True
    by_nature: bool = False
    stop: int | None = None

    def data(self) -> Array:
        """The samples."""
        X = self.codes @ self.factors
        for change in self.after:
            X = change(X)
        size = float(np.sqrt(np.mean(X**2)))
        if np.any(self.counts):
            X = np.maximum(X, 0.0)
            share = X / np.maximum(X.sum(axis=1, keepdims=True), 1e-300)
            X = self.rng.poisson(self.counts * share).astype(float)
        elif self.noise:
            X = X + self.noise * size * self.rng.standard_normal(X.shape)
        for change in self.last:
            X = change(X)
        return X


@dataclass(frozen=True)
class Part:
    """A base model or a perturbation, by name."""

    name: str
    act: Callable[..., Any]
    held_out: bool = False
    group: str = "clean"


def sines(found: Array, truth: Array) -> Array:
    """Of each component that was found, the sine of its angle to the nearest true factor."""
    norms = np.linalg.norm(found, axis=1, keepdims=True)
    U = found / np.where(norms > 0, norms, 1.0)
    R = truth / np.maximum(np.linalg.norm(truth, axis=1, keepdims=True), 1e-300)
    best = np.abs(U @ R.T).argmax(axis=1)
    along = np.einsum("ij,ij->i", U, R[best])
    return np.where(norms[:, 0] > 0, np.linalg.norm(U - along[:, None] * R[best], axis=1), 1.0)


def between(rng: np.random.Generator, low: float, high: float) -> float:
    """A number, evenly on the log scale."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def whole(rng: np.random.Generator, low: int, high: int) -> int:
    """An integer from low to high, both included."""
    return int(rng.integers(low, high + 1))


def sized(change: Callable[[Array], Array], size: float) -> Callable[[Array], Array]:
    """The change, as large as this part of the data."""

    def act(X: Array) -> Array:
        away = change(X) - X
        return X + size * np.linalg.norm(X) / max(float(np.linalg.norm(away)), 1e-300) * away

    return act
