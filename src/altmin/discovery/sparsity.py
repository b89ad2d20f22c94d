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
    pair = [part - centre for part in (rows, gaussian_twin(rows, seed))]
    own, chance = (_by_pursuit(part, unit, most) for part in pair)
    found = own / np.maximum(chance, 1e-12)
    if len(atoms) > atoms.shape[1]:
        return np.asarray(found)
    decoder = np.linalg.pinv(unit)
    spread = np.maximum(np.sqrt(np.mean((pair[0] @ decoder) ** 2, axis=0)), 1e-300)
    own, chance = (_by_size(part @ decoder / spread, most) for part in pair)
    return np.minimum(found, own / np.maximum(chance, 1e-12))


def _by_pursuit(rows: NDArray[Any], atoms: NDArray[Any], most: int) -> NDArray[Any]:
    """What a pursuit leaves: it sees through noise, but errs where atoms are alike."""
    rests = (rows - omp(rows, atoms, number, selection="ormp") @ atoms for number in range(1, most + 1))
    return _weighed(np.sum(rows**2, axis=1), [np.sum(rest**2, axis=1) for rest in rests])


def _by_size(codes: NDArray[Any], most: int) -> NDArray[Any]:
    """What the largest codes leave: these are exact also where atoms are alike, but noise is larger there."""
    squares = np.sort(codes**2, axis=1)
    whole = squares.sum(axis=1)
    return _weighed(
        whole, [squares[:, : codes.shape[1] - number].sum(axis=1) for number in range(1, most + 1)]
    )


def _weighed(whole: NDArray[Any], left: list[NDArray[Any]]) -> NDArray[Any]:
    weights = 1 / np.maximum(whole, max(float(np.mean(np.sqrt(whole))) ** 2, 1e-300))
    return np.array([weights @ part for part in left]) / max(float(weights @ whole), 1e-300)


def gaussian_twin(rows: NDArray[Any], seed: int) -> NDArray[Any]:
    """As many Gaussian rows with the same mean and covariance: a table without further structure."""
    centre = rows.mean(axis=0)
    root = np.linalg.qr(rows - centre, mode="r") / np.sqrt(len(rows))
    draw = np.random.default_rng([seed, 2]).standard_normal((len(rows), len(root)))
    return np.asarray(draw @ root + centre)
