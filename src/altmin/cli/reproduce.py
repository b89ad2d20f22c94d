"""``altmin reproduce``: the claims ledger with progress over the whole run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from altmin.experiments.reproduce import Finding, choose, reproduce
from altmin.report.ledger_page import write_ledger

_COLOURS = {"holds": "green", "holds partly": "yellow", "does not hold": "red", "cannot be run here": "dim"}


def reproduce_claims(out: Path, quick: bool, only: list[str]) -> None:
    """Judge the claims, tell of each as it ends, and write the report."""
    console = Console()

    def starting(number: int, total: int, claim: Any) -> None:
        console.print(f"[dim]{number}/{total} {claim.paper}, {claim.where} ...[/dim]", end="\r")

    def tell(number: int, total: int, finding: Finding) -> None:
        colour = _COLOURS[finding.verdict]
        note = "kept" if finding.cached else f"{finding.seconds:.0f} s"
        console.print(
            f"{number}/{total} {finding.paper}, {finding.where}: [{colour}]{finding.verdict}[/{colour}] "
            f"[dim]({note})[/dim]",
            highlight=False,
        )

    findings = reproduce(out, quick=quick, only=only, tell=tell, starting=starting)
    page = write_ledger(findings, out, out / "results", quick=quick)
    console.print(f"report: {page.resolve()}")


def list_all(only: list[str]) -> None:
    """Print the claims."""
    table = Table("name", "paper", "where", "says")
    for claim in choose(only):
        table.add_row(claim.name, claim.paper, claim.where, claim.says)
    Console().print(table)
