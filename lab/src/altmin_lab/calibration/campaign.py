"""Fits every problem of a round and writes a line about each; what is written isn't run again."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from altmin.guarantees import GuaranteeReport
from altmin_lab.calibration.trial import Kind, kinds


def plan(families: tuple[str, ...], per_kind: int) -> Iterator[tuple[Kind, int]]:
    """Problems of a round: ``per_kind`` times its share of each kind, one of each in turn."""
    everything = [each for family in families for each in kinds(family)]
    for turn in range(per_kind):
        for each in everything:
            for number in range(turn * each.share, (turn + 1) * each.share):
                yield each, number


def run(
    out: Path,
    families: tuple[str, ...],
    seed: int,
    per_kind: int,
    seconds: float = float("inf"),
    part: tuple[int, int] = (0, 1),
) -> int:
    """Run what is missing of a round.

    Parameters
    ----------
    out : Path
        File of JSON lines; it is appended to.
    families : tuple of str
        Which families.
    seed : int
        Of the round.
    per_kind : int
        Problems of a kind of share one.
    seconds : float
        CPU time after which it stops, to be called again.
    part : (int, int)
        (i, n): only every n-th problem, from the i-th on; for several processes with a file each.

    Returns
    -------
    int
        How many problems are still to run.
    """
    rows = read(out) if out.exists() else []
    done = {(row["family"], row["kind"], row["number"]) for row in rows}
    missing = [
        (each, number)
        for place, (each, number) in enumerate(plan(families, per_kind))
        if place % part[1] == part[0] and (each.family, each.name, number) not in done
    ]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")  # without a torn line
    begin = time.process_time()
    with out.open("a", encoding="utf-8") as file:
        for count, (each, number) in enumerate(missing):
            if time.process_time() - begin > seconds:
                return len(missing) - count
            file.write(json.dumps(examine(each, number, seed)) + "\n")
            file.flush()
    return 0


def read(path: Path) -> list[dict[str, Any]]:
    """Lines of a round; a last line that was cut off in the middle doesn't count."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return rows


def examine(each: Kind, number: int, seed: int) -> dict[str, Any]:
    """Fit one problem, ask for both reports, measure the error."""
    trial = each.trial(seed, number)
    row: dict[str, Any] = {"family": each.family, "kind": each.name, "group": each.group, "number": number}
    model = trial.model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.process_time()
        try:
            model.fit(*trial.data)
        except ValueError as refusal:  # a clear error is no claim
            return {**row, "error": None, "refused": str(refusal)}
        row["fit_cpu"] = time.process_time() - begin
        row["error"] = 1.0 if trial.error is None else trial.error(model)
        row["cheap"] = summary(model.guarantee_)
        begin = time.process_time()
        try:
            row["full"] = summary(model.guarantee(*trial.data, effort="full"))
        except ValueError as refusal:
            row["full"] = {"verdict": "unknown", "estimate": None, "rows": {}, "refused": str(refusal)}
        row["full_cpu"] = time.process_time() - begin
    return row


def summary(report: GuaranteeReport) -> dict[str, Any]:
    """Verdict, estimate and what was measured."""
    plain = report.to_dict()
    measured = {each["symbol"]: each["measured"] for each in plain["conditions"]}
    return {"verdict": report.verdict, "estimate": plain["estimated_error"], "rows": measured}
