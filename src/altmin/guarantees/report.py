"""The guarantee report: the theorems' conditions, measured, and a verdict never green by default."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Literal

from altmin.guarantees.rendering import html_page, number, rich_text, text_lines, text_page
from altmin.io.records import record

Status = Literal["holds", "violated", "cannot be checked"]
Verdict = Literal["recovered", "plausible", "unknown", "contradicted"]
VERDICTS: tuple[str, ...] = ("recovered", "plausible", "unknown", "contradicted")  # best first


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
    at_most, at_least : float or None
        The bounds as numbers, for pictures.
    id : str
        Under which code refers to it; by default its name in lower case with underscores.
    otherwise : {'contradicted', 'unknown', 'plausible'}
        What may be said at best where it is violated: a test that rejects the fit contradicts it, one that
        asks for more data leaves it unknown, one that leaves an alternative makes it plausible.
    """

    name: str
    symbol: str
    reference: str
    measured: float | None
    required: str
    status: str
    meaning: str
    decisive: bool = False
    at_most: float | None = None
    at_least: float | None = None
    id: str = ""
    otherwise: str = "unknown"

    @property
    def leaves(self) -> str:
        """The best verdict that it leaves."""
        if self.status == "holds":
            return "recovered"
        if self.status == "violated":
            return self.otherwise
        return "plausible" if self.otherwise == "plausible" else "unknown"

    def __str__(self) -> str:
        return text_lines(self)


@record
class Factor:
    """One line of the report's table of components.

    Parameters
    ----------
    number : int
        Row of ``components_``.
    verdict : str
        As for the whole fit.
    error, bound : float or None
        Estimated angle to the true component, in radians, and what it stays below with 90 % confidence.
    samples : int
        How many samples carry it.
    against : str
        What stands against it; empty where nothing does.
    """

    number: int
    verdict: str
    error: float | None = None
    bound: float | None = None
    samples: int = 0
    against: str = ""


@record
class GuaranteeReport:
    """Whether the fit found the true factors, and why or why not.

    Parameters
    ----------
    verdict : {'recovered', 'plausible', 'unknown', 'contradicted'}
        The least of its factors and of what speaks of the whole. 'recovered': within the printed error of
        the truth, under the printed assumptions. 'plausible': it fits, but a named alternative or an
        assumption that data can't decide remains. 'unknown': the tests have no power here. 'contradicted':
        a test rejects it.
    conditions : tuple of Condition
        The rows.
    effort : {'cheap', 'full'}
        How much was spent: 'full' refits on halves and from other starts.
    estimated_error : float or None
        The report's own estimate of the largest error of a component.
    advice : str
        What to do next where the verdict isn't 'recovered', one thing after another, with '; ' between.
    claim : str
        What exactly is claimed to be recovered, in the model's own terms.
    factors : tuple of Factor
        One line per component, in the order of ``components_``; empty where there is no such table. It goes
        into a DataFrame: ``pandas.DataFrame(report.factors)``.
    assumptions : tuple of str
        What the claim assumes and data can't decide.
    """

    verdict: str
    conditions: tuple[Condition, ...]
    effort: str = "cheap"
    estimated_error: float | None = None
    advice: str = ""
    claim: str = ""
    factors: tuple[Factor, ...] = ()
    assumptions: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Condition]:
        return iter(self.conditions)

    def __getitem__(self, name: str) -> Condition:
        for condition in self.conditions:
            if name in (condition.id, condition.name, condition.symbol):
                return condition
        raise KeyError(f"no condition {name!r}; there are {[c.name for c in self.conditions]}")

    @property
    def decisive(self) -> tuple[Condition, ...]:
        """The rows that the verdict rests on."""
        return tuple(condition for condition in self.conditions if condition.decisive)

    @property
    def violated(self) -> tuple[Condition, ...]:
        """The rows that don't hold."""
        return tuple(condition for condition in self.conditions if condition.status == "violated")

    def __str__(self) -> str:
        return text_page(self)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON-ready data."""
        numbers = ("measured", "at_most", "at_least")
        rows = [
            {**vars(condition), **{name: _plain(getattr(condition, name)) for name in numbers}}
            for condition in self.conditions
        ]
        factors = [
            {**vars(factor), "error": _plain(factor.error), "bound": _plain(factor.bound)}
            for factor in self.factors
        ]
        error = _plain(self.estimated_error)
        return {**vars(self), "estimated_error": error, "conditions": rows, "factors": factors}

    def to_json(self, **options: Any) -> str:
        """The report as JSON; ``options`` go to ``json.dumps``."""
        return json.dumps(self.to_dict(), **options)

    def _repr_html_(self) -> str:
        return html_page(self)

    def __rich__(self) -> Any:
        return rich_text(self)


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
    id: str | None = None,
    otherwise: str = "unknown",
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
        Whether the verdict rests on it; :func:`altmin.guarantees.contract.judge` decides that by its rules.
    id : str, optional
        Under which code refers to it.
    otherwise : {'contradicted', 'unknown', 'plausible'}
        What may be said at best where it is violated.

    Returns
    -------
    Condition
        With its status.
    """
    bounds = [
        f"{sign} {number(bound)}" for sign, bound in (("<=", at_most), (">=", at_least)) if bound is not None
    ]
    if measured is None or math.isnan(measured) or not bounds:
        status = "cannot be checked"
    else:
        holds = (at_most is None or measured <= at_most) and (at_least is None or measured >= at_least)
        status = "holds" if holds else "violated"
    value = None if measured is None else float(measured)
    required = " and ".join(bounds) or "not known"
    bound = {"at_most": _plain(at_most), "at_least": _plain(at_least)}
    facts: dict[str, Any] = {**bound, "id": id or _slug(name), "otherwise": otherwise}
    return Condition(name, symbol, reference, value, required, status, meaning, decisive, **facts)


def unchecked(name: str, symbol: str, reference: str, why: str) -> Condition:
    """A condition of a theorem that no data can check, with the reason.

    Parameters
    ----------
    name, symbol, reference : str
        As in :class:`Condition`.
    why : str
        The reason.

    Returns
    -------
    Condition
        'cannot be checked'.
    """
    return Condition(name, symbol, reference, None, "assumed", "cannot be checked", why, id=_slug(name))


def _slug(name: str) -> str:
    return re.sub(r"\W+", "_", name.lower()).strip("_")


def _plain(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None
