"""Products of a block with its codes, the same call for dense and sparse blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh


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


def least_eigenvalue(G: NDArray[Any]) -> float:
    """The least eigenvalue of a positive semidefinite matrix, 0 where it is singular to rounding.

    That of a large one is the inverse of the largest of its inverse, by Lanczos: one Cholesky factor and
    some solves, a tenth of the work of all eigenvalues.
    """
    n = len(G)
    if n < 100:
        return max(float(np.linalg.eigvalsh(G)[0]), 0.0)
    factor, failed = scipy.linalg.lapack.dpotrf(G, lower=True)
    if failed:
        return 0.0
    inverse = LinearOperator(G.shape, lambda v: scipy.linalg.lapack.dpotrs(factor, v, lower=True)[0])
    largest = eigsh(inverse, k=1, which="LM", tol=1e-6, v0=np.ones(n), return_eigenvectors=False)[0]
    return float(1 / largest)
