"""A symmetric quadratic of low rank in factors: what it predicts, its eigenvalues, its user's columns."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.algorithms.quadratic.lens import Lens
from altmin.contract import record


@record
class Quadratic:
    """A model in the coordinates of the lens: y = level + z'w + z'Mz - tr M, M = (UV' + VU') / 2.

    Without an intercept ``level`` is tr M. The level is what the mean of y measures, whatever M is. Where
    squares of columns follow a law of their own, ``own`` are their coefficients beside M.
    """

    U: Any  # (d, k)
    V: Any  # (d, k)
    w: Any  # (d,)
    level: float
    own: Any = None  # (d,): of s^2 - 1 (s^2 without an intercept); None: M has all squares

    @property
    def trace(self) -> float:
        """Of M."""
        return float(np.sum(self.U * self.V))

    def times(self, A: NDArray[Any]) -> NDArray[Any]:
        """M A."""
        return 0.5 * (self.U @ (self.V.T @ A) + self.V @ (self.U.T @ A))

    def truncate(self, rank: int) -> Quadratic:
        """M cut to ``rank`` eigenvalues, largest magnitude first; U orthonormal."""
        values, vectors = symmetric_eigen(self.U, self.V)
        order = np.argsort(-np.abs(values), kind="stable")[:rank]
        U = vectors[:, order]
        return replace(self, U=U, V=U * values[order])


def symmetric_eigen(U: NDArray[Any], V: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Eigenvalues and vectors of (UV' + VU') / 2 from its factors, without forming it."""
    Q, R = np.linalg.qr(np.hstack([U, V]))
    k = U.shape[1]
    core = R[:, :k] @ R[:, k:].T
    values, vectors = np.linalg.eigh(0.5 * (core + core.T))
    return values, Q @ vectors


def without_diagonal(H: NDArray[Any], rank: int, rounds: int = 50) -> tuple[NDArray[Any], NDArray[Any]]:
    """Eigenvalues and vectors of the matrix of this rank that is H beside the diagonal.

    The diagonal is filled in from the last matrix found (iterated principal factors); a round is a power
    step. Eigenvalues of low rank are zero but for a few, and a missing diagonal moves them all: the zero may
    be their median or an end, or (few columns) between; what comes nearest to H is returned.
    """
    H = H - np.diag(np.diag(H))
    values, vectors = np.linalg.eigh(H)
    low, high = values[0], values[-1]
    found = [
        _filled_in(H, values - zero, vectors, rank, rounds)
        for zero in (np.median(values), low, high, 0.5 * low, 0.5 * high)
    ]

    def apart(pair: tuple[NDArray[Any], NDArray[Any]]) -> float:
        left = (pair[1] * pair[0]) @ pair[1].T - H
        return float(np.linalg.norm(left - np.diag(np.diag(left))))

    return min(found, key=apart)


def _filled_in(
    H: NDArray[Any], values: NDArray[Any], vectors: NDArray[Any], rank: int, rounds: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    order = np.argsort(-np.abs(values), kind="stable")[:rank]
    values, vectors = values[order], vectors[:, order]
    for _ in range(rounds):
        own = np.square(vectors) @ values
        Q = np.linalg.qr(H @ vectors + own[:, None] * vectors)[0]
        values, turn = np.linalg.eigh(Q.T @ (H @ Q + own[:, None] * Q))
        vectors = Q @ turn
    return values, vectors


def canonical_signs(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows whose largest entry is positive."""
    top = np.argmax(np.abs(rows), axis=1)
    return rows * np.where(rows[np.arange(len(top)), top] < 0, -1.0, 1.0)[:, None]


@record
class UserModel:
    """The model in the user's columns, about the lens's centre where no digits cancel.

    y = level + t'slope + sum_i eigenvalue_i (t'factor_i)^2 + sum_j diagonal_j t_j^2, t = x - centre
    """

    centre: Any  # (d,)
    level: float
    slope: Any  # (d,)
    factors: Any  # (k, d): unit rows, largest entry positive
    eigenvalues: Any  # (k,): by falling magnitude
    diagonal: Any = None  # (d,): squares of single columns beside the factors

    @property
    def coef(self) -> NDArray[Any]:
        """W of y = b + x'w + x'Mx."""
        own = 0.0 if self.diagonal is None else self.diagonal * self.centre
        return self.slope - 2 * (self.eigenvalues * (self.factors @ self.centre)) @ self.factors - 2 * own

    @property
    def intercept(self) -> float:
        """B."""
        across = self.factors @ self.centre
        own = 0.0 if self.diagonal is None else self.diagonal @ self.centre**2
        return float(self.level - self.centre @ self.slope + self.eigenvalues @ across**2 + own)

    @cached_property
    def _products(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """What rows are multiplied with, and what centring takes off: made once."""
        A = np.column_stack([self.slope, self.factors.T])
        return A, self.centre @ A

    def predict(self, X: Any) -> NDArray[Any]:
        """Values for rows, in their dtype."""
        A, offset = self._products
        P = np.asarray(X @ A.astype(X.dtype, copy=False)) - offset.astype(X.dtype)
        values = P[:, 0] + np.square(P[:, 1:]) @ self.eigenvalues.astype(P.dtype)
        if self.diagonal is not None:
            values += self._own_squares(X).astype(P.dtype, copy=False)
        return (values + self.level).astype(P.dtype, copy=False)

    def _own_squares(self, X: Any) -> NDArray[Any]:
        """Sum of diagonal_j (x_j - centre_j)^2; sparse rows stay sparse."""
        if not sp.issparse(X):
            return np.square(X - self.centre.astype(X.dtype)) @ self.diagonal.astype(X.dtype)
        across = X @ (2 * self.diagonal * self.centre)
        return np.asarray(X.multiply(X) @ self.diagonal - across + self.diagonal @ self.centre**2)


def user_model(lens: Lens, model: Quadratic, intercept: bool) -> UserModel:
    """The model as the user sees it, whatever scaling happened inside."""
    values, vectors = symmetric_eigen(lens.factors(model.U), lens.factors(model.V))
    order = np.argsort(-np.abs(values), kind="stable")[: model.U.shape[1]]
    own = None if model.own is None else model.own * lens.target_scale
    level = (model.level - model.trace) * lens.target_scale if intercept else 0.0
    if own is not None and intercept:
        level -= float(np.sum(own))
    return UserModel(
        lens.centre,
        level + lens.target_centre,
        lens.factors(model.w) * lens.target_scale,
        canonical_signs(vectors[:, order].T),
        values[order] * lens.target_scale,
        None if own is None else own * lens.units**2,
    )
