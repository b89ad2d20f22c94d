"""``altmin fit --dask``: whatever can be fitted here can be fitted on a cluster, to the same bits."""

import sys

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import altmin
from altmin.datasets import make_dir

pytest.importorskip("typer", reason="the extra 'cli' is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")

X = make_dir(1500, 300, 4, random_state=0).X  # three blocks of the grid


def _parquet(path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({f"c{i}": column for i, column in enumerate(X.T)})
    pq.write_table(table, path, row_group_size=400)


def _zarr(path):
    pytest.importorskip("zarr").save_array(str(path), X)


def _folder(path):
    path.mkdir()
    np.save(path / "a.npy", X[:700])
    np.savez_compressed(path / "b.npz", X=X[700:])


WRITE = {
    "x.npy": lambda path: np.save(path, X),
    "column-ordered.npy": lambda path: np.save(path, np.asfortranarray(X)),
    "x.npz": lambda path: np.savez(path, X=X),
    "compressed.npz": lambda path: np.savez_compressed(path, X=X),
    "sparse.npz": lambda path: sp.save_npz(path, sp.csr_array(X * (X > 1e-3))),
    "x.csv": lambda path: np.savetxt(path, X, delimiter=",", fmt="%.17g"),
    "x.mtx": lambda path: scipy.io.mmwrite(path, sp.coo_array(X * (X > 1e-3))),
    "x.parquet": _parquet,
    "x.zarr": _zarr,
    "folder": _folder,
}


@pytest.fixture(scope="module")
def address():
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster:
        yield cluster.scheduler_address


def fit(monkeypatch, *words):
    from altmin.cli.app import main

    # a few rounds say as much of where they run as many
    short = ["--set", "max_iter=4", "--set", "nonnegative_components=False"]
    settings = ["-n", "4", "-q", *short, "--set", "random_state=0"]
    monkeypatch.setattr(sys, "argv", ["altmin", "fit", "AND", *map(str, words), *settings])
    with pytest.raises(SystemExit) as stopped:
        main()
    return stopped.value.code


@pytest.mark.parametrize("name", WRITE)
def test_the_same_model_on_a_cluster_as_here(name, address, tmp_path, monkeypatch):
    WRITE[name](tmp_path / name)
    monkeypatch.chdir(tmp_path)  # workers have another current folder
    ran = []
    from altmin.engine.dask_rounds import DaskRounds

    reduce = DaskRounds.reduce
    monkeypatch.setattr(DaskRounds, "reduce", lambda *given: ran.append(1) or reduce(*given))
    assert fit(monkeypatch, name, "--out", "here.altmin") == 0
    assert not ran
    assert fit(monkeypatch, name, "--out", "there.altmin", "--dask", address) == 0
    assert ran
    here, there = altmin.load("here.altmin"), altmin.load("there.altmin")
    np.testing.assert_array_equal(there.components_, here.components_)
    np.testing.assert_array_equal(there.component_scales_, here.component_scales_)
    assert there.guarantee_.to_dict() == here.guarantee_.to_dict()


def test_draws_depend_on_the_block_and_not_on_where_it_lies(address):
    """An algorithm that draws at random from each block, on a dask array."""
    da = pytest.importorskip("dask.array")
    settings = {"init": "random", "max_iter": 2, "nonnegative_components": False}
    here, another = (altmin.AND(4, **settings, random_state=seed).fit(X).components_ for seed in (3, 4))
    with distributed.Client(address):
        there = altmin.AND(4, **settings, random_state=3).fit(da.from_array(X, chunks=(600, 60)))
    np.testing.assert_array_equal(there.components_, here)
    assert not np.array_equal(another, here)


def test_what_a_worker_cannot_read_is_said(address, tmp_path, monkeypatch, capsys):
    """Files are read by the workers: one that they don't see is named."""
    from altmin.io import tables

    np.save(tmp_path / "x.npy", X)
    monkeypatch.setattr(
        tables.RowReader, "window", lambda self, rows: _elsewhere(tables.FileWindow(self, rows))
    )
    assert fit(monkeypatch, tmp_path / "x.npy", "--out", tmp_path / "m.altmin", "--dask", address) == 1
    assert "where all of them see it" in capsys.readouterr().err


def _elsewhere(window):
    window.path = window.path.with_name("gone.npy")
    return window


def test_a_scheduler_that_does_not_answer_is_said(tmp_path, monkeypatch, capsys):
    import dask

    np.save(tmp_path / "x.npy", X)
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        assert fit(monkeypatch, tmp_path / "x.npy", "--dask", "tcp://127.0.0.1:9") == 1
    assert "no scheduler answers at this address" in capsys.readouterr().err
