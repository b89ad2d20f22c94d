r"""The machine on rows that can be read again: a start from moments, then the true loss.

.. math:: \min_{b, w, U} \; \sum_i \bigl( y_i - b - z_i^T w - \sum_j s_j (z_i^T u_j)^2 \bigr)^2,
   \qquad s_j = \pm 1

Moments of the residual, :math:`H = \frac{1}{2n} \sum_i r_i z_i z_i^T` with its diagonal corrected, give the
start that Lin and Ye's theory speaks of (:mod:`altmin.algorithms.quadratic.one_pass`): the k largest
eigenvalues with their signs. From there the loss itself is minimised, by Levenberg-Marquardt steps where the
parameters are few and by L-BFGS otherwise; a step that doesn't lower the loss is never taken.

**Grow and cut.** A local minimum of rank k may miss a direction. Where the moments of what is left (features
and residual clipped, so that heavy tails don't hide it) have an eigenvalue above the noise, its
directions are added, the larger model is fitted, cut to rank k, and fitted again; it is kept if that lowered
the loss. Without this, half of the laws in heavy-tailed features are missed.

**Ridge.** Where there is noise and rows are not plenty, a penalty :math:`a \|M\|_* + 2 a^2 \|w\|^2` is chosen
by rows left out (a fifth of them, five times where they are few), and kept only if they are predicted better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.quadratic.guarded_steps import GuardedState
from altmin.algorithms.quadratic.lens import Lens, split_diagonal, weights_of
from altmin.algorithms.quadratic.low_rank import Quadratic
from altmin.algorithms.quadratic.one_pass import OnePass, OnePassState
from altmin.contract import Block, Done, Info, Round, Stats, record
from altmin.kernels.second_order import lbfgs_direction, lbfgs_remember, marquardt_step

MOST_DENSE = 400  # parameters up to which J'J is formed
MOST_MOMENTS = 1000  # features up to which H is formed
_CLIP = 3.0
_MOST_GROWN = 6
_TOLERANCE = {"first": 1e-5, "grown": 1e-3, "cut": 1e-5, "last": 1e-9, "ridge": 1e-3, "shrunk": 1e-9}
_STEPS = {"first": 60, "grown": 30, "cut": 60, "last": 200, "ridge": 10, "shrunk": 200}
RIDGES = np.array([0.0, *10.0 ** np.array([-4, -3, -2, -1.5, -1, -0.75, -0.5, -0.25, 0])])
_MOST_LINEAR = 0.1  # a strong ridge leaves nothing but the linear part, and that as it is
_FOLDS, _FEW_ROWS = 5, 2000
_PLENTY = 200  # rows for each parameter
_WORTH = 0.998  # of the loss on rows left out
_ABOVE_NOISE = 1.2


@record
class LeastSquaresState(OnePassState):
    """The model on trial, the best one so far, and what the minimiser remembers."""

    trial: Any = None  # Quadratic: what the next round evaluates
    signs: Any = None  # (k,): of the factors
    scale: Any = None  # (p,): units of the parameters for L-BFGS
    curvature: Any = None  # J'J at the model, or pairs of L-BFGS
    slope: Any = None  # J'r at the model
    move: Any = None  # from the model to the trial
    fall: float = 0.0  # that the trial is predicted to bring
    mu: float = 1e-3
    stage: str = "first"
    tried: int = 0  # evaluations of this stage
    grown: int = 0
    before: Any = None  # model, signs and loss before it was grown
    objective: float = np.inf  # loss and penalty
    ridge: float = 0.0
    fold: int = -1  # of the rows that are left out; -1: none
    place: int = 0  # in the list of ridges
    held: Any = None  # (n_ridges,): losses on the rows left out
    held_now: float = 0.0
    size: float = 0.0  # mean magnitude of the residual
    n: float = 0.0


@record
class LeastSquares(OnePass):
    """Parameters, as in :class:`altmin.algorithms.quadratic.one_pass.OnePass`; each step sees all rows."""

    stops_itself: ClassVar[bool] = True  # small steps end a stage, not the fit

    def init(self, info: Info, seed: int) -> LeastSquaresState:
        """A zero model."""
        return LeastSquaresState(**vars(super().init(info, seed)))

    def resume(self, state: Any) -> Any:
        """As a state of the stream algorithm: more rows are read once."""
        names = OnePassState.__dataclass_fields__
        known = OnePassState(**{name: getattr(state, name) for name in names})
        return OnePass.resume(self, replace(known, factors=np.empty(0), trail=None))

    def next_round(self, state: OnePassState) -> Round | Done:
        """Lens, moments of the target, then steps and moments of what they leave."""
        match state.phase:
            case "moments":
                return Round(moments_map, name="moments", then=self._grow)
            case "step":
                return Round(step_map, name="step", iteration=True, then=self._step)
        return super().next_round(state)

    def finish(self, state: Any) -> Any:
        """The best model of the rank that was asked for."""
        if state.signs is None:
            return replace(state, phase="done")
        worse = state.stage in ("grown", "ridge") or (state.before and state.loss >= state.before[2])
        if state.before is not None and worse and state.stage != "shrunk":
            state = self._back(state)
        return replace(state, phase="done", trial=None, curvature=None, slope=None, before=None)

    def measure(self, state: GuardedState) -> Mapping[str, float]:
        """Size of the step in units of y, loss as a share of the variance, and rows."""
        return {"change": state.change, "loss": state.loss, "rows": float(state.batch_rows)}

    # --- the start ------------------------------------------------------------------------------------

    def _aim(self, state: Any) -> Any:
        """The linear part of the start, shrunk as James and Stein do; then moments, or power rounds."""
        d, n = len(state.linear), state.batch_rows
        size = float(state.linear @ state.linear)
        w = state.linear * max(0.0, 1 - d / n / max(size, 1e-300)) if self.linear else state.linear
        state = replace(state, n=n, model=replace(state.model, w=w), rows=int(n))
        if d > MOST_MOMENTS:
            return super()._aim(state)
        zero = np.zeros((d, 0))
        return self._evaluate(replace(state, safe=state.model), Quadratic(zero, zero, w, 0.0), np.zeros(0))

    def _power(self, state: Any, stats: Stats) -> Any:
        """After the last power round its directions are the start."""
        if state.power_left > 1:
            return super()._power(state, stats)
        U, values = self._leading(state, stats)
        U = U * np.sqrt(np.abs(values))
        signs = np.where(values < 0, -1.0, 1.0)
        return self._evaluate(state, _quadratic(U, signs, state.model.w, 0.0), signs)

    def _grow(self, state: Any, stats: Stats) -> Any:
        """Directions along which the residual still bends, beyond noise."""
        values, vectors = residual_directions(state.lens, stats)
        d, k = len(state.linear), min(self.rank, len(state.linear))
        order = np.argsort(-np.abs(values), kind="stable")
        if not len(state.signs):
            order, half = order[:k], 1.0
        else:
            noise = _ABOVE_NOISE * np.sqrt(stats["rr"] / stats["n"] * d / stats["n"])
            bends = np.abs(values) > (0.0 if self._few(state) else noise)
            if state.grown and self._few(state):  # what the moments point to was tried: anything else
                rng = np.random.default_rng([state.seed, state.grown])
                vectors = np.linalg.qr(rng.standard_normal((d, d)))[0]
            order, half = order[: min(int(np.sum(bends)), k)], 0.5
            if not len(order) or state.grown >= _MOST_GROWN:
                return self._evaluate(replace(state, stage="last", grown=0), state.model, state.signs)
            state = replace(
                state, stage="grown", grown=state.grown + 1, before=(state.model, state.signs, state.loss)
            )
        new = vectors[:, order] * np.sqrt(half * np.abs(values[order]))
        signs = np.concatenate([state.signs, np.where(values[order] < 0, -1.0, 1.0)])
        U = np.column_stack([_roots(state.model), new])
        level = state.model.level + float(np.sum(new**2 * signs[len(state.signs) :]))
        return self._evaluate(state, _quadratic(U, signs, state.model.w, level), signs)

    # --- the minimiser --------------------------------------------------------------------------------

    def _evaluate(self, state: Any, model: Quadratic, signs: NDArray[Any]) -> Any:
        """A new point for the minimiser to begin from."""
        fresh = {"curvature": None, "slope": None, "move": None, "scale": None, "mu": 1e-3, "tried": 0}
        return replace(state, phase="step", trial=model, signs=signs, change=0.0, **fresh)

    def _dense(self, state: Any) -> bool:
        d = len(state.linear)
        return 1 + d + d * len(state.signs) <= MOST_DENSE

    def _step(self, state: Any, stats: Stats) -> Any:
        """Take the trial if it lowered the loss; then the next trial, or the next stage."""
        n = stats["n"]
        loss, penalty = stats["rr"] / n, self._penalty(state)
        objective = loss + float(penalty @ np.square(self._parameters(state.trial)))
        state = replace(state, tried=state.tried + 1, n=n, batch_rows=n, steps=state.steps + 1)
        first, dense = state.move is None, self._dense(state)
        if not first and not objective < state.objective:
            state = replace(state, mu=state.mu * (8 if dense else 0.3))
            stuck = state.mu > 1e8 if dense else state.mu < 1e-10
            return self._staged(state) if stuck or self._spent(state) else self._propose(state)
        gain = 1.0 if first else (state.objective - objective) / max(state.objective, 1e-300)
        state = self._take(state, stats, float(objective), first)
        calm = gain < _TOLERANCE[state.stage] * (1 if dense else 0.1) or loss < self.minimum_loss
        calm = calm or not len(state.signs)  # the start: nothing but the linear part
        return self._staged(state) if calm or self._spent(state) else self._propose(state)

    def _few(self, state: Any) -> bool:
        """Whether rows are so few that the loss has local minima above a noiseless law's."""
        d = len(state.linear)
        return bool(state.n < 3 * (1 + d + d * min(self.rank, d)))

    def _spent(self, state: Any) -> bool:
        return bool(state.tried >= _STEPS[state.stage] * (1 if self._dense(state) else 4))

    def _take(self, state: Any, stats: Stats, objective: float, first: bool) -> Any:
        """The trial becomes the model."""
        slope, mu, n = self._slope(state, stats), state.mu, stats["n"]
        if self._dense(state):
            penalty = n * self._penalty(state)
            curvature, slope = stats["JJ"] + np.diag(penalty), slope - penalty * self._parameters(state.trial)
            if not first:
                good = (state.objective - objective) * n > 0.5 * state.fall
                mu = max(mu / 10, 1e-9) if good else mu
        else:
            scale = state.scale if state.scale is not None else _scales(self, state, stats)
            state, slope, mu = replace(state, scale=scale), slope * scale, 1.0
            curvature = None if first else lbfgs_remember(state.curvature, state.move, state.slope - slope)
        change = 0.0 if first else float(np.sqrt(max(state.objective - objective, 0.0)))
        return replace(
            state, model=state.trial, safe=state.trial, loss=float(stats["rr"] / n), objective=objective,
            curvature=curvature, slope=slope, mu=mu, change=change if np.isfinite(change) else 1.0,
            size=float(stats["ar"] / n), held_now=float(stats["held"]),
        )  # fmt: skip

    def _parameters(self, model: Quadratic) -> NDArray[Any]:
        """B, w and U in one vector, as the steps have them."""
        parts = [np.array([model.level - model.trace])] * self.intercept + [model.w] * self.linear
        return np.concatenate([*parts, _roots(model).T.ravel()])

    def _penalty(self, state: Any) -> NDArray[Any]:
        """What the square of each parameter costs."""
        d, a = len(state.linear), state.ridge
        parts = [np.zeros(1)] * self.intercept + [np.full(d, 2 * min(a, _MOST_LINEAR) ** 2)] * self.linear
        return np.concatenate([*parts, np.full(d * len(state.signs), a)])

    def _propose(self, state: Any) -> Any:
        """The next trial."""
        fall, mu = 0.0, state.mu
        if self._dense(state):
            move, fall = marquardt_step(state.curvature, state.slope, mu)
            step = move
        else:
            # After a step that was not taken, the same direction is tried again, shorter.
            move = lbfgs_direction(-state.slope, state.curvature) if mu == 1.0 else state.move * 0.3
            step = move * state.scale
        trial = _moved(self, state.model, state.signs, step)
        return replace(state, phase="step", trial=trial, move=move, fall=fall)

    def _slope(self, state: Any, stats: Stats) -> NDArray[Any]:
        """J'r: minus half the gradient."""
        if "Jr" in stats:
            return np.asarray(stats["Jr"])
        both = state.lens.gather(stats["B"], stats["sums"])  # Z' [r, r Zu]
        parts = [stats["sums"][:1]] * self.intercept + [both[:, 0]] * self.linear
        return np.concatenate([*parts, (2 * state.signs * both[:, 1:]).T.ravel()])

    def _staged(self, state: Any) -> Any:
        """A stage has come to its end."""
        k = min(self.rank, len(state.linear))
        if state.stage == "grown":
            cut = state.model.truncate(k)
            values = np.sum(cut.U * cut.V, axis=0)
            signs = np.where(values < 0, -1.0, 1.0)
            model = _quadratic(cut.U * np.sqrt(np.abs(values)), signs, cut.w, cut.level)
            return self._evaluate(replace(state, stage="cut"), model, signs)
        if state.stage == "cut":
            if state.loss >= 0.99 * state.before[2]:
                state = self._back(state)
                if self._few(state):
                    return replace(state, phase="moments", stage="first", before=None)
                return self._evaluate(replace(state, stage="last", before=None), state.model, state.signs)
            state = replace(state, before=None, stage="first")
        if state.stage in ("last", "ridge"):
            return self._shrink(state)
        if state.stage == "shrunk":
            return replace(state, phase="done", before=None)
        if state.loss < self.minimum_loss and len(state.signs):
            return replace(state, phase="done")
        if len(state.linear) > MOST_MOMENTS:
            return self._evaluate(replace(state, stage="last"), state.model, state.signs)
        return replace(state, phase="moments")

    def _shrink(self, state: Any) -> Any:
        """The next ridge, the next rows to leave out, or the ridge that did best on them."""
        if state.stage == "last":
            p = len(self._parameters(state.model))
            if (
                not (self.linear and self._dense(state))
                or state.loss < 1e-6
                or state.n > _PLENTY * p
                or state.n < 2 * _FOLDS
            ):
                return replace(state, phase="done")
            before = (state.model, state.signs, state.loss)
            state = replace(state, stage="ridge", fold=0, held=np.zeros(len(RIDGES)), before=before)
            return self._evaluate(state, state.model, state.signs)
        held = state.held.copy()
        held[state.place] += state.held_now
        state = replace(state, held=held)
        if state.place + 1 < len(RIDGES):
            state = replace(state, place=state.place + 1, ridge=float(RIDGES[state.place + 1]))
            return self._evaluate(state, state.model, state.signs)
        state = self._back(state)
        folds = _FOLDS if state.batch_rows * _FOLDS / (_FOLDS - 1) < _FEW_ROWS else 1
        if state.fold + 1 < folds:
            state = replace(state, fold=state.fold + 1, place=0, ridge=0.0)
            return self._evaluate(state, state.model, state.signs)
        best = int(np.argmin(held))
        if not held[best] < _WORTH * held[0]:
            return replace(state, phase="done", fold=-1, ridge=0.0, before=None)
        state = replace(state, fold=-1, ridge=float(RIDGES[best]), stage="shrunk")
        return self._evaluate(state, state.model, state.signs)

    @staticmethod
    def _back(state: Any) -> Any:
        model, signs, loss = state.before
        return replace(state, model=model, signs=signs, loss=loss)


