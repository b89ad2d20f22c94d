"""Pictures of claims: curves on a logarithmic scale, rows of images."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np


def curves(
    panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]], across: str, up: str
) -> Callable[[], Any]:
    """A function that draws one panel a title, one logarithmic curve a name.

    Parameters
    ----------
    panels : mapping of str to mapping of str to sequence of (x, y)
        Title to name to curve.
    across, up : str
        Labels of the axes.

    Returns
    -------
    callable
        Gives a new matplotlib figure.
    """

    def draw() -> Any:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(4.2 * len(panels), 3.4), layout="constrained")
        for ax, (title, lines) in zip(
            figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
        ):
            for name, points in lines.items():
                x, y = zip(*points, strict=True) if points else ((), ())
                ax.semilogy(x, np.maximum(y, 1e-16), marker=".", label=name)
            ax.set(title=title, xlabel=across, ylabel=up)
            ax.legend(fontsize=8)
        return figure

    return draw


def image_rows(rows: Mapping[str, np.ndarray], shape: tuple[int, int]) -> Callable[[], Any]:
    """A function that draws one row of pictures a name.

    Parameters
    ----------
    rows : mapping of str to ndarray of shape (n, n_pixels)
        Name to pictures.
    shape : tuple of int
        Of a picture.

    Returns
    -------
    callable
        Gives a new matplotlib figure.
    """

    def draw() -> Any:
        from matplotlib.figure import Figure

        n = max(len(images) for images in rows.values())
        figure = Figure(figsize=(1.1 * n + 1.5, 1.2 * len(rows)), layout="constrained")
        grid = figure.subplots(len(rows), n, squeeze=False)
        for line, (name, images) in zip(grid, rows.items(), strict=True):
            line[0].set_ylabel(name, rotation=0, ha="right", fontsize=8)
            for ax, image in zip(line, images, strict=False):
                ax.imshow(image.reshape(shape), cmap="gray")
                ax.set(xticks=[], yticks=[])
        return figure

    return draw
