"""What a benchmark is: a problem with data sets and solvers; curves of error against CPU time.

A solver is a function ``solver(data, budget)`` that yields points (CPU seconds so far, error). Errors are
measured off the clock. Where data are drawn several times, a curve is that of the medians over the draws: on
a single one a solver may be lucky, or lost. A peer that isn't installed raises ImportError or PeerMissing,
and is skipped with a line.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

from altmin_lab.peers.machines import PeerMissing

Point = tuple[float, float]
Solver = Callable[[Any, float], Iterable[Point]]
FILES = ("nonnegative", "counts", "complete", "pursuit", "quadratic", "approximate", "denoising")
_SHORT = 0.1  # CPU seconds of a fit, below which other work on the machine tells


@dataclass
class Problem:
    """What is solved, on which data, by whom.

    Parameters
    ----------
    name, title : str
        Short name, and a sentence.
    measure : str
        What the error is; smaller is better.
    targets : sequence of float
        Errors to which times are compared.
    budget : tuple of float
        CPU seconds of a solver on a data set: in quick mode, and in full.
    """

    name: str
    title: str
    measure: str
    targets: Sequence[float]
    budget: tuple[float, float] = (5.0, 60.0)
    data: dict[str, list[Callable[[bool], Any]]] = field(default_factory=dict)
    solvers: dict[str, Solver] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    ours: set[str] = field(default_factory=set)
    compiled: set[str] = field(default_factory=set)

    def dataset(self, name: str, draws: int = 1) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register a function from ``quick`` to data; of several draws, from ``quick`` and a ``seed``."""

        def register(make: Callable[..., Any]) -> Callable[..., Any]:
            self.data[name] = [make] if draws == 1 else [partial(make, seed=seed) for seed in range(draws)]
            return make

        return register

    def solver(
        self, name: str, settings: str, ours: bool = False, compiled: bool = False
    ) -> Callable[[Solver], Solver]:
        """Register a solver, with its settings in words; compiled code is loaded before it is timed."""

        def register(solve: Solver) -> Solver:
            self.solvers[name], self.settings[name] = solve, settings
            self.ours |= {name} if ours else set()
            self.compiled |= {name} if ours or compiled else set()
            return solve

        return register


@dataclass(frozen=True)
class Result:
    """Curves of one problem on one data set, and the solvers that could not run."""

    problem: str
    data: str
    curves: dict[str, list[Point]]
    skipped: dict[str, str]


def problems(only: Sequence[str] = ()) -> list[Problem]:
    """All problems, or those whose name contains one of the words."""
    found = [import_module(f"altmin_lab.bench.{name}").PROBLEM for name in FILES]
    return [p for p in found if not only or any(word in p.name for word in only)]


def run_problem(
    problem: Problem, quick: bool, tell: Callable[[str], None] = lambda line: None
) -> Iterator[Result]:
    """Every solver on every data set of a problem, one after the other in this process.

    Parameters
    ----------
    problem : Problem
        What to run.
    quick : bool
        Small data, small budget.
    tell : callable
        Gets a line for each solver as it ends.

    Yields
    ------
    Result
        One a data set.
    """
    budget = problem.budget[not quick]
    for label, makes in problem.data.items():
        drawn = [make(quick) for make in (makes[:1] if quick else makes)]
        curves: dict[str, list[Point]] = {}
        skipped: dict[str, str] = {}
        for name, solve in problem.solvers.items():
            try:
                if name in problem.compiled:
                    next(iter(solve(drawn[0], 0.0)))
                curves[name] = medians([_follow(solve(data, budget), budget) for data in drawn])
            except (ImportError, PeerMissing, Inapplicable) as reason:
                skipped[name] = str(reason)
                tell(f"{problem.name}, {label}: {name} skipped: {reason}")
                continue
            seconds, error = best_point(curves[name])
            tell(f"{problem.name}, {label}: {name}: {error:.3g} after {seconds:.2f} CPU s")
        yield Result(problem.name, label, curves, skipped)


class Inapplicable(RuntimeError):
    """The solver's model doesn't cover these data; the message says why."""


def _follow(points: Iterable[Point], budget: float) -> list[Point]:
    curve: list[Point] = []
    for point in points:
        curve.append((round(point[0], 4), float(f"{point[1]:.4g}")))
        if point[0] >= budget:
            break
    return curve


def medians(curves: Sequence[Sequence[Point]]) -> list[Point]:
    """Median seconds and errors of the first, second ... points of some curves, as far as all of them go."""
    across = [list(zip(*points, strict=True)) for points in zip(*curves, strict=False)]
    return [(statistics.median(seconds), statistics.median(errors)) for seconds, errors in across]


def clocked(call: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and what it gives."""
    begin = time.process_time()
    result = call()
    return time.process_time() - begin, result


def steadily_clocked(call: Callable[[], Any]) -> tuple[float, Any]:
    """As :func:`clocked`; what takes under a tenth of a second is done three times, and the least counts."""
    seconds, result = clocked(call)
    if seconds < _SHORT:
        seconds = min(seconds, *(clocked(call)[0] for _ in range(2)))
    return seconds, result


def stepwise(steps: Iterator[Any], error: Callable[[Any], float]) -> Iterator[Point]:
    """Points of a method that goes on from where it is: the clock stands while errors are measured."""
    spent = 0.0
    while True:
        seconds, estimate = clocked(lambda: next(steps, None))
        if estimate is None:
            return
        spent += seconds
        yield spent, error(estimate)


def restarted(
    fit: Callable[[int], Any], efforts: Iterable[int], error: Callable[[Any], float], budget: float
) -> Iterator[Point]:
    """Points of whole fits of growing effort, each timed from its beginning, until one is over the budget."""
    for effort in efforts:
        seconds, model = steadily_clocked(partial(fit, effort))
        yield seconds, error(model)
        if seconds > budget:
            return


def best_point(curve: Sequence[Point]) -> Point:
    """The least error and when it was there; one that isn't a number counts as infinite."""
    return min(curve, key=lambda point: (point[1] if math.isfinite(point[1]) else math.inf, point[0]))


def time_to(curve: Sequence[Point], target: float) -> float | None:
    """CPU seconds until the error was at the target, or None."""
    return next((seconds for seconds, error in sorted(curve) if error <= target), None)
