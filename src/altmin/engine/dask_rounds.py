"""Rounds on a Dask cluster: blocks stay on the workers, the state is broadcast, statistics travel.

A task reduces an aligned subtree of 2^j blocks, the least j that gives at most eight tasks a worker; its
result enters the driver's tree at level j, on large clusters after workers have joined aligned runs of them.
So the additions are those of a local run on the same grid, and the bits too. Tasks are pure and their data
can be loaded again, so the scheduler runs them anew after a worker was lost. Where a column was lost with it,
the driver has the columns made again by the rounds that wrote them, and retries the round.
"""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, wait
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

import numpy as np

from altmin.contract import Algorithm, All, Block, Round, State, Stats, Take
from altmin.engine.columns import Column, ColumnWriter
from altmin.engine.cursor import Cursor
from altmin.engine.dask_client import aligned
from altmin.engine.dask_watch import ClusterError, ClusterWatch
from altmin.engine.first_look import FirstLook
from altmin.engine.local import LocalRounds, Watch
from altmin.engine.plan import Plan
from altmin.engine.reduce import Tree
from altmin.engine.sources import Source, Table, clean_rows
from altmin.engine.threads import one_thread

_TASKS_PER_WORKER = 8
_TO_DRIVER = 64  # results of a round at most; more are summed by workers first
_FAN_IN = 8
_RETRIES = 5
_REPLAYED = 32  # rounds at most that are run again to make lost columns
_POLL_SECONDS = 0.2
_SENDING_SECONDS = 60

T = TypeVar("T")

Columns: TypeAlias = dict[str, dict[tuple[int, int], Any]]
"""Name to futures of the column's parts, by first row and end of a group."""


