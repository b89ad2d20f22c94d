"""Row columns: per-row results that one round writes and later rounds read.

A column is never changed in place. A round writes a new version; it replaces the old one when the
round has ended, so a round that is retried or interrupted leaves what was there. Large columns live
in an unlinked temporary file instead of memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_IN_MEMORY_BYTES = 2 << 30


class ColumnWriter:
    """Collects a round's columns block by block, in order."""

    def __init__(self, names: tuple[str, ...], n_rows: int) -> None:
        self._names = names
        self._n_rows = n_rows
        self._made: dict[str, NDArray[Any]] = {}
        self._filled = 0

    def write(self, parts: Mapping[str, NDArray[Any]]) -> None:
        """Append the columns of the next block."""
        if set(parts) != set(self._names):
            raise ValueError(f"the round declares columns {self._names}, its map wrote {tuple(parts)}")
        stop = self._filled
        for name, part in parts.items():
            if name not in self._made:
                self._made[name] = _allocate((self._n_rows, *part.shape[1:]), part.dtype)
            stop = self._filled + len(part)
            self._made[name][self._filled : stop] = part
        self._filled = stop

    def result(self) -> dict[str, NDArray[Any]]:
        """The finished columns, read-only."""
        for column in self._made.values():
            column.flags.writeable = False
        return self._made


def _allocate(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    size = int(np.prod(shape)) * dtype.itemsize
    if size <= _IN_MEMORY_BYTES:
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile(prefix="altmin-column-") as file:
        return np.memmap(file, dtype=dtype, mode="w+", shape=shape)
