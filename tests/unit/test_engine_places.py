"""Where rows live and where work is done: dask arrays without a cluster, limits of threads, and how much of
memory and time the engine may take.
"""

from contextlib import ExitStack, contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from altmin import RankOneSensing
from altmin.contract import All, Block, Done, Next, Round, Same, Take, record
from altmin.engine import (
    Settings,
    SourceError,
    checkpoint,
    columns,
    dask_rounds,
    dask_source,
    dask_watch,
    open_source,
    plan,
    run,
    sources,
    threads,
)
from altmin.engine.cursor import Cursor
from altmin.engine.dask_client import aligned
from altmin.engine.dask_source import collect_dask, is_dask, map_dask, open_dask
from altmin.engine.sources import Source, Table

dask = pytest.importorskip("dask", reason="dask is not installed")
da = pytest.importorskip("dask.array", reason="dask is not installed")
N = 20
X = np.arange(3.0 * N).reshape(N, 3)
Y = np.arange(N) * 1.0


def test_how_much_the_engine_takes():
    """What users wait for, and what they need memory for: changed on purpose, or not at all."""
    assert (sources._POLL_SECONDS, dask_rounds._POLL_SECONDS, dask_watch._PROBE_SECONDS) == (0.1, 0.2, 2.0)
    assert (dask_rounds._RETRIES, dask_rounds._SENDING_SECONDS, dask_rounds._REPLAYED) == (5, 60, 32)
    assert (checkpoint._SHARE, checkpoint._PART_BYTES) == (0.05, 8 << 20)
    assert (plan.AHEAD_BYTES, plan.KEPT_BYTES, plan.BESIDE_FILES_BYTES) == (64 << 20, 128 << 20, 32 << 20)
    assert columns.IN_MEMORY_BYTES == 2 << 30


def test_a_dask_source_knows_what_an_array_knows():
    lazy = open_dask(da.from_array(X, chunks=(6, 2)), Y, second=X[:, :2])
    here = open_source(X, Y, second=X[:, :2])
    assert lazy.info == here.info
    assert (lazy.info.second_features, lazy.info.n_rows, lazy.on_workers) == (2, N, True)
    assert open_dask(da.from_array(X, chunks=6)).info.second_features == 0
    some = np.array([1, 7])
    for part, same in ((lazy.read(3, 9), here.read(3, 9)), (lazy.take(some), here.take(some))):
        for name in ("X", "y", "second"):
            np.testing.assert_array_equal(getattr(part, name), getattr(same, name))
            assert getattr(part, name).flags.c_contiguous


def test_shapes_that_nobody_knows_are_computed_and_others_are_not():
    known = da.from_array(X, chunks=6)
    unknown = known[known[:, 0] > 8]
    assert np.isnan(unknown.shape[0])
    assert open_dask(unknown).n_rows == N - 3
    seen = []
    counted = known.map_blocks(lambda chunk: seen.append(1) or chunk, dtype=float, meta=np.zeros((0, 0)))
    assert open_dask(counted).n_rows == N
    assert seen == []  # nothing is computed before a round asks


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_delayed_blocks_with_what_is_aligned_with_them(parts):
    whole = (X, Y, Y + 1)[:parts]
    blocks = [
        dask.delayed(tuple(part[i:j] for part in whole) if parts > 1 else X[i:j])
        for i, j in ((0, 7), (7, 8), (8, N))
    ]
    assert is_dask(blocks)
    table = open_dask(blocks).read(0, N)
    for name, part in zip(("X", "y", "weight"), whole, strict=False):
        np.testing.assert_array_equal(getattr(table, name), part)
    if parts == 1:
        np.testing.assert_array_equal(open_dask(blocks, Y).read(0, N).y, Y)
    with pytest.raises(SourceError, match=r"delayed blocks have \[1, 2\] parts; they must agree"):
        open_dask([dask.delayed(X[:5]), dask.delayed((X[5:], Y[5:]))])


