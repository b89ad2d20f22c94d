"""Run the claims ledger: several claims at once, resumable, kept until the code beneath them changes."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from altmin_lab import worker
from altmin_lab.finding import Finding, load_finding
from altmin_lab.ledger import Claim, all_claims

_MOST_JOBS = 4  # more would disturb each other's caches, and some claims compare CPU times


def choose(only: Iterable[str]) -> list[Claim]:
    """The claims whose name, paper or place contains one of the given words (all without any)."""
    words = [word.lower() for word in only]
    found = [
        claim
        for claim in all_claims().values()
        if not words or any(word in f"{claim.name} {claim.paper} {claim.where}".lower() for word in words)
    ]
    if not found:
        raise ValueError(f"no claim matches {', '.join(only)}; see `altmin-lab reproduce --list`")
    return found


def reproduce(
    out: Path,
    *,
    quick: bool = False,
    only: Iterable[str] = (),
    jobs: int | None = None,
    tell: Callable[[int, int, Finding], None] | None = None,
    starting: Callable[[Claim], None] | None = None,
) -> list[Finding]:
    """Judge the claims and keep what was found.

    Parameters
    ----------
    out : Path
        Folder; findings and pictures go to ``results`` in it, and are taken from there by a later run.
    quick : bool
        Smaller runs of the same experiments.
    only : iterable of str
        Words to choose claims by.
    jobs : int or None
        Claims at once, each in a process of one thread; None: as many as there are cores, four at most.
    tell : callable, optional
        Called with (number judged so far, total, finding) after each claim.
    starting : callable, optional
        Called with each claim that has to be run, when it starts.

    Returns
    -------
    list of Finding
        In the order of the ledger.
    """
    results = out / "results"
    results.mkdir(parents=True, exist_ok=True)
    claims = choose(only)
    findings: dict[str, Finding] = {}

    def book(finding: Finding) -> None:
        findings[finding.name] = finding
        if tell:
            tell(len(findings), len(claims), finding)

    waiting = []
    for claim in claims:
        kept = load_finding(claim, quick, results)
        if kept is None:
            waiting.append(claim)
        else:
            book(kept)
    if waiting:
        jobs = min(_cores(), _MOST_JOBS) if jobs is None else jobs
        for finding in _judge_all(_groups(waiting), quick, results, jobs, starting):
            book(finding)
    return [findings[claim.name] for claim in claims]


def _groups(claims: list[Claim]) -> list[list[Claim]]:
    """Claims that share a costly preparation stay together, in one process."""
    groups: dict[str, list[Claim]] = {}
    for claim in claims:
        groups.setdefault(claim.together or claim.name, []).append(claim)
    return list(groups.values())


def _judge_all(
    groups: list[list[Claim]], quick: bool, results: Path, jobs: int, starting: Callable[[Claim], None] | None
) -> Iterator[Finding]:
    """Findings as they come, ``jobs`` groups at a time."""
    waiting = deque(groups)
    running: set[Future[list[Finding]]] = set()
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")  # workers set their limits before they load NumPy
    with ProcessPoolExecutor(jobs, context, worker.start) as pool:
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    group = waiting.popleft()
                    running.add(pool.submit(worker.judge_group, [c.name for c in group], quick, results))
                    for claim in group if starting else ():
                        starting(claim)  # type: ignore[misc]
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield from future.result()
        except BrokenProcessPool:
            raise RuntimeError(
                "a worker was killed, perhaps for want of memory; the same command goes on where this one "
                "was, with --jobs 1 in less memory"
            ) from None
        except BaseException:  # Ctrl-C: don't wait for claims that take minutes
            for child in set(multiprocessing.active_children()) - others:
                child.kill()
            raise


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
