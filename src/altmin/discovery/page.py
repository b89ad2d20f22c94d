"""A page about what was discovered, for someone who didn't run it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from altmin.discovery.result import LITTLE, Candidate, Discovery
from altmin.report.model_page import components_part
from altmin.report.page import Raw, figure_style, folded, join, page, table, tag

_BARS = 200  # columns; more are words or spectra
_MOST, _ENTRIES = 12, 8
_NOTHING = 0.01  # of the largest entry: not worth a bar
_GRID = "display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,18rem),1fr));gap:1rem 2.5rem"
_LINES = "display:grid;grid-template-columns:minmax(6rem,45%) 1fr;gap:.25rem .7rem;align-items:center"
_NAME = (  # two lines of it; the whole name shows under the pointer
    "font-size:.86rem;text-align:right;overflow-wrap:anywhere;"
    "display:-webkit-box;-webkit-line-clamp:2;-webkit-box-orient:vertical;overflow:hidden"
)
_COLOURS = {"recovered": "good", "plausible": "part", "unknown": "none", "contradicted": "bad"}
_TERMS = (
    "The target is the sum of these terms and a constant. The effect of a term is its spread over that of "
    "the target."
)
_UNCONFIRMED = (
    "Nothing confirms that rows are made of these. Take them as a suggestion: do they mean something to you?"
)
_MEANING = {
    True: "The error is the share of the target's variance, on rows held out, that each law leaves.",
    False: "The error is the share of the squared size of cells, held out from the fits, that each candidate "
    "could not predict. Low rank and noise claim nothing: they are what every claim is held against.",
}


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
            parts.append(folded("The report, with every test", Raw(found.guarantee._repr_html_())))
    if found.closest is not None:
        close = _factors(found.closest.model, image_shape, words)
        parts += [tag("h2", "What comes close"), tag("p", _UNCONFIRMED), close]
    law = any(row.family == "no relation" for row in found.candidates)
    tried = [_row(row) for row in found.candidates]
    parts += [tag("h2", "What was tried"), tag("p", _MEANING[law]), table(tried), _against(found)]
    if found.code:
        parts.append(folded("The code that gives this model", tag("pre", found.code)))
    return [join(part) for part in parts]


def _row(candidate: Candidate) -> dict[str, Any]:
    """Of the table of candidates, for a reader: shares in per cent, and few columns, for a phone."""
    factors = ", ".join(f"{n} {verdict}" for verdict, n in candidate.factors.items())
    agree = set(candidate.factors) <= {candidate.verdict}
    return {
        "tried": candidate.family,
        "number": candidate.n_components,
        "error": f"{candidate.error:.2%}" if np.isfinite(candidate.error) else "",
        "verdict": candidate.said if agree else f"{candidate.said} ({factors})",
        "seconds": round(candidate.seconds, 1),
    }


def _against(found: Discovery) -> Raw:
    """What speaks against candidates, below their table: a column of sentences is too wide for a phone."""
    noted = [row for row in found.candidates if row.note]
    told = (join(tag("b", f"{row.family}, {row.n_components}: "), row.note) for row in noted)
    return join(*(tag("p", one) for one in told))


def _law(found: Discovery, words: Sequence[str] | None) -> Raw:
    """The terms that move the target, with how much."""
    names = found.names if words is None else words
    rows = [
        {"term": term.named(names), "effect": term.weight} for term in found.terms if term.weight >= LITTLE
    ]
    return join(tag("p", _TERMS), table(rows))


def _factors(model: Any, image_shape: tuple[int, int] | None, words: Sequence[str] | None) -> Raw:
    """Bars with the names of the columns, where these are few; pictures or top features otherwise."""
    names = getattr(model, "feature_names_in_", None) if words is None else words
    if image_shape is not None or names is None or len(names) > _BARS:
        return components_part(model, image_shape, words)
    cards = [_card(model, number, list(names)) for number in range(len(model.components_[:_MOST]))]
    more = len(model.components_) - _MOST
    note = tag("p", f"{more} more are not shown.", class_="soft") if more > 0 else ""
    return join(tag("div", join(*cards), style=_GRID), note)


def _card(model: Any, number: int, names: list[str]) -> Raw:
    """One factor: its verdict, and its largest entries as bars, those below 0 in another colour."""
    row = np.asarray(model.components_[number], dtype=np.float64)
    top = np.argsort(-np.abs(row), kind="stable")[:_ENTRIES]
    top = top[np.abs(row[top]) > _NOTHING * np.abs(row).max()]
    report = model.guarantee_
    verdict = report.factors[number].verdict if report.factors else ""
    lines = [
        join(
            tag("dt", names[i], style=_NAME, title=names[i]),
            tag("dd", _bar(row[i] / np.abs(row).max()), style="margin:0"),
        )
        for i in top
    ]
    mark = tag("span", verdict, class_=f"verdict {_COLOURS[verdict]}") if verdict else ""
    head = tag("h3", join(f"Factor {number} ", mark))
    return tag("div", join(head, tag("dl", join(*lines), style=_LINES)))


def _bar(share: float) -> Raw:
    colour = "#0072b2" if share >= 0 else "#d55e00"
    style = f"display:block;height:.8em;width:{100 * abs(share):.0f}%;background:{colour};border-radius:2px"
    return tag("span", "", style=style, title=f"{share:+.2f} of the largest")
