"""What happens to rows when they are read for the first time: values are checked, and a digest is taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.contract import Algorithm, Block, Max, Round, State, Stats
from altmin.engine.checks import check_smallest, check_values
from altmin.kernels.digests import digest_rows


@dataclass(frozen=True)
class FirstLook:
    """What to do with rows that no round has read before.

    Parameters
    ----------
    digesting : bool
        Whether their digest is wanted: a checkpoint will need it.
    power : int
        Sums of which power of the values the algorithm forms: values outside of its range are refused.
    checked : int
        Rows before this number have been looked at.
    """

    digesting: bool = False
    power: int = 1
    checked: int = 0

    def map(
        self, algorithm: Algorithm, state: State, step: Round, block: Block
    ) -> tuple[tuple[Stats, Any, Max], dict[str, Any]]:
        """Apply the map of a round to a block whose rows may be new.

        Parameters
        ----------
        algorithm, state, step
            The round.
        block : Block
            The rows.

        Returns
        -------
        sums : tuple
            The statistics, the digest of the new rows (None where it isn't wanted), the largest
            magnitudes of their X and y.
        written : dict
            The columns that the round writes.
        """
        digest, largest = np.zeros(1, np.uint64) if self.digesting else None, np.zeros(2)
        sample = block.ids is not None
        last = block.start + block.n_rows - 1 if block.ids is None else block.ids[-1]
        if block.X is not None and last >= self.checked:
            known = None
            if self.digesting and not sample:
                digest, known = self._digest(block)
            largest = check_values(block, self.power, step.holes, known)
        result = step.map(algorithm, state, block)
        stats, written = result if step.writes else (result, {})
        return (stats, digest, Max(largest)), written

    def check_largest(self, largest: NDArray[np.float64], dtype: np.dtype[Any]) -> None:
        """Refuse data that are too small as a whole, before anything is made of their sums."""
        check_smallest(largest, dtype, self.power)

    def _digest(self, block: Block) -> tuple[Any, tuple[float, ...]]:
        first = max(self.checked - block.start, 0)
        parts = (block.X, block.y, block.weight, block.second)
        new = tuple(part if part is None or not first else part[first:] for part in parts)
        return digest_rows(new, block.start + first)
