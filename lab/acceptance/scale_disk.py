"""Out of core: a file of 20 GB at a peak of 1 GB, as fast as the disk or the processor allows.

``ALTMIN_SCALE_GB`` makes the file smaller; ``ALTMIN_SCALE_FOLDER`` says where it goes, and keeps it and what
was measured there, so that a long run can be cut into pieces (else it is deleted). Each fit runs in a process
of its own on a cold page cache; beside it, the same reads without computing (cold too), and the same
computing on rows that are in memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from harness import Figure, promise

FEATURES = 256
ATOMS = 32
PIECE = 100_000  # rows

CHILD = """
import json, resource, sys, time
from pathlib import Path
import numpy as np
from altmin import AND, FactorizationMachineRegressor, OnlineDictionaryLearning
from altmin.io.tables import NpyRows, open_tables

family, how, path, log = sys.argv[1:]
path = Path(path)
(table,) = open_tables(path)
n_rows = table.shape[0]
rng = np.random.default_rng(0)
fetch = NpyRows.rows
reads = []

def recorded(self, start, stop):
    reads.append((start, stop))
    return fetch(self, start, stop)

def fit():
    if family == "AND":
        AND(8, max_iter=5, random_state=0).fit(path)
    elif family == "online":
        OnlineDictionaryLearning(32, batch_size=8192, start_size=20_000, random_state=0).fit(path)
    else:
        y = rng.standard_normal(n_rows, dtype=np.float32)
        options = {"batch_size": 40_000, "max_iter": -(-n_rows // 40_000), "tol": 0.0, "whiten": False}
        FactorizationMachineRegressor(4, random_state=0, **options).fit(path, y)

if how == "computing":
    resident = fetch(table, 0, min(n_rows, 65_536))
    NpyRows.rows = lambda self, start, stop: (
        resident[start % 32_768 :][: stop - start] if stop - start <= 32_768 else fetch(self, start, stop)
    )
elif how == "fit":
    NpyRows.rows = recorded
begin, cpu = time.perf_counter(), time.process_time()
if how == "reading":
    for start, stop in json.loads(Path(log).read_text()):
        table.rows(start, stop)
else:
    fit()
seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
if how == "fit":
    Path(log).write_text(json.dumps(reads))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
rows = sum(stop - start for start, stop in reads)
print(json.dumps({"seconds": seconds, "cpu": cpu, "peak": peak, "passes": rows / n_rows}))
"""


@contextmanager
def _big_file() -> Iterator[Path]:
    """Rows x A + noise with sparse x >= 0: random data in which there is something to be found."""
    gigabytes = float(os.environ.get("ALTMIN_SCALE_GB", "20"))
    n_rows = int(gigabytes * 1e9 / (4 * FEATURES))
    kept = os.environ.get("ALTMIN_SCALE_FOLDER")
    with tempfile.TemporaryDirectory() as name:
        path = Path(kept or name) / "x.npy"
        if not path.exists() or path.stat().st_size < n_rows * FEATURES * 4:
            _write(path, n_rows)
        yield path


def _write(path: Path, n_rows: int) -> None:
    rng = np.random.default_rng(0)
    atoms = rng.standard_normal((ATOMS, FEATURES), dtype=np.float32) / np.float32(16)
    codes = rng.random((PIECE, ATOMS), dtype=np.float32)
    codes[rng.random((PIECE, ATOMS)) > 0.2] = 0
    rows = codes @ atoms + np.float32(1e-3) * rng.standard_normal((PIECE, FEATURES), dtype=np.float32)
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (n_rows, FEATURES)}
        np.lib.format.write_array_header_1_0(file, header)
        for low in range(0, n_rows, PIECE):
            # rotated by another number of rows and scaled: no two pieces are the same
            piece = np.roll(rows, int(rng.integers(PIECE)), axis=0) * np.float32(rng.uniform(0.9, 1.1))
            file.write(piece[: min(PIECE, n_rows - low)].data)
        file.flush()
        os.fsync(file.fileno())


def _forget(path: Path) -> None:
    """Drop the file's pages from the cache."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _measure(family: str, how: str, path: Path, log: Path) -> dict[str, Any]:
    _forget(path)
    environment = {**os.environ, "OMP_NUM_THREADS": os.environ.get("ALTMIN_SCALE_THREADS", "2")}
    command = [sys.executable, "-c", CHILD, family, how, str(path), str(log)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return dict(json.loads(done.stdout))


def piece(family: str, how: str, path: Path) -> dict[str, Any]:
    """One measurement, kept beside the file."""
    kept = path.with_name(f"{family}-{how}.json")
    if not kept.exists():
        kept.write_text(json.dumps(_measure(family, how, path, path.with_name(f"{family}-reads.json"))))
    return dict(json.loads(kept.read_text()))


def _figures(family: str) -> Iterator[Figure]:
    with _big_file() as path:
        size = path.stat().st_size / 1e9
        found = {how: piece(family, how, path) for how in ("fit", "reading", "computing")}
    fit, reading, computing = found["fit"], found["reading"]["seconds"], found["computing"]["seconds"]
    yield Figure(f"{size:.1f} GB: peak of the process, MB", fit["peak"], at_most=1000)
    yield Figure("passes over the file", fit["passes"])
    yield Figure("seconds of the fit", fit["seconds"])
    yield Figure("seconds of its reads alone", reading)
    yield Figure("seconds of its computing alone", computing)
    ratio = fit["seconds"] / max(reading, computing)
    yield Figure("fit against the larger of the two", ratio, at_most=1.4)


@promise
def and_out_of_core() -> Iterator[Figure]:
    """AND on a 20 GB float32 file: 1 GB at most, wall at most 1.4 times reading or computing alone."""
    yield from _figures("AND")


@promise
def online_out_of_core() -> Iterator[Figure]:
    """Online dictionary learning on a 20 GB float32 file: 1 GB, 1.4 times reading or computing alone."""
    yield from _figures("online")


@promise
def machine_out_of_core() -> Iterator[Figure]:
    """The factorization machine on a 20 GB float32 file: 1 GB, 1.4 times reading or computing alone."""
    yield from _figures("machine")