def residual_directions(lens: Lens, stats: Stats) -> tuple[NDArray[Any], NDArray[Any]]:
    """Eigenvalues of H in clipped, standardised coordinates, and their vectors as directions of z."""
    n = stats["n"]
    c, second, third, fourth = stats["powers"] / n
    variance = np.maximum(second - c**2, 0.0)
    unit = np.where(variance > 1e-6, 1 / np.sqrt(np.maximum(variance, 1e-6)), 0.0)
    kappa = (third - 3 * c * second + 2 * c**3) * unit**3
    phi = (fourth - 4 * c * third + 6 * c**2 * second - 3 * c**4) * unit**4
    mean = stats["r"] / n
    h = (stats["h"] / n - c * mean) * unit
    raw = stats["H"] / n - np.outer(c, stats["h"] / n) - np.outer(stats["h"] / n, c) + mean * np.outer(c, c)
    H = raw * np.outer(unit, unit)
    g = np.diag(H) - mean
    blind = (unit == 0) | (phi - 1 - kappa**2 < 0.1)
    clipped = Lens(c, unit, 0.0, 1.0, kappa, phi, blind)
    _, D = split_diagonal(clipped, h, g)
    H = 0.5 * H
    np.fill_diagonal(H, D)
    values, vectors = np.linalg.eigh(H)
    return values, vectors * unit[:, None]


