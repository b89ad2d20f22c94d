"""``altmin``: discover, fit, select, transform, guarantee, info, report, denoise, inpaint, signatures,
mixtures, demo, data, warm.

Nothing heavy is imported before a command needs it, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

try:
    import typer
except ImportError:  # the extra is missing
    sys.exit("the command line needs typer and rich: pip install 'altmin[cli]'")

import altmin
from altmin.cli.shell import run

if TYPE_CHECKING:
    from altmin.cli.tables import Wanted

app = typer.Typer(
    help="Finds the true factors of your data, and tells you whether it found them.",
    epilog="Exit codes: 0 done; 1 something is wrong with the data, a file or the fit, and one "
    "line says what; "
    "2 wrong usage; 130 interrupted by Ctrl-C.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
_debug = False


def model_names() -> list[str]:
    """Names of the estimators, without importing any."""
    homes = altmin._HOMES.items()
    return [name for name, home in homes if name[0].isupper() and not home.startswith("altmin.kernels")]


def _complete_model(begun: str) -> list[str]:
    return [name for name in model_names() if name.lower().startswith(begun.lower())]


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(altmin.__version__)
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of every command."""
    global _debug
    _debug = debug


Data = Annotated[
    str,
    typer.Argument(
        help="The table: csv, tsv (also .gz), parquet, feather, jsonl, npy, npz, zarr, mtx, or a folder."
    ),
]
ModelFile = Annotated[Path, typer.Argument(help="A model file.")]
ModelName = Annotated[
    str,
    typer.Argument(
        help="Name of a model, for example AND; upper or lower case.", autocompletion=_complete_model
    ),
]
Number = Annotated[int | None, typer.Option("--n-components", "-n", help="Number of components (or rank).")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="Set a parameter of the model: --set max_iter=50. Can be repeated."),
]
Columns = Annotated[
    str | None,
    typer.Option(help="Columns to use as features, separated by commas: names, or numbers from 1."),
]
Drop = Annotated[str | None, typer.Option(help="Columns to leave out, separated by commas.")]
IdColumn = Annotated[str | None, typer.Option(help="Column that names the rows; it is copied to the output.")]
Target = Annotated[
    str | None, typer.Option(help="For supervised models: the column to predict, or a file that holds it.")
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line holds the names of the columns. Detected by default.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
FIT_HELP = """Fit a model to a file and save it.

    altmin fit AND counts.csv -n 10 --out topics.altmin

    altmin fit topicmodel words.mtx -n 20

    altmin fit FactorizationMachineRegressor sales.parquet -n 4 --target price --drop note

Models: """


def _wanted(
    columns: str | None,
    drop: str | None,
    id_column: str | None,
    target: str | None,
    header: bool | None,
) -> Wanted:
    from altmin.cli.tables import Wanted

    def listed(text: str | None) -> tuple[str, ...]:
        return tuple(name.strip() for name in text.split(",")) if text else ()

    return Wanted(listed(columns), listed(drop), id_column, target, header)


@app.command()
def discover(
    data: Data,
    out: Annotated[Path, typer.Option(help="The page; the model goes beside it.")] = Path("discovery.html"),
    target: Target = None,
    columns: Columns = None,
    drop: Drop = None,
    id_column: IdColumn = None,
    header: Header = None,
    budget: Annotated[
        str, typer.Option(help="quick, normal or thorough: 1,000, 4,000 or 20,000 rows are searched.")
    ] = "normal",
    image_shape: Annotated[
        str | None, typer.Option(help="Height x width of a row that is a picture, for example 8x8.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of samples, splits and fits.")] = 0,
    quiet: Quiet = False,
) -> None:
    """What is in this table? Finds the factors without being told which model, or how many."""
    from altmin.cli.discover import discover_file

    wanted = _wanted(columns, drop, id_column, target, header)
    discover_file(data, out, wanted, budget, image_shape, seed, quiet)


@app.command(help=FIT_HELP + ", ".join(model_names()) + ".")
def fit(
    model: ModelName,
    data: Data,
    out: Annotated[Path, typer.Option(help="Model file to write.")] = Path("model.altmin"),
    n_components: Number = None,
    target: Target = None,
    columns: Columns = None,
    drop: Drop = None,
    id_column: IdColumn = None,
    header: Header = None,
    option: Settings = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Folder in which the fit saves its state; run the same command again to continue."),
    ] = None,
    dask: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, to fit on a cluster.")
    ] = None,
    quiet: Quiet = False,
    keep_partial: Annotated[
        bool,
        typer.Option("--keep-partial", help="After Ctrl-C, write the model of the last finished iteration."),
    ] = False,
) -> None:
    """Fit a model to a file and save it."""
    from altmin.cli.fit import Order, fit_file

    wanted = _wanted(columns, drop, id_column, target, header)
    fit_file(
        Order(model, data, out, n_components, wanted, option or [], checkpoint, dask, quiet, keep_partial)
    )


@app.command()
def select(
    model: ModelName,
    data: Data,
    least: Annotated[int, typer.Option("--from", help="Smallest number of components.")] = 2,
    most: Annotated[int, typer.Option("--to", help="Largest number of components.")] = 10,
    columns: Columns = None,
    drop: Drop = None,
    id_column: IdColumn = None,
    header: Header = None,
    option: Settings = None,
    out: Annotated[Path | None, typer.Option(help="Draw the curve to this file: png, svg or pdf.")] = None,
) -> None:
    """Suggest a number of components: the largest that both halves of the samples agree on."""
    from altmin.cli.look import select_number

    select_number(
        model, data, (least, most), _wanted(columns, drop, id_column, None, header), option or [], out
    )


