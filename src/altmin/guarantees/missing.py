"""What a report may still say where entries are missing: less, never more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from altmin.guarantees.report import Condition, GuaranteeReport, check

Holes = dict[str, float]
_NOTE = "entries are missing: no verdict above 'plausible' is calibrated for completed data"


def holes_of(completion: Any) -> Holes:
    """What the report needs of a completion: shares, counts, and how well the observed entries fit."""
    names = ("share", "fewest", "poor", "ratio", "residual")
    return {name: float(getattr(completion, name)) for name in names} | {"rank": completion.basis.shape[1]}


def with_missing(report: GuaranteeReport, holes: Holes) -> GuaranteeReport:
    """The report of completed data: conditions of the completion added, 'recovered' lowered to 'plausible'.

    Parameters
    ----------
    report : GuaranteeReport
        As if the completed coordinates were the data.
    holes : dict
        From :func:`holes_of`.

    Returns
    -------
    GuaranteeReport
        'not supported' where the observed entries cannot fix the model.
    """
    rows = _conditions(holes)
    verdict = "plausible" if report.verdict == "recovered" else report.verdict
    if any(row.decisive and row.status != "holds" for row in rows):
        verdict = "not supported"
    advice = "; ".join(part for part in (report.advice, _NOTE) if part)
    return replace(report, verdict=verdict, conditions=(*rows, *report.conditions), advice=advice)


def _conditions(holes: Holes) -> tuple[Condition, ...]:
    D = holes["rank"]
    return (
        check(
            "share of observed entries", "p", "evidence", holes["share"],
            meaning="for information; holes are assumed to be independent of the values",
        ),
        check(
            "observed entries for each unknown", "n_obs", "evidence", holes["ratio"], at_least=1.5,
            meaning="below 1 the low-rank model isn't fixed by the observed entries", decisive=True,
        ),
        check(
            "every feature is observed", "n_w", "evidence", holes["fewest"], at_least=2 * D,
            meaning="observed entries of the feature that has fewest; at least twice the components",
            decisive=True,
        ),
        check(
            "samples say enough", "poor", "evidence", holes["poor"], at_most=0.2,
            meaning="share of the samples whose observed entries leave a component open", decisive=True,
        ),
    )  # fmt: skip
