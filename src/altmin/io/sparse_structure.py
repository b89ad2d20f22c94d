"""The structure of a sparse matrix, checked in full: one that came from a file may point anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def check_structure(matrix: Any) -> None:
    """Raise ValueError where indices or pointers leave the matrix: compiled loops would follow them.

    Parameters
    ----------
    matrix : sparse array or matrix
        Of any format that SciPy's ``save_npz`` writes.
    """
    if matrix.format in ("csr", "csc", "bsr"):
        for array in (matrix.indices, matrix.indptr):
            if array.ndim != 1 or array.dtype.kind != "i":
                raise ValueError(f"its indices are {array.dtype} of {array.ndim} dimension(s)")
        matrix.check_format(full_check=True)
        if matrix.indices.size and int(matrix.indices.max()) >= max(matrix.shape):
            raise ValueError("its indices are out of range")
    if matrix.format == "coo":
        for axis, side in zip((matrix.row, matrix.col), matrix.shape, strict=True):
            if axis.dtype.kind != "i" or (axis.size and not 0 <= int(axis.min()) <= int(axis.max()) < side):
                raise ValueError("its indices are out of range")


def csr_from_parts(parts: tuple[np.ndarray, ...], shape: tuple[int, ...]) -> Any:
    """A CSR array from parts that came from a file, checked before anything follows its indices."""
    if len(shape) != 2 or not all(isinstance(side, int) and side >= 0 for side in shape):
        raise ValueError(f"a sparse matrix can't have the shape {shape}")
    data, indices, indptr = parts
    if not all(part.ndim == 1 for part in parts) or any(p.dtype.kind != "i" for p in (indices, indptr)):
        raise ValueError("the parts of a sparse matrix are one-dimensional, its indices integers")
    matrix = sp.csr_array((data, indices, indptr), shape=shape)
    check_structure(matrix)
    return matrix
