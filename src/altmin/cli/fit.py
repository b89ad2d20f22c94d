"""``altmin fit`` and ``altmin transform``."""

from __future__ import annotations

import ast
import difflib
import inspect
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import altmin
from altmin.cli.app import model_names
from altmin.cli.tables import WRITTEN, FileError, check_target, read_table, write_table


@dataclass(frozen=True)
class Order:
    """What ``altmin fit`` was asked for."""

    model: str
    data: str
    out: Path
    n_components: int | None = None
    target: str | None = None
    options: list[str] = field(default_factory=list)
    checkpoint: Path | None = None
    dask: str | None = None
    quiet: bool = False


def fit_file(order: Order) -> None:
    """Fit the named estimator to a file, save it, and say in plain words what came out."""
    check_target(order.out)
    model = _make(order)
    X, columns = read_table(order.data)
    X, y, columns = _split_target(X, columns, order.target)
    with ExitStack() as stack:
        if order.dask is not None:
            stack.enter_context(_cluster(order.dask))
        model = model.fit(X) if y is None else model.fit(X, y)
    if columns is not None:
        model.feature_names_in_ = np.array(columns, dtype=object)
    altmin.save(model, order.out)
    print(f"{order.model}: {model.outcome_}")
    if hasattr(model, "guarantee_"):
        print(f"guarantee: {model.guarantee_.verdict}")
    print(f"model: {order.out}")


def transform_file(model_file: Path, data: str, out: Path) -> None:
    """Codes of a file's rows under a saved model (predictions, where the model predicts)."""
    check_target(out, WRITTEN)
    model = load_model(model_file)
    X = read_features(model, data)
    if hasattr(model, "transform"):
        result = np.asarray(model.transform(X))
        columns = [str(name) for name in model.get_feature_names_out()]
    else:
        result, columns = np.asarray(model.predict(X)), ["prediction"]
    write_table(result, out, columns)
    print(f"{result.shape[0]} rows x {len(columns)}: {out}")


def load_model(path: Path) -> Any:
    """A saved model; a missing file is said in plain words."""
    if not path.exists():
        raise FileError(f"there is no file {path}")
    return altmin.load(path)


def read_features(model: Any, data: str) -> Any:
    """A table as the model takes it: where both have names, its columns in the model's order."""
    X, columns = read_table(data)
    names = getattr(model, "feature_names_in_", None)
    if names is None or columns is None:
        return X
    warnings.filterwarnings("ignore", "X does not have valid feature names")  # they are checked here
    missing = [str(name) for name in names if name not in columns]
    if missing:
        raise FileError(f"{data} lacks {len(missing)} column(s) of the model: {', '.join(missing[:5])}")
    return X[:, [columns.index(name) for name in names]]


def _make(order: Order) -> Any:
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
    parameters.setdefault("verbose", 0 if order.quiet else 1)
    if order.checkpoint is not None:
        parameters["checkpoint"] = str(order.checkpoint)
    try:
        return estimator(**parameters)
    except TypeError as error:
        raise FileError(f"{order.model}: {str(error).split('() ')[-1]} (give it with -n)") from error


def _estimator(name: str) -> Any:
    """The estimator class of this name; the nearest name is suggested otherwise."""
    names = model_names()
    if name in names:
        return getattr(import_module(altmin._HOMES[name]), name)
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


def _split_target(X: Any, columns: list[str] | None, target: str | None) -> tuple[Any, Any, list[str] | None]:
    """Features, target and the names of the features."""
    if target is None:
        return X, None, columns
    if columns and target in columns:
        place = columns.index(target)
        names = [name for name in columns if name != target]
        return np.delete(X, place, axis=1), X[:, place], names
    if Path(target).exists():
        y, _ = read_table(target)
        y = np.load(y, allow_pickle=False) if isinstance(y, str) else y
        return X, np.asarray(y).ravel(), columns
    known = f" (columns: {', '.join(columns)})" if columns else ""
    raise FileError(f"--target {target!r} is neither a column nor a file{known}")


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
        raise FileError(f"--dask {address}: no scheduler answers there ({error})") from None
    with client, on_cluster(client):
        yield
