"""What models without components found: the terms of a quadratic law, a signal, a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from altmin.report.page import Raw, join, picture, png_of, table, tag

_MOST_TERMS = 12
_MOST_FEATURES = 2000  # products of more features are not searched for the largest


def law_of(model: Any, image_shape: tuple[int, int] | None, words: Sequence[str] | None) -> Raw | None:
    """What a machine, a phase retrieval or a matrix sensing found; None for other models.

    Parameters
    ----------
    model : fitted estimator
        Any.
    image_shape : (int, int), optional
        A signal is an image of this height and width.
    words : sequence of str, optional
        Names of the features.

    Returns
    -------
    Raw or None
        A chapter of the page.
    """
    if hasattr(model, "interaction"):
        return join(Raw("<h2>The law</h2>"), _terms(model, words))
    if hasattr(model, "signal_"):
        return join(Raw("<h2>The signal</h2>"), _signal(np.asarray(model.signal_), image_shape))
    if hasattr(model, "values_"):
        rows = [{"number": i, "singular value": float(v)} for i, v in enumerate(np.abs(model.values_), 1)]
        return join(Raw("<h2>Singular values of the matrix</h2>"), table(rows[:_MOST_TERMS]))
    return None


def _terms(model: Any, words: Sequence[str] | None) -> Raw:
    """The terms with the largest coefficients, in the user's own columns."""
    names = words if words is not None else getattr(model, "feature_names_in_", None)
    d = len(model.coef_)
    if names is None or len(names) != d:
        names = [f"x{i}" for i in range(d)]
    linear = [(str(names[i]), float(model.coef_[i])) for i in _largest(model.coef_)]
    parts = [tag("h4", "linear terms"), _coefficients(linear)]
    if d <= _MOST_FEATURES:
        M = np.triu(2 * model.matrix())
        np.fill_diagonal(M, np.diag(M) / 2)  # as interaction(i, j) counts them
        pairs = (divmod(int(place), d) for place in _largest(M.ravel()))
        found = [(f"{names[i]} · {names[j]}" if i != j else f"{names[i]}²", float(M[i, j])) for i, j in pairs]
        parts += [tag("h4", "products"), _coefficients(found)]
    note = f"Intercept {float(model.intercept_):.4g}. Coefficients depend on the units of the columns."
    return join(*parts, tag("p", note, class_="soft small"))


def _coefficients(terms: list[tuple[str, float]]) -> Raw:
    return table([{"term": name, "coefficient": value} for name, value in terms])


def _largest(values: Any) -> np.ndarray:
    """Places of the largest magnitudes, zeros left out."""
    sizes = np.abs(np.asarray(values))
    order = np.argsort(-sizes, kind="stable")[:_MOST_TERMS]
    return order[sizes[order] > 0]


def _signal(signal: np.ndarray, image_shape: tuple[int, int] | None) -> Raw:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7, 3.2) if image_shape is None else (3.5, 3.5), layout="constrained")
    if image_shape is None:
        ax.plot(np.abs(signal) if np.iscomplexobj(signal) else signal)
        ax.set(xlabel="feature", ylabel="magnitude" if np.iscomplexobj(signal) else "signal")
    else:
        ax.imshow(np.abs(signal).reshape(image_shape), cmap="gray")
        ax.set_axis_off()
    return picture(png_of(figure), "the signal")
