"""Apply a function to every block of a source and stack the results: transform, predict, scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from altmin.contract import Block
from altmin.engine.dask_source import DaskSource, map_dask
from altmin.engine.finite import check_finite
from altmin.engine.plan import make_plan
from altmin.engine.reduce import map_in_order
from altmin.engine.sources import AnySource, StreamSource


def map_rows(
    call: Callable[[Block], Any], source: AnySource, n_jobs: int | None = None, holes: bool = False
) -> Any:
    """Results of ``call`` for each block, stacked in row order; a generator of them for a stream.

    Parameters
    ----------
    call : callable
        Block to array (or CSR array) with as many rows.
    source : Source or StreamSource
        The data; NaN and Inf are refused.
    n_jobs : int or None
        Threads.
    holes : bool
        Whether NaN in X is allowed.

    Returns
    -------
    ndarray, csr_array, generator or dask array
        As the source is a table, a stream or a dask array (then nothing is computed yet).
    """
    if isinstance(source, DaskSource):
        return map_dask(call, source, holes)
    plan = make_plan(source.info, n_jobs)

    def checked(block: Block) -> Any:
        check_finite(block, holes)
        return call(block)

    def blocks() -> Iterator[Block]:
        start = index = 0
        while True:
            if isinstance(source, StreamSource):
                table = source.pull(plan.block_rows)
            else:
                stop = min(start + plan.block_rows, source.n_rows)
                table = source.read(start, stop) if stop > start else None
            if table is None:
                return
            yield Block(index, start, table.X, table.y, table.weight, table.second)
            start, index = start + table.n_rows, index + 1

    def results() -> Iterator[Any]:
        with ExitStack() as stack:
            stack.enter_context(threadpool_limits(1))
            pool = stack.enter_context(ThreadPoolExecutor(plan.n_threads)) if plan.n_threads > 1 else None
            for _, result in map_in_order(checked, blocks(), pool, 2 * plan.n_threads):
                yield result

    if isinstance(source, StreamSource):
        return results()
    parts = list(results())
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
