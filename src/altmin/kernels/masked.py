"""Least squares where each row knows only some of its entries: Gram matrices of their own, packed."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.kernels.compiled import compiled
from altmin.kernels.gram import row_norms2, times


@compiled
def solve_rows(G, H, R, X):  # type: ignore[no-untyped-def] # numba
    """X[r] = (unpack(G[r]) + R)^-1 H[r] by Cholesky; a pivot that vanishes leaves its unknown at 0."""
    n, D = H.shape
    L = np.empty((D, D))
    for r in range(n):
        _unpack_lower(G[r], R, L)
        for i in range(D):
            pivot = L[i, i]
            smallest = 1e-14 * pivot
            for k in range(i):
                pivot -= L[i, k] * L[i, k]
            dead = pivot <= smallest
            root = 1.0 if dead else np.sqrt(pivot)
            for j in range(i + 1, D):
                s = L[j, i]
                for k in range(i):
                    s -= L[j, k] * L[i, k]
                L[j, i] = 0.0 if dead else s / root
            L[i, i] = root
            s = H[r, i]
            for k in range(i):
                s -= L[i, k] * X[r, k]
            X[r, i] = 0.0 if dead else s / root
            if dead:
                for k in range(i):
                    L[i, k] = 0.0
        for i in range(D - 1, -1, -1):
            s = X[r, i]
            for k in range(i + 1, D):
                s -= L[k, i] * X[r, k]
            X[r, i] = s / L[i, i]


@compiled
def _unpack_lower(packed, R, L):  # type: ignore[no-untyped-def] # numba
    """Lower triangle of the packed matrix plus R."""
    place = 0
    for i in range(L.shape[0]):
        for j in range(i, L.shape[0]):
            L[j, i] = packed[place] + R[j, i]
            place += 1


@compiled
def solve_clicks(indptr, indices, factors, base, X):  # type: ignore[no-untyped-def] # numba
    """X[r] = (base + sum y y')^-1 sum y, over the factors y of the columns on which row r clicked.

    Parameters
    ----------
    indptr, indices : ndarray of int
        Rows of clicks in the CSR format.
    factors : ndarray of shape (n_columns, k)
        Of the columns.
    base : ndarray of shape (k, k)
        Symmetric; the same for all rows.
    X : ndarray of shape (n, k)
        Written.
    """
    k = factors.shape[1]
    G, H = np.empty((1, k * (k + 1) // 2)), np.empty((1, k))
    for r in range(len(indptr) - 1):
        G[:], H[:] = 0.0, 0.0
        for p in range(indptr[r], indptr[r + 1]):
            y = factors[indices[p]]
            place = 0
            for i in range(k):
                H[0, i] += y[i]
                for j in range(i, k):
                    G[0, place] += y[i] * y[j]
                    place += 1
        solve_rows(G, H, base, X[r : r + 1])


@compiled
def descend_rows(G, H, X, tol, max_sweeps):  # type: ignore[no-untyped-def] # numba
    """Non-negative least squares by coordinate descent, each row with a packed Gram matrix of its own."""
    n, D = H.shape
    full = np.empty((D, D))
    gradient = np.empty(D)
    for r in range(n):
        place = 0
        for i in range(D):
            for j in range(i, D):
                full[i, j] = full[j, i] = G[r, place]
                place += 1
        for i in range(D):
            gradient[i] = -H[r, i]
        largest = 0.0
        for _ in range(max_sweeps):
            moved = 0.0
            for j in range(D):
                if full[j, j] <= 0.0:
                    continue
                new = max(X[r, j] - gradient[j] / full[j, j], 0.0)
                delta = new - X[r, j]
                if delta != 0.0:
                    X[r, j] = new
                    for i in range(D):
                        gradient[i] += delta * full[j, i]
                    moved = max(moved, abs(delta))
                    largest = max(largest, new)
            if moved <= tol * largest:
                break


def observed(X: Any) -> tuple[Any, Any]:
    """The data with 0 for what was not observed, and the pattern of what was (1 or 0).

    NaN is a hole in a dense block; in a sparse one all that isn't stored is.
    """
    if sp.issparse(X):
        return X, sp.csr_array((np.ones_like(X.data), X.indices, X.indptr), shape=X.shape)
    seen = ~np.isnan(X)
    return np.where(seen, X, 0.0).astype(X.dtype, copy=False), seen.astype(X.dtype)


def squared_residuals(X: Any, Z: NDArray[Any], A: NDArray[Any]) -> NDArray[Any]:
    """Squared norm of each row of X - Z A over its observed entries."""
    Y, P = observed(X)
    if isinstance(Y, np.ndarray):
        return row_norms2(Y - P * (Z.astype(Y.dtype) @ A))
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    fit = np.einsum("ij,ij->i", Z[rows], A.T[Y.indices].astype(np.float64))
    return np.bincount(rows, weights=(Y.data - fit) ** 2, minlength=Y.shape[0])


def products(A: NDArray[Any]) -> NDArray[Any]:
    """Products a_i a_j, i <= j, of the rows of A (D, W): one packed Gram matrix a column, (W, D(D+1)/2)."""
    i, j = np.triu_indices(len(A))
    return np.ascontiguousarray((A[i] * A[j]).T)


def unpack(G: NDArray[Any], D: int) -> NDArray[Any]:
    """Symmetric matrices (n, D, D) from packed ones."""
    i, j = np.triu_indices(D)
    full = np.empty((len(G), D, D))
    full[:, i, j] = full[:, j, i] = G
    return full


def masked_solve(G: NDArray[Any], H: NDArray[Any], ridge: NDArray[Any]) -> NDArray[Any]:
    """Rows x with (G_r + ridge) x_r = h_r, in float64."""
    X = np.zeros(H.shape)
    solve_rows(np.ascontiguousarray(G, np.float64), np.ascontiguousarray(H, np.float64), ridge, X)
    return X


def masked_nnls(
    G: NDArray[Any], H: NDArray[Any], *, tol: float = 1e-10, max_sweeps: int = 1000
) -> NDArray[Any]:
    """Rows x >= 0 that minimise x'G_r x / 2 - h_r'x, in float64."""
    D = H.shape[1]
    ends = np.cumsum(np.arange(D, 0, -1))
    diagonal = G[:, np.concatenate([[0], ends[:-1]])].max(axis=0, initial=0.0)
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    i, j = np.triu_indices(D)
    X = np.zeros(H.shape)
    G = np.ascontiguousarray(G / (scale[i] * scale[j]), np.float64)
    descend_rows(G, np.ascontiguousarray(H / scale, np.float64), X, tol, max_sweeps)
    return X / scale


def masked_codes(X: Any, A: NDArray[Any], *, nonnegative: bool) -> NDArray[Any]:
    """Codes of rows with holes by least squares on what was observed; clipped at 0, or non-negative.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, W)
        Rows with holes.
    A : ndarray of shape (D, W)
        Components.
    nonnegative : bool
        Non-negative least squares; otherwise least squares with negative codes left as they are.

    Returns
    -------
    ndarray of shape (n, D)
        float64. What the observed entries say nothing of is 0.
    """
    Y, P = observed(X)
    G, H = times(P, products(A)), times(Y, A.T)
    if nonnegative:
        return masked_nnls(G, H)
    return masked_solve(G, H, np.zeros((len(A), len(A))))
