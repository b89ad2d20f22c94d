"""Dask: the same bits as in memory, also where a worker dies in mid-fit."""

import itertools
import os
import signal
import threading
import time

import numpy as np
import pytest

from altmin import AND
from altmin.datasets import make_dir

da = pytest.importorskip("dask.array", reason="dask is not installed")
pytest.importorskip("distributed", reason="distributed is not installed")

PROBLEM = make_dir(6000, 200, 8, random_state=0)


def lazy_problem():
    """The data made by tasks, so that a lost worker's share can be loaded again."""
    import dask

    bounds = [0, 1000, 1001, 3500, 6000]
    return [
        dask.delayed(lambda a, b: make_dir(6000, 200, 8, random_state=0).X[a:b])(a, b)
        for a, b in itertools.pairwise(bounds)
    ]


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_without_a_client_chunks_are_computed_here():
    X = da.from_array(PROBLEM.X, chunks=(1700, 70))
    model = AND(8, max_iter=5).fit(X)
    local = AND(8, max_iter=5).fit(PROBLEM.X)
    np.testing.assert_array_equal(model.components_, local.components_)
    lazy = model.transform(X)
    assert lazy.chunks[0] == X.chunks[0]
    np.testing.assert_allclose(lazy.compute(), local.transform(PROBLEM.X), atol=1e-12)


def test_bad_values_are_named_by_row():
    bad = PROBLEM.X.copy()
    bad[4321, 7] = np.nan
    with pytest.raises(ValueError, match="row 4321, column 7"):
        AND(8, max_iter=5).fit(da.from_array(bad, chunks=(1000, 200)))


@pytest.mark.slow
def test_the_same_bits_on_a_cluster(client):
    local = AND(8, max_iter=10).fit(PROBLEM.X)
    for given in (da.from_array(PROBLEM.X, chunks=(900, 50)), lazy_problem()):
        model = AND(8, max_iter=10).fit(given)
        np.testing.assert_array_equal(model.components_, local.components_)
        assert model.reconstruction_err_ == local.reconstruction_err_


@pytest.mark.slow
def test_weights_travel_with_the_rows(client):
    weight = np.random.default_rng(0).integers(0, 3, 6000).astype(float)
    local = AND(8, max_iter=5).fit(PROBLEM.X, sample_weight=weight)
    model = AND(8, max_iter=5).fit(da.from_array(PROBLEM.X, chunks=(900, 50)), sample_weight=weight)
    np.testing.assert_array_equal(model.components_, local.components_)


@pytest.mark.slow
@pytest.mark.parametrize("held_by", ["tasks", "driver"])
def test_a_killed_worker_changes_nothing(client, held_by):
    given = lazy_problem() if held_by == "tasks" else da.from_array(PROBLEM.X, chunks=(900, 200))
    options = {"max_iter": 40, "thresholds": (0.1, 1.05)}
    local = AND(8, **options).fit(PROBLEM.X)

    def kill():
        time.sleep(0.7)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    model = AND(8, **options).fit(given)
    killer.join()
    client.wait_for_workers(2)
    np.testing.assert_array_equal(model.components_, local.components_)


@pytest.mark.slow
def test_errors_on_workers_reach_the_caller(client):
    bad = PROBLEM.X.copy()
    bad[4321, 7] = np.inf
    with pytest.raises(ValueError, match="row 4321, column 7"):
        AND(8, max_iter=5).fit(da.from_array(bad, chunks=(1000, 200)))


@pytest.mark.slow
def test_a_checkpoint_moves_between_laptop_and_cluster(client, tmp_path):
    AND(8, max_iter=4, checkpoint=tmp_path).fit(PROBLEM.X)
    X = da.from_array(PROBLEM.X, chunks=(900, 200))
    model = AND(8, max_iter=12, checkpoint=tmp_path).fit(X)
    np.testing.assert_array_equal(model.components_, AND(8, max_iter=12).fit(PROBLEM.X).components_)
