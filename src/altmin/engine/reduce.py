"""Reduce: map over blocks in threads, combine in a fixed tree.

The tree is a binary counter over block numbers, so the order of additions depends on the number of
blocks alone: any number of threads, and any aligned group of 2^j blocks reduced elsewhere, gives the
same bits with O(log n) statistics in memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import Any

from altmin.contract import Block, Stats, combine


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


def map_in_order(
    call: Callable[[Block], Any], blocks: Iterable[Block], pool: Executor | None, ahead: int
) -> Iterator[tuple[Block, Any]]:
    """Results of ``call`` for each block, in block order, at most ``ahead`` blocks in flight.

    Parameters
    ----------
    call : callable
        What to do with a block.
    blocks : iterable of Block
        Read in the calling thread.
    pool : Executor or None
        None: in the calling thread.
    ahead : int
        Blocks read before the first result is taken.

    Yields
    ------
    tuple of Block and its result
    """
    if pool is None:
        for block in blocks:
            yield block, call(block)
        return
    flying: deque[tuple[Block, Future[Any]]] = deque()
    try:
        for block in blocks:
            flying.append((block, pool.submit(call, block)))
            if len(flying) >= ahead:
                done, future = flying.popleft()
                yield done, future.result()
        while flying:
            done, future = flying.popleft()
            yield done, future.result()
    finally:
        for _, future in flying:
            future.cancel()
