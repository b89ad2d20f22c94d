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

    Large rows are shrunk to a common size, which leaves their atoms as they are: otherwise a few huge rows,
    which some atoms fit by themselves, would be all that counts.

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
    rows = _shrunk(rows - centre)
    pair = rows, _shrunk(gaussian_twin(rows, seed))
    own, chance = (_by_pursuit(part, unit, most) for part in pair)
    found = own / np.maximum(chance, 1e-12)
    if len(atoms) > atoms.shape[1]:
        return np.asarray(found)
    decoder = np.linalg.pinv(unit)
    spread = np.maximum(np.sqrt(np.mean((rows @ decoder) ** 2, axis=0)), 1e-300)
    own, chance = (_by_size(part @ decoder / spread, most) for part in pair)
    return np.minimum(found, own / np.maximum(chance, 1e-12))


def _shrunk(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows with the size that a quarter of them exceeds, at most; most may hold no atom, and be noise."""
    sizes = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows * np.minimum(1.0, np.quantile(sizes, 0.75) / np.maximum(sizes, 1e-300)))


def _by_pursuit(rows: NDArray[Any], atoms: NDArray[Any], most: int) -> NDArray[Any]:
    """Share that a pursuit leaves: it sees through noise, but errs where atoms are alike."""
    rests = (rows - omp(rows, atoms, number, selection="ormp") @ atoms for number in range(1, most + 1))
    return np.array([np.sum(rest**2) for rest in rests]) / max(float(np.sum(rows**2)), 1e-300)


def _by_size(codes: NDArray[Any], most: int) -> NDArray[Any]:
    """Share that the largest codes leave: exact also where atoms are alike, but noise is larger there."""
    squares = np.sort(codes**2, axis=1)
    left = [squares[:, : codes.shape[1] - number].sum() for number in range(1, most + 1)]
    return np.array(left) / max(float(squares.sum()), 1e-300)


def gaussian_twin(rows: NDArray[Any], seed: int) -> NDArray[Any]:
    """As many Gaussian rows with the same mean and covariance: a table without further structure."""
    centre = rows.mean(axis=0)
    root = np.linalg.qr(rows - centre, mode="r") / np.sqrt(len(rows))
    draw = np.random.default_rng([seed, 2]).standard_normal((len(rows), len(root)))
    return np.asarray(draw @ root + centre)
