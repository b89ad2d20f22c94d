"""The one loop of the library: ask the algorithm for a round, reduce it over the data, update.

Everything that a fit needs besides mathematics happens here: the stopping rule, history, progress,
checkpoints, Ctrl-C, the check for NaN, and the limit of one BLAS thread around map, combine and
update that makes results independent of the number of threads.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from altmin.contract import Algorithm, All, Block, Done, Next, Round, Same, State, Stats, Take
from altmin.engine.checkpoint import Checkpoint, Saved, problem_key
from altmin.engine.columns import ColumnWriter
from altmin.engine.finite import check_finite
from altmin.engine.interrupt import InterruptFlag, Stopped
from altmin.engine.outcome import Outcome, make_outcome
from altmin.engine.plan import Plan, make_plan
from altmin.engine.progress import Progress, Silent
from altmin.engine.reduce import Tree, map_in_order
from altmin.engine.sources import AnySource, Source, SourceError, StreamSource, Table


@dataclass(frozen=True)
class Settings:
    """What a user may change without changing the problem.

    ``tol`` stops a fit whose ``change`` stayed below it for ``patience`` iterations running; 0 leaves
    stopping to the algorithm. Without a ``seed`` one is drawn; a checkpoint remembers which.
    """

    max_iter: int = 100
    tol: float = 0.0
    patience: int = 3
    n_jobs: int | None = None
    checkpoint: str | PathLike[str] | None = None
    progress: Progress = field(default_factory=Silent)
    seed: int | None = None


@dataclass(frozen=True)
class Result:
    """What came out: the last state, how it ended, one history row an iteration, and the plan."""

    state: State
    outcome: Outcome
    history: list[dict[str, Any]]
    n_iter: int
    n_rows_seen: int
    plan: Plan


def run(
    algorithm: Algorithm, source: AnySource, settings: Settings | None = None, state: State | None = None
) -> Result:
    """Run an algorithm on a source.

    Parameters
    ----------
    algorithm : Algorithm
        Its parameters and its pure steps.
    source : Source or StreamSource
        The data.
    settings : Settings, optional
        Stopping, threads, checkpoint, progress, seed.
    state : State, optional
        Where to go on from (``partial_fit``, ``warm_start``); by default ``algorithm.init``.

    Returns
    -------
    Result
        The state after the last finished iteration and the closing rounds.
    """
    return _Run(algorithm, source, settings or Settings(), state).go()


def fresh_seed() -> int:
    """A seed from the system's entropy."""
    return int(np.random.SeedSequence().generate_state(1)[0])


