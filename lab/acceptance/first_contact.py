"""First contact: a large CSV file is read about as fast as pandas reads it; Ctrl-C at ten instants is 130."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from harness import Figure, promise

from altmin.cli.tables import read_table
from altmin.datasets import make_dir

INSTANTS = (0.2, 0.5, 0.8, 1.2, 1.6, 2.0, 2.5, 3.0, 4.0, 5.0)


def _seconds(read: Callable[[str], object], path: str) -> float:
    """The shortest of five times: the machine may be busy with something else."""
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        read(path)
        times.append(time.perf_counter() - begin)
    return min(times)


@promise
def large_csv() -> Iterator[Figure]:
    """A CSV file of 44 MB takes at most 1.5 times as long as with pandas."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.csv"
        pd.DataFrame(np.random.default_rng(0).standard_normal((48_000, 48))).to_csv(path, index=False)
        yield Figure("size of the file, MB", path.stat().st_size / 1e6, at_least=44)
        ours = _seconds(read_table, str(path))
        other = _seconds(lambda name: pd.read_csv(name).to_numpy(), str(path))
        yield Figure("seconds: altmin", ours)
        yield Figure("seconds: pandas", other)
        yield Figure("altmin / pandas", ours / other, at_most=1.5)


@promise
def ctrl_c() -> Iterator[Figure]:
    """Ctrl-C at ten instants of ``altmin fit``: always 130, never a model file."""
    wrong = left = 0
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", make_dir(2000, 60, 8, concentration=1.0, random_state=0).X)
        words = [sys.executable, "-m", "altmin", "fit", "AND", "X.npy", "-n", "8"]
        words += ["--set", "threshold=(.1, 1.001)", "--set", "max_iter=1000000"]
        for instant in INSTANTS:
            fit = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(instant)
            fit.send_signal(signal.SIGINT)
            # a signal before Python is up ends the process itself: a shell calls that 130 as well
            wrong += fit.wait(timeout=120) not in (130, -signal.SIGINT)
            left += (Path(folder) / "model.altmin").exists()
    yield Figure("instants with another exit code", wrong, at_most=0)
    yield Figure("instants after which a model file was there", left, at_most=0)