def step_map(algorithm: LeastSquares, state: Any, block: Block) -> Stats:
    """Loss at the trial, and J'J with J'r, or the products that the gradient is made of."""
    model, w = state.trial, weights_of(block)
    out = fold_of(block.start, len(w)) == state.fold  # nowhere for -1
    held, w = np.where(out, w, 0.0), np.where(out, 0.0, w)
    target = np.asarray(state.lens.target(block.y), dtype=np.float64)
    U = _roots(model)
    if not algorithm._dense(state):
        P = np.asarray(state.lens.project(block.X, np.column_stack([model.w, U])), dtype=np.float64)
        r = _residual(algorithm, model, state.signs, target, P[:, 0], P[:, 1:])
        B = np.column_stack([w * r, (w * r)[:, None] * P[:, 1:]])
        back = np.asarray(block.X.T @ B.astype(block.X.dtype), dtype=np.float64)
        squares = np.square(P[:, 1:]).T @ w
        return {**_losses(w, r, held), "B": back, "sums": B.sum(axis=0), "squares": squares}
    Z = np.asarray(state.lens.project(block.X, np.eye(block.X.shape[1])), dtype=np.float64)
    P = Z @ U
    r = _residual(algorithm, model, state.signs, target, Z @ model.w, P)
    parts = [np.ones((len(r), int(algorithm.intercept)))] + [Z] * algorithm.linear
    J = np.hstack([*parts, *(2 * sign * p[:, None] * Z for sign, p in zip(state.signs, P.T, strict=True))])
    weighted = J if block.weight is None and state.fold < 0 else w[:, None] * J
    return {**_losses(w, r, held), "JJ": weighted.T @ J, "Jr": weighted.T @ r}


