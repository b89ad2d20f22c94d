r"""Asymmetric sensing on rows that can be read again: a start from moments, then the true loss.

.. math:: \min_{U, V} \sum_i \bigl( y_i - a_i^T U V^T b_i \bigr)^2

The start is that of :mod:`altmin.algorithms.quadratic.sensing`, the top singular vectors of
:math:`H = \frac1n A^T \mathrm{diag}(r) B` in whitened coordinates; from there the loss itself is minimised
(:mod:`altmin.algorithms.quadratic.grow_cut`). Measurements are in units of their root mean square. The ridge,
for noisy entries of a matrix, is :math:`a \|M\|_*`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.quadratic.grow_cut import (
    GrowCut,
    GrowCutState,
    dense,
    fold_of,
    losses,
    point_of,
    wider,
)
from altmin.algorithms.quadratic.lens import weights_of
from altmin.algorithms.quadratic.sensing import PairSensing, PairState, applied
from altmin.contract import Block, Done, Info, Round, Stats, record
from altmin.io.records import replace
from altmin.kernels.gram import times

_MOST_MOMENTS = 1_000_000  # entries of H
_CLIP = 3.0
_FRESH = 0.5  # length of the factors of a random start


@record
class PairLeastSquaresState(GrowCutState, PairState):
    """The whitenings, and the minimiser's stage; a point is (U, V) in one vector."""

    seed: int = 0


