"""Progress: one line that lives while a fit runs, in a terminal or a notebook; silent by default."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any, Protocol, TextIO


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
    """A line rewritten in place: phase, iteration, measures, time left.

    Plain carriage returns work in terminals and in notebooks alike. Where the output is a file, a
    line is printed now and then instead.
    """

    def __init__(self, out: TextIO | None = None, every: float = 0.1) -> None:
        self._out = out or sys.stderr
        self._live = self._out.isatty() or "ipykernel" in sys.modules
        self._every = every if self._live else 10.0
        self._shown = 0.0
        self._begun = 0.0
        self._max_iter: int | None = 0
        self._text = ""

    def begin(self, plan: str, max_iter: int | None) -> None:
        """Print the plan."""
        self._begun = time.perf_counter()
        self._max_iter = max_iter
        print(f"altmin: {plan}", file=self._out)

    def round(self, name: str, share: float) -> None:
        """Show how far the current pass is, on long passes."""
        if time.perf_counter() - self._shown >= self._every:
            self._show(f"{self._text}  {name} {share:.0%}".strip())

    def iteration(self, n_iter: int, measures: Mapping[str, Any]) -> bool:
        """Show the iteration's measures and the time that is left at most."""
        spent = time.perf_counter() - self._begun
        count, left = str(n_iter), ""
        if self._max_iter is not None:
            count = f"{n_iter}/{self._max_iter}"
            left = f", at most {spent / n_iter * (self._max_iter - n_iter):.0f} s left"
        numbers = "  ".join(
            f"{key} {value:.3g}" for key, value in measures.items() if isinstance(value, float)
        )
        self._text = f"{count}  {numbers}  {spent:.0f} s{left}"
        if time.perf_counter() - self._shown >= self._every:
            self._show(self._text)
        return False

    def end(self, outcome: str) -> None:
        """Leave the last line and the outcome on the screen."""
        if self._text:
            self._show(self._text)
        print(("\n" if self._live else "") + f"altmin: {outcome}", file=self._out)

    def _show(self, text: str) -> None:
        self._shown = time.perf_counter()
        print(f"\r{text:<100}" if self._live else text, end="" if self._live else "\n", file=self._out)
        self._out.flush()


def make_progress(verbose: bool | int) -> Progress:
    """The line for ``verbose`` > 0, silence otherwise."""
    return Line() if verbose else Silent()
