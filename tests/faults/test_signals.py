"""Signals to a real process: SIGTERM, and Ctrl-C while a BLAS call runs."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from altmin import AND
from altmin.contract import Done, Round, record
from altmin.datasets import make_dir
from altmin.engine import Settings, open_source, run
from altmin.io.container import read_container

SCRIPT = """
import sys
from altmin import AND
from altmin.datasets import make_dir
print("ready", flush=True)
X = make_dir(3000, 200, 10, random_state=0).X
AND(10, threshold=(.1, 1.001), max_iter=100_000, n_jobs=1, checkpoint=sys.argv[1]).fit(X)
"""


def iterations_saved(folder):
    files = folder.glob("checkpoint-?.altmin")
    return max((read_container(path)[0].n_iter for path in files), default=0)


def test_sigterm_ends_the_process_at_once_and_the_next_fit_goes_on(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(tmp_path)], stdout=subprocess.PIPE)
    while process.poll() is None and iterations_saved(tmp_path) < 3:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    begin = time.perf_counter()
    assert process.wait(timeout=30) == -signal.SIGTERM
    assert time.perf_counter() - begin < 5
    process.stdout.close()

    X = make_dir(3000, 200, 10, random_state=0).X
    options = {"threshold": (0.1, 1.001), "n_jobs": 1}
    probe = AND(10, max_iter=1, checkpoint=tmp_path, **options).fit(X)  # what the checkpoint holds already
    done = len(probe.history_)
    assert done > 1
    resumed = AND(10, max_iter=done + 5, checkpoint=tmp_path, **options).fit(X)
    np.testing.assert_array_equal(
        resumed.components_, AND(10, max_iter=done + 5, **options).fit(X).components_
    )


@record
class Level:
    value: float = 0.0
    n: int = 0


@record
class Heavy:
    """A round is one long BLAS call, in which no Python runs and no flag can be looked at."""

    size: int

    def init(self, info, seed):
        return Level()

    def next_round(self, state):
        return Round(heavy_map, name="heavy", iteration=True, then=self.add) if state.n < 10_000 else Done()

    def add(self, state, stats):
        return Level(state.value + stats, state.n + 1)

    def finish(self, state):
        return Level(state.value, 10_000)

    def measure(self, state):
        return {"change": 1.0}


def heavy_map(algorithm, state, block):
    A = np.full((algorithm.size, algorithm.size), 1.0 / algorithm.size)
    if state.n >= 2:  # Ctrl-C before the first iteration would be a KeyboardInterrupt
        started.set()
    return float((A @ A)[0, 0] + block.X[0, 0])


started = threading.Event()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_in_a_blas_call_takes_effect_when_it_returns(n_jobs):
    started.clear()

    def press():
        started.wait()
        time.sleep(0.15)  # a few rounds later, inside one of the calls: they are nearly all of the time
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    result = run(Heavy(600), open_source(np.ones((4, 2))), Settings(max_iter=10_000, n_jobs=n_jobs, seed=0))
    presser.join()
    assert result.outcome.kind == "interrupted"
    assert 0 < result.n_iter < 10_000
    again = run(Heavy(600), open_source(np.ones((4, 2))), Settings(max_iter=result.n_iter, seed=0))
    assert again.state == result.state
