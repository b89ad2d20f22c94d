"""NaN and Inf are refused where a block is read, by row and column."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from altmin.contract import Block
from altmin.engine.sources import SourceError


def check_finite(block: Block, holes: bool = False) -> None:
    """Raise an error that names block, row and column of the first NaN or Inf.

    Parameters
    ----------
    block : Block
        Its X, y, weight and second X are checked.
    holes : bool
        Whether NaN in X is allowed: an entry that was not observed.
    """
    parts = {"X": block.X, "y": block.y, "sample_weight": block.weight, "X (second)": block.second}
    for name, part in parts.items():
        if part is None:
            continue
        values = part.data if sp.issparse(part) else part
        if values.dtype.kind != "f" or _all_finite(values):
            continue
        wrong = np.isinf(values) if holes and name == "X" else ~np.isfinite(values)
        if not wrong.any():
            continue
        flat = int(np.flatnonzero(wrong.ravel())[0])
        row, column = _position(part, flat)
        number = int(block.ids[row]) if block.ids is not None else block.start + row
        what = "NaN" if np.isnan(values.ravel()[flat]) else "infinity (inf)"
        where = f", column {column}" if part.ndim == 2 else ""
        raise SourceError(
            f"{name} contains {what} at row {number}{where} (row {row} of block {block.index}); "
            "Input contains NaN or infinity: drop or impute such rows before fit"
        )


def _all_finite(values: Any) -> bool:
    # A BLAS dot is one fast read of the block. It overflows for entries above 1e154: look again then.
    flat = values.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.dot(flat, flat))) or bool(np.isfinite(values).all())


def _position(part: Any, flat: int) -> tuple[int, int]:
    if sp.issparse(part):
        return int(np.searchsorted(part.indptr, flat, side="right")) - 1, int(part.indices[flat])
    if part.ndim == 1:
        return flat, 0
    return flat // part.shape[1], flat % part.shape[1]
