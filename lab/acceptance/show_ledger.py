"""The claims ledger and the demo: how long they take, and that every claim has a computed verdict.

At full size it takes half an hour; findings are kept in build/reproduction (or the folder that
ALTMIN_REPRODUCTION names) with the CPU seconds they took, so it goes on where it was stopped. The real data
must be there (ALTMIN_DATA).
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness import Figure, promise

CORES = 2
STARTING = 10.0  # seconds for the command and its workers to load, generously
COMPUTED = ("holds", "holds partly", "does not hold", "vacuous at these sizes")


def _reproduce(out: Path, *words: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "altmin_lab.cli.app", "reproduce", "--out", str(out)]
    subprocess.run([*command, "--jobs", str(CORES), *words], check=True, stdout=subprocess.DEVNULL)
    return list(json.loads((out / "report.json").read_text()))


def _folder() -> Path:
    out = Path(os.environ.get("ALTMIN_REPRODUCTION", "build/reproduction"))
    out.mkdir(parents=True, exist_ok=True)
    return out


def _longest(findings: list[dict[str, Any]]) -> float:
    """Seconds that two free cores need at most: half of the work and the longest claim (Graham 1969)."""
    cpu = [finding["cpu"] for finding in findings]
    return sum(cpu) / CORES + max(cpu)


def _verdicts(findings: list[dict[str, Any]]) -> Iterator[Figure]:
    yield Figure("claims", len(findings), at_least=65)
    without = [finding["name"] for finding in findings if finding["verdict"] not in COMPUTED]
    yield Figure(
        f"claims without a computed verdict ({', '.join(without) or 'none'})", len(without), at_most=0
    )
    for verdict in (*COMPUTED, "cannot be run here"):
        yield Figure(f"verdict: {verdict}", sum(finding["verdict"] == verdict for finding in findings))
    sure = [f for f in findings if f["verdict"] != "vacuous at these sizes"]
    outside = [f["name"] for f in sure if not all(check["met"] for check in f["hypotheses"].values())]
    yield Figure(
        f"claims judged on data outside their hypotheses ({', '.join(outside) or 'none'})",
        len(outside),
        at_most=0,
    )
    yield Figure("claims without a wrong program", sum(not f["wrong"] for f in findings), at_most=0)


@promise
def quick_ledger() -> Iterator[Figure]:
    """With --quick the ledger takes at most 4 minutes, and every claim has a computed verdict."""
    findings = _reproduce(_folder(), "--quick")
    yield Figure("seconds on two free cores at most", _longest(findings) + STARTING, at_most=240)
    yield Figure("CPU seconds of all claims", sum(finding["cpu"] for finding in findings))
    yield from _verdicts(findings)
    again = _reproduce(_folder(), "--quick")
    yield Figure("claims that a second run judges again", sum(not f["cached"] for f in again), at_most=0)


@promise
def full_ledger() -> Iterator[Figure]:
    """At the papers' sizes the ledger takes at most 60 minutes, and every claim has a computed verdict."""
    findings = _reproduce(_folder())
    cpu = [finding["cpu"] for finding in findings]
    yield Figure("minutes on two free cores at most", (_longest(findings) + STARTING) / 60, at_most=60)
    yield Figure("CPU minutes of all claims", sum(cpu) / 60)
    yield Figure("CPU minutes of the longest claim", max(cpu) / 60)
    yield from _verdicts(findings)


@promise
def demo() -> Iterator[Figure]:
    """The demo takes at most 4 minutes on two cores, and writes one report with a line a result."""
    out = Path("build/demo")  # kept, to be looked at
    used, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "altmin.demo", "--out", str(out)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    page = (out / "report.html").read_text(encoding="utf-8")
    yield Figure("CPU seconds, and so the seconds on a free core", cpu, at_most=240)
    yield Figure("seconds on this machine, shared with others", seconds)
    yield Figure("stories in the report", page.count("<article"), at_least=12)
    yield Figure(
        "lines that a reader sees on the screen", len(re.findall(r"^\S.*\?$", done.stdout, re.M)), at_least=12
    )
    names = set(re.findall(r'class="verdict none">([^<]+)<', page))
    yield Figure("algorithms at work", len({one for name in names for one in name.split(", ")}), at_least=11)
