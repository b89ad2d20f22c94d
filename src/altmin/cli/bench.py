"""``altmin bench``: side by side with other libraries."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from altmin.experiments.bench.board import problems, run_problem
from altmin.experiments.bench.page import draw, save, write_page


def bench(out: Path, quick: bool, only: list[str], list_only: bool) -> None:
    """Run the problems, tell of each solver as it ends, and write tables and curves."""
    console = Console()
    chosen = problems(only)
    if not chosen:
        raise ValueError(f"no problem contains {', '.join(only)}; --list shows them all")
    for problem in chosen:
        console.print(f"[bold]{problem.title}[/bold] ({problem.name})", highlight=False)
        if list_only:
            console.print(f"  data: {', '.join(problem.data)}; solvers: {', '.join(problem.solvers)}")
            continue
        results = list(run_problem(problem, quick, lambda line: console.print(line, highlight=False)))
        save(out, problem, results, quick)
        if draw(out, problem, results) is None:
            console.print("no pictures: pip install 'altmin[plot]'")
    if not list_only:
        console.print(f"tables: {write_page(out).resolve()}")
