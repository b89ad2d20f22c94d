"""Progress: one line that lives while a fit runs, in a terminal or a notebook; silent by default."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Mapping
from typing import Any, Protocol, TextIO

_SETTLED = 3  # iterations after which the time left is worth telling


class Progress(Protocol):
    """What the loop tells the outside."""

    def begin(self, plan: str, max_iter: int | None) -> None:
        """The fit starts; ``max_iter`` is None where nobody knows how many iterations there will be."""

    def round(self, name: str, share: float) -> None:
        """Part of the current round is done."""

    def iteration(self, n_iter: int, measures: Mapping[str, Any]) -> bool:
        """An iteration has ended; True asks for the end of the fit."""

    def end(self, outcome: str) -> None:
        """The fit is over."""


class Silent:
    """Says nothing."""

    def begin(self, plan: str, max_iter: int | None) -> None:
        """Nothing."""

    def round(self, name: str, share: float) -> None:
        """Nothing."""

    def iteration(self, n_iter: int, measures: Mapping[str, Any]) -> bool:
        """Nothing."""
        return False

    def end(self, outcome: str) -> None:
        """Nothing."""


class Line:
    """A line that is rewritten in place: phase, iteration, measures, time left.

    It is cut to the width of the terminal, so it never wraps. Carriage returns work in terminals and in
    notebooks alike. Where the output is a file, plan and end are told.
    """

    def __init__(self, out: TextIO | None = None, every: float = 0.1) -> None:
        self._out = out or sys.stderr
        self._live = self._out.isatty() or "ipykernel" in sys.modules
        self._every = every
        self._shown = 0.0
        self._begun = 0.0
        self._max_iter: int | None = 0
        self._text = ""

    def begin(self, plan: str, max_iter: int | None) -> None:
        """Show the plan: in a terminal until there is something newer to show."""
        self._begun = time.perf_counter()
        self._max_iter = max_iter
        if self._live:
            self._show(plan)
        else:
            print(f"altmin: {plan}", file=self._out)

    def round(self, name: str, share: float) -> None:
        """Show how far the current pass is, on long passes."""
        if time.perf_counter() - self._shown >= self._every:
            self._show(f"{self._text}  {name} {share:.0%}".strip())

    def iteration(self, n_iter: int, measures: Mapping[str, Any]) -> bool:
        """Show the iteration, how much time is left at most, and its measures."""
        spent = time.perf_counter() - self._begun
        count = f"iteration {n_iter}" + (f"/{self._max_iter}" if self._max_iter else "")
        left = ""
        if self._max_iter and n_iter >= _SETTLED:
            left = f", at most {_duration(spent / n_iter * (self._max_iter - n_iter))} left"
        numbers = "  ".join(
            f"{key} {value:.3g}" for key, value in measures.items() if isinstance(value, float)
        )
        self._text = f"{count}  {_duration(spent)}{left}  {numbers}"
        if time.perf_counter() - self._shown >= self._every:
            self._show(self._text)
        return False

    def end(self, outcome: str) -> None:
        """Leave how the fit ended on the screen, and nothing else."""
        self._show("")
        print(("\r" if self._live else "") + f"altmin: {outcome}", file=self._out)

    def _show(self, text: str) -> None:
        if not self._live:
            return
        self._shown = time.perf_counter()
        width = _columns(self._out) - 1
        print(f"\r{text[:width]:<{width}}", end="", file=self._out)
        self._out.flush()


def _columns(out: TextIO) -> int:
    try:
        return os.get_terminal_size(out.fileno()).columns or 80
    except (OSError, ValueError):  # a notebook
        return shutil.get_terminal_size().columns


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def make_progress(verbose: bool | int) -> Progress:
    """The line for ``verbose`` > 0, silence otherwise."""
    return Line() if verbose else Silent()
