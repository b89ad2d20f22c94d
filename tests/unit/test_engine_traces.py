"""What the engine does, step by step: which rows each round reads, what is fetched ahead of it, what
progress, history and checkpoints are told. Expected values are written out, or made by a few plain lines.
"""

import time
from contextlib import ExitStack
from dataclasses import replace
from itertools import count, pairwise
from typing import Any

import numpy as np
import pytest

from altmin.contract import All, Done, Next, Round, Same, Take, record
from altmin.engine import (
    Settings,
    SourceError,
    backends,
    dask_client,
    open_source,
    read_ahead,
    run,
    side_by_side,
)
from altmin.engine import checkpoint as checkpoints
from altmin.engine import cursor as cursors
from altmin.engine import rows as row_maps
from altmin.engine.checkpoint import Checkpoint, Saved, stream_position
from altmin.engine.columns import ColumnWriter, DiskColumn
from altmin.engine.cursor import Cursor
from altmin.engine.local import LocalRounds
from altmin.engine.outcome import make_outcome
from altmin.engine.plan import make_plan
from altmin.engine.read_ahead import ReadAhead
from altmin.engine.sources import Source, StreamSource, Table
from altmin.io.container import read_container, write_container

N, GRID = 20, 3
X = np.arange(2.0 * N).reshape(N, 2)
Y = np.arange(100.0, 100 + N)


def read_all(cursor, *given):
    return (read() for read in cursor.reads(*given))


def nothing(algorithm, state, block):
    return 0.0


def stays(state, stats):
    return state


def a(rows, **more):
    return Round(nothing, rows, then=stays, **more)


KEEP, BATCH, WRAP = a(Next(7, keep=True)), a(Next(7)), a(Next(7, wrap=True))
SAME, ALL, TAKE = a(Same()), a(All()), a(Take(np.array([1, 4, 5, 9, 19])))
COLUMN = a(All(), reads=("c",), needs_data=False)
SCRIPTS = {
    "batches": [KEEP, SAME, BATCH, SAME, WRAP, WRAP, BATCH],
    "passes": [ALL, BATCH, ALL, SAME, COLUMN, BATCH],
    "samples": [TAKE, BATCH, TAKE, ALL, TAKE, WRAP, WRAP, WRAP],
    "the end": [BATCH, BATCH, BATCH, BATCH, BATCH, WRAP],
}


def expected_walk(script):
    """Rows of each round with position, batch, rows seen and rows checked after it, by plain arithmetic."""
    position, batch, checked, seen = 0, (0, 0), 0, 0
    for step in script:
        rows = step.rows
        if isinstance(rows, Next):
            if position == N and rows.wrap:
                position = 0
            batch = (position, min(position + rows.n, N))
            position = batch[1]
            checked = max(checked, batch[1])
        low, high = batch if isinstance(rows, Next | Same) else (0, N)
        numbers = rows.ids.tolist() if isinstance(rows, Take) else list(range(low, high))
        if isinstance(rows, All) and step.needs_data:
            checked = N
        seen = max(seen, checked, position)
        height = GRID if step.needs_data else 4 * GRID
        yield (
            [numbers[i : i + height] for i in range(0, len(numbers), height)],
            position,
            batch,
            checked,
            seen,
        )


def opened(way, folder):
    if way == "file":
        np.save(folder / "x.npy", X)
        return open_source(folder / "x.npy", Y)
    if way == "blocks":
        cuts = [0, 1, 5, 5, 13, N]
        return open_source([(X[i:j], Y[i:j]) for i, j in pairwise(cuts)])
    return open_source(X, Y)


