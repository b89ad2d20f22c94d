r"""Clicks where columns are too many for a linear model of each: weighted alternating least squares.

.. math:: \min_{U, V} \sum_{(i,j) \text{ clicked}} (1 - u_i^T v_j)^2 + a \sum_{i,j} (u_i^T v_j)^2
   + \lambda \|U\|_F^2 + \lambda \|V\|_F^2

(Hu, Koren and Volinsky 2008). Given V, each :math:`u_i` solves a small system of its own, and the other way
round. Rows and columns are treated alike: the data are the symmetric matrix [[0, B], [B', 0]], of which one
round solves the upper rows and the next one the lower. A ridge that grows with the clicks of a row, as Rendle
and others (2021) have it, ranked no better on films and on words.
Memory: the clicks twice, and a factor for each row and column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from altmin.algorithms.sparse.machine_maps import rows_of
from altmin.contract import Block, Concat, Done, Info, Round, Stats, record
from altmin.kernels.masked import solve_clicks

_EMPTY = 0.1  # a, what a pair without a click counts
_RIDGE = 4.0
_SPREAD = 0.1  # of the predictions at the start
_SWEEPS = 12


@record
class ClickState:
    """Factors of rows and columns, one below the other; which of them are solved for next."""

    phase: str
    factors: Any  # (n_rows + n_columns, k)
    sweep: int = 0
    change: float = np.inf


@record
class ClickFactors:
    """Parameters; the columns begin after ``n_rows`` rows."""

    rank: int
    n_rows: int

    def init(self, info: Info, seed: int) -> ClickState:
        """Random factors."""
        factors = np.random.default_rng(seed).standard_normal((info.n_features, self.rank))
        return ClickState("rows", factors * np.sqrt(_SPREAD / self.rank))

    def next_round(self, state: ClickState) -> Round | Done:
        """Factors of the rows, then of the columns."""
        match state.phase:
            case "rows":
                return Round(solve_map, name="rows", then=self._rows)
            case "columns":
                return Round(solve_map, name="columns", iteration=True, then=self._columns)
        return Done("converged", f"{_SWEEPS} sweeps of weighted least squares")

    def finish(self, state: ClickState) -> ClickState:
        """Nothing to tidy up."""
        return replace(state, phase="done")

    def measure(self, state: ClickState) -> Mapping[str, float]:
        """How far the columns' factors moved."""
        return {"change": state.change}

    def bounds(self, state: ClickState) -> tuple[int, int]:
        """The rows of the symmetric matrix that are solved for."""
        return (0, self.n_rows) if state.phase == "rows" else (self.n_rows, len(state.factors))

    def _rows(self, state: ClickState, stats: Stats) -> ClickState:
        return self._moved(replace(state, phase="columns"), stats["rows"], slice(None, self.n_rows))

    def _columns(self, state: ClickState, stats: Stats) -> ClickState:
        sweep = state.sweep + 1
        state = replace(state, sweep=sweep, phase="rows" if sweep < _SWEEPS else "done")
        return self._moved(state, stats["rows"], slice(self.n_rows, None))

    @staticmethod
    def _moved(state: ClickState, solved: Concat, where: slice) -> ClickState:
        factors = state.factors.copy()
        factors[where] = solved.value
        step = float(np.linalg.norm(solved.value - state.factors[where]))
        return replace(state, factors=factors, change=step / max(float(np.linalg.norm(solved.value)), 1e-300))


def solve_map(algorithm: ClickFactors, state: ClickState, block: Block) -> Stats:
    """Factors of the rows of this block that are solved for."""
    low, high = algorithm.bounds(state)
    first, last = (int(np.clip(at - block.start, 0, block.n_rows)) for at in (low, high))
    X = rows_of(block.X)[first:last]
    others = state.factors[algorithm.n_rows :] if low == 0 else state.factors[: algorithm.n_rows]
    solved = np.zeros((X.shape[0], algorithm.rank))
    base = _EMPTY * others.T @ others + _RIDGE * np.eye(algorithm.rank)
    solve_clicks(X.indptr, X.indices, state.factors, base, solved)
    return {"rows": Concat(solved)}
