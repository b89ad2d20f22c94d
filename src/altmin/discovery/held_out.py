"""How well factors predict cells that were held out: one unit for all families.

Factors come from some rows. Of other rows some columns are hidden; each family infers the weights from the
visible columns in its own way, and predicts the hidden ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from altmin.coding import omp

_FOLDS = 4
_NEARLY = 1.15  # groups at any distance 1 at most; mixtures 3, 1.2 for counts whose rates vary by 70 %
Codes = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]


def relative_error(
    rows: NDArray[Any], factors: NDArray[Any], centre: NDArray[Any], codes: Codes, seed: int = 0
) -> tuple[float, float]:
    """Share of the squared size of hidden cells that the factors don't predict, and its standard error.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Rows that the factors haven't seen.
    factors : ndarray of shape (n_components, n_features)
        One a row.
    centre : ndarray of shape (n_features,)
        What is taken off before and added after.
    codes : callable
        ``codes(visible cells, factors at the visible columns) -> weights``.
    seed : int, default=0
        Which columns are hidden together.

    Returns
    -------
    error, spread : float
        0: predicted exactly; 1: no better than the mean.
    """
    d = rows.shape[1]
    fold = np.random.default_rng([seed, 17]).permutation(d) % min(_FOLDS, d)
    left = np.zeros(len(rows))
    for part in range(min(_FOLDS, d)):
        hidden = fold == part
        weights = codes(rows[:, ~hidden] - centre[~hidden], factors[:, ~hidden])
        predicted = weights @ factors[:, hidden] + centre[hidden]
        left += np.sum((rows[:, hidden] - predicted) ** 2, axis=1)
    size = np.sum((rows - rows.mean(axis=0)) ** 2)
    return float(left.sum() / size), float(np.sqrt(len(rows)) * left.std() / size)


def gaussian_weights(noise: float) -> Codes:
    """The best linear guess: weights of variance 1 under noise of this variance."""

    def codes(cells: NDArray[Any], factors: NDArray[Any]) -> NDArray[Any]:
        gram = factors @ factors.T + max(noise, 1e-12 * float(np.sum(factors**2))) * np.eye(len(factors))
        return np.asarray(np.linalg.solve(gram, factors @ cells.T).T)

    return codes


def non_negative_weights(cells: NDArray[Any], factors: NDArray[Any]) -> NDArray[Any]:
    """Non-negative least squares, row by row."""
    return np.array([nnls(factors.T, row)[0] for row in cells])


def usual_weights(rows: NDArray[Any], features: NDArray[Any]) -> Codes:
    """Non-negative weights near those of other rows, where the visible cells leave them open.

    A feature that lives in hidden columns can't be seen: least squares alone would make its weight up from
    noise, while low rank knows what goes with the other weights. So mixtures are told the same: mean and
    covariance of the weights of rows that are all visible.
    """
    weights = non_negative_weights(rows, features)
    noise = float(np.mean((rows - weights @ features) ** 2))
    usual = weights.mean(axis=0)
    cov = np.cov(weights.T, bias=True) + 1e-9 * np.mean(weights**2) * np.eye(len(features))
    # rows of 'bound' are further cells, which say that the weights are near the usual ones
    bound = np.sqrt(max(noise, 1e-12 * float(np.mean(rows**2)))) * np.linalg.inv(np.linalg.cholesky(cov))

    def codes(cells: NDArray[Any], factors: NDArray[Any]) -> NDArray[Any]:
        further = np.broadcast_to(bound @ usual, (len(cells), len(usual)))
        return non_negative_weights(np.hstack([cells, further]), np.hstack([factors, bound.T]))

    return codes


def one_each(rows: NDArray[Any], features: NDArray[Any]) -> bool:
    """Whether one feature a row, whichever fits best, leaves about as little as mixtures of all: groups."""
    k, d = features.shape
    unit = features / np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-300)
    alone = np.sum(rows**2) - np.sum(np.maximum(rows @ unit.T, 0.0).max(axis=1) ** 2)
    together = np.sum((rows - non_negative_weights(rows, unit) @ unit) ** 2)
    return bool(alone * (d - k) <= _NEARLY * together * d)  # mixtures of k take up k / d of the noise


def sparse_weights(n_nonzero: int) -> Codes:
    """Pursuit with so many nonzeros a row at most, but no more than half of what is visible."""

    def codes(cells: NDArray[Any], factors: NDArray[Any]) -> NDArray[Any]:
        return omp(cells, factors, max(1, min(n_nonzero, cells.shape[1] // 2)), selection="ormp")

    return codes
