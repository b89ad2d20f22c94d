"""What the engine does to rows at the edges: empty blocks, odd layouts, windows, streams; threads."""

import struct
import threading
import zipfile
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster  # noqa: F401  (loads OpenMP)
from threadpoolctl import threadpool_info, threadpool_limits

from altmin.contract import All, Block, Done, Info, Round, record
from altmin.engine import Settings, SourceError, checks, open_source, run, threads
from altmin.engine.checkpoint import Checkpoint, CheckpointError, Saved
from altmin.engine.columns import IN_MEMORY_BYTES
from altmin.engine.cursor import Cursor
from altmin.engine.plan import BESIDE_FILES_BYTES, KEPT_BYTES, row_bytes
from altmin.engine.sources import Table, clean_rows
from altmin.engine.threads import granted_threads, one_thread
from altmin.io.container import ContainerError, read_container, write_container
from altmin.io.records import flatten, restore

F4, F8 = np.dtype("f4"), np.dtype("f8")


@pytest.mark.parametrize("dtype", [F4, F8])
def test_a_block_without_rows_has_nothing_to_object_to(dtype):
    empty = np.zeros((0, 3), dtype)
    for parts in ({}, {"y": empty[:, 0]}, {"weight": empty[:, 0]}, {"second": empty}):
        assert checks.check_values(Block(0, 0, empty, **parts), power=2).tolist() == [0.0, 0.0]
    assert checks.check_values(Block(0, 0, sp.csr_array((4, 3), dtype=dtype)), power=2).tolist() == [0.0, 0.0]


def test_weights_say_nothing_about_the_size_of_the_data():
    block = Block(0, 0, np.full((3, 2), 2.0), np.full(3, 5.0), np.full(3, 1e9))
    largest = checks.check_values(block, power=4)
    assert largest[0] == pytest.approx(2.0)
    assert largest[1] == pytest.approx(5.0)


@pytest.mark.parametrize("dtype", [F4, F8])
def test_rows_have_one_layout_and_one_dtype(dtype):
    X = np.arange(24, dtype=np.int32).reshape(4, 6)
    for given in (X, np.asfortranarray(X), X[:, ::2], X.astype("f4"), X > 3, X.astype(">f8")):
        rows = clean_rows(given, dtype)
        assert rows.dtype == dtype
        assert rows.flags.c_contiguous
        assert rows.flags.aligned
        np.testing.assert_array_equal(rows, given)
    for y in (np.arange(4), np.arange(8.0)[::2], np.array([True, False])):
        cleaned = clean_rows(y, dtype)
        assert cleaned.dtype == dtype
        assert cleaned.flags.c_contiguous
    labels = np.array(["a", "b"])
    assert clean_rows(labels, dtype) is labels


