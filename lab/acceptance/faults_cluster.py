"""A Dask cluster that is lost under a fit: an error within the limit, and the same bits when it goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dask
import dask.array as da
from distributed import Client
from harness import Figure, promise

from altmin import AND
from altmin.datasets import make_dir
from altmin.engine.dask_watch import PATIENCE, ClusterError

LIMIT = 10.0  # seconds without workers that are allowed here
SLACK = 20.0  # for a machine that others use, too
X = make_dir(6000, 100, 8, random_state=0).X
SCHEDULER = "from distributed.cli.dask_scheduler import main; main()"
WORKER = "from distributed.cli.dask_worker import main; main()"


class Cluster:
    """A scheduler and two workers, each a process that can be killed."""

    def __init__(self, folder: Path) -> None:
        place = str(folder / "scheduler.json")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

        def start(code: str, *options: str) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-c", code, "--scheduler-file", place, "--no-dashboard", *options]
            return subprocess.Popen(command, **quiet)  # type: ignore[call-overload, no-any-return]

        self.scheduler = start(SCHEDULER, "--port", "0")
        self.workers = [start(WORKER, "--nthreads", "1", "--no-nanny") for _ in range(2)]
        self.client = Client(scheduler_file=place, timeout=60)
        self.client.wait_for_workers(2, timeout=60)

    def end(self) -> None:
        """Whatever is left of it."""
        self.client.close(timeout=2)
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


def _lose_workers(cluster: Cluster) -> None:
    for process in cluster.workers:
        os.kill(process.pid, signal.SIGKILL)


def _lose_scheduler(cluster: Cluster) -> None:
    os.kill(cluster.scheduler.pid, signal.SIGKILL)


def _restart(cluster: Cluster) -> None:
    cluster.client.restart(wait_for_workers=False)


FAULTS: dict[str, Callable[[Cluster], None]] = {
    "all workers killed": _lose_workers,
    "scheduler killed": _lose_scheduler,
    "client restarted": _restart,
}


def _model(folder: Path | None) -> Any:
    return AND(8, threshold=(0.1, 1.005), max_iter=600, checkpoint=folder, random_state=0)


@promise
def a_lost_cluster_is_an_error_within_the_limit() -> Iterator[Figure]:
    """All workers lost, scheduler killed, client restarted: an error in time, then the same bits."""
    whole = _model(None).fit(X).components_
    for name, act in FAULTS.items():
        with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
            cluster = Cluster(Path(place))
            stack.callback(cluster.end)
            stack.enter_context(dask.config.set({PATIENCE: f"{LIMIT}s"}))
            struck: list[float] = []

            def strike(act: Any = act, cluster: Any = cluster, struck: Any = struck) -> None:
                struck.append(time.monotonic())
                act(cluster)

            folder = Path(place) / "state"
            timer = threading.Timer(6.0, strike)
            timer.start()
            said, model = "", None
            try:
                model = _model(folder).fit(da.from_array(X, chunks=(900, 100)))
            except ClusterError as error:
                said = str(error)
            ended = time.monotonic()
            timer.join()
            yield Figure(f"{name}: struck while the fit ran", int(ended > struck[0]), at_least=1)
            yield Figure(f"{name}: seconds to the end of the fit", ended - struck[0], at_most=LIMIT + SLACK)
            told = model is not None or "fit again with checkpoint=" in said
            yield Figure(f"{name}: went on, or names the checkpoint", int(told), at_least=1)
            yield Figure(f"{name}: went on", int(model is not None))
            after = _model(folder).fit(X)  # without the cluster
            yield Figure(f"{name}: entries that differ", int((after.components_ != whole).sum()), at_most=0)
