r"""How many dimensions a table has: as many as predict held-out cells better than fewer do.

Rows and columns are both split. With the held-out block A, its rows B, its columns C and the rest D,

.. math:: X = \begin{pmatrix} A & B \\ C & D \end{pmatrix}, \qquad \hat A_k = B\, D_k^+\, C

predicts A from what has not seen it, by the k leading dimensions of D (Owen and Perry 2009). Noise can't be
predicted, so its dimensions make the prediction worse. That holds where all columns have the same noise:
where some have less, dimensions of noise tell these from the others, and predict. So columns are taken in
units of their noise, which is what all the other columns can't predict of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FOLDS, _NARROW = 4, 64  # parts of the columns (16 of a narrow table); rows are halved
_ROWS, _COLUMNS = 2000, 400  # a sample of this size shows how many there are
_STANDARD_ERRORS = 2  # with one, noise added a dimension now and then
_LITTLE = 0.07  # of the error: units of noise are estimates, and what they leave unequal predicts a little
_ROUNDING = 1e-13  # of the largest eigenvalue
_EXACT = 1e-9  # of the squared size may be left over in data without noise
_ROWS_FOR_A_COLUMN = 1.5  # with fewer, regressions on all other columns say nothing
_LEAST_NOISE = 0.1  # of the median column's: copies of a column, and sums of others, have none


@dataclass(frozen=True)
class Dimensions:
    """Held-out error for each number of dimensions, relative to predicting 0.

    Parameters
    ----------
    errors : ndarray of shape (most + 1,)
        Error of 0, 1, 2, ... dimensions.
    spread : ndarray of shape (most + 1,)
        Standard error of its difference to the best one.
    chosen : int
        The fewest dimensions that are as good as the best number within two standard errors, or 7 %.
    """

    errors: NDArray[Any]
    spread: NDArray[Any]
    chosen: int

    @property
    def left(self) -> float:
        """Error of the chosen number."""
        return float(self.errors[self.chosen])

    @property
    def saturated(self) -> bool:
        """Whether more dimensions than could be looked at may be needed."""
        return self.chosen == len(self.errors) - 1 and self.left > _EXACT

    def leaving(self, share: float) -> int | None:
        """The fewest dimensions that leave at most this share; None where none of those looked at do."""
        enough = np.flatnonzero(self.errors <= share)
        return int(enough[0]) if len(enough) else None


def count_dimensions(table: NDArray[Any], most: int, seed: int = 0) -> Dimensions:
    """Choose the number of dimensions by held-out blocks of cells.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_features)
        Complete data.
    most : int
        Largest number to look at.
    seed : int, default=0
        Of the splits.

    Returns
    -------
    Dimensions
        The curve and the choice.
    """
    rng = np.random.default_rng(seed)
    table = table[rng.permutation(len(table))[:_ROWS]][:, rng.permutation(table.shape[1])[:_COLUMNS]]
    n, d = table.shape
    folds = min(4 * _FOLDS if d <= _NARROW else _FOLDS, d)
    half = np.arange(n) % 2 == 0
    half = half[rng.permutation(n)]
    fold = np.arange(d)[rng.permutation(d)] % folds
    most = max(0, min(most, n // 2 - 1, d - -(-d // folds)))
    left = np.zeros((n, most + 1))
    for rows in (half, ~half):
        for part in range(folds):
            columns = fold == part
            left[rows] += _left(table, rows, columns, most)
    errors = left.sum(axis=0) / max(left[:, 0].sum(), 1e-300)
    best = int(np.argmin(errors))
    gaps = left - left[:, [best]]
    spread = np.sqrt(n) * gaps.std(axis=0) / max(left[:, 0].sum(), 1e-300)
    allowed = np.maximum(_STANDARD_ERRORS * spread, _LITTLE * errors[best])
    good = (errors - errors[best] <= allowed) | (errors <= _EXACT)
    return Dimensions(errors, spread, int(np.flatnonzero(good)[0]))


def noise_units(table: NDArray[Any]) -> NDArray[Any]:
    """Of each column, the size of what a regression on all other columns leaves.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_features)
        Complete data.

    Returns
    -------
    ndarray of shape (n_features,)
        Units for :func:`count_dimensions`; all 1 where there are too few rows to see noise. Without noise any
        units serve.
    """
    table = table[:: -(-len(table) // _ROWS)]
    n, d = table.shape
    if n < _ROWS_FOR_A_COLUMN * d:
        return np.ones(d)
    centred = table - table.mean(axis=0)
    spread = centred.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    root = np.linalg.qr(centred / spread, mode="r")
    inverse = np.linalg.pinv(root, rcond=1e-7)  # its rows' squares are the diagonal of the inverse covariance
    noise = spread / np.sqrt(np.maximum(np.sum(inverse**2, axis=1) * (n - d), 1e-300))
    return np.maximum(noise, _LEAST_NOISE * np.median(noise))


def _left(table: NDArray[Any], rows: NDArray[Any], columns: NDArray[Any], most: int) -> NDArray[Any]:
    """Squared error of each held-out row in these columns, for 0, 1, ..., most dimensions."""
    A, B = table[np.ix_(rows, columns)], table[np.ix_(rows, ~columns)]
    C, D = table[np.ix_(~rows, columns)], table[np.ix_(~rows, ~columns)]
    squares, V = np.linalg.eigh(D.T @ D)  # a singular value decomposition costs ten times as much
    squares, V = squares[::-1], V[:, ::-1][:, :most]
    scores, loads = B @ V, V.T @ (D.T @ C)
    rest = A.copy()
    found = [np.sum(rest**2, axis=1)]
    for k in range(most):
        if k < len(squares) and squares[k] > _ROUNDING * squares[0]:
            rest -= np.outer(scores[:, k] / squares[k], loads[k])
        found.append(np.sum(rest**2, axis=1))
    return np.column_stack(found)
