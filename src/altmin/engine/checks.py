"""What every kind of input is checked for: dtype and shape when it is opened, values when they arrive.

Arrays, files, lists of blocks, streams and dask arrays all come through here, so that none of them is
checked for less than the others. Messages name the argument, and the row where one is to blame.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.contract import Block
from altmin.io.container import OneLineError
from altmin.io.sparse_structure import check_structure

# Magnitudes, by the size of a float: many squares can be added without leaving the range of normal numbers.
_SQUARES = {4: (1e-15, 1e15), 8: (1e-152, 1e152)}


def working_range(dtype: np.dtype[Any], power: int) -> tuple[float, float]:
    """Magnitudes whose powers can be summed up; the first power of a small number is never too small."""
    if power == 1:
        return 0.0, float(np.finfo(dtype).max) / 1e6
    low, high = _SQUARES[dtype.itemsize]
    return low ** (2 / power), high ** (2 / power)


class SourceError(OneLineError):
    """The data cannot be read as asked; the message says which rows and why.

    ``cell`` is the row and column of X that holds no finite number, where that is the reason.
    """

    cell: tuple[int, int] | None = None


@contextmanager
def naming(argument: str) -> Iterator[None]:
    """Errors of other libraries say which argument is at fault."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if re.search(rf"\b{argument}\b", str(error)):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{argument}: {error}") from error


def check_given(X: Any) -> None:
    """Refuse what must not be converted: masks that would be forgotten, sparse indices that lead astray."""
    if np.ma.is_masked(X):
        raise SourceError("X is a masked array: only AND(missing='mask') reads masks; fill the holes first")
    if sp.issparse(X):
        try:
            check_structure(X)
        except ValueError as error:
            raise SourceError(f"X is a damaged sparse matrix: {error}") from error


def check_table(X: Any, y: Any = None, weight: Any = None, second: Any = None) -> None:
    """Refuse rows that can't be read as numbers, and what isn't aligned with them; no value is looked at.

    Parameters
    ----------
    X, second : array-like with ``shape`` and ``dtype``, or None
        Rows.
    y, weight : the same with one dimension, or None
        Aligned with the rows.
    """
    for name, part in (("X", X), ("X (second)", second)):
        if part is not None:
            _check_rows(name, part)
    n_rows = X.shape[0]
    for name, part in (("y", y), ("sample_weight", weight)):
        if part is None:
            continue
        if len(part.shape) != 1:
            raise SourceError(f"{name} has the shape {part.shape}; one number for each row of X is needed")
        if part.shape[0] != n_rows:
            raise SourceError(f"{name} has {part.shape[0]} rows, X has {n_rows}: they must agree")
        _check_numbers(name, part.dtype)
    if second is not None and second.shape[0] != n_rows:
        raise SourceError(f"X: the second design has {second.shape[0]} rows, the first has {n_rows}")


def _check_rows(name: str, part: Any) -> None:
    if len(part.shape) != 2:
        raise SourceError(f"{name} has {len(part.shape)} dimension(s); 2 are needed, one sample per row")
    if part.shape[1] == 0:
        raise SourceError(f"{name} has 0 feature(s) (shape={tuple(part.shape)}); at least one is needed")
    _check_numbers(name, part.dtype)


