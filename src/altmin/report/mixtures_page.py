"""A page about a resolved mixture: spectra and contributions with the bands that the data leave open."""

from __future__ import annotations

from typing import Any

from altmin.plots import plot_mixtures
from altmin.report.page import Raw, drawn, figure_style, folded, page, table, tag


def mixtures_page(resolution: Any, bands: Any, *, wavelengths: Any = None, title: str = "Mixtures") -> str:
    """HTML of a page about what :func:`altmin.mixtures.resolve` found.

    Parameters
    ----------
    resolution : Resolution
        Spectra and contributions.
    bands : Bands
        From :func:`altmin.mixtures.feasible_bands`.
    wavelengths : array-like of shape (n_wavelengths,) or None
        For the axis of the spectra.
    title : str
        Of the page.

    Returns
    -------
    str
        A page that asks no host for anything.
    """
    with figure_style():
        picture = drawn(
            lambda: plot_mixtures(resolution, bands, wavelengths=wavelengths), "spectra and contributions"
        )
    rows = [
        {
            "component": k + 1,
            "smallest share": float(bands.shares[0, k]),
            "largest share": float(bands.shares[1, k]),
            "width of the spectrum": float(bands.widths[0, k]),
            "width of the contributions": float(bands.widths[1, k]),
            "is": "determined: the band is a line" if bands.determined[k] else "open within its band",
        }
        for k in range(len(resolution.spectra))
    ]
    n, W = resolution.data.shape
    lead = f"{len(rows)} components in {n} spectra of {W} wavelengths; {resolution.residual:.2%} left over."
    words = (
        "Curves inside the bands belong to solutions that explain the data equally well and keep the "
        f"constraints; entries may be below 0 by up to {bands.slack:.1f} standard deviations of the noise "
        f"({resolution.noise:.3g}). Widths are relative to the peak; up to 5 % a band is called a line."
    )
    return page(
        title,
        Raw("<h2>Components</h2>"),
        picture,
        table(rows),
        tag("p", words, class_="soft small"),
        Raw("<h2>What was asked for</h2>"),
        *resolution.constraints.said(),
        folded(
            "the report on the start, in which only non-negativity counts",
            Raw(resolution.guarantee._repr_html_()),
        ),
        lead=lead,
    )
