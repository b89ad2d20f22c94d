"""The one loop of the library: ask the algorithm for a round, reduce it over the data, update.

Everything that a fit needs besides mathematics happens here: the stopping rule, history, progress,
checkpoints, Ctrl-C, the check for NaN, and the limit of one BLAS thread around map, combine and
update that makes results independent of the number of threads.
"""

from __future__ import annotations

import math
import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np

from altmin.contract import Algorithm, All, Block, Done, Next, Round, Rows, Same, State, Stats
from altmin.engine.backends import choose_backend
from altmin.engine.checkpoint import Checkpoint, CheckpointError, Saved, problem_key
from altmin.engine.cursor import Cursor
from altmin.engine.dask_watch import ClusterError
from altmin.engine.first_look import FirstLook
from altmin.engine.interrupt import InterruptFlag, Stopped
from altmin.engine.outcome import Outcome, make_outcome
from altmin.engine.plan import Plan, make_plan
from altmin.engine.progress import Progress, Silent
from altmin.engine.sources import AnySource
from altmin.engine.threads import one_thread

_UNKNOWN = 1e100  # a change from which on an algorithm means that it has nothing to compare with


@dataclass(frozen=True)
class Settings:
    """What a user may change without changing the problem.

    Without ``max_iter`` the algorithm or the end of the data ends the fit. ``tol`` stops a fit whose
    ``change`` stayed below it for ``patience`` iterations running; 0 leaves stopping to the algorithm.
    Without a ``seed`` one is drawn; a checkpoint remembers which. Batches start at the row ``begin``.
    Values whose ``power`` leaves the range of their dtype are refused: sums of it are formed. The model will
    need ``held`` bytes besides blocks of rows.
    """

    max_iter: int | None = 100
    tol: float = 0.0
    patience: int = 3
    n_jobs: int | None = None
    checkpoint: str | PathLike[str] | None = None
    progress: Progress = field(default_factory=Silent)
    seed: int | None = None
    begin: int = 0
    power: int = 1
    held: int = 0


