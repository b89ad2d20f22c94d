"""The loop: rounds of every kind, stopping, outcomes, history, streams."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from altmin.contract import All, Block, Concat, Done, Next, Round, Same, Take, record
from altmin.engine import Settings, SourceError, open_source, run

X = np.random.default_rng(0).standard_normal((1000, 3))


@record
class Notes:
    step: int = 0
    sums: tuple[Any, ...] = ()


@record
class Script:
    """An algorithm that asks for a fixed list of rounds and notes what came back."""

    rounds: tuple[str, ...]
    outcome: str = "converged"

    def init(self, info, seed):
        return Notes()

    def next_round(self, state):
        if state.step >= len(self.rounds):
            return Done(self.outcome)
        return ROUNDS[self.rounds[state.step]]

    def finish(self, state):
        return replace(state, step=len(self.rounds))

    def measure(self, state):
        return {"change": 1.0 / state.step}


def note(state, stats):
    return replace(state, step=state.step + 1, sums=(*state.sums, stats))


def total(algorithm, state, block: Block):
    return {"sum": block.X.sum(axis=0), "rows": block.n_rows, "starts": Concat(np.array([block.start]))}


def write_norms(algorithm, state, block):
    return {"n": block.n_rows}, {"norms": np.linalg.norm(block.X, axis=1)}


def read_norms(algorithm, state, block):
    assert block.X is None
    return {"sum": block.columns["norms"].sum()}


def noise(algorithm, state, block):
    return {"noise": block.rng().standard_normal()}


def broken(algorithm, state, block):
    raise ZeroDivisionError("in a map")


ROUNDS = {
    "all": Round(total, All(), "all", iteration=True, then=note),
    "next": Round(total, Next(300), "next", iteration=True, then=note),
    "keep": Round(total, Next(300, keep=True), "keep", then=note),
    "wrap": Round(total, Next(700, wrap=True), "wrap", iteration=True, then=note),
    "same": Round(total, Same(), "same", iteration=True, then=note),
    "take": Round(total, Take(np.array([1, 5, 999])), "take", then=note),
    "write": Round(write_norms, name="write", writes=("norms",), then=note),
    "read": Round(read_norms, name="read", reads=("norms",), needs_data=False, then=note),
    "noise": Round(noise, name="noise", then=note),
    "broken": Round(broken, name="broken", then=note),
}


def go(*rounds, data=X, **settings):
    return run(Script(rounds), open_source(data), Settings(**settings))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_full_pass_sees_every_row_once(n_jobs):
    result = go("all", n_jobs=n_jobs)
    stats = result.state.sums[0]
    np.testing.assert_allclose(stats["sum"], X.sum(axis=0))
    assert stats["rows"] == 1000
    assert result.n_rows_seen == 1000


def test_next_moves_on_and_same_stays():
    sums = go("keep", "same", "keep", "same").state.sums
    np.testing.assert_array_equal(sums[0]["sum"], sums[1]["sum"])
    np.testing.assert_allclose(sums[2]["sum"], X[300:600].sum(axis=0))
    np.testing.assert_array_equal(sums[2]["sum"], sums[3]["sum"])


def test_the_end_of_the_data_ends_a_stream():
    result = go(*["next"] * 10)
    assert result.outcome.kind == "end_of_stream"
    assert [stats["rows"] for stats in result.state.sums] == [300, 300, 300, 100]
    assert "1,000 rows" in result.outcome.message


def test_wrap_starts_over():
    rows = [stats["rows"] for stats in go(*["wrap"] * 4).state.sums]
    assert rows == [700, 300, 700, 300]


def test_a_one_way_stream_gives_what_the_array_gives():
    def blocks():
        for low in range(0, 1000, 37):
            yield X[low : low + 37]

    stream = go("keep", "same", "next", "next", "next", "next", data=blocks())
    array = go("keep", "same", "next", "next", "next", "next")
    assert stream.outcome == array.outcome
    for a, b in zip(stream.state.sums, array.state.sums, strict=True):
        np.testing.assert_array_equal(a["sum"], b["sum"])


def test_a_one_way_stream_refuses_what_it_cannot_do():
    with pytest.raises(SourceError, match=r"one-way stream.*pass over all rows"):
        go("all", data=iter([X]))
    with pytest.raises(SourceError, match=r"one-way stream.*sample of rows"):
        go("take", data=iter([X]))


def test_take_gathers_rows():
    np.testing.assert_allclose(go("take").state.sums[0]["sum"], X[[1, 5, 999]].sum(axis=0))


def test_columns_are_written_once_and_read_without_the_data():
    result = go("write", "read")
    np.testing.assert_allclose(result.state.sums[1]["sum"], np.linalg.norm(X, axis=1).sum())


def test_randomness_of_a_block_depends_on_seed_and_round_alone():
    a = go("noise", "noise", seed=3, n_jobs=1).state.sums
    b = go("noise", "noise", seed=3, n_jobs=2).state.sums
    c = go("noise", "noise", seed=4).state.sums
    assert a == b != c
    assert a[0] != a[1]


def test_max_iter_counts_iterations_and_not_other_rounds():
    result = go("take", "all", "take", "all", "all", max_iter=2)
    assert result.outcome.kind == "max_iter"
    assert result.n_iter == len(result.history) == 2
    assert [row["phase"] for row in result.history] == ["all", "all"]


def test_tol_needs_a_calm_stretch():
    assert go(*["all"] * 9, tol=0.3, patience=3).n_iter == 6  # changes 1, 1/2, 1/3, 1/4, 1/5, 1/6
    assert go(*["all"] * 9, tol=0.3, patience=3).outcome.kind == "converged"


def test_a_measure_that_is_not_finite_ends_the_fit_with_the_last_good_state(monkeypatch):
    monkeypatch.setattr(Script, "measure", lambda self, state: {"change": 1.0 if state.step < 3 else np.nan})
    result = go(*["all"] * 5)
    assert result.outcome.kind == "diverged"
    assert result.n_iter == 2
    assert len(result.state.sums) == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_in_a_map_reach_the_caller(n_jobs):
    with pytest.raises(ZeroDivisionError, match="in a map"):
        go("broken", n_jobs=n_jobs)


def test_nan_is_read_as_a_hole_only_where_a_round_says_so_and_inf_never():
    from altmin.contract import Block
    from altmin.engine.checks import check_values

    X = np.ones((3, 2))
    X[1, 0] = np.nan
    check_values(Block(0, 0, X), holes=True)
    with pytest.raises(ValueError, match="NaN at row 1, column 0"):
        check_values(Block(0, 0, X))
    X[2, 1] = np.inf
    with pytest.raises(ValueError, match="at row 2, column 1"):
        check_values(Block(0, 0, X), holes=True)
    with pytest.raises(ValueError, match="y contains NaN"):
        check_values(Block(0, 0, np.ones((1, 1)), np.array([np.nan])), holes=True)
