"""A page about one model: what it found, how it got there, and whether to believe it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from altmin.plots.components import plot_components
from altmin.plots.convergence import plot_convergence
from altmin.report.page import Raw, folded, page, picture, png_of, table

_MOST_COMPONENTS = 60
_TOP_WORDS = 10


def model_page(
    model: Any,
    X: Any = None,
    *,
    image_shape: tuple[int, int] | None = None,
    words: Sequence[str] | None = None,
) -> str:
    """HTML of a page about a fitted estimator.

    Parameters
    ----------
    model : fitted estimator of altmin
        What to show.
    X : data as for ``transform``, optional
        Its codes are shown.
    image_shape : (int, int), optional
        Components are images of this height and width.
    words : sequence of str, optional
        A word a feature: components are shown by their top words.

    Returns
    -------
    str
        A self-contained page.
    """
    name = type(model).__name__
    parts: list[Any] = [_parameters(model)]
    if hasattr(model, "guarantee_"):
        parts += [Raw("<h2>Is it the truth?</h2>"), Raw(model.guarantee_._repr_html_())]
    if hasattr(model, "components_"):
        parts += [Raw("<h2>Components</h2>"), _components(model, image_shape, words)]
    if getattr(model, "history_", None):
        figure = plot_convergence(model).get_figure()
        parts += [Raw("<h2>Convergence</h2>"), picture(png_of(figure), "measures against the iteration")]
    if X is not None and hasattr(model, "transform"):
        parts += [Raw("<h2>Codes</h2>"), *_codes(np.asarray(model.transform(X)))]
    if getattr(model, "outlier_scores_", None) is not None:
        parts += [Raw("<h2>Outlying samples</h2>"), _outliers(np.asarray(model.outlier_scores_))]
    return page(name, *parts, lead=str(getattr(model, "outcome_", "")))


def write_model_page(model: Any, out: Path, X: Any = None, **options: Any) -> Path:
    """Write :func:`model_page` to a file.

    Parameters
    ----------
    model : fitted estimator of altmin
        What to show.
    out : Path
        The file.
    X : data, optional
        Its codes are shown.
    **options : dict
        ``image_shape`` and ``words``.

    Returns
    -------
    Path
        The file.
    """
    out.write_text(model_page(model, X, **options), encoding="utf-8")
    return out


def _parameters(model: Any) -> Raw:
    rows = [
        {
            "parameter": key,
            "value": f"array {np.shape(value)}" if isinstance(value, np.ndarray) else repr(value),
        }
        for key, value in model.get_params(deep=False).items()
    ]
    return folded("parameters", table(rows))


def _components(model: Any, image_shape: tuple[int, int] | None, words: Sequence[str] | None) -> Raw:
    shown = model.components_[:_MOST_COMPONENTS]
    more = len(model.components_) - len(shown)
    note = f"<p class='soft'>{more} more are not shown.</p>" if more else ""
    if words is None:
        words = getattr(model, "feature_names_in_", None)
    if image_shape is not None:
        return Raw(picture(png_of(plot_components(shown, image_shape)), "components as images") + note)
    if words is not None:
        rows = [
            {"component": i, "top features": ", ".join(words[j] for j in np.argsort(-row)[:_TOP_WORDS])}
            for i, row in enumerate(shown)
        ]
        return Raw(table(rows) + note)
    return Raw(picture(png_of(_spectra(shown)), "components as curves") + note)


def _spectra(components: np.ndarray) -> Any:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
    ax.plot(components[:10].T, linewidth=1)
    ax.set(xlabel="feature", ylabel="component", title=f"the first {min(10, len(components))} components")
    ax.grid(alpha=0.3)
    return figure


def _codes(codes: np.ndarray) -> list[Any]:
    import matplotlib.pyplot as plt

    active = np.abs(codes) > 1e-12 * max(float(np.abs(codes).max(initial=0.0)), 1e-300)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    left.hist(active.sum(axis=1), bins=min(50, codes.shape[1] + 1))
    left.set(xlabel="components in a sample", ylabel="samples")
    right.bar(np.arange(codes.shape[1]), active.mean(axis=0))
    right.set(xlabel="component", ylabel="share of samples that use it")
    text = f"{codes.shape[0]} samples, on average {active.sum(axis=1).mean():.1f} components each."
    return [text, picture(png_of(figure), "how many components a sample has")]


def _outliers(scores: np.ndarray) -> Raw:
    worst = np.argsort(-scores)[:20]
    return table([{"sample": int(i), "score": float(scores[i])} for i in worst])
