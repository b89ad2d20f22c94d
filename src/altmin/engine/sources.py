"""Sources: whatever the user brought, read as rows on the plan's grid.

A source knows its shape, its dtype and what it can do. ``read(i, j)`` gives rows i to j of
X with the y, weights and second X that belong to them; ``take(ids)`` gathers rows. A one-way stream
has ``pull(n)`` instead. Any cut of the input is re-blocked to the same grid, so how the data were cut
leaves no trace in the result. Where rounds run is no business of a source: see ``backends.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.contract import Block, Info
from altmin.engine.checks import SourceError, check_given, check_table, check_values, check_weights
from altmin.io.tables import RowReader, TableError, open_tables

_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Table:
    """Rows of X, and what is aligned with them."""

    X: Any
    y: NDArray[Any] | None = None
    weight: NDArray[Any] | None = None
    second: Any = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def each(self, act: Callable[[Any], Any]) -> Table:
        """The table with ``act`` applied to X and everything aligned with it."""
        parts = (self.X, self.y, self.weight, self.second)
        return Table(*(None if part is None else act(part) for part in parts))

    def rows(self, index: slice | NDArray[np.intp]) -> Table:
        """Some of the rows."""
        return self.each(lambda part: part[index])


class AnySource:
    """What every source says of itself; code asks these questions instead of testing for a class.

    ``replayable``: rows can be read again, in any order. ``on_workers``: the rows live on the workers of
    a Dask cluster.
    """

    replayable = False
    on_workers = False
    dtype: np.dtype[Any]
    watch: Callable[[], None]

    @property
    def info(self) -> Info:
        """What algorithms may know before the first round."""
        raise NotImplementedError

    @property
    def on_disk(self) -> bool:
        """Whether reading a block takes time that could be spent computing."""
        return False

    def require_replayable(self, what: str) -> Source:
        """The source itself, for a caller who has to read rows again; a stream is refused.

        Parameters
        ----------
        what : str
            Who needs it, as the subject of the error message: "the full guarantee".
        """
        raise SourceError(
            f"X is a one-way stream, and {what} needs data that can be read again: give an array, a file "
            "or a list of blocks"
        )

    def copied(self, most: int) -> Source | None:
        """A copy of all rows, whatever happens to the caller's; None where it would take more bytes.

        Neither is there one of files, or of rows that others compute or send.
        """
        return None

    def pull(self, n: int) -> Table | None:
        """The next n rows of a stream (fewer at its end), or None where nothing is left."""
        raise NotImplementedError

    def push_back(self, rows: Table) -> None:
        """Put rows that were pulled but not used in front of what comes next."""

    def resume(self, position: int) -> None:
        """Go on after so many rows; a table needs no telling."""


class Source(AnySource):
    """Row blocks of any heights that can be read again, in any order, as if they were one table."""

    replayable = True
    _info: Info | None = None  # rounds ask for it several times

    def __init__(self, pieces: Sequence[Table], dtype: np.dtype[Any]) -> None:
        self.pieces = list(pieces)
        self.dtype = dtype
        for piece in self.pieces:
            check_table(*vars(piece).values())
        self.bounds = np.concatenate([[0], np.cumsum([piece.n_rows for piece in self.pieces])])
        if not self.n_rows:
            raise SourceError("X has 0 sample(s); at least one is needed")
        widths = {int(piece.X.shape[1]) for piece in self.pieces}
        if len(widths) > 1:
            raise SourceError(f"X: the blocks disagree on the number of features: {sorted(widths)}")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.bounds[-1])

    @property
    def info(self) -> Info:
        """What algorithms may know before the first round."""
        if self._info is None:
            self._info = self._described()
        return self._info

    def _described(self) -> Info:
        first = self.pieces[0]
        return Info(
            n_features=int(first.X.shape[1]),
            dtype=self.dtype,
            n_rows=self.n_rows,
            sparse=sp.issparse(first.X) or getattr(first.X, "sparse", False) is True,
            second_features=0 if first.second is None else int(first.second.shape[1]),
            row_entries=sum(getattr(piece.X, "nnz", 0) for piece in self.pieces) / self.n_rows,
        )

    @property
    def on_disk(self) -> bool:
        """Whether rows come from a file: reading ahead pays then."""
        return isinstance(self.pieces[0].X, RowReader)

    def require_replayable(self, what: str) -> Source:
        """The source itself."""
        return self

    def copied(self, most: int) -> Source | None:
        """All rows, unless they are files or too many."""
        info = self.info
        entries = info.row_entries if info.sparse else float(info.n_features + info.second_features)
        if self.on_disk or self.n_rows * entries * self.dtype.itemsize > most:
            return None
        return self.subset(np.arange(self.n_rows))

    def cut(self, start: int, stop: int) -> Source:
        """Rows start to stop as a source that another process can be sent: files stay where they are."""
        first = int(np.searchsorted(self.bounds, start, side="right")) - 1
        last = int(np.searchsorted(self.bounds, stop, side="left"))
        parts = []
        for number in range(first, last):
            low, high = int(self.bounds[number]), int(self.bounds[number + 1])
            parts.append(_cut(self.pieces[number], slice(max(start - low, 0), min(stop, high) - low)))
        return Source(parts, self.dtype)

    def lazily(self, start: int, stop: int) -> Any:
        """Rows start to stop as a ``dask.delayed`` table, read by the worker that needs them."""
        import dask

        return dask.delayed(_read_whole, pure=False)(self.cut(start, stop))

    def read(self, start: int, stop: int) -> Table:
        """Rows start to stop, in the source's dtype, C-contiguous or CSR."""
        number = int(np.searchsorted(self.bounds, start, side="right")) - 1
        parts = []
        while number < len(self.pieces) and self.bounds[number] < stop:
            low, high = int(self.bounds[number]), int(self.bounds[number + 1])
            parts.append(self.pieces[number].rows(slice(max(start - low, 0), min(stop, high) - low)))
            number += 1
        return _stack(parts).each(self._clean)

    def take(self, ids: NDArray[np.intp]) -> Table:
        """The rows with these (sorted) numbers."""
        cuts = np.searchsorted(ids, self.bounds)
        parts = [
            self.pieces[number].rows(ids[low:high] - self.bounds[number])
            for number, (low, high) in enumerate(pairwise(cuts))
            if low < high
        ]
        return _stack(parts).each(self._clean)

    def subset(self, ids: NDArray[np.intp]) -> Source:
        """A source of the rows with these numbers alone (halves, folds); copies them."""
        return Source([self.take(np.sort(ids))], self.dtype)

    def _clean(self, part: Any) -> Any:
        return clean_rows(part, self.dtype)


