"""What the quadratic estimators share: targets, and the size of a batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array, column_or_1d

from altmin.algorithms.sparse.machine_maps import fields, look_map
from altmin.contract import Block, Info
from altmin.engine import Source
from altmin.engine.dask_source import is_dask
from altmin.engine.sources import is_block_list
from altmin.guarantees.machine_rows import MAX_PARAMETERS, n_parameters, rows_to_look_at
from altmin.guarantees.quadratic_rules import prequential_ratio

_BATCH_BYTES = 32 << 20
_LEAST_ROWS = 4096
_READ_AGAIN_BYTES = 4 << 30
_SPARSE, _BINARY_AND_SPARSE = 0.05, 0.25  # shares of entries that are not zero


def auto_batch(info: Info, rank: int) -> int:
    """Rows of a batch: 20 k d (rate about .3), within 32 MB, but never too few to make progress."""
    k, d = min(rank, info.n_features), info.n_features
    fitting = _BATCH_BYTES // (d * info.dtype.itemsize)
    return int(max(min(20 * k * d, max(fitting, _LEAST_ROWS)), 2 * k * d, _LEAST_ROWS))


def machine_bytes(info: Info, rank: int) -> int:
    """What a machine holds besides blocks of rows: its state, columns, and the rows of its report.

    Parameters
    ----------
    info : Info
        The data.
    rank : int
        Of the model.

    Returns
    -------
    int
        Bytes.
    """
    n, d, k = info.n_rows or 0, info.n_features, min(rank, info.n_features)
    if info.sparse:  # sums of each row, and several versions of means and variances
        return 8 * (1 + k) * (2 * n + 16 * d)
    p = n_parameters(d, k)
    reported = 7 * 8 * p * min(n, rows_to_look_at(p)) if n_parameters(d, 1) <= MAX_PARAMETERS else 0
    return 4 * 8 * n + max(min(n, 2000) * d * info.dtype.itemsize, reported)


def regression_target(estimator: Any, X: Any, y: Any) -> NDArray[Any] | None:
    """The target as finite floats; None where X is made of blocks that bring it along.

    Parameters
    ----------
    estimator : estimator
        For the error message.
    X : object
        As given to ``fit``.
    y : array-like or None
        As given to ``fit``.

    Returns
    -------
    ndarray of shape (n_samples,) or None
        The target.
    """
    if y is None:
        delayed = isinstance(X, list | tuple) and is_dask(X)
        paired = is_block_list(X) and isinstance(X[0], tuple) and len(X[0]) > 1
        brings = delayed or paired or not (hasattr(X, "shape") or isinstance(X, str | Path | list | tuple))
        if brings:
            return None
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    checked = check_array(y, ensure_2d=False, dtype="numeric", input_name="y", ensure_min_samples=0)
    return np.asarray(checked, dtype=np.float32 if checked.dtype == np.float32 else np.float64)


def fresh_ratio(history: list[dict[str, Any]], n_rows: float, batch: float) -> float:
    """Prequential ratio over the steps whose rows had not been seen before; NaN for too few of them."""
    fresh = int(n_rows // max(batch, 1.0))
    return prequential_ratio([row["loss"] for row in history], fresh)


def is_sparse_table(source: Any) -> bool:
    """Whether the moments of the columns say little: nearly empty columns, or one-hot codes.

    Parameters
    ----------
    source : Source or StreamSource
        The data; a one-way stream can't be looked at, so the answer is no.

    Returns
    -------
    bool
        True for one-hot codes, bags of ids, and very sparse features.
    """
    if not isinstance(source, Source) or source.n_rows < 2:
        return False
    rows = np.unique(np.linspace(0, source.n_rows - 1, min(source.n_rows, 2000)).astype(np.intp))
    X = source.take(rows).X
    entries = X.nnz if sp.issparse(X) else np.count_nonzero(X)  # a full table as CSR would be thrice its size
    filled = entries / max(X.shape[0] * X.shape[1], 1)
    if filled < _SPARSE or filled >= _BINARY_AND_SPARSE:
        return filled < _SPARSE
    seen = look_map(None, None, Block(0, 0, sp.csr_array(X), np.zeros(len(rows))))
    n_fields = len(fields(seen["before"].value)) - 1
    return bool(seen["other"].value.mean() < 0.5 and n_fields <= X.shape[1] / 4)


def reads_again(source: Any) -> bool:
    """Whether the rows can be read again and again: in memory, or in files that aren't too large for it.

    Parameters
    ----------
    source : Source or StreamSource
        The data.

    Returns
    -------
    bool
        Whether the true loss is minimised; a longer file is read as a stream is.
    """
    if not source.replayable:
        return False
    info = source.info
    return not source.on_disk or info.n_rows * info.n_features * info.dtype.itemsize <= _READ_AGAIN_BYTES
