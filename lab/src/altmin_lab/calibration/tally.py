"""Counts: claimed against true recovery.

A fit is *truly recovered* where its error is at most .01 (.05 on data with noise), *wrong* where it is above
.1. 'recovered' is *false* where the error is above max(.01, min(5 e, .1)), e being the error that the report
itself estimates: it may not excuse itself by estimating a large one. On data of another model, or of none,
every answer is wrong, and 'recovered' or 'plausible' is *too green*.
"""

from __future__ import annotations

from typing import Any

EFFORTS = ("cheap", "full")
EXACT, NOISY, WRONG = 0.01, 0.05, 0.1


def tolerance(estimate: float | None) -> float:
    """Error up to which 'recovered' is right."""
    return max(EXACT, min(5 * (estimate or 0.0), WRONG))


def truly_recovered(row: dict[str, Any]) -> bool:
    """Whether the fit found the truth."""
    return row["error"] <= (NOISY if row["group"] == "noisy" else EXACT)


def false_claim(row: dict[str, Any], effort: str) -> bool:
    """Whether 'recovered' was said and isn't true."""
    said = row[effort]
    return said["verdict"] == "recovered" and row["error"] > tolerance(said["estimate"])


def too_green(row: dict[str, Any], effort: str) -> bool:
    """Whether data of another model, or of none, were called 'recovered' or 'plausible'."""
    return row["group"] in ("other", "noise") and row[effort]["verdict"] in ("recovered", "plausible")


def tally(rows: list[dict[str, Any]], family: str) -> dict[str, Any]:
    """The line of a family in the table."""
    mine = [row for row in rows if row["family"] == family and row["error"] is not None]
    line: dict[str, Any] = {
        "family": family,
        "problems": sum(row["family"] == family for row in rows),
        "wrong": sum(row["error"] > WRONG for row in mine),
    }
    for group in ("clean", "noisy"):
        right = [row for row in mine if row["group"] == group and truly_recovered(row)]
        line[group] = len(right)
        for effort in EFFORTS:
            said = sum(row[effort]["verdict"] == "recovered" for row in right)
            line[f"{group} {effort}"] = said / max(len(right), 1)
    for effort in EFFORTS:
        line[f"false {effort}"] = sum(false_claim(row, effort) for row in mine)
        line[f"too green {effort}"] = sum(too_green(row, effort) for row in mine)
    line["foreign"] = sum(row["group"] in ("other", "noise") for row in mine)
    return line
