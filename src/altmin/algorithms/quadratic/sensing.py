r"""Asymmetric rank-one sensing (Lin and Ye 2016, Section 4; Jain and Dhillon 2013).

.. math:: y = a^T M b, \qquad M = U V^T \in \mathbb{R}^{d_1 \times d_2} \text{ of rank } k

For independent designs with identity second moments, :math:`H = \frac1n A^T \mathrm{diag}(r) B` is an
unbiased estimate of :math:`M^* - M`, no shift needed, and a step is

.. math:: U \leftarrow \mathrm{QR}((M + \eta H) Q_V), \qquad V \leftarrow (M + \eta H)^T U.

Only second moments matter, so correlated or binary features are whitened by their (uncentred) second
moment and then recovered like Gaussian ones. Steps are paced and guarded as in
:mod:`altmin.algorithms.quadratic.one_pass`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.quadratic.guarded_steps import (
    GuardedState,
    GuardedSteps,
    accept,
    batch_noise,
    loss_of,
    take_back,
)
from altmin.algorithms.quadratic.lens import MAX_WHITENED, weights_of
from altmin.contract import Block, Done, Info, Max, Round, Stats, record
from altmin.io.records import replace
from altmin.kernels.gram import times

_POWER_ROUNDS = 6


@record
class PairState(GuardedState):
    """Phase, the two whitenings, the factors, the last good ones, and the pace."""

    scale: float  # largest |y|: the unit
    left: Any  # (d1,) or (d1, d1)
    right: Any  # (d2,) or (d2, d2)
    U: Any  # (d1, k), orthonormal
    V: Any  # (d2, k)
    Q: Any  # (d2, k): basis of V, what the U round multiplies with
    safe: Any  # (U, V) that passed the guard
    new_U: Any = None
    power_left: int = _POWER_ROUNDS
    first_loss: float = np.inf  # of M = 0: the mean square of y
    left_spread: float = 0.0  # ||A'A/n - I||_2 after scaling each column
    right_spread: float = 0.0


@record
class PairSensing(GuardedSteps):
    """Parameters; the loss is in units of the largest value of y, squared."""

    rank: int
    whiten: bool | str = "auto"

    def init(self, info: Info, seed: int) -> PairState:
        """Random directions of the second design."""
        d1, d2 = info.n_features, info.second_features
        k = min(self.rank, d1, d2)
        width = min(k + 5, d1, d2)
        rng = np.random.default_rng(seed)
        Q = np.linalg.qr(rng.standard_normal((d2, width)))[0]
        U, V = np.zeros((d1, width)), np.zeros((d2, width))
        return PairState(1.0, np.ones(d1), np.ones(d2), U, V, Q, (U, V), phase="moments")

    def next_round(self, state: PairState) -> Round | Done:
        """Second moments, power rounds on the first batch, then U and V in turn."""
        same, fresh = self.batches(state)
        match state.phase:
            case "moments":
                return Round(moments_map, rows=fresh, name="moments", then=self._see)
            case "power u":
                return Round(u_map, rows=same, name="start", then=self._power_u)
            case "power v":
                return Round(v_map, rows=same, name="start", then=self._power_v)
            case "first":
                return Round(u_map, rows=same, name="start", then=self._u)
            case "u":
                if self.settled(state):
                    return Done("stalled" if state.loss > 1e-6 else "converged", "no step lowers the loss")
                return Round(u_map, rows=same if state.again else fresh, name="U", then=self._u)
            case "v":
                return Round(v_map, rows=same, name="V", iteration=True, then=self._v)
        return Done("converged")

    def finish(self, state: PairState) -> PairState:
        """Nothing to tidy up; a last step that follows one taken back isn't trusted."""
        U, V = state.safe if state.again else (state.U, state.V)
        return replace(state, phase="done", U=U, V=V)

    def measure(self, state: GuardedState) -> Mapping[str, float]:
        """As everywhere; the loss as a share of the mean square of y."""
        first = state.first_loss if isinstance(state, PairState) else 1.0
        return {**super().measure(state), "loss": state.loss / max(first, 1e-300)}

    def _see(self, state: PairState, stats: Stats) -> PairState:
        n = stats["n"]
        scale = float(stats["top"].value)
        left, left_spread = whitening(stats["left"] / n, n, self.whiten)
        right, right_spread = whitening(stats["right"] / n, n, self.whiten)
        return replace(
            state,
            phase="power u",
            scale=scale if scale > 0 else 1.0,
            left=left,
            right=right,
            left_spread=left_spread,
            right_spread=right_spread,
        )

    def _power_u(self, state: PairState, stats: Stats) -> PairState:
        U = np.linalg.qr(applied(state.left.T, stats["B"]) / stats["n"])[0]
        return replace(state, phase="power v", new_U=U)

    def _power_v(self, state: PairState, stats: Stats) -> PairState:
        """Subspace iteration on the first batch; then its best k right directions."""
        HtU = applied(state.right.T, stats["B"]) / stats["n"]
        if state.power_left > 1:
            Q = np.linalg.qr(HtU)[0]
            return replace(state, phase="power u", Q=Q, power_left=state.power_left - 1)
        k = min(self.rank, len(state.U), len(state.V))
        Q = np.linalg.svd(HtU, full_matrices=False)[0][:, :k]
        zero = (np.zeros((len(state.U), k)), np.zeros((len(state.V), k)))
        return replace(state, phase="first", U=zero[0], V=zero[1], Q=Q, safe=zero, new_U=None)

    def _u(self, state: PairState, stats: Stats) -> PairState:
        n = stats["n"]
        loss, error = loss_of(stats)
        if self.worse(state, loss, error):
            U, V = state.safe
            Q = np.linalg.qr(V)[0] if V.any() else state.Q
            return take_back(state, U=U, V=V, Q=Q, phase="u")
        first = state.first_loss if state.steps else float(loss)
        state = accept(state, stats, loss, error, safe=(state.U, state.V), first_loss=first)
        noise = batch_noise(1.45 * min(self.rank, *self._shape(state)), sum(self._shape(state)), n)
        state, eta = self.pace(state, noise, self.step)
        HQ = applied(state.left.T, stats["B"]) / n
        new_U = np.linalg.qr(state.U @ (state.V.T @ state.Q) + eta * HQ)[0]
        return replace(state, phase="v", new_U=new_U, step=eta)

    def _v(self, state: PairState, stats: Stats) -> PairState:
        U = state.new_U
        HtU = applied(state.right.T, stats["B"]) / stats["n"]
        V = state.V @ (state.U.T @ U) + state.step * HtU
        return replace(
            state,
            phase="u",
            U=U,
            V=V,
            Q=np.linalg.qr(V)[0],
            new_U=None,
            steps=state.steps + 1,
            again=False,
            change=state.step * float(np.linalg.norm(HtU)) / max(state.first_loss, 1e-300) ** 0.5,
        )

    @staticmethod
    def _shape(state: PairState) -> tuple[int, int]:
        return len(state.U), len(state.V)


