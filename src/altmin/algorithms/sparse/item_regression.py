r"""Clicks without ratings: every item's column regressed on all others (EASE, Steck 2019).

.. math:: \min_W \sum_u n_u^{-1/2} \|b_u - b_u W\|^2 + \lambda \|W\|_F^2, \quad \mathrm{diag}\,W = 0
   \qquad\Longrightarrow\qquad W = I - P \, \mathrm{diag}(P)^{-1}, \quad P = (B^T D B + \lambda I)^{-1}

A row :math:`b_u` of B (a user) holds a one for each of its :math:`n_u` clicks on columns (items). A row with
n clicks speaks of n^2 pairs of items: D weighs it by :math:`n^{-1/2}` (in units in which a click counts 1 on
average), or a few busy rows would decide everything. One pass gives :math:`B^T D B`. The ridge is chosen on
the most popular items by a tenth of the rows, which are left out. Each of their clicks is lost in turn, and
the ridge whose scores put most of them among the first ten is taken; every row counts the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.algorithms.sparse.machine_maps import left_out, rows_of
from altmin.contract import Block, Done, Info, Round, Stats, record

RIDGES = (30.0, 60.0, 120.0, 250.0, 500.0, 1000.0)
_TRIED_ITEMS = 1000
_FIRST = 10


@record
class ItemState:
    """Phase, item weights, and what the choice of the ridge needs."""

    phase: str
    gram: Any = None  # (d, d)
    tried: Any = None  # items on which ridges are tried
    candidates: Any = None  # (n_ridges, m, m): item weights without the rows left out
    ridge: float = RIDGES[2]
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
        unit = stats["clicks"] / max(float(np.trace(stats["gram"])), 1e-300)
        gram, held = unit * stats["gram"], unit * stats["held"]
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
    """B'DB, that of the rows left out, and the clicks."""
    B = rows_of(block.X)
    clicks = np.diff(B.indptr)
    weights = np.repeat(1 / np.sqrt(np.maximum(clicks, 1)), clicks)
    DB = sp.csr_array((weights * B.data, B.indices, B.indptr), shape=B.shape)
    out = np.flatnonzero(left_out(block.start, B.shape[0]))
    gram, held = (B.T @ DB).toarray(), (B[out].T @ DB[out]).toarray()
    return {"gram": gram, "held": held, "clicks": float(clicks.sum())}


def ridge_map(algorithm: ItemRegression, state: ItemState, block: Block) -> Stats:
    """How often each ridge brings a lost click back among the first ten, as a mean over rows."""
    B = rows_of(block.X)[:, state.tried]
    hits, n = np.zeros(len(RIDGES)), 0
    for i in np.flatnonzero(left_out(block.start, B.shape[0])):
        seen = B.indices[B.indptr[i] : B.indptr[i + 1]]
        if len(seen) < 2:
            continue
        n += 1
        for ridge, W in enumerate(state.candidates):
            scores = W[seen].sum(axis=0) - W[seen]  # (lost click, item): from all clicks but that one
            own = scores[np.arange(len(seen)), seen]
            scores[:, seen] = -np.inf
            hits[ridge] += np.mean(np.sum(scores > own[:, None], axis=1) < _FIRST)
    return {"hits": hits, "n": n}
