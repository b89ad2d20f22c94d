"""Counts against what a factorization expects of them: ratios, and the divergence of their likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.kernels.compiled import compiled


@compiled
def expected_at(indptr, indices, Z, T, out):  # type: ignore[no-untyped-def] # numba
    """Entries of Z T' where a sparse matrix has any; T has one row per column of the matrix."""
    D = Z.shape[1]
    for r in range(Z.shape[0]):
        z = Z[r]
        for place in range(indptr[r], indptr[r + 1]):
            t = T[indices[place]]
            total = 0.0
            for k in range(D):
                total += z[k] * t[k]
            out[place] = total


def ratios(X: Any, Z: NDArray[Any], A: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """X / (Z A), and the divergence of each row; sparse where X is.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, W)
        Counts.
    Z, A : ndarray of shapes (n, D) and (D, W)
        Not negative.

    Returns
    -------
    ratio : ndarray or CSR of shape (n, W)
        0 where X is 0.
    divergence : ndarray of shape (n,)
        Sum over the row of x log(x / p) - x + p, with p = Z A.
    """
    tiny = np.finfo(np.float64).tiny
    if sp.issparse(X):
        values, P = X.data.astype(np.float64), np.empty(len(X.data))
        expected_at(X.indptr, X.indices, Z, np.ascontiguousarray(A.T), P)
    else:
        values, P = np.asarray(X, np.float64), Z @ A
    R = values / np.maximum(P, tiny)
    gain = values * np.log(np.maximum(R, tiny)) - values
    if sp.issparse(X):
        ratio = sp.csr_array((R, X.indices, X.indptr), shape=X.shape)
        starts = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        return ratio, np.bincount(starts, gain, minlength=X.shape[0]) + Z @ A.sum(axis=1)
    return R, np.sum(gain, axis=1) + Z @ A.sum(axis=1)
