"""Non-negative least squares for many right-hand sides that share one Gram matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.compiled import compiled


@compiled
def descend(G, H, X, tol, max_sweeps):  # type: ignore[no-untyped-def] # numba
    """Cyclic coordinate descent on each row; stops where a sweep moves nothing by more than tol."""
    n_rows, D = H.shape
    gradient = np.empty(D)
    for r in range(n_rows):
        for i in range(D):
            gradient[i] = -H[r, i]
        for j in range(D):
            if X[r, j] != 0.0:
                for i in range(D):
                    gradient[i] += X[r, j] * G[j, i]
        largest = 0.0
        for _ in range(max_sweeps):
            moved = 0.0
            for j in range(D):
                if G[j, j] <= 0.0:
                    continue
                new = max(X[r, j] - gradient[j] / G[j, j], 0.0)
                delta = new - X[r, j]
                if delta != 0.0:
                    X[r, j] = new
                    for i in range(D):
                        gradient[i] += delta * G[j, i]
                    moved = max(moved, abs(delta))
                    largest = max(largest, new)
            if moved <= tol * largest:
                break


def nnls(G: NDArray[Any], H: NDArray[Any], *, tol: float = 1e-10, max_sweeps: int = 1000) -> NDArray[Any]:
    r"""Solve :math:`\min_{x \ge 0} \tfrac12 x^T G x - h^T x` for every row h of H.

    Parameters
    ----------
    G : ndarray of shape (D, D)
        Gram matrix.
    H : ndarray of shape (n, D)
        Right-hand sides.
    tol : float
        Relative change of a sweep at which a row is done.
    max_sweeps : int
        At most.

    Returns
    -------
    ndarray of shape (n, D)
        float64. Variables whose diagonal entry of G is 0 stay 0.
    """
    G = np.ascontiguousarray(G, dtype=np.float64)
    H = np.ascontiguousarray(H, dtype=np.float64)
    # Unit diagonal: coordinate descent and its stopping rule then don't depend on scales.
    scale = np.sqrt(np.where(np.diag(G) > 0, np.diag(G), 1.0))
    X = np.zeros_like(H)
    descend(G / np.outer(scale, scale), H / scale, X, tol, max_sweeps)
    return X / scale
