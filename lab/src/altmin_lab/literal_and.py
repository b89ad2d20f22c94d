"""Algorithm 1 of Li and Liang (2017) as it stands in the paper, step by step, for the claims.

Rows are samples and components, so A here is the paper's transposed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def schedule(n_stages: int, start: float = 0.1, decay: float = 1.1) -> list[float]:
    """Thresholds of the paper's experiments, ``start / decay**i``."""
    return [start / decay**i for i in range(n_stages)]


def decode(X: Any, A: Array, threshold: float) -> Array:
    """Line 5: pseudo-inverse, then what is under the threshold is gone."""
    Z = np.asarray(X @ np.linalg.pinv(A))
    Z[Z < threshold] = 0.0
    return Z


def algorithm_and(
    X: Any, A: Array, thresholds: Iterable[float], n_steps: int | None = 50, *, on_data: bool = False
) -> Iterator[Array]:
    """Stages of AND on all samples at once, as in the paper's experiments: the components after each.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        The data.
    A : ndarray of shape (n_components, n_features)
        Where to start.
    thresholds : iterable of float
        One for each stage.
    n_steps : int or None
        Gradient steps in a stage, of size 1 / (largest eigenvalue of Z'Z); None: to the limit of many.
    on_data : bool
        Take each step on the data instead of on their sums Z'Z and Z'X, which give the same step.

    Yields
    ------
    ndarray of shape (n_components, n_features)
        The components, scaled as they come out.
    """
    for threshold in thresholds:
        Z = decode(X, A, threshold)
        G, B = Z.T @ Z, np.asarray((X.T @ Z).T)
        top = np.linalg.eigvalsh(G)[-1]
        if n_steps is None:
            A = A + np.linalg.pinv(G, hermitian=True) @ (B - G @ A)
        elif top > 0:
            for _ in range(n_steps):
                A = A + (Z.T @ (X - Z @ A) if on_data else B - G @ A) / top
        yield A


def algorithm_and_by_sample(
    samples: Iterator[Array], A: Array, thresholds: Iterable[float], n_steps: int, step: float
) -> Iterator[Array]:
    """Algorithm 1 with one sample in each step, every sample new: the components after each stage.

    Parameters
    ----------
    samples : iterator of ndarray of shape (n_features,)
        As many as are asked for.
    A : ndarray of shape (n_components, n_features)
        Where to start.
    thresholds : iterable of float
        One for each stage.
    n_steps : int
        Samples in a stage, T.
    step : float
        Size of a step, eta.

    Yields
    ------
    ndarray of shape (n_components, n_features)
        The components after a stage.
    """
    for threshold in thresholds:
        decoder = np.linalg.pinv(A)
        A = A.copy()
        for _ in range(n_steps):
            y = next(samples)
            z = y @ decoder
            z[z < threshold] = 0.0
            used = np.flatnonzero(z)
            A[used] += step * np.outer(z[used], y - z[used] @ A[used])
        yield A


def scaled_error(A: Array, truth: Array) -> float:
    """The theorems' error, the spectral norm of A - Sigma A*, with the best diagonal Sigma."""
    scale = np.einsum("ij,ij->i", A, truth) / np.einsum("ij,ij->i", truth, truth)
    if not np.isfinite(A).all() or (scale <= 0).any():
        return float("inf")
    return float(np.linalg.norm(A / scale[:, None] - truth, 2))
