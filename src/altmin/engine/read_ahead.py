"""Reading ahead: a thread fetches the rows that rounds will ask for while others compute.

It doesn't stop at the end of a round. Batches follow each other and passes start over, so while the last sums
of a round are added and its update runs, the first rows of the next round are on their way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from itertools import islice

from altmin.engine.plan import AHEAD_BYTES
from altmin.engine.sources import Source, Table

Span = tuple[int, int]
"""First row and end of a read."""


def spans(start: int, stop: int, height: int) -> Iterator[Span]:
    """The grid over rows start to stop."""
    for low in range(start, stop, height):
        yield low, min(low + height, stop)


class ReadAhead:
    """Reads of a source, all in one thread, and those that are expected to come next.

    Parameters
    ----------
    source : Source
        What is read.
    block_bytes : int
        Of a usual read: as many are fetched ahead as fit into 64 MiB.
    stack : ExitStack
        Ends the thread.
    """

    def __init__(self, source: Source, block_bytes: int, stack: ExitStack) -> None:
        self._source = source
        self._depth = max(AHEAD_BYTES // max(block_bytes, 1), 2)
        self._coming: dict[Span, Future[Table]] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="altmin-reads")
        stack.callback(self._thread.shutdown, wait=True, cancel_futures=True)

    def read(self, span: Span, following: Iterable[Span]) -> Table:
        """Rows of ``span``; those that will follow are fetched meanwhile.

        Parameters
        ----------
        span : (int, int)
            First row and end.
        following : iterable of (int, int)
            What is expected to be asked for after it, in order. A wrong guess costs time, nothing else.

        Returns
        -------
        Table
            The rows.
        """
        if span not in self._coming:  # not what was expected: nor will the rest be
            for future in self._coming.values():
                future.cancel()
            self._coming.clear()
            self._fetch(span)
        for later in islice(following, self._depth):
            self._fetch(later)
        return self._coming.pop(span).result()

    def _fetch(self, span: Span) -> None:
        if span not in self._coming:
            self._coming[span] = self._thread.submit(self._source.read, *span)
