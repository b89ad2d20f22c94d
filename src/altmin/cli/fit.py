"""``altmin fit`` and ``altmin transform``."""

from __future__ import annotations

import ast
import difflib
import inspect
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import altmin
from altmin.cli.tables import FileError, read_table, write_table


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
    estimator = _estimator(order.model)
    _check_writable(order.out)
    parameters: dict[str, Any] = dict(_parse(option) for option in order.options)
    first = next(iter(inspect.signature(estimator).parameters))
    if order.n_components is not None:
        parameters.setdefault(first, order.n_components)
    parameters.setdefault("verbose", 0 if order.quiet else 1)
    if order.checkpoint is not None:
        parameters["checkpoint"] = str(order.checkpoint)
    X, columns = read_table(order.data)
    X, y = _split_target(X, columns, order.target)
    try:
        model = estimator(**parameters)
    except TypeError as error:
        raise FileError(f"{order.model}: {str(error).split('() ')[-1]} (see --set and -n)") from error
    with ExitStack() as stack:
        if order.dask is not None:
            X = stack.enter_context(_on_cluster(order.dask, X))
        model = model.fit(X) if y is None else model.fit(X, y)
    altmin.save(model, order.out)
    print(f"{order.model}: {model.outcome_}")
    if hasattr(model, "guarantee_"):
        print(f"guarantee: {model.guarantee_.verdict}")
    print(f"model: {order.out}")


def transform_file(model_file: Path, data: str, out: Path) -> None:
    """Codes of a file's rows under a saved model (predictions, where the model predicts)."""
    _check_writable(out)
    model = altmin.load(model_file)
    X, _ = read_table(data)
    if hasattr(model, "transform"):
        result = np.asarray(model.transform(X))
        columns = [str(name) for name in model.get_feature_names_out()]
    else:
        result, columns = np.asarray(model.predict(X)), ["prediction"]
    write_table(result, out, columns)
    print(f"{result.shape[0]} rows x {len(columns)}: {out}")


def _estimator(name: str) -> Any:
    """The estimator class of this name; the nearest name is suggested otherwise."""
    names = [
        key
        for key, home in altmin._HOMES.items()
        if home.startswith("altmin.estimators.") and key[0].isupper()
    ]
    if name in names:
        return getattr(import_module(altmin._HOMES[name]), name)
    near = difflib.get_close_matches(name.lower(), [known.lower() for known in names], 1, 0.3)
    hint = next((f": did you mean {known}?" for known in names if [known.lower()] == near), "")
    raise FileError(f"no model is called {name!r}{hint} (known: {', '.join(names)})")


def _parse(option: str) -> tuple[str, Any]:
    name, sign, text = option.partition("=")
    if not sign:
        raise FileError(f"--set {option!r}: write it as name=value")
    try:
        return name.strip(), ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return name.strip(), text


def _split_target(X: Any, columns: list[str] | None, target: str | None) -> tuple[Any, Any]:
    if target is None:
        return X, None
    if columns and target in columns:
        place = columns.index(target)
        return np.delete(X, place, axis=1), X[:, place]
    if Path(target).exists():
        y, _ = read_table(target)
        y = np.load(y, allow_pickle=False) if isinstance(y, str) else y
        return X, np.asarray(y).ravel()
    known = f" (columns: {', '.join(columns)})" if columns else ""
    raise FileError(f"--target {target!r} is neither a column nor a file{known}")


def _check_writable(out: Path) -> None:
    folder = out.parent if str(out.parent) else Path()
    if not folder.exists():
        raise FileError(f"there is no folder {folder} to write {out.name} to")
    if not os.access(folder, os.W_OK):
        raise FileError(f"no permission to write to {folder}")


@contextmanager
def _on_cluster(address: str, X: Any) -> Iterator[Any]:
    """The data as a dask array, with a client of this scheduler active."""
    import dask.array as da
    from distributed import Client

    with Client(address):
        if isinstance(X, str):
            X = np.load(X, mmap_mode="r", allow_pickle=False) if X.endswith(".npy") else da.from_zarr(X)
        yield X if hasattr(X, "dask") else da.from_array(X, chunks=("auto", -1))
