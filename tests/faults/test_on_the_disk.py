"""What is on the disk at each moment, what is held open, and how often a piece is read."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from altmin.engine import open_source
from altmin.engine.checkpoint import Checkpoint, Saved
from altmin.io import container, sparse_tables, tables
from altmin.io.container import read_container, write_container

POSIX = pytest.mark.skipif(os.name != "posix", reason="folders are synced there")


def open_files():
    return sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208


@POSIX
def test_a_container_is_whole_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    """A machine that loses power has the old file or the new one: data, then the name, then the folder."""
    events, path = [], tmp_path / "x.altmin"
    sync, replace = os.fsync, container.Path.replace

    def synced(handle):
        here = os.fstat(handle)
        events.append("folder" if os.path.samestat(here, tmp_path.stat()) else here.st_size)
        return sync(handle)

    def renamed(file, target):
        events.append("named")
        return replace(file, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(container.Path, "replace", renamed)
    write_container(path, {"a": np.arange(50.0)}, {"b": 1})
    assert events == [path.stat().st_size, "named", "folder"]
    assert [file.name for file in tmp_path.iterdir()] == ["x.altmin"]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are not listed there")
def test_nothing_stays_open(tmp_path):
    path = tmp_path / "x.altmin"
    before = open_files()
    write_container(path, {"a": np.arange(5.0)}, {})
    read_container(path)
    container.read_meta(path)
    kept = Checkpoint(tmp_path / "folder", "k")
    kept.write(Saved({"a": 1}, 1, 1, 0, (0, 0), (), {}, 0), {"z": np.ones((3, 2))})
    kept.load()
    kept.close()
    assert open_files() == before
    np.save(tmp_path / "x.npy", np.ones((5, 2)))
    source = open_source(str(tmp_path / "x.npy"))
    assert len(open_files()) == len(before) + 1
    del source
    assert open_files() == before


def test_a_folder_keeps_two_checkpoints_and_the_columns_that_these_need(tmp_path):
    kept = Checkpoint(tmp_path, "k")
    columns = [{"z": np.full((4, 2), float(turn)), "same": np.ones(3)} for turn in range(5)]
    for turn in range(5):
        columns[turn]["same"] = columns[0]["same"]
        saved = Saved({"turn": turn}, turn, turn, 0, (0, 0), (), {}, 0)
        kept.write(saved, columns[turn])
        kept.close()
        kept, found = Checkpoint(tmp_path, "k"), None
        found, read = kept.load()
        assert found.state == {"turn": turn}
        np.testing.assert_array_equal(np.asarray(read["z"][:]), columns[turn]["z"])
        kept.close()
        kept = Checkpoint(tmp_path, "k")
        kept.load()
    kept.close()
    names = sorted(file.name for file in tmp_path.iterdir() if file.suffix == ".altmin")
    assert names[:2] == ["checkpoint-0.altmin", "checkpoint-1.altmin"]
    versions = {int(name.split("-")[2]) for name in names if name.startswith("column-z")}
    assert len(versions) == 2 and max(versions) - min(versions) == 1
    older, newest = sorted(saved.n_rounds for saved in (read_container(tmp_path / n)[0] for n in names[:2]))
    assert (older, newest) == (3, 4)
    # the older one is still whole: it is what is left where the newest is damaged
    newest_file = max(names[:2], key=lambda n: read_container(tmp_path / n)[0].n_rounds)
    (tmp_path / newest_file).write_bytes(b"PK\x03\x04 torn")
    again = Checkpoint(tmp_path, "k")
    found, read = again.load()
    assert found.state == {"turn": 3}
    np.testing.assert_array_equal(np.asarray(read["z"][:]), columns[3]["z"])
    again.close()


def test_two_pieces_of_a_sparse_table_are_kept_the_last_ones_used(tmp_path, monkeypatch):
    pieces = []
    for number in range(3):
        sp.save_npz(tmp_path / f"{number}.npz", sp.csr_array(np.eye(4) * (number + 1)), compressed=False)
        pieces.append(sparse_tables.SparseRows(tmp_path / f"{number}.npz"))
    loads, load = [], sparse_tables.SparseRows._load
    monkeypatch.setattr(
        sparse_tables.SparseRows, "_load", lambda piece: loads.append(pieces.index(piece)) or load(piece)
    )
    for number in (0, 1, 0, 1, 1, 2, 1, 0, 1, 2):
        assert pieces[number].rows(1, 2).sum() == number + 1
    assert loads == [0, 1, 2, 0, 2]  # the one that was used longest ago goes
    held = len(sparse_tables.SparseRows._held)
    del pieces[1:]
    assert len(sparse_tables.SparseRows._held) == held - 2


@pytest.mark.parametrize("chunks", [(1, 3), (2, 2)])
def test_many_chunks_that_somebody_wrote_are_read(chunks, tmp_path):
    module = pytest.importorskip("zarr", reason="zarr is not installed")
    X = np.random.default_rng(0).random((1101, 3))
    array = module.create_array(str(tmp_path / "x.zarr"), shape=X.shape, chunks=chunks, dtype="f8")
    array[:] = X
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        rows = tables._open_zarr(tmp_path / "x.zarr")
    np.testing.assert_array_equal(rows.rows(1000, 1101), X[1000:])
    along = [str(one.message) for one in heard if "chunked along columns" in str(one.message)]
    assert bool(along) == (chunks[1] < 3)
    assert not along or "(chunks=(2, 3))" in along[0]


def test_a_file_of_no_bytes_is_empty_and_other_files_are_what_they_are(tmp_path):
    path = tmp_path / "x"
    told = {
        b"": "empty",
        b"\x80\x04K\x01.": "a pickle",
        b"PK\x03\x04x": "a truncated zip file",
        b"hi": "no zip",
    }
    for data, what in told.items():
        path.write_bytes(data)
        assert container._what_is(path).startswith(what)
        with pytest.raises(container.ContainerError, match=what):
            read_container(path)


def test_looking_for_a_zarr_that_is_not_there_makes_none(tmp_path):
    pytest.importorskip("zarr", reason="zarr is not installed")
    with pytest.raises(tables.TableError, match="is not a readable zarr array"):
        tables._open_zarr(tmp_path / "gone.zarr")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("n_rows", [0, 5])
def test_a_parquet_file_without_row_groups_has_columns_and_no_rows(n_rows, tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import pyarrow.parquet as pq

    schema = pa.schema([("a", pa.float64()), ("b", pa.float64())])
    with pq.ParquetWriter(tmp_path / "x.parquet", schema) as writer:
        if n_rows:
            writer.write_table(pa.table({"a": np.arange(5.0), "b": np.ones(5)}, schema=schema))
    rows = tables.ParquetRows(tmp_path / "x.parquet")
    assert rows.shape == (n_rows, 2)
    assert rows.rows(0, n_rows).shape == (n_rows, 2)
