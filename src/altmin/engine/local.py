"""Rounds on this machine: threads over blocks, combined in the fixed tree."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from altmin.contract import Algorithm, Round, State, Stats
from altmin.engine.columns import Column, ColumnWriter
from altmin.engine.cursor import Cursor, Read
from altmin.engine.first_look import FirstLook
from altmin.engine.plan import Plan
from altmin.engine.reduce import Tree, map_in_order, runs
from altmin.engine.side_by_side import other_threads

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
        self._pool = other_threads(plan.n_threads, stack)
        cursor.read_ahead(stack)

    def reduce(self, algorithm: Algorithm, state: State, step: Round, number: int, watch: Watch) -> Stats:
        """Statistics of a round: map over its blocks, combine, keep the columns that it writes."""
        look = replace(self.look, checked=self._cursor.checked)

        def reduced(run: list[Read]) -> tuple[list[tuple[int, Stats]], list[dict[str, Any]]]:
            part, columns = Tree(), []
            for read in run:
                sums, written = look.map(algorithm, state, step, read())
                part.push(sums)
                columns.append(written)
            return part.levels, columns

        tree = Tree()
        n_rows = self._cursor.rows_of(step)
        writer = ColumnWriter(step.writes, n_rows, self._cursor.column_bytes) if step.writes else None
        total = max(math.ceil(n_rows / self._cursor.height(step)), 1)
        reads = self._cursor.reads(step, self.columns, number)
        plan = self._plan
        parts, done = runs(reads, total, plan.n_threads, plan.longest_run), 0
        for run, (levels, written) in map_in_order(reduced, parts, self._pool, plan.runs_in_flight):
            for _ in run:
                done += 1
                watch(done / total)
            if writer:
                for columns in written:
                    writer.write(columns)
            for level, sums in levels:
                tree.push(sums, level)
        if writer:
            self.columns = {**self.columns, **writer.result()}
        stats, digest, largest = tree.result() or (None, None, None)
        self._cursor.finished(step, digest, largest)
        self.look.check_largest(self._cursor.largest, self._cursor.source.dtype)
        return stats
