"""Tables on disk, read by rows: .npy, .npz, parquet, zarr, and folders of them.

Each reader looks like a 2-D array with ``shape``, ``dtype`` and row slicing, and holds no more than the
rows that were asked for: memory maps would count every page they touched as the process's own.
"""

from __future__ import annotations

import os
import threading
import warnings
import weakref
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from altmin.io.buffers import Buffers
from altmin.io.container import DAMAGE, OneLineError

_CACHED_BYTES = 32 << 20
SUFFIXES = (".npy", ".npz", ".parquet", ".zarr")


class TableError(OneLineError):
    """A file that cannot be read as a table; the message says why."""


def open_tables(path: Path) -> list[Any]:
    """Readers of the tables at a path, to be read one below the other.

    Parameters
    ----------
    path : Path
        A file, a zarr store, or a folder of files (read in the order of their names).

    Returns
    -------
    list of readers
        Array-likes with ``shape``, ``dtype`` and row slicing.
    """
    if not path.exists():
        raise TableError(f"X: there is no file {path}")
    try:
        match path.suffix:
            case ".npy":
                return [_open_npy(path)]
            case ".npz":
                return [_open_npz(path)]
            case ".parquet":
                return [ParquetRows(path)]
            case ".zarr":
                return [_open_zarr(path)]
    except TableError:
        raise
    except DAMAGE as error:
        raise TableError(f"X: {path} is not a readable {path.suffix} file ({error})") from error
    if path.is_dir():
        files = sorted(child for child in path.iterdir() if child.suffix in SUFFIXES)
        if files:
            return [table for file in files for table in open_tables(file)]
        raise TableError(f"X: the folder {path} holds no file that ends in {', '.join(SUFFIXES)}")
    raise TableError(f"X: {path} ends in none of {', '.join(SUFFIXES)}")


class RowReader:
    """A table on disk with row slicing; subclasses read consecutive rows."""

    ndim = 2
    sparse = False
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    path: Path

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Rows start to stop as a fresh array."""
        raise NotImplementedError

    def window(self, rows: slice) -> FileWindow:
        """Some consecutive rows as a table of their own, which another process can open."""
        return FileWindow(self, rows)

    def __getitem__(self, index: slice | NDArray[np.intp]) -> NDArray[Any]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self.shape[0])
            if step != 1:
                raise IndexError("rows are read in order: no steps")
            return self._read(start, max(stop, start))
        ids = np.asarray(index)
        taken = np.empty((len(ids), *self.shape[1:]), self.dtype)
        breaks = np.flatnonzero(np.diff(ids) != 1) + 1
        for run in np.split(np.arange(len(ids)), breaks):
            if len(run):
                taken[run] = self._read(int(ids[run[0]]), int(ids[run[-1]]) + 1)
        return taken

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        """Rows start to stop; what libraries say of damage becomes a sentence about the file."""
        try:
            return self.rows(start, stop)
        except TableError:
            raise
        except DAMAGE as error:
            raise TableError(f"X: {self.path}: rows {start} to {stop} can't be read ({error})") from error


class FileWindow(RowReader):
    """Consecutive rows of a table on disk, known by its path: opened where and when rows are asked for."""

    def __init__(self, table: RowReader, rows: slice) -> None:
        start, stop, _ = rows.indices(table.shape[0])
        self.shape, self.dtype, self.sparse = (stop - start, table.shape[1]), table.dtype, table.sparse
        self.path = table.path.absolute()
        self._first, self._whole = start, table.shape

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Rows start to stop of the window."""
        try:
            (table,) = open_tables(self.path)
        except TableError as error:
            raise TableError(
                f"{error}; a worker of the cluster reads it: put the file where all of them see it"
            ) from error
        if table.shape != self._whole:
            raise TableError(f"X: {self.path} has the shape {table.shape} now, it had {self._whole}")
        return table.rows(self._first + start, self._first + stop)


def read_at(handle: int, out: NDArray[Any], place: int, path: Path) -> None:
    """Fill an array from a place of a file; positioned, so threads don't get into each other's way."""
    view = out.data.cast("B") if out.size else memoryview(b"")
    while len(view):
        count = os.preadv(handle, [view], place)
        if count == 0:
            raise TableError(f"X: {path} ends {len(view)} bytes too early")
        view, place = view[count:], place + count


