"""The claims ledger and the demo: how long they take, and that every claim has a computed verdict.

``show_ledger`` at full size takes half an hour; findings are kept in build/reproduction (or the folder that
ALTMIN_REPRODUCTION names), so it goes on where it was stopped. The real data must be there (ALTMIN_DATA).
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness import Figure, promise

CORES = 2
COMPUTED = ("holds", "holds partly", "does not hold")


def _reproduce(out: Path, *words: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "altmin.cli.app", "reproduce", "--out", str(out), "--jobs", str(CORES)]
    subprocess.run([*command, *words], check=True, stdout=subprocess.DEVNULL)
    return list(json.loads((out / "report.json").read_text()))


def _verdicts(findings: list[dict[str, Any]]) -> Iterator[Figure]:
    yield Figure("claims", len(findings), at_least=30)
    without = [finding["name"] for finding in findings if finding["verdict"] not in COMPUTED]
    yield Figure(
        f"claims without a computed verdict ({', '.join(without) or 'none'})", len(without), at_most=0
    )


@promise
def quick_ledger() -> Iterator[Figure]:
    """With --quick the ledger takes at most 4 minutes, and every claim has a computed verdict."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        findings = _reproduce(Path(folder), "--quick")
        seconds = time.perf_counter() - begin
        yield Figure("seconds on two cores, shared with others", seconds, at_most=240)
        yield Figure("CPU seconds of all claims", sum(finding["cpu"] for finding in findings))
        yield from _verdicts(findings)
        begin = time.perf_counter()
        again = _reproduce(Path(folder), "--quick")
        yield Figure("seconds of a second run", time.perf_counter() - begin, at_most=30)
        yield Figure("claims that it ran again", sum(not finding["cached"] for finding in again), at_most=0)


@promise
def full_ledger() -> Iterator[Figure]:
    """At the papers' sizes the ledger takes at most 60 minutes, and every claim has a computed verdict."""
    out = Path(os.environ.get("ALTMIN_REPRODUCTION", "build/reproduction"))
    out.mkdir(parents=True, exist_ok=True)
    findings = _reproduce(out)
    cpu = [finding["cpu"] for finding in findings]
    # Two processes: no longer than half the work and the longest claim one after the other (Graham 1969).
    yield Figure("minutes on two free cores at most", (sum(cpu) / CORES + max(cpu)) / 60, at_most=60)
    yield Figure("CPU minutes of all claims", sum(cpu) / 60)
    yield Figure("CPU minutes of the longest claim", max(cpu) / 60)
    yield from _verdicts(findings)


@promise
def demo() -> Iterator[Figure]:
    """The demo takes at most 4 minutes on two cores, and writes one report with a line a result."""
    with tempfile.TemporaryDirectory() as folder:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "altmin.experiments.demo", "--out", folder],
            check=True,
            capture_output=True,
            text=True,
        )
        seconds = time.perf_counter() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
        page = (Path(folder) / "report.html").read_text(encoding="utf-8")
    yield Figure("seconds, shared with others", seconds, at_most=240)
    yield Figure("CPU seconds", cpu, at_most=240)
    yield Figure("stories in the report", page.count("<article"), at_least=12)
    yield Figure(
        "lines that a reader sees on the screen", len(re.findall(r"^\S.*\?$", done.stdout, re.M)), at_least=12
    )
    names = set(re.findall(r'class="verdict none">([^<]+)<', page))
    yield Figure("algorithms at work", len({one for name in names for one in name.split(", ")}), at_least=11)