class StreamSource(AnySource):
    """A one-way iterator of blocks: each row is seen once.

    Blocks are 2-D arrays, or tuples (X, y) or (X, y, weight). ``pull(n)`` gives the next n rows
    whatever the heights of the blocks; what is left of a block waits for the next call. A queue is
    read until it gives None. ``watch`` is called while a queue is empty, and may raise.
    """

    def __init__(self, blocks: Any) -> None:
        self.watch: Callable[[], None] = lambda: None
        self._origin = blocks
        self._blocks: Iterator[Any] = self._from_queue(blocks) if is_queue(blocks) else iter(blocks)
        self.position = self._arrived = self._n_blocks = 0
        first = self._fetch()
        if first is None:
            raise SourceError("X is an empty iterable: it gave no block of rows")
        self.dtype = float_dtype(first.X)
        self._waiting = [first]
        self._info = Info(int(first.X.shape[1]), self.dtype, sparse=sp.issparse(first.X), replayable=False)

    @property
    def info(self) -> Info:
        """What the first block says."""
        return self._info

    def pull(self, n: int) -> Table | None:
        """The next n rows (fewer at the end), or None where nothing is left."""
        while sum(block.n_rows for block in self._waiting) < n:
            block = self._fetch()
            if block is None:
                break
            if block.X.shape[1] != self.info.n_features:
                raise SourceError(
                    f"X: a block after row {self.position} has {block.X.shape[1]} features, "
                    f"the first one had {self.info.n_features}"
                )
            self._waiting.append(block)
        if not self._waiting:
            return None
        rows = _stack(self._waiting)
        self._waiting = [rows.rows(slice(n, None))] if rows.n_rows > n else []
        taken = rows.rows(slice(0, n)).each(lambda part: clean_rows(part, self.dtype))
        self.position += taken.n_rows
        return taken

    def push_back(self, rows: Table) -> None:
        """Put rows that were pulled but not used in front of what comes next."""
        self._waiting.insert(0, rows)
        self.position -= rows.n_rows

    def resume(self, position: int) -> None:
        """Go on after so many rows: there, if the blocks can ``seek``; else with what comes, and say so."""
        self.position = position
        if hasattr(self._origin, "seek"):
            self._origin.seek(position)
            self._arrived = position
            self._blocks, self._waiting = iter(self._origin), []
        else:
            warnings.warn(
                f"the checkpoint was written after row {position:,} of a one-way stream: the rows that come "
                "now are taken for those after it. The fit ends in the bits of one that never stopped if "
                "they are; give an iterable with a method seek(row), a file or an array to have it so",
                UserWarning,
                stacklevel=2,
            )

    def _from_queue(self, queue: Any) -> Iterator[Any]:
        from queue import Empty

        while True:
            try:
                block = queue.get(timeout=_POLL_SECONDS)
            except Empty:
                self.watch()
                continue
            if block is None:
                return
            yield block

    def _fetch(self) -> Table | None:
        for item in self._blocks:
            block = _as_table(item)
            if block.n_rows:
                rows = Block(self._n_blocks, self._arrived, *vars(block).values())
                check_values(rows)
                self._n_blocks, self._arrived = self._n_blocks + 1, self._arrived + block.n_rows
                return block
        return None


