r"""Coordinates of samples with holes: the low-rank model that the observed entries fix.

.. math:: \min_{U, V} \sum_{(r, w) \text{ observed}} (y_{rw} - u_r^T v_w)^2 + \sigma^2 \sum_r u_r^T S^{-1} u_r

AND runs in the coordinates of the D leading directions of its data (`subspace`).
With holes those are found by alternating least squares: a pass over the rows gives each its coordinates
:math:`u_r = (G_r + \sigma^2 S^{-1})^{-1} V y_r`, with a Gram matrix :math:`G_r` of its observed entries
alone, and sums up a Gram matrix for each feature, from which V follows. S is the second moment of the
coordinates and :math:`\sigma^2` what is left of an entry: a ridge that fades as the model fits. Without it
the alternation runs into spikes, samples whose few observed entries leave a direction open; as the ridge
goes to 0 with the residual, data of rank D without noise are completed exactly.

A sample stays in the fit if its observed entries say (nearly) as much of its coordinates as all of them
would: its loss of degrees of freedom, :math:`\operatorname{tr}((G_r + R)^{-1} R)` with
:math:`R = \sigma^2 S^{-1}`, may exceed that of a full sample by 1/2.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.contract import Block, Max, Min, Stats, record
from altmin.kernels.gram import row_norms2, times, transpose_times
from altmin.kernels.masked import masked_solve, observed, products, squared_residuals, unpack

MOST_ROUNDS = 300
_FIRST_ROUNDS = 4


@record
class Completion:
    """The low-rank model between two passes, and what the report says of the holes."""

    basis: Any  # V: (W, D), orthonormal
    prior: Any  # (D, D): second moment S of the coordinates
    noise: float = np.inf  # sigma^2: mean squared residual of an observed entry
    residual: float = np.inf  # norm of the residual relative to the data's, observed entries
    rounds: int = 0
    done: bool = False
    exact: bool = False  # whether the observed entries are fitted to rounding
    share: float = 1.0  # of the entries that were observed
    fewest: float = np.inf  # observed entries of the feature that has fewest
    poor: float = 0.0  # share of the samples that say too little of their coordinates
    ratio: float = np.inf  # observed entries for each degree of freedom of the model


def begin_completion(n_features: int, rank: int, dtype: Any) -> Completion:
    """Random directions, always the same ones: a fit has no seed unless its start has one."""
    directions = np.random.default_rng(0).standard_normal((n_features, min(rank, n_features)))
    return Completion(np.linalg.qr(directions)[0].astype(dtype), np.eye(directions.shape[1]))


def complete_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Coordinates of the rows with the present V, and the sums that give the next one."""
    c, Y, P, w = state.view.completion, *observed(block.X), _weights(block)
    if c.rounds < _FIRST_ROUNDS:  # a step of subspace iteration on the data with 0 in the holes
        U = times(Y, c.basis).astype(np.float64)
        left = row_norms2(Y)
    else:
        U = masked_solve(times(P, products(c.basis.T)), times(Y, c.basis), _ridge(c))
        left = squared_residuals(block.X, U, c.basis.T)
    Uw = U * w[:, None]
    counts = np.asarray(P.sum(axis=1), np.float64).ravel()
    return {
        "G": transpose_times(products(U.T) * w[:, None], P),
        "B": transpose_times(Uw.astype(Y.dtype), Y),
        "moments": Uw.T @ U,
        "left": float(w @ left),
        "squares": float(w @ row_norms2(Y)),
        "observed": float(w @ counts),
        "count": float(w.sum()),
        "rows": float(np.sum(w > 0)),
        "features": np.asarray((w > 0).astype(P.dtype) @ P, np.float64).ravel(),
    }


