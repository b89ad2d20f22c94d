"""The one loop of the library: ask the algorithm for a round, reduce it over the data, update.

Everything that a fit needs besides mathematics happens here: the stopping rule, history, progress,
checkpoints, Ctrl-C, the check for NaN, and the limit of one BLAS thread around map, combine and
update that makes results independent of the number of threads.
"""

from __future__ import annotations

import math
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from altmin.contract import Algorithm, Done, Round, Same, State, Stats
from altmin.engine.backends import choose_backend
from altmin.engine.checkpoint import Checkpoint, Saved, problem_key
from altmin.engine.cursor import Cursor
from altmin.engine.interrupt import InterruptFlag, Stopped
from altmin.engine.outcome import Outcome, make_outcome
from altmin.engine.plan import Plan, make_plan
from altmin.engine.progress import Progress, Silent
from altmin.engine.sources import AnySource
from altmin.engine.threads import one_thread


@dataclass(frozen=True)
class Settings:
    """What a user may change without changing the problem.

    Without ``max_iter`` the algorithm or the end of the data ends the fit. ``tol`` stops a fit whose
    ``change`` stayed below it for ``patience`` iterations running; 0 leaves stopping to the algorithm.
    Without a ``seed`` one is drawn; a checkpoint remembers which. Batches start at the row ``begin``.
    """

    max_iter: int | None = 100
    tol: float = 0.0
    patience: int = 3
    n_jobs: int | None = None
    checkpoint: str | PathLike[str] | None = None
    progress: Progress = field(default_factory=Silent)
    seed: int | None = None
    begin: int = 0


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
        self.plan = make_plan(info, settings.n_jobs, source.on_disk)
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
            self.source.watch = self.flag.check
            self._open_checkpoint()
            self.settings.progress.begin(str(self.plan), self.settings.max_iter)
            done = self._iterate()
            if self.checkpoint and self._resumable(self.algorithm.next_round(self.state)):
                self.checkpoint.write(self._saved(), self.rounds.columns)
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
            step = self.algorithm.next_round(self.state)
            if isinstance(step, Done):
                return step
            if self.settings.max_iter is not None and self.n_iter >= self.settings.max_iter:
                return Done("max_iter")
            if self.checkpoint and self.checkpoint.due and self.n_rounds and self._resumable(step):
                self.checkpoint.write(self._saved(), self.rounds.columns)
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

    def _resumable(self, step: Round | Done) -> bool:
        """Whether the round could be run after a resume: a stream's last rows can't be seen again."""
        return self.source.replayable or isinstance(step, Done) or not isinstance(step.rows, Same)

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
        last = [row.get("change", math.inf) for row in self.history[-self.settings.patience :]]
        calm = len(last) == self.settings.patience and max(last) < self.settings.tol
        return Done("converged") if calm else None

    def _reduce(self, step: Round, interruptible: bool) -> Stats:
        """Statistics of a round, with Ctrl-C and progress watched between blocks."""

        def watch(share: float) -> None:
            if interruptible:
                self.flag.check()
            self.settings.progress.round(step.name, share)

        return self.rounds.reduce(self.algorithm, self.state, step, self.n_rounds, watch)

    def _open_checkpoint(self) -> None:
        settings = self.settings
        if settings.checkpoint is None:
            return
        data = self.source.fingerprint() + (f" from row {settings.begin}" if settings.begin else "")
        key = problem_key(self.algorithm, self.plan.block_rows, data, settings.seed)
        self.checkpoint = Checkpoint(settings.checkpoint, key, self.cursor.column_bytes)
        found = self.checkpoint.load()
        if found:
            saved, self.rounds.columns = found
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
