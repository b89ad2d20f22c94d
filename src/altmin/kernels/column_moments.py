"""Moments of columns in one pass over the rows: threads meet at Python's lock once a block."""

from __future__ import annotations

import numpy as np

from altmin.kernels.compiled import compiled


@compiled
def column_extremes(X, weight, sums, low, high):  # type: ignore[no-untyped-def] # numba
    """Weighted sums, minima and maxima of the columns; rows of weight 0 don't count.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows.
    weight : ndarray of shape (n,)
        Their weights.
    sums, low, high : ndarray of shape (d,)
        Written: sums are added to, extremes widened.
    """
    for i in range(X.shape[0]):
        w = weight[i]
        if w > 0:
            for j in range(X.shape[1]):
                x = X[i, j]
                sums[j] += w * x
                low[j] = min(low[j], x)
                high[j] = max(high[j], x)


@compiled
def central_sums(X, centre, scale, weight, height, powers, products):  # type: ignore[no-untyped-def] # numba
    """Sums of ((x - centre) * scale)^p for p = 1 to 4, and of their products.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows.
    centre, scale : ndarray of shape (d,)
        Of the columns.
    weight : ndarray of shape (n,)
        Of the rows.
    height : int
        Rows whose coordinates are held at a time.
    powers : ndarray of shape (4, d)
        Is added to.
    products : ndarray of shape (d, d)
        Is added to; an empty array where they aren't wanted.
    """
    d = X.shape[1]
    held, weighted = np.empty((height, d)), np.empty((height, d))
    for first in range(0, X.shape[0], height):
        n = min(height, X.shape[0] - first)
        for i in range(n):
            w = weight[first + i]
            for j in range(d):
                z = (X[first + i, j] - centre[j]) * scale[j]
                wz, square = w * z, z * z
                held[i, j], weighted[i, j] = z, wz
                powers[0, j] += wz
                powers[1, j] += w * square
                powers[2, j] += wz * square
                powers[3, j] += w * square * square
        if products.size:
            products += np.dot(held[:n].T, weighted[:n])
