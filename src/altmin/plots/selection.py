"""The curve from which the number of components is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from altmin.docstrings import fill_function
from altmin.plots._panels import pyplot


@fill_function
def plot_selection(selection: Any, *, truth: int | None = None, title: str = "", ax: Any = None) -> Any:
    """Draw the worst angle between halves against the number of components, with the suggestion.

    Parameters
    ----------
    selection : Selection
        What :func:`altmin.select_n_components` gave.
    truth : int or None
        The true number, where it is known.

    Returns
    -------
    matplotlib Axes
        Circles: fitted candidates; crosses: beyond what the data span or refused.

    Examples
    --------
    >>> from altmin import AND, select_n_components
    >>> from altmin.datasets import make_dir
    >>> from altmin.plots import plot_selection
    >>> X = make_dir(300, 20, 3, concentration=1.0, random_state=0).X
    >>> ax = plot_selection(select_n_components(AND(2), X, [2, 3, 4], n_splits=1), truth=3)
    """
    if ax is None:
        _, ax = pyplot().subplots(figsize=(5, 3.4), layout="constrained")
    fitted = [row for row in selection.curve if row["splits"]]
    skipped = [row for row in selection.curve if not row["splits"]]
    across, up = (np.array([row[key] for row in fitted]) for key in ("n_components", "angle"))
    ax.plot(across, np.maximum(up, 1e-8), "o-", color="tab:blue", ms=4, label="worst angle between halves")
    if skipped:
        ax.plot(
            [row["n_components"] for row in skipped],
            [row["angle"] for row in skipped],
            "x", color="0.5", ms=4, label="beyond what the samples span",
        )  # fmt: skip
    ax.axhline(selection.tolerance, color="0.5", ls=":", label=f"tolerance {selection.tolerance:g} rad")
    ax.axvline(selection.n_components, color="tab:orange", label=f"suggestion {selection.n_components}")
    if truth is not None:
        ax.axvline(truth, color="k", ls="--", lw=1, label=f"truth {truth}")
    head = f"{title}: " if title else ""
    ax.set(
        yscale="log",
        xlabel="number of components",
        ylabel="radians",
        title=f"{head}{selection.n_components} ({selection.confidence} confidence)",
    )
    ax.legend(fontsize=7, frameon=False)
    ax.grid(alpha=0.3)
    return ax
