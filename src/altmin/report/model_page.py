"""A page about one model: what it found, how it got there, and whether to believe it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from altmin.plots import CodesDisplay, ComponentsDisplay, ConvergenceDisplay, OutliersDisplay
from altmin.report.laws import law_of
from altmin.report.page import Raw, drawn, figure_style, folded, join, page, table, tag

_MOST_COMPONENTS = 60
_MOST_SPECTRA = 10
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
        One word per feature: components are shown by their top words.

    Returns
    -------
    str
        A self-contained page.
    """
    with figure_style():
        parts = _parts(model, X, image_shape, words)
    return page(type(model).__name__, *parts, lead=str(getattr(model, "outcome_", "")))


def _parts(model: Any, X: Any, image_shape: tuple[int, int] | None, words: Sequence[str] | None) -> list[Any]:
    parts: list[Any] = []
    if hasattr(model, "guarantee_"):
        parts += [Raw("<h2>Is it the truth?</h2>"), Raw(model.guarantee_._repr_html_())]
    if hasattr(model, "components_"):
        parts += [Raw("<h2>Components</h2>"), components_part(model, image_shape, words)]
    if (law := law_of(model, image_shape, words)) is not None:
        parts.append(law)
    if getattr(model, "history_", None):
        course = drawn(lambda: ConvergenceDisplay.from_estimator(model).figure_, "the course of the fit")
        parts += [Raw("<h2>Convergence</h2>"), course]
    if X is not None and hasattr(model, "transform"):
        parts += [Raw("<h2>Codes</h2>"), _codes(model, X)]
    if getattr(model, "outlier_scores_", None) is not None:
        parts += [Raw("<h2>Outlying samples</h2>"), _outliers(model)]
    return [*parts, Raw("<h2>Settings</h2>"), _parameters(model)]


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


def components_part(model: Any, image_shape: tuple[int, int] | None, words: Sequence[str] | None) -> Raw:
    """The components as pictures, or by their largest features where these have names."""
    shown = model.components_[:_MOST_COMPONENTS]
    more = len(model.components_) - len(shown)
    note = tag("p", f"{more} more are not shown.", class_="soft") if more else ""
    if words is None and image_shape is None:
        words = getattr(model, "feature_names_in_", None)
    if image_shape is None and words is not None:
        rows = [
            {"component": i, "top features": ", ".join(str(words[j]) for j in top)}
            for i, top in enumerate(np.argsort(-shown, axis=1, kind="stable")[:, :_TOP_WORDS])
        ]
        return join(table(rows), note)
    if image_shape is None:
        shown = shown[:_MOST_SPECTRA]
        note = tag("p", f"The first {len(shown)} of {len(model.components_)}.", class_="soft")
    display = ComponentsDisplay(shown, image_shape=image_shape)
    return join(drawn(lambda: display.plot().figure_, f"components as {display.kind}"), note)


def _codes(model: Any, X: Any) -> Raw:
    display = CodesDisplay(model.transform(X))
    text = f"{len(display.counts)} samples, on average {display.counts.mean():.1f} components each."
    return join(tag("p", text), drawn(lambda: display.plot().figure_, "how many components a sample has"))


def _outliers(model: Any) -> Raw:
    display = OutliersDisplay(model.outlier_scores_, getattr(model, "outlier_mask_", None))
    rows = [{"sample": int(i), "score": float(display.scores[i])} for i in display.worst()]
    course = drawn(lambda: display.plot().figure_, "outlier scores")
    return join(course, folded("the 20 most outlying samples", table(rows)))