@pytest.mark.parametrize("way", ["array", "blocks", "file", "file, read ahead"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_each_round_reads_its_rows_and_moves_on_as_it_should(script, way, tmp_path):
    with ExitStack() as stack:
        cursor = Cursor(opened(way.partition(",")[0], tmp_path), GRID, seed=5)
        if way.endswith("ahead"):
            cursor.read_ahead(stack)
        column = np.arange(float(N)) ** 2
        for number, (step, want) in enumerate(
            zip(SCRIPTS[script], expected_walk(SCRIPTS[script]), strict=True)
        ):
            pieces, position, batch, checked, seen = want
            blocks = list(read_all(cursor, step, {"c": column}, number))
            cursor.finished(step, None, None)
            assert [block.index for block in blocks] == list(range(len(pieces)))
            assert [block.start for block in blocks] == [piece[0] for piece in pieces]
            for block, piece in zip(blocks, pieces, strict=True):
                assert block.key == (5, number)
                assert (block.ids is not None) == isinstance(step.rows, Take)
                if step.needs_data:
                    np.testing.assert_array_equal(block.X, X[piece])
                    np.testing.assert_array_equal(block.y, Y[piece])
                    assert block.columns == {}
                else:
                    assert block.X is None
                    np.testing.assert_array_equal(block.columns["c"], column[piece])
            assert (cursor.position, cursor.batch, cursor.checked, cursor.seen) == (
                position,
                batch,
                checked,
                seen,
            )
            if not isinstance(step.rows, Next):
                assert cursor.rows_of(step) == sum(map(len, pieces))
        assert cursor.sampled == (script == "samples")


def test_a_round_that_was_not_finished_leaves_no_trace(tmp_path):
    for way in ("array", "file"):
        cursor = Cursor(opened(way, tmp_path), GRID, seed=5)
        list(read_all(cursor, BATCH, {}, 0))
        cursor.finished(BATCH, None, None)
        list(read_all(cursor, BATCH, {}, 1))
        assert (cursor.position, cursor.batch) == (14, (7, 14))
        cursor.step_back()
        assert (cursor.position, cursor.batch, cursor.checked, cursor.seen) == (7, (0, 7), 7, 7)
        again = [row for block in read_all(cursor, BATCH, {}, 1) for row in block.X[:, 0] / 2]
        assert again == list(range(7, 14))


def test_a_stream_gives_back_what_a_round_did_not_use_and_goes_on_where_it_was():
    class Blocks:
        def __init__(self):
            self.at = 0

        def seek(self, row):
            self.at = row

        def __iter__(self):
            for low in range(self.at, N, 4):
                yield X[low : low + 4], Y[low : low + 4]

    cursor = Cursor(StreamSource(Blocks()), GRID, seed=5)
    first = [block.start for block in read_all(cursor, KEEP, {}, 0)]
    cursor.finished(KEEP, None, None)
    assert first == [0, 3, 6]
    assert [block.X[0, 0] / 2 for block in read_all(cursor, SAME, {}, 1)] == [0, 3, 6]
    assert cursor.rows_of(SAME) == 7
    list(read_all(cursor, KEEP, {}, 2))
    cursor.step_back()
    assert (cursor.position, cursor.batch) == (7, (0, 7))
    assert [block.X[0, 0] / 2 for block in read_all(cursor, KEEP, {}, 2)] == [7, 10, 13]
    with pytest.raises(SourceError, match="a pass over all rows"):
        list(read_all(cursor, ALL, {}, 3))
    cursor.resume(9, 4, (0, 4))
    assert (cursor.seed, cursor.position, cursor.batch, cursor.seen) == (9, 4, (4, 4), 7)
    assert [block.start for block in read_all(cursor, BATCH, {}, 3)] == [4, 7, 10]
    assert cursor.kept.X[0, 0] / 2 == 4
    with pytest.raises(SourceError, match="nothing was read before"):
        Cursor(StreamSource(iter([X[:3]])), GRID, seed=0)._read((0, 3), SAME)


def test_a_resumed_table_keeps_its_batch():
    cursor = Cursor(open_source(X), GRID, seed=5, position=2)
    assert (cursor.begin, cursor.checked, cursor.seen, cursor.batch) == (2, 2, 2, (2, 2))
    cursor.resume(8, 14, (7, 14))
    assert (cursor.seed, cursor.position, cursor.batch, cursor.seen) == (8, 14, (7, 14), 14)
    assert [block.start for block in read_all(cursor, SAME, {}, 0)] == [7, 10, 13]
    cursor.step_back()
    assert (cursor.position, cursor.batch) == (14, (7, 14))


FOLLOWING = {
    "a pass starts over": (ALL, (15, 18), 0, [(18, 20), *[(i, min(i + 3, 20)) for i in range(0, 20, 3)]]),
    "the next batch": (BATCH, (0, 3), 7, [(3, 6), (6, 7), (7, 10), (10, 13), (13, 14)]),
    "a batch to look at again": (KEEP, (0, 3), 7, [(3, 6), (6, 7), (7, 10), (10, 13), (13, 14)]),
    "after a second look": (SAME, (0, 3), 7, [(3, 6), (6, 7), (7, 10), (10, 13), (13, 14)]),
    "the last batch": (BATCH, (17, 20), 20, []),
    "from the last to the first": (WRAP, (17, 20), 20, [(0, 3), (3, 6), (6, 7)]),
}  # fmt: skip


@pytest.mark.parametrize("case", FOLLOWING)
def test_what_is_fetched_ahead(case, tmp_path):
    step, span, position, expected = FOLLOWING[case]
    cursor = Cursor(opened("file", tmp_path), GRID, seed=0)
    cursor.position, cursor.batch = position, (14 if position == N else 0, position)
    assert list(cursor._following(span, step)) == expected


def test_a_batch_too_large_to_keep_is_not_guessed_at(tmp_path, monkeypatch):
    cursor = Cursor(opened("file", tmp_path), GRID, seed=0)
    cursor.batch = (0, 7)
    monkeypatch.setattr(cursors, "KEPT_BYTES", 7 * 16)
    assert cursor._holds(KEEP)
    assert not cursor._holds(BATCH)
    assert not cursor._holds(SAME)
    monkeypatch.setattr(cursors, "KEPT_BYTES", 7 * 16 - 1)
    assert not cursor._holds(KEEP)
    assert list(cursor._following((0, 3), KEEP)) == [(3, 6), (6, 7)]


@pytest.mark.parametrize(("kept", "reads"), [(5 * 16, 1), (5 * 16 - 1, 2)])
def test_a_sample_is_gathered_once_where_it_may_be_kept(kept, reads, monkeypatch):
    source, taken = open_source(X), []
    take = source.take
    monkeypatch.setattr(source, "take", lambda ids: taken.append(ids.tolist()) or take(ids))
    monkeypatch.setattr(cursors, "KEPT_BYTES", kept)
    cursor = Cursor(source, GRID, seed=0)
    for number in range(2):
        assert [block.ids.tolist() for block in read_all(cursor, TAKE, {}, number)] == [[1, 4, 5], [9, 19]]
    assert taken == [[1, 4, 5], [9, 19]] * reads
    other = a(Take(np.array([2, 3])))
    assert [block.X[:, 0].tolist() for block in read_all(cursor, other, {}, 2)] == [[4.0, 6.0]]


@pytest.mark.parametrize(("block_bytes", "depth"), [(0, 100), (25, 4), (26, 3), (50, 2), (10**9, 2)])
def test_as_much_is_fetched_ahead_as_memory_allows(block_bytes, depth, monkeypatch):
    monkeypatch.setattr(read_ahead, "AHEAD_BYTES", 100)
    with ExitStack() as stack:
        reader = ReadAhead(open_source(X), block_bytes, stack)
        reader.read((0, 1), [(i, i + 1) for i in range(1, N)] * 6)
        assert len(reader._coming) == min(depth, N - 1)
        assert min(reader._coming) == (1, 2)
        assert reader.read((1, 2), []).X.tolist() == X[1:2].tolist()
        kept = len(reader._coming)
        assert reader.read((9, 12), []).X.tolist() == X[9:12].tolist()  # wasn't expected
        assert kept == min(depth, N - 1) - 1
        assert reader._coming == {}
    with pytest.raises(RuntimeError, match="shutdown"):
        reader.read((0, 1), [])


# What the loop tells others.


@record
class Steps:
    at: int = 0
    change: float = 1.0


@record
class Scripted:
    """Rounds by name, and the changes that iterations report."""

    rounds: tuple[str, ...]
    changes: tuple[float, ...] = ()
    closing: tuple[str, ...] = ()

    def init(self, info, seed):
        return Steps()

    def next_round(self, state):
        """The rounds, then the end; after ``finish`` the closing ones, then the end again."""
        name = (*self.rounds, "end", *self.closing, "end")[state.at]
        return NAMED[name] if name in NAMED else Done("stalled", "nothing is left to do")

    def finish(self, state):
        return replace(state, at=len(self.rounds) + 1)

    def measure(self, state):
        return {"change": self.changes[state.at - 1]} if self.changes else {}


def on(state, stats):
    return replace(state, at=state.at + 1)


def writing(algorithm, state, block):
    return block.n_rows, {"c": block.X[:, 0] * 1.0}


NAMED = {
    "pass": Round(nothing, All(), "pass", iteration=True, then=on),
    "look": Round(nothing, All(), "look", then=on),
    "batch": Round(nothing, Next(400), "batch", iteration=True, then=on),
    "again": Round(nothing, Same(), "again", iteration=True, then=on),
    "write": Round(writing, All(), "write", writes=("c",), then=on),
    "sample": Round(nothing, Take(np.array([0, 700])), "sample", iteration=True, then=on),
}
WIDE = np.ones((600, 1024))  # blocks of 256 rows: three


class Told:
    """All that progress hears."""

    def __init__(self, stop_at=None):
        self.heard: list[Any] = []
        self.stop_at = stop_at

    def begin(self, plan, max_iter):
        self.heard.append(("begin", plan, max_iter))

    def round(self, name, share):
        self.heard.append((name, round(share, 3)))

    def iteration(self, n_iter, measures):
        self.heard.append((n_iter, dict(measures)))
        return n_iter == self.stop_at

    def end(self, outcome):
        self.heard.append(("end", outcome))


PLAN = "600 rows x 1,024 features, float64: blocks of 256 rows, {} thread(s), up to"
THIRDS = [0.333, 0.667, 1.0]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_hears_of_every_block_iteration_and_the_end(n_jobs):
    told = Told()
    script = Scripted(("look", "pass", "batch", "again"), (0.0, 0.5, 0.25, 0.125), ("look",))
    result = run(script, open_source(WIDE), Settings(progress=told, n_jobs=n_jobs, max_iter=9, tol=1e-9))
    begin, *rest = told.heard
    assert (begin[0], begin[2]) == ("begin", 9)
    assert begin[1].startswith(PLAN.format(n_jobs))
    assert rest == [
        *[("look", share) for share in THIRDS],
        *[("pass", share) for share in THIRDS],
        (1, {"change": 0.5}),
        ("batch", 0.5), ("batch", 1.0),
        (2, {"change": 0.25}),
        ("again", 0.5), ("again", 1.0),
        (3, {"change": 0.125}),
        *[("look", share) for share in THIRDS],
        ("end", "stalled: nothing is left to do (look at guarantee_; try another init or n_components, or "
                "more samples)"),
    ]  # fmt: skip
    told_of = [(row["iteration"], row["phase"], row["change"]) for row in result.history]
    assert told_of == [(1, "pass", 0.5), (2, "batch", 0.25), (3, "again", 0.125)]
    seconds = [row["seconds"] for row in result.history]
    assert 0 <= seconds[0] <= seconds[1] <= seconds[2] < 60
    assert (result.n_iter, result.n_rows_seen, result.position, result.state.at) == (3, 600, 400, 6)


def test_a_callback_ends_the_fit_after_its_iteration():
    result = run(Scripted(("pass",) * 5, (1.0,) * 5), open_source(WIDE), Settings(progress=Told(stop_at=2)))
    assert result.n_iter == 2
    assert str(result.outcome).startswith("interrupted: a callback stopped the fit (with checkpoint=")


SMALL = 1.4e-8  # below the square root of float64's rounding, and far below float32's
USED = "max_iter: all 3 iterations were used"
STILL = f"{USED}, and the factors still changed by 1"
PRECISE = "converged: the factors were precise to 1e-08 when max_iter=4 was reached"
ENDS = [
    # changes, settings, how it ends, after how many iterations
    ((1, 1, 1, 1), {"max_iter": 3}, STILL, 3),
    ((1, 1, 1, 1), {"max_iter": 2}, "max_iter: all 2 iterations were used (", 2),
    ((1, 1, 1, 1), {"max_iter": 0}, "max_iter: all 0 iterations were used (", 0),
    ((1, 1, 1, 1), {"max_iter": None}, "stalled", 4),
    ((1, 1, 1, 1), {"max_iter": 4}, "stalled", 4),
    ((1, 1e100, 1, 1), {"max_iter": 3}, f"{USED} (", 3),
    ((1, 0.99e100, 1, 1), {"max_iter": 3}, f"{STILL}e", 3),
    ((1, SMALL, SMALL, SMALL), {"max_iter": 4, "patience": 3}, "stalled", 4),
    ((1, SMALL, SMALL, SMALL, 1), {"max_iter": 4}, PRECISE, 4),
    ((1, 2 * SMALL, SMALL, SMALL, 1), {"max_iter": 4}, "max_iter: all 4", 4),
    ((1, SMALL, SMALL, SMALL, 1), {"max_iter": 3}, "max_iter: all 3", 3),
    ((1, 0.1, 0.1, 0.1, 0.1), {"tol": 0.1}, "stalled", 5),
    ((1, 0.09, 0.09, 0.09, 0.1), {"tol": 0.1}, "converged: the factors stopped changing", 4),
    ((0.09, 1, 0.09, 0.09, 0.09), {"tol": 0.1}, "converged: the factors stopped changing", 5),
    ((0.09, 0.09, 1, 1, 1), {"tol": 0.1, "patience": 2}, "converged: the factors stopped changing", 2),
    ((0.09, np.nan, 1, 1, 1), {"tol": 0.1}, "diverged", 1),
    ((0.09, 1, np.inf, 1, 1), {"tol": 0.1}, "diverged", 2),
    ((), {"max_iter": 4, "tol": 1.0}, "max_iter: all 4 iterations were used (", 4),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "settings", "end", "n_iter"), ENDS)
def test_the_rule_of_the_end(changes, settings, end, n_iter):
    script = Scripted(("pass",) * (len(changes) or 6), tuple(map(float, changes)))
    result = run(script, open_source(X), Settings(**settings))
    assert str(result.outcome).startswith(end)
    assert (result.n_iter, len(result.history)) == (n_iter, n_iter)


def test_single_precision_has_converged_where_double_has_not():
    script = Scripted(("pass",) * 5, (1e-4,) * 5)
    for dtype, kind in ((np.float32, "converged"), (np.float64, "max_iter")):
        assert run(script, open_source(X.astype(dtype)), Settings(max_iter=3)).outcome == kind


def test_every_end_says_what_it_means_and_what_to_try():
    assert [str(make_outcome(kind)) for kind in ("converged", "max_iter", "diverged", "end_of_stream")] == [
        "converged: the factors stopped changing",
        "max_iter: the factors still changed when max_iter was reached (raise max_iter, or look at history_ "
        "to see whether this is precise enough)",
        "diverged: the factors became infinite or NaN; the last finite ones were kept (rescale the data, use "
        "a smaller step, or another init)",
        "end_of_stream: the stream ended (to go on, call partial_fit with more rows)",
    ]
    own = make_outcome("converged", "exact")
    assert str(own) == "converged: exact"
    assert own == "converged"
    assert own != "max_iter"
    assert own != make_outcome("converged")
    assert own == make_outcome("converged", "exact")
    assert hash(own) == hash(make_outcome("converged"))


# Checkpoints.


@pytest.fixture
def written(monkeypatch):
    """Each checkpoint of a run: rounds, iterations, position, batch, rows looked at, columns."""
    found = []
    write = Checkpoint.write

    def noting(self, saved, columns):
        found.append(
            (saved.n_rounds, saved.n_iter, saved.position, saved.batch, saved.n_rows, sorted(columns))
        )
        assert saved.state.at == saved.n_rounds
        assert [row["iteration"] for row in saved.history] == list(range(1, saved.n_iter + 1))
        write(self, saved, columns)

    monkeypatch.setattr(Checkpoint, "write", noting)
    monkeypatch.setattr(Checkpoint, "due", property(lambda self: True))
    return found


def test_a_checkpoint_before_every_round_but_the_first_and_at_the_end(written, tmp_path):
    script = Scripted(("look", "write", "batch", "again", "batch"))
    run(script, open_source(WIDE), Settings(checkpoint=tmp_path, seed=11))
    assert written == [
        (1, 0, 0, (0, 0), 600, []),
        (2, 0, 0, (0, 0), 600, ["c"]),
        (3, 1, 400, (0, 400), 600, ["c"]),
        (4, 2, 400, (0, 400), 600, ["c"]),
        (5, 3, 600, (400, 600), 600, ["c"]),
    ]
    assert stream_position(tmp_path) == 600
    for turn, rounds in ((0, 5), (1, 4)):
        saved, meta = read_container(tmp_path / f"checkpoint-{turn}.altmin")
        assert (saved.n_rounds, saved.seed, saved.columns) == (rounds, 11, {"c": 1})
        assert set(meta) >= {"key", "numpy", "scipy"}


def test_a_state_that_rests_on_samples_is_written_with_the_digest_of_all_rows(written, tmp_path):
    script = Scripted(("batch", "sample", "batch"))
    data = np.random.default_rng(0).standard_normal((1000, 1024))
    run(script, open_source(data), Settings(checkpoint=tmp_path, seed=1))
    assert [(rounds, looked) for rounds, *_, looked, _ in written] == [(1, 400), (2, 1000), (3, 1000)]
    saved, _ = read_container(tmp_path / "checkpoint-0.altmin")
    run(script, open_source(data), Settings(checkpoint=tmp_path / "whole", seed=1, max_iter=1))
    run(Scripted(("look",)), open_source(data), Settings(checkpoint=tmp_path / "pass", seed=1))
    known, _ = read_container(tmp_path / "pass" / "checkpoint-0.altmin")
    assert saved.digest == known.digest
    assert int(known.digest, 16)
    assert len(known.digest) == 16


def test_no_checkpoint_between_a_batch_of_a_stream_and_a_second_look_at_it(written, tmp_path):
    """The rows will be gone."""
    script = Scripted(("batch", "again", "batch"))
    run(script, open_source(iter([WIDE])), Settings(checkpoint=tmp_path, seed=1))
    assert [(rounds, position) for rounds, _, position, *_ in written] == [(2, 400), (3, 600)]
    saved, _ = read_container(tmp_path / "checkpoint-1.altmin")
    assert saved.digest == "0" * 16  # of a stream none is taken


def test_a_resumed_run_reads_what_the_checkpoint_has_seen_and_then_goes_on(written, tmp_path):
    told = Told()
    script = Scripted(("batch", "look", "batch"))
    run(script, open_source(WIDE), Settings(checkpoint=tmp_path, seed=1, max_iter=1))
    assert [rounds for rounds, *_ in written] == [1]
    result = run(script, open_source(WIDE), Settings(checkpoint=tmp_path, seed=1, progress=told))
    names = [name for name, _ in told.heard[1:-1] if isinstance(name, str)]
    assert names[:2] == ["check the data"] * 2
    assert "check the data" not in names[3:]
    assert (result.n_iter, result.position, result.state.at) == (2, 600, 4)


def test_the_time_between_checkpoints_is_twenty_times_that_of_a_write(tmp_path, monkeypatch):
    ticks = count(100.0, 1.0)
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks))
    checkpoint = Checkpoint(tmp_path, "key")
    assert checkpoint.due  # the first one at once
    begin = next(ticks)
    checkpoint.write(Saved(Steps(), 1, 1, 0, (0, 0), (), {}, 0), {})
    # the write took one tick: from begin + 1 to begin + 2
    assert checkpoint._due == begin + 2 + 1 / 0.05
    waited = next(iter(i for i in range(100) if checkpoint.due))
    assert waited == 19
    checkpoint.close()


