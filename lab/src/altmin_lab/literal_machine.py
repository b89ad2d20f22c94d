"""Algorithm 1 of Lin and Ye (2016), One-Pass gFM, as it stands in the paper, for the claims.

Rows are samples. The d x d matrices are formed, which the paper avoids: the numbers are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Batch = tuple[Array, Array]


@dataclass(frozen=True)
class Machine:
    """An estimate: w, an orthonormal basis U, and V with M = (U V' + V U') / 2."""

    w: Array
    U: Array
    V: Array

    @property
    def M(self) -> Array:
        """The second-order matrix."""
        half = self.U @ self.V.T
        return np.asarray(half + half.T) / 2

    def predict(self, X: Array) -> Array:
        """Values of the model for rows."""
        return np.asarray(X @ self.w + np.einsum("ij,ij->i", X @ self.U, X @ self.V))


def moments(X: Array, residual: Array, shift: float = 0.5) -> tuple[Array, Array]:
    """H1 - shift h2 I and h3 of a batch with these residuals."""
    n, d = X.shape
    H = X.T @ (residual[:, None] * X) / (2 * n)
    return H - shift * residual.mean() * np.eye(d), X.T @ residual / n


def one_pass(
    batches: Iterator[Batch], rank: int, *, shift: float = 0.5, new_basis: bool = True, top: bool = True
) -> Iterator[Machine]:
    """The estimates after the start and after each batch.

    Parameters
    ----------
    batches : iterator of (X, y)
        Fresh rows each; the first batch serves for the start and for the first step, as X of step 0 isn't
        defined in the paper.
    rank : int
        k.
    shift : float
        Share of h2 that is subtracted: 1/2 in Algorithm 1, 1 in Lemma 10.
    new_basis : bool
        V from the new U, as line 8 has it; False: from the old one.
    top : bool
        Start with the top singular vectors, as line 2 has it; False: with the last ones.

    Yields
    ------
    Machine
        Step 0, then one for each batch.
    """
    X, y = next(batches)
    H, _ = moments(X, y, shift)
    values, vectors = np.linalg.eigh(H)
    order = np.argsort(-np.abs(values))
    U = vectors[:, order[:rank] if top else order[-rank:]]
    state = Machine(np.zeros(X.shape[1]), U, np.zeros_like(U))
    yield state
    while True:
        H, h = moments(X, y - state.predict(X), shift)
        operator = H + state.M
        U = np.linalg.qr(operator @ state.U)[0]
        state = Machine(state.w + h, U, operator @ (U if new_basis else state.U))
        yield state
        try:
            X, y = next(batches)
        except StopIteration:
            return


def gaussian_batches(
    n: int, n_batches: int, w: Array, M: Array, *, noise: float = 0.0, seed: int = 0
) -> Iterator[Batch]:
    """Fresh standard Gaussian rows with y = x'w + x'Mx + noise."""
    rng = np.random.default_rng(seed)
    for _ in range(n_batches):
        X = rng.standard_normal((n, len(w)))
        y = X @ w + np.einsum("ij,ij->i", X @ M, X)
        yield X, y + noise * rng.standard_normal(n)


def law_of(d: int, values: Array, seed: int, coef_norm: float = 1.0) -> tuple[Array, Array, Array]:
    """w*, M* and the eigenvectors U* of a random law with these eigenvalues."""
    rng = np.random.default_rng(seed + 1000)
    Q = np.linalg.qr(rng.standard_normal((d, len(values))))[0]
    w = rng.standard_normal(d)
    return coef_norm * w / np.linalg.norm(w), (Q * values) @ Q.T, Q


def distance(state: Machine, w: Array, M: Array) -> float:
    """||w* - w|| + ||M* - M||_2."""
    left = np.abs(np.linalg.eigvalsh(M - state.M)).max()
    return float(np.linalg.norm(w - state.w) + left)


def tangent(U: Array, truth: Array) -> float:
    """Tangent of the largest canonical angle between two subspaces of the same dimension."""
    inside = truth.T @ U
    outside = U - truth @ inside
    return float(np.linalg.norm(outside @ np.linalg.pinv(inside), 2))
