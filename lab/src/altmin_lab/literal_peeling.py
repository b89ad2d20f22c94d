"""Algorithms 1 and 2 of Bhaskara and Tai (2019) as they stand in the paper, and as their proofs need them.

Rows are samples. The oracle for threshold correlation is Theorem 6's: the best of the input vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Oracle = Callable[[Array, Array, float], Array]


@dataclass(frozen=True)
class Round:
    """One atom, the rows that took it, what is left of all rows, and how many atoms each row has."""

    atom: Array
    rows: Array
    left: Array
    counts: Array


def correlation_value(v: Array, V: Array, w: Array, threshold: float) -> float:
    """The objective of Definition 1 at a direction, over the vectors V with weights w."""
    squares = (V @ v) ** 2
    return float(np.sum(w * squares * (squares >= threshold)))


def best_input(V: Array, w: Array, threshold: float) -> Array:
    """Theorem 6: the input vector, at unit length, whose objective at this threshold is largest."""
    norms = np.linalg.norm(V, axis=1)
    U = V / np.where(norms > 0, norms, 1.0)[:, None]
    squares = (U @ V.T) ** 2
    return np.asarray(U[int(np.argmax(np.where(squares >= threshold, squares, 0.0) @ w))])


def peel(
    X: Array,
    tau: float,
    alpha: float,
    n_rounds: int,
    *,
    printed: bool = False,
    oracle: Oracle = best_input,
    stop: Callable[[float], bool] | None = None,
) -> Iterator[Round]:
    """Algorithm 1, until no row passes the threshold; with ``stop``, Algorithm 2.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    tau : float
        Threshold of the correlation with z_i / ||x_i||.
    alpha : float
        Rows take an atom from ``alpha * tau`` on.
    n_rounds : int
        Rounds at most.
    printed : bool
        Lines 7 and 8 as they stand: rows take an atom from <z, v>^2 = alpha tau on, whatever their length,
        and ``z <- z - <z, v> v``. The lemmas need alpha tau ||x||^2 and the residual of the projection on all
        atoms of a row.
    oracle : callable
        Vectors, weights and threshold to a direction.
    stop : callable, optional
        Told by how much a round lowered the squared error over ||X||^2; True ends the rounds, as in the
        while loop of Algorithm 2.

    Yields
    ------
    Round
        After each atom.
    """
    norms = np.linalg.norm(X, axis=1)
    w, total = norms**2, float(np.sum(norms**2))
    Z = X.copy()
    bases: list[list[Array]] = [[] for _ in X]
    counts = np.zeros(len(X), dtype=int)
    for _ in range(n_rounds):
        V = Z / norms[:, None]
        v = oracle(V, w, alpha * tau)
        rows = np.flatnonzero(((Z if printed else V) @ v) ** 2 >= alpha * tau)
        if not len(rows):
            return
        before = float(np.sum(Z**2))
        for i in rows:
            direction = v
            if not printed:
                for q in bases[i]:
                    direction = direction - (q @ direction) * q
                size = np.linalg.norm(direction)
                direction = direction / size
                bases[i].append(direction)
            Z[i] = Z[i] - (Z[i] @ direction) * direction
        counts[rows] += 1
        yield Round(v, rows, Z.copy(), counts.copy())
        if stop is not None and stop((before - float(np.sum(Z**2))) / total):
            return