def test_columns_are_written_where_they_are_new_and_old_ones_go(tmp_path):
    checkpoint = Checkpoint(tmp_path, "key")
    names = lambda: sorted(path.name for path in tmp_path.glob("column-*"))  # noqa: E731
    saved = Saved(Steps(), 1, 1, 0, (0, 0), (), {}, 0)
    first, second, third = (np.full((4, 2), value) for value in (1.0, 2.0, 3.0))
    checkpoint.write(saved, {"c": first})
    checkpoint.write(saved, {"c": first})
    assert names() == ["column-c-1-0.altmin"]
    checkpoint.write(saved, {"c": second, "d": first})
    assert names() == ["column-c-1-0.altmin", "column-c-2-0.altmin", "column-d-1-0.altmin"]
    checkpoint.write(replace(saved, n_rounds=2), {"c": third, "d": first})
    assert names() == ["column-c-2-0.altmin", "column-c-3-0.altmin", "column-d-1-0.altmin"]
    checkpoint.close()
    again = Checkpoint(tmp_path, "key")
    found, columns = again.load()
    assert (found.n_rounds, found.columns) == (2, {"c": 3, "d": 1})
    np.testing.assert_array_equal(columns["c"], third)
    np.testing.assert_array_equal(columns["d"], first)
    again.write(replace(saved, n_rounds=3), columns)  # nothing of them is new
    assert names() == ["column-c-2-0.altmin", "column-c-3-0.altmin", "column-d-1-0.altmin"]
    rounds = [read_container(tmp_path / f"checkpoint-{turn}.altmin")[0].n_rounds for turn in (0, 1)]
    assert sorted(rounds) == [2, 3]  # the newest before it was kept
    again.close()