@record
class PairLeastSquares(GrowCut, PairSensing):
    """Parameters; ``shrink`` lets rows left out choose a ridge."""

    shrink: bool = False

    def init(self, info: Info, seed: int) -> PairLeastSquaresState:
        """Random directions of the second design."""
        return PairLeastSquaresState(**vars(super().init(info, seed)), seed=seed)

    def next_round(self, state: Any) -> Round | Done:
        """Second moments, moments of the target, then steps and moments of what they leave."""
        match state.phase:
            case "look":
                return Round(residual_map, name="moments", then=self._look)
            case "step":
                return Round(step_map, name="step", iteration=True, then=self.judge_step)
        return super().next_round(state)

    def finish(self, state: Any) -> Any:
        """The best factors of the rank that was asked for."""
        if state.signs is None or not len(state.signs):
            k = min(self.rank, len(state.U), len(state.V))
            return replace(state, phase="done", U=state.U[:, :k], V=state.V[:, :k])
        state = self.settle(state)
        U, V = self.parts(state, point_of(state))
        return replace(state, phase="done", U=U, V=V, safe=(U, V), descent=None, before=None, new_U=None)

    # --- what a point is --------------------------------------------------------------------------------

    def parts(self, state: Any, point: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """U and V."""
        at = len(state.left) * len(state.signs)
        return point[:at].reshape(-1, len(state.left)).T, point[at:].reshape(-1, len(state.right)).T

    @staticmethod
    def join(U: NDArray[Any], V: NDArray[Any]) -> NDArray[Any]:
        """The point."""
        return np.concatenate([U.T.ravel(), V.T.ravel()])

    def penalty(self, state: Any) -> NDArray[Any]:
        """What the square of each parameter costs: half of the nuclear norm's weight."""
        return np.full(len(state.descent.trial), 0.5 * state.ridge)

    def slope(self, state: Any, stats: Stats) -> NDArray[Any]:
        """J'r: minus half the gradient."""
        if "Jr" in stats:
            return np.asarray(stats["Jr"])
        return self.join(applied(state.left.T, stats["left"]), applied(state.right.T, stats["right"]))

    def scales(self, state: Any, stats: Stats) -> NDArray[Any]:
        """Of each factor, 1 / rms of what it is multiplied with."""
        n = stats["n"]
        left, right = (1 / np.sqrt(np.maximum(part / n, 1e-2)) for part in stats["squares"])
        U, V = np.tile(right, (len(state.left), 1)), np.tile(left, (len(state.right), 1))
        return self.join(U, V) / np.sqrt(n)

    def cut(self, state: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """The largest singular values, shared equally between the sides."""
        U, V = self.parts(state, state.descent.point)
        Q1, R1 = np.linalg.qr(U)
        Q2, R2 = np.linalg.qr(V)
        left, values, right = np.linalg.svd(R1 @ R2.T)
        k = self._rank(state)
        root = np.sqrt(values[:k])
        return self.join(Q1 @ left[:, :k] * root, Q2 @ right[:k].T * root), np.ones(k)

    def random_point(self, state: Any, about: bool) -> tuple[NDArray[Any], NDArray[Any]]:
        """Factors of both sides."""
        k = self._rank(state)
        width = min(wider(k) if about else 2 * k, *self._shape(state))
        rng = np.random.default_rng([state.seed, state.fresh])
        sides = [rng.standard_normal((d, width)) for d in self._shape(state)]
        if not about:
            return self.join(*(side * (_FRESH / np.sqrt(len(side))) for side in sides)), np.ones(width)
        for side, known in zip(sides, self.parts(state, state.descent.point), strict=True):
            side *= np.linalg.norm(known) / np.linalg.norm(side)
            side[:, : known.shape[1]] += known
        return self.join(*sides), np.ones(width)

    def freedom(self, state: Any) -> int:
        """Parameters at the rank that was asked for."""
        k = self._rank(state)
        return k * (sum(self._shape(state)) - k)

    def forms_moments(self, state: Any) -> bool:
        """Whether H is formed."""
        return len(state.left) * len(state.right) <= _MOST_MOMENTS

    def shrinks(self, state: Any) -> bool:
        """Not where a claim about M is made."""
        return self.shrink

    @staticmethod
    def _shape(state: PairState) -> tuple[int, int]:
        return len(state.left), len(state.right)

    def _rank(self, state: Any) -> int:
        return min(self.rank, *self._shape(state))

    # --- the start --------------------------------------------------------------------------------------

    def _see(self, state: Any, stats: Stats) -> Any:
        """Whitenings; then the zero matrix, whose loss is the unit of y."""
        state = super()._see(state, stats)
        state = replace(state, n=stats["n"], rows=int(stats["n"]), signs=np.zeros(0))
        return self.evaluate(state, np.zeros(0), np.zeros(0))

    def _staged(self, state: Any) -> Any:
        if not len(state.signs):  # the loss of the zero matrix is known
            unit = float(np.sqrt(state.loss)) or 1.0
            sizes = {"size": state.size / unit, "scale": state.scale * unit, "first_loss": 1.0, "loss": 1.0}
            state = replace(state, **sizes)
            return replace(state, phase="look" if self.forms_moments(state) else "power u")
        state = super()._staged(state)
        return replace(state, phase="look") if state.phase == "moments" else state

    def _power_v(self, state: Any, stats: Stats) -> Any:
        """After the last power round its directions are the start."""
        if state.power_left > 1:
            return super()._power_v(state, stats)
        k = self._rank(state)
        left, values, right = np.linalg.svd(
            applied(state.right.T, stats["B"]) / stats["n"], full_matrices=False
        )
        root = np.sqrt(values[:k])
        return self.evaluate(
            state, self.join(state.new_U @ right[:k].T * root, left[:, :k] * root), np.ones(k)
        )

    def _look(self, state: Any, stats: Stats) -> Any:
        """Directions along which the residual is still correlated with products of the designs."""
        n = stats["n"]
        units = [np.sqrt(np.maximum(part / n, 1e-6)) for part in (stats["aa"], stats["bb"])]
        left, values, right = np.linalg.svd(stats["H"] / n / np.outer(*units), full_matrices=False)
        k, some, few = self._rank(state), len(state.signs) > 0, self.few(state)
        if few and not some:
            k = min(wider(k), len(values))
        if some:
            d = sum(self._shape(state))
            noise = 1.2 * np.sqrt(stats["rr"] / n * d / n)
            k = min(k, int(np.sum(values > (0.0 if few else noise))))
            if not k or not self.may_grow(state):
                return self.nothing_to_grow(state)
        root = np.sqrt(values[:k] * (0.5 if some else 1.0))
        U, V = left[:, :k] * root / units[0][:, None], right[:k].T * root / units[1][:, None]
        if some:
            U, V = (
                np.column_stack(both) for both in zip(self.parts(state, point_of(state)), (U, V), strict=True)
            )
        go_on = self.grow if some else self.widely if few else self.evaluate
        return go_on(state, self.join(U, V), np.ones(U.shape[1]))


def step_map(algorithm: PairLeastSquares, state: Any, block: Block) -> Stats:
    """Loss at the trial, and J'J with J'r, or the products that the gradient is made of."""
    w = weights_of(block)
    out = fold_of(block.start, len(w)) == state.fold  # nowhere for -1
    held, w = np.where(out, w, 0.0), np.where(out, 0.0, w)
    U, V = algorithm.parts(state, state.descent.trial)
    if dense(state):
        A, B = (_white(T, X) for T, X in ((state.left, block.X), (state.right, block.second)))
        P, Q = A @ U, B @ V
    else:
        P, Q = (_white(T, X, F) for T, X, F in ((state.left, block.X, U), (state.right, block.second, V)))
    r = np.asarray(block.y, dtype=np.float64) / state.scale - np.sum(P * Q, axis=1)
    stats = losses(w, r * r, r, held)
    if dense(state):
        J = np.hstack([*(q[:, None] * A for q in Q.T), *(p[:, None] * B for p in P.T), np.empty((len(r), 0))])
        weighted = J if block.weight is None and state.fold < 0 else w[:, None] * J
        return {**stats, "JJ": weighted.T @ J, "Jr": J.T @ (w * r)}
    back = [
        np.asarray(X.T @ ((w * r)[:, None] * R).astype(X.dtype), dtype=np.float64)
        for X, R in ((block.X, Q), (block.second, P))
    ]
    squares = np.array([np.square(P).T @ w, np.square(Q).T @ w])
    return {**stats, "left": back[0], "right": back[1], "squares": squares}


def residual_map(algorithm: PairLeastSquares, state: Any, block: Block) -> Stats:
    """Moments of the clipped residual along products of clipped designs."""
    w = weights_of(block)
    A, B = _white(state.left, block.X), _white(state.right, block.second)
    U, V = algorithm.parts(state, point_of(state))
    r = np.asarray(block.y, dtype=np.float64) / state.scale - np.sum((A @ U) * (B @ V), axis=1)
    limit = _CLIP * 1.2533 * state.size
    r = np.clip(r, -limit, limit) if len(state.signs) else r
    A, B = np.clip(A, -_CLIP, _CLIP), np.clip(B, -_CLIP, _CLIP)
    moments = {"H": A.T @ ((w * r)[:, None] * B), "aa": w @ np.square(A), "bb": w @ np.square(B)}
    return {"n": float(w.sum()), "rr": float(w @ (r * r)), **moments}


def _white(T: NDArray[Any], X: Any, factors: NDArray[Any] | None = None) -> NDArray[Any]:
    """The whitened design, or its product with factors."""
    across = applied(T, np.eye(len(T)) if factors is None else factors)
    return np.asarray(times(X, across.astype(X.dtype, copy=False)), dtype=np.float64)
