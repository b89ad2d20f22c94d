"""Whether rows are sparser in some atoms than rows without structure would be.

A few atoms approximate any rows, so what they leave is held against what they leave of Gaussian rows with the
same mean and covariance. Where the rows use few atoms next to nothing of the one is left and much of the
other; where atoms were only fitted to rows without structure, both leave the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.coding import omp

_ROWS = 2000
_MOST = 6  # atoms of a row


def left_over(
    rows: NDArray[Any], atoms: NDArray[Any], centre: NDArray[Any], most: int = _MOST, seed: int = 0
) -> NDArray[Any]:
    """What 1, 2, ... atoms a row leave of the rows, over what they leave of Gaussian rows.

    A row counts by its size up to the mean one: otherwise a few huge rows, which some atoms fit by
    themselves, would be all that counts.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        The table.
    atoms : ndarray of shape (n_components, n_features)
        One a row.
    centre : ndarray of shape (n_features,)
        What is taken off before.
    most : int, default=6
        Atoms of a row, at most; never more than half of the atoms, or of the columns.
    seed : int, default=0
        Of the Gaussian rows.

    Returns
    -------
    ndarray
        Of squared sizes. 1: as sparse as chance; near 0: so few atoms make the rows.
    """
    rows = rows[:: -(-len(rows) // _ROWS)]
    most = min(most, -(-min(atoms.shape) // 2))
    unit = atoms / np.maximum(np.linalg.norm(atoms, axis=1, keepdims=True), 1e-300)
    own, chance = (_left(part - centre, unit, most) for part in (rows, gaussian_twin(rows, seed)))
    return np.asarray(own / np.maximum(chance, 1e-12))


def _left(rows: NDArray[Any], atoms: NDArray[Any], most: int) -> NDArray[Any]:
    squares = np.sum(rows**2, axis=1)
    weights = 1 / np.maximum(squares, max(float(np.mean(np.sqrt(squares))) ** 2, 1e-300))
    rests = (rows - omp(rows, atoms, number, selection="ormp") @ atoms for number in range(1, most + 1))
    return np.array([weights @ np.sum(rest**2, axis=1) for rest in rests]) / max(weights @ squares, 1e-300)


def gaussian_twin(rows: NDArray[Any], seed: int) -> NDArray[Any]:
    """As many Gaussian rows with the same mean and covariance: a table without further structure."""
    centre = rows.mean(axis=0)
    root = np.linalg.qr(rows - centre, mode="r") / np.sqrt(len(rows))
    draw = np.random.default_rng([seed, 2]).standard_normal((len(rows), len(root)))
    return np.asarray(draw @ root + centre)
