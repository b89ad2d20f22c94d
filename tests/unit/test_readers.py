"""Readers of tables: any window of any format, and what is said of files that change while they are read."""

import os

import numpy as np
import pytest
import scipy.sparse as sp

from altmin.io.buffers import Buffers
from altmin.io.container import ContainerError, read_meta, write_container
from altmin.io.tables import TableError, open_tables

X = np.random.default_rng(0).standard_normal((300, 7))


def parquet(path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({f"c{i}": X[:, i] for i in range(7)}), path, row_group_size=41)


def zarr(path):
    array = pytest.importorskip("zarr").create_array(str(path), shape=X.shape, chunks=(32, 3), dtype="f8")
    array[:] = X


WRITE = {
    "x.npy": lambda path: np.save(path, X),
    "columns.npy": lambda path: np.save(path, np.asfortranarray(X)),
    "x.npz": lambda path: np.savez(path, X=X),
    "packed.npz": lambda path: np.savez_compressed(path, X=X),
    "sparse.npz": lambda path: sp.save_npz(path, sp.csr_array(X)),
    "x.parquet": parquet,
    "x.zarr": zarr,
}


def dense(rows):
    return rows.toarray() if sp.issparse(rows) else np.asarray(rows)


@pytest.mark.parametrize("name", WRITE)
def test_any_rows_in_any_order(name, tmp_path):
    WRITE[name](tmp_path / name)
    (table,) = open_tables(tmp_path / name)
    assert table.shape == X.shape
    rng = np.random.default_rng(1)
    for _ in range(12):
        low, high = sorted(rng.integers(0, 301, 2))
        np.testing.assert_array_equal(dense(table[int(low) : int(high)]), X[low:high])
    ids = np.array([0, 1, 5, 6, 7, 41, 82, 299])
    np.testing.assert_array_equal(dense(table[ids]), X[ids])
    np.testing.assert_array_equal(dense(table[np.array([], dtype=np.intp)]), X[:0])
    np.testing.assert_array_equal(dense(table[290:900]), X[290:])
    np.testing.assert_array_equal(dense(table[200:100]), X[:0])


@pytest.mark.parametrize("name", ["x.npy", "packed.npz", "x.parquet"])
def test_windows_are_opened_where_they_are_read(name, tmp_path):
    WRITE[name](tmp_path / name)
    (table,) = open_tables(tmp_path / name)
    window = table.window(slice(100, 250))
    assert window.shape == (150, 7)
    np.testing.assert_array_equal(window[20:60], X[120:160])
    with pytest.raises(IndexError, match="no steps"):
        table[::2]
    np.save(tmp_path / "x.npy", X[:280])
    if name == "x.npy":
        with pytest.raises(TableError, match=r"has the shape \(280, 7\) now, it had \(300, 7\)"):
            window[0:5]
    (tmp_path / name).unlink()
    with pytest.raises(TableError, match=r"there is no file.*a worker of the cluster reads it"):
        window[0:5]


def test_a_file_that_shrinks_is_told_of(tmp_path):
    np.save(tmp_path / "x.npy", X)
    (table,) = open_tables(tmp_path / "x.npy")
    os.truncate(tmp_path / "x.npy", 128 + 8 * 7 * 299 + 8)
    np.testing.assert_array_equal(table[0:299], X[:299])
    with pytest.raises(TableError, match="ends 48 bytes too early"):
        table[290:300]
    with pytest.raises(TableError, match="truncated: 16928 bytes are announced"):
        open_tables(tmp_path / "x.npy")


@pytest.mark.parametrize(
    ("shape", "reason"), [([300, 7, 1], "its shape"), ([-300, 7], "its shape"), ([3.0, 7.0], "its shape")]
)
def test_sparse_files_announce_a_shape(shape, reason, tmp_path):
    S = sp.csr_array(X)
    parts = {"data": S.data, "indices": S.indices, "indptr": S.indptr, "format": b"csr", "shape": shape}
    np.savez(tmp_path / "s.npz", **parts)
    with pytest.raises(TableError, match=reason):
        open_tables(tmp_path / "s.npz")
    np.savez(tmp_path / "t.npz", **{**parts, "shape": [301, 7]})
    (table,) = open_tables(tmp_path / "t.npz")
    with pytest.raises(TableError, match="damaged sparse matrix"):
        table[0:3]


@pytest.mark.parametrize("tree", [(1, 2), {"a": np.arange(3)}])
def test_facts_are_read_without_the_arrays(tree, tmp_path):
    write_container(tmp_path / "c.altmin", tree, {"kind": "test"})
    assert read_meta(tmp_path / "c.altmin") == {"kind": "test"}
    write_container(tmp_path / "c.altmin", tree, ["no", "table"])
    with pytest.raises(ContainerError, match="its facts are no table"):
        read_meta(tmp_path / "c.altmin")
    assert list(tmp_path.iterdir()) == [tmp_path / "c.altmin"]


def test_errors_are_one_line():
    assert str(ContainerError("two\nlines   and  spaces")) == "two lines and spaces"


def test_spare_memory_serves_arrays_of_half_its_size_and_no_smaller():
    buffers = Buffers()
    first = buffers.empty((1 << 14,), np.dtype("f8"))
    place = first.ctypes.data
    del first
    small = buffers.empty((1 << 13,), np.dtype("f8"))
    assert small.ctypes.data == place
    del small
    other = buffers.empty((5, 1 << 13), np.dtype("f8"))
    assert other.ctypes.data != place
    assert other.shape == (5, 1 << 13)