class DaskRounds:
    """Runs rounds on the workers of a client; columns stay there too.

    Parameters
    ----------
    plan : Plan
        The grid.
    cursor : Cursor
        Which rows a round reads.
    source : Source
        The data; ``source.lazily`` says how a worker comes by its rows.
    client : distributed.Client
        The cluster.
    local : LocalRounds
        Runs samples (Take), which are small, on the driver.
    """

    def __init__(self, plan: Plan, cursor: Cursor, source: Source, client: Any, local: LocalRounds) -> None:
        self._plan, self._cursor, self._source, self._client = plan, cursor, source, client
        self._local = local
        self.look = FirstLook()
        # Fixed for the run: columns are kept by group, and a lost worker must not move their bounds.
        self._n_workers = max(len(client.scheduler_info(n_workers=-1)["workers"]), 1)
        self._parts: dict[tuple[int, int], Any] = {}
        self._columns: Columns = {}
        self._gathered: dict[str, tuple[Any, Column]] = {}
        self._restored: dict[str, Column] = {}
        self._writers: list[tuple[Algorithm, State, Round, int]] = []

    @property
    def columns(self) -> dict[str, Column]:
        """The columns, brought to the driver (for a checkpoint) group by group, once for each version."""
        return self._surviving(self._gather_columns, _no_watch)

    @columns.setter
    def columns(self, columns: dict[str, Column]) -> None:
        self._restored = columns
        groups = self._groups(0, self._source.n_rows)
        self._columns = {
            name: {(low, high): self._send(np.asarray(column[low:high])) for low, high in groups}
            for name, column in columns.items()
        }

    def _gather_columns(self) -> dict[str, Column]:
        for name, groups in self._columns.items():
            if self._gathered.get(name, (None,))[0] is not groups:
                n_rows = sum(high - low for low, high in groups)
                writer = ColumnWriter((name,), n_rows, self._cursor.column_bytes)
                for key in sorted(groups):
                    writer.write({name: self._collect([groups[key]], _no_watch)[0]})
                self._gathered[name] = groups, writer.result()[name]
        return {name: column for name, (_, column) in self._gathered.items()}

    def reduce(self, algorithm: Algorithm, state: State, step: Round, number: int, watch: Watch) -> Stats:
        """Statistics of a round, the same bits as :class:`altmin.engine.local.LocalRounds` gives."""
        if isinstance(step.rows, Take):
            self._local.columns = {**self.columns} if step.reads else {}
            return self._local.reduce(algorithm, state, step, number, watch)
        span = self._cursor.span(step)
        if not isinstance(step.rows, All):  # a batch: only Same looks at it again
            self._parts = {key: part for key, part in self._parts.items() if span[0] <= key[0] < span[1]}

        def attempt() -> tuple[Stats, Columns]:
            return self._attempt(algorithm, state, step, span, number, watch)

        sums, written = self._surviving(attempt, watch)
        if written:
            self._columns = {**self._columns, **written}
            self._remember(algorithm, state, step, number)
        stats, digest, largest = sums or (None, None, None)
        self._cursor.finished(step, digest, largest)
        self.look.check_largest(self._cursor.largest, self._source.dtype)
        return stats

    def _surviving(self, action: Callable[[], T], watch: Watch) -> T:
        """Do it; where a worker took something with it, bring that back and do it again."""
        for attempt in range(_RETRIES + 1):
            try:
                if attempt:
                    self._rebuild_columns(watch)
                return action()
            except _losses() as loss:
                if attempt == _RETRIES:
                    raise ClusterError(
                        f"workers of the Dask cluster were lost {_RETRIES + 1} times in one round; they may "
                        f"have too little memory ({loss!r})"
                    ) from loss
                self._parts.clear()
                time.sleep(_POLL_SECONDS * (attempt + 1))
        raise AssertionError("unreachable")

    def _remember(self, algorithm: Algorithm, state: State, step: Round, number: int) -> None:
        """Keep how the columns came about: rounds are pure, so lost columns can be made again."""
        if not step.reads:
            self._writers = [old for old in self._writers if set(old[2].writes) - set(step.writes)]
        self._writers.append((algorithm, state, step, number))
        if len(self._writers) > _REPLAYED:  # each column depends on the one before: too long to replay
            self._restored, self._writers = self.columns, []

    def _rebuild_columns(self, watch: Watch) -> None:
        """Make the columns again, from a checkpoint's or from the rounds that wrote them."""
        if self._restored:
            self.columns = self._restored
        for algorithm, state, step, number in self._writers:
            span = (0, self._source.n_rows)
            _, written = self._attempt(algorithm, state, step, span, number, watch)
            self._columns = {**self._columns, **written}

    def _attempt(
        self,
        algorithm: Algorithm,
        state: State,
        step: Round,
        span: tuple[int, int],
        number: int,
        watch: Watch,
    ) -> tuple[Stats, Columns]:
        client = self._client
        # A task rather than a broadcast: the scheduler makes it again where a worker took it along, while a
        # broadcast to a worker that has just died never ends.
        with _large_graphs():
            shared = client.submit(_together, algorithm, state, step, pure=False)
        look = replace(self.look, checked=self._cursor.checked)
        groups = self._groups(*span)
        tasks = []
        for low, high in groups:
            data = self._part(low, high, step) if step.needs_data else None
            columns = {name: self._columns[name][low, high] for name in step.reads}
            key = (self._cursor.seed, number)
            height = self._cursor.height(step)
            place = (low, (low - span[0]) // height, height)
            work = reduce_group if step.writes else sum_group
            tasks.append(client.submit(work, shared, data, columns, place, key, look, pure=False))
        sums = [client.submit(_first, task, pure=False) for task in tasks] if step.writes else tasks
        joined = self._joined(sums)
        tree = Tree()
        try:
            for sums_of_group in self._collect(joined, watch):
                for level, stats in aligned(sums_of_group):
                    tree.push(stats, level)
        except BaseException:
            client.cancel([*joined, *sums, *tasks])
            raise
        written = {
            name: {
                group: client.submit(_column, task, name, pure=False)
                for group, task in zip(groups, tasks, strict=True)
            }
            for name in step.writes
        }
        return tree.result(), written

    def _joined(self, sums: list[Any]) -> list[Any]:
        """On a large cluster, sums of aligned runs of groups are made by workers: few come to the driver."""
        while len(sums) > _TO_DRIVER:
            runs = [sums[i : i + _FAN_IN] for i in range(0, len(sums), _FAN_IN)]
            sums = [self._client.submit(join_sums, *run, pure=False) for run in runs]
        return sums

    def _collect(self, futures: list[Any], watch: Watch) -> list[Any]:
        """Results of all of them, in one call (one for each takes 9 ms), watched while they are computed."""

        def check() -> None:
            watch(sum(future.done() for future in futures) / len(futures))
            # A gather that has begun doesn't notice what was lost for good with a worker.
            if any(future.status == "cancelled" for future in futures):
                raise CancelledError

        keys = [future.key for future in futures]
        return list(self._finish(self._client.gather(futures, asynchronous=True), check, keys))

    def _send(self, data: Any) -> Any:
        """Data to some worker; a future."""
        begun = time.monotonic()

        def check() -> None:
            if time.monotonic() - begun > _SENDING_SECONDS:  # to one that died meanwhile: it never ends
                raise CancelledError

        return self._finish(self._client.scatter(data, hash=False, asynchronous=True), check, [])

    def _finish(self, call: Any, check: Callable[[], None], keys: list[str]) -> Any:
        """Result of an asynchronous call; ``check`` is run while it takes its time, and may raise."""
        coming = asyncio.run_coroutine_threadsafe(call, self._client.loop.asyncio_loop)
        watch = ClusterWatch(self._client)
        try:
            while not coming.done():
                check()
                watch.look(keys)
                wait([coming], timeout=_POLL_SECONDS)
            return coming.result()
        finally:
            coming.cancel()

    def _groups(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Row bounds of the tasks: aligned subtrees, at most eight tasks a worker."""
        n_blocks = -(-(stop - start) // self._plan.block_rows)
        level = 0
        while -(-n_blocks // 2**level) > _TASKS_PER_WORKER * self._n_workers:
            level += 1
        # Both kinds of block, those of the data and the taller ones of columns, must fill a group.
        size = max(self._plan.block_rows * 2**level, self._cursor.tallest)
        return [(low, min(low + size, stop)) for low in range(start, stop, size)]

    def _part(self, low: int, high: int, step: Round) -> Any:
        """The rows of a task as a future on a worker; those of full passes stay there."""
        if (low, high) not in self._parts:
            with _large_graphs():
                self._parts[low, high] = self._client.compute(self._source.lazily(low, high))
        return self._parts[low, high]


@one_thread()
def reduce_group(
    shared: tuple[Algorithm, State, Round],
    data: Table | None,
    columns: dict[str, np.ndarray],
    place: tuple[int, int, int],
    key: tuple[int, int],
    look: FirstLook,
) -> tuple[list[tuple[int, Stats]], dict[str, np.ndarray]]:
    """What a worker does: map the blocks of its rows, combine them as the driver would.

    Parameters
    ----------
    shared : (algorithm, state, round)
        The same for all groups.
    data : Table or None
        The rows; None where columns suffice.
    columns : dict
        The columns that the round reads, for these rows.
    place : (first row, number of the first block, rows of a block)
        Where on the grid these rows are.
    key : (seed, round number)
        Randomness of the blocks.
    look : FirstLook
        What to do with rows that no round has read before.

    Returns
    -------
    sums : list of (level, statistics)
        One entry for a full group; a ragged last one has several.
    written : dict
        The columns that the round writes, for these rows.
    """
    algorithm, state, step = aligned(shared[0]), aligned(shared[1]), shared[2]
    columns = {name: np.require(column, requirements="A") for name, column in columns.items()}
    data = data and data.each(lambda part: clean_rows(part, part.dtype))
    start, first, block_rows = place
    n_rows = data.n_rows if data is not None else len(next(iter(columns.values())))
    tree = Tree()
    written: dict[str, list[np.ndarray]] = {name: [] for name in step.writes}
    for index, low in enumerate(range(0, n_rows, block_rows)):
        cut = slice(low, min(low + block_rows, n_rows))
        part = data.rows(cut) if data is not None else Table(None)
        found = {name: column[cut] for name, column in columns.items()}
        block = Block(
            first + index, start + low, part.X, part.y, part.weight, part.second, columns=found, key=key
        )
        sums, parts = look.map(algorithm, state, step, block)
        for name, value in parts.items():
            written[name].append(value)
        tree.push(sums)
    return tree.levels, {name: np.concatenate(parts) for name, parts in written.items()}


def sum_group(*arguments: Any) -> list[tuple[int, Stats]]:
    """The same for a round that writes no columns: the sums alone, a task less for each group."""
    return reduce_group(*arguments)[0]


def join_sums(*sums: list[tuple[int, Stats]]) -> list[tuple[int, Stats]]:
    """Combine what neighbouring groups gave, in the order in which the driver would.

    Parameters
    ----------
    *sums : list of (level, statistics)
        Of a run of groups that starts at a multiple of its length: so the tree is the driver's.

    Returns
    -------
    list of (level, statistics)
        One entry, but for the last run, which may be ragged.
    """
    tree = Tree()
    for run in sums:
        for level, stats in aligned(copy.deepcopy(run)):  # combine adds in place; a retry needs them whole
            tree.push(stats, level)
    return tree.levels


def _no_watch(share: float) -> None:
    pass


def _large_graphs() -> Any:
    """A context without Dask's warning about data in task graphs: the scheduler can make such data again."""
    import dask

    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"})


def _together(*parts: Any) -> tuple[Any, ...]:
    return parts


def _first(result: tuple[Any, Any]) -> Any:
    return result[0]


def _column(result: tuple[Any, dict[str, np.ndarray]], name: str) -> np.ndarray:
    return result[1][name]


def _losses() -> tuple[type[BaseException], ...]:
    """What says that a worker, or data that it held, is gone."""
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    return KilledWorker, CommClosedError, CancelledError
