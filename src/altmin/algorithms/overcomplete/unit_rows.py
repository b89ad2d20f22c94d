"""Rows as approximate dictionary learning sees them: unit vectors, their weights, what is left of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.contract import Block, TopRows
from altmin.kernels.gram import row_norms2


def unit_rows(X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """A block's rows as unit vectors (zero rows stay zero) and their norms in float64.

    The paper's problem is about z_i / |x_i| with weights |x_i|^2: all thresholds become plain numbers,
    and neither scale nor range of the data matters.
    """
    norms = np.sqrt(row_norms2(X))
    dense = X.toarray() if sp.issparse(X) else X
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return dense * inverse[:, None].astype(dense.dtype), norms


def row_weights(norms: NDArray[Any], equal: bool, longest: float) -> NDArray[Any]:
    """Squared norms in units of the longest row, or one for every row that isn't zero."""
    return (norms > 0).astype(np.float64) if equal else np.square(norms / longest)


def squares_left(Z: NDArray[Any]) -> NDArray[Any]:
    """Squared norms of residuals of unit rows; what is only rounding counts as nothing."""
    left = np.einsum("ij,ij->i", Z, Z, dtype=np.float64)
    left[left <= (16 * np.finfo(Z.dtype).eps) ** 2 * Z.shape[1]] = 0.0
    return left


def reservoir(block: Block, mass: NDArray[Any], k: int, payload: NDArray[Any]) -> TopRows:
    """A sample of k rows without replacement, each drawn in proportion to its mass.

    Keys log(u) / mass, the largest win (Efraimidis and Spirakis 2006): samples of blocks combine into
    the sample of all rows. While only failures were drawn the next draw succeeds no less likely than
    with replacement, so the bound on the number of draws holds.
    """
    alive = np.flatnonzero(mass > 0)
    keys = np.log1p(-block.rng().random(len(mass)))[alive] / mass[alive]
    best = np.argsort(-keys, kind="stable")[:k]
    rows = alive[best]
    return TopRows(k, keys[best], block.start + rows, np.array(payload[rows]))
