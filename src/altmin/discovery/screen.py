"""Whether a table can hold sparse combinations at all: seconds of search are saved where it can't.

Sparse weights make some directions of the whitened rows far more peaked than any direction of Gaussian rows.
A fixed-point iteration (FastICA with tanh) finds the most peaked ones in both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROWS = 2000
_STEPS = 40
_MARGIN = 0.02  # of E|u|, which is .8 for Gaussian directions and .56 where half of the weights are 0


def can_be_sparse(rows: NDArray[Any], k: int, seed: int) -> bool:
    """Whether a third of k directions is more peaked than the most peaked one of Gaussian rows.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        The table.
    k : int
        Number of directions: atoms that are looked for.
    seed : int
        Of starts, and of the Gaussian rows.

    Returns
    -------
    bool
        False: no search for sparse combinations is needed.
    """
    rng = np.random.default_rng([seed, 3])
    some = rows[rng.permutation(len(rows))[:_ROWS]]
    k = min(k, len(some) // 4)
    found = _mean_sizes(some - some.mean(axis=0), k, rng)
    chance = _mean_sizes(rng.standard_normal((len(some), k)), k, rng)
    return bool(np.quantile(found, 1 / 3) < chance.min() - _MARGIN)


def _mean_sizes(rows: NDArray[Any], k: int, rng: np.random.Generator) -> NDArray[Any]:
    """Mean size of the whitened rows along k orthogonal directions that are as peaked as can be found."""
    U, s, _ = np.linalg.svd(rows, full_matrices=False)
    Z = U[:, :k][:, s[:k] > 1e-9 * s[0]] * np.sqrt(len(rows))
    W = np.linalg.qr(rng.standard_normal((Z.shape[1], Z.shape[1])))[0]
    for _ in range(_STEPS):
        G = np.tanh(2 * Z @ W.T)
        W = _orthogonal(G.T @ Z / len(Z) - 2 * np.diag(np.mean(1 - G**2, axis=0)) @ W)
    return np.asarray(np.mean(np.abs(Z @ W.T), axis=0))


def _orthogonal(W: NDArray[Any]) -> NDArray[Any]:
    U, _, Vt = np.linalg.svd(W)
    return np.asarray(U @ Vt)
