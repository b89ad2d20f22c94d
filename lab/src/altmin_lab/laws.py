"""Exponents and rates of measured curves, and their pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """Slope of log y over log x: y grows like x to this power."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def rate(errors: Sequence[float], floor: float = 1e-12) -> float:
    """Factor by which the errors change from one entry to the next, before they reach the floor."""
    y = np.asarray(errors, dtype=float)
    small = np.flatnonzero(~(y > floor))
    y = y[: small[0]] if len(small) else y
    if len(y) < 2 or not np.isfinite(y).all():
        return 0.0 if len(small) and np.isfinite(errors).all() else float("inf")
    return float(np.exp(np.polyfit(np.arange(len(y)), np.log(y), 1)[0]))


def law(
    lines: Mapping[str, Sequence[tuple[float, float]]],
    across: str,
    up: str,
    promised: Mapping[str, Sequence[tuple[float, float]]] | None = None,
) -> Callable[[], Any]:
    """A function that draws measured points on logarithmic axes, and promised curves dashed.

    Parameters
    ----------
    lines : mapping of str to sequence of (x, y)
        Measured curves.
    across, up : str
        Labels of the axes.
    promised : mapping of str to sequence of (x, y), optional
        What the paper promises.

    Returns
    -------
    callable
        Gives a new matplotlib figure.
    """

    def draw() -> Any:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(5.2, 3.6), layout="constrained")
        axes = figure.subplots()
        for style, curves in (("o-", lines), ("--", promised or {})):
            for name, points in curves.items():
                x, y = zip(*points, strict=True)
                axes.loglog(x, np.maximum(y, 1e-16), style, label=name)
        axes.set(xlabel=across, ylabel=up)
        axes.legend(fontsize=8)
        return figure

    return draw
