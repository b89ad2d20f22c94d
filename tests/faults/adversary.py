"""A table of bad input: estimators x kinds of input x faults x methods.

Every cell ends in a ValueError or TypeError that says which argument is at fault, or in a model whose
numbers are all finite. Nothing else is allowed: no internal exception, no NaN, no silent loss.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

import altmin
from altmin.datasets import make_dir, make_quadratic, make_sparse_dictionary
from altmin.text import TopicModel

N, D = 120, 6
_TOPICS = make_dir(N, D, 2, random_state=0).X
_SPARSE = make_sparse_dictionary(N, D, density=0.3, random_state=0).X
_QUADRATIC = make_quadratic(N, D, 1, random_state=0)
_LABELS = np.where(_QUADRATIC.y > np.median(_QUADRATIC.y), "yes", "no")


@dataclass(frozen=True)
class Subject:
    """An estimator with small settings, and good data for it."""

    make: Any
    X: np.ndarray
    y: Any = None
    weighted: bool = False


SUBJECTS = {
    "AND": Subject(lambda: altmin.AND(2, max_iter=3, random_state=0), _TOPICS, weighted=True),
    "AND batches": Subject(lambda: altmin.AND(2, max_iter=3, batch_size=40), _TOPICS, weighted=True),
    "Orthogonal": Subject(lambda: altmin.OrthogonalDictionaryLearning(max_iter=3), _SPARSE),
    "Complete": Subject(
        lambda: altmin.CompleteDictionaryLearning(max_iter=30, n_restarts=1, random_state=0), _SPARSE
    ),
    "Online": Subject(
        lambda: altmin.OnlineDictionaryLearning(batch_size=30, start_size=60, max_iter=20, random_state=0),
        _SPARSE,
    ),
    "Approximate": Subject(
        lambda: altmin.ApproximateDictionaryLearning(8, n_nonzero_coefs=2, max_iter=2, random_state=0),
        _SPARSE,
    ),
    "Regressor": Subject(
        lambda: altmin.FactorizationMachineRegressor(1, max_iter=3, random_state=0),
        _QUADRATIC.X, _QUADRATIC.y, weighted=True,
    ),
    "Classifier": Subject(
        lambda: altmin.FactorizationMachineClassifier(1, max_iter=3, random_state=0),
        _QUADRATIC.X, _LABELS, weighted=True,
    ),
    "Sensing": Subject(
        lambda: altmin.RankOneSensing(1, max_iter=3, random_state=0),
        _QUADRATIC.X, _QUADRATIC.y, weighted=True,
    ),
    "Phase": Subject(
        lambda: altmin.PhaseRetrieval(max_iter=3, random_state=0),
        _QUADRATIC.X, np.square(_QUADRATIC.X @ np.arange(1.0, D + 1)), weighted=True,
    ),
    "Completion": Subject(
        lambda: altmin.InductiveMatrixCompletion(1, max_iter=3, random_state=0),
        np.where(np.random.default_rng(0).random((N, D)) < 0.7, _TOPICS, 0.0),
    ),
    "Topics": Subject(lambda: TopicModel(2, max_iter=3), np.round(1000 * _TOPICS)),
}  # fmt: skip


def _dask(X: Any) -> Any:
    import dask.array as da

    return da.from_array(X, chunks=(max(len(X) // 2, 1), *X.shape[1:])) if np.ndim(X) else X


def _file(X: Any) -> str:
    folder = Path(tempfile.mkdtemp(prefix="altmin-adversary-"))
    np.save(folder / "x.npy", X, allow_pickle=False)
    return str(folder / "x.npy")


def _memmap(X: Any) -> Any:
    return np.load(_file(X), mmap_mode="r")


def _frame(X: Any) -> Any:
    return pd.DataFrame(X)


def _blocks(X: Any) -> Any:
    return [X[: len(X) // 3], X[len(X) // 3 :]]


KINDS = {
    "array": lambda X: X,
    "column-ordered": np.asfortranarray,
    "list": lambda X: X.tolist(),
    "frame": _frame,
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "memory map": _memmap,
    "file": _file,
    "blocks": _blocks,
    "stream": lambda X: iter(_blocks(X)),
    "dask": _dask,
}


def _with(value: Any, X: np.ndarray, dtype: Any = None) -> np.ndarray:
    bad = X.astype(dtype or X.dtype)
    bad[len(X) // 2, D // 2] = value
    return bad


X_FAULTS = {
    "none": lambda X: X,
    "NaN": lambda X: _with(np.nan, X),
    "infinity": lambda X: _with(-np.inf, X),
    "float32 with NaN": lambda X: _with(np.nan, X, np.float32),
    "one dimension": lambda X: X[:, 0],
    "three dimensions": lambda X: X[:, :, None],
    "no rows": lambda X: X[:0],
    "no columns": lambda X: X[:, :0],
    "one row": lambda X: X[:1],
    "two rows": lambda X: X[:2],
    "complex": lambda X: X + 1j,
    "strings": lambda X: X.astype("U8"),
    "objects": lambda X: _with(None, X, object),
    "structured": lambda X: X[:, 0].astype([("a", "f8"), ("b", "f8")]),
    "dates": lambda X: X.astype("i8").astype("M8[s]"),
    "zeros": np.zeros_like,
    "constant": np.ones_like,
    "equal rows": lambda X: np.repeat(X[:1], len(X), axis=0),
    "a zero column": lambda X: X * (np.arange(D) != 1),
    "truth values": lambda X: X > np.median(X),
    "integers": lambda X: np.round(10 * X).astype(int),
    "half precision": lambda X: X.astype(np.float16),
    "long double": lambda X: X.astype(np.longdouble),
    "huge": lambda X: X * 1e300,
    "tiny": lambda X: X * 1e-300,
    "one large value": lambda X: _with(1e100, X),
    "one huge value": lambda X: _with(1e300, X),
    "float32, huge": lambda X: (X * 1e37).astype(np.float32),
    "float32, tiny": lambda X: (X * 1e-37).astype(np.float32),
    "masked": lambda X: np.ma.masked_greater(X, np.median(X)),
    "big endian": lambda X: X.astype(">f8"),
    "read-only": lambda X: np.require(X, requirements="C").copy().view(),
}

Y_FAULTS = {
    "y missing": lambda y: None,
    "y too short": lambda y: y[:-1],
    "y with NaN": lambda y: _with_first(np.nan, y),
    "y infinite": lambda y: _with_first(np.inf, y),
    "y complex": lambda y: np.arange(len(y)) + 1j,
    "y two columns": lambda y: np.column_stack([y, y]),
    "y of objects": lambda y: np.array([None] * len(y)),
    "y constant": lambda y: np.full(len(y), y[0]),
    "y huge": lambda y: np.arange(1.0, len(y) + 1) * 1e300,
    "y tiny": lambda y: np.arange(1.0, len(y) + 1) * 1e-300,
}

WEIGHT_FAULTS = {
    "weight negative": lambda n: np.where(np.arange(n) == 3, -1.0, 1.0),
    "weight zero": np.zeros,
    "weight NaN": lambda n: np.where(np.arange(n) == 3, np.nan, 1.0),
    "weight infinite": lambda n: np.where(np.arange(n) == 3, np.inf, 1.0),
    "weight too short": lambda n: np.ones(n - 1),
    "weight two columns": lambda n: np.ones((n, 2)),
    "weight complex": lambda n: np.ones(n) + 1j,
    "weight strings": lambda n: np.array(["a"] * n),
    "weight one row": lambda n: (np.arange(n) == 0).astype(float),
}

METHODS = ("fit", "partial_fit", "again")


def _with_first(value: Any, y: Any) -> Any:
    y = np.asarray(y, dtype=float) if np.asarray(y).dtype.kind == "f" else np.asarray(y, dtype=object)
    bad = y.copy()
    bad[0] = value
    return bad


@dataclass(frozen=True)
class Cell:
    """One thing that is tried."""

    subject: str
    kind: str
    fault: str
    method: str

    def __str__(self) -> str:
        return f"{self.subject} / {self.kind} / {self.fault} / {self.method}"


def cells() -> Iterator[Cell]:
    """The whole table."""
    for name, subject in SUBJECTS.items():
        faults = list(X_FAULTS)
        if subject.y is not None:
            faults += Y_FAULTS
        if subject.weighted:
            faults += WEIGHT_FAULTS
        for kind in KINDS:
            for fault in faults:
                for method in METHODS:
                    if method == "partial_fit" and not hasattr(subject.make(), "partial_fit"):
                        continue
                    if method == "again" and (fault not in X_FAULTS or name == "Completion"):
                        continue
                    yield Cell(name, kind, fault, method)


def attempt(cell: Cell) -> str:
    """What came of a cell: 'refused', 'finite', or what is wrong with it."""
    subject = SUBJECTS[cell.subject]
    X, y, weight = subject.X, subject.y, None
    if cell.fault in X_FAULTS:
        X = X_FAULTS[cell.fault](X)
        y = None if y is None else y[: len(X)]
    elif cell.fault in Y_FAULTS:
        y = Y_FAULTS[cell.fault](y)
    else:
        weight = WEIGHT_FAULTS[cell.fault](len(X))
    try:
        given = KINDS[cell.kind](X)
    except Exception:
        return "refused"  # NumPy, SciPy or pandas can't make such an input
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _judge(*_call(subject, cell, given, y, weight))
    except (ValueError, TypeError) as error:
        return "refused" if _NAMES.search(str(error)) else f"unclear {type(error).__name__}: {error}"
    except Exception as error:
        return f"internal {type(error).__name__}: {error}"


# An argument, or scikit-learn's own sentences about it.
_NAMES = re.compile(
    r"\bX\b|\by\b|\bR\b|sample_weight|n_components|\brank\b|Found array|Expected 2D|sample\(s\)|classes|"
    r"Complex data|could not convert string|Unknown label|batch_size|A sparse matrix was passed|"
    r"Sparse data was|[Mm]asked|partial_fit"
)


def _call(subject: Subject, cell: Cell, X: Any, y: Any, weight: Any) -> tuple[Any, Any]:
    model, result = subject.make(), None
    options = {} if weight is None else {"sample_weight": weight}
    if cell.method == "again":
        model.fit(subject.X, *(() if subject.y is None else (subject.y,)))
        result = model.transform(X) if hasattr(model, "transform") else model.predict(X)
        if hasattr(result, "compute"):
            result = result.compute()
        elif hasattr(result, "__next__"):
            result = np.concatenate(list(result))
        return model, result
    if cell.kind == "stream" and subject.y is not None and weight is None and y is not None:
        X, y = _paired(X, y), None
    method = getattr(model, cell.method)
    positional = (X,) if subject.y is None or (y is None and cell.kind == "stream") else (X, y)
    if cell.method == "partial_fit" and cell.subject == "Classifier":
        options["classes"] = ["no", "yes"]
    return method(*positional, **options), result


def _paired(blocks: Any, y: Any) -> Iterator[Any]:
    start = 0
    for block in blocks:
        yield block, y[start : start + len(block)]
        start += len(block)


def _judge(model: Any, result: Any) -> str:
    for key, value in vars(model).items():
        if key.endswith("_") and not key.startswith("_") and not _finite(value):
            return f"not finite: {key}"
    if result is not None and not _finite(result):
        return "not finite: the result"
    return "finite"


def _finite(value: Any) -> bool:
    if sp.issparse(value):
        value = value.data
    if isinstance(value, float | np.floating):
        return bool(np.isfinite(value))
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        return bool(np.isfinite(value).all())
    return True
