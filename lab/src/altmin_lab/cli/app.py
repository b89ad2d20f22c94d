"""``altmin-lab``: reproduce, bench, calibrate, mutate, accept.

Nothing heavy is imported before a command needs it, so that ``--help`` answers at once.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Annotated

import typer

from altmin.cli.shell import run

app = typer.Typer(
    help="The laboratory of altmin: claims of the papers, peers, calibration, acceptance runs.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
_debug = False


@app.callback()
def options(debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False) -> None:
    """Options of every command."""
    global _debug
    _debug = debug


@app.command()
def reproduce(
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("reproduction"),
    quick: Annotated[bool, typer.Option("--quick", help="Small runs of the same experiments.")] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="Claims whose name, paper or place contains this.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Claims at once, each on one core; all cores, four at most, by default."),
    ] = None,
    list_claims: Annotated[bool, typer.Option("--list", help="Only list the claims.")] = False,
) -> None:
    """Judge the claims of the papers: a report with computed verdicts; goes on where it was stopped."""
    from altmin_lab.cli.reproduce import list_all, reproduce_claims

    if list_claims:
        list_all(only or [])
    else:
        reproduce_claims(out, quick, only or [], jobs)


@app.command()
def bench(
    out: Annotated[Path, typer.Option(help="Folder for tables, curves and JSON.")] = Path("bench"),
    quick: Annotated[bool, typer.Option("--quick", help="Small data and budgets: a few minutes.")] = False,
    only: Annotated[list[str] | None, typer.Option(help="Problems whose name contains this.")] = None,
    list_problems: Annotated[bool, typer.Option("--list", help="Only list the problems.")] = False,
    budget: Annotated[
        float | None, typer.Option(help="CPU seconds of a solver on a data set, instead of the problem's.")
    ] = None,
) -> None:
    """Side by side with other libraries: error against CPU time, and where we aren't ahead."""
    from altmin_lab.cli.bench import bench as run_bench

    run_bench(out, quick, only or [], list_problems, budget)


@app.command()
def calibrate(
    seed: Annotated[
        int | None, typer.Option(help="Of a round for tuning; without it, the last judged round runs.")
    ] = None,
    per_kind: Annotated[int, typer.Option(help="Problems of each kind, in tuning.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder of the JSON lines.")] = Path("calibration"),
    family: Annotated[list[str] | None, typer.Option(help="Only these families (repeatable).")] = None,
    seconds: Annotated[float, typer.Option(help="CPU time at most.")] = float("inf"),
) -> None:
    """Hold the verdicts against data with a known truth; renews docs/calibration after a judged round."""
    from altmin_lab.adversary.campaign import read, run
    from altmin_lab.adversary.kinds import FAMILIES
    from altmin_lab.adversary.page import claims, said, write_page
    from altmin_lab.adversary.rounds import judged_rounds, keep

    judged = judged_rounds()[-1] if seed is None else None
    wanted = judged.per_kind if judged else dict.fromkeys(FAMILIES, per_kind)
    path = out / f"{judged.name if judged else f'tuning-{seed}'}.jsonl"
    left = 0
    for each in [name for name in wanted if not family or name in family]:
        number = judged.seed if judged else seed
        left += run(path, (each,), number or 0, wanted[each], held_out=judged is not None, seconds=seconds)
    print(claims(read(path)), said(read(path)), f"{left} problem(s) left to run", sep="\n\n")
    if judged:
        keep(judged, read(path))
        write_page()
    raise typer.Exit(2 if left else 0)


def _tell(text: str) -> None:
    print(text, flush=True)


@app.command()
def mutate(
    count: Annotated[int, typer.Option(min=1, help="How many bugs.")] = 100,
    seed: Annotated[int, typer.Option(help="Of the draw.")] = 0,
    package: Annotated[
        list[str] | None, typer.Option(help="Draw from this part of altmin alone: engine, io, ...")
    ] = None,
    survey: Annotated[
        bool, typer.Option("--survey", help="First run all fast tests to see what each reaches.")
    ] = False,
    add: Annotated[
        list[Path] | None, typer.Option(help="First run this file of new tests to see what they reach.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of what is known; a run goes on from there.")] = Path(
        "mutation"
    ),
    jobs: Annotated[int, typer.Option(min=1, help="Copies of the tree at work at once.")] = 2,
    limit: Annotated[float, typer.Option(help="Seconds that the tests of one bug may take.")] = 10.0,
    page: Annotated[Path | None, typer.Option(help="Write the table to this Markdown file.")] = None,
) -> None:
    """Plant plausible bugs one at a time, and see whether the tests notice."""
    from altmin_lab.mutation import campaign
    from altmin_lab.mutation.page import page as to_markdown

    root = Path(__file__).parents[4]
    if not (root / "tests").exists():
        raise FileNotFoundError("the tests are in a checkout of altmin; install altmin-lab from there")
    if survey or not (out / "reach").exists():
        campaign.survey(root, out / "reach")
    if add:
        campaign.survey(root, out / "reach", [str(path) for path in add])
    lines = campaign.run(
        root, out, count=count, seed=seed, rooms=package or (), jobs=jobs, limit=limit, say=_tell
    )
    text = to_markdown(lines, seed)
    print(text)
    if page is not None:
        page.write_text(text)


@app.command()
def accept(
    only: Annotated[
        list[str] | None, typer.Argument(help='Promises whose "script.promise" contains one of these.')
    ] = None,
) -> None:
    """Run the acceptance scripts; figures go into lab/acceptance/figures.json."""
    script = Path(__file__).parents[3] / "acceptance" / "run.py"
    if not script.exists():
        raise FileNotFoundError("the acceptance scripts are in lab/acceptance of a checkout of altmin")
    sys.argv = [str(script), *(only or [])]
    runpy.run_path(str(script), run_name="__main__")


def main() -> None:
    """Entry point of ``altmin-lab``."""
    run(app, "altmin-lab", lambda: _debug)


if __name__ == "__main__":
    main()