def open_source(
    X: Any,
    y: NDArray[Any] | None = None,
    weight: NDArray[Any] | None = None,
    second: Any = None,
) -> AnySource:
    """Open whatever the user brought.

    Parameters
    ----------
    X : ndarray, memmap, sparse, path, list of blocks, iterable of blocks or queue
        A path of a .npy, .npz, .parquet or .zarr table, or of a folder of them. A list (or tuple) of 2-D
        blocks can be read again; any other iterable, and a queue that ends in None, is a one-way stream.
        Blocks may be tuples (X, y) or (X, y, weight).
    y, weight : ndarray or None
        Aligned with the rows of X, where X is not itself made of tuples.
    second : array-like or None
        A second design, aligned with X.

    Returns
    -------
    Source or StreamSource
        With float32 or float64 rows: float32 stays, everything else becomes float64.
    """
    if isinstance(X, str | Path):
        if not str(X):
            raise SourceError("X is an empty string; the path of a table is needed")
        X = _open_path(Path(X))
    if is_block_list(X):
        return _open_blocks(X, Table(None, y, weight, second))
    if hasattr(X, "shape"):
        X = _tidy(X)
        table = Table(X, y, weight, None if second is None else _tidy(second))
        check_weights(weight)
        return Source([table], float_dtype(X))
    if isinstance(X, Iterable) or is_queue(X):
        for name, part in (("y", y), ("sample_weight", weight)):
            if part is not None:
                raise SourceError(
                    f"{name} can't be aligned with a one-way stream: put it into the blocks, (X, y, weight)"
                )
        return StreamSource(X)
    raise SourceError(f"X: a {type(X).__name__} is neither an array, a path, nor an iterable of blocks")


def _open_path(path: Path) -> list[Any]:
    try:
        return open_tables(path)
    except TableError as error:
        raise SourceError(str(error)) from error


