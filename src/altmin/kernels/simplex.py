"""Small linear programs: how negative one weight of a vector may be that stays inside of a cone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.compiled import compiled

_FAR = 10.0  # weights aren't looked at below minus this
_ROUNDING = 1e-11  # of a pivot, and of a slack that counts as 0
_APART = 1e-10  # between the costs of different weights, or steps could go round in a circle
_STEPS = 20  # for each row and column


def most_negative(B: NDArray[Any], i: int) -> float:
    r"""The largest amount by which weight i falls below 0 while the others make up for it.

    .. math:: \max -z_i \quad\text{subject to}\quad z B \ge 0, \; \textstyle\sum z = 1, \; z \ge -10

    Parameters
    ----------
    B : ndarray of shape (k, m)
        Not negative; a feature in each column.
    i : int
        Which weight.

    Returns
    -------
    float
        Not below 0; infinite where rounding kept the search from its end.
    """
    return float(_most_negative(np.ascontiguousarray(B, np.float64), i))


@compiled
def _most_negative(B, i):  # type: ignore[no-untyped-def] # numba
    """Dual simplex method on s = z + 10: from the corner of s >= 0 where z_i is least to the optimum.

    Every inequality is a row of the tableau, an affine function of those that hold with equality now.
    """
    k, m = B.shape
    total, last = 1.0 + _FAR * k, 0 if i != 0 else k - 1
    # rows: the weights, the features, the objective; the column ``last`` is the constant
    T = np.zeros((k + m + 1, k))
    for a in range(k):
        T[a, a] = 1.0
    for w in range(m):
        mean = 0.0
        for a in range(k):
            mean += B[a, w] * _FAR / total
        for a in range(k):
            T[k + w, a] = B[a, w] - mean
    for a in range(k):
        T[k + m, a] = _APART * (a + 1.0) / k
    T[k + m, i] += 1.0
    for q in range(k + m + 1):  # s_last = total - sum of the others
        share = T[q, last]
        for a in range(k):
            T[q, a] -= share
        T[q, last] = share * total
    for _ in range(_STEPS * (k + m)):
        r, lowest = -1, -_ROUNDING * total
        for q in range(k + m):
            if T[q, last] < lowest:
                r, lowest = q, T[q, last]
        if r < 0:
            return max(_FAR - T[i, last], 0.0)
        column, least = -1, np.inf
        for a in range(k):
            if a != last and T[r, a] > _ROUNDING:
                ratio = max(T[k + m, a], 0.0) / T[r, a]
                if ratio < least:
                    column, least = a, ratio
        if column < 0:
            return np.inf
        pivot = T[r, column]
        for q in range(k + m + 1):
            if q != r:
                share = T[q, column] / pivot
                for a in range(k):
                    T[q, a] -= share * T[r, a]
                T[q, column] = share
        T[r, :] = 0.0
        T[r, column] = 1.0
    return np.inf
