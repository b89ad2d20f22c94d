"""``altmin``: fit, transform, report, reproduce, bench, data.

Nothing heavy is imported before a command needs it, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

try:
    import typer
except ImportError:  # the extra is missing
    sys.exit("the command line needs typer and rich: pip install 'altmin[cli]'")

import altmin

app = typer.Typer(
    help="Finds the true factors of your data, and tells you whether it found them.",
    epilog="Exit codes: 0 done; 1 the data, a file or the fit is at fault, one line says how; "
    "2 wrong usage; 130 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
_debug = False


def model_names() -> list[str]:
    """Names of the estimators, without importing any."""
    return [
        name
        for name, home in altmin._HOMES.items()
        if home.startswith("altmin.estimators.") and name[0].isupper()
    ]


def _complete_model(begun: str) -> list[str]:
    return [name for name in model_names() if name.lower().startswith(begun.lower())]


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(altmin.__version__)
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of every command."""
    global _debug
    _debug = debug


@app.command()
def fit(
    model: Annotated[
        str, typer.Argument(help="Name of an estimator, for example AND.", autocompletion=_complete_model)
    ],
    data: Annotated[str, typer.Argument(help="npy, npz, csv, parquet, zarr, mtx, or a folder of tables.")],
    out: Annotated[Path, typer.Option(help="Where the model goes.")] = Path("model.altmin"),
    n_components: Annotated[
        int | None, typer.Option("--n-components", "-n", help="Number of components (or the rank).")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="For supervised models: a csv column, or a file with y.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any parameter as in Python: --set max_iter=50 (repeatable)."),
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Folder; a fit that was stopped goes on from there.")
    ] = None,
    dask: Annotated[str | None, typer.Option(help="Address of a Dask scheduler.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress line.")] = False,
) -> None:
    """Fit a model to a file and save it."""
    from altmin.cli.fit import Order, fit_file

    fit_file(Order(model, data, out, n_components, target, option or [], checkpoint, dask, quiet))


@app.command()
def transform(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    data: Annotated[str, typer.Argument(help="Data as for fit.")],
    out: Annotated[Path, typer.Option(help="Where the codes go: npy, npz or csv.")] = Path("codes.npy"),
) -> None:
    """Codes (or predictions) of new data under a saved model."""
    from altmin.cli.fit import transform_file

    transform_file(model, data, out)


@app.command()
def report(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    data: Annotated[str | None, typer.Argument(help="Data to show codes of.")] = None,
    out: Annotated[Path, typer.Option(help="The page.")] = Path("page.html"),
    image_shape: Annotated[
        str | None, typer.Option(help="Height x width of a component, for example 8x8.")
    ] = None,
    vocabulary: Annotated[
        Path | None, typer.Option(help="A word a line: components are shown by their top words.")
    ] = None,
) -> None:
    """A page about a model: components, convergence, codes, outliers, the guarantee."""
    from altmin.cli.report import report_model

    report_model(model, data, out, image_shape, vocabulary)


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
    from altmin.cli.reproduce import list_all, reproduce_claims

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
    from altmin.cli.bench import bench as run_bench

    run_bench(out, quick, only or [], list_problems, budget)


@app.command()
def data() -> None:
    """Which data sets are here, and how to get the others."""
    from altmin.cli.data import list_data

    list_data()


def _show_warning(message: Any, category: type[Warning], *where: Any) -> None:
    """A warning as one line; where in the code it arose helps nobody at a shell."""
    if _debug or not issubclass(category, DeprecationWarning | FutureWarning):
        typer.secho(f"altmin: warning: {message}", fg="yellow", err=True)


def main() -> None:
    """Entry point: errors that a user can mend are one line, not a traceback."""
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    try:
        sys.exit(app(standalone_mode=False) or 0)  # the code of typer.Exit; 130 after Ctrl-C
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except Exception as error:
        told = getattr(error, "format_message", None)  # click's own errors: wrong usage
        if _debug and told is None:
            raise
        text = told() if told else str(error) or type(error).__name__
        typer.secho(f"altmin: {text}", fg="red", err=True)
        sys.exit(2 if told else 1)


if __name__ == "__main__":
    main()
