"""``altmin fit`` and ``altmin transform``."""

from __future__ import annotations

import ast
import difflib
import inspect
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import altmin
from altmin.cli.app import model_names
from altmin.cli.ctrl_c import last_call
from altmin.cli.tables import WRITTEN, Frame, Mixed, Wanted, check_target, read_table, write_table
from altmin.cli.text_files import FileError
from altmin.engine.checks import SourceError
from altmin.estimators.quadratic.categories import OpensFrames


@dataclass(frozen=True)
class Order:
    """What ``altmin fit`` was asked for."""

    model: str
    data: str
    out: Path
    n_components: int | None = None
    wanted: Wanted = field(default_factory=Wanted)
    options: list[str] = field(default_factory=list)
    checkpoint: Path | None = None
    dask: str | None = None
    quiet: bool = False
    keep_partial: bool = False


def fit_file(order: Order) -> None:
    """Fit the named estimator to a file, save it, and say in plain words what came out."""
    check_target(order.out)
    model = make_model(order)
    frame = read_frame(order.data, replace(order.wanted, text=isinstance(model, OpensFrames)))
    interrupted = False
    try:
        model = _fitted(model, frame, order.dask)
        interrupted = model.outcome_.kind == "interrupted"
        last_call()
    except KeyboardInterrupt:
        interrupted = True
    except SourceError as error:
        if error.cell is None:
            raise
        raise _hole(order.data, frame, model, error) from None
    if interrupted and not (order.keep_partial and hasattr(model, "outcome_")):
        _say_that_nothing_was_written(order)
        raise KeyboardInterrupt
    altmin.save(model, order.out)
    if not model.verbose:  # the progress line has ended with it
        print(f"{type(model).__name__}: {model.outcome_}")
    print(
        f"guarantee: {model.guarantee_.verdict} (for a closer look: altmin guarantee {order.out} "
        f"{order.data})"
    )
    print(f"model{' of an interrupted fit' if interrupted else ''}: {order.out}")
    if interrupted:
        raise KeyboardInterrupt


def _fitted(model: Any, frame: Frame, dask: str | None) -> Any:
    """The model, fitted, here or on a cluster."""
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", ConvergenceWarning)  # the outcome is told anyway
        if dask is not None:
            stack.enter_context(_cluster(dask))
        model = model.fit(frame.X) if frame.y is None else model.fit(frame.X, frame.y)
    if frame.columns is not None:
        model.feature_names_in_ = np.array(frame.columns, dtype=object)
    return model


def _say_that_nothing_was_written(order: Order) -> None:
    print("interrupted: no model was written", end="")
    if order.checkpoint is not None:
        print(f"; the same command goes on from {order.checkpoint}")
    elif order.keep_partial:
        print(", as there was nothing to keep yet")
    else:
        print(
            " (--keep-partial would write the model so far; --checkpoint FOLDER would let the "
            "fit go on later)"
        )


def read_frame(data: str, wanted: Wanted | None = None) -> Frame:
    """A table, with a word on standard error about what was recognised in it."""
    frame = read_table(data, wanted)
    for note in frame.notes:
        print(f"{data}: {note}", file=sys.stderr)
    return frame


def _hole(data: str, frame: Frame, model: Any, error: SourceError) -> FileError:
    """A cell without a finite number is told by its place, with what helps."""
    row, column = error.cell or (0, 0)
    named = frame.columns[column] if frame.columns else column + 1
    others = f"--drop {named} leaves the column out"
    if "infinity" in str(error).split("at row")[0]:
        return FileError(f"{data}, {frame.place(row, column)} is infinite: {others}")
    empty = int(np.isnan(frame.X).sum()) if isinstance(frame.X, np.ndarray) else 1
    more = f" ({empty} empty cells in all)" if empty > 1 else ""
    masked = "--set missing=mask treats it as not observed; " if "missing" in model.get_params() else ""
    return FileError(f"{data}, {frame.place(row, column)} is empty{more}: {masked}{others}")