def _check_numbers(name: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise SourceError(
            f"{name} is complex (Complex data not supported): its imaginary part would be lost; "
            "give real and imaginary parts side by side"
        )
    if dtype.kind not in "fiub":
        raise SourceError(f"{name} holds {dtype}; numbers are needed")


def check_weights(weight: Any) -> None:
    """Refuse weights that are all zero: no sample would count."""
    if weight is not None and weight.shape[0] and not np.count_nonzero(weight):
        raise SourceError("sample_weight is zero for every row: at least one must count")


Bounds = tuple[float, float]
"""The largest magnitude of some values: not below the first number, not above the second."""


def check_values(
    block: Block, power: int = 1, holes: bool = False, largest: tuple[float, ...] | None = None
) -> NDArray[np.float64]:
    """Refuse a block that holds NaN, infinity or a negative weight, or values too large to be summed up.

    Parameters
    ----------
    block : Block
        Its X, y, weight and second X are checked.
    power : int
        Sums of which power of the values are formed.
    holes : bool
        Whether NaN in X is allowed: an entry that was not observed.
    largest : tuple of float or None
        The largest magnitudes of X, y, weight and second X where they are known; else the values are read.

    Returns
    -------
    ndarray of shape (2,)
        Bounds from below for the largest magnitudes of X (and its second part) and of y; exact where they
        are small.
    """
    parts = (block.X, block.y, block.weight, block.second)
    bounds = _bounds(parts) if largest is None else tuple((size, size) for size in largest)
    for name, part, (_, most) in zip(_PARTS, parts, bounds, strict=True):
        if part is not None:
            _check_finite(block, name, part, most, holes and name == "X")
    found = np.zeros(2)
    for name, part, bound in zip(_PARTS, parts, bounds, strict=True):
        values: Any = part.data if sp.issparse(part) else part
        if name == "sample_weight" or values is None or values.dtype.kind != "f" or not values.size:
            continue
        place = int(name == "y")
        size = _check_size(block, name, values, bound, min(power, 2) if place else power)
        found[place] = max(found[place], size)
    return found


_PARTS = ("X", "y", "sample_weight", "X (second)")


def _bounds(parts: tuple[Any, ...]) -> tuple[Bounds, ...]:
    """By a BLAS dot, one fast read; it overflows for entries above 1e154, and then says nothing."""
    found: list[Bounds] = []
    for part in parts:
        values = part.data if sp.issparse(part) else part
        if values is None or values.dtype.kind != "f" or not values.size:
            found.append((0.0, 0.0))
            continue
        flat = values.reshape(-1)
        with np.errstate(over="ignore", invalid="ignore"):
            norm = float(np.sqrt(np.dot(flat, flat)))
        found.append((norm / np.sqrt(flat.size), norm))
    return tuple(found)


def _check_finite(block: Block, name: str, part: Any, most: float, holes: bool) -> None:
    """Raise an error that names block, row and column of the first NaN or Inf."""
    values = part.data if sp.issparse(part) else part
    if name == "sample_weight" and values.min(initial=0.0) < 0:
        row = int(np.argmax(values < 0))
        raise SourceError(f"sample_weight is negative ({values[row]:.3g}) at row {_row_number(block, row)}")
    if values.dtype.kind != "f" or np.isfinite(most):
        return
    wrong = np.isinf(values) if holes else ~np.isfinite(values)
    if not wrong.any():
        return
    flat = int(np.flatnonzero(wrong.ravel())[0])
    row, column = _position(part, flat)
    what = "NaN" if np.isnan(values.ravel()[flat]) else "infinity (inf)"
    where = f", column {column}" if part.ndim == 2 else ""
    masked = ", or fit AND(missing='mask'), which leaves NaN out" if what == "NaN" and name == "X" else ""
    error = SourceError(
        f"{name} contains {what} at row {_row_number(block, row)}{where} (row {row} of block {block.index}); "
        "Input contains NaN or infinity: drop or impute such rows before fit" + masked
    )
    error.cell = (_row_number(block, row), column) if name == "X" and part.ndim == 2 else None
    raise error


def _check_size(block: Block, name: str, values: Any, bounds: Bounds, power: int) -> float:
    """The largest magnitude, from below; one that is too large for the power is refused."""
    least, most = bounds
    low, high = working_range(values.dtype, power)
    if not (2 * low < least and most < high):  # rarely: look at every value
        least = float(np.abs(np.nan_to_num(values)).max())
    if least > high:
        raise SourceError(
            f"{name} holds a value of magnitude {least:.3g} in block {block.index} (from row {block.start} "
            f"on): values above {high:.0e} are too large to be summed up in {values.dtype}. "
            f"Divide {name} by a power of two such as 2.**{int(np.log2(least))} before fit"
        )
    return least


def _row_number(block: Block, row: int) -> int:
    return int(block.ids[row]) if block.ids is not None else block.start + row


def check_smallest(largest: NDArray[np.float64], dtype: np.dtype[Any], power: int) -> None:
    """Refuse data all of whose values are too small."""
    for name, value, highest in zip(("X", "y"), largest, (power, min(power, 2)), strict=True):
        low, _ = working_range(dtype, highest)
        if 0 < value < low:
            raise SourceError(
                f"{name}: the largest magnitude is {value:.3g}; powers of values below {low:.0e} vanish in "
                f"{dtype}. Multiply {name} by a power of two such as 2.**{-int(np.log2(value))} before fit"
            )


def _position(part: Any, flat: int) -> tuple[int, int]:
    if sp.issparse(part):
        return int(np.searchsorted(part.indptr, flat, side="right")) - 1, int(part.indices[flat])
    if part.ndim == 1:
        return flat, 0
    return flat // part.shape[1], flat % part.shape[1]
