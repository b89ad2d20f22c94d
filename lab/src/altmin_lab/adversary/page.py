"""The calibration's page of the documentation: tables of the judged rounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from altmin_lab.adversary.kinds import FAMILIES, kinds
from altmin_lab.adversary.rounds import FOLDER, judged_rounds, last_results, results
from altmin_lab.adversary.tally import EFFORTS, false_claim, false_factors, tally, true_fit

NAMES = {
    "and": "AND",
    "complete": "complete dictionaries",
    "orthogonal": "orthogonal dictionaries",
    "online": "online dictionaries",
    "machine": "factorization machine",
    "sensing": "rank-one sensing",
}
_MARK = "<!-- tables: written by `make calibrate`, not by hand -->"


def write_page(folder: Path = FOLDER) -> None:
    """Renew the tables below the mark in ``index.md``."""
    last = last_results(folder)
    page = folder / "index.md"
    text = page.read_text(encoding="utf-8").split(_MARK)[0].rstrip()
    parts = [text, _MARK, "## The last judged round of each family", claims(last)]
    parts += ["### Said where it is true", said(last)]
    parts += ["## Every judged round", history(folder)]
    parts += ["## By kind of data (the last rounds)", *(by_kind(last, family) for family in FAMILIES)]
    page.write_text("\n\n".join(filter(None, parts)) + "\n", encoding="utf-8")


def claims(rows: list[dict[str, Any]]) -> str:
    """False claims of each family, and how many errors lie within their bounds."""
    lines = [
        "| family | fits | wrong | false 'recovered' (with the fit / declared / full / declared) "
        "| factors said | false ones | errors within the 90 % bound | false by nature (hidden causes) |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for family in FAMILIES:
        t = tally(rows, family)
        if t["fits"]:
            false, said_factors, wrong_factors = (
                " / ".join(str(t[f"{what} {effort}"]) for effort in EFFORTS)
                for what in ("false", "factors said", "false factors")
            )
            nature = f"{t['by nature']} of {t['of']}" if t["of"] else "-"
            covered = f"{t['covered']} of {t['bounds']}" if t["bounds"] else "-"
            lines.append(
                f"| {NAMES[family]} | {t['fits']} | {t['wrong']} | {false} | {said_factors} "
                f"| {wrong_factors} | {covered} | {nature} |"
            )
    return "\n".join(lines)


def said(rows: list[dict[str, Any]]) -> str:
    """How many true recoveries are called so, by noise and effort."""
    groups = (("clean", "without noise"), ("noisy", "with noise"), ("counts", "counts"))
    lines = [
        "| family | data | truly recovered | said with the fit | with the true assumption declared "
        "| at full effort | with the true assumption declared |",
        "|---|---|---|---|---|---|---|",
    ]
    for family in FAMILIES:
        t = tally(rows, family)
        for group, name in groups:
            if t[group]:
                found = " | ".join(str(t[f"{group} {effort}"]) for effort in EFFORTS)
                lines.append(f"| {NAMES[family]} | {name} | {t[group]} | {found} |")
    return "\n".join(lines)


def history(folder: Path = FOLDER) -> str:
    """All rounds with their false claims, the failed ones too."""
    lines = [
        "| round | seed | rules | fits | wrong | false 'recovered', all efforts | what came of it |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in judged_rounds(folder):
        counts = each.counts or _totals(results(each, folder))
        numbers = " | ".join(str(counts.get(name, 0)) for name in ("fits", "wrong", "false"))
        lines.append(f"| {each.name} | {each.seed} | `{each.rules}` | {numbers} | {each.note} |")
    return "\n".join(lines)


def by_kind(rows: list[dict[str, Any]], family: str) -> str:
    """Truly recovered, said and false, by perturbation; all bases together."""
    mine = [row for row in rows if row["family"] == family and row["error"] is not None]
    if not mine:
        return ""
    lines = [
        f"### {NAMES[family]}",
        "",
        "| kind | fits | wrong | truly recovered | 'recovered' (with the fit / declared / full / declared) "
        "| false | factors said | false |",
        "|---|---|---|---|---|---|---|---|",
    ]
    names = (each.perturbation.name for side in (False, True) for each in kinds(side, (family,)))
    for name in dict.fromkeys(names):
        of = [row for row in mine if row["kind"].endswith(f" x {name}")]
        if not of:
            continue
        claimed = " / ".join(
            str(sum(effort in row and row[effort]["verdict"] == "recovered" for row in of))
            for effort in EFFORTS
        )
        false = sum(false_claim(row, effort) for row in of for effort in EFFORTS)
        factors = sum(
            f[0] == "recovered"
            for row in of
            for effort in EFFORTS
            if effort in row
            for f in row[effort]["factors"]
        )
        lies = sum(false_factors(row, effort) for row in of for effort in EFFORTS)
        wrong = sum(row["error"] > 0.1 for row in of)
        lines.append(
            f"| {name} | {len(of)} | {wrong} | {sum(map(true_fit, of))} | {claimed} "
            f"| {false} | {factors} | {lies} |"
        )
    return "\n".join(lines)


def _totals(rows: list[dict[str, Any]]) -> dict[str, int]:
    counts = [tally(rows, family) for family in FAMILIES]
    return {
        "fits": sum(t["fits"] for t in counts),
        "wrong": sum(t["wrong"] for t in counts),
        "false": sum(t[f"false {effort}"] for t in counts for effort in EFFORTS),
    }