def test_columns_in_parts_come_back_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "_PART_BYTES", 48)
    checkpoint = Checkpoint(tmp_path, "key", in_memory=80)
    saved = Saved(Steps(), 1, 1, 0, (0, 0), (), {}, 0)
    small, large, none = np.arange(10.0), np.arange(22.0).reshape(11, 2), np.zeros((0, 3))
    checkpoint.write(saved, {"small": small, "large": large, "none": none})
    parts = {name: len(list(tmp_path.glob(f"column-{name}-1-*"))) for name in ("small", "large", "none")}
    assert parts == {"small": 2, "large": 4, "none": 1}
    checkpoint.close()
    again = Checkpoint(tmp_path, "key", in_memory=80)
    _, columns = again.load()
    for name, column in (("small", small), ("large", large), ("none", none)):
        np.testing.assert_array_equal(np.asarray(columns[name]), column)
    assert [isinstance(columns[name], DiskColumn) for name in ("small", "large")] == [False, True]
    again.close()
    rows, meta = read_container(tmp_path / "column-large-1-1.altmin")
    assert (rows.tolist(), meta["rows"], meta["parts"]) == (large[3:6].tolist(), 11, 4)
    for wrong, reason in (
        (rows[:, :1], "is no part of its column"),
        (rows.astype("f4"), "is no part of its column"),
        (np.ones((10, 2)), "is no part of its column"),
        (rows[:1], "2 rows of its column are missing"),
    ):
        write_container(tmp_path / "column-large-1-1.altmin", wrong, meta)
        damaged = Checkpoint(tmp_path, "key")
        with pytest.raises(ValueError, match=reason):
            damaged.load()
        damaged.close()
    (tmp_path / "column-large-1-1.altmin").unlink()
    damaged = Checkpoint(tmp_path, "key")
    with pytest.raises(ValueError, match=r"column-large-1-1.altmin is missing"):
        damaged.load()
    damaged.close()


