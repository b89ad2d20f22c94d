"""How a fit converged."""

from __future__ import annotations

from typing import Any


def plot_convergence(model: Any, measures: tuple[str, ...] = (), ax: Any = None) -> Any:
    """Draw the measures of ``model.history_`` against the iteration, on a log scale.

    Parameters
    ----------
    model : fitted estimator
        With ``history_`` and ``outcome_``.
    measures : tuple of str
        Which columns of the history; by default every number that isn't a time.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
        With a line a measure, and the outcome as the title.
    """
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
    rows = model.history_
    skipped = ("iteration", "seconds")
    names = measures or [key for key, value in rows[-1].items() if _is_number(value) and key not in skipped]
    for name in names:
        points = [(row["iteration"], row[name]) for row in rows if row.get(name, 0) > 0]
        if points:
            ax.plot(*zip(*points, strict=True), label=name)
    ax.set(yscale="log", xlabel="iteration", title=f"{type(model).__name__}: {model.outcome_.kind}")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    return ax


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
