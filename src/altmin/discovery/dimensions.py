r"""How many dimensions a table has: as many as predict held-out cells better than fewer do.

Rows and columns are both split. With the held-out block A, its rows B, its columns C and the rest D,

.. math:: X = \begin{pmatrix} A & B \\ C & D \end{pmatrix}, \qquad \hat A_k = B\, D_k^+\, C

predicts A from what has not seen it, by the k leading dimensions of D (Owen and Perry 2009). Noise can't be
predicted, so its dimensions make the prediction worse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FOLDS = 4  # of the columns; rows are halved
_EXACT = 1e-9  # of the squared size may be left over in data without noise


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
        The fewest dimensions that are as good as the best number within one standard error.
    """

    errors: NDArray[Any]
    spread: NDArray[Any]
    chosen: int


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
    n, d = table.shape
    half = np.arange(n) % 2 == 0
    half = half[rng.permutation(n)]
    fold = np.arange(d)[rng.permutation(d)] % min(_FOLDS, d)
    most = max(0, min(most, n // 2 - 1, d - -(-d // min(_FOLDS, d))))
    left = np.zeros((n, most + 1))
    for rows in (half, ~half):
        for part in range(min(_FOLDS, d)):
            columns = fold == part
            left[rows] += _left(table, rows, columns, most)
    errors = left.sum(axis=0) / max(left[:, 0].sum(), 1e-300)
    best = int(np.argmin(errors))
    gaps = left - left[:, [best]]
    spread = np.sqrt(n) * gaps.std(axis=0) / max(left[:, 0].sum(), 1e-300)
    good = (errors - errors[best] <= spread) | (errors <= _EXACT)
    return Dimensions(errors, spread, int(np.flatnonzero(good)[0]))


def _left(table: NDArray[Any], rows: NDArray[Any], columns: NDArray[Any], most: int) -> NDArray[Any]:
    """Squared error of each held-out row in these columns, for 0, 1, ..., most dimensions."""
    A, B = table[np.ix_(rows, columns)], table[np.ix_(rows, ~columns)]
    C, D = table[np.ix_(~rows, columns)], table[np.ix_(~rows, ~columns)]
    U, s, Vt = np.linalg.svd(D, full_matrices=False)
    scores, loads = B @ Vt[:most].T, U[:, :most].T @ C
    rest = A.copy()
    found = [np.sum(rest**2, axis=1)]
    for k in range(most):
        if k < len(s) and s[k] > 1e-12 * s[0]:
            rest -= np.outer(scores[:, k] / s[k], loads[k])
        found.append(np.sum(rest**2, axis=1))
    return np.column_stack(found)
