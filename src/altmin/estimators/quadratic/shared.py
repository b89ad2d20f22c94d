"""What the quadratic estimators share: targets, and the size of a batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, column_or_1d

from altmin.contract import Info
from altmin.engine.dask_source import is_dask
from altmin.engine.sources import is_block_list
from altmin.guarantees.quadratic import prequential_ratio

_BATCH_BYTES = 32 << 20
_LEAST_ROWS = 4096


def auto_batch(info: Info, rank: int) -> int:
    """Rows of a batch: 20 k d (rate about .3), within 32 MB, but never too few to make progress."""
    k, d = min(rank, info.n_features), info.n_features
    fitting = _BATCH_BYTES // (d * info.dtype.itemsize)
    return int(max(min(20 * k * d, max(fitting, _LEAST_ROWS)), 2 * k * d, _LEAST_ROWS))


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
        brings = delayed or is_block_list(X) or not (hasattr(X, "shape") or isinstance(X, str | Path | list))
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