@app.command()
def transform(
    model: ModelFile,
    data: Data,
    out: Annotated[
        Path, typer.Option(help="File to write: csv, tsv, parquet or feather (with ids), npy or npz.")
    ] = Path("codes.npy"),
    id_column: IdColumn = None,
    header: Header = None,
) -> None:
    """Encode new data with a saved model, or predict, if it is a model that predicts."""
    from altmin.cli.fit import transform_file

    transform_file(model, data, out, _wanted(None, None, id_column, None, header))


@app.command()
def guarantee(
    model: ModelFile,
    data: Data,
    effort: Annotated[
        str, typer.Option(help="'full' also fits halves of the samples and compares; 'cheap' doesn't.")
    ] = "full",
    assume: Annotated[
        str | None,
        typer.Option(
            help="What you know and data can't decide: 'pure' (AND) or 'exogenous' (machines, sensing)."
        ),
    ] = None,
    target: Target = None,
    id_column: IdColumn = None,
    header: Header = None,
) -> None:
    """Say whether a model found the true factors, why, and what to do next."""
    from altmin.cli.look import judge_model

    judge_model(model, data, effort, assume, _wanted(None, None, id_column, target, header))


@app.command()
def info(model: ModelFile) -> None:
    """Say what is in a model file."""
    from altmin.cli.look import describe_model

    describe_model(model)


@app.command()
def report(
    model: ModelFile,
    data: Annotated[str | None, typer.Argument(help="Data whose codes the page shows.")] = None,
    out: Annotated[Path, typer.Option(help="HTML file to write.")] = Path("page.html"),
    image_shape: Annotated[
        str | None, typer.Option(help="If components are images: height x width, for example 8x8.")
    ] = None,
    vocabulary: Annotated[
        Path | None, typer.Option(help="If features are words: a file with one word per line.")
    ] = None,
) -> None:
    """Write an HTML page about a model: components, convergence, codes, outliers, the guarantee."""
    from altmin.cli.report import report_model

    report_model(model, data, out, image_shape, vocabulary)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("demo"),
) -> None:
    """Run every algorithm on data that come with pip packages, and write an HTML report."""
    from altmin.demo.tell import tell_stories

    tell_stories(out)


@app.command(name="denoise")
def denoise_command(
    picture: Annotated[Path, typer.Argument(help="A picture: png, jpg, tif, npy, ...")],
    out: Annotated[Path, typer.Option(help="Picture to write.")] = Path("clean.png"),
    sigma: Annotated[
        float | None,
        typer.Option(help="Standard deviation of the noise, in units of the pixels. Estimated by default."),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            help="HTML page that shows before and after. By default it is written beside the picture."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Remove the noise from a picture."""
    from altmin.cli.pictures import denoise_picture

    denoise_picture(picture, out, sigma, page, quiet)


@app.command(name="inpaint")
def inpaint_command(
    picture: Annotated[Path, typer.Argument(help="A picture: png, jpg, tif, npy, ...")],
    mask: Annotated[
        Path | None,
        typer.Option(
            help="A picture that is black where pixels are known. By default, transparent pixels are missing."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Picture to write.")] = Path("filled.png"),
    sigma: Annotated[
        str | None,
        typer.Option(help="Standard deviation of the noise, or auto: also denoise the known pixels."),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            help="HTML page that shows before and after. By default it is written beside the picture."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Fill in missing pixels of a picture."""
    from altmin.cli.pictures import inpaint_picture

    inpaint_picture(picture, mask, out, sigma, page, quiet)


@app.command()
def signatures(
    counts: Annotated[
        Path, typer.Argument(help="Mutation counts of 96, 78 or 83 channels, samples in columns: csv or tsv.")
    ],
    reference: Annotated[
        str | None,
        typer.Option(
            help="Reference signatures (your COSMIC file), or 'installed': those of SigProfilerAssignment."
        ),
    ] = None,
    n_components: Annotated[
        int | None, typer.Option("--n-components", "-n", help="Number of signatures; chosen without it.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where the page goes.")] = Path("signatures.html"),
    threshold: Annotated[float, typer.Option(help="Cosine from which two signatures are one.")] = 0.9,
) -> None:
    """Mutational signatures of a cohort: found, named, judged, on a page."""
    from altmin.cli.rooms import signatures_of

    signatures_of(counts, reference, n_components, out, threshold)


@app.command()
def mixtures(
    spectra: Data,
    n_components: Annotated[int, typer.Option("--n-components", "-n", help="Number of components.")],
    runs: Annotated[
        str | None, typer.Option(help="Rows of each run, separated by commas; one run without it.")
    ] = None,
    closure: Annotated[float | None, typer.Option(help="What the contributions of a row add up to.")] = None,
    unimodal: Annotated[bool, typer.Option("--unimodal", help="Contributions have one peak a run.")] = False,
    out: Annotated[Path, typer.Option(help="Where the page goes.")] = Path("mixtures.html"),
) -> None:
    """Pure spectra and contributions from spectra of mixtures, with bands of what is left open."""
    from altmin.cli.rooms import mixtures_of

    mixtures_of(spectra, n_components, runs, closure, unimodal, out)


@app.command()
def data() -> None:
    """List real data sets: which are here, and how to get the others."""
    from altmin.cli.data import list_data

    list_data()


@app.command()
def warm() -> None:
    """Compile everything once, so that the first fits don't wait for it (a minute or two)."""
    from altmin.cli.warm import warm_up

    warm_up()


def main() -> None:
    """Entry point of ``altmin``."""
    run(app, "altmin", lambda: _debug)


if __name__ == "__main__":
    main()
