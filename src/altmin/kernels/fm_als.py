"""Coordinate sweeps of a factorization machine: each parameter to its least squares value in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.compiled import compiled


@compiled
def sweep_linear(data, indices, indptr, weight, e, w, alpha):  # type: ignore[no-untyped-def] # numba
    """Each w_j of y = b + x'w + ...: e is the residual and is kept up to date."""
    for j in range(len(w)):
        top, bottom = 0.0, 0.0
        for p in range(indptr[j], indptr[j + 1]):
            i, x = indices[p], data[p]
            top += weight[i] * x * e[i]
            bottom += weight[i] * x * x
        if bottom == 0.0:
            continue
        change = (top + bottom * w[j]) / (bottom + alpha) - w[j]
        w[j] += change
        for p in range(indptr[j], indptr[j + 1]):
            e[indices[p]] -= change * data[p]


@compiled
def sweep_factor(data, indices, indptr, weight, e, q, v, sign, alpha):  # type: ignore[no-untyped-def] # numba
    """Each v_j of sign * sum_{i<j} v_i v_j x_i x_j; q = X v is kept up to date with e."""
    for j in range(len(v)):
        old = v[j]
        top, bottom = 0.0, 0.0
        for p in range(indptr[j], indptr[j + 1]):
            i, x = indices[p], data[p]
            h = sign * x * (q[i] - old * x)
            top += weight[i] * h * e[i]
            bottom += weight[i] * h * h
        if bottom + alpha == 0.0:
            continue
        change = (top + bottom * old) / (bottom + alpha) - old
        v[j] = old + change
        for p in range(indptr[j], indptr[j + 1]):
            i, x = indices[p], data[p]
            e[i] -= change * sign * x * (q[i] - old * x)
            q[i] += change * x


@dataclass
class Machine:
    """y = b + x'w + sum_j D_j x_j^2 + sum_f s_f sum_{i<j} V_fi V_fj x_i x_j.

    Linear in each single coordinate, so each has a closed form: the square of a column is its own
    coordinate D_j, not part of the factors. D_j stays 0 where ``square`` says so (binary columns).
    """

    b: float
    w: NDArray[Any]
    D: NDArray[Any]
    V: NDArray[Any]  # (k, d)
    signs: NDArray[Any]  # (k,)

    def values(self, X: Any) -> NDArray[Any]:
        """Predictions for the rows of a sparse X."""
        squares = X.multiply(X)
        own = self.D - 0.5 * self.signs @ np.square(self.V)
        cross = 0.5 * np.square(np.asarray(X @ self.V.T)) @ self.signs
        return np.asarray(self.b + np.asarray(X @ self.w) + np.asarray(squares @ own) + cross)


def als(
    X: Any,
    y: NDArray[Any],
    weight: NDArray[Any],
    start: Machine,
    *,
    square: NDArray[Any],
    alpha: tuple[float, float],
    sweeps: int,
    tol: float = 1e-5,
) -> tuple[Machine, list[float]]:
    """Alternating least squares for a factorization machine, exact in each coordinate (Rendle 2010).

    Parameters
    ----------
    X : csc_array of shape (n, d)
        Features, float64.
    y, weight : ndarray of shape (n,)
        Target and how often each row counts.
    start : Machine
        Where to begin.
    square : ndarray of bool, (d,)
        Columns whose square is a coordinate of its own.
    alpha : (float, float)
        Ridge on w and D, and on V.
    sweeps : int
        At most.
    tol : float
        Stop where the training error falls by less than this share.

    Returns
    -------
    machine, losses
        The machine, and the mean squared residual after each sweep.
    """
    b, w, D, V = start.b, start.w.copy(), start.D.copy(), start.V.copy()
    e = y - start.values(X)
    total = float(weight.sum())
    columns = (X.data, X.indices, X.indptr)
    kept = np.repeat(square, np.diff(X.indptr))
    squares = (np.where(kept, np.square(X.data), 0.0), X.indices, X.indptr)
    losses: list[float] = []
    for sweep in range(sweeps):
        shift = float(weight @ e) / total
        b, e = b + shift, e - shift
        for _ in range(1 if sweep else 3):  # the linear part first: factors explain what it cannot
            sweep_linear(*columns, weight, e, w, alpha[0])
        if square.any():
            sweep_linear(*squares, weight, e, D, alpha[0])
        for f, sign in enumerate(start.signs):
            q = np.asarray(X @ V[f])
            v = V[f].copy()
            sweep_factor(*columns, weight, e, q, v, float(sign), alpha[1])
            V[f] = v
        losses.append(float(weight @ np.square(e)) / total)
        if len(losses) > 1 and losses[-2] - losses[-1] < tol * losses[-2]:
            break
    return Machine(b, w, D, V, start.signs), losses
