r"""Lasso codes by coordinate descent on the Gram matrix, one signal after the other, in compiled loops.

.. math:: \min_c \; \tfrac12 \|x - c D\|_2^2 + \lambda \|c\|_1

A coordinate that does not move costs one comparison, one that moves K operations, so sparse codes are
cheap. A signal is done when a sweep moves no coordinate by more than a share of its largest one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.compiled import compiled


def lasso_codes(
    X: NDArray[Any], atoms: NDArray[Any], penalty: float, *, tol: float = 1e-6, max_sweeps: int = 1000
) -> NDArray[Any]:
    """Codes of a block of signals.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Signals.
    atoms : ndarray of shape (K, n_features)
        Atoms of any norm; those of norm 0 are never used.
    penalty : float
        lambda.
    tol : float
        Largest move of a code in the last sweep, relative to the largest code.
    max_sweeps : int
        At most so many.

    Returns
    -------
    ndarray of shape (n_samples, K)
        The codes, in the dtype of X.
    """
    A = np.asarray(atoms, np.float64)
    correlations = np.ascontiguousarray(X @ A.T.astype(X.dtype), dtype=np.float64)
    codes = np.zeros_like(correlations)
    _descend(correlations, A @ A.T, float(penalty), tol, max_sweeps, codes)
    return codes.astype(X.dtype, copy=False)


@compiled
def _descend(alphas, gram, penalty, tol, max_sweeps, codes):  # type: ignore[no-untyped-def]
    K = gram.shape[0]
    for row in range(alphas.shape[0]):
        alpha, code = alphas[row], codes[row]
        for _ in range(max_sweeps):
            moved, largest = 0.0, 0.0
            for k in range(K):
                size = gram[k, k]
                if size <= 0.0:
                    continue
                target = alpha[k] + size * code[k]
                if target > penalty:
                    value = (target - penalty) / size
                elif target < -penalty:
                    value = (target + penalty) / size
                else:
                    value = 0.0
                step = value - code[k]
                if step != 0.0:
                    code[k] = value
                    g = gram[k]
                    for j in range(K):
                        alpha[j] -= step * g[j]
                    moved = max(moved, abs(step))
                largest = max(largest, abs(value))
            if moved <= tol * largest:
                break
