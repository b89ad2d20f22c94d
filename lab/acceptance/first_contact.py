"""First contact: a large CSV file is read about as fast as pandas reads it; Ctrl-C at any instant is 130."""

from __future__ import annotations

import os
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

INSTANTS = (0.05, 0.2, 0.4, 0.7, 1.0, 1.4, 1.8, 2.4, 3.0, 4.0)  # CPU seconds


def _seconds(read: Callable[[str], object], path: str) -> tuple[float, float]:
    """Of the clock, and of the CPU in all threads: other processes may keep the machine busy."""
    begin = time.perf_counter(), time.process_time()
    read(path)
    return time.perf_counter() - begin[0], time.process_time() - begin[1]


@promise
def large_csv() -> Iterator[Figure]:
    """A CSV file of 44 MB takes at most 1.5 times as long as with pandas."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.csv"
        pd.DataFrame(np.random.default_rng(0).standard_normal((48_000, 48))).to_csv(path, index=False)
        yield Figure("size of the file, MB", path.stat().st_size / 1e6, at_least=44)
        both = [(_seconds(read_table, str(path)), _seconds(_by_pandas, str(path))) for _ in range(7)]
        ours, other = (np.min(times, axis=0) for times in zip(*both, strict=True))  # they took turns
        for name, mine, theirs in zip(("by the clock", "of CPU"), ours, other, strict=True):
            yield Figure(f"seconds {name}, least of seven: altmin", mine)
            yield Figure(f"seconds {name}, least of seven: pandas", theirs)
            yield Figure(f"altmin / pandas {name}", mine / theirs, at_most=1.5)


def _by_pandas(path: str) -> object:
    return pd.read_csv(path).to_numpy()


@promise
def ctrl_c() -> Iterator[Figure]:
    """Ctrl-C at ten instants of ``altmin fit``, several times: always 130, never a model unless asked for."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background begin deaf to Ctrl-C
    wrong = left = kept = unsaid = 0
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", make_dir(2000, 60, 8, concentration=1.0, random_state=0).X)
        for options in ([], [], [], ["--keep-partial"]):
            for instant in INSTANTS:
                code, said = _stopped(Path(folder), float(instant * rng.uniform(0.5, 1)), options)
                model = Path(folder) / "model.altmin"
                wrong += code not in (130, -signal.SIGINT)  # by the signal itself: a shell says 130 as well
                left += model.exists() and not options
                kept += model.exists() and bool(options)
                unsaid += model.exists() != ("model of an interrupted fit" in said)
                model.unlink(missing_ok=True)
    yield Figure("of 40 instants, those with another exit code", wrong, at_most=0)
    yield Figure("of 30 instants, those after which a model file was there", left, at_most=0)
    yield Figure("of 10 instants with --keep-partial, those that left a model", kept, at_least=1)
    yield Figure("instants after which what was said and what was written differ", unsaid, at_most=0)


def _stopped(folder: Path, seconds: float, options: list[str]) -> tuple[int, str]:
    """Exit code and words of a fit that got Ctrl-C after so many CPU seconds, once Python itself was up."""
    words = ["fit", "AND", "X.npy", "-n", "8", "--set", "threshold=(.1, 1.001)", "--set", "max_iter=1000000"]
    code = "print('up', flush=True); from altmin.__main__ import main; main()"
    fit = subprocess.Popen(
        [sys.executable, "-c", code, *words, *options],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert fit.stdout is not None and fit.stdout.readline() == "up\n"
    while _cpu_seconds(fit.pid) < seconds:
        time.sleep(0.005)
    fit.send_signal(signal.SIGINT)
    said = fit.communicate(timeout=120)[0]
    return fit.returncode, said


def _cpu_seconds(process: int) -> float:
    """What a process has used, by Linux's own account."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