def _memory_bytes() -> float:
    """Of the machine; infinite where the system doesn't say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


class NpyRows(RowReader):
    """Rows of a C-ordered .npy array that begins at some offset of a file (also inside a stored .npz)."""

    def __init__(self, path: Path, offset: int, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype = shape, dtype
        self.path = path
        self._handle = os.open(path, os.O_RDONLY)
        self._offset = offset
        self._buffers = Buffers()
        self._close = weakref.finalize(self, os.close, self._handle)
        needed = offset + shape[0] * shape[1] * dtype.itemsize
        self._beyond_memory = needed > _memory_bytes() / 2 and hasattr(os, "posix_fadvise")
        self._cached = 0
        if os.fstat(self._handle).st_size < needed:
            raise TableError(f"X: {path} is truncated: {needed} bytes are announced")

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Rows start to stop, by positioned reads: threads don't get into each other's way."""
        out = self._buffers.empty((stop - start, self.shape[1]), self.dtype)
        place = self._offset + start * self.shape[1] * self.dtype.itemsize
        read_at(self._handle, out, place, self.path)
        if self._beyond_memory:
            self._pass_on(out.nbytes)
        return out

    def _pass_on(self, size: int) -> None:
        """Give pages back to the system every 32 MiB.

        A pass over the file would push its own beginning out of the system's cache anyway, and taking ever
        new pages costs more than the disk (.5 against 3 GB/s).
        """
        self._cached += size
        if self._cached >= _CACHED_BYTES:
            os.posix_fadvise(self._handle, 0, 0, os.POSIX_FADV_DONTNEED)
            self._cached = 0


