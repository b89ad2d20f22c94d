"""Stopped at any block and resumed, or cut in any way: the loop ends in the same bits (see walk.py)."""

import signal
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from altmin.contract import Done, Next, Round, Take, record
from altmin.engine import Settings, first_look, open_source, run
from altmin.engine.progress import Silent

sys.path.insert(0, str(Path(__file__).parent))
from walk import ROUNDS, ROWS, Press, Walk, X, go, look, note, same

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
    assert same(resumed.state, WHOLE.state)
    assert resumed.n_iter == WHOLE.n_iter
    assert [row["iteration"] for row in resumed.history] == list(range(1, WHOLE.n_iter + 1))


@pytest.mark.parametrize("stop", range(1, 12))
def test_any_max_iter_and_then_more_gives_the_same_bits(stop, tmp_path):
    assert go(max_iter=stop, checkpoint=tmp_path).n_iter == stop
    assert same(go(checkpoint=tmp_path).state, WHOLE.state)


def test_another_seed_is_another_problem(tmp_path):
    go(max_iter=2, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="another problem"):
        run(Walk(), open_source(X), Settings(seed=8, checkpoint=tmp_path))


class PressWhile(Press):
    """Ctrl-C at the n-th look at a round of this name."""

    def __init__(self, name, at):
        super().__init__(at)
        self.name = name

    def round(self, name, share):
        if name == self.name:
            super().round(name, share)


@pytest.mark.parametrize("at", range(1, 6))
def test_ctrl_c_while_a_resumed_fit_looks_at_its_data_leaves_the_checkpoint_as_it_was(at, tmp_path):
    """That can take long, and there is nothing new to keep."""
    go(max_iter=3, checkpoint=tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.glob("*.altmin")}
    with pytest.raises(KeyboardInterrupt):
        go(progress=PressWhile("check the data", at), checkpoint=tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.glob("*.altmin")} == before
    assert same(go(checkpoint=tmp_path).state, WHOLE.state)


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
            assert same(go(data, n_jobs=n_jobs).state, WHOLE.state)


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


@pytest.mark.parametrize("at", [9, 16, 23, 31])
def test_ctrl_c_while_threads_are_at_work(at, tmp_path):
    stopped = go(progress=Press(at), checkpoint=tmp_path, n_jobs=3)
    assert stopped.outcome.kind in ("interrupted", "converged")
    assert same(go(checkpoint=tmp_path, n_jobs=3).state, WHOLE.state)


@pytest.mark.parametrize(("last", "looks"), [(1299, 1), (700, 0)])
def test_rows_that_were_looked_at_are_not_looked_at_again_in_a_sample(last, looks, monkeypatch):
    seen = []
    real = first_look.check_values
    monkeypatch.setattr(first_look, "check_values", lambda *given: seen.append(given[0]) or real(*given))

    @record
    class Sample(Walk):
        def next_round(self, state):
            sample = Round(look, Take(np.array([2, last])), "sample", then=note)
            return (Round(look, Next(1024), "batch", then=note), sample, Done())[state.step]

        def finish(self, state):
            return replace(state, step=2)

    run(Sample(), open_source(X), Settings(seed=0))
    assert len(seen) == 4 + looks
