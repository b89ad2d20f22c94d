"""Rounds on this machine: threads over blocks, combined in the fixed tree."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from altmin.contract import Algorithm, Block, Round, State, Stats
from altmin.engine.columns import Column, ColumnWriter
from altmin.engine.cursor import Cursor
from altmin.engine.first_look import FirstLook
from altmin.engine.plan import Plan
from altmin.engine.reduce import Tree, map_in_order

Watch = Callable[[float], None]
"""Called between blocks with the share of the round that is done; may raise to end the round."""


class LocalRounds:
    """Runs rounds in threads of this process, and keeps the columns that they write.

    Parameters
    ----------
    plan : Plan
        Block rows and threads.
    cursor : Cursor
        Which rows a round reads.
    stack : ExitStack
        Closes the threads.
    """

    def __init__(self, plan: Plan, cursor: Cursor, stack: ExitStack) -> None:
        self.columns: dict[str, Column] = {}
        self.look = FirstLook()
        self._plan, self._cursor = plan, cursor
        self._pool: ThreadPoolExecutor | None = None
        if plan.n_threads > 1:
            self._pool = stack.enter_context(ThreadPoolExecutor(plan.n_threads))
        cursor.read_ahead(stack)

    def reduce(self, algorithm: Algorithm, state: State, step: Round, number: int, watch: Watch) -> Stats:
        """Statistics of a round: map over its blocks, combine, keep the columns that it writes."""
        look = replace(self.look, checked=self._cursor.checked)

        def call(block: Block) -> Any:
            return look.map(algorithm, state, step, block)

        tree = Tree()
        n_rows = self._cursor.rows_of(step)
        writer = ColumnWriter(step.writes, n_rows, self._cursor.column_bytes) if step.writes else None
        total = max(math.ceil(n_rows / self._cursor.height(step)), 1)
        blocks = self._cursor.blocks(step, self.columns, number)
        for block, result in map_in_order(call, blocks, self._pool, self._plan.in_flight):
            watch((block.index + 1) / total)
            sums, written = result
            if writer:
                writer.write(written)
            tree.push(sums)
        if writer:
            self.columns = {**self.columns, **writer.result()}
        stats, digest, largest = tree.result() or (None, None, None)
        self._cursor.finished(step, digest, largest)
        self.look.check_largest(self._cursor.largest, self._cursor.source.dtype)
        return stats
