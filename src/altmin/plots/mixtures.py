"""Profiles of resolved mixtures with their feasible bands."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from altmin.plots._panels import panels


def plot_mixtures(
    resolution: Any,
    bands: Any = None,
    *,
    wavelengths: ArrayLike | None = None,
    names: list[str] | None = None,
    ax: Any = None,
) -> Any:
    """Draw the spectrum of each component beside its contributions, with the bands around both.

    Parameters
    ----------
    resolution : Resolution
        From :func:`altmin.mixtures.resolve`.
    bands : Bands or None
        From :func:`altmin.mixtures.feasible_bands`; None: lines alone.
    wavelengths : array-like of shape (n_wavelengths,) or None
        For the axis of the spectra; None: numbers.
    names : list of str or None
        Of the components.
    ax : matplotlib Axes or None
        Where to draw; None: a new figure.

    Returns
    -------
    matplotlib Figure
        One row per component.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.mixtures import resolve
    >>> from altmin.plots import plot_mixtures
    >>> figure = plot_mixtures(resolve(np.outer(np.arange(1, 9), np.ones(5)), 1))
    """
    S, C = resolution.spectra, resolution.contributions
    axis = np.arange(S.shape[1]) if wavelengths is None else np.asarray(wavelengths)
    rows = np.arange(len(C))
    grid = panels(ax, len(S), 2, (9.5, 1.7 * len(S) + 0.6))
    for k, (left, right) in enumerate(grid):
        colour = f"C{k % 7}"
        for axes, places, curve, band in (
            (left, axis, S[k], None if bands is None else bands.spectra[:, k]),
            (right, rows, C[:, k], None if bands is None else bands.contributions[:, :, k]),
        ):
            if band is not None:
                axes.fill_between(places, band[0], band[1], color=colour, alpha=0.25, lw=0)
            axes.plot(places, curve, color=colour, lw=1.5)
            axes.set_ylim(bottom=0)
            axes.margins(x=0)
        for begin in resolution.constraints.runs[1:-1]:
            right.axvline(begin - 0.5, color="0.6", lw=0.8, ls=":")
        title = names[k] if names else f"component {k + 1}"
        if bands is not None:
            title += ": a line" if bands.determined[k] else f": share {_range(bands.shares[:, k])}"
        left.set_title(title, fontsize=9, loc="left")
    grid[-1, 0].set_xlabel("channel" if wavelengths is None else "wavelength")
    grid[-1, 1].set_xlabel("row (dotted: a new run)" if len(resolution.constraints.runs) > 2 else "row")
    grid[0, 1].set_title("contributions", fontsize=9, loc="left")
    return grid[0, 0].figure


def _range(ends: Any) -> str:
    return f"{ends[0]:.2f} to {ends[1]:.2f}"
