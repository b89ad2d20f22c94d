"""Parts of the samples, of whatever kind they are, and fits that keep their warnings to themselves."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def as_table(X: Any) -> Any:
    """An array or CSR table whose rows can be picked; NaN may be in it."""
    if sp.issparse(X):
        return sp.csr_array(X)
    if isinstance(X, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(X), np.nan, np.ma.getdata(X))
    table = X if isinstance(X, np.ndarray) else np.asarray(X)
    if table.ndim != 2 or table.dtype.kind not in "fiub":
        raise ValueError(f"X has shape {table.shape} and dtype {table.dtype}; a table of numbers is needed")
    return table


def has_holes(table: Any) -> bool:
    """Whether entries of the table are missing (NaN); stored entries of a sparse one never are."""
    return not sp.issparse(table) and table.dtype.kind == "f" and bool(np.isnan(table).any())


def n_rows(X: Any) -> int:
    """Number of samples."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """These samples."""
    return as_table(X)[rows]


def quiet_fit(estimator: Any, X: Any) -> Any:
    """The fitted estimator; a candidate that doesn't suit the data is not worth a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X)
