"""Starts from the data alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from altmin.contract import ArgMax, Block, Stats
from altmin.kernels.gram import row_norms2, times


def spa_norms(algorithm: Any, state: Any, block: Block) -> tuple[Stats, dict[str, Any]]:
    """First pass of the successive projection algorithm (SPA): squared norms, and the farthest sample."""
    return _farthest(block, row_norms2(block.X))


def spa_project(algorithm: Any, state: Any, block: Block) -> tuple[Stats, dict[str, Any]]:
    """Next pass: take the newest direction out of what is left of each sample's squared norm.

    Araujo et al. 2001; Gillis and Vavasis 2014. Only the norms of the residuals are needed, and they
    fall by the squared coordinate along each new direction: one matrix-vector product a pass.
    """
    along = times(block.X, state.directions[-1].astype(block.X.dtype)).astype(np.float64)
    return _farthest(block, block.columns["spa_left"] - along**2)


def _farthest(block: Block, left: np.ndarray) -> tuple[Stats, dict[str, Any]]:
    if block.weight is not None:
        left = np.where(block.weight > 0, left, -1.0)
    row = int(np.argmax(left))
    sample = block.X[[row]]
    sample = sample.toarray() if sp.issparse(sample) else sample
    best = ArgMax(float(left[row]), block.start + row, np.array(sample[0]))
    return {"farthest": best}, {"spa_left": left}
