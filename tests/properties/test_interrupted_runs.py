"""Stopped at any block and resumed, or cut in any way: the loop ends in the same bits.

The algorithm here asks for every kind of round, and its statistics notice a block that is skipped, read
twice, read in another order, or given other random numbers.
"""

import os
import signal
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from altmin.contract import All, Concat, Done, Next, Round, Same, Take, record
from altmin.engine import Settings, open_source, run
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
    return run(Walk(), open_source(data), Settings(seed=7, **settings))


def same(left, right):
    """Whether two states hold the same bits."""
    assert left.step == right.step
    for one, other in zip(left.seen, right.seen, strict=True):
        assert one.keys() == other.keys()
        for key in one:
            a, b = (getattr(stats[key], "value", stats[key]) for stats in (one, other))
            np.testing.assert_array_equal(a, b)


WHOLE = go()
COUNT = Press()
go(progress=COUNT)


def test_the_walk_sees_what_it_should():
    first = WHOLE.state.seen[0]
    np.testing.assert_allclose(first["sum"], X.sum(axis=0))
    assert first["where"].value.tolist() == [[256 * k, min(256, ROWS - 256 * k)] for k in range(6)]
    # Batches of 700, 500, 700 ... rows of 1300: the third one is the rest of 100 rows, then it starts over.
    starts = [stats["where"].value[0, 0] for stats in WHOLE.state.seen if "where" in stats]
    assert [starts[k] for k in (1, 4, 6, 9)] == [0, 700, 1200, 0]
    np.testing.assert_array_equal(WHOLE.state.seen[2]["sum"], WHOLE.state.seen[3]["sum"])
    # Each block of each round has random numbers of its own.
    luck = np.concatenate([stats["luck"].value for stats in WHOLE.state.seen if "luck" in stats])
    assert len(np.unique(luck)) == len(luck) == 40


@pytest.mark.parametrize("at", range(1, COUNT.looks + 1))
def test_ctrl_c_at_any_block_and_a_second_run_give_the_same_bits(at, tmp_path):
    try:
        stopped = go(progress=Press(at), checkpoint=tmp_path)
        assert stopped.outcome.kind in ("interrupted", "converged")
        assert len(stopped.history) == stopped.n_iter
    except KeyboardInterrupt:  # before the first iteration there is nothing to keep
        assert at <= 7
    resumed = go(checkpoint=tmp_path)
    same(resumed.state, WHOLE.state)
    assert resumed.n_iter == WHOLE.n_iter
    assert [row["iteration"] for row in resumed.history] == list(range(1, WHOLE.n_iter + 1))


@pytest.mark.parametrize("stop", range(1, 12))
def test_any_max_iter_and_then_more_gives_the_same_bits(stop, tmp_path):
    assert go(max_iter=stop, checkpoint=tmp_path).n_iter == stop
    same(go(checkpoint=tmp_path).state, WHOLE.state)


def test_another_seed_is_another_problem(tmp_path):
    go(max_iter=2, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="another problem"):
        run(Walk(), open_source(X), Settings(seed=8, checkpoint=tmp_path))


def test_a_second_ctrl_c_raises():
    class Pressed(Silent):
        """Once there is something to keep: before, one is enough."""

        def __init__(self, times):
            self.times, self.looks = times, 0

        def round(self, name, share):
            self.looks += 1
            for _ in range(self.times if self.looks == 12 else 0):
                signal.raise_signal(signal.SIGINT)

    assert go(progress=Pressed(1)).outcome == "interrupted"
    with pytest.raises(KeyboardInterrupt):
        go(progress=Pressed(2))


def test_files_and_threads_give_the_same_bits(tmp_path):
    np.save(tmp_path / "x.npy", X)
    for data in (
        tmp_path / "x.npy",
        np.load(tmp_path / "x.npy", mmap_mode="r"),
        [X[:900], X[900:901], X[901:]],
    ):
        for n_jobs in (1, 3):
            same(go(data, n_jobs=n_jobs).state, WHOLE.state)


@pytest.mark.parametrize("row", [0, 255, 256, 1023, 1299])
@pytest.mark.parametrize("way", ["array", "file", "blocks"])
def test_nan_is_found_at_every_place_of_a_pass(row, way, tmp_path):
    bad = X.copy()
    bad[row, 1] = np.nan
    if way == "file":
        np.save(tmp_path / "x.npy", bad)
    data = {"array": bad, "file": tmp_path / "x.npy", "blocks": [bad[:900], bad[900:]]}[way]
    with pytest.raises(ValueError, match=f"row {row}, column 1"):
        go(data)


@pytest.mark.parametrize("row", [700, 1100, 1299])
def test_nan_is_found_in_later_batches_and_samples(row):
    bad = X.copy()
    bad[row, 2] = np.inf

    @record
    class Batches(Walk):
        def next_round(self, state):
            return Done() if state.step == 4 else ROUNDS[6]

    with pytest.raises(ValueError, match=f"row {row}"):
        run(Batches(), open_source(bad), Settings(seed=0))

    @record
    class Sample(Walk):
        def next_round(self, state):
            return Done() if state.step == 1 else Round(look, Take(np.array([2, row])), "sample", then=note)

    with pytest.raises(ValueError, match=f"row {row}"):
        run(Sample(), open_source(bad), Settings(seed=0))
