"""The passes of the one-pass machine over a block: thin products, in slices that stay in the cache.

A slice is multiplied with the factors, its residual is taken, and it is multiplied back: X is read
from memory once a round, and what is made of it never leaves the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.algorithms.quadratic.lens import weights_of
from altmin.algorithms.quadratic.low_rank import Quadratic
from altmin.contract import Block, Stats
from altmin.kernels.quadratic_rows import residual_rows, sweep_rows

_SLICE_BYTES = 256 << 10
_LANES = (
    8  # dense products have widths that are multiples of this: ragged edges cost BLAS up to twice the time
)


def u_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Residual of the fresh rows, its moments, and Z' [r*ZU, r]."""
    stats, r, linear = _pass(algorithm, state, block, along_new=False)
    rr, ll = r * r, linear * linear
    gap = rr - ll
    if block.weight is None:
        rows, sums = block.n_rows, (rr.sum(), rr @ rr, ll.sum(), gap @ gap)
    else:
        w = weights_of(block)
        rows, sums = int(np.count_nonzero(w)), (w @ rr, w @ (rr * rr), w @ ll, w @ (gap * gap))
    return {**stats, "rows": rows, **dict(zip(("rr", "rrrr", "ll", "dd"), map(float, sums), strict=True))}


def power_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """The same for the start, where M is still zero and no loss is needed."""
    return _pass(algorithm, state, block, along_new=False)[0]


def v_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Z' [r*ZU] with the new U and the residual of the old model."""
    return _pass(algorithm, state, block, along_new=True)[0]


def score_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Losses of the current, the safe and the linear model."""
    width = 2 * state.model.U.shape[1] + 1
    target, w = _target(algorithm, state, block), weights_of(block)
    factors, offset = _factors(state, block)
    P = np.asarray(block.X @ factors)
    P[:, : len(offset)] -= offset
    left = (
        _residual(algorithm, state.model, target, P[:, :width]),
        _residual(algorithm, state.safe, target, P[:, width : 2 * width]),
        target - P[:, 2 * width],
    )
    losses = np.array([float(w @ np.square(r, dtype=np.float64)) for r in left])
    return {"n": float(w.sum()), "losses": losses}


def _pass(
    algorithm: Any, state: Any, block: Block, along_new: bool
) -> tuple[dict[str, Any], NDArray[Any], NDArray[Any]]:
    """Z' [r*ZA, r] with A = U, or A the new U alone; the residuals of the model and of the linear one."""
    k, d = state.model.U.shape[1], block.X.shape[1]
    first = 2 * k + 1 if along_new else 0
    width = k if along_new else k + 1
    target = _target(algorithm, state, block)
    r = np.empty_like(target)
    linear = np.empty_like(target)
    weight = np.empty(0, dtype=target.dtype) if block.weight is None else block.weight.astype(target.dtype)
    constant = target.dtype.type(state.model.level - state.model.trace if algorithm.intercept else 0.0)
    back, sums = np.zeros((_even(width, block), d)), np.zeros(width)
    factors, offset = _factors(state, block)
    if sp.issparse(block.X):
        P, B = np.asarray(block.X @ factors), np.zeros((block.n_rows, width), dtype=target.dtype)
        residual_rows(P, offset, target, weight, k, first, constant, r, linear, B, sums)
        back += np.asarray(block.X.T @ B).T
    else:
        height = _slice_rows(state, block)
        sweep_rows(
            block.X, factors, offset, target, weight, k, first, constant, height, r, linear, back, sums
        )
    back = back[:width]
    n = float(block.n_rows if block.weight is None else block.weight.sum(dtype=np.float64))
    stats = {"n": n, "B": np.ascontiguousarray(back.T), "sums": sums}
    if not along_new and state.lens.kappa is not None:
        weighted = r if block.weight is None else (r * block.weight).astype(r.dtype)
        squares = state.lens.squares(block.X, weighted, back[-1], float(sums[-1]))
        stats["squares"] = np.asarray(squares, dtype=np.float64)
    return stats, r, linear


def _factors(state: Any, block: Block) -> tuple[NDArray[Any], NDArray[Any]]:
    """What X is multiplied with, and what centring takes off the product."""
    d, width = state.factors.shape
    factors = np.zeros((d, _even(width, block)), dtype=block.X.dtype)
    factors[:, :width] = state.factors
    return factors, (state.lens.centre @ state.factors).astype(block.X.dtype)


def _even(width: int, block: Block) -> int:
    """The width of a product with the block: columns of zeros are added where they make it faster."""
    return width if sp.issparse(block.X) else -(-width // _LANES) * _LANES


def _slice_rows(state: Any, block: Block) -> int:
    width = max(block.X.shape[1], state.factors.shape[1]) * block.X.dtype.itemsize
    return max(min(_SLICE_BYTES // width, block.n_rows), 32)


def _target(algorithm: Any, state: Any, block: Block) -> NDArray[Any]:
    """What factors explain; squares of single columns that an earlier fit has found are taken off."""
    y = state.lens.target(block.y)
    if state.model.own is not None:
        y = y - state.lens.own_squares(block.X, algorithm.intercept) @ state.model.own
    return np.asarray(y, dtype=block.X.dtype)


def _residual(algorithm: Any, model: Quadratic, target: NDArray[Any], P: NDArray[Any]) -> NDArray[Any]:
    """What a model leaves of the target; P holds Z [U V w]."""
    k = model.U.shape[1]
    r = target - P[:, 2 * k]
    r -= (P[:, :k] * P[:, k : 2 * k]) @ np.ones(k, dtype=P.dtype)
    if algorithm.intercept:
        r -= r.dtype.type(model.level - model.trace)
    return r
