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


@compiled
def prune_rows(X, A, Z, least, n_updates):  # type: ignore[no-untyped-def] # numba
    """Sparse non-negative codes of counts: codes that their Wald statistics don't support become 0.

    Each row starts from its codes in Z, which multiplicative updates improve first. The least supported
    code, z^2 over its variance under the Poisson model, goes as long as its statistic is below ``least``;
    the others adapt.
    """
    D = A.shape[0]
    sums, alive = A.sum(axis=1), np.empty(D, np.int64)
    for r in range(X.shape[0]):
        x, z = X[r], Z[r]
        _update_row(x, A, z, sums, 3 * n_updates)
        while True:
            n = 0
            for k in range(D):
                if z[k] > 0.0:
                    alive[n] = k
                    n += 1
            worst = _least_supported(A, z, alive[:n], least) if n > 1 else -1
            if worst < 0:
                break
            z[worst] = 0.0
            _update_row(x, A, z, sums, n_updates)


@compiled
def _update_row(x, A, z, sums, n_updates):  # type: ignore[no-untyped-def] # numba
    """Multiplicative updates of the codes of one row."""
    D, W = A.shape
    gain = np.empty(D)
    for _ in range(n_updates):
        gain[:] = 0.0
        for w in range(W):
            if x[w] > 0.0:
                mean = 0.0
                for k in range(D):
                    mean += z[k] * A[k, w]
                ratio = x[w] / max(mean, 1e-300)
                for k in range(D):
                    gain[k] += A[k, w] * ratio
        for k in range(D):
            z[k] *= gain[k] / max(sums[k], 1e-300)


@compiled
def _least_supported(A, z, alive, least):  # type: ignore[no-untyped-def] # numba
    """The code whose statistic is farthest below its bound, or -1."""
    n, W = alive.shape[0], A.shape[1]
    information = np.zeros((n, n))
    for w in range(W):
        mean = 1e-12
        for a in range(n):
            mean += z[alive[a]] * A[alive[a], w]
        for a in range(n):
            share = A[alive[a], w] / mean
            for b in range(n):
                information[a, b] += share * A[alive[b], w]
    for a in range(n):
        information[a, a] *= 1.0 + 1e-9
        information[a, a] += 1e-300
    variance = np.linalg.inv(information)
    worst, lowest = -1, 0.0
    for a in range(n):
        k = alive[a]
        excess = z[k] * z[k] / max(variance[a, a], 1e-300) - least[k]
        if excess < lowest:
            worst, lowest = k, excess
    return worst


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
    tiny = 1e-100  # far below any expected count, far above overflow of the ratios
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
