"""``altmin``: fit, transform, report, demo, data.

Nothing heavy is imported before a command needs it, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

try:
    import typer
except ImportError:  # the extra is missing
    sys.exit("the command line needs typer and rich: pip install 'altmin[cli]'")

import altmin
from altmin.cli.shell import run

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
    return [name for name in altmin._HOMES if name[0].isupper()]


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
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("demo"),
) -> None:
    """Run every algorithm on data inside pip packages, and write a report to look at."""
    from altmin.demo.tell import tell_stories

    tell_stories(out)


@app.command()
def data() -> None:
    """Which data sets are here, and how to get the others."""
    from altmin.cli.data import list_data

    list_data()


def main() -> None:
    """Entry point of ``altmin``."""
    run(app, "altmin", lambda: _debug)


if __name__ == "__main__":
    main()