def test_sparse_rows_are_sorted_and_aligned():
    odd = np.frombuffer(b"x" + np.array([1.0, 2.0, 3.0]).tobytes(), dtype=np.uint8)[1:].view(F8)
    assert not odd.flags.aligned
    given = sp.csr_array((odd, np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    rows = clean_rows(given, F8)
    assert rows.data.flags.aligned
    assert rows.has_sorted_indices
    assert rows.toarray().tolist() == [[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]]
    assert clean_rows(given, F4).dtype == F4


def test_columns_stay_in_memory_unless_the_rows_are_on_disk(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((5, 2)))
    assert Cursor(open_source(np.ones((5, 2))), 256, 0, 0).column_bytes == IN_MEMORY_BYTES
    assert Cursor(open_source(tmp_path / "x.npy"), 256, 0, 0).column_bytes == BESIDE_FILES_BYTES
    assert IN_MEMORY_BYTES > BESIDE_FILES_BYTES
    assert KEPT_BYTES > BESIDE_FILES_BYTES


@pytest.mark.parametrize("cuts", [(0, 7), (0, 3, 7), (0, 1, 2, 7), (0, 3, 3, 7)])
def test_any_window_of_any_pieces(cuts):
    """Read, cut and taken: the rows that were asked for, with all that belongs to them."""
    X, y, w = np.arange(14.0).reshape(7, 2), np.arange(7.0) * 10, np.arange(7.0) + 1
    pieces = [X[i:j] for i, j in pairwise(cuts)]
    source = open_source(pieces, y, w, X * 3)
    for low in range(7):
        for high in range(low + 1, 8):
            ids = np.arange(low, high)
            cut = source.cut(low, high)
            for found in (source.read(low, high), source.take(ids), cut.read(0, cut.n_rows)):
                np.testing.assert_array_equal(found.X, X[low:high])
                np.testing.assert_array_equal(found.y, y[low:high])
                np.testing.assert_array_equal(found.weight, w[low:high])
                np.testing.assert_array_equal(found.second, 3 * X[low:high])
    half = source.subset(np.array([5, 0, 3]))
    np.testing.assert_array_equal(half.read(0, 3).y, [0.0, 30.0, 50.0])
    assert (source.n_rows, half.n_rows) == (7, 3)
    assert source.info.n_rows == 7
    assert source.info.second_features == 2


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_a_stream_gives_its_rows_once_in_order_and_takes_them_back(n):
    X, y = np.arange(16.0).reshape(8, 2), np.arange(8.0)
    source = open_source((X[i : i + 3], y[i : i + 3]) for i in range(0, 8, 3))
    first = source.pull(n)
    assert source.position == n
    source.push_back(first)
    assert source.position == 0
    pulled = []
    while (rows := source.pull(n)) is not None:
        pulled.append(rows)
        assert source.position == sum(part.n_rows for part in pulled)
    assert [part.n_rows for part in pulled] == [n] * (8 // n) + ([8 % n] if 8 % n else [])
    np.testing.assert_array_equal(np.concatenate([part.X for part in pulled]), X)
    np.testing.assert_array_equal(np.concatenate([part.y for part in pulled]), y)
    assert source.pull(n) is None


def test_a_stream_whose_blocks_change_their_width_is_refused_where_they_do():
    source = open_source(iter([np.ones((2, 3)), np.ones((2, 4))]))
    with pytest.raises(SourceError, match="after row 0 has 4 features, the first one had 3"):
        source.pull(3)


def test_the_width_of_a_row_counts_both_designs_or_what_is_stored():
    assert row_bytes(Info(10, F8)) == 80
    assert row_bytes(Info(10, F4, second_features=5)) == 60
    assert row_bytes(Info(10, F8, sparse=True, row_entries=2.5)) == 30


def test_a_table_is_changed_part_by_part():
    table = Table(np.ones((2, 2)), None, np.ones(2))
    doubled = table.each(lambda part: 2 * part)
    assert (doubled.X.sum(), doubled.y, doubled.weight.sum(), doubled.second) == (8.0, None, 4.0, None)


def test_libraries_run_on_one_thread_inside_and_on_as_many_as_before_outside():
    def most():
        return max(pool["num_threads"] for pool in threadpool_info())

    with threadpool_limits(2):
        assert most() == granted_threads() == 2
        with one_thread():
            assert most() == 1
            assert granted_threads() == 2  # what the caller allowed
            with one_thread():
                assert most() == 1
            assert most() == 1
        assert most() == 2
        with pytest.raises(ZeroDivisionError), one_thread():
            raise ZeroDivisionError
        assert most() == granted_threads() == 2


def test_contexts_of_one_thread_may_end_in_any_order():
    def all_of_them():
        return {pool["user_api"]: pool["num_threads"] for pool in threadpool_info()}

    with threadpool_limits(2):
        before = all_of_them()
        assert {"blas", "openmp"} <= set(before)  # one limit of the process, one of each thread
        first, second = one_thread(), one_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert set(all_of_them().values()) == {1}
        second.__exit__(None, None, None)
        assert all_of_them() == before


def test_a_context_that_another_thread_ends_is_put_right_by_the_next_one():
    def openmp():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"}

    with threadpool_limits(2):
        left = one_thread()
        left.__enter__()
        seen = []

        def elsewhere():
            with threadpool_limits(2), one_thread():
                left.__exit__(None, None, None)
                seen.append(openmp())

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert seen == [{1}]  # the limit of the thread that ended it is its own
        with one_thread():
            assert openmp() == {1}
        assert openmp() == {2}


def test_a_record_has_its_own_name_or_a_tag():
    @record(tag="told by hand")
    class Tagged:
        a: int

    @record()
    class Bare:
        b: float = 2.0

    structure, arrays = flatten(Tagged(3))
    assert structure["type"] == "told by hand"
    assert restore(structure, arrays) == Tagged(3)
    assert flatten(Bare())[0]["type"].endswith("Bare")
    with pytest.raises(AttributeError):
        Bare().b = 3.0
    with pytest.raises(TypeError, match="two records are tagged 'told by hand'"):

        @record(tag="told by hand")
        class Other:
            c: int


def test_members_that_share_their_bytes_are_refused(tmp_path):
    """A zip whose entries lie on top of each other unfolds into more than the file has."""
    path = tmp_path / "m.altmin"
    write_container(path, {"a": np.zeros(3000), "b": np.zeros(3000)}, {})
    with zipfile.ZipFile(path) as archive:
        first = archive.getinfo("arrays/0.npy").header_offset
    data = bytearray(path.read_bytes())
    size = len(data)
    second = data.index(b"arrays/1.npy", data.index(b"PK\x01\x02")) - 46
    struct.pack_into("<I", data, second + 42, first)
    # The bytes of the second array are no longer needed: the file shrinks, what it announces doesn't.
    hole = data.index(b"PK\x03\x04", first + 4)
    end = data.index(b"PK\x01\x02")
    del data[hole:end]
    tail = data.index(b"PK\x05\x06")
    struct.pack_into("<I", data, tail + 16, hole)
    path.write_bytes(bytes(data))
    assert path.stat().st_size < size - 20_000
    with pytest.raises(ContainerError, match=r"announces \d+ bytes and has"):
        read_container(path)


@record
class Counting:
    """One pass an iteration; what it measures is given."""

    measures: dict

    def init(self, info, seed):
        return 0

    def next_round(self, state):
        return Done() if state == 3 else Round(_rows_of, All(), "count", iteration=True, then=_one_more)

    def finish(self, state):
        return state

    def measure(self, state):
        return self.measures


def _rows_of(algorithm, state, block):
    return block.n_rows


def _one_more(state, stats):
    return state + 1


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["change", "loss"])
def test_one_measure_that_is_not_finite_ends_the_fit(bad, name):
    good = {"change": 1.0, "loss": 2.0}
    ended = run(Counting(good), open_source(np.ones((4, 2))), Settings(seed=0))
    assert (ended.outcome.kind, ended.n_iter) == ("converged", 3)
    ended = run(Counting(good | {name: bad}), open_source(np.ones((4, 2))), Settings(seed=0))
    assert (ended.outcome.kind, ended.n_iter) == ("diverged", 0)


def test_a_stream_names_the_block_that_is_wrong():
    bad = np.ones((3, 2))
    bad[1, 1] = np.nan
    source = open_source(iter([np.ones((4, 2)), np.ones((2, 2)), bad]))
    with pytest.raises(SourceError, match=r"NaN at row 7, column 1 \(row 1 of block 2\)"):
        source.pull(9)


def test_files_that_are_no_checkpoints_and_columns_of_odd_sizes_are_refused(tmp_path):
    keeper = Checkpoint(tmp_path, "key")
    write_container(tmp_path / "checkpoint-0.altmin", {"a": 1}, {"key": "key"})
    with pytest.raises(CheckpointError, match="is no checkpoint"):
        keeper.load()
    saved = Saved(0, 1, 1, 0, (0, 0), (), {"c": 1}, 0)
    write_container(tmp_path / "checkpoint-0.altmin", saved, {"key": "key"})
    for meta in ({"rows": -2, "parts": 1}, {"rows": 2, "parts": -1}, {"rows": 2.0, "parts": 1}, {}):
        write_container(tmp_path / "column-c-1-0.altmin", np.ones(2), meta)
        with pytest.raises(CheckpointError, match="is no column of a checkpoint"):
            keeper.load()
    write_container(tmp_path / "column-c-1-0.altmin", np.ones(2), {"rows": 2, "parts": 1})
    assert np.asarray(keeper.load()[1]["c"][0:2]).tolist() == [1.0, 1.0]
    keeper.close()


def test_libraries_are_looked_for_again_only_where_a_module_was_imported(monkeypatch):
    import sys

    known = threads._pools()
    assert threads._pools() is known
    monkeypatch.setitem(sys.modules, "a_module_that_was_imported_since", sys)
    assert threads._pools() is not known


def test_rows_of_one_piece_are_not_copied():
    X = np.arange(30.0).reshape(10, 3)
    whole = open_source(X)
    assert np.shares_memory(whole.read(2, 5).X, whole.pieces[0].X)
    several = open_source([X[:4], X[4:]])
    assert np.shares_memory(several.read(5, 8).X, several.pieces[1].X)
    np.testing.assert_array_equal(several.read(2, 8).X, X[2:8])
