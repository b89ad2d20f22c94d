"""A claim with its evidence, as it is kept in a file.

A finding's file is named for the claim, the size of the run and a digest of the code; it is written whole
or not at all, its pictures before it.
"""

from __future__ import annotations

import json
import os
import time
import traceback
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from altmin.report.page import figure_style, png_of
from altmin_lab.digest import digest_of
from altmin_lab.ledger import CANNOT, Claim, Evidence


@dataclass(frozen=True)
class Finding:
    """A judged claim. ``figures`` maps a name to the PNG file beside it; times are seconds."""

    name: str
    paper: str
    where: str
    says: str
    verdict: str
    summary: str
    setting: str
    measured: dict[str, float] = field(default_factory=dict)
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    figures: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    cpu: float = 0.0
    cached: bool = False
    sentence: str = ""
    hypotheses: dict[str, dict[str, Any]] = field(default_factory=dict)
    wrong: str = ""


def key_of(claim: Claim, quick: bool) -> str:
    """The stem of a finding's file."""
    return f"{claim.name}-{'quick' if quick else 'full'}-{digest_of(claim.experiment.__module__)}"


def load_finding(claim: Claim, quick: bool, results: Path) -> Finding | None:
    """The kept finding of this code and size, or None."""
    try:
        text = (results / f"{key_of(claim, quick)}.json").read_text(encoding="utf-8")
        known = Finding(**{**json.loads(text), "cached": True})
    except (OSError, ValueError, TypeError):
        return None
    return known if all((results / file).exists() for file in known.figures.values()) else None


def judge_claim(claim: Claim, quick: bool, results: Path) -> Finding:
    """Run a claim's experiment and keep the finding.

    One that cannot be run is not kept: data or a peer may be there the next time.

    Parameters
    ----------
    claim : Claim
        What to judge.
    quick : bool
        Whether by a small run.
    results : Path
        Folder for the finding and its pictures.

    Returns
    -------
    Finding
        As in the file.
    """
    begin, cpu = time.perf_counter(), time.process_time()
    evidence = _evidence(claim, quick)
    finding = Finding(
        claim.name,
        claim.paper,
        claim.where,
        claim.says,
        evidence.verdict,
        evidence.summary,
        evidence.setting,
        {key: float(value) for key, value in evidence.measured.items()},
        {title: [_plain_row(row) for row in rows] for title, rows in evidence.tables.items()},
        _draw(evidence, key_of(claim, quick), results),
        round(time.perf_counter() - begin, 1),
        round(time.process_time() - cpu, 1),
        sentence=claim.sentence,
        hypotheses={name: {"met": bool(c.met), "found": c.found} for name, c in evidence.hypotheses.items()},
        wrong=claim.wrong.says if claim.wrong else "",
    )
    if finding.verdict != CANNOT:
        _write(results / f"{key_of(claim, quick)}.json", json.dumps(asdict(finding), indent=1).encode())
    return finding


def _evidence(claim: Claim, quick: bool) -> Evidence:
    try:
        return claim.experiment(quick)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        reason = f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})"
        return Evidence(CANNOT, reason, "the run ended in an error")


def _draw(evidence: Evidence, key: str, results: Path) -> dict[str, str]:
    files = {}
    with figure_style():
        for name, draw in evidence.figures.items():
            files[name] = f"{key}-{name}.png".replace(" ", "-").replace(",", "")
            (results / files[name]).write_bytes(png_of(draw()))
    return files


def _write(path: Path, content: bytes) -> None:
    """All of it, or nothing: a run may be killed at any moment."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_bytes(content)
    draft.replace(path)


def _plain_row(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value.item() if isinstance(value, np.generic) else value for key, value in row.items()}
