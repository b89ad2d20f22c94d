"""Products of a block with its codes, the same call for dense and sparse blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def times(X: Any, B: NDArray[Any]) -> NDArray[Any]:
    """``X @ B`` as a dense array."""
    return np.asarray(X @ B)


def transpose_times(Z: NDArray[Any], X: Any) -> NDArray[Any]:
    """``Z.T @ X`` as a dense array; a sparse X stays sparse."""
    if sp.issparse(X):
        return np.ascontiguousarray((X.T @ Z).T)
    return Z.T @ X


def row_norms2(X: Any) -> NDArray[Any]:
    """Squared Euclidean norm of each row, in float64."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)