@pytest.mark.parametrize("in_memory", [1 << 20, 159])
def test_a_column_is_what_was_written_wherever_it_lives(in_memory):
    writer = ColumnWriter(("a", "b"), 10, in_memory)
    whole = {"a": np.arange(20.0).reshape(10, 2), "b": np.arange(10, dtype="f4")}
    for low, high in ((0, 3), (3, 3), (3, 9), (9, 10)):
        writer.write({name: part[low:high] for name, part in whole.items()})
    found = writer.result()
    assert isinstance(found["a"], DiskColumn) == (in_memory == 159)
    assert isinstance(found["b"], np.ndarray)
    for name, column in found.items():
        assert (len(column), column.dtype, column.shape) == (10, whole[name].dtype, whole[name].shape)
        np.testing.assert_array_equal(np.asarray(column), whole[name])
        np.testing.assert_array_equal(column[4:7], whole[name][4:7])
    with pytest.raises(ValueError, match="read-only"):
        found["b"][0] = 1
    with pytest.raises(ValueError, match=r"declares columns \('a', 'b'\), its map wrote \('a',\)"):
        writer.write({"a": whole["a"]})
    assert not isinstance(ColumnWriter(("a",), 10, 160)._allocate((10, 2), np.dtype("f8")), DiskColumn)


