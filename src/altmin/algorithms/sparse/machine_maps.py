"""The passes of the sparse machine over a block: fields, values of the rows, systems of the columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.algorithms.quadratic.lens import weights_of
from altmin.contract import Block, Max, Stats, record
from altmin.kernels.sparse_machine import column_systems, move_rows

MOST_FIELDS = 64


@record
class ColumnSums:
    """Sums for some columns only: ``ids`` are sorted and distinct."""

    ids: Any
    values: Any

    def combine(self, other: ColumnSums) -> ColumnSums:
        """Sums for the columns of either."""
        if np.array_equal(self.ids, other.ids):
            return ColumnSums(self.ids, self.values + other.values)
        ids = np.union1d(self.ids, other.ids)
        values = np.zeros((len(ids), self.values.shape[1]))
        values[np.searchsorted(ids, self.ids)] = self.values
        values[np.searchsorted(ids, other.ids)] += other.values
        return ColumnSums(ids, values)


def fields(before: NDArray[Any]) -> NDArray[np.intp]:
    """Bounds of ranges of columns that don't meet; ``before`` has the nearest earlier column of any row."""
    bounds, low = [0], 0
    for column in np.flatnonzero(before >= 0):
        if before[column] >= low:
            low = int(column)
            bounds.append(low)
    bounds.append(len(before))
    if len(bounds) > MOST_FIELDS + 1:
        bounds = [bounds[i] for i in np.linspace(0, len(bounds) - 1, MOST_FIELDS + 1).astype(int)]
    return np.asarray(bounds, dtype=np.intp)


def rows_of(X: Any) -> Any:
    """The block in the CSR format, indices sorted."""
    X = sp.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def look_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Sizes of columns, which of them meet, and the level of y."""
    if block.y is None:
        raise ValueError("the blocks of X bring no target y: give tuples (X, y), or y beside X")
    X, w, y = rows_of(block.X), weights_of(block), np.asarray(block.y, dtype=np.float64)
    d = X.shape[1]
    top, before, other = np.zeros(d), np.full(d, -1), np.zeros(d, dtype=bool)
    np.maximum.at(top, X.indices, np.abs(X.data))
    other[X.indices[(X.data != 0) & (X.data != 1)]] = True
    follows = np.ones(X.nnz, dtype=bool)
    follows[X.indptr[:-1][X.indptr[:-1] < X.nnz]] = False
    at = np.flatnonzero(follows)
    np.maximum.at(before, X.indices[at], X.indices[at - 1])
    sums = {"n": float(w.sum()), "y": float(w @ y), "yy": float(w @ (y * y))}
    return {**sums, "top": Max(top), "other": Max(other), "before": Max(before)}


def level_map(algorithm: Any, state: Any, block: Block) -> tuple[Stats, Mapping[str, Any]]:
    """Losses of rows that are learned from and of those left out, and the step of the intercept."""
    _, sums, f, variance = _moved(state, block)
    y, w = _target(state, block), _weights(state, block)
    pull, kappa = _pull(algorithm, state, y, w, f, variance)
    if algorithm.logistic:
        p = probability(f, variance)
        loss = -np.log(np.where(y > 0.5, p, 1 - p))
        expected = -(p * np.log(p) + (1 - p) * np.log(1 - p))
    else:
        loss, expected = np.square(f - y), state.noise + variance
    out = weights_of(block) - w
    stats = {
        "n": float(w.sum()),
        "loss": float(w @ loss),
        "expected": float(w @ expected),
        "variance": float(w @ variance),
        "pull": float(pull.sum()),
        "kappa": float(kappa.sum()),
        "held_n": float(out.sum()),
        "held_loss": float(out @ loss),
        "size": float(np.square(state.m).sum()) if block.start == 0 else 0.0,
    }
    return stats, {"sums": sums}


def field_map(algorithm: Any, state: Any, block: Block) -> tuple[Stats, Mapping[str, Any]]:
    """The systems of the columns of a field."""
    rows, sums, f, variance = _moved(state, block)
    pull, kappa = _pull(algorithm, state, _target(state, block), _weights(state, block), f, variance)
    low, high = (int(at) for at in state.bounds[state.field : state.field + 2])
    ids = np.arange(high - low)
    slots = ids
    if high - low > 2 * len(f):  # a large field: sums for the columns that these rows have
        ids = np.unique(rows[1][(rows[1] >= low) & (rows[1] < high)] - low)
        slots = np.empty(high - low, dtype=np.intp)
        slots[ids] = np.arange(len(ids))
    width = 1 + algorithm.rank
    out = np.zeros((len(ids), width * (width + 1) // 2 + width))
    m, S = state.m[low:high], state.S[low:high]
    column_systems(*rows, low, high, slots, m, S, sums, pull, kappa, out)
    return {"systems": ColumnSums(ids, out)}, {"sums": sums}


def probability(f: NDArray[Any], variance: NDArray[Any]) -> NDArray[Any]:
    """P(y = 1) where f is uncertain (MacKay's approximation)."""
    p = 1 / (1 + np.exp(-f / np.sqrt(1 + np.pi * variance / 8)))
    return np.asarray(np.clip(p, 1e-15, 1 - 1e-15))


def left_out(first: int, n: int) -> NDArray[np.bool_]:
    """A tenth of the rows, scattered by a hash of their numbers."""
    numbers = np.arange(first, first + n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray((numbers >> np.uint64(40)) % np.uint64(10) == 0)


def _moved(state: Any, block: Block) -> tuple[tuple[Any, ...], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The rows, their sums with the field that moved last brought up to date, and their values."""
    X = rows_of(block.X)
    rows = (X.indptr, X.indices, X.data, state.scale)
    low, high, old = 0, 0, (state.m[:0], state.S[:0])
    if state.phase == "sums":
        sums = np.zeros((X.shape[0], 3 * (state.m.shape[1] - 1) + 2))
        low, high, old = 0, X.shape[1], (np.zeros_like(state.m), np.zeros_like(state.m))
    else:
        sums = np.array(block.columns["sums"])
        if state.old is not None:
            (low, high), old = state.moved, state.old
    f, variance = np.empty(len(sums)), np.empty(len(sums))
    move_rows(*rows, low, high, *old, state.m[low:high], state.S[low:high], state.b, sums, f, variance)
    return rows, sums, f, variance


def _target(state: Any, block: Block) -> NDArray[Any]:
    return (np.asarray(block.y, dtype=np.float64) - state.centre) / state.spread


def _weights(state: Any, block: Block) -> NDArray[Any]:
    """The weights with which rows are learned from: none for those left out."""
    w = weights_of(block)
    return w if state.stage == "all" else np.where(left_out(block.start, len(w)), 0.0, w)


def _pull(
    algorithm: Any,
    state: Any,
    y: NDArray[Any],
    w: NDArray[Any],
    f: NDArray[Any],
    variance: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[Any]]:
    """First and second derivative of each row's loss (of its bound, where it is logistic)."""
    if not algorithm.logistic:
        kappa = w / state.noise
        return kappa * (y - f), kappa
    xi = np.sqrt(np.square(f) + variance) + 1e-9
    kappa = w * np.tanh(xi / 2) / (2 * xi)
    return w * (y - 0.5) - kappa * f, kappa