class CompressedRows(RowReader):
    """Rows of a compressed .npz member: read in order; going back starts the decompression anew."""

    def __init__(self, path: Path, member: str, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype = shape, dtype
        self.path, self._member = path, member
        self._lock = threading.Lock()
        self._file: Any = None
        self._next = 0

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Rows start to stop; fast where they follow those that were read before."""
        width = self.shape[1] * self.dtype.itemsize
        with self._lock:
            if self._file is None or start < self._next:
                self._file = zipfile.ZipFile(self.path).open(self._member)  # noqa: SIM115 (stays open)
                _read_header(self._file)
                self._next = 0
            while self._next < start:
                skip = min(start - self._next, 4096)
                self._file.read(skip * width)
                self._next += skip
            data = self._file.read((stop - start) * width)
            self._next = stop
        if len(data) < (stop - start) * width:
            raise TableError(f"X: {self.path} ends before row {stop}")
        return np.frombuffer(data, self.dtype).reshape(stop - start, self.shape[1])


class ParquetRows(RowReader):
    """Rows of a parquet file: numeric columns side by side, or one column of fixed-size lists."""

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow.parquet as pq
        except ImportError as error:
            raise TableError("X: reading parquet needs pyarrow: pip install 'altmin[io]'") from error
        try:
            self._file = pq.ParquetFile(path)
        except Exception as error:
            raise TableError(f"X: {path} is not a readable parquet file ({error})") from error
        self.path = path
        groups = self._file.metadata.num_row_groups
        counts = [self._file.metadata.row_group(g).num_rows for g in range(groups)]
        self._bounds = np.concatenate([[0], np.cumsum(counts)]).astype(int)
        self._lock = threading.Lock()
        self._cached: tuple[int, NDArray[Any]] | None = None
        first = self._group(0) if groups else np.empty((0, len(self._file.schema_arrow.names)))
        self.shape = (int(self._bounds[-1]), int(first.shape[1]))
        self.dtype = first.dtype

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Rows start to stop, from the row groups that hold them; the last group is kept."""
        parts = []
        with self._lock:
            group = int(np.searchsorted(self._bounds, start, side="right")) - 1
            while group < len(self._bounds) - 1 and self._bounds[group] < stop:
                low = int(self._bounds[group])
                parts.append(self._group(group)[max(start - low, 0) : stop - low])
                group += 1
        return np.concatenate(parts) if parts else np.empty((0, self.shape[1]), self.dtype)

    def _group(self, number: int) -> NDArray[Any]:
        if self._cached is None or self._cached[0] != number:
            table = self._file.read_row_group(number)
            self._cached = (number, _columns_to_array(table))
        return self._cached[1]


def _columns_to_array(table: Any) -> NDArray[Any]:
    if table.num_columns == 1 and hasattr(table.column(0).type, "list_size"):
        width = table.column(0).type.list_size
        values = table.column(0).combine_chunks().flatten().to_numpy(zero_copy_only=False)
        return values.reshape(-1, width)
    columns = [table.column(i).to_numpy() for i in range(table.num_columns)]
    for name, column in zip(table.column_names, columns, strict=True):
        if column.dtype.kind not in "fiub":
            raise TableError(f"X: the parquet column {name!r} holds no numbers ({column.dtype})")
    return np.column_stack(columns)


def _read_header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read(file)
    if dtype.hasobject:
        raise TableError("X: the file holds pickled Python objects; they are never loaded")
    return shape, fortran, dtype


def _header(file: Any, path: Path) -> tuple[tuple[int, int], bool, np.dtype[Any]]:
    try:
        shape, fortran, dtype = _read_header(file)
    except TableError:
        raise
    except ValueError as error:
        raise TableError(f"X: {path} is not a readable {path.suffix} file ({error})") from error
    if len(shape) != 2:
        raise TableError(f"X: {path} holds an array of {len(shape)} dimension(s); 2 are needed")
    return (int(shape[0]), int(shape[1])), fortran, dtype


def _open_npy(path: Path) -> Any:
    with path.open("rb") as file:
        shape, fortran, dtype = _header(file, path)
        offset = file.tell()
    if fortran and min(shape) > 1:
        # Rows of a column-ordered file lie scattered: only a map can gather them.
        return np.load(path, mmap_mode="r", allow_pickle=False)
    return NpyRows(path, offset, shape, dtype)


def _open_npz(path: Path) -> Any:
    with zipfile.ZipFile(path) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        if {"indices", "indptr", "format"} <= set(names):
            from altmin.io.sparse_tables import SparseRows

            return SparseRows(path)
        name = "X" if "X" in names else names[0] if len(names) == 1 else None
        if name is None:
            raise TableError(f"X: {path} holds the arrays {names}; name one of them X, or keep one alone")
        member = archive.getinfo(f"{name}.npy")
        with archive.open(member) as file:
            shape, fortran, dtype = _header(file, path)
            header = file.tell()
        if fortran and min(shape) > 1:
            with archive.open(member) as whole:
                return np.ascontiguousarray(np.lib.format.read_array(whole, allow_pickle=False))
        if member.compress_type != zipfile.ZIP_STORED:
            return CompressedRows(path, f"{name}.npy", shape, dtype)
        with path.open("rb") as raw:
            return NpyRows(path, _data_offset(raw, member) + header, shape, dtype)


def _data_offset(file: BinaryIO, member: zipfile.ZipInfo) -> int:
    """Where a stored member's bytes begin: behind its local header and the two fields of free length."""
    file.seek(member.header_offset + 26)
    lengths = np.frombuffer(file.read(4), "<u2")
    return member.header_offset + 30 + int(lengths.sum())


def _open_zarr(path: Path) -> Any:
    try:
        import zarr
    except ImportError as error:
        raise TableError("X: reading zarr needs the package zarr: pip install 'altmin[io]'") from error
    try:
        array = zarr.open_array(str(path), mode="r")
    except Exception as error:
        raise TableError(f"X: {path} is not a readable zarr array ({error})") from error
    if array.ndim != 2:
        raise TableError(f"X: {path} holds an array of {array.ndim} dimension(s); 2 are needed")
    written = sum(file.is_file() for file in path.rglob("*"))
    if getattr(array, "shards", None) is None and array.nchunks > 1000 * max(written, 1):
        raise TableError(
            f"X: {path} announces {array.shape[0]} rows in {array.nchunks} chunks, and has {written} files: "
            "nobody wrote them"
        )
    if array.chunks[1] < array.shape[1]:
        warnings.warn(
            f"{path} is chunked along columns {array.chunks}: reading rows is slow; store whole rows "
            f"(chunks=({array.chunks[0]}, {array.shape[1]}))",
            stacklevel=4,
        )
    return ZarrRows(path, array)


class ZarrRows(RowReader):
    """Rows of a zarr array."""

    def __init__(self, path: Path, array: Any) -> None:
        self.path = path
        self.shape, self.dtype = (int(array.shape[0]), int(array.shape[1])), np.dtype(array.dtype)
        self._array = array

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Rows start to stop."""
        return np.asarray(self._array[start:stop])
