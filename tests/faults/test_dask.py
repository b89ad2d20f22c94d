"""Dask: the same bits as in memory, also where a worker dies in mid-fit."""

import asyncio
import itertools
import os
import signal
import threading
import time
from concurrent.futures import CancelledError

import numpy as np
import pytest

from altmin import AND
from altmin.datasets import make_dir
from altmin.engine import dask_rounds
from altmin.engine.dask_rounds import DaskRounds

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
    options = {"max_iter": 40, "threshold": (0.1, 1.05)}
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
def test_a_slow_worker_only_costs_time(client):
    """Stopped for two seconds (SIGSTOP): the round waits or is done elsewhere, the bits stay."""
    options = {"max_iter": 40, "threshold": (0.1, 1.05)}
    local = AND(8, **options).fit(PROBLEM.X)
    slow = next(iter(client.run(os.getpid).values()))

    def stop():
        time.sleep(0.5)
        os.kill(slow, signal.SIGSTOP)
        time.sleep(2)
        os.kill(slow, signal.SIGCONT)

    stopper = threading.Thread(target=stop)
    stopper.start()
    model = AND(8, **options).fit(lazy_problem())
    stopper.join()
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


@pytest.mark.parametrize("n_groups", [1, 7, 8, 9, 63, 64, 65, 200])
def test_sums_joined_by_workers_have_the_bits_of_the_drivers(n_groups):
    from altmin.engine.dask_rounds import join_sums
    from altmin.engine.reduce import Tree

    values = np.random.default_rng(0).standard_normal((n_groups, 5)) * 10.0 ** np.arange(-2, 3)
    driver = Tree()
    for value in values:
        driver.push(value.copy(), 3)
    runs = [[(3, value)] for value in values]
    while len(runs) > 1:
        runs = [join_sums(*runs[i : i + 8]) for i in range(0, len(runs), 8)]
    joined = Tree()
    for level, stats in runs[0]:
        joined.push(stats, level)
    np.testing.assert_array_equal(joined.result(), driver.result())


@pytest.mark.slow
def test_a_round_with_joined_sums_has_the_same_bits(client, monkeypatch):
    from altmin.engine import dask_rounds

    monkeypatch.setattr(dask_rounds, "_TO_DRIVER", 2)
    monkeypatch.setattr(dask_rounds, "_FAN_IN", 2)
    model = AND(8, max_iter=6).fit(da.from_array(PROBLEM.X, chunks=(900, 200)))
    np.testing.assert_array_equal(model.components_, AND(8, max_iter=6).fit(PROBLEM.X).components_)


def test_arrays_at_odd_addresses_give_the_same_bits():
    """What comes over a wire need not be aligned, and NumPy multiplies such arrays by another routine."""
    from altmin.algorithms.quadratic.one_pass import OnePass
    from altmin.contract import All, Round
    from altmin.engine import open_source
    from altmin.engine.dask_rounds import reduce_group
    from altmin.engine.first_look import FirstLook
    from altmin.engine.sources import Table

    def at_odd_address(array):
        moved = np.frombuffer(b"?" + array.tobytes(), np.uint8)[1:].view(array.dtype).reshape(array.shape)
        assert not moved.flags.aligned
        return moved

    def sums(map_rows, table, state):
        step = Round(map_rows, rows=All(), then=lambda state, stats: state)
        look = FirstLook(digesting=True)
        return reduce_group((machine, state, step), table, {}, (0, 0, 512), (0, 0), look)[0]

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2000, 13)), rng.standard_normal(2000)
    machine = OnePass(2)
    state = machine.init(open_source(X).info, 0)
    for _ in range(3):
        step = machine.next_round(state)
        (_, (there, digest, _)), *_ = sums(step.map, Table(at_odd_address(X), at_odd_address(y)), state)
        (_, (here, expected, _)), *_ = sums(step.map, Table(X, y), state)
        assert digest == expected
        assert str(there) == str(here)
        for name in here:
            if isinstance(here[name], np.ndarray):
                np.testing.assert_array_equal(there[name], here[name])
        state = step.then(state, here)
    moved = open_source([at_odd_address(X[:900]), X[900:]])
    assert moved.read(0, 512).X.flags.aligned


def test_delayed_blocks_may_bring_their_targets():
    import dask

    from altmin import FactorizationMachineRegressor
    from altmin.datasets import make_quadratic

    problem = make_quadratic(3000, 6, 1, random_state=0)
    cuts = [0, 700, 701, 3000]
    blocks = [
        dask.delayed((problem.X[a:b], problem.y[a:b]), traverse=False) for a, b in itertools.pairwise(cuts)
    ]
    there = FactorizationMachineRegressor(1, random_state=0, max_iter=4).fit(blocks)
    here = FactorizationMachineRegressor(1, random_state=0, max_iter=4).fit(problem.X, problem.y)
    np.testing.assert_array_equal(there.coef_, here.coef_)


def test_codes_of_a_dask_array_are_those_of_the_array():
    from altmin import ApproximateDictionaryLearning
    from altmin.datasets import make_planted_sparse

    X = make_planted_sparse(900, 16, 24, 2, 0.05, random_state=0).X
    settings = {"n_nonzero_coefs": 2, "random_state": 0, "max_iter": 3, "peeling": "sampled"}
    here = ApproximateDictionaryLearning(24, **settings).fit(X)
    there = ApproximateDictionaryLearning(24, **settings).fit(da.from_array(X, chunks=(200, 7)))
    np.testing.assert_array_equal(there.components_, here.components_)
    assert (there.codes_ != here.codes_).nnz == 0
    np.testing.assert_array_equal(there.outlier_scores_, here.outlier_scores_)


def test_results_that_were_lost_for_good_are_not_waited_for(client):
    """A gather that has begun waits for ever for what is cancelled under it."""
    rounds = DaskRounds.__new__(DaskRounds)
    rounds._client = client
    futures = [client.submit(time.sleep, seconds, pure=False) for seconds in (0.0, 30.0)]
    threading.Timer(0.5, client.cancel, ([futures[1]],)).start()
    begin = time.monotonic()
    with pytest.raises(CancelledError):
        rounds._collect(futures, lambda share: None)
    assert time.monotonic() - begin < 20


def test_a_call_that_never_ends_is_given_up(client, monkeypatch):
    """Sending to a worker that has just died."""
    monkeypatch.setattr(dask_rounds, "_SENDING_SECONDS", 0.3)

    async def never():
        await asyncio.sleep(1000)

    monkeypatch.setattr(client, "scatter", lambda *data, **options: never())
    rounds = DaskRounds.__new__(DaskRounds)
    rounds._client = client
    with pytest.raises(CancelledError):
        rounds._send(np.zeros(3))
