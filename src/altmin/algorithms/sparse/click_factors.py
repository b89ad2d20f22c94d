r"""Clicks without ratings where columns are too many for a model of each: weighted alternating least squares.

.. math:: \min_{U, V} \sum_{(i,j) \text{ clicked}} (1 - u_i^T v_j)^2 + a \sum_{i,j} (u_i^T v_j)^2
   + \lambda \sum_i c_i |u_i|^2 + \lambda \sum_j d_j |v_j|^2

(Hu, Koren and Volinsky 2008; the ridge by counts of Rendle and others 2021: :math:`c_i` is the number of the
row's clicks plus a times that of all columns, :math:`d_j` likewise). Given V, each :math:`u_i` solves a system
of its own, and the other way round. Rows and columns are treated alike: the data are the symmetric matrix
[[0, B], [B', 0]], of which one round reads the upper part and the next the lower. Memory: the clicks, and a
factor for each row and column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.sparse.machine_maps import rows_of
from altmin.contract import Block, Concat, Done, Info, Round, Stats, record
from altmin.kernels.masked import masked_solve, products

EMPTY = 0.1  # what a pair without a click counts, against one with a click
RIDGE = 0.01
_SPREAD = 0.1
_AT_ONCE = 256  # rows of a block whose systems are formed together


@record
class ClickState:
    """Factors of rows and columns, one below the other, and which of the two are next."""

    phase: str
    factors: Any  # (n_rows + n_columns, k)
    change: float = np.inf


@record
class ClickFactors:
    """Parameters: rank, rows before the columns begin, and sweeps."""

    rank: int
    n_rows: int
    sweeps: int = 12

    def init(self, info: Info, seed: int) -> ClickState:
        """Random factors of the columns."""
        factors = np.random.default_rng(seed).standard_normal((info.n_features, self.rank))
        return ClickState("rows", factors * (_SPREAD / np.sqrt(self.rank)))
