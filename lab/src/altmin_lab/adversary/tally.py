"""Counts of a round: false claims, true ones that were said, and how often the bounds hold.

A claim is *false* where the error is above max(.01, min(5 e, .1)), e being the error that the report itself
estimates; the error of a fit is 1 where a factor is missing or the truth can't be recovered. A fit or factor
is *wrong* above .1, *truly recovered* up to .01 (.05 with noise) where the data follow the model: elsewhere a
small error is luck, and silence is right. Data that no test can tell from others with another truth (a hidden
cause) are counted apart.
"""

from __future__ import annotations

from typing import Any

EFFORTS = {  # where there is no assumption to declare, what is said without one
    "cheap": "cheap",
    "declared": "cheap",
    "full": "full",
    "assumed": "full",
}


def tolerance(estimate: float | None) -> float:
    """Error up to which 'recovered' is right."""
    return max(0.01, min(5 * (estimate or 0.0), 0.1))


def false_claim(row: dict[str, Any], effort: str) -> bool:
    """Whether 'recovered' was said of the whole and isn't true."""
    said = row.get(effort)
    return said is not None and said["verdict"] == "recovered" and row["error"] > tolerance(said["estimate"])


def false_factors(row: dict[str, Any], effort: str) -> int:
    """How many factors were called 'recovered' and aren't."""
    said = row.get(effort)
    if said is None or not said["factors"]:
        return 0
    pairs = zip(said["factors"], row["errors"], strict=True)
    return sum(f[0] == "recovered" and error > tolerance(f[1]) for f, error in pairs)


def true_fit(row: dict[str, Any]) -> bool:
    """Whether the fit found the truth."""
    return bool(row["holds"]) and row["error"] <= (0.01 if row["group"] == "clean" else 0.05)


def tally(rows: list[dict[str, Any]], family: str) -> dict[str, Any]:
    """The line of a family."""
    mine = [row for row in rows if row["family"] == family and row["error"] is not None]
    nature = [row for row in mine if row.get("by_nature")]
    mine = [row for row in mine if not row.get("by_nature")]
    line: dict[str, Any] = {"family": family, "fits": len(mine), "wrong": sum(r["error"] > 0.1 for r in mine)}
    line["by nature"] = sum(any(false_claim(row, effort) for effort in EFFORTS) for row in nature)
    line["of"] = len(nature)
    for effort, otherwise in EFFORTS.items():
        line[f"false {effort}"] = sum(false_claim(row, effort) for row in mine)
        line[f"false factors {effort}"] = sum(false_factors(row, effort) for row in mine)
        said = [f for row in mine if row.get(effort) for f in row[effort]["factors"]]
        line[f"factors said {effort}"] = sum(f[0] == "recovered" for f in said)
        for group in ("clean", "noisy", "counts"):
            true = [row for row in mine if row["group"] == group and true_fit(row)]
            best = [row.get(effort) or row[otherwise] for row in true]
            line[f"{group}"] = len(true)
            line[f"{group} {effort}"] = sum(one["verdict"] == "recovered" for one in best)
    line["covered"], line["bounds"] = coverage(mine)
    return line


def coverage(rows: list[dict[str, Any]]) -> tuple[int, int]:
    """How many recovered factors of noisy data lie within their bound, and how many there are."""
    inside = total = 0
    for row in rows:
        said = row.get("assumed") or row["full"]
        if row["group"] == "clean" or not said["factors"]:
            continue
        for (verdict, _, bound), error in zip(said["factors"], row["errors"], strict=True):
            if verdict == "recovered" and bound is not None:
                inside += error <= bound
                total += 1
    return inside, total
