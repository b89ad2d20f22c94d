"""Dask arrays as sources: reads compute their rows alone; nothing is loaded as a whole."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.contract import Block, Info
from altmin.engine.checks import check_table, check_weights
from altmin.engine.dask_client import active_client
from altmin.engine.sources import Source, SourceError, Table, clean_rows, float_dtype
from altmin.engine.threads import one_thread


class DaskSource(Source):
    """A dask array, and what is aligned with it, as a table that can be read again."""

    on_workers = True

    def __init__(self, table: Table) -> None:
        self.dtype = float_dtype(table.X)
        self.pieces = [table]
        self.bounds = np.array([0, int(table.X.shape[0])])

    @property
    def on_disk(self) -> bool:
        """Rows are computed when they are asked for, which takes time."""
        return True

    def lazily(self, start: int, stop: int) -> Any:
        """Rows start to stop as a ``dask.delayed`` table."""
        import dask

        part = vars(self.pieces[0].rows(slice(start, stop)))
        lazy = {
            name: value.rechunk(value.shape).to_delayed().ravel()[0]
            for name, value in part.items()
            if value is not None
        }
        return dask.delayed(_table, pure=False)(lazy, self.dtype.str)

    @property
    def info(self) -> Info:
        """What algorithms may know before the first round."""
        second = self.pieces[0].second
        return Info(
            n_features=int(self.pieces[0].X.shape[1]),
            dtype=self.dtype,
            n_rows=self.n_rows,
            second_features=0 if second is None else int(second.shape[1]),
        )

    def read(self, start: int, stop: int) -> Table:
        """Rows start to stop, computed."""
        return self._compute(self.pieces[0].rows(slice(start, stop)))

    def take(self, ids: NDArray[np.intp]) -> Table:
        """The rows with these numbers, computed."""
        return self._compute(self.pieces[0].rows(ids))

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
        The data; delayed blocks may be tuples (X, y) or (X, y, weight). Their shapes are computed first.
    y, weight, second : dask array, ndarray or None
        Aligned with the rows of X.

    Returns
    -------
    DaskSource
        Its rows are computed as they are read.
    """
    import dask.array as da

    if isinstance(X, list | tuple):
        X, *brought = _from_delayed(X)
        y, weight = (*brought, *(y, weight)[len(brought) :])
    if X.ndim == 2 and math.isnan(X.shape[0]):
        X = X.compute_chunk_sizes()
    check_table(X)
    if X.shape[0] == 0:
        raise SourceError("X: the dask array has 0 sample(s); at least one is needed")

    if isinstance(X._meta, np.ma.MaskedArray):
        raise SourceError("X is made of masked arrays: their masks would be forgotten; fill the holes first")
    for name, part in (("y", y), ("sample_weight", weight)):
        if part is not None and np.shape(part)[:1] != X.shape[:1]:
            raise SourceError(f"{name} has {np.shape(part)[:1]} rows, X has {X.shape[0]}: they must agree")

    def lazy(part: Any) -> Any:
        if part is None or hasattr(part, "dask"):
            return part
        part = np.asarray(part)
        return da.from_array(part, chunks=(X.chunks[0], *part.shape[1:]))

    table = Table(X, lazy(y), lazy(weight), lazy(second))
    check_table(*vars(table).values())
    check_weights(None if table.weight is None else np.asarray(table.weight))
    return DaskSource(table)


def map_dask(call: Callable[[Block], Any], source: Source) -> Any:
    """Results of ``call`` for each chunk of rows, as a dask array that is computed when asked.

    Parameters
    ----------
    call : callable
        Block to array with as many rows.
    source : Source
        The data, on workers.

    Returns
    -------
    dask array
        Chunked as the data along the rows.
    """
    import dask.array as da

    X = source.pieces[0].X.rechunk({1: -1})
    shape = np.shape(call(Block(0, 0, np.zeros((1, X.shape[1]), source.dtype))))[1:]
    starts = np.concatenate([[0], np.cumsum(X.chunks[0])])

    def apply(chunk: np.ndarray, block_info: Any = None) -> Any:
        number = block_info[0]["chunk-location"][0] if block_info else 0
        block = Block(number, int(starts[number]), clean_rows(chunk, source.dtype))
        return call(block)

    chunks = (X.chunks[0], *((side,) for side in shape))
    drop = [] if shape else [1]
    return da.map_blocks(apply, X, chunks=chunks, dtype=source.dtype, drop_axis=drop)


def collect_dask(call: Callable[[Block], Any], source: Source, block_rows: int, n_rows: int) -> list[Any]:
    """Results of ``call`` for the blocks of the grid, computed where the rows are and brought here.

    Parameters
    ----------
    call : callable
        Block to array with as many rows.
    source : Source
        The data, on workers.
    block_rows : int
        Rows of a block.
    n_rows : int
        How many rows, from the first one on.

    Returns
    -------
    list of arrays
        In the order of the rows.
    """
    import dask

    task, shared = dask.delayed(_call_blocks, pure=False), dask.delayed(call, pure=False)
    on_workers = active_client() is not None
    size = block_rows * max(int(np.median(source.pieces[0].X.chunks[0])) // block_rows, 1)
    tasks = [
        task(shared, source.lazily(low, min(low + size, n_rows)), (low, block_rows), on_workers)
        for low in range(0, n_rows, size)
    ]
    return [result for results in dask.compute(*tasks) for result in results]


def _call_blocks(
    call: Callable[[Block], Any], table: Table, place: tuple[int, int], on_worker: bool
) -> list[Any]:
    start, block_rows = place
    results = []
    with one_thread() if on_worker else nullcontext():
        for low in range(0, table.n_rows, block_rows):
            part = table.rows(slice(low, low + block_rows))
            index = (start + low) // block_rows
            block = Block(index, start + low, part.X, part.y, part.weight, part.second)
            results.append(call(block))
    return results


def _table(parts: dict[str, Any], dtype: str) -> Table:
    return Table(**parts).each(lambda part: clean_rows(np.asarray(part), np.dtype(dtype)))


def _from_delayed(blocks: Any) -> tuple[Any, ...]:
    """Dask arrays of X, and of y and weights where the delayed blocks are tuples."""
    import dask
    import dask.array as da

    facts = dask.compute(*(dask.delayed(_facts)(block) for block in blocks))
    widths = {len(fact) for fact in facts}
    if len(widths) > 1:
        raise SourceError(f"X: the delayed blocks have {sorted(widths)} parts; they must agree")
    select = dask.delayed(_select)
    return tuple(
        da.concatenate(
            [da.from_delayed(select(block, i), *fact[i]) for block, fact in zip(blocks, facts, strict=True)]
        )
        for i in range(widths.pop())
    )


def _facts(block: Any) -> list[tuple[Any, Any]]:
    parts = [np.asarray(part) for part in (block if isinstance(block, tuple) else (block,))]
    return [(part.shape, part.dtype) for part in parts]


def _select(block: Any, number: int) -> Any:
    return np.asarray(block[number] if isinstance(block, tuple) else block)
