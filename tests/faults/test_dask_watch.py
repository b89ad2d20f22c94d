"""A cluster that is gone ends a fit within a limit; what a restart forgot is submitted again."""

import asyncio
import threading
import time
from concurrent.futures import CancelledError
from types import SimpleNamespace

import pytest

dask = pytest.importorskip("dask", reason="dask is not installed")

from altmin.engine import dask_watch  # noqa: E402
from altmin.engine.dask_watch import ClusterError, ClusterWatch  # noqa: E402


@pytest.fixture
def client(monkeypatch):
    """What the watch needs of a client: a loop that runs, a status, and answers of the scheduler."""
    monkeypatch.setattr(dask_watch, "_PROBE_SECONDS", 0.01)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield SimpleNamespace(status="running", loop=SimpleNamespace(asyncio_loop=loop))
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def look_for(client, seconds, patience="0.3s"):
    with dask.config.set({dask_watch.PATIENCE: patience}):
        watch = ClusterWatch(client)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        watch.look(["a task"])
        time.sleep(0.01)


def answers(client, *given, asked=None):
    async def ask(function, keys):
        if asked is not None:
            asked.append(keys)
        return given

    client._run_on_scheduler = ask


def test_no_workers_for_too_long_is_an_error(client):
    answers(client, 0, True)
    with pytest.raises(ClusterError, match=r"no workers for .* seconds .*no-workers-timeout"):
        look_for(client, 10)


def test_a_scheduler_that_does_not_answer_is_an_error(client):
    async def never(function, keys):
        await asyncio.sleep(2)

    client._run_on_scheduler = never
    with pytest.raises(ClusterError, match="no workers"):
        look_for(client, 10)


def test_a_closed_client_is_an_error_at_once(client):
    client.status = "closed"
    with pytest.raises(ClusterError, match="closed"):
        look_for(client, 10, patience="100s")


def test_forgotten_tasks_are_noticed(client):
    answers(client, 2, False)
    with pytest.raises(CancelledError):
        look_for(client, 10, patience="100s")


def test_a_long_task_is_waited_for(client):
    asked = []
    answers(client, 2, True, asked=asked)
    look_for(client, 1.0)
    assert len(asked) > 1  # it looked, and had no reason to give up


@pytest.mark.slow
def test_a_fit_whose_workers_are_gone_says_where_it_can_go_on(tmp_path):
    distributed = pytest.importorskip("distributed")
    import numpy as np

    from altmin import AND
    from altmin.datasets import make_dir

    da = pytest.importorskip("dask.array")
    X = make_dir(6000, 200, 8, random_state=0).X
    model = AND(8, max_iter=60, threshold=(0.1, 1.02), checkpoint=str(tmp_path / "state"))
    cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster), dask.config.set({dask_watch.PATIENCE: "5s"}):
        threading.Timer(2.0, cluster.scale, (0,)).start()
        with pytest.raises(ClusterError, match="fit again with checkpoint="):
            model.fit(da.from_array(X, chunks=(900, 200)))
    here = model.fit(X)  # it goes on without the cluster
    whole = AND(8, max_iter=60, threshold=(0.1, 1.02)).fit(X)
    np.testing.assert_array_equal(here.components_, whole.components_)