def transform_file(model_file: Path, data: str, out: Path, wanted: Wanted) -> None:
    """Codes of a file's rows under a saved model (predictions, where the model predicts)."""
    check_target(out, WRITTEN)
    model = load_model(model_file)
    frame = read_features(model, data, wanted)
    if hasattr(model, "transform"):
        result = np.asarray(model.transform(frame.X))
        columns = [str(name) for name in model.get_feature_names_out()]
    else:
        result, columns = np.asarray(model.predict(frame.X)), ["prediction"]
    beside = frame.aside or {}
    if hasattr(model, "predict_proba"):
        names = [f"{name:g}" if isinstance(name, float) else str(name) for name in model.classes_]
        chances = model.predict_proba(frame.X).T
        beside |= {f"probability of {name}": p for name, p in zip(names, chances, strict=True)}
    write_table(result, out, columns, beside)
    print(f"{result.shape[0]} rows x {len(columns)}: {out}")


def load_model(path: Path) -> Any:
    """A saved model; a missing file is said in plain words."""
    if not path.exists():
        raise FileError(f"there is no file {path}")
    return altmin.load(path)


def read_features(model: Any, data: str, wanted: Wanted | None = None) -> Frame:
    """A table as the model takes it: where both have names, its columns in the model's order."""
    warnings.filterwarnings("ignore", "X does not have valid feature names")  # they are checked here
    encodes = bool(getattr(model, "_categories", None))
    frame = read_table(data, replace(wanted or Wanted(), text=encodes))
    names = getattr(model, "feature_names_in_", None)
    if names is None or frame.columns is None or list(names) == frame.columns:
        return frame
    if isinstance(frame.X, str):  # other columns than the model's: these have to be picked
        frame = read_table(data, Wanted(columns=tuple(frame.columns)))
    place = {name: number for number, name in enumerate(frame.columns or [])}
    missing = [str(name) for name in names if name not in place]
    if missing:
        there = [name for name in missing if name in (frame.aside or {})]
        why = f"; {there[0]} is there, but holds no numbers" if there else ""
        raise FileError(f"{data} lacks {len(missing)} column(s) of the model: {', '.join(missing[:5])}{why}")
    if isinstance(frame.X, Mixed):
        X: Any = Mixed({name: frame.X[name] for name in names})
    else:
        X = frame.X[:, [place[name] for name in names]]
    return replace(frame, X=X, columns=list(names))


def make_model(order: Order) -> Any:
    """The estimator that was asked for, not fitted yet."""
    estimator = _estimator(order.model)
    known = list(inspect.signature(estimator).parameters)
    parameters: dict[str, Any] = dict(_parse(option) for option in order.options)
    for name in parameters:
        if name not in known:
            raise FileError(f"{order.model} has no parameter {name!r}{_nearest(name, known)}")
    if order.n_components is not None:
        if known[0] not in ("n_components", "rank"):
            raise FileError(f"{order.model} takes no number of components: leave -n out")
        parameters.setdefault(known[0], order.n_components)
    parameters.setdefault("verbose", int(sys.stderr.isatty() and not order.quiet))
    if order.checkpoint is not None:
        parameters["checkpoint"] = str(order.checkpoint)
    try:
        return estimator(**parameters)
    except TypeError as error:
        raise FileError(f"{order.model}: {str(error).split('() ')[-1]} (give it with -n)") from error


def _estimator(name: str) -> Any:
    """The estimator class of this name; the nearest name is suggested otherwise."""
    names = model_names()
    for known in names:
        if known.lower() == name.lower():
            return getattr(import_module(altmin._HOMES[known]), known)
    raise FileError(f"no model is called {name!r}{_nearest(name, names)} (known: {', '.join(names)})")


def _nearest(name: str, known: list[str]) -> str:
    """A question that suggests the known name nearest to this one, or nothing."""
    lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), list(lower), 1, 0.3)
    return f": did you mean {lower[near[0]]}?" if near else ""


def _parse(option: str) -> tuple[str, Any]:
    name, sign, text = option.partition("=")
    if not sign:
        raise FileError(f"--set {option!r}: write it as name=value")
    try:
        return name.strip(), ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return name.strip(), text


@contextmanager
def _cluster(address: str) -> Iterator[None]:
    """Fits run on the workers of this scheduler; an address that doesn't answer is said in plain words."""
    try:
        from distributed import Client
    except ImportError:
        raise FileError("--dask needs the package distributed: pip install 'altmin[dask]'") from None
    from altmin.engine.dask_client import on_cluster

    try:
        client = Client(address)
    except (OSError, ValueError) as error:
        raise FileError(f"--dask {address}: no scheduler answers at this address ({error})") from None
    with client, on_cluster(client):
        yield
