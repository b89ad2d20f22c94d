"""The judged rounds: seeds drawn once, the rules that they judged, what they found."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from altmin_lab.adversary.tally import EFFORTS

FOLDER = Path("docs/calibration")
_KEPT = ("family", "kind", "number", "group", "holds", "by_nature", "error", "errors")


@dataclass(frozen=True)
class JudgedRound:
    """A round whose seed was drawn once, after the rules were fixed, on kinds that never tuned them.

    Parameters
    ----------
    name : str
        Its results are ``<name>.jsonl.gz`` beside the list of rounds, where they are kept.
    seed : int
        Of all its problems.
    rules : str
        Commit of the rules and problems that it judged.
    per_kind : dict
        Problems of each kind, by family.
    counts : dict
        Of a round whose rules are gone, and its results with them: fits, wrong and false ones.
    note : str
        What came of it.
    """

    name: str
    seed: int
    rules: str
    per_kind: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    note: str = ""


def judged_rounds(folder: Path = FOLDER) -> list[JudgedRound]:
    """All rounds that were ever judged, oldest first."""
    return [JudgedRound(**entry) for entry in json.loads((folder / "rounds.json").read_text("utf-8"))]


def results(each: JudgedRound, folder: Path = FOLDER) -> list[dict[str, Any]]:
    """The rows of a round; none where its rules are gone."""
    path = _path(each, folder)
    lines = gzip.decompress(path.read_bytes()).decode("utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def last_results(folder: Path = FOLDER) -> list[dict[str, Any]]:
    """Each family's rows of the last round that judged it."""
    last: dict[str, list[dict[str, Any]]] = {}
    for each in judged_rounds(folder):
        rows = results(each, folder)
        for family in {row["family"] for row in rows}:
            last[family] = [row for row in rows if row["family"] == family]
    return [row for rows in last.values() for row in rows]


def keep(each: JudgedRound, rows: list[dict[str, Any]], folder: Path = FOLDER) -> None:
    """Write the results of a round: what the tables need of each problem, a line each."""
    ordered = sorted(rows, key=lambda row: (row["family"], row["kind"], row["number"]))
    lines = [json.dumps(_short(row), separators=(",", ":")) for row in ordered]
    text = "\n".join(lines) + "\n"
    packed = gzip.compress(text.encode("utf-8"), mtime=0)  # of the same rows the same bytes
    _path(each, folder).write_bytes(packed)


def _path(each: JudgedRound, folder: Path) -> Path:
    return folder / f"{each.name}.jsonl.gz"


def _short(row: dict[str, Any]) -> dict[str, Any]:
    kept = {name: row.get(name) for name in _KEPT}
    for effort in EFFORTS:
        if effort in row:
            said = row[effort]
            factors = [[f[0], _digits(f[1]), _digits(f[2])] for f in said["factors"]]
            kept[effort] = {
                "verdict": said["verdict"],
                "estimate": _digits(said["estimate"]),
                "against": said["against"],
                "factors": factors,
            }
    kept["error"] = _digits(row["error"])
    return kept


def _digits(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.3g}")
