"""The cost model: fitted to runs on a LocalCluster, it predicts one that it has not seen."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import dask
import numpy as np
from distributed import Client, LocalCluster
from harness import Figure, promise
from scipy.optimize import nnls

import altmin.engine.dask_rounds as dask_rounds
from altmin import AND
from altmin.algorithms.nonnegative.and_nmf import AndNmf
from altmin_lab.cluster_cost import Machine, predict_cost

ROUNDS = 8
# n, W, D, workers; the last is predicted
RUNS = [
    (32_768, 64, 4, 1),
    (32_768, 64, 4, 2),
    (262_144, 64, 16, 1),
    (262_144, 64, 16, 2),
    (131_072, 256, 8, 1),
    (131_072, 256, 8, 2),
    (65_536, 512, 32, 2),
    (16_384, 4096, 32, 2),
    (262_144, 256, 16, 2),
]
HELD_OUT = (196_608, 192, 24, 2)


def _rows(number: int, height: int, width: int) -> Any:
    rng = np.random.default_rng(number)
    return rng.random((height, width), dtype=np.float32)


def _run(n: int, W: int, D: int, workers: int) -> dict[str, float]:
    """Median seconds of a stage, bytes of a round as they are pickled, growth of a worker."""
    sent: list[int] = []
    came: list[int] = []
    submit, result = Client.submit, dask_rounds.aligned

    def counted_submit(self: Any, call: Any, *arguments: Any, **options: Any) -> Any:
        if call is dask_rounds._together:  # the state: every worker gets it
            sent.append(len(pickle.dumps(arguments[:2])) * workers)
        return submit(self, call, *arguments, **options)

    def counted_result(tree: Any) -> Any:
        came.append(len(pickle.dumps(tree)))
        return result(tree)

    held: list[int] = []
    count = AndNmf.measure

    def last_stage(self: Any, state: Any) -> Any:
        if len(sent) == ROUNDS:  # while the data are on the workers; the last stage isn't timed
            held.append(max(client.run(_resident).values()))
        return count(self, state)

    height = n // 16
    blocks = [dask.delayed(_rows)(number, height, W) for number in range(16)]
    start = np.random.default_rng(99).random((D, W)) + 0.1
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        tiny = [dask.delayed(_rows)(number, 600, 8) for number in range(16)]
        AND(2, init=start[:2, :8], threshold=(0.1, 1.01), max_iter=2, trim=None).fit(tiny)  # imports
        before = max(client.run(_resident).values())
        dask_rounds.aligned, Client.submit, AndNmf.measure = counted_result, counted_submit, last_stage
        try:
            model = AND(D, init=start, threshold=(0.1, 1.01), max_iter=ROUNDS, trim=None).fit(blocks)
        finally:
            dask_rounds.aligned, Client.submit, AndNmf.measure = result, submit, count
        grown = held[0] - before
    stages = np.diff([row["seconds"] for row in model.history_])[:-1]
    return {
        "seconds": float(np.median(stages)),
        "wire": float(np.median(sent)) + float(np.sum(came)) / len(sent),
        "worker": float(grown),
    }


def _resident() -> int:
    with open("/proc/self/statm") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * 4096


def _terms(n: int, W: int, D: int, workers: int) -> np.ndarray:
    """What the four constants are multiplied with in a round."""
    unit = predict_cost(n, W, D, workers, 1, Machine(1.0, 1.0, 1.0, 1.0))
    return np.array(
        [unit.shares[name] * unit.seconds for name in ("round", "scheduler", "computing", "driver's link")]
    )


def fit_machine(runs: dict[tuple[int, int, int, int], float]) -> Machine:
    """Least squares of the relative errors, none of the constants negative."""
    A = np.array([_terms(*key) / seconds for key, seconds in runs.items()])
    size = np.linalg.norm(A, axis=0)
    x = nnls(A / size, np.ones(len(A)))[0] / size
    tiny = 1e-15
    return Machine(x[0], x[1], 1 / max(x[2], tiny), 1 / max(x[3], tiny))


@promise
def a_fit_costs_what_was_predicted() -> Iterator[Figure]:
    """The cost model, fitted to LocalCluster runs, predicts a held-out one within 30 %."""
    measured = {key: _run(*key) for key in [*RUNS, HELD_OUT]}
    machine = fit_machine({key: measured[key]["seconds"] for key in RUNS})
    yield Figure("seconds of a round without tasks", machine.round_seconds)
    yield Figure("milliseconds of a task", 1e3 * machine.task_seconds)
    yield Figure("Gflop/s of a worker", machine.flops / 1e9)
    yield Figure("MB/s through the driver", min(machine.bandwidth, 1e12) / 1e6)
    errors = [abs(predict_cost(*key, 1, machine).seconds / measured[key]["seconds"] - 1) for key in RUNS]
    yield Figure("median relative error on the runs of the fit", float(np.median(errors)))
    held, cost = measured[HELD_OUT], predict_cost(*HELD_OUT, 1, machine)
    yield Figure("held-out run: seconds of a round", held["seconds"])
    yield Figure(
        "held-out run: relative error of the seconds", abs(cost.seconds / held["seconds"] - 1), at_most=0.3
    )
    yield Figure(
        "held-out run: relative error of the bytes on the wire",
        abs(cost.wire_bytes / held["wire"] - 1),
        at_most=0.3,
    )
    large = (262_144, 256, 16, 2)
    share = abs(predict_cost(*large, 1, machine).worker_bytes / measured[large]["worker"] - 1)
    yield Figure("268 MB on two workers: relative error of a worker's memory", share, at_most=0.3)
    far = predict_cost(10**9, 1000, 50, 1000, 1, machine)
    yield Figure("10^12 entries, 1000 workers: seconds of a round", far.seconds)
    for name, part in far.shares.items():
        yield Figure(f"10^12 entries, 1000 workers: share of the {name}", part)
    yield Figure("10^12 entries, 1000 workers: GB on a worker", far.worker_bytes / 1e9)
    yield Figure("10^12 entries, 1000 workers: MB on the driver", far.driver_bytes / 1e6)
    yield Figure("10^12 entries, 1000 workers: MB on the wire in a round", far.wire_bytes / 1e6)
