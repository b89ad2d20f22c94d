"""Checkpoints: the run written down, atomically, two of them kept.

A checkpoint is the frozen state plus what the loop itself counts (rounds, iterations, history,
position in the data). Resuming from it gives the same bits as never having stopped, because rounds
are pure. It belongs to a *problem*: the algorithm's parameters, the grid, the data's fingerprint.
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
from altmin.io.container import ContainerError, read_container, write_container
from altmin.io.records import flatten

_SHARE = 0.05  # of the time of a fit may go into writing checkpoints


class CheckpointError(ValueError):
    """A checkpoint that cannot be used for this fit; the message says why and what to do."""


@record
class Saved:
    """Where a run is."""

    state: Any
    n_rounds: int
    n_iter: int
    position: int
    epoch: int
    batch: tuple[int, int]
    history: tuple[dict[str, Any], ...]
    columns: dict[str, int]
    seed: int


def problem_key(algorithm: Any, block_rows: int, fingerprint: str, seed: int | None) -> str:
    """Digest of everything that decides the bits of a run but for the number of iterations."""
    structure, arrays = flatten(algorithm)
    digest = hashlib.sha256(json.dumps([structure, block_rows, fingerprint, seed]).encode())
    for array in arrays:
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
    """

    def __init__(self, folder: str | os.PathLike[str], key: str) -> None:
        self.folder = Path(folder)
        self.key = key
        self.folder.mkdir(parents=True, exist_ok=True)
        for unfinished in self.folder.glob(".*.altmin.*.tmp"):  # of a fit that was killed while it wrote
            unfinished.unlink(missing_ok=True)
        self._columns: dict[str, Any] = {}
        self._versions: dict[str, int] = {}
        self._turn = 0
        self._due = 0.0

    def load(self) -> tuple[Saved, dict[str, np.ndarray]] | None:
        """The newest sound checkpoint with its columns, or None where there is none."""
        found: list[tuple[int, int, Saved, dict[str, np.ndarray]]] = []
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
                write_container(self._column_path(name, self._versions[name]), np.asarray(column), {})
                self._columns[name] = column
        versions = {name: self._versions[name] for name in columns}
        meta = {"key": self.key, "numpy": np.__version__, "scipy": scipy.__version__}
        whole = Saved(**{**vars(saved), "columns": versions})
        write_container(self._path(self._turn), whole, meta)
        self._turn = 1 - self._turn
        self._forget_old_columns()
        end = time.perf_counter()
        self._due = end + (end - begin) / _SHARE

    def _read_column(self, name: str, version: int) -> np.ndarray:
        path = self._column_path(name, version)
        try:
            column, _ = read_container(path)
        except FileNotFoundError as error:
            raise ContainerError(f"{path} is missing") from error
        return np.asarray(column)

    def _forget_old_columns(self) -> None:
        for name, newest in self._versions.items():
            for path in self.folder.glob(f"column-{name}-*.altmin"):
                if int(path.stem.rsplit("-", 1)[1]) < newest - 1:
                    path.unlink(missing_ok=True)

    def _path(self, turn: int) -> Path:
        return self.folder / f"checkpoint-{turn}.altmin"

    def _column_path(self, name: str, version: int) -> Path:
        return self.folder / f"column-{name}-{version}.altmin"


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
