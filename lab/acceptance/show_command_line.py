"""The command line: help at once, errors without tracebacks."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from harness import Figure, promise

ALTMIN = [sys.executable, "-m", "altmin.cli.app"]


def _child_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@promise
def help_is_instant() -> Iterator[Figure]:
    """--help takes less than .3 s of CPU, and doesn't load NumPy."""
    for words in ([], ["fit"]):
        spent = []
        for _ in range(7):
            begin = _child_seconds()
            subprocess.run([*ALTMIN, *words, "--help"], check=True, capture_output=True)
            spent.append(_child_seconds() - begin)
        name = " ".join(["altmin", *words, "--help"])
        yield Figure(f"{name}: CPU s, least of seven", min(spent), at_most=0.3)


@promise
def errors_without_tracebacks() -> Iterator[Figure]:
    """What a user can mend is said in one line, by real processes, with the documented exit code."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savetxt(folder / "good.csv", np.random.default_rng(0).random((40, 4)), delimiter=",")
        files = {
            "text.csv": "1,2\n3,b\n",
            "ragged.csv": "1,2\n1,2,3\n",
            "nan.csv": "1,2\n3,nan\n4,5\n",
            "table.txt": "1 2\n",
            "corrupt.altmin": "PK torn",
        }
        for file, text in files.items():
            (folder / file).write_text(text)
        fit = ["fit", "AND", "-n", "2", "-q"]
        cases = {
            "missing file": [*fit, "missing.csv"],
            "wrong extension": [*fit, "table.txt"],
            "text in a CSV": [*fit, "text.csv"],
            "ragged rows": [*fit, "ragged.csv"],
            "NaN": [*fit, "nan.csv"],
            "corrupt model": ["transform", "corrupt.altmin", "good.csv"],
            "no write permission": [*fit, "good.csv", "--out", "/proc/model.altmin"],
            "unknown model name": ["fit", "ANDD", "good.csv"],
        }
        bad = {}
        for case, words in cases.items():
            done = subprocess.run([*ALTMIN, *words], cwd=folder, capture_output=True, text=True)
            lines = done.stderr.strip().splitlines()
            bad[case] = done.returncode != 1 or len(lines) != 1 or "Traceback" in done.stderr
        suggested = "did you mean AND?" in done.stderr
    yield Figure(f"of {len(cases)} faults, those not told in one line", sum(bad.values()), at_most=0)
    yield Figure("an unknown model name gets the nearest as a suggestion", float(suggested), at_least=1)