# Where rounds and results are computed.


@pytest.mark.parametrize(
    ("chosen", "active", "on_workers", "replayable", "where"),
    [
        (None, None, False, True, None),
        ("told", None, False, True, "told"),
        (None, "there", False, True, None),  # a cluster that happens to be there is nobody's wish
        (None, "there", True, True, "there"),
        ("told", "there", True, True, "told"),
        ("told", "there", True, False, None),
    ],
)
def test_rounds_run_where_the_rows_are_or_where_the_user_says(
    chosen, active, on_workers, replayable, where, monkeypatch
):
    source = open_source(X)
    monkeypatch.setattr(Source, "on_workers", on_workers)
    monkeypatch.setattr(Source, "replayable", replayable)
    monkeypatch.setattr(backends, "chosen_client", lambda: chosen)
    monkeypatch.setattr(backends, "active_client", lambda: active)
    monkeypatch.setattr(backends, "DaskRounds", lambda plan, cursor, source, client, local: client)
    plan = make_plan(source.info, 1)
    with ExitStack() as stack:
        found = backends.choose_backend(plan, Cursor(source, GRID, 0), source, stack)
    assert isinstance(found, LocalRounds) if where is None else found == where


def test_the_client_told_is_told_within_its_context_alone():
    assert dask_client.chosen_client() is None
    with dask_client.on_cluster("one"):
        assert dask_client.chosen_client() == "one"
        with dask_client.on_cluster("two"):
            assert dask_client.chosen_client() == "two"
        assert dask_client.chosen_client() == "one"
    assert dask_client.chosen_client() is None


