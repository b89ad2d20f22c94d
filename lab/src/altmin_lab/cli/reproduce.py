"""``altmin reproduce``: the claims ledger with progress over the whole run."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from altmin_lab.finding import Finding
from altmin_lab.ledger import Claim
from altmin_lab.ledger_page import write_ledger
from altmin_lab.reproduce import choose, reproduce

_COLOURS = {
    "holds": "green",
    "holds partly": "yellow",
    "does not hold": "red",
    "vacuous at these sizes": "blue",
    "cannot be run here": "dim",
}


def reproduce_claims(out: Path, quick: bool, only: list[str], jobs: int | None) -> None:
    """Judge the claims, tell of each as it ends, and write the report."""
    console = Console()
    running: dict[str, str] = {}
    judged = 0
    columns = (
        BarColumn(20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.description}"),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("", total=len(choose(only)))

        def show() -> None:
            progress.update(bar, completed=judged, description=", ".join(running.values()))

        def starting(claim: Claim) -> None:
            running[claim.name] = f"{claim.paper}, {claim.where}"
            show()

        def tell(number: int, total: int, finding: Finding) -> None:
            nonlocal judged
            judged = number
            running.pop(finding.name, None)
            console.print(_line(number, total, finding), highlight=False)
            show()

        findings = reproduce(out, quick=quick, only=only, jobs=jobs, tell=tell, starting=starting)
    page = write_ledger(findings, out, out / "results", quick=quick)
    console.print(f"report: {page.resolve()}", soft_wrap=True)


def _line(number: int, total: int, finding: Finding) -> str:
    colour = _COLOURS[finding.verdict]
    note = "kept" if finding.cached else f"{finding.seconds:.0f} s, CPU {finding.cpu:.0f} s"
    verdict = f"[{colour}]{finding.verdict}[/{colour}]"
    return f"{number}/{total} {finding.paper}, {finding.where}: {verdict} [dim]({note})[/dim]"


def list_all(only: list[str]) -> None:
    """Print the claims."""
    table = Table(Column("name", no_wrap=True), "where", "says", box=SIMPLE)
    for paper, claims in groupby(choose(only), key=lambda claim: claim.paper):
        table.add_row("", f"[bold]{paper}[/bold]", "")
        for claim in claims:
            table.add_row(claim.name, claim.where, escape(claim.says))
    Console().print(table)
