"""Dask: the same bits on a cluster, also where workers die; few tasks a round; lazy results."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from harness import Figure, promise

import altmin.engine.dask_rounds as dask_rounds
from altmin import (
    AND,
    ApproximateDictionaryLearning,
    CompleteDictionaryLearning,
    FactorizationMachineRegressor,
)
from altmin.datasets import make_dir, make_planted_sparse, make_quadratic, make_sparse_dictionary


@dataclass(frozen=True)
class Family:
    """An estimator, how its data are made (anywhere: by a task too), and what has to agree."""

    model: Callable[[], Any]
    make: Callable[[], tuple[Any, Any]]
    attributes: tuple[str, ...] = ("components_", "component_scales_", "reconstruction_err_")

    def fit(self, X: Any, y: Any) -> Any:
        """Fit, with a target where there is one."""
        return self.model().fit(X) if y is None else self.model().fit(X, y)


def _topics() -> tuple[Any, Any]:
    return make_dir(6000, 200, 10, random_state=0).X, None


def _sparse() -> tuple[Any, Any]:
    return make_sparse_dictionary(30_000, 16, density=0.2, random_state=0).X, None


def _quadratic() -> tuple[Any, Any]:
    problem = make_quadratic(40_000, 16, 2, noise=0.1, random_state=0)
    return problem.X, problem.y


def _planted() -> tuple[Any, Any]:
    return make_planted_sparse(12_000, 16, 24, 2, 0.05, random_state=0).X, None


MACHINE = ("coef_", "factors_", "eigenvalues_", "intercept_", "loss_")
FAMILIES = {
    "AND": Family(lambda: AND(10, max_iter=25, threshold=(0.1, 1.05)), _topics),
    "CompleteDictionaryLearning": Family(lambda: CompleteDictionaryLearning(random_state=0), _sparse),
    "FactorizationMachineRegressor": Family(
        lambda: FactorizationMachineRegressor(2, random_state=0, max_iter=15, tol=0.0),
        _quadratic,
        MACHINE,
    ),
    "ApproximateDictionaryLearning (sampled)": Family(
        lambda: ApproximateDictionaryLearning(
            24, n_nonzero_coefs=2, peeling="sampled", random_state=0, max_iter=8, tol=0.0
        ),
        _planted,
        ("components_", "component_scales_", "outlier_scores_", "reconstruction_err_"),
    ),
}


@contextlib.contextmanager
def _cluster(n_workers: int = 2) -> Iterator[Client]:
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


FOLDER = tempfile.TemporaryDirectory()


def _by_tasks(family: Family) -> list[Any]:
    """Blocks of uneven heights that tasks read from a file: a lost worker's share is read again."""
    X, y = family.make()
    path = Path(FOLDER.name) / f"{family.make.__name__}.npy"
    np.save(path, X)
    cuts = np.unique(np.concatenate([[0, 1, 700], np.arange(5000, len(X), 5000), [len(X)]]))

    def block(low: int, high: int) -> Any:
        rows = np.array(np.load(path, mmap_mode="r")[low:high])
        return rows if y is None else (rows, y[low:high])

    return [dask.delayed(block, pure=False)(int(low), int(high)) for low, high in pairwise(cuts)]