def _open_blocks(blocks: Iterable[Any], aligned: Table) -> Source:
    """A list of blocks; what is aligned with all of them is cut as they are."""
    pieces = [piece for piece in map(_as_table, blocks) if piece.n_rows]
    if not pieces:
        raise SourceError("X is a list of blocks without a single row")
    bounds = np.cumsum([0] + [piece.n_rows for piece in pieces])
    if any(part is not None for part in (aligned.y, aligned.weight, aligned.second)):
        cuts = [aligned.rows(slice(i, j)) for i, j in pairwise(bounds)]
        pieces = [replace(cut, X=piece.X) for piece, cut in zip(pieces, cuts, strict=True)]
    if all(isinstance(piece.weight, np.ndarray) for piece in pieces):
        check_weights(np.concatenate([piece.weight for piece in pieces]))
    return Source(pieces, _common_dtype(pieces))


def is_queue(X: Any) -> bool:
    """Whether X is a queue (of threads or processes) that others put blocks into."""
    return hasattr(X, "get") and hasattr(X, "put")


def is_block_list(X: Any) -> bool:
    """Whether X is a list or tuple of row blocks (and not a list of numbers that is one table)."""
    if not isinstance(X, list | tuple) or not X:
        return False
    first = X[0][0] if isinstance(X[0], tuple) and X[0] else X[0]
    ndim = getattr(first, "ndim", 0)  # of a delayed block: another delayed thing
    return isinstance(ndim, int) and ndim == 2


def float_dtype(X: Any) -> np.dtype[Any]:
    """float32 stays; everything else is computed in float64."""
    return np.dtype(np.float32) if X.dtype == np.float32 else np.dtype(np.float64)


def _common_dtype(pieces: list[Table]) -> np.dtype[Any]:
    """float32 where every block has it: a single wider block must not lose its digits."""
    return np.result_type(*(float_dtype(piece.X) for piece in pieces))


def _as_table(item: Any) -> Table:
    parts = item if isinstance(item, tuple) else (item,)
    if not 1 <= len(parts) <= 3:
        raise SourceError(f"X: a block is X, (X, y) or (X, y, weight); this one has {len(parts)} parts")
    X = _tidy(parts[0])
    table = Table(X, *(None if part is None else np.asarray(part) for part in parts[1:]))
    check_table(*vars(table).values())
    return table


def _tidy(X: Any) -> Any:
    """Sparse input as CSR (the layout whose rows can be sliced), frames as arrays."""
    check_given(X)
    if sp.issparse(X):
        return sp.csr_array(X)
    if isinstance(X, np.ndarray | RowReader):
        return X
    try:
        return np.asarray(X)
    except ValueError as error:
        raise SourceError(f"X can't be read as a table of numbers ({error})") from error


def clean_rows(part: Any, dtype: np.dtype[Any]) -> Any:
    """One layout and one dtype, whatever came: other layouts would give other bits."""
    if sp.issparse(part):
        part = part.astype(dtype, copy=False)
        if not part.has_sorted_indices:
            part = part.sorted_indices()
        arrays = (part.data, part.indices, part.indptr)
        if all(array.flags.aligned for array in arrays):
            return part
        return sp.csr_array(tuple(np.require(array, requirements="A") for array in arrays), part.shape)
    if part.ndim == 1 and part.dtype.kind not in "fiub":
        return part
    # Also aligned: rows that came over a wire or from an odd offset of a file needn't be, and NumPy
    # multiplies such arrays by another routine.
    return np.require(part, dtype, ["C", "A"])


def _cut(table: Table, rows: slice) -> Table:
    """Rows of a table; those of a file aren't read before they are asked for."""
    return table.each(lambda part: part.window(rows) if isinstance(part, RowReader) else part[rows])


def _read_whole(source: Source) -> Table:
    return source.read(0, source.n_rows)


def _stack(parts: list[Table]) -> Table:
    if len(parts) == 1:
        return parts[0]

    def join(pieces: list[Any]) -> Any:
        if pieces[0] is None:
            return None
        return sp.vstack(pieces, format="csr") if sp.issparse(pieces[0]) else np.concatenate(pieces)

    columns = zip(*((part.X, part.y, part.weight, part.second) for part in parts), strict=True)
    return Table(*(join(list(column)) for column in columns))