def moments_map(algorithm: PairSensing, state: PairState, block: Block) -> Stats:
    """Second moments of both designs (only the diagonal for wide ones) and of y."""
    w = weights_of(block)
    if block.y is None:
        raise ValueError("the blocks bring no target y")
    return {
        "n": float(w.sum()),
        "left": _second_moment(block.X, w, algorithm.whiten),
        "right": _second_moment(block.second, w, algorithm.whiten),
        "top": Max(float(np.max(np.abs(block.y[w > 0]), initial=0.0))),
    }


def u_map(algorithm: PairSensing, state: PairState, block: Block) -> Stats:
    """Residual and its moments, and A' (r * B Q)."""
    r, right, w = _residual(state, block)
    BQ = right if state.phase == "power u" else times(block.second, _as(state.right, state.Q, block.X))
    rr = np.square(r, dtype=np.float64)
    return {
        "n": float(w.sum()),
        "rows": int(np.count_nonzero(w)),
        "B": np.asarray(block.X.T @ ((w * r)[:, None] * BQ).astype(r.dtype), dtype=np.float64),
        "rr": float(w @ rr),
        "rrrr": float(w @ (rr * rr)),
    }


def v_map(algorithm: PairSensing, state: PairState, block: Block) -> Stats:
    """B' (r * A U) with the new U and the residual of the old model."""
    r, _, w = _residual(state, block)
    AU = times(block.X, _as(state.left, state.new_U, block.X))
    B = ((w * r)[:, None] * AU).astype(r.dtype)
    return {"n": float(w.sum()), "B": np.asarray(block.second.T @ B, dtype=np.float64)}