def _held_by_driver(family: Family) -> tuple[Any, Any]:
    X, y = family.make()
    return da.from_array(X, chunks=(2300, max(X.shape[1] // 2, 1))), y


def _entries_that_differ(a: Any, b: Any, names: tuple[str, ...]) -> int:
    return sum(int(np.sum(np.asarray(getattr(a, n)) != np.asarray(getattr(b, n)))) for n in names)


@promise
def the_same_bits_on_a_cluster() -> Iterator[Figure]:
    """Four families on LocalCluster(n_workers=2): the same bits as in memory on the same grid."""
    for name, family in FAMILIES.items():
        here = family.fit(*family.make())
        with _cluster():
            for held, given in {
                "dask array": _held_by_driver(family),
                "delayed blocks": (_by_tasks(family), None),
            }.items():
                there = family.fit(*given)
                differ = _entries_that_differ(here, there, family.attributes)
                yield Figure(f"{name}, {held}: entries that differ", differ, at_most=0)
    with _cluster():
        yield from _batches_of_a_file()


def _batches_of_a_file() -> Iterator[Figure]:
    """Batches are read in order from a file and from a dask array (those of an array are random rows)."""
    X, y = _quadratic()

    def model() -> FactorizationMachineRegressor:
        return FactorizationMachineRegressor(2, random_state=0, batch_size=9000, max_iter=12, tol=0.0)

    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "x.npy", X)
        here = model().fit(Path(folder) / "x.npy", y)
    there = model().fit(da.from_array(X, chunks=(7000, 16)), y)
    differ = _entries_that_differ(here, there, MACHINE)
    yield Figure("batches in order, file against dask array: entries that differ", differ, at_most=0)


def _fit_and_kill(client: Client, family: Family, given: Any, delay: float) -> tuple[Any, bool]:
    """Fit while one worker is killed after ``delay`` seconds; whether it died before the fit ended."""
    pids = list(client.run(os.getpid).values())
    victim = pids[np.random.default_rng().integers(len(pids))]
    ended = threading.Event()
    hit: list[bool] = []

    def kill() -> None:
        time.sleep(delay)
        hit.append(not ended.is_set())
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    model = family.fit(*given)
    ended.set()
    killer.join()
    return model, hit[0]


@promise
def killed_workers_change_nothing() -> Iterator[Figure]:
    """A worker killed (SIGKILL) at 10 random instants over the families: the same bits, no intervention."""
    rng = np.random.default_rng()
    counts = {"tasks": [0, 0], "driver": [0, 0]}
    wanted = {name: family.fit(*family.make()) for name, family in FAMILIES.items()}
    turn = 0
    while sum(n for n, _ in counts.values()) < 10:
        name = list(FAMILIES)[turn % len(FAMILIES)]
        held = ("tasks", "driver")[(turn // len(FAMILIES) + turn) % 2]
        family = FAMILIES[name]
        with _cluster() as client:  # its own: the kill falls on a cluster that is whole
            given = (_by_tasks(family), None) if held == "tasks" else _held_by_driver(family)
            begin = time.perf_counter()
            family.fit(*given)
            span = time.perf_counter() - begin
            model, hit = _fit_and_kill(client, family, given, rng.uniform(0.05, 0.95) * span)
        turn += hit
        if hit:
            counts[held][0] += 1
            counts[held][1] += _entries_that_differ(model, wanted[name], family.attributes) == 0
    for held, (killed, equal) in counts.items():
        where = "data read in tasks" if held == "tasks" else "data held by the driver"
        yield Figure(f"the same bits, of {killed} kills, {where}", equal, at_least=killed)


@promise
def a_grouped_round_is_cheap() -> Iterator[Figure]:
    """A round of 200 blocks in groups takes at most .4 of one with a task a block."""
    X = np.random.default_rng(0).standard_normal((200 * 8192, 2))
    with _cluster():
        seconds: dict[int, float] = {}
        for limit in (8, 10_000, 8, 10_000):  # the least of two turns each
            dask_rounds._TASKS_PER_WORKER, usual = limit, dask_rounds._TASKS_PER_WORKER
            try:
                seconds[limit] = min(seconds.get(limit, np.inf), _seconds_a_round(X))
            finally:
                dask_rounds._TASKS_PER_WORKER = usual
    yield Figure("seconds of a grouped round at 200 blocks", seconds[8])
    yield Figure("grouped against ungrouped", seconds[8] / seconds[10_000], at_most=0.4)


def _seconds_a_round(X: Any) -> float:
    model = AND(2, init=np.eye(2) + 0.1, threshold=(0.1, 1.01), max_iter=12, trim=None)
    model.fit(da.from_array(np.abs(X), chunks=(8192 * 25, 2)))
    return float(np.median(np.diff([row["seconds"] for row in model.history_])))


@promise
def results_are_lazy() -> Iterator[Figure]:
    """Predict and transform of a dask array compute nothing until asked, and then the right values."""
    for name, family in FAMILIES.items():
        X, y = family.make()
        model = family.fit(X, y)
        reads: list[int] = []

        def chunk(low: int, rows: Any = X, reads: list[int] = reads) -> Any:
            reads.append(low)
            return rows[low : low + 2000]

        blocks = [
            da.from_delayed(dask.delayed(chunk)(low), (min(2000, len(X) - low), X.shape[1]), X.dtype)
            for low in range(0, len(X), 2000)
        ]
        apply = model.predict if y is not None else model.transform
        lazy = apply(da.concatenate(blocks))
        yield Figure(f"{name}: blocks read before compute", len(reads), at_most=0)
        gap = np.abs(lazy.compute(scheduler="sync") - apply(X)).max() / np.abs(apply(X)).max()
        yield Figure(f"{name}: largest relative difference", float(gap), at_most=1e-10)
