"""The cursor: which rows a round reads, the position in the stream, and blocks on the grid."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from altmin.contract import All, Block, Max, Next, Round, Same, Take
from altmin.engine.columns import IN_MEMORY_BYTES, Column
from altmin.engine.plan import BESIDE_FILES_BYTES, KEPT_BYTES
from altmin.engine.read_ahead import ReadAhead, Span, spans
from altmin.engine.sources import AnySource, SourceError, Table

Read: TypeAlias = Callable[[], Block]


class Cursor:
    """Where a run stands in its data, and the blocks of each round.

    Rows of files are fetched ahead once :meth:`read_ahead` was called; until then they are read as asked for.
    ``checked`` is the end of the rows that have been looked at for NaN, and whose ``digest`` was taken.
    """

    def __init__(self, source: AnySource, block_rows: int, seed: int, position: int = 0) -> None:
        self.source, self.block_rows, self.seed = source, block_rows, seed
        self.position = self.checked = self.seen = position
        self.begin = position
        self.digest = np.zeros(1, np.uint64)
        self.largest = np.zeros(2)
        self.sampled = False
        self.batch = (position, position)
        self.kept: Table | None = None
        self._reader: ReadAhead | None = None
        self._held: dict[Span, Table] = {}
        self._sample: tuple[NDArray[np.intp], list[tuple[NDArray[np.intp], Table]]] | None = None
        self._before = (self.position, self.batch)

    def resume(self, seed: int, position: int, batch: tuple[int, int]) -> None:
        """Go on where a checkpoint was."""
        self.seed = seed
        self.source.resume(position)
        if not self.source.replayable:
            batch = (position, position)  # its rows are gone
        self.position, self.batch = position, batch
        self.seen = max(self.seen, position)
        self._before = (position, batch)

    def step_back(self) -> None:
        """Undo the advance of a round that was not finished."""
        if self.kept is not None:
            self.source.push_back(self.kept)
            self.kept = None
        self.position, self.batch = self._before

    @property
    def column_bytes(self) -> int:
        """Up to which a column stays in memory: less where the rows themselves don't."""
        return BESIDE_FILES_BYTES if self.source.on_disk else IN_MEMORY_BYTES

    def read_ahead(self, stack: ExitStack) -> None:
        """Read files in a thread of their own, which ends with the stack."""
        if self.source.on_disk:
            source = self.source.require_replayable("reading ahead")
            self._reader = ReadAhead(source, self._bytes(self.block_rows), stack)

    def rows_of(self, step: Round) -> int:
        """How many rows the round will read (what it asks for, on a stream)."""
        match step.rows:
            case Take(ids=ids):
                return len(ids)
            case Next(n=n):
                return n
            case Same():
                return self.batch[1] - self.batch[0]
            case All():
                return self.source.info.n_rows or 0

    def finished(self, step: Round, digest: NDArray[np.uint64] | None, largest: Max | None) -> None:
        """The round has read its rows without an error.

        Parameters
        ----------
        step : Round
            The round.
        digest : ndarray or None
            Digest of the rows that had not been read before.
        largest : Max or None
            Their largest magnitudes, of X and of y.
        """
        if step.needs_data and isinstance(step.rows, All):
            self.checked = self._n_rows()
        if isinstance(step.rows, Next) and step.needs_data:  # batches follow each other from the first row on
            self.checked = max(self.checked, self.batch[1])
        self.sampled |= isinstance(step.rows, Take)
        if digest is not None:
            self.digest = self.digest + digest
        if largest is not None:
            self.largest = np.maximum(self.largest, largest.value)
        self.seen = max(self.seen, self.checked, self.position)
        self._before = (self.position, self.batch)

    @property
    def tallest(self) -> int:
        """Rows of a block of columns: they are narrow, so blocks may be taller than the grid's."""
        return max(self.block_rows, min(4 * self.block_rows, 2048))

    def height(self, step: Round) -> int:
        """Rows of the blocks of a round."""
        return self.block_rows if step.needs_data else self.tallest

    def span(self, step: Round) -> tuple[int, int]:
        """First row and end of the rows of a round; a Next round moves on."""
        if isinstance(step.rows, Next):
            self._advance(step.rows)
        return self.batch if isinstance(step.rows, Next | Same) else (0, self._n_rows())

    def reads(self, step: Round, columns: Mapping[str, Column], round_number: int) -> Iterator[Read]:
        """Calls that give the blocks of a round, on the grid that starts at its first row.

        Rows in memory are cut out by the thread that works on them, all others are read here, in order.
        """
        key = (self.seed, round_number)
        rows = step.rows
        if isinstance(rows, Take):
            for index, (ids, table) in enumerate(self._sample_of(rows.ids)):
                found = {name: columns[name][ids] for name in step.reads}
                yield partial(_block, table, index, int(ids[0]), found, key, ids)
            return
        start, stop = self.span(step)
        height = self.height(step)
        for index, (low, high) in enumerate(spans(start, stop, height)):
            found = {name: columns[name][low:high] for name in step.reads}
            yield partial(_block, self._reading((low, high), step), index, low, found, key)

    def _sample_of(self, ids: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], Table]]:
        """Blocks of a sample. It is gathered once: rounds look at the same one again and again."""
        if self._sample and np.array_equal(self._sample[0], ids):
            yield from self._sample[1]
            return
        source, blocks = self.source.require_replayable("a sample of rows"), []
        for low, high in spans(0, len(ids), self.block_rows):
            block = ids[low:high], source.take(ids[low:high])
            if self._bytes(len(ids)) <= KEPT_BYTES:
                blocks.append(block)
            yield block
        self._sample = (ids, blocks) if blocks else None

    def _advance(self, rows: Next) -> None:
        """Move the window of the stream on by one batch."""
        if not self.source.replayable:
            self.kept = self.source.pull(rows.n)
            n = 0 if self.kept is None else self.kept.n_rows
            self.batch = (self.position, self.position + n)
            self.position += n
            return
        self._held = {}
        n_rows = self._n_rows()
        if self.position >= n_rows and rows.wrap:
            self.position = 0
        self.batch = (self.position, min(self.position + rows.n, n_rows))
        self.position = self.batch[1]

    def _reading(self, span: Span, step: Round) -> Table | Callable[[], Table]:
        if not step.needs_data:
            return Table(None)
        read = partial(self._read, span, step)
        in_memory = self.source.replayable and not (self.source.on_disk or self.source.on_workers)
        return read if in_memory else read()

    def _read(self, span: Span, step: Round) -> Table:
        if not self.source.replayable:
            if self.kept is None:
                raise SourceError("the rows of a one-way stream are gone: nothing was read before")
            return self.kept.rows(slice(span[0] - self.batch[0], span[1] - self.batch[0]))
        if self._reader is None:
            return self.source.require_replayable("this fit").read(*span)
        if span not in self._held:
            table = self._reader.read(span, self._following(span, step))
            if not self._holds(step):
                return table
            self._held[span] = table
        return self._held[span]

    def _holds(self, step: Round) -> bool:
        """Whether the rows of a batch stay in memory, for Same rounds to look at them again."""
        rows = step.rows
        return isinstance(rows, Next) and rows.keep and self._bytes(rows.n) <= KEPT_BYTES

    def _bytes(self, n_rows: int) -> int:
        return n_rows * self.source.info.n_features * self.source.dtype.itemsize

    def _following(self, span: Span, step: Round) -> Iterator[Span]:
        """What will be read after it, if the fit goes on as it did."""
        n_rows = self._n_rows()
        start, stop = (0, n_rows) if isinstance(step.rows, All) else self.batch
        rest = spans(span[1], stop, self.block_rows)
        if isinstance(step.rows, All):
            return chain(rest, spans(0, stop, self.block_rows))
        if isinstance(step.rows, Next) and step.rows.keep and not self._holds(step):
            return rest  # the same again, or the next
        n = step.rows.n if isinstance(step.rows, Next) else stop - start
        if stop == n_rows and isinstance(step.rows, Next) and step.rows.wrap:
            stop = 0
        return chain(rest, spans(stop, min(stop + n, n_rows), self.block_rows))

    def _n_rows(self) -> int:
        return self.source.require_replayable("a pass over all rows (which batch_size avoids)").n_rows


def _block(
    rows: Table | Callable[[], Table],
    index: int,
    start: int,
    columns: dict[str, NDArray[Any]],
    key: tuple[int, int],
    ids: NDArray[np.intp] | None = None,
) -> Block:
    table = rows if isinstance(rows, Table) else rows()
    return Block(
        index, start, table.X, table.y, table.weight, table.second, columns=columns, ids=ids, key=key
    )
