"""The plan: how many rows a block has, how many threads, and the memory that a fit will need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from altmin.contract import Info
from altmin.engine.threads import granted_threads

# Constants rather than the detected cache: another block size gives other bits.
_BLOCK_BYTES = 2 << 20
_MIN_ROWS, _MAX_ROWS = 256, 8192
_SPARSE_ROWS = 4096
_WORK_BYTES = 8 << 20
_MADE_OF_BLOCK = 2  # blocks that a map makes of the one it works on
_IN_FLIGHT = 32
AHEAD_BYTES = 64 << 20  # of rows of a file that are read before they are asked for
KEPT_BYTES = 128 << 20  # of a sample, and of a batch of a file, that rounds look at again
BESIDE_FILES_BYTES = 32 << 20  # of a column in memory, where the rows themselves don't fit into it


@dataclass(frozen=True)
class Plan:
    """How a fit will go over the data.

    ``block_rows`` is the grid; results are bit-identical for the same grid whatever ``n_threads``.
    ``peak_bytes`` is what the fit holds besides the user's own arrays: blocks in flight and what is made of
    them, and what the model itself says that it needs (factors, statistics, columns, samples).
    """

    n_rows: int | None
    n_features: int
    dtype: np.dtype[Any]
    block_rows: int
    n_threads: int
    peak_bytes: int

    @property
    def in_flight(self) -> int:
        """Blocks that are handed to threads before the first result is taken.

        Enough that threads don't wait for the one that hands them out, which has no core of its own.
        """
        return in_flight(self.n_threads)

    @property
    def runs_in_flight(self) -> int:
        """Runs of blocks that are handed to threads: the one that a thread works on, and its next one."""
        return 2 * self.n_threads

    @property
    def longest_run(self) -> int:
        """Blocks of a run at most: all runs together have no more blocks than may be in flight."""
        return self.in_flight // self.runs_in_flight

    def __str__(self) -> str:
        rows = "a stream" if self.n_rows is None else f"{self.n_rows:,} rows"
        return (
            f"{rows} x {self.n_features:,} features, {self.dtype}: blocks of {self.block_rows:,} rows, "
            f"{self.n_threads} thread(s), up to {self.peak_bytes / 2**20:,.0f} MiB besides the data"
        )


def in_flight(n_threads: int) -> int:
    """Eight blocks a thread where there are few, two where there are many."""
    return max(2 * n_threads, min(8 * n_threads, _IN_FLIGHT))


def block_rows(info: Info) -> int:
    """Rows of a block: the power of two under 2 MiB of row bytes, between 256 and 8192."""
    if info.sparse:
        return _SPARSE_ROWS
    width = (info.n_features + info.second_features) * info.dtype.itemsize
    fitting = max(_BLOCK_BYTES // max(width, 1), 1)
    return int(np.clip(1 << (int(fitting).bit_length() - 1), _MIN_ROWS, _MAX_ROWS))


def allowed_threads(n_jobs: int | None) -> int:
    """Threads to use: ``n_jobs``, or as many as BLAS was allowed to when the fit began.

    The result doesn't depend on it, so the default is all that the caller's environment grants
    (``OMP_NUM_THREADS``, ``threadpool_limits``, a joblib worker's share).
    """
    granted = granted_threads()
    if n_jobs is None:
        return granted
    if n_jobs < 0:
        return max(granted + 1 + n_jobs, 1)
    return n_jobs


def make_plan(info: Info, n_jobs: int | None, on_disk: bool = False, held: int = 0) -> Plan:
    """Plan a fit.

    Parameters
    ----------
    info : Info
        The data.
    n_jobs : int or None
        As in scikit-learn; None means all the threads that BLAS may use.
    on_disk : bool
        Whether rows come from a file.
    held : int
        Bytes that the model holds besides blocks of rows: factors, statistics, columns, samples.

    Returns
    -------
    Plan
        Grid, threads and predicted memory.
    """
    rows = block_rows(info)
    n_threads = allowed_threads(n_jobs)
    block = min(rows, info.n_rows or rows) * row_bytes(info)
    flying = in_flight(n_threads) if n_threads > 1 else 1
    copied = on_disk or info.sparse or not info.replayable  # rows of an array in memory are views
    peak = _WORK_BYTES + held + (flying * block if copied else 0) + _MADE_OF_BLOCK * n_threads * block
    if on_disk:
        peak += min(AHEAD_BYTES, (info.n_rows or 0) * row_bytes(info))
    return Plan(info.n_rows, info.n_features, info.dtype, rows, n_threads, int(peak))


def row_bytes(info: Info) -> float:
    """Of a row in memory: its stored entries with their columns, or all of them."""
    if info.sparse:
        return info.row_entries * (info.dtype.itemsize + 4)
    return (info.n_features + info.second_features) * info.dtype.itemsize
