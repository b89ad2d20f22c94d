"""Products of a block with its codes, the same call for dense and sparse blocks; blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_BLOCK = 256  # rows: what is made of them stays in the cache, and products are as quick as those of all


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


def row_blocks(n: int) -> Iterator[slice]:
    """Some rows at a time, so that what is made of them needs no memory for all."""
    return (slice(start, start + _BLOCK) for start in range(0, n, _BLOCK))
