"""The guarantee report: the theorems' conditions, measured, and a verdict never green by default."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from typing import Any, Literal

from altmin.io.records import record

Status = Literal["holds", "violated", "cannot be checked"]
Verdict = Literal["recovered", "plausible", "not supported"]

_MARKS = {"holds": "+", "violated": "-", "cannot be checked": "?"}
# White letters on these are readable in light and dark notebooks alike.
_COLOURS = {"holds": "#1a7f37", "violated": "#b42318", "cannot be checked": "#656d76"}
_VERDICT_COLOURS = {"recovered": "#1a7f37", "plausible": "#8a6100", "not supported": "#b42318"}
_STYLE = """<style>
.altmin-guarantee { font-family: system-ui, sans-serif; }
.altmin-guarantee table { border-collapse: collapse; width: 100%; margin: .6em 0; }
.altmin-guarantee th, .altmin-guarantee td { text-align: left; vertical-align: top; white-space: normal;
  padding: .45em 1em .45em 0; border-bottom: 1px solid rgb(128 128 128 / 30%); }
.altmin-guarantee th { padding-top: 1.1em; } .altmin-guarantee td + td + td small { white-space: nowrap; }
.altmin-guarantee small { opacity: .75; }
.altmin-guarantee .pill { display: inline-block; padding: .05em .6em; border-radius: 99px; color: #fff;
  font-size: .85em; font-weight: 600; white-space: nowrap; }
@media (max-width: 44rem) {
  .altmin-guarantee tr { display: block; padding: .5em 0; border-bottom: 1px solid rgb(128 128 128 / 30%); }
  .altmin-guarantee td, .altmin-guarantee th { display: block; padding: .1em 0; border: 0; }
  .altmin-guarantee td + td + td small { white-space: normal; }
  .altmin-guarantee td + td + td br { display: none; }
}
</style>"""


@record
class Condition:
    """One row of the report.

    Parameters
    ----------
    name : str
        In a few words, for example 'facets are spanned'.
    symbol : str
        As in the paper.
    reference : str
        Where it stands, for example 'Li & Liang 2017, Definition 1.3', or 'evidence' for a test that
        works in practice and isn't part of a theorem.
    measured : float or None
        What was measured; None where it cannot be.
    required : str
        What it is held against, for example '>= 0.25'.
    status : {'holds', 'violated', 'cannot be checked'}
        The result.
    meaning : str
        A sentence for the user: what follows, what to do.
    decisive : bool
        Whether the verdict rests on it. The theorems' own constants mostly don't discriminate, and
        are shown for information.
    """

    name: str
    symbol: str
    reference: str
    measured: float | None
    required: str
    status: str
    meaning: str
    decisive: bool = False

    def __str__(self) -> str:
        return (
            f"[{_MARKS[self.status]}] {self.name} ({self.symbol}; {self.reference}): "
            f"{_number(self.measured)}, required {self.required}: {self.status}. {self.meaning}"
        )


@record
class GuaranteeReport:
    """Whether the fit found the true factors, and why or why not.

    Parameters
    ----------
    verdict : {'recovered', 'plausible', 'not supported'}
        'recovered' is said only where calibrated evidence supports it.
    conditions : tuple of Condition
        The rows.
    effort : {'cheap', 'full'}
        How much was spent: 'full' refits on halves and from other starts.
    estimated_error : float or None
        The report's own estimate of the largest error of a component.
    advice : str
        What to do next where the verdict isn't 'recovered'.
    claim : str
        What exactly is claimed to be recovered, in the model's own terms.
    """

    verdict: str
    conditions: tuple[Condition, ...]
    effort: str = "cheap"
    estimated_error: float | None = None
    advice: str = ""
    claim: str = ""

    def __iter__(self) -> Iterator[Condition]:
        return iter(self.conditions)

    def __getitem__(self, name: str) -> Condition:
        for condition in self.conditions:
            if name in (condition.name, condition.symbol):
                return condition
        raise KeyError(f"no condition {name!r}; there are {[c.name for c in self.conditions]}")

    def __str__(self) -> str:
        head = f"guarantee: {self.verdict} ({self.effort} effort)"
        if self.estimated_error is not None:
            head += f", estimated error {_number(self.estimated_error)}"
        lines = [head, *(f"  {condition}" for condition in self.conditions)]
        return "\n".join(lines + ([f"  next: {self.advice}"] if self.advice else []))

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON-ready data."""
        rows = [{**vars(condition), "measured": _plain(condition.measured)} for condition in self.conditions]
        return {**vars(self), "estimated_error": _plain(self.estimated_error), "conditions": rows}

    def _repr_html_(self) -> str:
        parts = {"What the verdict rests on": True, "For information": False}
        rows = "".join(_html_rows(title, self.conditions, decisive) for title, decisive in parts.items())
        error = "" if self.estimated_error is None else f" · estimated error {_number(self.estimated_error)}"
        advice = f"<p><b>Next:</b> {html.escape(self.advice)}</p>" if self.advice else ""
        return (
            f"<div class='altmin-guarantee'>{_STYLE}"
            f"<p>{_pill(self.verdict, _VERDICT_COLOURS[self.verdict])} {html.escape(self.claim)} "
            f"<small>({self.effort} effort{error})</small></p>"
            f"<table><tbody>{rows}</tbody></table>{advice}</div>"
        )


def check(
    name: str,
    symbol: str,
    reference: str,
    measured: float | None,
    *,
    at_most: float | None = None,
    at_least: float | None = None,
    meaning: str,
    decisive: bool = False,
) -> Condition:
    """A condition judged by a bound; NaN or None means that it cannot be checked.

    Parameters
    ----------
    name, symbol, reference : str
        As in :class:`Condition`.
    measured : float or None
        The measured value.
    at_most, at_least : float, optional
        The bounds that it must keep; without any it cannot be checked.
    meaning : str
        For the user.
    decisive : bool
        Whether the verdict rests on it.

    Returns
    -------
    Condition
        With its status.
    """
    bounds = [
        f"{sign} {_number(bound)}" for sign, bound in (("<=", at_most), (">=", at_least)) if bound is not None
    ]
    if measured is None or math.isnan(measured) or not bounds:
        status = "cannot be checked"
    else:
        holds = (at_most is None or measured <= at_most) and (at_least is None or measured >= at_least)
        status = "holds" if holds else "violated"
    value = None if measured is None else float(measured)
    return Condition(
        name, symbol, reference, value, " and ".join(bounds) or "not known", status, meaning, decisive
    )


def _number(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.3g}"


def _plain(value: float | None) -> float | None:
    return value if value is None or math.isfinite(value) else None


def _pill(text: str, colour: str) -> str:
    return f"<span class='pill' style='background:{colour}'>{text}</span>"


def _html_rows(title: str, conditions: tuple[Condition, ...], decisive: bool) -> str:
    rows = "".join(_html_row(condition) for condition in conditions if condition.decisive is decisive)
    return f"<tr><th colspan='4'>{title}</th></tr>{rows}" if rows else ""


def _html_row(condition: Condition) -> str:
    source = html.escape(f"{condition.symbol}, {condition.reference}")
    cells = (
        _pill(condition.status, _COLOURS[condition.status]),
        f"{html.escape(condition.name)}<br><small>{source}</small>",
        f"{_number(condition.measured)} <br><small>required {html.escape(condition.required)}</small>",
        html.escape(condition.meaning),
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
