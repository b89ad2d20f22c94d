"""``altmin bench``: side by side with other libraries."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from altmin_lab.bench.board import Result, problems, run_problem
from altmin_lab.bench.page import draw, save, write_page


def bench(out: Path, quick: bool, only: list[str], list_only: bool, budget: float | None = None) -> None:
    """Run the problems, tell of each solver as it ends, and write tables and curves after each data set."""
    console = Console()
    chosen = problems(only)
    if not chosen:
        raise ValueError(f"no problem contains {', '.join(only)}; --list shows them all")
    for problem in chosen:
        console.print(f"[bold]{problem.title}[/bold] ({problem.name})", highlight=False)
        if list_only:
            console.print(f"  data: {', '.join(problem.data)}; solvers: {', '.join(problem.solvers)}")
            continue
        if budget is not None:
            problem.budget = (budget, budget)
        results: list[Result] = []
        for result in run_problem(problem, quick, lambda line: console.print(line, highlight=False)):
            results.append(result)
            save(out, problem, results, quick)
        if draw(out, problem, results) is None:
            console.print("no pictures: pip install 'altmin[plot]'")
    if not list_only:
        console.print(f"tables: {write_page(out).resolve()}")
