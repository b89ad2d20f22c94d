"""One sweep over projected rows: residual of a quadratic model, and what it is multiplied back with."""

from __future__ import annotations

import numpy as np

from altmin.kernels.compiled import compiled


@compiled
def residual_rows(P, offset, target, weight, k, first, constant, r, linear, B, sums):  # type: ignore # numba
    """R = target - constant - P_w - <P_U, P_V> and B = weight * [r P_first.., r], with B's column sums.

    Parameters
    ----------
    P : ndarray of shape (n, m)
        X [U V w linear] for ``first`` = 0; X [U V w A] for ``first`` = 2k + 1.
    offset : ndarray of shape (m,)
        What centring takes off the columns of P.
    target, weight : ndarray of shape (n,)
        Target; weights, or an empty array for none.
    k : int
        Columns of U, V and A.
    first : int
        Column of P at which B's factors start.
    constant : float
        Intercept, of the dtype of P.
    r, linear, B, sums : ndarray
        Written: residuals (n,), those of the linear model (n,) if ``first`` is 0, B (n, k) or (n, k + 1),
        and the sums of its columns, which are added to.
    """
    weighted = len(weight) > 0
    for i in range(P.shape[0]):
        left = target[i] - constant - (P[i, 2 * k] - offset[2 * k])
        for j in range(k):
            left -= (P[i, j] - offset[j]) * (P[i, k + j] - offset[k + j])
        r[i] = left
        if weighted:
            left *= weight[i]
        for j in range(k):
            value = left * (P[i, first + j] - offset[first + j])
            B[i, j] = value
            sums[j] += value
        if first == 0:
            linear[i] = target[i] - (P[i, 2 * k + 1] - offset[2 * k + 1])
            B[i, k] = left
            sums[k] += left


@compiled
def sweep_rows(X, factors, offset, target, weight, k, first, constant, height, r, linear, back, sums):  # type: ignore # numba
    """``residual_rows`` of X [factors], slice by slice, each multiplied back into ``back``.

    All slices of a block in one call: threads meet at Python's lock once a block, not three times a slice.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows.
    factors : ndarray of shape (d, m)
        What they are multiplied with.
    offset, target, weight, k, first, constant, r, linear, sums
        As above, for all rows.
    height : int
        Rows of a slice.
    back : ndarray of shape (b, d)
        B' X is added to it; rows that B has no columns for stay as they are.
    """
    held = np.empty((height, factors.shape[1]), X.dtype)
    B = np.zeros((height, back.shape[0]), X.dtype)
    for low in range(0, X.shape[0], height):
        high = min(low + height, X.shape[0])
        P, out = held[: high - low], B[: high - low]
        np.dot(X[low:high], factors, P)
        residual_rows(
            P,
            offset,
            target[low:high],
            weight[low:high],
            k,
            first,
            constant,
            r[low:high],
            linear[low:high],
            out,
            sums,
        )
        back += np.dot(out.T, X[low:high])
