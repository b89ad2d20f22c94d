"""An algorithm that asks for every kind of round, and whose statistics notice a block that is skipped, read
twice, read in another order, or given other random numbers.
"""

import os
import signal
from dataclasses import replace
from typing import Any

import numpy as np

from altmin.contract import All, Concat, Done, Next, Round, Same, Take, record
from altmin.engine import Settings, open_source, run
from altmin.engine.dask_source import is_dask, open_dask
from altmin.engine.progress import Silent

ROWS, WIDTH = 1300, 1024  # so wide that a block has 256 rows: six blocks, the last one ragged
X = np.random.default_rng(0).standard_normal((ROWS, WIDTH)) * 10.0 ** np.arange(-6, 7).repeat(100)[:, None]


@record
class Walk:
    """Every kind of round in turn, three times over."""

    turns: int = 3

    def init(self, info, seed):
        return Trace()

    def next_round(self, state):
        return Done() if state.step >= self.turns * len(ROUNDS) else ROUNDS[state.step % len(ROUNDS)]

    def finish(self, state):
        return replace(state, step=self.turns * len(ROUNDS))

    def measure(self, state):
        return {"change": 1.0 + state.step}


@record
class Trace:
    step: int = 0
    seen: tuple[Any, ...] = ()


def note(state, stats):
    return replace(state, step=state.step + 1, seen=(*state.seen, stats))


def look(algorithm, state, block):
    """Sums of very different sizes (the order of additions shows), places, and the block's own randomness."""
    where = np.array([[block.start, block.n_rows]])
    luck = block.rng().standard_normal(1)
    return {"sum": block.X.sum(axis=0), "where": Concat(where), "luck": Concat(luck)}


def write(algorithm, state, block):
    return {"n": block.n_rows}, {"norms": np.linalg.norm(block.X, axis=1) * (1 + state.step)}


def read(algorithm, state, block):
    return {"sum": float(block.columns["norms"].sum()), "starts": Concat(np.array([block.start]))}


ROUNDS = (
    Round(look, All(), "all", iteration=True, then=note),
    Round(write, All(), "write", writes=("norms",), then=note),
    Round(look, Next(700, wrap=True, keep=True), "batch", then=note),
    Round(look, Same(), "again", iteration=True, then=note),
    Round(read, name="read", reads=("norms",), needs_data=False, then=note),
    Round(look, Take(np.array([3, 255, 256, 700, 1299])), "sample", iteration=True, then=note),
    Round(look, Next(500, wrap=True), "batch", iteration=True, then=note),
)


class Press(Silent):
    """Ctrl-C at the n-th look at the progress; counts them without one."""

    def __init__(self, at=None):
        self.at, self.looks = at, 0

    def round(self, name, share):
        self.looks += 1
        if self.looks == self.at:
            os.kill(os.getpid(), signal.SIGINT)


def go(data=X, **settings):
    source = open_dask(data) if is_dask(data) else open_source(data)
    return run(Walk(), source, Settings(seed=7, **settings))


def same(left, right):
    """Whether two states hold the same bits."""
    return (
        left.step == right.step
        and len(left.seen) == len(right.seen)
        and all(one.keys() == other.keys() for one, other in zip(left.seen, right.seen, strict=True))
        and all(
            np.array_equal(*(getattr(stats[key], "value", stats[key]) for stats in (one, other)))
            for one, other in zip(left.seen, right.seen, strict=True)
            for key in one
        )
    )
