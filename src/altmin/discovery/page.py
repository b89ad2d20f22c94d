"""A page about what was discovered, for someone who didn't run it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from altmin.discovery.result import LITTLE, Discovery
from altmin.plots import ComponentsDisplay
from altmin.report.model_page import components_part
from altmin.report.page import Raw, drawn, figure_style, folded, join, page, table, tag

_BARS = 40  # columns whose names fit beside bars
_MOST = 12


def write_page(found: Discovery, out: Path, title: str, **options: Any) -> Path:
    """Write the page to a file.

    Parameters
    ----------
    found : Discovery
        What to show.
    out : Path
        The file.
    title : str
        For example the name of the table.
    **options : dict
        ``image_shape`` and ``words``, as for the page about a model.

    Returns
    -------
    Path
        The file.
    """
    with figure_style():
        parts = parts_of(found, **options)
    out.write_text(page(title, *parts, lead=found.answer), encoding="utf-8")
    return out


def parts_of(
    found: Discovery, image_shape: tuple[int, int] | None = None, words: Sequence[str] | None = None
) -> list[Raw]:
    """The parts of the page: how sure, the factors, what was tried, what to do, the code."""
    sure = [tag("p", sentence) for sentence in (*found.why[1:], *found.notes, *found.look.notes)]
    parts = [tag("h2", "How sure is that?"), *sure]
    if found.best is not None:
        if hasattr(found.best, "components_"):
            parts += [tag("h2", "The factors"), _factors(found.best, image_shape, words)]
        if found.terms:
            parts += [tag("h2", "The law"), _law(found, words)]
        if found.guarantee is not None:
            parts += [tag("h2", "The report"), Raw(found.guarantee._repr_html_())]
    parts += [
        tag("h2", "What was tried"),
        tag(
            "p",
            "The error is the share of cells, held out from the fits, that each candidate could not predict. "
            "Low rank and noise claim nothing: they are what every claim has to be better than.",
        ),
        table([row.to_dict() for row in found.candidates]),
    ]
    if found.code:
        parts.append(folded("The code that gives this model", tag("pre", found.code)))
    return [join(part) for part in parts]


def _law(found: Discovery, words: Sequence[str] | None) -> Raw:
    """The terms that move the target, with how much."""
    names = found.names if words is None else words
    rows = [
        {"term": term.named(names), "moves the target by, in its spreads": term.weight}
        for term in found.terms
        if term.weight >= LITTLE
    ]
    return join(tag("p", "The target is the sum of these terms and a constant."), table(rows))


def _factors(model: Any, image_shape: tuple[int, int] | None, words: Sequence[str] | None) -> Raw:
    """Bars with the names of the columns, where these are few; pictures or top features otherwise."""
    names = list(words) if words is not None else None
    if image_shape is not None or names is None or len(names) > _BARS:
        return components_part(model, image_shape, words)
    display = ComponentsDisplay(model.components_[:_MOST], feature_names=names)
    more = len(model.components_) - _MOST
    note = tag("p", f"{more} more are not shown.", class_="soft") if more > 0 else ""
    return join(drawn(lambda: display.plot().figure_, "the factors, with the names of the columns"), note)
