r"""Clicks without ratings: every item's column regressed on all others (EASE, Steck 2019).

.. math:: \min_W \|B - B W\|_F^2 + \lambda \|W\|_F^2, \quad \mathrm{diag}\,W = 0
   \qquad\Longrightarrow\qquad W = I - P \, \mathrm{diag}(P)^{-1}, \quad P = (B^T B + \lambda I)^{-1}

B holds a one for each click of a row (a user) on a column (an item). One pass gives :math:`B^T B`. The ridge
is chosen on the most popular items by a tenth of the rows, which are left out and lose one click each: the
one whose scores put most of the lost clicks among the first ten is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray

from altmin.algorithms.sparse.machine_maps import left_out, rows_of
from altmin.contract import Block, Done, Info, Round, Stats, record

RIDGES = (30.0, 100.0, 300.0, 1000.0)
_TRIED_ITEMS = 1000
_FIRST = 10


@record
class ItemState:
    """Phase, item weights, and what the choice of the ridge needs."""

    phase: str
    gram: Any = None  # (d, d)
    tried: Any = None  # items on which ridges are tried
    candidates: Any = None  # (n_ridges, m, m): item weights without the rows left out
    ridge: float = RIDGES[1]
    hits: float = 0.0  # share of lost clicks among the first ten
    W: Any = None  # (d, d)


@record
class ItemRegression:
    """No parameters: the ridge is chosen from the data."""

    def init(self, info: Info, seed: int) -> ItemState:
        """Nothing known."""
        return ItemState("gram")

    def next_round(self, state: ItemState) -> Round | Done:
        """One pass for the Gram matrix, one for the ridge."""
        match state.phase:
            case "gram":
                return Round(gram_map, name="clicks", then=self._gram)
            case "ridge":
                return Round(ridge_map, name="ridge", iteration=True, then=self._ridge)
        return Done("converged", f"one linear model for each item, ridge {state.ridge:g}")

    def finish(self, state: ItemState) -> ItemState:
        """Nothing to tidy up."""
        return replace(state, phase="done", gram=None, candidates=None)

    def measure(self, state: ItemState) -> Mapping[str, float]:
        """Share of the clicks left out that come back among the first ten."""
        return {"change": 0.0, "hits": state.hits}

    def _gram(self, state: ItemState, stats: Stats) -> ItemState:
        gram, held = stats["gram"], stats["held"]
        tried = np.sort(np.argsort(-np.diag(gram), kind="stable")[:_TRIED_ITEMS])
        part = (gram - held)[np.ix_(tried, tried)]
        candidates = np.array([item_weights(part, ridge) for ridge in RIDGES])
        return replace(state, phase="ridge", gram=gram, tried=tried, candidates=candidates)

    def _ridge(self, state: ItemState, stats: Stats) -> ItemState:
        hits = stats["hits"] / max(stats["n"], 1)
        ridge = RIDGES[int(np.argmax(hits))] if stats["n"] else state.ridge
        W = item_weights(state.gram, ridge)
        return replace(state, phase="done", ridge=ridge, hits=float(hits.max()), W=W, gram=None)


def item_weights(gram: NDArray[Any], ridge: float) -> NDArray[Any]:
    """W from B'B."""
    factor = sla.cholesky(gram + ridge * np.eye(len(gram)), lower=False, check_finite=False)
    P, _ = sla.lapack.dpotri(factor, lower=0)
    P = np.triu(P) + np.triu(P, 1).T
    W = -P / np.diag(P)
    np.fill_diagonal(W, 0.0)
    return np.asarray(W)


def gram_map(algorithm: ItemRegression, state: ItemState, block: Block) -> Stats:
    """B'B, and that of the rows left out."""
    B = rows_of(block.X)
    out = left_out(block.start, B.shape[0])
    held = B[np.flatnonzero(out)]
    return {"gram": (B.T @ B).toarray(), "held": (held.T @ held).toarray()}


def ridge_map(algorithm: ItemRegression, state: ItemState, block: Block) -> Stats:
    """How often each ridge brings a lost click back among the first ten."""
    B = rows_of(block.X)[:, state.tried]
    hits, n = np.zeros(len(RIDGES)), 0
    for i in np.flatnonzero(left_out(block.start, B.shape[0])):
        seen = B.indices[B.indptr[i] : B.indptr[i + 1]]
        if len(seen) < 2:
            continue
        lost = seen[(block.start + i) % len(seen)]
        rest = seen[seen != lost]
        scores = state.candidates[:, rest].sum(axis=1)
        scores[:, rest] = -np.inf
        hits += np.sum(scores > scores[:, [lost]], axis=1) < _FIRST
        n += 1
    return {"hits": hits, "n": n}
