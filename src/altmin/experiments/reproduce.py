"""Run the claims ledger: resumable, cached, with a page at the end.

A result is kept in a file whose name holds a digest of the code and the settings: a second run takes it
from there, and a run that was killed goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

import altmin
from altmin.experiments.ledger import Claim, Evidence, all_claims


@dataclass(frozen=True)
class Finding:
    """A claim with its evidence, as it is written to a file.

    ``figures`` are names of PNG files beside it.
    """

    name: str
    paper: str
    where: str
    says: str
    verdict: str
    summary: str
    setting: str
    measured: dict[str, float] = field(default_factory=dict)
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    figures: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cached: bool = False


def choose(only: Iterable[str]) -> list[Claim]:
    """The claims whose name, paper or place contains one of the given words (all without any)."""
    words = [word.lower() for word in only]
    found = [
        claim
        for claim in all_claims().values()
        if not words or any(word in f"{claim.name} {claim.paper} {claim.where}".lower() for word in words)
    ]
    if not found:
        raise ValueError(f"no claim matches {', '.join(only)}; see `altmin reproduce --list`")
    return found


def reproduce(
    out: Path,
    *,
    quick: bool = False,
    only: Iterable[str] = (),
    tell: Callable[[int, int, Finding], None] | None = None,
    starting: Callable[[int, int, Claim], None] | None = None,
) -> list[Finding]:
    """Judge the claims and write their files.

    Parameters
    ----------
    out : Path
        Folder for results and pictures.
    quick : bool
        Smaller runs of the same experiments.
    only : iterable of str
        Words to choose claims by.
    tell : callable, optional
        Called with (number, total, finding) after each claim.
    starting : callable, optional
        Called with (number, total, claim) before each claim that has to be run.

    Returns
    -------
    list of Finding
        In the order of the ledger.
    """
    import matplotlib

    matplotlib.use("Agg")
    results = out / "results"
    results.mkdir(parents=True, exist_ok=True)
    claims = choose(only)
    digest = code_digest()
    findings = []
    for number, claim in enumerate(claims, 1):
        path = results / f"{claim.name}-{'quick' if quick else 'full'}-{digest}.json"
        finding = _load(path, results)
        if finding is None:
            if starting:
                starting(number, len(claims), claim)
            finding = _judge(claim, quick, results)
            path.write_text(json.dumps(asdict(finding), indent=1))
        findings.append(finding)
        if tell:
            tell(number, len(claims), finding)
    return findings


def code_digest() -> str:
    """Twelve digits that change with altmin's code and the versions of the libraries beneath it."""
    digest = hashlib.sha256(f"{np.__version__} {scipy.__version__} {sklearn.__version__}".encode())
    root = Path(altmin.__file__).parent
    for path in sorted(root.rglob("*.py")):
        if "cli" not in path.parts and "report" not in path.parts:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _load(path: Path, results: Path) -> Finding | None:
    try:
        known = Finding(**{**json.loads(path.read_text()), "cached": True})
    except (OSError, ValueError, TypeError):
        return None
    return known if all((results / figure).exists() for figure in known.figures) else None


def _judge(claim: Claim, quick: bool, results: Path) -> Finding:
    begin = time.perf_counter()
    try:
        evidence = claim.experiment(quick)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        evidence = Evidence(
            "cannot be run here",
            f"{type(error).__name__}: {error} ({last.name})",
            "the run ended in an error",
        )
    figures = []
    for name, draw in evidence.figures.items():
        figure = draw()
        figures.append(f"{claim.name}-{name}.png".replace(" ", "-"))
        figure.savefig(results / figures[-1], dpi=160)
        _close(figure)
    return Finding(
        claim.name,
        claim.paper,
        claim.where,
        claim.says,
        evidence.verdict,
        evidence.summary,
        evidence.setting,
        {key: float(value) for key, value in evidence.measured.items()},
        {title: [_plain_row(row) for row in rows] for title, rows in evidence.tables.items()},
        figures,
        round(time.perf_counter() - begin, 1),
    )


def _plain_row(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value.item() if isinstance(value, np.generic) else value for key, value in row.items()}


def _close(figure: Any) -> None:
    import matplotlib.pyplot as plt

    plt.close(figure)
