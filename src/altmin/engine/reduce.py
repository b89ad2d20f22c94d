"""Reduce: map over blocks in threads, combine in a fixed tree.

The tree is a binary counter over block numbers, so the order of additions depends on the number of
blocks alone: any number of threads, and any aligned group of 2^j blocks reduced elsewhere, gives the
same bits with O(log n) statistics in memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from itertools import islice
from typing import Any, TypeVar

from altmin.contract import Stats, combine
from altmin.engine.side_by_side import Begun

T = TypeVar("T")


class Tree:
    """A running reduction: ``push`` blocks' statistics in order, then ask for the ``result``.

    ``levels`` holds what is combined so far: (level, statistics of 2^level blocks), falling.
    """

    def __init__(self) -> None:
        self.levels: list[tuple[int, Stats]] = []

    def push(self, stats: Stats, level: int = 0) -> None:
        """Add the statistics of the next block (or of the next aligned group of 2^level blocks)."""
        while self.levels and self.levels[-1][0] == level:
            _, left = self.levels.pop()
            stats = combine(left, stats)
            level += 1
        self.levels.append((level, stats))

    def result(self) -> Stats:
        """Everything pushed so far, combined; None if nothing was."""
        if not self.levels:
            return None
        _, total = self.levels[-1]
        for _, left in reversed(self.levels[:-1]):
            total = combine(left, total)
        return total


def runs(blocks: Iterable[T], total: int, n_threads: int, longest: int) -> Iterator[list[T]]:
    """Blocks in runs, each of which one thread takes at once: a hand-over between threads takes its time.

    A run is an aligned group of 2^j blocks, so that its statistics enter the tree as one. It is no longer
    than a thread's share of half of what is left: long at first, and single blocks at the end, where
    threads would wait for each other.

    Parameters
    ----------
    blocks : iterable
        Blocks, or calls that give them, in order.
    total : int
        How many there will be.
    n_threads : int
        Threads that share them; for one there is no hand-over, and runs are single blocks.
    longest : int
        Blocks of a run at most.

    Yields
    ------
    list
        The next run.
    """
    coming, begun = iter(blocks), 0
    while run := list(islice(coming, _length(begun, total, n_threads, longest))):
        yield run
        begun += len(run)


def _length(begun: int, total: int, n_threads: int, longest: int) -> int:
    """Powers of two that fall, so that a run begins at a multiple of its length."""
    most = min((total - begun) // (2 * n_threads), longest) if n_threads > 1 else 1
    return 1 << (max(most, 1).bit_length() - 1)


def map_in_order(
    call: Callable[[T], Any], items: Iterable[T], pool: Executor | None, ahead: int
) -> Iterator[tuple[T, Any]]:
    """Results of ``call`` for each item (a block, a run of them), in order, at most ``ahead`` in flight.

    Parameters
    ----------
    call : callable
        What to do with an item.
    items : iterable
        Read in the calling thread.
    pool : Executor or None
        Threads that help the calling one; None: it does all.
    ahead : int
        Items read before the first result is taken.

    Yields
    ------
    tuple of an item and its result
    """
    if pool is None:
        for item in items:
            yield item, call(item)
        return
    flying: deque[Begun] = deque()
    try:
        for item in items:
            flying.append(Begun(pool, flying, call, item))
            if len(flying) >= ahead:
                yield _oldest(flying)
        while flying:
            yield _oldest(flying)
    finally:
        for begun in flying:
            begun.cancel()


def _oldest(flying: deque[Begun]) -> tuple[Any, Any]:
    begun = flying.popleft()
    (item,) = begun.arguments
    return item, begun.result()
