"""A digest of rows that doesn't depend on how they were cut into blocks.

The digest of a table is the sum, modulo 2^64, of the digests of its rows, each mixed with the row's number:
so blocks can be digested in any order and by anyone, and added up. A row's digest is a multilinear hash of
its words. It tells accidents (a mended value, a swapped row) apart, and is no defence against an enemy.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.kernels.compiled import compiled


def digest_rows(parts: tuple[Any, ...], start: int) -> tuple[NDArray[np.uint64], tuple[float, ...]]:
    """Digest of the rows of some aligned arrays, and their largest magnitudes: one read serves both.

    Parameters
    ----------
    parts : tuple of ndarray, csr_array or None
        X and what is aligned with it; each part has its own keys.
    start : int
        Number of the first row.

    Returns
    -------
    digest : ndarray of shape (1,)
        To be added to those of other rows; the sum wraps around.
    largest : tuple of float
        Of each part of floating-point numbers (of others: 0); infinite or NaN where one of its values is.
    """
    total, largest = np.zeros(1, np.uint64), [0.0] * len(parts)
    for salt, part in enumerate(parts):
        if part is None or part.shape[0] == 0:
            continue
        values = part.data[:, None] if sp.issparse(part) else part if part.ndim == 2 else part[:, None]
        words, magnitudes = _words(values), _magnitudes(values)
        unsigned = np.iinfo(magnitudes.dtype).max
        if sp.issparse(part):
            places = part.indices, part.indptr
            found, top = _sparse(words[:, 0], magnitudes[:, 0], unsigned, *places, start, np.uint64(salt))
        else:
            found, top = _dense(words, magnitudes, unsigned, _keys(words.shape[1]), start, np.uint64(salt))
        total += found
        if values.dtype.kind == "f":
            largest[salt] = float(np.array(top, magnitudes.dtype).view(values.dtype))
    return total, tuple(largest)


def _words(part: NDArray[Any]) -> NDArray[Any]:
    """The same memory as unsigned numbers, of 64 bits where they fit into a row."""
    part = np.ascontiguousarray(part)
    width = part.shape[-1] * part.dtype.itemsize
    return part.view(np.uint64 if width % 8 == 0 else np.uint32 if width % 4 == 0 else np.uint8)


def _magnitudes(part: NDArray[Any]) -> NDArray[Any]:
    """The same memory as signed numbers: without their sign, floats and their bits have one order."""
    part = np.ascontiguousarray(part)
    return part.view(f"i{part.dtype.itemsize}") if part.dtype.kind == "f" else part.view(np.int8)


@lru_cache(maxsize=8)
def _keys(n: int) -> NDArray[np.uint64]:
    """Odd multipliers, one for each word of a row: a change of one word always changes the digest."""
    return np.random.default_rng(7).integers(0, 1 << 63, n, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


@compiled
def _mix(value: Any) -> Any:
    value = (value ^ (value >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(32))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(29))


@compiled
def _dense(words: Any, magnitudes: Any, unsigned: int, keys: Any, start: int, salt: Any) -> Any:
    total, top = np.uint64(0), np.int64(0)
    for row in range(words.shape[0]):
        found, highest = np.uint64(0), top
        for j in range(words.shape[1]):
            word = np.uint64(words[row, j])
            # high bits alone (signs) would cancel each other: bring them down first
            found += (word ^ (word >> np.uint64(32))) * keys[j]
        for j in range(magnitudes.shape[1]):
            highest = max(highest, magnitudes[row, j] & unsigned)
        top = highest
        number = np.uint64(start + row) * np.uint64(0x9E3779B97F4A7C15) + salt
        total += _mix(found ^ _mix(number))
    return total, top


@compiled
def _sparse(
    words: Any, magnitudes: Any, unsigned: int, indices: Any, indptr: Any, start: int, salt: Any
) -> Any:
    total, top = np.uint64(0), np.int64(0)
    for row in range(len(indptr) - 1):
        here = slice(indptr[row], indptr[row + 1])  # views: places that can't be negative make fast loops
        values, columns = words[here], indices[here]
        found = np.uint64(len(values))
        for j in range(len(values)):
            word = np.uint64(values[j])
            place = np.uint64(columns[j]) * np.uint64(0x9E3779B97F4A7C15)
            mixed = (word ^ (word >> np.uint64(32)) ^ place) * np.uint64(0xBF58476D1CE4E5B9)
            found += mixed ^ (mixed >> np.uint64(32))
        number = np.uint64(start + row) * np.uint64(0x9E3779B97F4A7C15) + salt
        total += _mix(found ^ _mix(number))
    for j in range(len(magnitudes)):
        top = max(top, magnitudes[j] & unsigned)
    return total, top
