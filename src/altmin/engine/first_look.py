"""What happens to rows when they are read for the first time: NaN is found, and a digest is taken."""

from __future__ import annotations

from typing import Any

import numpy as np

from altmin.contract import Algorithm, Block, Round, State, Stats
from altmin.engine.finite import check_finite
from altmin.kernels.digests import digest_rows


def map_block(
    algorithm: Algorithm, state: State, step: Round, block: Block, checked: int, digesting: bool
) -> tuple[tuple[Stats, Any], dict[str, Any]]:
    """Apply the map of a round to a block whose rows may be new.

    Parameters
    ----------
    algorithm, state, step
        The round.
    block : Block
        The rows.
    checked : int
        Rows before this number have been looked at.
    digesting : bool
        Whether a digest of the others is wanted (a checkpoint will need it).

    Returns
    -------
    sums : tuple
        The statistics, and the digest of the rows that were new (None where nobody asked).
    written : dict
        The columns that the round writes.
    """
    digest = np.zeros(1, np.uint64) if digesting else None
    if block.X is not None:
        sample = block.ids is not None
        if sample or block.start + block.n_rows > checked:
            check_finite(block, step.holes)
            if digesting and not sample:
                first = max(checked - block.start, 0)
                parts = (block.X, block.y, block.weight, block.second)
                new = tuple(part if part is None or not first else part[first:] for part in parts)
                digest = digest_rows(new, block.start + first)
    result = step.map(algorithm, state, block)
    stats, written = result if step.writes else (result, {})
    return (stats, digest), written
