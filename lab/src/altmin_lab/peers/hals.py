"""HALS (Cichocki et al. 2007), compiled: the fastest of the classical rivals of AND."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.compiled import compiled


@compiled
def update_rows(F, G, B, smallest):  # type: ignore[no-untyped-def] # numba
    """F_i <- max(F_i + (B_i - (G F)_i) / G_ii, smallest), row after row, in columns that fit the cache."""
    D, n = F.shape
    width = 64
    row = np.empty(width)
    for low in range(0, n, width):
        m = min(width, n - low)
        for i in range(D):
            if G[i, i] <= 0.0:
                continue
            for c in range(m):
                row[c] = B[i, low + c]
            for j in range(D):
                g = G[i, j]
                for c in range(m):
                    row[c] -= g * F[j, low + c]
            for c in range(m):
                F[i, low + c] = max(F[i, low + c] + row[c] / G[i, i], smallest)


def hals(
    X: NDArray[Any], start: NDArray[Any], n_iter: int, *, signed: bool = False
) -> Iterator[NDArray[Any]]:
    """Run HALS and give the components after each iteration.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Non-negative data.
    start : ndarray of shape (n_components, n_features)
        Components to start from; the weights start at their non-negative least squares by 10 sweeps.
    n_iter : int
        Iterations; each updates all weights, then all components.
    signed : bool
        Leave the components any sign, for data that have both.

    Yields
    ------
    ndarray of shape (n_components, n_features)
        The components.
    """
    A = np.array(start, dtype=np.float64) if signed else np.maximum(start, 1e-12).astype(np.float64)
    X = np.ascontiguousarray(X, dtype=np.float64)
    Z = np.full((len(A), len(X)), 1.0 / len(A))
    for _ in range(10):
        update_rows(Z, A @ A.T, A @ X.T, 0.0)
    for _ in range(n_iter):
        update_rows(Z, A @ A.T, A @ X.T, 1e-16)
        update_rows(A, Z @ Z.T, Z @ X, -np.inf if signed else 1e-16)
        yield A
