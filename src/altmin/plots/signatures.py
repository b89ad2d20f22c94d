"""Pictures of mutational signatures: profiles, exposures, matches, how many."""

from __future__ import annotations

from typing import Any

import numpy as np

from altmin.plots._panels import BAD, GOOD, NEUTRAL, one_axes, panels, pyplot

_COLOURS = {
    "C>A": "#03bcee",
    "C>G": "#010101",
    "C>T": "#e32926",
    "T>A": "#a0a0a0",
    "T>C": "#6aa84f",
    "T>G": "#e8a5b4",
}
_MOST_SAMPLES = 300


def plot_signatures(signatures: Any, *, names: list[str] | None = None, ax: Any = None) -> Any:
    """Draw signatures as bars over their channels, in the colours of the field where there are 96.

    Parameters
    ----------
    signatures : ChannelTable or fitted SignatureModel
        One signature per row.
    names : list of str or None
        A title for each; None: their names.
    ax : matplotlib Axes or None
        Where to draw; None: a new figure.

    Returns
    -------
    matplotlib Figure
        One panel per signature.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.plots import plot_signatures
    >>> from altmin.signatures import read_reference
    >>> figure = plot_signatures(read_reference(np.ones((2, 96))))
    """
    table = getattr(signatures, "signatures_", signatures)
    titles = list(table.names if names is None else names)
    grid = panels(ax, len(table), 1, (9.5, 1.25 * len(table) + 0.4))
    groups = [_group(channel) for channel in table.channels]
    places = np.arange(len(groups))
    colours = [_COLOURS.get(group, "#4c78a8") for group in groups]
    for axes, row, title in zip(grid[:, 0], table.values, titles, strict=True):
        axes.bar(places, row, color=colours, width=0.8)
        axes.set_xlim(-0.7, len(groups) - 0.3)
        axes.set_xticks([])
        axes.grid(False)
        axes.set_yticks([])
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.set_title(title, loc="left", fontsize=9)
    begins = [i for i, group in enumerate(groups) if i == 0 or group != groups[i - 1]]
    if len(begins) <= 20:
        middles = [(a + b - 1) / 2 for a, b in zip(begins, [*begins[1:], len(groups)], strict=True)]
        grid[-1, 0].set_xticks(middles, [groups[i] for i in begins], fontsize=9)
        grid[-1, 0].tick_params(length=0)
    return grid[0, 0].figure


def _group(channel: str) -> str:
    """What neighbouring channels share: C>A of A[C>A]A, AC> of AC>CA, 1:Del:C of 1:Del:C:0."""
    if "[" in channel:
        return channel[2:5]
    return channel.rsplit(":", 1)[0] if ":" in channel else channel.split(">")[0]


def plot_exposures(exposures: Any, *, ax: Any = None) -> Any:
    """Draw the mutations of each sample by signature: numbers above, shares below.

    Parameters
    ----------
    exposures : Exposures or fitted SignatureModel
        From :func:`altmin.signatures.refit`.
    ax : matplotlib Axes or None
        Where to draw; None: a new figure.

    Returns
    -------
    matplotlib Figure
        Samples by falling number of mutations.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.plots import plot_exposures
    >>> from altmin.signatures import refit
    >>> figure = plot_exposures(refit(np.full((3, 96), 5), np.ones((1, 96))))
    """
    pyplot()
    import matplotlib

    found = getattr(exposures, "exposures_", exposures)
    order = np.argsort(-found.values.sum(axis=1), kind="stable")[:_MOST_SAMPLES]
    values = found.values[order]
    totals = values.sum(axis=1, keepdims=True)
    upper, lower = panels(ax, 2, 1, (9.5, 4.6))[:, 0]
    colours = matplotlib.colormaps["tab20"]
    for axes, heights in ((upper, values), (lower, values / np.where(totals > 0, totals, 1.0))):
        bottom = np.zeros(len(heights))
        for k, name in enumerate(found.signatures):
            axes.bar(
                np.arange(len(heights)), heights[:, k], bottom=bottom, width=1.0, label=name,
                color=colours(k % 20),
            )  # fmt: skip
            bottom += heights[:, k]
        axes.set_xlim(-0.5, len(heights) - 0.5)
        axes.set_xticks([])
        axes.grid(axis="x", visible=False)
    if totals.max() > 20 * max(float(np.median(totals)), 1.0):
        upper.set_yscale("symlog", linthresh=max(float(np.median(totals)), 1.0))
    upper.set_ylabel("mutations")
    lower.set(ylabel="share", ylim=(0, 1), xlabel=f"{len(values)} of {len(found.values)} samples")
    upper.figure.legend(*upper.get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    return upper.figure


def plot_matches(matching: Any, *, ax: Any = None) -> Any:
    """Draw how close each found signature is to the references that it was matched with.

    Parameters
    ----------
    matching : Matching
        From :func:`altmin.signatures.match`.
    ax : matplotlib Axes or None
        Where to draw; None: a new figure.

    Returns
    -------
    matplotlib Axes
        One bar per found signature.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.plots import plot_matches
    >>> from altmin.signatures import match
    >>> ax = plot_matches(match(np.eye(96)[:2], np.eye(96)[:3]))
    """
    axes = one_axes(ax, (7.0, 0.32 * len(matching.rows) + 1.0))
    shades = {"match": GOOD, "merge": NEUTRAL, "new": BAD}
    for place, row in enumerate(matching.rows):
        axes.barh(place, row.cosine, color=shades[row.kind], alpha=0.55, height=0.7)
        label = " + ".join(row.references) if row.kind != "new" else f"new (closest {row.references[0]})"
        axes.text(0.01, place, label, va="center", fontsize=8)
    axes.axvline(matching.threshold, color="k", ls="--", lw=1)
    axes.set_yticks(np.arange(len(matching.rows)), [row.name for row in matching.rows], fontsize=8)
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), xlabel=f"cosine (threshold {matching.threshold:g})")
    axes.grid(axis="y", visible=False)
    return axes


def plot_number(number: Any, *, ax: Any = None) -> Any:
    """Draw how well each number of signatures predicts mutations that were held out.

    Parameters
    ----------
    number : Number or fitted SignatureModel
        The choice of the number, ``model.number_``.
    ax : matplotlib Axes or None
        Where to draw; None: a new figure.

    Returns
    -------
    matplotlib Axes
        The curve and the choice.

    Examples
    --------
    >>> from altmin.plots import plot_number
    >>> from altmin.signatures import Number
    >>> ax = plot_number(Number(2, "high", "", {1: 9.0, 2: 5.0, 3: 5.5}))
    """
    found = getattr(number, "number_", number)
    axes = one_axes(ax, (6.0, 2.9))
    axes.plot(list(found.curve), list(found.curve.values()), "o-")
    axes.axvline(found.n_components, color=GOOD, ls="--", label=f"{found.n_components} ({found.confidence})")
    axes.set(xlabel="signatures", ylabel="divergence of held-out mutations", yscale="log")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(fontsize=8)
    return axes
