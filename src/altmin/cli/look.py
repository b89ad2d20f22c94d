"""``altmin select``, ``altmin guarantee`` and ``altmin info``: looking at data and at models."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from altmin.cli.fit import Order, load_model, make_model, read_features, read_frame
from altmin.cli.tables import Wanted, check_target
from altmin.cli.text_files import FileError


def select_number(
    model: str, data: str, ends: tuple[int, int], wanted: Wanted, options: list[str], out: Path | None
) -> None:
    """Say how many components come again in halves of the samples, and draw the curve."""
    from altmin.engine import open_source
    from altmin.selection.number import select_n_components

    if out is not None:
        check_target(out, (".png", ".svg", ".pdf"))
    if not 1 <= ends[0] <= ends[1]:
        raise FileError(f"--from {ends[0]} --to {ends[1]}: at least 1, and not falling, is needed")
    estimator = make_model(Order(model, data, Path(), ends[0], options=options, quiet=True))
    if "n_components" not in estimator.get_params():
        raise FileError(f"{model} has no number of components to choose")
    source = open_source(read_frame(data, wanted).X).require_replayable("select")
    found = select_n_components(estimator, source.read(0, source.n_rows).X, range(ends[0], ends[1] + 1))
    print(found)
    if out is not None:
        from altmin.plots import plot_selection
        from altmin.report.page import draw_without_a_screen

        draw_without_a_screen()
        plot_selection(found).figure.savefig(out)
        print(f"picture: {out}")


def judge_model(model_file: Path, data: str, effort: str, assume: str | None, wanted: Wanted) -> None:
    """Print the guarantee report of a model on data."""
    model = load_model(model_file)
    frame = read_features(model, data, wanted)
    print(model.guarantee(frame.X, frame.y, effort=effort, assume=assume))


def describe_model(model_file: Path) -> None:
    """Print what a model file holds: estimator, parameters, how the fit ended, the verdict, arrays."""
    model = load_model(model_file)
    changed = " ".join(str(model).split("(", 1)[1].removesuffix(")").split())
    print(f"{type(model).__name__} of {model.n_features_in_} features ({changed})")
    print(f"outcome: {model.outcome_}")
    print(f"guarantee: {model.guarantee_.verdict}")
    for name, value in vars(model).items():
        if name.endswith("_") and isinstance(value, np.ndarray):
            print(f"  {name}: {value.dtype} {' x '.join(map(str, value.shape))}")
        elif name.endswith("_") and isinstance(value, int | float):
            print(f"  {name}: {value:.6g}")
