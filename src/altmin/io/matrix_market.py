"""Matrix Market files, read by NumPy.

SciPy's own reader ends the process on some damaged files.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.io.container import DAMAGE
from altmin.io.tables import TableError

_NUMBERS = ("real", "double", "integer", "unsigned-integer", "pattern")
_MIRRORED = {"general": 0, "symmetric": 1, "skew-symmetric": -1}
_ROWS_PER_ENTRY = 1000  # above which nobody wrote the rows that a file announces


def read_matrix_market(path: Path) -> Any:
    """The matrix of a .mtx file (or .mtx.gz).

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    csr_array or ndarray
        As the file lists entries, or whole columns.
    """
    try:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
            return _read(file)
    except DAMAGE as error:
        raise TableError(f"X: {path} is not a readable Matrix Market file ({error})") from error


def _read(file: TextIO) -> Any:
    words = file.readline().lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise ValueError("its first line isn't '%%MatrixMarket matrix ...'")
    layout, numbers, symmetry = words[2:]
    if layout not in ("coordinate", "array") or numbers not in _NUMBERS or symmetry not in _MIRRORED:
        raise ValueError(f"{layout} {numbers} {symmetry}: real numbers are needed")
    lines = _content(file)
    sizes = [int(word) for word in next(lines, "").split()]
    if len(sizes) != (3 if layout == "coordinate" else 2) or min(sizes) < 0:
        raise ValueError(f"it announces the sizes {sizes}")
    width = {"array": 1, "coordinate": 2 if numbers == "pattern" else 3}[layout]
    body = np.loadtxt(lines, ndmin=2) if sizes[-1] else np.zeros((0, width))
    if layout == "coordinate":
        return _from_entries(body, sizes, width, _MIRRORED[symmetry])
    if symmetry != "general" or body.shape != (sizes[0] * sizes[1], 1):
        raise ValueError(f"{len(body)} numbers in {sizes[0]} x {sizes[1]} places")
    return np.ascontiguousarray(body.reshape(sizes[1], sizes[0]).T)


def _content(file: TextIO) -> Iterator[str]:
    for line in file:
        if line.strip() and not line.startswith("%"):
            yield line


def _from_entries(body: NDArray[Any], sizes: list[int], width: int, mirrored: int) -> Any:
    n_rows, n_columns, n_entries = sizes
    if body.shape != (n_entries, width):
        raise ValueError(f"it announces {n_entries} entries of {width} numbers, and holds {body.shape}")
    if n_rows > _ROWS_PER_ENTRY * (n_entries + 1000):
        raise ValueError(f"it announces {n_rows} rows and has {n_entries} entries")
    places = body[:, :2]
    if not np.array_equal(places, np.floor(places)) or np.any((places < 1) | (places > [n_rows, n_columns])):
        raise ValueError("its entries have places outside of the matrix")
    row, column = (places - 1).astype(np.int64).T
    values = body[:, 2] if width == 3 else np.ones(n_entries)
    if mirrored:
        off = row != column
        values = np.concatenate([values, mirrored * values[off]])
        row, column = np.concatenate([row, column[off]]), np.concatenate([column, row[off]])
    return sp.csr_array((values, (row, column)), shape=(n_rows, n_columns))
