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


def digest_rows(parts: tuple[Any, ...], start: int) -> NDArray[np.uint64]:
    """Digest of the rows of some aligned arrays.

    Parameters
    ----------
    parts : tuple of ndarray, csr_array or None
        X and what is aligned with it; each part has its own keys.
    start : int
        Number of the first row.

    Returns
    -------
    ndarray of shape (1,)
        To be added to those of other rows; the sum wraps around.
    """
    total = np.zeros(1, np.uint64)
    for salt, part in enumerate(parts):
        if part is None or part.shape[0] == 0:
            continue
        if sp.issparse(part):
            values = _words(part.data[:, None])[:, 0]
            total += _sparse(values, part.indices, part.indptr, start, np.uint64(salt))
            continue
        words = _words(part if part.ndim == 2 else part[:, None])
        total += _dense(words, _keys(words.shape[1]), start, np.uint64(salt))
    return total


def _words(part: NDArray[Any]) -> NDArray[Any]:
    """The same memory as unsigned numbers, of 64 bits where they fit into a row."""
    part = np.ascontiguousarray(part)
    width = part.shape[-1] * part.dtype.itemsize
    return part.view(np.uint64 if width % 8 == 0 else np.uint32 if width % 4 == 0 else np.uint8)


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
def _dense(words: Any, keys: Any, start: int, salt: Any) -> Any:
    total = np.uint64(0)
    n_words = words.shape[1]
    for row in range(words.shape[0]):
        found = np.uint64(0)
        for j in range(n_words):
            word = np.uint64(words[row, j])
            # high bits alone (signs) would cancel each other: bring them down first
            found += (word ^ (word >> np.uint64(32))) * keys[j]
        number = np.uint64(start + row) * np.uint64(0x9E3779B97F4A7C15) + salt
        total += _mix(found ^ _mix(number))
    return total


@compiled
def _sparse(words: Any, indices: Any, indptr: Any, start: int, salt: Any) -> Any:
    total = np.uint64(0)
    for row in range(len(indptr) - 1):
        found = np.uint64(indptr[row + 1] - indptr[row])
        for place in range(indptr[row], indptr[row + 1]):
            word = np.uint64(words[place])
            found += (word ^ (word >> np.uint64(32))) * (_mix(np.uint64(indices[place])) | np.uint64(1))
        number = np.uint64(start + row) * np.uint64(0x9E3779B97F4A7C15) + salt
        total += _mix(found ^ _mix(number))
    return total
