"""Row columns: per-row results that one round writes and later rounds read.

A column is never changed in place. A round writes a new version; it replaces the old one when the
round has ended, so a round that is retried or interrupted leaves what was there. Large columns live
in an unlinked temporary file instead of memory (in ``TMPDIR``), and are read as tables on disk are.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from altmin.io.buffers import Buffers
from altmin.io.tables import RowReader, read_at

IN_MEMORY_BYTES = 2 << 30


class DiskColumn(RowReader):
    """A column in a temporary file that nobody else sees; gone with the process, however it ends."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype, self.ndim = shape, dtype, len(shape)  # type: ignore[assignment]
        self._file = tempfile.TemporaryFile(prefix="altmin-column-", buffering=0)  # noqa: SIM115
        self._buffers = Buffers()
        self._width = int(np.prod(shape[1:], dtype=np.int64)) * dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype=dtype)

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Rows start to stop, by positioned reads."""
        out = self._buffers.empty((stop - start, *self.shape[1:]), self.dtype)
        read_at(self._file.fileno(), out, start * self._width, Path("a column"))
        return out

    def write(self, start: int, part: NDArray[Any]) -> None:
        """Put rows at their place."""
        view = np.ascontiguousarray(part, dtype=self.dtype).data.cast("B") if part.size else memoryview(b"")
        place = start * self._width
        while len(view):
            count = os.pwrite(self._file.fileno(), view, place)
            view, place = view[count:], place + count


Column: TypeAlias = NDArray[Any] | DiskColumn


class ColumnWriter:
    """Collects a round's columns block by block, in order.

    Parameters
    ----------
    names : tuple of str
        The columns that the round declares.
    n_rows : int
        Rows of the round.
    in_memory : int
        Bytes up to which a column is kept in memory.
    """

    def __init__(self, names: tuple[str, ...], n_rows: int, in_memory: int = IN_MEMORY_BYTES) -> None:
        self._names, self._n_rows, self._in_memory = names, n_rows, in_memory
        self._made: dict[str, Column] = {}
        self._filled = 0

    def write(self, parts: Mapping[str, NDArray[Any]]) -> None:
        """Append the columns of the next block."""
        if set(parts) != set(self._names):
            raise ValueError(f"the round declares columns {self._names}, its map wrote {tuple(parts)}")
        stop = self._filled
        for name, part in parts.items():
            if name not in self._made:
                self._made[name] = self._allocate((self._n_rows, *part.shape[1:]), part.dtype)
            stop = self._filled + len(part)
            column = self._made[name]
            if isinstance(column, DiskColumn):
                column.write(self._filled, part)
            else:
                column[self._filled : stop] = part
        self._filled = stop

    def result(self) -> dict[str, Column]:
        """The finished columns, read-only."""
        for column in self._made.values():
            if isinstance(column, np.ndarray):
                column.flags.writeable = False
        return self._made

    def _allocate(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Column:
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        return np.empty(shape, dtype) if size <= self._in_memory else DiskColumn(shape, dtype)
