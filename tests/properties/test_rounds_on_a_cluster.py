"""Every kind of round on the workers of a cluster: the bits of a run on this machine, whatever happens.

The cluster lives in threads of this process, so that it starts at once; tests/faults has real ones.
"""

import itertools
import sys
import threading
from concurrent.futures import CancelledError
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from altmin.engine import Settings, SourceError, collect_rows, dask_rounds, dask_watch, open_source, run
from altmin.engine.dask_client import on_cluster
from altmin.engine.dask_rounds import DaskRounds
from altmin.engine.dask_source import open_dask
from altmin.io.container import read_container

sys.path.insert(0, str(Path(__file__).parent))
from walk import ROUNDS, ROWS, Press, Walk, X, go, same

da = pytest.importorskip("dask.array", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
WHOLE = go()


@pytest.fixture(scope="module")
def client():
    local = {"processes": False, "n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.Client(**local) as client, pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_rounds, "_POLL_SECONDS", 0.01)
        yield client


def lazily(data=X, height=500):
    return da.from_array(data, chunks=(height, 300))


@pytest.mark.parametrize("height", [500, ROWS])
def test_a_dask_array_of_any_chunks(client, height):
    found = go(lazily(height=height))
    assert same(found.state, WHOLE.state)
    assert found.n_rows_seen == WHOLE.n_rows_seen
    assert found.position == WHOLE.position


def test_rows_that_are_here_and_rows_of_a_file(client, tmp_path):
    np.save(tmp_path / "x.npy", X)
    with on_cluster(client):
        for data in (X, tmp_path / "x.npy"):
            assert same(go(data).state, WHOLE.state)


def test_few_tasks_of_many_blocks_and_sums_that_workers_join(client, monkeypatch):
    monkeypatch.setattr(dask_rounds, "_TASKS_PER_WORKER", 1)
    monkeypatch.setattr(dask_rounds, "_TO_DRIVER", 1)
    monkeypatch.setattr(dask_rounds, "_FAN_IN", 2)
    assert same(go(lazily()).state, WHOLE.state)


@pytest.mark.parametrize(("n_blocks", "height"), [(6, 4), (64, 4), (65, 8), (128, 8), (129, 16)])
def test_tasks_are_aligned_subtrees_at_most_eight_a_worker(client, n_blocks, height, monkeypatch):
    """And as high as a block of columns, which has four blocks of rows."""
    runs = []
    made = DaskRounds.__init__
    monkeypatch.setattr(DaskRounds, "__init__", lambda self, *parts: runs.append(self) or made(self, *parts))
    go(lazily(), max_iter=1)
    rows, size = 100 + 256 * n_blocks, 256 * height
    expected = [(low, min(low + size, rows)) for low in range(100, rows, size)]
    assert runs[0]._groups(100, rows) == expected


@pytest.mark.parametrize("at", [13])
def test_stopped_there_and_resumed_here_and_the_other_way_round(client, at, tmp_path):
    for first, second, folder in ((lazily(), X, "a"), (X, lazily(), "b")):
        with suppress(KeyboardInterrupt):
            go(first, progress=Press(at), checkpoint=tmp_path / folder)
        go(first, max_iter=at // 2, checkpoint=tmp_path / folder)
        assert same(go(second, checkpoint=tmp_path / folder).state, WHOLE.state)


@pytest.mark.parametrize("row", [255, 1299])
def test_nan_is_found_at_every_place(client, row):
    bad = X.copy()
    bad[row, 1] = np.nan
    with pytest.raises(SourceError, match=f"row {row}, column 1"):
        go(lazily(bad))


@pytest.mark.parametrize("at", [2, 9])
def test_what_a_worker_took_with_it_is_made_again(client, at, monkeypatch):
    """Columns are lost before a round, as with the worker that held them; twice in a row."""
    attempt, count = DaskRounds._attempt, itertools.count(1)

    def losing(self, *arguments):
        if at <= next(count) < at + 2:
            self._columns = {}
            raise CancelledError
        return attempt(self, *arguments)

    monkeypatch.setattr(DaskRounds, "_attempt", losing)
    assert same(go(lazily()).state, WHOLE.state)


def test_losses_without_end_are_an_error_that_says_how_to_go_on(client, tmp_path, monkeypatch):
    calls = []

    def losing(self, *arguments):
        calls.append(1)
        raise CancelledError("gone")

    monkeypatch.setattr(DaskRounds, "_attempt", losing)
    with pytest.raises(dask_watch.ClusterError, match=r"lost 6 times in one round.*gone.*give checkpoint="):
        go(lazily())
    assert len(calls) == 6
    with pytest.raises(dask_watch.ClusterError, match=r"fit again with checkpoint='.*state' to go on"):
        go(lazily(), checkpoint=tmp_path / "state")


def test_columns_come_to_the_checkpoint_whole(client, tmp_path):
    go(lazily(), max_iter=2, checkpoint=tmp_path)
    rows, meta = read_container(next(tmp_path.glob("column-norms-*-0.altmin")))
    assert meta["rows"] == len(rows) == ROWS


def test_what_is_under_way_is_given_up_with_its_round(client, monkeypatch):
    cancelled, collected = [], []

    def failing(self, futures, watch):
        collected.append(futures)
        raise ZeroDivisionError

    monkeypatch.setattr(DaskRounds, "_collect", failing)
    monkeypatch.setattr(client, "cancel", cancelled.append)
    with pytest.raises(ZeroDivisionError):
        run(Writing(), open_dask(lazily()), Settings())
    keys = {future.key for future in cancelled[0]}
    assert {future.key for future in collected[0]} < keys  # the sums, and the tasks that they are made of
    assert len(keys) == 2 * len(collected[0])


class Writing(Walk):
    """Begins with the round that writes columns."""

    def next_round(self, state):
        return ROUNDS[1]


def test_a_result_that_is_lost_for_good_is_noticed_while_others_are_waited_for():
    shares = []
    rounds = DaskRounds.__new__(DaskRounds)
    rounds._client = SimpleNamespace(gather=lambda futures, asynchronous: None)
    rounds._finish = lambda call, check, keys: check() or keys

    def future(key, status):
        return SimpleNamespace(key=key, status=status, done=lambda: status == "finished")

    waiting = [future("a", "finished"), future("b", "pending")]
    assert rounds._collect(waiting, shares.append) == ["a", "b"]
    assert shares == [0.5]
    with pytest.raises(CancelledError):
        rounds._collect([*waiting, future("c", "cancelled")], shares.append)


def test_results_are_computed_where_the_rows_are(client):
    """Nothing but results travels: no call runs in the thread that asks."""
    threads = set()

    def squares(block):
        threads.add(threading.current_thread().name)
        place = np.full(block.n_rows, block.index)
        return np.column_stack([block.X[:, :3] ** 2, place, block.start + block.y])

    y = np.arange(float(ROWS))
    here = collect_rows(squares, open_source(X, y), n_jobs=1)
    assert threads == {threading.main_thread().name}
    assert here.shape == (ROWS, 5)
    threads.clear()
    np.testing.assert_array_equal(collect_rows(squares, open_dask(lazily(), y), n_jobs=1), here)
    assert threading.main_thread().name not in threads
    np.testing.assert_array_equal(
        collect_rows(squares, open_dask(lazily(), y), n_jobs=1, n_rows=300), here[:300]
    )