@dataclass(frozen=True)
class Result:
    """What came out: the last state, how it ended, one history row an iteration, the plan, and the row
    before which the next batch would have begun.
    """

    state: State
    outcome: Outcome
    history: list[dict[str, Any]]
    n_iter: int
    n_rows_seen: int
    plan: Plan
    position: int


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
        self.plan = make_plan(info, settings.n_jobs, source.on_disk, settings.held)
        seed = fresh_seed() if settings.seed is None else settings.seed
        self.state = algorithm.init(info, seed) if state is None else state
        self.history: list[dict[str, Any]] = []
        self.n_iter = self.n_rounds = 0
        self.cursor = Cursor(source, self.plan.block_rows, seed, settings.begin)
        self.begun = time.perf_counter()
        self.checkpoint: Checkpoint | None = None
        self.flag = InterruptFlag()

    def go(self) -> Result:
        with ExitStack() as stack:
            stack.enter_context(one_thread())
            stack.enter_context(self.flag)
            self.rounds = choose_backend(self.plan, self.cursor, self.source, stack)
            self.rounds.look = FirstLook(power=self.settings.power)
            self.source.watch = self.flag.check
            self.settings.progress.begin(str(self.plan), self.settings.max_iter)
            self._open_checkpoint(stack)
            done = self._iterate()
            if self.checkpoint:
                self._write_checkpoint(self.algorithm.next_round(self.state))
            self.state = self.algorithm.finish(self.state)
            while not isinstance(closing := self.algorithm.next_round(self.state), Done):
                stats = self._reduce(closing, interruptible=False)
                self.state = closing.then(self.state, stats)
            outcome = make_outcome(done.outcome, done.message)
            self.settings.progress.end(str(outcome))
        cursor = self.cursor
        return Result(self.state, outcome, self.history, self.n_iter, cursor.seen, self.plan, cursor.position)

    def _iterate(self) -> Done:
        """Rounds until the algorithm, the stopping rule, the data or the user ends them."""
        while True:
            step = self._next_step()
            if isinstance(step, Done):
                return step
            if self.checkpoint and self.checkpoint.due and self.n_rounds:
                self._write_checkpoint(step)
            try:
                stats = self._reduce(step, interruptible=True)
            except Stopped:
                self.cursor.step_back()
                if self.n_iter == 0:
                    raise KeyboardInterrupt from None
                return Done("interrupted")
            if stats is None:
                return Done("end_of_stream", f"the stream ended after {self.cursor.seen:,} rows")
            state = step.then(self.state, stats)
            ended = self._count(step, state)
            if ended and ended.outcome == "diverged":
                return ended
            self.state = state
            if ended:
                return ended

    def _next_step(self) -> Round | Done:
        """The next round, or the end: the stopping rule of every algorithm.

        It is asked before a round and not after one, so that a fit that is resumed from its end stays there.
        """
        if self._calm():
            return Done("converged")
        step = self.algorithm.next_round(self.state)
        limit = self.settings.max_iter
        if isinstance(step, Round) and limit is not None and self.n_iter >= limit:
            return self._used_up()
        return step

    def _used_up(self) -> Done:
        """The end at max_iter: a fit that hardly moved any more has converged, whatever stopped it."""
        allowed = self.settings.max_iter
        change = self._last_changes()
        if change <= float(np.sqrt(np.finfo(self.source.info.dtype).eps)):
            return Done(
                "converged", f"the factors were precise to {change:.1g} when max_iter={allowed} was reached"
            )
        moved = f", and the factors still changed by {change:.1g}" if change < _UNKNOWN else ""
        return Done("max_iter", f"all {allowed} iterations were used{moved}")

    def _count(self, step: Round, state: State) -> Done | None:
        """Book a finished round; say so where it ends the fit."""
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
            return Done("interrupted", "a callback stopped the fit")
        return None

    def _calm(self) -> bool:
        """Whether the factors have hardly changed for some iterations running."""
        return self._last_changes() < self.settings.tol

    def _last_changes(self) -> float:
        """The largest change of the last few iterations; infinite where there are fewer or none is known."""
        last = [row.get("change", math.inf) for row in self.history[-self.settings.patience :]]
        return max(last) if len(last) == self.settings.patience else math.inf

    def _reduce(self, step: Round, interruptible: bool) -> Stats:
        """Statistics of a round, with Ctrl-C and progress watched between blocks."""

        def watch(share: float) -> None:
            if interruptible:
                self.flag.check()
            self.settings.progress.round(step.name, share)

        try:
            return self.rounds.reduce(self.algorithm, self.state, step, self.n_rounds, watch)
        except ClusterError as error:
            place = self.settings.checkpoint
            hint = (
                "give checkpoint= to be able to go on after a loss"
                if place is None
                else (f"fit again with checkpoint={str(place)!r} to go on from where it was")
            )
            raise ClusterError(f"{error}; {hint}") from error

    def _open_checkpoint(self, stack: ExitStack) -> None:
        settings = self.settings
        if settings.checkpoint is None:
            return
        self.rounds.look = replace(self.rounds.look, digesting=self.source.replayable)
        shape = f"{self.source.info} from row {settings.begin}"
        key = problem_key(self.algorithm, self.plan.block_rows, shape, settings.seed)
        self.checkpoint = Checkpoint(settings.checkpoint, key, self.cursor.column_bytes)
        stack.callback(self.checkpoint.close)
        found = self.checkpoint.load()
        if found:
            saved, columns = found
            self._verify(saved)
            self.rounds.columns = columns
            self.state, self.n_rounds, self.n_iter = saved.state, saved.n_rounds, saved.n_iter
            self.history = list(saved.history)
            self.cursor.resume(saved.seed, saved.position, saved.batch)

    def _verify(self, saved: Saved) -> None:
        """Read the rows that the checkpoint has seen before anything in it is believed."""
        if not self.source.replayable:
            return
        if saved.n_rows > self.settings.begin:
            try:
                self._look_at(Next(saved.n_rows - self.settings.begin), interruptible=True)
            except Stopped:
                raise KeyboardInterrupt from None
        if (self.cursor.checked, self._digest()) != (saved.n_rows, saved.digest):
            raise CheckpointError(
                f"checkpoint={str(self.settings.checkpoint)!r} was written for other rows: the data have "
                "changed since. Give another folder, or delete this one to start anew"
            )

    def _look_at(self, rows: Rows, interruptible: bool = False) -> None:
        """Take the digest of rows, and nothing else of them."""
        self._reduce(Round(_nothing, rows, "check the data", holes=True, then=_unchanged), interruptible)

    def _digest(self) -> str:
        return f"{int(self.cursor.digest[0]):016x}"

    def _write_checkpoint(self, step: Round | Done) -> None:
        """Write down where the run is, unless the next round needs rows of a stream that will be gone."""
        cursor, n_rows = self.cursor, self.source.info.n_rows
        if not self.source.replayable and isinstance(step, Round) and isinstance(step.rows, Same):
            return
        if cursor.sampled and n_rows is not None and cursor.checked < n_rows:
            self._look_at(All())  # the state rests on rows from anywhere
        saved = Saved(
            self.state,
            self.n_rounds,
            self.n_iter,
            cursor.position,
            cursor.batch,
            tuple(self.history),
            {},
            cursor.seed,
            cursor.checked,
            self._digest(),
        )
        if self.checkpoint:
            self.checkpoint.write(saved, self.rounds.columns)


def _nothing(algorithm: Algorithm, state: State, block: Block) -> float:
    return 0.0


def _unchanged(state: State, stats: Stats) -> State:
    return state
