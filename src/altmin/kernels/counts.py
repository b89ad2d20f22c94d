"""Counts against what a factorization expects of them: ratios, and the divergence of their likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.kernels.compiled import compiled

_TINY = 1e-9  # of a count: less is never expected of an entry
_NONE = 1e-6  # of a row's total: a code below it is 0, ...
_FAR = 0.1  # ... and far from being of use where it would have to explain so much more of what it adds
_LEAST = 0.05  # a code falls to this share of itself at most in one step
_STILL = 1e-4  # relative changes of the codes below it end the sweeps


class NegativeCount(ValueError):
    """Data that were taken for counts have a negative entry."""


def refuse_negative(X: Any, first: int) -> None:
    """Raise an error that names the first negative entry of rows that begin at number ``first``."""
    values = X.data if sp.issparse(X) else X
    if values.min(initial=0.0) >= 0:
        return
    flat = int(np.argmax(values.ravel() < 0))
    row, column = divmod(flat, X.shape[1])
    if sp.issparse(X):
        row, column = int(np.searchsorted(X.indptr, flat, side="right")) - 1, int(X.indices[flat])
    raise NegativeCount(
        f"X is {values.ravel()[flat]:.3g} at row {first + row}, column {column}: noise='poisson' is for "
        "counts, which aren't negative; noise='gaussian' takes such data"
    )


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


def improve_codes(X: Any, Z: NDArray[Any], A: NDArray[Any], n_sweeps: int) -> NDArray[Any]:
    """Codes after sweeps of Newton steps, one code after the other, in place; a code of 0 stays 0.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, W)
        Counts.
    Z, A : ndarray of shapes (n, D) and (D, W)
        Not negative.
    n_sweeps : int
        At most; codes that don't move any more end them.

    Returns
    -------
    ndarray of shape (n, D)
        Z.
    """
    if sp.issparse(X):
        _improve_sparse_rows(X.indptr, X.indices, X.data.astype(np.float64), A, Z, n_sweeps)
    else:
        _improve_rows(np.ascontiguousarray(X, np.float64), A, Z, n_sweeps)
    return Z


@compiled
def _improve_rows(X, A, Z, n_sweeps):  # type: ignore[no-untyped-def] # numba
    sums, alive, mean = A.sum(axis=1), np.empty(A.shape[0], np.int64), np.empty(A.shape[1])
    for r in range(X.shape[0]):
        n = _begin_row(A, Z[r], alive, mean, 0.0)
        _sweep_row(X[r], A, Z[r], alive[:n], mean, sums, n_sweeps)


@compiled
def _improve_sparse_rows(indptr, indices, data, A, Z, n_sweeps):  # type: ignore[no-untyped-def] # numba
    """What isn't counted only enters by the sums of the components, so entries of 0 aren't looked at."""
    D = A.shape[0]
    sums, alive = A.sum(axis=1), np.empty(D, np.int64)
    for r in range(Z.shape[0]):
        x, places = data[indptr[r] : indptr[r + 1]], indices[indptr[r] : indptr[r + 1]]
        seen, mean = np.empty((D, len(x))), np.empty(len(x))
        for k in range(D):
            if Z[r, k] > 0.0:
                for w in range(len(x)):
                    seen[k, w] = A[k, places[w]]
        n = _begin_row(seen, Z[r], alive, mean, 0.0)
        _sweep_row(x, seen, Z[r], alive[:n], mean, sums, n_sweeps)


@compiled
def prune_rows(X, A, Z, odds, sizes, dispersion, n_first, n_sweeps):  # type: ignore[no-untyped-def] # numba
    """Sparse non-negative codes of counts: codes that the data don't support become 0.

    Gives what the others cost and what those that went had for them (z^2 / v), summed for each row.

    Each row starts from its codes in Z, which some sweeps improve first. As long as 0 has more evidence than
    a code, the code that lacks most goes, and the others adapt. A code z is taken to be 0 or exponential with
    mean m, ``sizes`` of the row's total; ``odds`` is twice the logarithm of the odds for 0. By Laplace's
    approximation z^2 over its variance v has to exceed odds + log(m^2 / (2 pi v)) + 2 z / m. So the price of
    a code comes from the data: the better they determine it, the more a code that needn't be there costs.
    """
    costs, lost = np.empty(X.shape[0]), np.zeros(X.shape[0])
    D, W = A.shape
    sums, alive, mean = A.sum(axis=1), np.empty(D, np.int64), np.empty(W)
    covariance = np.empty((D, D))
    for r in range(X.shape[0]):
        x, z = X[r], Z[r]
        n = _begin_row(A, z, alive, mean, _NONE * x.sum())
        _sweep_row(x, A, z, alive[:n], mean, sums, n_first)
        n = _without_hopeless(x, A, z, alive, n, mean, sums)
        _code_covariance(A, alive[:n], mean, dispersion, covariance)
        while True:
            place, cost = _least_supported(z, alive[:n], covariance, odds, sizes, x.sum())
            if place < 0 or n == 1:
                costs[r] = cost
                break
            k = alive[place]
            lost[r] += z[k] ** 2 / max(covariance[place, place], 1e-300)
            for a in range(place, n - 1):
                alive[a] = alive[a + 1]
            n -= 1
            if z[k] <= _NONE * x.sum():  # nothing else moves
                z[k] = 0.0
                _without(covariance, place, n)
                continue
            for w in range(W):
                mean[w] = max(mean[w] - z[k] * A[k, w], _TINY)
            z[k] = 0.0
            _sweep_row(x, A, z, alive[:n], mean, sums, n_sweeps)
            _code_covariance(A, alive[:n], mean, dispersion, covariance)
    return costs, lost


@compiled
def _without_hopeless(x, A, z, alive, n, mean, sums):  # type: ignore[no-untyped-def] # numba
    """How many codes of a row are left without those at 0 that are far from being of use; about half are.

    Codes at 0 whose slope is small may come back when another one goes.
    """
    total, kept = x.sum(), 0
    for a in range(n):
        k = alive[a]
        slope = sums[k]
        if z[k] <= _NONE * total:
            for w in range(A.shape[1]):
                slope -= x[w] * A[k, w] / mean[w]
            if slope > _FAR * sums[k]:
                z[k] = 0.0
                continue
        alive[kept] = k
        kept += 1
    return kept


@compiled
def _begin_row(A, z, alive, mean, least):  # type: ignore[no-untyped-def] # numba
    """How many codes of a row are above ``least`` (the others become 0), which, and what they expect."""
    n = 0
    mean[:] = _TINY
    for k in range(A.shape[0]):
        if z[k] > least:
            alive[n] = k
            n += 1
            for w in range(A.shape[1]):
                mean[w] += z[k] * A[k, w]
        else:
            z[k] = 0.0
    return n


@compiled
def _sweep_row(x, A, z, alive, mean, sums, n_sweeps):  # type: ignore[no-untyped-def] # numba
    """Newton steps on one code after the other. From below they don't overshoot: the slope is concave."""
    W = A.shape[1]
    for _ in range(n_sweeps):
        moved = 0.0
        for k in alive:
            slope, curvature = sums[k], 0.0
            for w in range(W):
                share = A[k, w] / mean[w]
                slope -= x[w] * share
                curvature += x[w] * share * share
            new = _LEAST * z[k]
            if curvature > 0.0:
                new = max(new, z[k] - slope / curvature)
            step = new - z[k]
            z[k] = new
            for w in range(W):
                mean[w] = max(mean[w] + step * A[k, w], _TINY)
            moved = max(moved, abs(step) / max(new, 1e-300))
        if moved < _STILL:
            break


