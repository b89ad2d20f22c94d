"""The cost model counts tasks as the engine cuts them, and its terms behave as they should."""

import numpy as np
import pytest

from altmin.contract import Info
from altmin.engine.plan import block_rows
from altmin_lab.cluster_cost import Machine, predict_cost

MACHINE = Machine(0.05, 1e-3, 2e10, 2e8)


@pytest.mark.parametrize("n_rows, n_workers", [(100_000, 2), (5_000_000, 3), (10**7, 40)])
def test_tasks_are_those_of_the_engine(n_rows, n_workers):
    from altmin.engine.cursor import Cursor
    from altmin.engine.dask_rounds import DaskRounds
    from altmin.engine.plan import make_plan

    info = Info(100, np.dtype(np.float32), n_rows)
    rounds = DaskRounds.__new__(DaskRounds)
    rounds._plan = make_plan(info, 1)
    rounds._cursor = Cursor(None, block_rows(info), 0)
    rounds._n_workers = n_workers
    cost = predict_cost(n_rows, 100, 10, n_workers, 1, MACHINE)
    assert cost.tasks == len(rounds._groups(0, n_rows)) <= 8 * n_workers


def test_shares_add_up_and_the_largest_is_the_bottleneck():
    cost = predict_cost(10**9, 1000, 50, 1000, 7, MACHINE)
    assert sum(cost.shares.values()) == pytest.approx(1)
    assert cost.rounds == 7
    assert cost.shares[cost.bottleneck] == max(cost.shares.values())
    once = predict_cost(10**9, 1000, 50, 1000, 1, MACHINE)
    assert cost.seconds == pytest.approx(7 * once.seconds)
    assert cost.driver_bytes == once.driver_bytes < 1e8


def test_more_workers_hold_less_and_compute_faster():
    few, many = (predict_cost(10**8, 500, 20, workers, 1, MACHINE) for workers in (4, 64))
    assert many.worker_bytes < few.worker_bytes / 10
    assert many.seconds < few.seconds
    assert many.wire_bytes > few.wire_bytes
