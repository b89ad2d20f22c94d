"""The judged rounds: seeds drawn once, the rules they judged, and their results."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

COLUMNS = ("family", "kind", "group", "number", "error")
FOLDER = Path("docs/calibration")


@dataclass(frozen=True)
class JudgedRound:
    """A round whose seed was drawn once, after the rules were fixed.

    Parameters
    ----------
    name : str
        Its results are ``<name>.csv`` beside the list of rounds.
    seed : int
        Of all its problems.
    rules : str
        Commit of the rules and problems that it judged.
    per_kind : dict
        Problems of a kind of share one, by family: what was planned.
    finished : list of str
        Families that were judged to the end; a round stops where a rule has failed.
    note : str
        What came of it.
    """

    name: str
    seed: int
    rules: str
    per_kind: dict[str, int]
    finished: list[str] = field(default_factory=list)
    note: str = ""


def judged_rounds(folder: Path = FOLDER) -> list[JudgedRound]:
    """All rounds that were ever judged, oldest first."""
    return [JudgedRound(**entry) for entry in json.loads((folder / "rounds.json").read_text("utf-8"))]


def final_results(folder: Path = FOLDER) -> list[dict[str, Any]]:
    """Each family's rows of the last round that judged it to the end."""
    last: dict[str, str] = {}
    for each in judged_rounds(folder):
        last.update(dict.fromkeys(each.finished, each.name))
    tables = {name: read_results(folder / f"{name}.csv") for name in set(last.values())}
    return [row for family, name in last.items() for row in tables[name] if row["family"] == family]


def seed_of(family: str, folder: Path = FOLDER) -> int:
    """The seed of the last round that judged a family to the end."""
    return [each.seed for each in judged_rounds(folder) if family in each.finished][-1]


def write_results(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Results as a small table: a line a problem."""
    efforts = [f"{effort} {what}" for effort in ("cheap", "full") for what in ("verdict", "estimate")]
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow([*COLUMNS, *efforts])
        for row in rows:
            values = [row[name] for name in COLUMNS[:-1]]
            if row["error"] is None:
                out.writerow([*values, "refused", "", "", "", ""])
                continue
            said = [row[effort][what] for effort in ("cheap", "full") for what in ("verdict", "estimate")]
            out.writerow([*values, *(_short(value) for value in (row["error"], *said))])


def read_results(path: Path) -> list[dict[str, Any]]:
    """The rows of :func:`write_results`, as ``tally`` takes them."""
    rows = []
    with path.open(newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            row: dict[str, Any] = {name: line[name] for name in COLUMNS[:-1]}
            row["error"] = None if line["error"] == "refused" else float(line["error"])
            for effort in ("cheap", "full"):
                estimate = line[f"{effort} estimate"]
                verdict = line[f"{effort} verdict"]
                row[effort] = {"verdict": verdict, "estimate": float(estimate) if estimate else None}
            rows.append(row)
    return rows


def _short(value: Any) -> Any:
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:.3g}"