class _Run:
    def __init__(
        self, algorithm: Algorithm, source: AnySource, settings: Settings, state: State | None
    ) -> None:
        self.algorithm, self.source, self.settings = algorithm, source, settings
        info = source.info
        self.plan = make_plan(info, settings.n_jobs)
        seed = fresh_seed() if settings.seed is None else settings.seed
        self.state = algorithm.init(info, seed) if state is None else state
        self.history: list[dict[str, Any]] = []
        self.n_iter = self.n_rounds = 0
        self.cursor = _Cursor(source, self.plan.block_rows, seed)
        self.columns: dict[str, np.ndarray] = {}
        self.calm = 0
        self.begun = time.perf_counter()
        self.checkpoint: Checkpoint | None = None
        self.pool: ThreadPoolExecutor | None = None
        self.flag = InterruptFlag()

    def go(self) -> Result:
        with ExitStack() as stack:
            stack.enter_context(threadpool_limits(1))
            stack.enter_context(self.flag)
            if self.plan.n_threads > 1:
                self.pool = stack.enter_context(ThreadPoolExecutor(self.plan.n_threads))
            self._open_checkpoint()
            self.settings.progress.begin(str(self.plan), self.settings.max_iter)
            done = self._iterate()
            if self.checkpoint:
                self.checkpoint.write(self._saved(), self.columns)
            self.state = self.algorithm.finish(self.state)
            while not isinstance(closing := self.algorithm.next_round(self.state), Done):
                self.state = self.algorithm.update(self.state, self._reduce(closing, interruptible=False))
            outcome = make_outcome(done.outcome, done.message)
            self.settings.progress.end(str(outcome))
        return Result(self.state, outcome, self.history, self.n_iter, self.cursor.seen, self.plan)

    def _iterate(self) -> Done:
        """Rounds until the algorithm, the stopping rule, the data or the user ends them."""
        while True:
            step = self.algorithm.next_round(self.state)
            if isinstance(step, Done):
                return step
            if self.n_iter >= self.settings.max_iter:
                return Done("max_iter")
            try:
                stats = self._reduce(step, interruptible=True)
            except Stopped:
                self.cursor.step_back()
                if self.n_iter == 0:
                    raise KeyboardInterrupt from None
                return Done("interrupted")
            if stats is None:
                return Done("end_of_stream", f"the stream ended after {self.cursor.seen:,} rows")
            state = self.algorithm.update(self.state, stats)
            ended = self._count(step, state)
            if ended and ended.outcome == "diverged":
                return ended
            self.state = state
            if ended:
                return ended
            if self.checkpoint:
                self.checkpoint.write_if_due(self._saved(), self.columns)

    def _count(self, step: Round, state: State) -> Done | None:
        """Book a finished round; the stopping rule of every algorithm."""
        self.n_rounds += 1
        if not step.iteration:
            return None
        measures = dict(self.algorithm.measure(state))
        if not all(math.isfinite(value) for value in measures.values()):
            return Done("diverged")
        self.n_iter += 1
        row = {"iteration": self.n_iter, "phase": step.name, **measures}
        self.history.append({**row, "seconds": time.perf_counter() - self.begun})
        if self.settings.progress.iteration(self.n_iter, measures):
            return Done("interrupted", "a callback asked for the end of the fit")
        change = measures.get("change", math.inf)
        self.calm = self.calm + 1 if change < self.settings.tol else 0
        return Done("converged") if self.calm >= self.settings.patience else None

    def _reduce(self, step: Round, interruptible: bool) -> Stats:
        """Map over the round's blocks, combine in the fixed tree, keep the columns it writes."""
        algorithm, state, check = self.algorithm, self.state, self.cursor.needs_check

        def call(block: Block) -> Any:
            if block.X is not None and check(block):
                check_finite(block)
            return step.map(algorithm, state, block)

        tree = Tree()
        writer = ColumnWriter(step.writes, self.cursor.rows_of(step)) if step.writes else None
        blocks = self.cursor.blocks(step, self.columns, self.n_rounds)
        total = max(math.ceil(self.cursor.rows_of(step) / self.plan.block_rows), 1)
        for block, result in map_in_order(call, blocks, self.pool, 2 * self.plan.n_threads):
            if interruptible:
                self.flag.check()
            if writer:
                result, parts = result
                writer.write(parts)
            tree.push(result)
            self.settings.progress.round(step.name, (block.index + 1) / total)
        if writer:
            self.columns = {**self.columns, **writer.result()}
        self.cursor.finished(step)
        return tree.result()

    def _open_checkpoint(self) -> None:
        settings = self.settings
        if settings.checkpoint is None:
            return
        key = problem_key(self.algorithm, self.plan.block_rows, self.source.fingerprint(), settings.seed)
        self.checkpoint = Checkpoint(settings.checkpoint, key)
        found = self.checkpoint.load()
        if found:
            saved, self.columns = found
            self.state, self.n_rounds, self.n_iter = saved.state, saved.n_rounds, saved.n_iter
            self.history = list(saved.history)
            self.cursor.resume(saved.seed, saved.position, saved.epoch, saved.batch)

    def _saved(self) -> Saved:
        cursor = self.cursor
        return Saved(
            self.state,
            self.n_rounds,
            self.n_iter,
            cursor.position,
            cursor.epoch,
            cursor.batch,
            tuple(self.history),
            {},
            cursor.seed,
        )


