"""Fits problems of the adversary, asks for all reports, and keeps a line about each."""

from __future__ import annotations

import json
import random
import time
import warnings
from pathlib import Path
from typing import Any

from altmin.guarantees import GuaranteeReport
from altmin_lab.adversary.kinds import Kind, kinds

_ONLY_ADDS = ("complete", "orthogonal")  # full reports look at the same samples with the same tests, and more
_NOTHING: dict[str, Any] = {"verdict": "unknown", "estimate": None, "against": [], "factors": [], "rows": {}}


def run(
    out: Path,
    families: tuple[str, ...],
    seed: int,
    per_kind: int,
    *,
    held_out: bool,
    seconds: float = float("inf"),
) -> int:
    """Run what is missing of a round, a problem of each kind in turn, in random order; how many are left."""
    done = {(row["family"], row["kind"], row["number"]) for row in read(out)}
    every = list(kinds(held_out, families))
    random.Random(seed).shuffle(every)  # a round that is stopped is a fair sample of the kinds
    plan = [(each, number) for number in range(per_kind) for each in every]
    plan = [(each, number) for each, number in plan if (each.family, each.name, number) not in done]
    begin = time.process_time()
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("a", encoding="utf-8") as file:
        for count, (each, number) in enumerate(plan):
            if time.process_time() - begin > seconds:
                return len(plan) - count
            file.write(json.dumps(examine(each, number, seed)) + "\n")
            file.flush()
    return 0


def read(path: Path) -> list[dict[str, Any]]:
    """Lines of a round; a last line that was cut off in the middle doesn't count."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return rows


def examine(each: Kind, number: int, seed: int) -> dict[str, Any]:
    """Fit one problem, ask for the reports, measure the errors."""
    trial = each.trial(seed, number)
    row: dict[str, Any] = {"family": each.family, "kind": each.name, "number": number}
    row["group"], row["holds"], row["by_nature"] = each.group, trial.holds, trial.by_nature
    model = trial.model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.process_time()
        try:
            model.fit(*trial.data)
        except ValueError as refusal:  # a clear error is no claim
            return {**row, "error": None, "refused": str(refusal)}
        row["fit_cpu"] = time.process_time() - begin
        row["error"] = trial.error(model)
        row["errors"] = None if trial.factors is None else [float(f"{e:.4g}") for e in trial.factors(model)]
        row["cheap"] = summary(model.guarantee_)
        for name, effort, assume in (
            ("declared", "cheap", trial.assume),
            ("full", "full", None),
            ("assumed", "full", trial.assume),
        ):
            if name != "full" and assume is None:
                continue
            if each.family in _ONLY_ADDS and not _claims(row["cheap"]):
                row[name] = row[
                    "cheap"
                ]  # none of these tests can be outvoted: full effort claims nothing, too
                continue
            begin = time.process_time()
            try:
                row[name] = summary(model.guarantee(*trial.data, effort=effort, assume=assume))
            except ValueError as refusal:
                row[name] = {**_NOTHING, "refused": str(refusal)}
            row[f"{name}_cpu"] = time.process_time() - begin
    return row


def _claims(said: dict[str, Any]) -> bool:
    """Whether anything is called recovered."""
    return "recovered" in (said["verdict"], *(factor[0] for factor in said["factors"]))


def summary(report: GuaranteeReport) -> dict[str, Any]:
    """Verdicts, estimates, and what stands against the fit."""
    plain = report.to_dict()
    return {
        "verdict": report.verdict,
        "estimate": plain["estimated_error"],
        "against": [row.id for row in report.decisive if row.status != "holds"],
        "factors": [[f["verdict"], f["error"], f["bound"]] for f in plain["factors"]],
        "rows": {row["id"]: row["measured"] for row in plain["conditions"] if row["decisive"]},
    }
