"""What the displays share: axes made where none are given, panels inside given ones, fitted models only."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

GOOD, DOUBTFUL, BAD, NEUTRAL = "#1a7f37", "#9a6700", "#b42318", "#818b98"


def pyplot() -> Any:
    """matplotlib.pyplot, or an error that says which extra brings it."""
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "pictures need matplotlib: pip install 'altmin[plot]'", name="matplotlib"
        ) from error
    return plt


def one_axes(ax: Any, size: tuple[float, float]) -> Any:
    """The given axes, or new ones on a figure of this size."""
    if ax is not None:
        return ax
    return pyplot().subplots(figsize=size, layout="constrained")[1]


def panels(ax: Any, rows: int, columns: int, size: tuple[float, float]) -> np.ndarray:
    """A grid of axes: on a new figure of this size, or in the place of the given axes."""
    if ax is None:
        return np.asarray(
            pyplot().subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)[1],
            dtype=object,
        )
    from matplotlib.gridspec import GridSpecFromSubplotSpec

    ax.set_axis_off()
    grid = GridSpecFromSubplotSpec(rows, columns, subplot_spec=ax.get_subplotspec(), wspace=0.3, hspace=0.4)
    made = [[ax.figure.add_subplot(grid[i, j]) for j in range(columns)] for i in range(rows)]
    return np.array(made, dtype=object).reshape(rows, columns)


def fitted(estimator: Any, attribute: str) -> Any:
    """An attribute of a fitted estimator; a clear error where it isn't fitted or has none."""
    check_is_fitted(estimator)
    value = getattr(estimator, attribute, None)
    if value is None:
        raise ValueError(f"{type(estimator).__name__} has no {attribute}, which this picture shows")
    return value
