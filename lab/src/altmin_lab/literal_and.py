"""Algorithm 1 of Li and Liang (2017) as it stands in the paper, step by step, for the claims.

Rows are samples and components, so A here is the paper's transposed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def algorithm_and(X: Array, A: Array, n_stages: int, start: float, decay: float, n_steps: int) -> Array:
    """Stages of AND with every gradient step taken on the data; components of unit length.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The data.
    A : ndarray of shape (n_components, n_features)
        Where to start.
    n_stages : int
        How many stages, thresholds ``start / decay**i``.
    start, decay : float
        Of the thresholds.
    n_steps : int
        Gradient steps a stage, of size 1 / (largest eigenvalue of Z'Z).

    Returns
    -------
    ndarray of shape (n_components, n_features)
        The components.
    """
    for stage in range(n_stages):
        Z = X @ np.linalg.pinv(A)
        Z[Z < start / decay**stage] = 0.0  # phi_alpha: what is under the threshold is gone
        size = 1.0 / np.linalg.eigvalsh(Z.T @ Z)[-1]
        for _ in range(n_steps):
            A = A + size * (Z.T @ (X - Z @ A))
    return np.asarray(A / np.linalg.norm(A, axis=1, keepdims=True))
