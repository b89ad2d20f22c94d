"""Disjoint halves of the samples, for reports that compare fits on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from altmin.contract import Block
from altmin.engine import Source, collect_rows
from altmin.kernels.gram import row_norms2
from altmin.kernels.masked import observed

_FIRST_LOOK = 4000
_DISTINCT_ROWS = 1 << 20  # more are more than enough, and would be kept in memory


def apart_halves(source: Source) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers of two halves; near copies of a sample fall into the same one.

    Samples are sorted into narrow cells by a random projection of their directions, and the cells are
    dealt out.
    """
    rng = np.random.default_rng(0)
    probe = rng.standard_normal(source.info.n_features)
    scores = np.empty(source.n_rows)
    for low in range(0, source.n_rows, 4096):
        X = source.read(low, min(low + 4096, source.n_rows)).X
        X = observed(X)[0]
        norms = np.sqrt(row_norms2(X))
        scores[low : low + X.shape[0]] = (X @ probe) / np.where(norms > 0, norms, 1.0)
    spread = np.std(scores)
    cells = np.round(scores / (spread if spread > 0 else 1.0) * 50).astype(np.int64)
    _, cells = np.unique(cells, return_inverse=True)
    side = rng.permutation(cells.max() + 1) % 2
    return np.flatnonzero(side[cells] == 0), np.flatnonzero(side[cells] == 1)


def count_distinct(source: Source, centre: Any = None, unit: Any = None) -> int:
    """Rows that aren't near copies of others: cells of 1e-3 of the spread along three random directions.

    Parameters
    ----------
    source : Source
        The rows; a second design counts as part of them.
    centre, unit : ndarray of shape (n_features,), optional
        Location and spread of the columns; by default they are taken as they are.

    Returns
    -------
    int
        The number of cells that are taken; by the first million rows alone, so a lower bound for more of
        them: no harm to what is claimed.
    """
    rng = np.random.default_rng(0)
    widths = (source.info.n_features, source.info.second_features)
    first, second = (rng.standard_normal((d, 3)) / np.sqrt(max(d, 1)) for d in widths)
    first = first if unit is None else first / np.asarray(unit)[:, None]
    offset = 0.0 if centre is None else np.asarray(centre) @ first

    def scores(block: Block) -> np.ndarray:
        along = np.asarray(block.X @ first) - offset
        return along if block.second is None else along + np.asarray(block.second @ second)

    if source.n_rows > 2 * _FIRST_LOOK:  # a few thousand rows show whether there are copies at all
        ids = np.unique(np.linspace(0, source.n_rows - 1, _FIRST_LOOK).astype(np.intp))
        share = _cells(collect_rows(scores, source.subset(ids)), unit) / len(ids)
        if share >= 0.95:
            return int(share * source.n_rows)
    return _cells(collect_rows(scores, source, n_rows=_DISTINCT_ROWS), unit)


def _cells(found: np.ndarray, unit: Any) -> int:
    """How many cells of 1e-3 (of the spread, where no unit was given) these points are in."""
    spread = 1.0 if unit is not None else np.maximum(found.std(axis=0), 1e-300)
    cells = np.round(found / spread * 1e3)
    return len(np.unique(cells @ np.array([1.0, np.sqrt(2.0), np.sqrt(3.0)])))  # one number a cell
