r"""Fit factors of low rank to rows that can be read again: steps, and a way out of local minima.

**Steps.** Levenberg-Marquardt where the parameters are few (a round gives J'J and J'r), L-BFGS otherwise; a
step that doesn't lower the loss is never taken.

**Grow and cut.** A local minimum of rank k may miss a direction. Where the moments of what is left have one
above the noise, it is added, the larger model is fitted, cut to rank k, and fitted again; it is kept if that
lowered the loss. Without this, half of the laws in heavy-tailed features are missed.

**Wide starts.** Where rows are hardly more than degrees of freedom, the descent from the moments begins with
half as many factors again and takes its first steps under a ridge; then it is cut. The ridge is the nuclear
norm of the matrix, whose minimum is near the law even where the loss alone has many others. Further starts
begin in turn at the best model so far, disturbed by as much as its own size, and at small factors of chance,
under a ridge that falls. A noiseless law shows by a loss of zero, which ends the search.

**Squares of their own.** A law of products of different columns is a matrix of low rank without its diagonal.
Where a fit of rank k leaves something quadratic, squares become free; that is kept by the evidence (BIC).
What is left need not bend along single columns: a fit that holds one of two products whole leaves no square.

**A sample first.** Where rows are many, all of this happens on a fair sample of them; then all rows confirm
it. There J'J, most of a step's work, is used again as long as it predicts well what a step brings.

**Ridge.** Where there is noise and rows are not plenty, a penalty on the factors is chosen by rows left out
(a fifth of them, five times where they are few), and kept only if they are predicted better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from altmin.contract import Stats, record
from altmin.io.records import replace
from altmin.kernels.second_order import lbfgs_direction, lbfgs_remember, marquardt_step, with_diagonal

MOST_DENSE = 400  # parameters up to which J'J is formed
NOTHING = 1e6  # a ridge that leaves the constant alone
RIDGES = np.array([0.0, *10.0 ** np.array([-4, -3, -2, -1.5, -1, -0.75, -0.5, -0.25, 0]), NOTHING])
SAMPLE = 20  # rows for each parameter in the sample on which the search begins
_FALLING = (0.3, 0.03)  # ridges of a start from chance; what is known begins at the last one
_TOLERANCE = {"grown": 1e-3, "wide": 0.1, "ridge": 1e-3, "last": 1e-9, "shrunk": 1e-9}  # else 1e-5
_STEPS = {"grown": 30, "wide": 4, "ridge": 10, "last": 200, "shrunk": 200}  # else 60
_ON_TRIAL = ("grown", "wide", "ridge")
_MOST_GROWN, _MOST_FRESH = 6, 8
_FEW = 3  # rows for each parameter, below which a noiseless law's loss has local minima above it
_FOLDS, _FEW_ROWS = 5, 2000
_PLENTY = 50  # rows for each parameter, from which on a ridge gains 1 / 50 of the noise at most
_DOUBT = 5.0  # rows: of n held-out rows, a model must explain so many to be preferred to the mean
_WORTH = 0.998  # of the loss on rows left out
_ROUGH = 0.03  # least damping of J'J from elsewhere: it is blind along other directions than the one here
_TOO_MUCH = 1.2  # times the least loss on rows left out: the ridge is too strong


@record
class Descent:
    """A point, the trial that the next round evaluates, and what the minimiser remembers."""

    trial: Any
    point: Any = None
    objective: float = np.inf  # at the point: loss and penalty, summed over the rows
    slope: Any = None  # J'r at the point
    curvature: Any = None  # J'J at the point, or at an earlier one; None for L-BFGS alone
    pairs: Any = None  # of L-BFGS, since J'J was taken
    scale: Any = None  # units of the parameters for L-BFGS
    move: Any = None  # from the point to the trial
    fall: float = 0.0  # that the trial is predicted to bring
    mu: float = 1e-3
    tried: int = 0
    gain: float = 1.0  # share of the objective that the last step took off
    taken: bool = False  # whether the last trial became the point
    stuck: bool = False
    again: bool = False  # whether the next trial uses this J'J, too


def judged(
    descent: Descent, objective: float, slope: NDArray[Any], JJ: NDArray[Any] | None, scale: Any, many: bool
) -> Descent:
    """Take the trial if it lowered the objective; otherwise shorten what comes next.

    Where rows are many, J'J is used again if it has predicted the fall.
    """
    tried, first, dense, mu = descent.tried + 1, descent.move is None, JJ is not None, descent.mu
    if not first and not objective < descent.objective:
        mu = mu * (8 if dense else 0.3)
        stuck = mu > 1e8 if dense else mu < 1e-10
        return replace(descent, tried=tried, mu=mu, taken=False, stuck=stuck, again=False)
    gain = 1.0 if first else (descent.objective - objective) / max(descent.objective, 1e-300)
    pairs, again = None, False
    if not first and (descent.again or not dense):
        unit = 1.0 if dense else descent.scale
        pairs = lbfgs_remember(descent.pairs, descent.move, descent.slope - slope * unit)
    if dense:
        kept = 1.0 if first else (descent.objective - objective) / max(descent.fall, 1e-300)
        again = many and (descent.again if first else kept > 0.5)
        if not first and kept > 0.5:
            mu = max(mu / (100 if kept > 0.9 else 10), 1e-9)
        mu = max(mu, _ROUGH) if again else mu
    else:
        scale = scale if descent.scale is None else descent.scale
        slope, mu = slope * scale, 1.0
    return replace(
        descent, tried=tried, point=descent.trial, objective=objective, slope=slope, curvature=JJ,
        pairs=pairs, scale=scale, mu=mu, gain=float(gain), taken=True, again=again,
    )  # fmt: skip


def proposed(descent: Descent) -> Descent:
    """The next trial."""
    if descent.scale is None:
        move, fall = marquardt_step(descent.curvature, descent.slope, descent.mu, descent.pairs)
        return replace(descent, trial=descent.point + move, move=move, fall=fall)
    # After a step that was not taken, the same direction is tried again, shorter.
    anew = descent.mu == 1.0
    move = lbfgs_direction(-descent.slope, descent.pairs) if anew else descent.move * 0.3
    return replace(descent, trial=descent.point + move * descent.scale, move=move)


@record
class GrowCutState:
    """What the state of an algorithm that grows and cuts holds beside its start."""

    _: KW_ONLY
    descent: Any = None  # Descent
    signs: Any = None  # (k,): of the factors in hand
    stage: str = "first"
    grown: int = 0
    fresh: int = 0
    before: Any = None  # point, signs, loss and squares to return to
    squares: bool = False  # whether squares of single columns are free
    bent: bool = False  # whether what is left is quadratic, beyond noise
    sampled: bool = False  # whether a sample of the rows is in hand
    ridge: float = 0.0
    fold: int = -1  # of the rows that are left out; -1: none
    place: int = 0  # in the list of ridges
    held: Any = None  # (n_ridges,): losses on the rows left out
    held_now: float = 0.0
    held_least: float = np.inf  # in this fold
    size: float = 0.0  # mean magnitude of the residual
    n: float = 0.0


class GrowCut:
    """The stages; what a point means is said by the algorithm (the methods that raise)."""

    stops_itself: ClassVar[bool] = True  # small steps end a stage, not the fit
    minimum_loss: float

    def penalty(self, state: Any) -> NDArray[Any]:
        """What the square of each parameter costs; a matrix, where products of two cost something, too."""
        raise NotImplementedError

    def slope(self, state: Any, stats: Stats) -> NDArray[Any]:
        """J'r: minus half the gradient, at the trial."""
        raise NotImplementedError

    def scales(self, state: Any, stats: Stats) -> NDArray[Any]:
        """Units in which the curvature is about 1."""
        raise NotImplementedError

    def cut(self, state: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """The point cut to the rank that was asked for, and its signs."""
        raise NotImplementedError

    def random_point(self, state: Any, about: bool) -> tuple[NDArray[Any], NDArray[Any]]:
        """Factors of chance, and their signs: about those in hand, or small ones of twice the rank."""
        raise NotImplementedError

    def freedom(self, state: Any) -> int:
        """Parameters at the rank that was asked for."""
        raise NotImplementedError

    def forms_moments(self, state: Any) -> bool:
        """Whether there is room for the moments of the residual."""
        raise NotImplementedError

    def shrinks(self, state: Any) -> bool:
        """Whether a ridge is tried."""
        raise NotImplementedError

    def may_free(self, state: Any) -> bool:
        """Whether squares of single columns are to become free."""
        return False

    def freed_point(self, state: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Free squares without any factors yet, and no signs."""
        raise NotImplementedError

    def many(self, state: Any) -> bool:
        """Whether rows are so many that the search begins on a sample."""
        return False

    def second_thoughts(self, state: Any) -> int:
        """Fresh starts where rows are not few."""
        return 0

    def few(self, state: Any) -> bool:
        """Whether rows are so few that the loss has local minima above a noiseless law's."""
        return bool(state.n < _FEW * self.freedom(state))

    def settle(self, state: Any) -> Any:
        """The state with the best point of the rank that was asked for."""
        if state.stage == "wide" and state.before is None:  # stopped on the way down
            so_far = replace(state, descent=replace(state.descent, point=point_of(state)))
            point, signs = self.cut(so_far)
            return replace(state, descent=Descent(trial=point, point=point), signs=signs)
        worse = state.stage in _ON_TRIAL or (state.before and state.loss >= state.before[2])
        if state.stage == "freed":
            worse = not (len(state.signs) and _worth_it(state, _more(state)))
        return self._back(state) if state.before is not None and worse and state.stage != "shrunk" else state

    def evaluate(self, state: Any, point: NDArray[Any], signs: NDArray[Any]) -> Any:
        """A new point for the minimiser to begin from."""
        return replace(state, phase="step", descent=Descent(trial=point), signs=signs, change=0.0)

    def measure(self, state: Any) -> Mapping[str, float]:
        """Size of the step in units of y, loss as a share of the variance, and rows."""
        return {"change": state.change, "loss": state.loss, "rows": float(state.batch_rows)}

    def widely(
        self, state: Any, point: NDArray[Any], signs: NDArray[Any], ridge: float = _FALLING[-1]
    ) -> Any:
        """From a point with more factors than the rank, under a ridge at first."""
        return self.evaluate(replace(state, stage="wide", ridge=ridge), point, signs)

    def grow(self, state: Any, point: NDArray[Any], signs: NDArray[Any]) -> Any:
        """From a point with directions added."""
        state = replace(state, stage="grown", grown=state.grown + 1, before=_kept(state))
        return self.evaluate(state, point, signs)

    def nothing_to_grow(self, state: Any) -> Any:
        """After the moments: nothing is left above the noise, or all was tried."""
        if state.fresh < (_MOST_FRESH if self.few(state) else self.second_thoughts(state)):
            state = replace(state, fresh=state.fresh + 1, before=_kept(state))
            about = self.few(state) and state.fresh % 2 == 1
            begun = _FALLING[-1] if about else _FALLING[0]
            return self.widely(state, *self.random_point(state, about), begun)
        if self.may_free(state):
            state = replace(state, stage="freed", before=_kept(state), squares=True)
            return self.evaluate(state, *self.freed_point(state))
        return self.confirm(state)

    def confirm(self, state: Any) -> Any:
        """The search has ended: on to all rows, or to the last steps."""
        descent = state.descent
        if state.sampled:
            state = replace(state, sampled=False, stage="first", grown=0, fresh=0)
            state = self.evaluate(state, descent.point, state.signs)
            if descent.curvature is None:
                return state
            known = {"curvature": descent.curvature, "mu": max(descent.mu, _ROUGH), "again": True}
            return replace(state, descent=replace(state.descent, **known))
        state = replace(state, stage="last")
        if descent.slope is None:
            return self.evaluate(state, descent.point, state.signs)
        return replace(state, phase="step", descent=proposed(replace(descent, tried=0)))

    def may_grow(self, state: Any) -> bool:
        """Whether directions may still be added: not where rows are few, as moments say little there."""
        return bool(state.grown < _MOST_GROWN and not self.few(state))

    def judge_step(self, state: Any, stats: Stats) -> Any:
        """Take the trial if it lowered the loss; then the next trial, or the next stage."""
        n, trial = stats["n"], state.descent.trial
        cost, JJ = n * self.penalty(state), stats.get("JJ")
        pull = cost @ trial if cost.ndim == 2 else cost * trial
        objective = float(stats["loss"] + trial @ pull)
        slope = self.slope(state, stats) - pull
        if state.descent.again:
            JJ = state.descent.curvature * (n / state.n)  # of a sample: as of so many rows
        elif JJ is not None and cost.any():
            JJ = JJ + cost if cost.ndim == 2 else with_diagonal(JJ, cost)
        scale = self.scales(state, stats) if JJ is None and state.descent.scale is None else None
        before = state.descent.objective
        descent = judged(state.descent, objective, slope, JJ, scale, self.many(state))
        measured: dict[str, float] = {}
        if descent.taken:
            fall = float(np.sqrt(max(before - objective, 0.0) / n)) if np.isfinite(before) else 0.0
            measured = {"loss": float(stats["loss"] / n), "size": float(stats["size"] / n)}
            measured |= {"change": fall, "held_now": float(stats["held"])}
        state = replace(state, descent=descent, n=n, batch_rows=n, steps=state.steps + 1, **measured)
        # Where rows are few, a descent to a noiseless law is quick; one that isn't ends elsewhere.
        usual = (1e-2, 30) if self.few(state) else (1e-5, 60)
        wanted = _TOLERANCE.get(state.stage, usual[0]) * (1 if JJ is not None else 0.1)
        zero = state.loss < self.minimum_loss and state.ridge == 0
        calm = descent.gain < wanted or zero or not len(state.signs)
        left = _STEPS.get(state.stage, usual[1]) * (1 if JJ is not None else 4) - descent.tried
        if (descent.taken and calm) or descent.stuck or left <= 0:
            return self._staged(state)
        last = left == 1 and state.stage == "wide" and JJ is not None  # no step follows from there
        return replace(state, descent=proposed(replace(descent, again=descent.again or last)))

    def _staged(self, state: Any) -> Any:
        """A stage has come to its end."""
        weaker = [ridge for ridge in _FALLING if ridge < state.ridge]
        if state.stage == "wide" and weaker:
            state = replace(state, ridge=weaker[0])
            return self.evaluate(state, state.descent.point, state.signs)
        if state.stage in ("grown", "wide"):
            state = replace(state, ridge=0.0)
            return self.evaluate(replace(state, stage="cut"), *self.cut(state))
        if state.stage == "cut":
            if state.before is not None and state.loss >= 0.99 * state.before[2]:
                return self.nothing_to_grow(replace(self._back(state), before=None))
            state = replace(state, before=None, stage="first")
        if state.stage == "freed" and len(state.signs):
            if not _worth_it(state, _more(state)):
                return self.confirm(replace(self._back(state), before=None, bent=False))
            state = replace(state, before=None, stage="first", grown=0)
        if state.stage in ("last", "ridge"):
            return self._shrink(state)
        if state.stage == "shrunk":
            return replace(state, phase="done", before=None)
        if state.loss < self.minimum_loss and len(state.signs):
            return self._shrink(replace(state, stage="last", before=None))
        if not self.forms_moments(state):
            return self.nothing_to_grow(state)
        return replace(state, phase="moments")

    def _shrink(self, state: Any) -> Any:
        """The next ridge, the next rows to leave out, or the ridge that did best on them."""
        point, signs = state.descent.point, state.signs
        if state.stage == "last":
            # As many degrees of freedom as rows explain any target.
            explained = state.loss < 1e-6 and state.n > len(point) - len(signs) * (len(signs) - 1) // 2
            noisy = 2 * _FOLDS <= state.n <= _PLENTY * len(point) and not explained
            if not (noisy and dense(state) and self.shrinks(state)):
                return replace(state, phase="done")
            state = replace(state, stage="ridge", fold=0, held=np.zeros(len(RIDGES)), before=_kept(state))
            return self._fold_begins(state)
        held, more = state.held.copy(), state.place + 1 < len(RIDGES)
        held[state.place] += state.held_now
        least = min(state.held_least, state.held_now)
        folds = _FOLDS if state.n * _FOLDS / (_FOLDS - 1) < _FEW_ROWS else 1
        if more and folds == 1 and state.held_now > _TOO_MUCH * least:  # stronger ones are worse still
            held[state.place + 1 :], more = np.inf, False
        state = replace(state, held=held, held_least=least if more else np.inf)
        if more:
            state = replace(state, place=state.place + 1, ridge=float(RIDGES[state.place + 1]))
            return self.evaluate(state, point, signs)
        state = self._back(state)
        if state.fold + 1 < folds:
            return self._fold_begins(replace(state, fold=state.fold + 1, place=0, ridge=0.0))
        held[-1] *= max(1 - _DOUBT / state.n, 0.0)  # few rows flatter the best of many ridges
        best = int(np.argmin(held))
        if not held[best] < _WORTH * held[0]:
            return replace(state, phase="done", fold=-1, ridge=0.0, before=None)
        state = replace(state, fold=-1, ridge=float(RIDGES[best]), stage="shrunk")
        return self.evaluate(state, state.descent.point, state.signs)

    def _fold_begins(self, state: Any) -> Any:
        """At what was found; where rows are few that knows the rows left out, and chance begins anew."""
        point, signs = state.descent.point, state.signs
        if self.few(state):
            point, signs = self.random_point(state, about=False)
        return self.evaluate(state, point, signs)

    @staticmethod
    def _back(state: Any) -> Any:
        point, signs, loss, squares = state.before
        descent = Descent(trial=point, point=point)
        return replace(state, descent=descent, signs=signs, loss=loss, squares=squares)


def point_of(state: Any) -> NDArray[Any]:
    """The best point so far; before any was judged, the trial."""
    descent = state.descent
    return np.asarray(descent.trial if descent.point is None else descent.point)


def _kept(state: Any) -> tuple[Any, ...]:
    """What a trial that fails returns to."""
    return state.descent.point, state.signs, state.loss, state.squares


def _more(state: Any) -> int:
    """Parameters beyond those of the model to return to."""
    return len(point_of(state)) - len(state.before[0])


def _worth_it(state: Any, more: int) -> bool:
    """Whether the loss fell by more than so many parameters more explain (Schwarz's criterion)."""
    n = max(state.n, 2.0)
    return bool(n * np.log(state.before[2] / max(state.loss, 1e-300)) > more * np.log(n))


def dense(state: Any) -> bool:
    """Whether J'J is formed at the trial."""
    return len(state.descent.trial) <= MOST_DENSE


def losses(weight: NDArray[Any], loss: NDArray[Any], r: NDArray[Any], held: NDArray[Any]) -> dict[str, float]:
    """Sums over rows that count, and the loss of those held out."""
    sums = {"n": weight.sum(), "loss": weight @ loss, "size": weight @ np.abs(r), "held": held @ loss}
    return {name: float(value) for name, value in sums.items()}


def fold_of(first: int, n: int) -> NDArray[Any]:
    """Which fifth of the rows each belongs to, by a hash of its number."""
    numbers = np.arange(first, first + n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return ((numbers >> np.uint64(40)) % np.uint64(_FOLDS)).astype(np.intp)


def wider(rank: int) -> int:
    """Factors of a wide start: half as many again."""
    return rank + (rank + 1) // 2
