"""Abundance maps with their spectra."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from altmin.plots._panels import pyplot


def plot_unmixing(
    result: Any,
    *,
    wavelengths: ArrayLike | None = None,
    names: list[str] | None = None,
    reference: Any = None,
) -> Any:
    """Draw the map of each material above its spectrum.

    Parameters
    ----------
    result : Unmixing or Scene
        What :func:`altmin.hyperspectral.unmix` gave: ``abundances`` and ``endmembers``.
    wavelengths : array-like of shape (bands,) or None
        For the axis of the spectra; None: band numbers.
    names : list of str or None
        Of the materials; in the order of the reference where one is given.
    reference : Scene or None
        With true ``endmembers`` and ``abundances``: materials are matched to it, its maps and spectra drawn
        too.

    Returns
    -------
    matplotlib Figure
        Maps and spectra, one column per material.

    Examples
    --------
    >>> from altmin.datasets import make_scene
    >>> from altmin.plots import plot_unmixing
    >>> figure = plot_unmixing(make_scene(10, 10, 20, 2, random_state=0), names=["soil", "water"])
    """
    plt = pyplot()

    from altmin.metrics import match_components

    maps, spectra = np.asarray(result.abundances), np.asarray(result.endmembers)
    n = len(spectra)
    if reference is not None:
        known = np.isfinite(spectra).all(axis=0)
        order, _ = match_components(spectra[:, known], reference.endmembers[:, known], signed=True)
        maps, spectra, n = maps[..., order], spectra[order], len(order)
    axis = np.arange(spectra.shape[1]) if wavelengths is None else np.asarray(wavelengths)
    rows = [("found", maps)] + ([("truth", reference.abundances)] if reference is not None else [])
    height = 2.2 * len(rows) + 1.9
    figure, axes = plt.subplots(
        len(rows) + 1, n, figsize=(2.4 * n + 0.8, height), layout="constrained", squeeze=False
    )
    for line, (label, pictures) in zip(axes, rows, strict=False):
        for k, ax in enumerate(line):
            image = ax.imshow(pictures[..., k], cmap="viridis", vmin=0, vmax=1)
            ax.set(xticks=[], yticks=[])
        line[0].set_ylabel(label if reference is not None else "abundance")
        figure.colorbar(image, ax=line, shrink=0.8)
    for k, ax in enumerate(axes[-1]):
        axes[0, k].set_title(names[k] if names else f"material {k + 1}", fontsize=10)
        _draw_spectrum(ax, axis, spectra[k], None if reference is None else reference.endmembers[k])
        ax.set_xlabel("band" if wavelengths is None else "wavelength")
    axes[-1, 0].set_ylabel("spectrum (peak 1)")
    if reference is not None:
        axes[-1, 0].legend(fontsize=7, frameon=False)
    return figure


def _draw_spectrum(ax: Any, axis: Any, spectrum: Any, truth: Any) -> None:
    peak = np.nanmax(spectrum)
    ax.plot(axis, spectrum / (peak if peak > 0 else 1.0), lw=1.4, label="found")
    if truth is not None:
        ax.plot(axis, truth / truth.max(), "k--", lw=1, label="truth")
    ax.set_ylim(0, 1.05)
    ax.grid(alpha=0.3)