def test_what_a_dask_array_is_refused_for():
    lazy = da.from_array(X, chunks=6)
    assert is_dask(lazy)
    assert not is_dask([X])
    assert not is_dask([])
    for make, reason in (
        (lambda: open_dask(lazy[:0]), "0 sample"),
        (lambda: open_dask(da.ma.masked_equal(lazy, 3.0)), "masked arrays"),
        (lambda: open_dask(lazy, Y[1:]), r"y has \(19,\) rows, X has 20"),
        (lambda: open_dask(lazy, Y, Y[2:]), r"sample_weight has \(18,\) rows"),
        (lambda: open_dask(lazy, Y, 0 * Y), "zero for every row"),
        (lambda: open_dask(lazy[:, 0]), r"1 dimension\(s\)"),
    ):
        with pytest.raises(SourceError, match=reason):
            make()


@pytest.mark.parametrize("chunk", [3, 6, 14, N])
def test_results_for_dask_rows_are_lazy_or_stand_on_the_grid(chunk):
    source = open_dask(da.from_array(X, chunks=(chunk, 2)), Y)

    def where(block):
        return np.column_stack([block.X[:, :1], np.full((block.n_rows, 1), block.start)])

    lazy = map_dask(where, source)
    assert lazy.chunks[0] == source.pieces[0].X.chunks[0]
    expected = np.column_stack([X[:, 0], np.arange(N) // chunk * chunk])
    np.testing.assert_array_equal(lazy.compute(scheduler="synchronous"), expected)
    flat = map_dask(lambda block: block.X[:, 1], source)
    np.testing.assert_array_equal(flat.compute(scheduler="synchronous"), X[:, 1])
    seen = []

    def noting(block):
        seen.append((block.index, block.start, block.n_rows, float(block.y[0])))
        return block.X[:, 0]

    with dask.config.set(scheduler="synchronous"):
        parts = collect_dask(noting, source, 4, 18)
    np.testing.assert_array_equal(np.concatenate(parts), X[:18, 0])
    assert sorted(seen) == [(i, 4 * i, 4 if i < 4 else 2, 4.0 * i) for i in range(5)]


def test_arrays_at_odd_addresses_are_moved_and_others_are_not():
    raw = np.zeros(8 * 5 + 1, np.uint8)
    odd = raw[1:].view(np.float64)
    assert not odd.flags.aligned
    tree = {"a": odd, "b": (np.ones(3), 2)}
    found = aligned(tree)
    assert found["a"].flags.aligned
    np.testing.assert_array_equal(found["a"], odd)
    np.testing.assert_array_equal(found["b"][0], np.ones(3))
    fine = {"a": np.ones(3)}
    assert aligned(fine) is fine


def test_sparse_rows_of_a_file_are_sparse_and_their_entries_are_counted():
    class Stored:
        shape, dtype, sparse, nnz = (N, 3), np.dtype("f8"), True, 30

    assert Source([Table(Stored())], np.dtype("f8")).info.sparse
    assert Source([Table(Stored())], np.dtype("f8")).info.row_entries == 30 / N
    matrix = sp.csr_array(X)
    assert open_source(matrix).info.sparse
    assert open_source(matrix).info.row_entries == matrix.nnz / N
    assert not open_source(X).info.sparse
    assert open_source(X).info.row_entries == 0.0


def test_files_are_read_ahead_and_arrays_are_not(tmp_path):
    np.save(tmp_path / "x.npy", X)
    with ExitStack() as stack:
        for data, ahead in ((tmp_path / "x.npy", True), (X, False)):
            cursor = Cursor(open_source(data), 4, seed=0)
            cursor.read_ahead(stack)
            assert (cursor._reader is not None) is ahead


def test_without_libraries_there_is_one_thread(monkeypatch):
    class NoPools:
        def info(self):
            return []

    monkeypatch.setattr(threads, "_pools", NoPools)
    assert threads._count_granted() == 1


@record
class Sampling:
    def init(self, info, seed):
        return 0

    def next_round(self, state):
        return Done() if state else Round(heights, Take(np.array([2, 5])), then=add)

    def finish(self, state):
        return state

    def measure(self, state):
        return {}


def heights(algorithm, state, block):
    return block.n_rows


def add(state, stats):
    return state + stats


def test_without_a_checkpoint_a_sample_is_all_that_is_read(monkeypatch):
    source, reads = open_source(X), []
    monkeypatch.setattr(source, "read", lambda *span: reads.append(span))
    result = run(Sampling(), source, Settings(max_iter=5))
    assert result.state == 2
    assert reads == []
    assert source.take(np.array([2])).X.tolist() == X[[2]].tolist()


def test_columns_of_a_round_have_as_many_rows_as_the_round():
    writer = columns.ColumnWriter(("c",), 3)
    writer.write({"c": np.ones((2, 1))})
    writer.write({"c": np.zeros((1, 1))})
    assert writer.result()["c"].tolist() == [[1.0], [1.0], [0.0]]
    assert Block(0, 0, X).n_rows == N


@pytest.mark.parametrize("client", [None, "a client"])
def test_workers_limit_their_libraries_and_this_process_is_limited_once(client, monkeypatch):
    """Without a cluster the blocks are computed here, where the caller's limit holds."""
    limits = []

    @contextmanager
    def limited():
        limits.append(1)
        yield

    monkeypatch.setattr(dask_source, "one_thread", limited)
    monkeypatch.setattr(dask_source, "active_client", lambda: client)
    X = np.arange(30.0).reshape(10, 3)
    source = open_dask(da.from_array(X, chunks=(4, 3)))
    found = collect_dask(lambda block: block.X.sum(axis=1), source, 3, 10)
    np.testing.assert_allclose(np.concatenate(found), X.sum(axis=1))
    assert bool(limits) == (client is not None)


def test_designs_whose_products_overflow_are_refused_where_values_are_predicted():
    """A value is a product of two numbers of X: their squares have to be numbers, too."""
    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((60, 3)), rng.standard_normal((60, 3))
    model = RankOneSensing(1, max_iter=3, random_state=0).fit((U, V), U[:, 0] * V[:, 0])
    huge = U * 1e200
    with pytest.raises(SourceError, match="too large"):
        model.predict((huge, V))


@pytest.mark.parametrize(
    ("rows", "kept"),
    [(All(), False), (Next(4), False), (Next(4, keep=True), True), (Next(10**9, keep=True), False)],
)
def test_rows_of_a_file_stay_where_a_batch_is_looked_at_again(rows, kept):
    cursor, reads = Cursor(open_source(X), 4, 0), []
    cursor._reader = SimpleNamespace(
        read=lambda span, following: reads.append(span) or Table(X[slice(*span)])
    )
    step = Round(heights, rows, then=add)
    for _ in range(2):
        assert cursor._read((0, 2), step).X.tolist() == X[:2].tolist()
    assert reads == [(0, 2)] * (1 if kept else 2)
    assert list(cursor._held) == ([(0, 2)] if kept else [])


@pytest.mark.parametrize(("rows", "left"), [(All(), [0, 4, 8]), (Next(4), [4]), (Same(), [4])])
def test_parts_on_workers_stay_where_a_batch_is_looked_at_again(rows, left, monkeypatch):
    rounds = object.__new__(dask_rounds.DaskRounds)
    rounds._parts = {(low, low + 4): f"part {low}" for low in (0, 4, 8)}
    told = []
    rounds._cursor = SimpleNamespace(
        span=lambda step: (4, 8), finished=lambda *given: told.append(given[1:]), largest=np.ones(2)
    )
    rounds.look = SimpleNamespace(check_largest=lambda *given: told.append("checked"))
    rounds._source = SimpleNamespace(dtype=np.dtype("f8"))
    monkeypatch.setattr(rounds, "_surviving", lambda action, watch: (("sums", "digest", "largest"), {}))
    assert rounds.reduce(None, None, Round(heights, rows, then=add), 1, None) == "sums"
    assert [low for low, _ in rounds._parts] == left
    assert told == [("digest", "largest"), "checked"]


def test_a_fit_of_a_file_reads_ahead(tmp_path, monkeypatch):
    begun = []
    real = Cursor.read_ahead
    monkeypatch.setattr(Cursor, "read_ahead", lambda cursor, stack: begun.append(1) or real(cursor, stack))
    np.save(tmp_path / "x.npy", X)
    run(Sampling(), open_source(tmp_path / "x.npy"), Settings(max_iter=5))
    assert begun == [1]
