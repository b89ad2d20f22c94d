"""Checkpoints: the run written down, atomically, two of them kept.

A checkpoint is the frozen state plus what the loop itself counts (rounds, iterations, history,
position in the data). Resuming from it gives the same bits as never having stopped, because rounds
are pure. It belongs to a *problem*, the algorithm's parameters, the grid and the shape of the data, and
to the rows that the run had read, whose digest it holds. A folder serves one fit at a time.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from altmin.contract import record
from altmin.engine.columns import IN_MEMORY_BYTES, Column, ColumnWriter
from altmin.io.container import ContainerError, read_container, write_container
from altmin.io.records import flatten

try:
    import fcntl
except ImportError:  # Windows: two fits in one folder are not noticed there
    fcntl = None  # type: ignore[assignment]

_SHARE = 0.05  # of the time of a fit may go into writing checkpoints
_PART_BYTES = 8 << 20  # of a column in one file: what is in memory while it is written or read


class CheckpointError(ValueError):
    """A checkpoint that cannot be used for this fit; the message says why and what to do."""


@record
class Saved:
    """Where a run is."""

    state: Any
    n_rounds: int
    n_iter: int
    position: int
    batch: tuple[int, int]
    history: tuple[dict[str, Any], ...]
    columns: dict[str, int]
    seed: int
    n_rows: int = 0  # of the data have been looked at, from the first one of the fit on
    digest: str = ""  # of those rows
    epoch: int = 0  # held by files of earlier versions


def problem_key(algorithm: Any, block_rows: int, shape: str, seed: int | None) -> str:
    """Digest of what decides the bits of a run but for the rows and the number of iterations."""
    structure, arrays = flatten(algorithm)
    digest = hashlib.sha256(json.dumps([structure, block_rows, shape, seed]).encode())
    for array in arrays:
        digest.update(f"{array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


class Checkpoint:
    """A folder with the two newest checkpoints of one problem.

    Parameters
    ----------
    folder : path-like
        Made if it doesn't exist.
    key : str
        The problem; checkpoints of another one are refused.
    in_memory : int
        Bytes up to which a column that is read is kept in memory.
    """

    def __init__(self, folder: str | os.PathLike[str], key: str, in_memory: int = IN_MEMORY_BYTES) -> None:
        self.folder = Path(folder)
        self.key = key
        self._in_memory = in_memory
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(self.folder)
        for unfinished in self.folder.glob(".*.altmin.*.tmp"):  # of a fit that was killed while it wrote
            unfinished.unlink(missing_ok=True)
        self._columns: dict[str, Any] = {}
        self._versions: dict[str, int] = {}
        self._turn = 0
        self._due = 0.0

    def close(self) -> None:
        """Let other fits use the folder."""
        self._lock.close()

    def load(self) -> tuple[Saved, dict[str, Column]] | None:
        """The newest sound checkpoint with its columns, or None where there is none."""
        found: list[tuple[int, int, Saved, dict[str, Column]]] = []
        damage = []
        for turn in (0, 1):
            try:
                saved, meta = read_container(self._path(turn))
                if meta.get("key") != self.key:
                    raise CheckpointError(
                        f"checkpoint={str(self.folder)!r} belongs to another problem (other parameters, "
                        "data or block size): give another folder, or delete this one to start anew"
                    )
                if not isinstance(saved, Saved):
                    raise ContainerError(f"{self._path(turn)} is no checkpoint")
                columns = {name: self._read_column(name, v) for name, v in saved.columns.items()}
                found.append((saved.n_rounds, turn, saved, columns))
            except ContainerError as error:
                damage.append(str(error))
            except FileNotFoundError:
                continue
        if not found and damage:
            raise CheckpointError(f"no sound checkpoint is left: {'; '.join(damage)}; delete the folder")
        if not found:
            return None
        _, turn, saved, columns = max(found, key=lambda item: item[0])
        self._turn = 1 - turn
        self._versions = dict(saved.columns)
        self._columns = dict(columns)
        return saved, columns

    @property
    def due(self) -> bool:
        """Whether the last write is long enough ago for the next to take less than 5 % of the time."""
        return time.perf_counter() >= self._due

    def write(self, saved: Saved, columns: Mapping[str, Any]) -> None:
        """Write now; columns only where they are new."""
        begin = time.perf_counter()
        for name, column in columns.items():
            if self._columns.get(name) is not column:
                self._versions[name] = self._versions.get(name, 0) + 1
                self._write_column(name, self._versions[name], column)
                self._columns[name] = column
        versions = {name: self._versions[name] for name in columns}
        meta = {"key": self.key, "numpy": np.__version__, "scipy": scipy.__version__}
        whole = Saved(**{**vars(saved), "columns": versions})
        write_container(self._path(self._turn), whole, meta)
        self._turn = 1 - self._turn
        self._forget_old_columns()
        end = time.perf_counter()
        self._due = end + (end - begin) / _SHARE

    def _write_column(self, name: str, version: int, column: Column) -> None:
        """In parts of 8 MiB: a column that lives on disk doesn't come to memory as a whole."""
        width = max(column.dtype.itemsize * int(np.prod(column.shape[1:], dtype=np.int64)), 1)
        height = max(_PART_BYTES // width, 1)
        meta = {"rows": len(column), "parts": max(-(-len(column) // height), 1)}
        for part in range(meta["parts"]):
            rows = np.asarray(column[part * height : (part + 1) * height])
            write_container(self._column_path(name, version, part), rows, meta)

    def _read_column(self, name: str, version: int) -> Column:
        rows, meta = self._read_part(name, version, 0)
        writer, left, kind = ColumnWriter((name,), meta["rows"], self._in_memory), meta["rows"], _kind(rows)
        for part in range(meta["parts"]):
            if part:
                rows, _ = self._read_part(name, version, part)
            left -= len(rows)
            if left < 0 or _kind(rows) != kind:
                raise ContainerError(f"{self._column_path(name, version, part)} is no part of its column")
            writer.write({name: rows})
        if left:
            raise ContainerError(
                f"{self._column_path(name, version, 0)}: {left} rows of its column are missing"
            )
        return writer.result()[name]

    def _read_part(self, name: str, version: int, part: int) -> tuple[np.ndarray, dict[str, Any]]:
        path = self._column_path(name, version, part)
        try:
            rows, meta = read_container(path)
        except FileNotFoundError as error:
            raise ContainerError(f"{path} is missing") from error
        counts = (meta.get("rows"), meta.get("parts"))
        if not isinstance(rows, np.ndarray) or not all(isinstance(n, int) and n >= 0 for n in counts):
            raise ContainerError(f"{path} is no column of a checkpoint")
        return rows, meta

    def _forget_old_columns(self) -> None:
        for name, newest in self._versions.items():
            for path in self.folder.glob(f"column-{name}-*.altmin"):
                if int(path.stem.split("-")[-2]) < newest - 1:
                    path.unlink(missing_ok=True)

    def _path(self, turn: int) -> Path:
        return self.folder / f"checkpoint-{turn}.altmin"

    def _column_path(self, name: str, version: int, part: int) -> Path:
        return self.folder / f"column-{name}-{version}-{part}.altmin"


def _locked(folder: Path) -> Any:
    """The folder's lock file, held until it is closed; the system releases that of a process that died."""
    file = (folder / ".lock").open("ab")
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.close()
            raise CheckpointError(
                f"checkpoint={str(folder)!r} is in use by another fit: give each fit a folder of its own, "
                "or wait until that one has ended"
            ) from error
    return file


def _kind(rows: np.ndarray) -> tuple[np.dtype[Any], tuple[int, ...]]:
    return rows.dtype, rows.shape[1:]


def stream_position(folder: str | os.PathLike[str]) -> int:
    """After how many rows of its stream the newest sound checkpoint of a folder was written.

    Parameters
    ----------
    folder : path-like
        What ``checkpoint=`` named.

    Returns
    -------
    int
        Give a resumed fit the rows from this number on; 0 where there is no checkpoint.
    """
    newest = (-1, 0)
    for path in Path(folder).glob("checkpoint-?.altmin"):
        try:
            saved, _ = read_container(path)
        except ContainerError:
            continue
        newest = max(newest, (saved.n_rounds, saved.position))
    return newest[1]
