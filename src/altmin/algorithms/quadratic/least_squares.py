r"""The machine on rows that can be read again: a start from moments, then the true loss.

.. math:: f(x) = b + z^T w + \sum_j s_j (z^T u_j)^2 \;\bigl(+ \sum_i a_i (c_i^2 - 1)\bigr), \quad s_j = \pm 1

.. math:: \min_{b, w, U} \sum_i (y_i - f(x_i))^2 \quad\text{or}\quad
   \min_{b, w, U} 2 \sum_i \log(1 + e^{f(x_i)}) - y_i f(x_i)

Moments of the residual, :math:`H = \frac{1}{2n} \sum_i r_i z_i z_i^T` with its diagonal corrected, give the
start that Lin and Ye's theory speaks of (:mod:`altmin.algorithms.quadratic.one_pass`): the k largest
eigenvalues with their signs. From there the loss itself is minimised
(:mod:`altmin.algorithms.quadratic.grow_cut`); features and residual are clipped where moments look for what
it still misses, so that heavy tails don't hide it. With two classes (y of zeros and ones, the second loss) a
row counts in J'J with :math:`p (1 - p)`, and its residual is :math:`y - p`. The ridge is
:math:`a \|M\|_* + 2 a^2 \|w\|^2`. The last sum, over squares of standardised columns c, is there only
where the data ask for it: a law of products of different columns has a matrix of low rank *without its
diagonal*.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray

from altmin.algorithms.quadratic.grow_cut import (
    NOTHING,
    SAMPLE,
    GrowCut,
    GrowCutState,
    dense,
    fold_of,
    losses,
    point_of,
    wider,
)
from altmin.algorithms.quadratic.lens import Lens, split_diagonal, weights_of
from altmin.algorithms.quadratic.low_rank import Quadratic, symmetric_eigen, without_diagonal
from altmin.algorithms.quadratic.one_pass import OnePass, OnePassState, shuffled
from altmin.contract import All, Block, Done, Info, Round, Rows, Stats, Take, record
from altmin.io.records import replace

MOST_MOMENTS = 1000  # features up to which H is formed
_CLIP = 3.0
_MOST_LINEAR = 0.02  # a strong ridge leaves nothing but the linear part, and that as it is
_ABOVE_NOISE = 1.2
_STEADY = 0.01  # on free squares while the search lasts: a factor and a square may grow against each other
_BENT = 5.0  # standard deviations of chi-squared
_SECOND = 2
_FRESH = 0.3  # length of the factors of a random start
_ROUGH = 1e-3  # damping from which on single precision is enough
_LARGE = 1e4  # entries of J from which on it is worth it


@record
class LeastSquaresState(GrowCutState, OnePassState):
    """The start's lens and moments, and the minimiser's stage; a point is (b, w, a, U) in one vector."""


@record
class LeastSquares(GrowCut, OnePass):
    """Parameters, as in :class:`altmin.algorithms.quadratic.one_pass.OnePass`; each step sees all rows.

    ``logistic`` is for a target of zeros and ones; ``strength`` is then the ridge, as a share of the rows.
    """

    logistic: bool = False
    strength: float = 0.0

    def init(self, info: Info, seed: int) -> LeastSquaresState:
        """A zero model."""
        return LeastSquaresState(**vars(super().init(info, seed)))

    def resume(self, state: Any) -> Any:
        """As a state of the stream algorithm: more rows are read once."""
        names = OnePassState.__dataclass_fields__
        known = OnePassState(**{name: getattr(state, name) for name in names})
        return OnePass.resume(self, replace(known, factors=np.empty(0), trail=None))

    def next_round(self, state: Any) -> Round | Done:
        """Lens, moments of the target, then steps and moments of what they leave."""
        match state.phase:
            case "moments":
                return Round(moments_map, self._rows(state), "moments", then=self._look)
            case "step":
                return Round(step_map, self._rows(state), "step", iteration=True, then=self.judge_step)
        return super().next_round(state)

    def finish(self, state: Any) -> Any:
        """The best model of the rank that was asked for."""
        if state.signs is None:
            return replace(state, phase="done")
        state = self.settle(state)
        constant, w, own, U = self.parts(state, point_of(state))
        if state.loss > 1 and self.intercept and self.linear and not self.logistic:
            constant, w, own, U = 0.0, 0 * w, 0 * own, 0 * U  # stopped before it was better than the mean
        level = float(constant + np.sum(U**2 * state.signs))
        model = Quadratic(U, U * state.signs, w, level, own if len(own) else None)
        return replace(state, phase="done", model=model, safe=model, descent=None, before=None)

    # --- what a point is --------------------------------------------------------------------------------

    def parts(
        self, state: Any, point: NDArray[Any]
    ) -> tuple[float, NDArray[Any], NDArray[Any], NDArray[Any]]:
        """B, w, a (empty where squares aren't free) and U."""
        d, at = len(state.linear), int(self.intercept)
        w = point[at : at + d] if self.linear else state.linear
        at += d * self.linear
        own, U = np.split(point[at:], [d * state.squares])
        return float(point[0]) if self.intercept else 0.0, w, own, U.reshape(-1, d).T

    def join(self, constant: float, w: NDArray[Any], own: NDArray[Any], U: NDArray[Any]) -> NDArray[Any]:
        """The point."""
        return np.concatenate([[constant] * self.intercept, *[w] * self.linear, own, U.T.ravel()])

    def penalty(self, state: Any) -> NDArray[Any]:
        """What the squares of the parameters cost: of standardised columns, not of whitened ones.

        Directions along which correlated columns hardly differ are blown up by whitening; a ridge on
        whitened coordinates would let noise in.
        """
        d, a = len(state.linear), state.ridge
        linear = [a if a == NOTHING else 2 * min(a, _MOST_LINEAR) ** 2] * self.linear
        steady = 0.0 if state.stage in ("last", "first", "ridge", "shrunk") else _STEADY
        own, factors = [a + steady] * state.squares, [a] * len(state.signs)
        least, metric = self.strength / state.n, state.lens.metric
        if a > 0 and metric is not None and dense(state):
            costs = (
                [c * metric for c in linear] + [c * np.eye(d) for c in own] + [c * metric for c in factors]
            )
            cost = sla.block_diag(*[np.zeros((1, 1))] * self.intercept, *costs)
            return np.asarray(cost + least * np.eye(len(cost)))
        each = np.array(linear + own + factors)
        return np.concatenate([[0.0] * self.intercept, np.repeat(each + least, d)])

    def slope(self, state: Any, stats: Stats) -> NDArray[Any]:
        """J'r: minus half the gradient."""
        if "Jr" in stats:
            return np.asarray(stats["Jr"])
        both = state.lens.gather(stats["B"], stats["sums"])  # Z' [r, r Zu]
        return self.join(stats["sums"][0], both[:, 0], stats["own"], 2 * state.signs * both[:, 1:])

    def scales(self, state: Any, stats: Stats) -> NDArray[Any]:
        """Of each factor, 1 / rms(2 z'u)."""
        d, n = len(state.linear), stats["n"]
        each = 1 / np.sqrt(np.maximum(4 * stats["squares"] / n, 1e-2))
        own = 1 / np.sqrt(np.maximum(stats["own_squares"] / n, 1e-2))
        return self.join(1.0, np.ones(d), own, np.tile(each, (d, 1))) / np.sqrt(n)

    def cut(self, state: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """The eigenvalues of largest magnitude."""
        constant, w, own, U = self.parts(state, state.descent.point)
        if state.squares:
            U, signs, gone = self._beside_squares(state, (U * state.signs) @ U.T)
            return self.join(constant + float(gone.sum()), w, own + gone, U), signs
        values, vectors = symmetric_eigen(U, U * state.signs)
        order = np.argsort(-np.abs(values), kind="stable")[: self._rank(state)]
        U = vectors[:, order] * np.sqrt(np.abs(values[order]))
        return self.join(constant, w, own, U), np.where(values[order] < 0, -1.0, 1.0)

    def may_free(self, state: Any) -> bool:
        """Where something quadratic is left, and rank and squares together can be told apart."""
        d, k, p = len(state.linear), self._rank(state), self.freedom(state)
        told = d * k - k * (k - 1) // 2 + d <= d * (d + 1) // 2 and state.n >= 2 * (p + d)
        return bool(state.bent and told and self.linear and not state.squares and not self.logistic)

    def freed_point(self, state: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """The start's linear part."""
        d = len(state.linear)
        return self.join(0.0, state.model.w, np.zeros(d), np.zeros((d, 0))), np.zeros(0)

    def _beside_squares(self, state: Any, M: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Factors and signs of the products in M, and what its squares of single columns have beside them."""
        whitening = state.lens.whitening
        if whitening is not None:
            M = whitening @ M @ whitening.T
        values, U = without_diagonal(M, self._rank(state))
        U, signs = U * np.sqrt(np.abs(values)), np.where(values < 0, -1.0, 1.0)
        gone = np.diag(M) - np.square(U) @ signs
        return (U if whitening is None else np.linalg.pinv(whitening) @ U), signs, gone

    def random_point(self, state: Any, about: bool) -> tuple[NDArray[Any], NDArray[Any]]:
        """Factors of either sign; the constant goes with them, so that the mean of y stays."""
        d, k = len(state.linear), self._rank(state)
        wide = wider(k) if about else 2 * k
        U = np.random.default_rng([state.seed, state.fresh]).standard_normal((d, wide))
        signs = np.where(np.arange(wide) % 2, -1.0, 1.0)
        if not about:
            zero = np.zeros_like(state.linear)
            return self.join(0.0, zero, np.zeros(d * state.squares), U * (_FRESH / np.sqrt(d))), signs
        constant, w, own, known = self.parts(state, state.descent.point)
        k = known.shape[1]
        U *= np.linalg.norm(known) / np.linalg.norm(U)
        U[:, :k] += known
        signs[:k] = state.signs
        constant += float(np.sum(known**2 * state.signs) - np.sum(U**2 * signs))
        return self.join(constant, w, own, U), signs

    def freedom(self, state: Any) -> int:
        """Parameters at the rank that was asked for."""
        return 1 + len(state.linear) * (1 + state.squares + self._rank(state))

    def forms_moments(self, state: Any) -> bool:
        """Whether H is formed."""
        return len(state.linear) <= MOST_MOMENTS

    def shrinks(self, state: Any) -> bool:
        """Not where a claim about M is made, nor where the user's ridge is at work."""
        return self.linear and not self.logistic

    def many(self, state: Any) -> bool:
        """Many times the parameters; wherever the rows are, or bits would depend on that."""
        return (self.total or 0) > 3 * SAMPLE * self.freedom(state)

    def second_thoughts(self, state: Any) -> int:
        """Moments may mislead where features are not Gaussian."""
        return _SECOND if state.lens.kappa is not None else 0

    def _rank(self, state: Any) -> int:
        return min(self.rank, len(state.linear))

    def _rows(self, state: Any) -> Rows:
        """All rows; a fair sample while the search lasts, where they are many times the parameters."""
        if not state.sampled:
            return All()
        return Take(np.sort(shuffled(state.seed, 0, self.total or 0)[: SAMPLE * self.freedom(state)]))

    # --- the start --------------------------------------------------------------------------------------

    def _aim(self, state: Any) -> Any:
        """The linear part of the start, shrunk as James and Stein do; then moments, or power rounds."""
        d, n = len(state.linear), state.batch_rows
        size = float(state.linear @ state.linear)
        w = state.linear * max(0.0, 1 - d / n / max(size, 1e-300)) if self.linear else state.linear
        state = replace(state, n=n, model=replace(state.model, w=w), rows=int(n), sampled=self.many(state))
        if d > MOST_MOMENTS:
            return super()._aim(state)
        return self._begin(state, np.zeros((d, 0)), np.zeros(0))

    def _power(self, state: Any, stats: Stats) -> Any:
        """After the last power round its directions are the start."""
        if state.power_left > 1:
            return super()._power(state, stats)
        U, values = self._leading(state, stats)
        return self._begin(state, U * np.sqrt(np.abs(values)), np.where(values < 0, -1.0, 1.0))

    def _begin(self, state: Any, U: NDArray[Any], signs: NDArray[Any]) -> Any:
        """The first point. Two classes: the linear model of y, in log odds about its share."""
        w, constant = state.model.w, 0.0
        if self.logistic:
            lens, share = state.lens, float(np.clip(state.lens.target_centre, 1e-6, 1 - 1e-6))
            w, U = w / lens.target_scale, U / np.sqrt(lens.target_scale)
            constant = float(np.log(share / (1 - share)))
            state = replace(state, lens=replace(lens, target_centre=0.0, target_scale=1.0))
        constant -= float(np.sum(U**2 * signs))
        return self.evaluate(state, self.join(constant, w, np.zeros(0), U), signs)

    def _look(self, state: Any, stats: Stats) -> Any:
        """Directions along which the residual still bends, beyond noise."""
        values, vectors, (own_bend, bend) = residual_directions(state.lens, stats)
        k, n = self._rank(state), stats["n"]
        constant, w, own, U = self.parts(state, state.descent.point)
        state = replace(state, bent=max(own_bend, bend) > _BENT)
        if state.squares and not len(state.signs):
            U, signs, gone = self._beside_squares(state, (vectors * values) @ vectors.T)
            point = self.join(constant - float(np.sum(U**2 * signs)), w, own + gone, U)
            return self.evaluate(state, point, signs)
        begins, few = not len(state.signs), self.few(state)
        order = np.argsort(-np.abs(values), kind="stable")[: wider(k) if begins and few else k]
        share = 1.0 if begins else 0.5
        if not begins:
            noise = _ABOVE_NOISE * np.sqrt(stats["rr"] / n * len(w) / n)
            order = order[np.abs(values[order]) > (0.0 if few else noise)]
            if not len(order) or not self.may_grow(state) or (own_bend > bend and self.may_free(state)):
                return self.nothing_to_grow(state)
        new = vectors[:, order] * np.sqrt(share * np.abs(values[order]))
        signs = np.where(values[order] < 0, -1.0, 1.0)
        point = self.join(constant - float(np.sum(new**2 * signs)), w, own, np.column_stack([U, new]))
        signs = np.concatenate([state.signs, signs])
        go_on = self.grow if not begins else self.widely if few else self.evaluate
        return go_on(state, point, signs)


def residual_directions(lens: Lens, stats: Stats) -> tuple[NDArray[Any], NDArray[Any], tuple[float, float]]:
    """Eigenvalues of H in clipped, standardised coordinates, and their vectors as directions of z.

    Also how much larger its diagonal is than noise makes it, and its other entries: chi-squared, in units of
    the deviation of the former.
    """
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
    each = n**2 / max(stats["rr"], 1e-300)
    own = each * (D**2 * (phi - 1 - kappa**2))[~blind]
    pairs = 4 * each * H[np.triu_indices(len(H), 1)] ** 2
    deviation = float(np.sqrt(2 * max(len(own), 1)))
    bends = (float(own.sum() - len(own)) / deviation, float(pairs.sum() - len(pairs)) / deviation)
    return values, vectors * unit[:, None], bends


def step_map(algorithm: LeastSquares, state: Any, block: Block) -> Stats:
    """Loss at the trial, and J'J with J'r, or the products that the gradient is made of."""
    w = weights_of(block)
    out = fold_of(block.start, len(w)) == state.fold  # nowhere for -1
    held, w = np.where(out, w, 0.0), np.where(out, 0.0, w)
    constant, linear, own, U = algorithm.parts(state, state.descent.trial)
    Q = _own_squares(algorithm, state, block)
    if state.descent.again or not dense(state):
        P = np.asarray(state.lens.project(block.X, np.column_stack([linear, U])), dtype=np.float64)
        f = constant + P[:, 0] + np.square(P[:, 1:]) @ state.signs + Q @ own
        loss, r, _ = _left(algorithm, state, block, f)
        B = np.column_stack([w * r, (w * r)[:, None] * P[:, 1:]])
        back = np.asarray(block.X.T @ B.astype(block.X.dtype), dtype=np.float64)
        sums = {"B": back, "sums": B.sum(axis=0), "own": Q.T @ (w * r)}
        if not state.descent.again:
            sums |= {"squares": np.square(P[:, 1:]).T @ w, "own_squares": np.square(Q).T @ w}
        return {**losses(w, loss, r, held), **sums}
    Z = np.asarray(state.lens.project(block.X, np.eye(block.X.shape[1])), dtype=np.float64)
    P = Z @ U
    f = constant + Z @ linear + np.square(P) @ state.signs + Q @ own
    loss, r, curvature = _left(algorithm, state, block, f)
    slopes, wr, d = 2 * state.signs * P, w * r, Z.shape[1]
    back = Z.T @ np.column_stack([wr, wr[:, None] * slopes])
    # J'J needs no more digits than its damping, or the ridge of a wide start, leaves of it. A small one
    # costs nothing, and rounding would decide where few rows end up.
    large = state.n * (1 + d * (1 + len(state.signs))) >= _LARGE
    rough = large and (state.stage == "wide" or state.descent.mu >= _ROUGH)
    J = _jacobian(algorithm, Z, Q, slopes, np.float32 if rough else np.float64)
    plain = block.weight is None and state.fold < 0 and not algorithm.logistic
    weighted = J if plain else (w * curvature).astype(J.dtype)[:, None] * J
    Jr = algorithm.join(float(wr.sum()), back[:, 0], Q.T @ wr, back[:, 1:])
    return {**losses(w, loss, r, held), "JJ": weighted.T @ J, "Jr": Jr}


def _jacobian(
    algorithm: LeastSquares, Z: NDArray[Any], Q: NDArray[Any], slopes: NDArray[Any], dtype: type
) -> NDArray[Any]:
    """Derivatives along a point's parts, written where they belong: joining strips took as long as J'J."""
    n, d = Z.shape
    at = np.cumsum([0, algorithm.intercept, d * algorithm.linear, Q.shape[1], d * slopes.shape[1]])
    J = np.empty((n, at[-1]), dtype=dtype)
    J[:, : at[1]] = 1.0
    J[:, at[1] : at[2]] = Z[:, : at[2] - at[1]]
    J[:, at[2] : at[3]] = Q
    Z, slopes = Z.astype(dtype, copy=False), slopes.astype(dtype, copy=False)
    np.multiply(slopes[:, :, None], Z[:, None, :], out=J[:, at[3] :].reshape(n, -1, d))
    return J


def moments_map(algorithm: LeastSquares, state: Any, block: Block) -> Stats:
    """Moments of the clipped residual along clipped features."""
    w = weights_of(block)
    Z = np.asarray(state.lens.project(block.X, np.eye(block.X.shape[1])), dtype=np.float64)
    constant, linear, own, U = algorithm.parts(state, point_of(state))
    f = constant + Z @ linear + np.square(Z @ U) @ state.signs
    _, r, _ = _left(algorithm, state, block, f + _own_squares(algorithm, state, block) @ own)
    limit, height = _CLIP * 1.2533 * state.size, 4.0 if algorithm.logistic else 1.0  # log odds for each y - p
    r = height * np.clip(r, -limit, limit)
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


def _own_squares(algorithm: LeastSquares, state: Any, block: Block) -> NDArray[Any]:
    """Squares of single columns, none where they aren't free."""
    if not state.squares:
        return np.zeros((block.n_rows, 0))
    return np.asarray(state.lens.own_squares(block.X, algorithm.intercept))


def _left(
    algorithm: LeastSquares, state: Any, block: Block, f: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Loss, residual and curvature of each row where the model's value is f."""
    y = np.asarray(state.lens.target(block.y), dtype=np.float64)
    if not algorithm.logistic:
        r = y - f
        return r * r, r, np.ones_like(r)
    p = 1 / (1 + np.exp(-np.clip(f, -500, 500)))
    return 2 * (np.logaddexp(0.0, f) - y * f), y - p, p * (1 - p)
