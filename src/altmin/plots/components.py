"""Components as pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def plot_components(
    components: ArrayLike, image_shape: tuple[int, int], *, columns: int = 10, title: str = ""
) -> Any:
    """Draw each component as an image; blue is negative, red positive, white zero.

    Parameters
    ----------
    components : array-like of shape (n_components, n_features)
        An atom a row.
    image_shape : (int, int)
        Height and width of an atom.
    columns : int
        Images in a row.
    title : str
        Over all of them.

    Returns
    -------
    matplotlib Figure
        One panel a component.
    """
    import matplotlib.pyplot as plt

    atoms = np.asarray(components)
    columns = min(columns, len(atoms))
    rows = -(-len(atoms) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(columns, rows + 0.4), layout="constrained", squeeze=False
    )
    for ax in axes.flat:
        ax.set_axis_off()
    for ax, atom in zip(axes.flat, atoms, strict=False):
        limit = float(np.abs(atom).max()) or 1.0
        ax.imshow(atom.reshape(image_shape), cmap="RdBu_r", vmin=-limit, vmax=limit)
    figure.suptitle(title)
    return figure
