"""Dask arrays as sources: reads compute their rows alone; nothing is loaded as a whole."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.contract import Block, Info
from altmin.engine.finite import check_finite
from altmin.engine.sources import Source, SourceError, Table, clean_rows, float_dtype


class DaskSource(Source):
    """A dask array, and what is aligned with it, as a table that can be read again."""

    on_disk = True

    def __init__(self, table: Table) -> None:
        self.table = table
        self.dtype = float_dtype(table.X)
        self.pieces = [table]
        self.bounds = np.array([0, int(table.X.shape[0])])

    @property
    def info(self) -> Info:
        """What algorithms may know before the first round."""
        second = self.table.second
        return Info(
            n_features=int(self.table.X.shape[1]),
            dtype=self.dtype,
            n_rows=self.n_rows,
            second_features=0 if second is None else int(second.shape[1]),
        )

    def read(self, start: int, stop: int) -> Table:
        """Rows start to stop, computed."""
        return self._compute(self.table.rows(slice(start, stop)))

    def take(self, ids: NDArray[np.intp]) -> Table:
        """The rows with these numbers, computed."""
        return self._compute(self.table.rows(ids))

    def _compute(self, part: Table) -> Table:
        import dask

        (done,) = dask.compute(vars(part))
        return Table(**done).each(self._clean)


def is_dask(X: Any) -> bool:
    """Whether X is a dask array or a list of delayed blocks."""
    if isinstance(X, list | tuple) and X:
        return type(X[0]).__module__.startswith("dask.delayed")
    return type(X).__module__.startswith("dask.array")


def open_dask(X: Any, y: Any = None, weight: Any = None, second: Any = None) -> DaskSource:
    """Open a dask array or a list of delayed 2-D blocks.

    Parameters
    ----------
    X : dask array or list of delayed blocks
        The data; the shapes of delayed blocks are computed first.
    y, weight, second : dask array, ndarray or None
        Aligned with the rows of X.

    Returns
    -------
    DaskSource
        Its rows are computed as they are read.
    """
    import dask.array as da

    if isinstance(X, list | tuple):
        X = _from_delayed(X)
    if X.ndim != 2:
        raise SourceError(f"X: the dask array has {X.ndim} dimension(s); 2 are needed")
    if math.isnan(X.shape[0]):
        X = X.compute_chunk_sizes()
    if X.shape[0] == 0:
        raise SourceError("X: the dask array has 0 sample(s); at least one is needed")

    def lazy(part: Any) -> Any:
        if part is None or hasattr(part, "dask"):
            return part
        part = np.asarray(part)
        return da.from_array(part, chunks=(X.chunks[0], *part.shape[1:]))

    return DaskSource(Table(X, lazy(y), lazy(weight), lazy(second)))


def map_dask(call: Callable[[Block], Any], source: DaskSource, holes: bool = False) -> Any:
    """Results of ``call`` for each chunk of rows, as a dask array that is computed when asked.

    Parameters
    ----------
    call : callable
        Block to array with as many rows.
    source : DaskSource
        The data.
    holes : bool
        Whether NaN is allowed.

    Returns
    -------
    dask array
        Chunked as the data along the rows.
    """
    import dask.array as da

    X = source.table.X.rechunk({1: -1})
    shape = np.shape(call(Block(0, 0, np.zeros((1, X.shape[1]), source.dtype))))[1:]
    starts = np.concatenate([[0], np.cumsum(X.chunks[0])])

    def apply(chunk: np.ndarray, block_info: Any = None) -> Any:
        number = block_info[0]["chunk-location"][0] if block_info else 0
        block = Block(number, int(starts[number]), clean_rows(chunk, source.dtype))
        check_finite(block, holes)
        return call(block)

    chunks = (X.chunks[0], *((side,) for side in shape))
    drop = [] if shape else [1]
    return da.map_blocks(apply, X, chunks=chunks, dtype=source.dtype, drop_axis=drop)


def _from_delayed(blocks: Any) -> Any:
    import dask
    import dask.array as da

    facts = dask.compute(*(dask.delayed(lambda b: (b.shape, b.dtype))(block) for block in blocks))
    arrays = [da.from_delayed(block, *fact) for block, fact in zip(blocks, facts, strict=True)]
    return da.concatenate(arrays)
