"""The decoder of a factorization."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray


def pseudo_inverse(A: NDArray[Any]) -> NDArray[Any]:
    """The (W, D) pseudo-inverse of A (D, W), in A's dtype.

    By LU or QR, computed in float64 as its condition enters the codes; by SVD where A is nearly singular
    (a component that is 0, or two that are equal).
    """
    B = A.astype(np.float64, copy=False)
    if B.shape[0] == B.shape[1]:
        factors, pivots, failed = scipy.linalg.lapack.dgetrf(B)
        if not failed:
            inverse, failed = scipy.linalg.lapack.dgetri(factors, pivots)
            if not failed and np.abs(B).sum(axis=0).max() * np.abs(inverse).sum(axis=0).max() < 1e10:
                return np.ascontiguousarray(inverse.astype(A.dtype, copy=False))
    elif B.shape[0] < B.shape[1]:
        Q, R = np.linalg.qr(B.T)
        diagonal = np.abs(np.diag(R))
        if diagonal.min() > 1e-10 * diagonal.max():
            inverse = scipy.linalg.solve_triangular(R, Q.T, check_finite=False).T
            return np.ascontiguousarray(inverse.astype(A.dtype, copy=False))
    return np.ascontiguousarray(np.linalg.pinv(B, rcond=1e-10).astype(A.dtype))
