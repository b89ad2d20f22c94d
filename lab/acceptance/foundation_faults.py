"""Same bits whatever happens: threads, cuts of the input, kill -9, Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from harness import Figure, promise

from altmin import AND
from altmin.datasets import make_dir

PROBLEM = make_dir(5000, 1000, 50, random_state=0)


def _different(a: AND, b: AND) -> int:
    return int((a.components_ != b.components_).sum() + (a.component_scales_ != b.component_scales_).sum())


@promise
def same_bits_for_threads_and_cuts() -> Iterator[Figure]:
    """Same bits for 1, 2 and 4 threads; for whole array, memmap, list of uneven blocks."""
    X = PROBLEM.X
    whole = AND(50, max_iter=20, n_jobs=1).fit(X)
    for n_jobs in (2, 4):
        other = AND(50, max_iter=20, n_jobs=n_jobs).fit(X)
        yield Figure(f"entries that differ, {n_jobs} threads", _different(whole, other), at_most=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.npy"
        np.save(path, X)
        for name, given in {
            "memmap": np.load(path, mmap_mode="r"),
            "path": path,
            "uneven blocks": [X[:7], X[7:3333], X[3333:]],
        }.items():
            other = AND(50, max_iter=20).fit(given)
            yield Figure(f"entries that differ, {name}", _different(whole, other), at_most=0)
    sparse = AND(50, max_iter=20).fit(sp.csr_array(X))
    difference = float(np.abs(sparse.components_ - whole.components_).max())
    yield Figure("largest difference, sparse against dense", difference, at_most=1e-9)


SCRIPT = """
import sys
import numpy as np
from altmin import AND
from altmin.datasets import make_dir
problem = make_dir(5000, 1000, 50, random_state=0)
model = AND(50, max_iter=150, checkpoint=sys.argv[1]).fit(problem.X)
np.save(sys.argv[2], model.components_)
"""


@promise
def killed_fits_resume() -> Iterator[Figure]:
    """A kill -9 of a checkpointed fit at 5 random instants: each resume ends in the same bits."""
    whole = AND(50, max_iter=150).fit(PROBLEM.X).components_
    rng = np.random.default_rng()
    equal = killed = 0
    while killed < 5:
        with tempfile.TemporaryDirectory() as name:
            folder, out = Path(name) / "checkpoint", Path(name) / "out.npy"
            command = [sys.executable, "-c", SCRIPT, str(folder), str(out)]
            process = subprocess.Popen(command)
            time.sleep(rng.uniform(1.5, 6.0))
            process.send_signal(signal.SIGKILL)
            process.wait()
            if out.exists():
                continue  # it was faster than we
            killed += 1
            subprocess.run(command, check=True)
            equal += bool((np.load(out) == whole).all())
    yield Figure("resumes with the same bits, of 5 killed", equal, at_least=5)


@promise
def interrupted_fits_are_valid() -> Iterator[Figure]:
    """Ctrl-C at 20 random instants: a model bit-equal to fit with max_iter=n_iter_."""
    rng = np.random.default_rng()
    equal = pressed = 0
    while pressed < 20:
        model = AND(50, init=PROBLEM.start, threshold=(0.1, 1.001), max_iter=100_000)
        timer = threading.Timer(rng.uniform(0.2, 2.0), os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            model.fit(PROBLEM.X)
        except KeyboardInterrupt:
            continue  # before the first iteration
        finally:
            timer.join()
        pressed += 1
        again = AND(50, init=PROBLEM.start, threshold=(0.1, 1.001), max_iter=model.n_iter_).fit(PROBLEM.X)
        equal += model.outcome_.kind == "interrupted" and _different(model, again) == 0
    yield Figure("models bit-equal to fit(max_iter=n_iter_), of 20", equal, at_least=20)