class _Cursor:
    """Which rows a round reads: the position in the stream, and blocks on the grid."""

    def __init__(self, source: AnySource, block_rows: int, seed: int) -> None:
        self.source, self.block_rows, self.seed = source, block_rows, seed
        self.position = self.epoch = self.seen = 0
        self.batch = (0, 0)
        self.kept: Table | None = None
        self._checked = 0
        self._before = (0, 0, (0, 0))

    def resume(self, seed: int, position: int, epoch: int, batch: tuple[int, int]) -> None:
        """Go on where a checkpoint was."""
        self.seed = seed
        self.position, self.epoch, self.batch = position, epoch, batch
        self._before = (position, epoch, batch)

    def step_back(self) -> None:
        """Undo the advance of a round that was not finished."""
        if isinstance(self.source, StreamSource) and self.kept is not None:
            self.source.push_back(self.kept)
            self.kept = None
        self.position, self.epoch, self.batch = self._before

    def rows_of(self, step: Round) -> int:
        """How many rows the round will read (what it asks for, on a stream)."""
        match step.rows:
            case Take(ids=ids):
                return len(ids)
            case Next(n=n):
                return n
            case Same():
                return self.batch[1] - self.batch[0]
            case All() if isinstance(self.source, Source):
                return self.source.n_rows
        return 0

    def needs_check(self, block: Block) -> bool:
        """Whether these rows have not been checked for NaN yet."""
        return block.ids is not None or block.start + block.n_rows > self._checked

    def finished(self, step: Round) -> None:
        """The round has read its rows without an error."""
        if isinstance(self.source, Source) and step.needs_data and isinstance(step.rows, All):
            self._checked = self.source.n_rows
        self.seen = max(self.seen, self._checked, self.position)
        self._before = (self.position, self.epoch, self.batch)

    def blocks(self, step: Round, columns: dict[str, np.ndarray], round_number: int) -> Iterator[Block]:
        """The blocks of a round, on the grid that starts at its first row."""
        key = (self.seed, round_number)
        rows = step.rows
        if isinstance(rows, Take):
            for index, low in enumerate(range(0, len(rows.ids), self.block_rows)):
                ids = rows.ids[low : low + self.block_rows]
                table = self._replayable("a sample of rows").take(ids)
                found = {name: columns[name][ids] for name in step.reads}
                yield self._block(index, int(ids[0]), table, found, key, ids)
            return
        if isinstance(rows, Next):
            self._advance(rows)
        start, stop = self.batch if isinstance(rows, Next | Same) else (0, self._n_rows())
        for index, low in enumerate(range(start, stop, self.block_rows)):
            high = min(low + self.block_rows, stop)
            found = {name: columns[name][low:high] for name in step.reads}
            table = self._read(low, high) if step.needs_data else Table(None)
            yield self._block(index, low, table, found, key)

    def _advance(self, rows: Next) -> None:
        """Move the window of the stream on by one batch."""
        if isinstance(self.source, StreamSource):
            self.kept = self.source.pull(rows.n)
            n = 0 if self.kept is None else self.kept.n_rows
            self.batch = (self.position, self.position + n)
            self.position += n
            return
        if self.position >= self.source.n_rows and rows.wrap:
            self.position, self.epoch = 0, self.epoch + 1
        self.batch = (self.position, min(self.position + rows.n, self.source.n_rows))
        self.position = self.batch[1]

    def _read(self, low: int, high: int) -> Table:
        if isinstance(self.source, Source):
            return self.source.read(low, high)
        if self.kept is None:
            raise SourceError("the rows of a one-way stream are gone: nothing was read before")
        return self.kept.rows(slice(low - self.batch[0], high - self.batch[0]))

    def _n_rows(self) -> int:
        return self._replayable("a pass over all rows").n_rows

    def _replayable(self, what: str) -> Source:
        if isinstance(self.source, Source):
            return self.source
        raise SourceError(
            f"X is a one-way stream, and this fit needs {what}: give an array, a file or a list of blocks, "
            "or a parameter that makes the fit read each row once (batch_size)"
        )

    @staticmethod
    def _block(
        index: int,
        start: int,
        table: Table,
        columns: dict[str, np.ndarray],
        key: tuple[int, int],
        ids: np.ndarray | None = None,
    ) -> Block:
        return Block(
            index, start, table.X, table.y, table.weight, table.second, columns=columns, ids=ids, key=key
        )