def whitening(S: NDArray[Any], n: float, whiten: bool | str) -> tuple[NDArray[Any], float]:
    """Scale (or whitening matrix) from second moments, and how far scaled columns are from identity."""
    diagonal = S if S.ndim == 1 else np.diag(S).copy()
    unit = np.where(diagonal > 0, 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 0.0)
    if S.ndim == 1:
        return unit, 0.0
    d = max(int((unit > 0).sum()), 1)
    values, vectors = np.linalg.eigh(S * np.outer(unit, unit))
    spread = float(np.max(np.abs(values[values > 1e-10] - 1), initial=0.0))
    if whiten is not True and spread <= 0.1 + 2 * np.sqrt(d / n) + d / n:
        return unit, spread
    ridge = 1e-9 + 1e-2 * d / n
    root = np.where(values > 1e-10, 1 / np.sqrt(np.maximum(values, 0) + ridge), 0.0)
    return unit[:, None] * ((vectors * root) @ vectors.T), spread


def _residual(state: PairState, block: Block) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    w = weights_of(block)
    target = np.asarray(block.y, dtype=block.X.dtype) / block.X.dtype.type(state.scale)
    if state.phase.startswith("power"):
        return target, times(block.second, _as(state.right, state.Q, block.X)), w
    AU = times(block.X, _as(state.left, state.U, block.X))
    BV = times(block.second, _as(state.right, state.V, block.X))
    return target - np.einsum("ij,ij->i", AU, BV), BV, w


def applied(T: NDArray[Any], A: NDArray[Any]) -> NDArray[Any]:
    """T A, for a T that may be given by its diagonal."""
    return T @ A if T.ndim == 2 else T[:, None] * A


def _as(T: NDArray[Any], A: NDArray[Any], X: Any) -> NDArray[Any]:
    return applied(T, A).astype(X.dtype, copy=False)


def _second_moment(X: Any, w: NDArray[Any], whiten: bool | str) -> NDArray[Any]:
    d = X.shape[1]
    full = whiten is True or (whiten == "auto" and d <= MAX_WHITENED)
    if hasattr(X, "multiply"):
        if not full:
            return np.asarray(X.multiply(X).T @ w, dtype=np.float64)
        return np.asarray((X.T @ X.multiply(w[:, None])).toarray(), dtype=np.float64)
    return np.asarray(X.T @ (w[:, None] * X) if full else w @ np.square(X), dtype=np.float64)


def user_factors(state: PairState) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """M in the user's columns as its singular value decomposition: left (k, d1), values, right (k, d2)."""
    Q1, R1 = np.linalg.qr(applied(state.left, state.U))
    Q2, R2 = np.linalg.qr(applied(state.right, state.V))
    P, values, Pt = np.linalg.svd(R1 @ R2.T)
    k = state.U.shape[1]
    left, right = (Q1 @ P[:, :k]).T, (Q2 @ Pt[:k].T).T
    top = np.argmax(np.abs(left), axis=1)
    signs = np.where(left[np.arange(len(left)), top] < 0, -1.0, 1.0)[:, None]
    return left * signs, values[:k] * state.scale, right * signs