@pytest.mark.parametrize("way", ["array", "file"])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_results_of_rows_are_made_in_as_many_threads_on_one_blas_thread_each(
    way, n_jobs, tmp_path, monkeypatch
):
    made, limits, pools = [], [], []
    pool, reader = side_by_side.ThreadPoolExecutor, row_maps.ReadAhead
    monkeypatch.setattr(side_by_side, "ThreadPoolExecutor", lambda n: pools.append(n) or pool(n))
    monkeypatch.setattr(
        row_maps, "ReadAhead", lambda source, size, stack: made.append(size) or reader(source, size, stack)
    )
    limited = row_maps.one_thread
    monkeypatch.setattr(row_maps, "one_thread", lambda: limits.append(1) or limited())
    rows = row_maps.map_rows(lambda block: block.X * 2 + block.start, opened(way, tmp_path), n_jobs)
    np.testing.assert_array_equal(rows, 2 * X)
    assert pools == ([2] if n_jobs == 3 else [])  # beside the calling one
    assert limits == [1]
    assert made == ([8192 * 16] if way == "file" else [])


def test_results_of_a_stream_come_block_by_block():
    source = open_source(iter([X[:9], X[9:]]))
    parts = list(row_maps.map_rows(lambda block: block.X[:, :1] + block.start, source, 1))
    assert [len(part) for part in parts] == [N]
    bad = X.copy()
    bad[12, 1] = np.nan
    with pytest.raises(SourceError, match="row 12, column 1"):
        row_maps.map_rows(lambda block: block.X, open_source(bad), 1)
    assert np.isnan(row_maps.map_rows(lambda block: block.X, open_source(bad), 1, holes=True)[12, 1])
    with pytest.raises(SourceError, match="too large"):
        row_maps.map_rows(lambda block: block.X, open_source(X * 1e100), 1, power=4)
    assert len(row_maps.collect_rows(lambda block: block.X, open_source(X), 1, n_rows=7)) == 7
    assert len(row_maps.collect_rows(lambda block: block.X, open_source(X), 1, n_rows=70)) == N


@pytest.mark.parametrize("cuts", [[0, 20], [0, 1, 5, 13, 20], [0, 10, 20]])
def test_any_part_of_a_source_that_is_cut_for_another_process(cuts):
    pieces = [Table(X[i:j], Y[i:j]) for i, j in pairwise(cuts)]
    source = Source(pieces, np.dtype("f8"))
    for start in range(N):
        for stop in range(start + 1, N + 1):
            for part in (source.cut(start, stop).read(0, stop - start), source.read(start, stop)):
                np.testing.assert_array_equal(part.X, X[start:stop])
                np.testing.assert_array_equal(part.y, Y[start:stop])
    overlapping = sum(low < 13 and high > 5 for low, high in pairwise(cuts))
    assert len(source.cut(5, 13).pieces) == overlapping