def moments_map(algorithm: LeastSquares, state: Any, block: Block) -> Stats:
    """Moments of the clipped residual along clipped features."""
    model, w = state.model, weights_of(block)
    target = np.asarray(state.lens.target(block.y), dtype=np.float64)
    Z = np.asarray(state.lens.project(block.X, np.eye(block.X.shape[1])), dtype=np.float64)
    r = _residual(algorithm, model, state.signs, target, Z @ model.w, Z @ _roots(model))
    limit = _CLIP * 1.2533 * state.size
    r = np.clip(r, -limit, limit)
    T = np.clip(Z, -_CLIP, _CLIP, out=Z)
    square = T * T
    return {
        "n": float(w.sum()),
        "powers": np.array([w @ T, w @ square, w @ (square * T), w @ (square * square)]),
        "r": float(w @ r),
        "rr": float(w @ (r * r)),
        "h": T.T @ (w * r),
        "H": T.T @ ((w * r)[:, None] * T),
    }


def fold_of(first: int, n: int) -> NDArray[Any]:
    """Which fifth of the rows each belongs to, by a hash of its number."""
    numbers = np.arange(first, first + n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return ((numbers >> np.uint64(40)) % np.uint64(_FOLDS)).astype(np.intp)


def _losses(w: NDArray[Any], r: NDArray[Any], held: NDArray[Any]) -> dict[str, float]:
    rr = r * r
    return {"n": float(w.sum()), "rr": float(w @ rr), "ar": float(w @ np.abs(r)), "held": float(held @ rr)}


def _residual(
    algorithm: LeastSquares,
    model: Quadratic,
    signs: NDArray[Any],
    target: NDArray[Any],
    linear: NDArray[Any],
    P: NDArray[Any],
) -> NDArray[Any]:
    constant = model.level - model.trace if algorithm.intercept else 0.0
    return np.asarray(target - constant - linear - np.square(P) @ signs)


def _quadratic(U: NDArray[Any], signs: NDArray[Any], w: NDArray[Any], level: float) -> Quadratic:
    return Quadratic(U, U * signs, w, level)


def _roots(model: Quadratic) -> NDArray[Any]:
    return np.asarray(model.U)


def _moved(algorithm: LeastSquares, model: Quadratic, signs: NDArray[Any], step: NDArray[Any]) -> Quadratic:
    """The model after a step of its parameters b, w and U."""
    d, at = len(model.w), 0
    constant, w = model.level - model.trace, model.w
    if algorithm.intercept:
        constant, at = constant + step[0], 1
    if algorithm.linear:
        w, at = w + step[at : at + d], at + d
    U = _roots(model) + step[at:].reshape(len(signs), d).T
    return _quadratic(U, signs, w, float(constant + np.sum(U**2 * signs)))


def _scales(algorithm: LeastSquares, state: Any, stats: Stats) -> NDArray[Any]:
    """Units in which the curvature is about 1: of each factor, 1 / rms(2 z'u)."""
    d, n = len(state.linear), stats["n"]
    ones = np.ones(algorithm.intercept + d * algorithm.linear)
    each = 1 / np.sqrt(np.maximum(4 * stats["squares"] / n, 1e-2))
    return np.concatenate([ones, np.repeat(each, d)]) / np.sqrt(n)
