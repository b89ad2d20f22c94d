"""Apply a function to every block of a source and stack the results: transform, predict, scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import scipy.sparse as sp

from altmin.contract import Block
from altmin.engine.checks import check_values
from altmin.engine.dask_source import collect_dask, map_dask
from altmin.engine.plan import Plan, make_plan
from altmin.engine.read_ahead import ReadAhead, spans
from altmin.engine.reduce import map_in_order
from altmin.engine.side_by_side import other_threads
from altmin.engine.sources import AnySource, Source, Table
from altmin.engine.threads import one_thread


def map_rows(
    call: Callable[[Block], Any],
    source: AnySource,
    n_jobs: int | None = None,
    holes: bool = False,
    power: int = 1,
) -> Any:
    """Results of ``call`` for new data: an array, a generator for a stream, a lazy array for Dask.

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
    power : int
        Which power of the values ``call`` forms: values beyond its range are refused.

    Returns
    -------
    ndarray, csr_array, generator or dask array
        As the source is a table, a stream or a dask array (then nothing is computed yet).
    """
    if not source.replayable:
        return _results(_checked(call, holes, power), source, make_plan(source.info, n_jobs))
    table = source.require_replayable("a table of results")
    if source.on_workers:
        return map_dask(_checked(call, holes, power), table)
    return collect_rows(call, table, n_jobs, holes=holes, power=power)


def collect_rows(
    call: Callable[[Block], Any],
    source: Source,
    n_jobs: int | None = None,
    n_rows: int | None = None,
    holes: bool = False,
    power: int = 1,
) -> Any:
    """Results of ``call`` for the blocks of the grid, stacked here: codes of the rows of a fit.

    Parameters
    ----------
    call : callable
        Block to array (or CSR array) with as many rows.
    source : Source
        The data; NaN and Inf are refused. A dask array's rows stay where they are, results travel.
    n_jobs : int or None
        Threads.
    n_rows : int or None
        The first so many rows alone; None is all of them.
    holes : bool
        Whether NaN in X is allowed.
    power : int
        As in :func:`map_rows`.

    Returns
    -------
    ndarray or csr_array
        The same bits wherever the rows were.
    """
    plan, call = make_plan(source.info, n_jobs), _checked(call, holes, power)
    n_rows = source.n_rows if n_rows is None else min(n_rows, source.n_rows)
    if source.on_workers:
        with one_thread():
            parts = collect_dask(call, source, plan.block_rows, n_rows)
    else:
        parts = list(_results(call, source, plan, n_rows))
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)


def _checked(call: Callable[[Block], Any], holes: bool, power: int) -> Callable[[Block], Any]:
    def checked(block: Block) -> Any:
        check_values(block, power, holes)
        return call(block)

    return checked


def _results(call: Callable[[Block], Any], source: AnySource, plan: Plan, n_rows: int = 0) -> Iterator[Any]:
    with ExitStack() as stack:
        stack.enter_context(one_thread())
        pool = other_threads(plan.n_threads, stack)
        tables = _read(source, plan, n_rows, stack) if source.replayable else _pulled(source, plan)
        for _, result in map_in_order(call, _blocks(tables), pool, plan.in_flight):
            yield result


def _pulled(source: AnySource, plan: Plan) -> Iterator[Table]:
    while (table := source.pull(plan.block_rows)) is not None:
        yield table


def _read(given: AnySource, plan: Plan, n_rows: int, stack: ExitStack) -> Iterator[Table]:
    """Rows of a file are fetched ahead."""
    source = given.require_replayable("a table of results")
    width = plan.n_features * plan.dtype.itemsize
    reader = ReadAhead(source, plan.block_rows * width, stack) if source.on_disk else None
    for span in spans(0, n_rows, plan.block_rows):
        following = spans(span[1], n_rows, plan.block_rows)
        yield reader.read(span, following) if reader else source.read(*span)


def _blocks(tables: Iterator[Table]) -> Iterator[Block]:
    start = 0
    for index, table in enumerate(tables):
        yield Block(index, start, table.X, table.y, table.weight, table.second)
        start += table.n_rows