def update_completion(c: Completion, stats: Stats) -> Completion:
    """The next V: least squares of each feature on the coordinates, made orthonormal."""
    D = c.basis.shape[1]
    squares, seen = stats["squares"], max(stats["observed"], 1.0)
    residual = float(np.sqrt(stats["left"] / squares)) if squares > 0 else 0.0
    noise = stats["left"] / seen
    if c.rounds < _FIRST_ROUNDS:
        V = stats["B"].T.astype(np.float64)
    else:
        # Rounding alone keeps the ridge above 0 where a feature was never observed.
        V = masked_solve(stats["G"].T, stats["B"].T, max(noise, _floor(squares / seen)) * np.eye(D))
    Q, R = np.linalg.qr(V)
    moved = float(np.linalg.norm(Q - c.basis @ (c.basis.T.astype(np.float64) @ Q)))
    R = R if c.rounds >= _FIRST_ROUNDS else np.eye(D)
    prior = R @ stats["moments"] @ R.T / max(stats["count"], 1.0)
    tiny = 1e-10 if c.basis.dtype == np.float64 else 1e-5
    settled = c.rounds > _FIRST_ROUNDS and moved < 1e-4 and residual > 0.99 * c.residual
    n, W = stats["rows"], len(V)
    return replace(
        c,
        basis=Q.astype(c.basis.dtype),
        prior=prior,
        noise=float(noise),
        residual=residual,
        rounds=c.rounds + 1,
        exact=residual < tiny,
        done=residual < tiny or settled or c.rounds + 1 >= MOST_ROUNDS,
        share=float(stats["observed"] / max(stats["count"] * W, 1.0)),
        fewest=float(stats["features"].min()),
        ratio=float(stats["features"].sum() / max(D * (n + W - D), 1.0)),
    )


def coordinates_map(algorithm: Any, state: Any, block: Block) -> tuple[Stats, dict[str, Any]]:
    """Coordinates of the rows, what lies outside (scaled to all entries), and whether a row says enough.

    The ridge's shrinkage of a full row is undone, so that without holes this is the plain projection.
    """
    c, Y, P, w = state.view.completion, *observed(block.X), _weights(block)
    D, W = c.basis.shape[1], c.basis.shape[0]
    R, G = _ridge(c), times(P, products(c.basis.T)).astype(np.float64)
    U = masked_solve(G, times(Y, c.basis), R)
    U = U + U @ R.T
    lost = np.trace(np.linalg.solve(unpack(G, D) + R, np.broadcast_to(R, (len(G), D, D))), axis1=1, axis2=2)
    full = np.trace(np.linalg.solve(np.eye(D) + R, R))
    poor = (lost > full + 0.5) & (w > 0)
    counts = np.asarray(P.sum(axis=1), np.float64).ravel()
    outside = squared_residuals(block.X, U, c.basis.T) * W / np.maximum(counts, 1.0)
    w = np.where(poor, 0.0, w)
    columns = {"coordinates": U.astype(Y.dtype), "weight": w, "outside": outside}
    lowest = Y.data if not isinstance(Y, np.ndarray) else Y[w > 0]
    facts = {
        "count": float(w.sum()),
        "energy": float(w @ (row_norms2(U) + outside)),
        "lowest": Min(float(np.min(lowest, initial=0.0))),
        "below": float(np.sum(np.square(np.minimum(lowest, 0.0), dtype=np.float64))),
        "uneven": Max(float(np.max(np.abs(w[w > 0] - 1.0), initial=0.0))),
    }
    return {"facts": facts, "poor": float(poor.sum()), "rows": float(block.n_rows)}, columns


def _ridge(c: Completion) -> NDArray[Any]:
    """sigma^2 S^-1, finite where the data span fewer directions."""
    D = len(c.prior)
    S = c.prior + max(np.trace(c.prior), np.finfo(float).tiny) * 1e-13 * np.eye(D)
    noise = max(c.noise, _floor(float(np.trace(c.prior))))
    R = noise * np.linalg.inv(S)
    return np.ascontiguousarray((R + R.T) / 2)


def _floor(size: float) -> float:
    return 1e-28 * max(size, np.finfo(float).tiny)


def _weights(block: Block) -> NDArray[Any]:
    return np.ones(block.n_rows) if block.weight is None else block.weight.astype(np.float64)