@compiled
def _code_covariance(A, alive, mean, dispersion, out):  # type: ignore[no-untyped-def] # numba
    """Of the living codes of a row, under the Poisson model; in the first rows and columns of ``out``."""
    n, W = alive.shape[0], A.shape[1]
    shares = np.empty(W)
    for a in range(n):
        for w in range(W):
            shares[w] = A[alive[a], w] / mean[w]
        for b in range(a + 1):
            total = 0.0
            for w in range(W):
                total += shares[w] * A[alive[b], w]
            out[a, b] = total / dispersion
        out[a, a] += 1e-9 * out[a, a] + 1e-300
    _invert(out, n)


@compiled
def _without(V, gone, n):  # type: ignore[no-untyped-def] # numba
    """The covariance of the n codes that are left without one of them, when the others know that it is 0."""
    for a in range(n + 1):
        for b in range(n + 1):
            if a != gone and b != gone:
                V[a, b] -= V[a, gone] * V[gone, b] / V[gone, gone]
    for a in range(n):
        for b in range(n):
            V[a, b] = V[a + (a >= gone), b + (b >= gone)]


@compiled
def _least_supported(z, alive, covariance, odds, sizes, total):  # type: ignore[no-untyped-def] # numba
    """The place among the living of the code that lacks most evidence, or -1; what all of them cost."""
    worst, lowest, costs = -1, 0.0, 0.0
    for a in range(alive.shape[0]):
        k = alive[a]
        v = max(covariance[a, a], 1e-300)
        size = max(sizes[k] * total, 1e-300)
        cost = max(np.log(size * size / (2 * np.pi * v)) + 2 * z[k] / size, 0.0)
        excess = z[k] ** 2 / v - max(cost + odds[k], 0.0)
        costs += cost
        if excess < lowest:
            worst, lowest = a, excess
    return worst, costs


@compiled
def _invert(G, n):  # type: ignore[no-untyped-def] # numba
    """The first n rows and columns of a positive definite matrix, of which the lower half is read, inverted.

    G = L L' (Cholesky), the inverse of L, and the products of its columns, each over the one before.
    """
    for a in range(n):
        for b in range(a):
            total = G[a, b]
            for c in range(b):
                total -= G[a, c] * G[b, c]
            G[a, b] = total / G[b, b]
        pivot = G[a, a]
        for c in range(a):
            pivot -= G[a, c] * G[a, c]
        G[a, a] = np.sqrt(max(pivot, 1e-14 * G[a, a]))
    for b in range(n):
        G[b, b] = 1.0 / G[b, b]
        for a in range(b + 1, n):
            total = 0.0
            for c in range(b, a):
                total -= G[a, c] * G[c, b]
            G[a, b] = total / G[a, a]
    for a in range(n):
        for b in range(a + 1):
            total = 0.0
            for c in range(a, n):
                total += G[c, a] * G[c, b]
            G[a, b] = total
            G[b, a] = total


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
