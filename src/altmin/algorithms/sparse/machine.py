r"""The factorization machine for one-hot, multi-hot and other sparse features: variational sweeps.

.. math:: f = b + x^T w + \sum_{j<l} x_j x_l \langle v_j, v_l \rangle, \qquad
   (w_j, v_j) \sim N(m_j, \mathrm{diag}\, S_j)

with :math:`y = f + \text{noise}` (regression) or :math:`P(y = 1) = \sigma(f)` (two classes). Moments of
such features say next to nothing, so that the one-pass machine has no start on them. But f is linear in
the parameters of a single column: given all others, its posterior is the solution of one small system
(mean-field variational Bayes; Jaakkola and Jordan's bound where the loss is logistic). The variances are
what makes rare columns safe: nothing has to be stopped early, and no ridge has to be tuned.

Columns that never meet in a row (the levels of one categorical variable) are solved for together, in one
round over the data: a *field* is the longest range of columns that don't meet. Where there would be too
many fields, ranges are joined, and columns that meet take shorter steps. A sweep is a round for the level
and one for each field; the sums of each row travel as a column of the engine.

The ridge on the factors falls from strong to weak, a few sweeps at a time, so that factors grow one by one
out of what is well determined; a tenth of the rows, left out, says when to stop. From there the ridge of
each factor is learned (empirical Bayes), for as long as this helps with the rows left out: on its own it
tends to end with no factor at all. Users may differ more than films do: each field has ridges of its own,
those of small fields drawn towards those of all columns. Then the same sweeps are made again with all rows.
On a stream the posterior of the rows so far is the prior of the next ones, widened where these are predicted
worse than it expects of itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.quadratic.low_rank import UserModel, canonical_signs
from altmin.algorithms.sparse.machine_maps import ColumnSums, field_map, fields, level_map, look_map, rows_of
from altmin.contract import Done, Info, Round, Stats, record
from altmin.kernels.sparse_machine import predict_rows, solve_systems

_RIDGES = 100 * 0.4 ** np.arange(16)  # on the factors, from strong to weak
_SPREAD, _VARIANCE = 0.3, 0.01  # of the factors at the start
_SWEEPS = 4  # for each ridge
_LEAST_SWEEPS, _PATIENCE = 24, 8  # at least; and so many after the best one
_LEARNED_SWEEPS, _LEARNED_PATIENCE = 10, 3  # with ridges that are learned
_USUAL_SWEEPS = (20, 2)  # where there are too few rows to leave some out
_GAIN = 1e-3  # on the rows left out, below which a sweep is not worth its while
_STREAM_SWEEPS = 3
_LEAST_NOISE = 1e-8
_SHARED = 10  # columns for which the ridge of all columns counts in that of a field
_DRIFT = 1.5


@record
class SparseState:
    """Phase, units, the posterior, and what the choice between the starts needs."""

    phase: str
    m: Any  # (d, 1 + k): posterior means of (w, v), in the units below
    S: Any  # (d, 1 + k): posterior variances
    seed: int
    b: float = 0.0
    noise: float = 1.0
    ridge: Any = None  # (n_fields, 1 + k): prior precision of w and of each factor
    prior: Any = None  # of a stream: m and 1 / S after the rows so far
    b_precision: float = 0.0
    unit: Any = None  # (d,): what columns are divided by; 1 for binary ones, 0 for columns never seen
    binary: Any = None  # (d,): columns of zeros and ones
    centre: float = 0.0
    spread: float = 1.0
    bounds: Any = None  # (n_fields + 1,): the columns of each field
    field: int = 0
    old: Any = None  # m and S of the field that moved last, which the rows' sums still hold
    moved: tuple[int, int] = (0, 0)  # the columns of that field
    stage: str = "falling"  # ridge, 'learned' ridges, or 'all' rows
    sweep: int = 0  # of this stage
    wanted: tuple[int, int] = (0, 0)  # sweeps of the first two stages that did best on the rows left out
    held: float = np.inf  # loss on the rows left out
    best: Any = None  # the least such loss, and m, S, b, noise and ridge then
    batches: int = 0  # of a stream
    lost: bool = False  # whether a stream's last rows were predicted worse than by their mean
    nothing: float = np.inf  # loss of a constant on these rows
    loss: float = np.inf
    change: float = np.inf
    squares: float = 0.0  # of the steps of this sweep

    @cached_property
    def scale(self) -> NDArray[Any]:
        """What columns are multiplied with."""
        return np.divide(1.0, self.unit, out=np.zeros_like(self.unit), where=self.unit > 0)

    @property
    def column_ridge(self) -> NDArray[Any]:
        """The ridge of each column: (d, 1 + k)."""
        return np.repeat(self.ridge, np.diff(self.bounds), axis=0)


@record
class SparseMachine:
    """Parameters; ``logistic`` for a target of zeros and ones."""

    rank: int
    logistic: bool = False

    def init(self, info: Info, seed: int) -> SparseState:
        """Nothing known of any column."""
        shape = (info.n_features, 1 + self.rank)
        state = SparseState("look", np.zeros(shape), np.zeros(shape), seed)
        return replace(state, unit=np.zeros(shape[0]), binary=np.ones(shape[0], dtype=bool))

    def next_round(self, state: SparseState) -> Round | Done:
        """Units and fields; then sums of the rows, and sweeps: the level and each field in turn."""
        match state.phase:
            case "look":
                return Round(look_map, name="fields", then=self._look)
            case "sums":
                return Round(level_map, name="sums", writes=("sums",), then=self._level)
            case "level":
                return Round(
                    level_map, name="sweep", iteration=True,
                    reads=("sums",), writes=("sums",), then=self._level,
                )  # fmt: skip
            case "field":
                return Round(
                    field_map, name=f"field {state.field + 1} of {len(state.bounds) - 1}",
                    reads=("sums",), writes=("sums",), then=self._field,
                )  # fmt: skip
        return Done("converged", "sweeps no longer improve the model")

    def finish(self, state: SparseState) -> SparseState:
        """Where the sweeps were cut short, what did best on the rows left out."""
        if state.best is not None:
            state = self._adopt(state)
        return replace(state, phase="done", old=None, best=None)

    def resume(self, state: SparseState) -> SparseState:
        """A finished state, whose posterior is the prior of more rows."""
        seen = state.unit > 0
        precision = np.where(seen[:, None], 1 / np.maximum(state.S, 1e-300), state.column_ridge)
        return replace(state, phase="look", prior=(state.m, precision), stage="all", sweep=0)

    def measure(self, state: SparseState) -> Mapping[str, float]:
        """Step of a sweep in units of the predictions, and the loss of the rows that it learned from."""
        held = {"held_out": state.held} if np.isfinite(state.held) else {}
        return {"change": state.change, "loss": state.loss, **held, "noise": state.noise}

    # --- phases ---------------------------------------------------------------------------------------

    def _look(self, state: SparseState, stats: Stats) -> SparseState:
        """Units and fields. A stream keeps the units of its first rows."""
        n = stats["n"]
        if n == 0:
            raise ValueError("sample_weight is 0 for all of the rows: at least one must count")
        top, other = stats["top"].value, stats["other"].value
        unit = np.where(state.unit > 0, state.unit, np.where(other, top, np.minimum(top, 1.0)))
        bounds, new, old = fields(stats["before"].value), (state.unit == 0) & (unit > 0), state.bounds
        state = replace(
            state, unit=unit, binary=state.binary & ~other, bounds=bounds, batches=state.batches + 1
        )
        share = np.clip(stats["y"] / n, 1e-6, 1 - 1e-6)
        if state.prior is not None:
            spread = max(stats["yy"] / n - (stats["y"] / n) ** 2, 0.0) / state.spread**2
            entropy = -(share * np.log(share) + (1 - share) * np.log(1 - share))
            state = replace(state, nothing=float(entropy if self.logistic else spread), lost=False)
            state = replace(state, ridge=state.ridge[np.searchsorted(old, bounds[:-1], "right") - 1])
            return replace(self._new_columns(state, new), phase="sums")
        if not self.logistic:
            centre = stats["y"] / n
            variance = max(stats["yy"] / n - centre**2, 0.0)
            spread = np.sqrt(variance) if variance > 1e-24 * stats["yy"] / n else 1.0
            state = replace(state, centre=float(centre), spread=float(spread))
        state = replace(state, b=float(np.log(share / (1 - share))) if self.logistic else 0.0)
        return self._start(state, "falling")

    def _start(self, state: SparseState, stage: str) -> SparseState:
        """Small random factors under the strongest ridge."""
        m = np.zeros_like(state.m)
        m[:, 1:] = _SPREAD * np.random.default_rng(state.seed).standard_normal((len(m), self.rank))
        S = np.full_like(m, _VARIANCE)
        S[:, 0] = 1.0
        ridge = np.full((len(state.bounds) - 1, m.shape[1]), _RIDGES[0])
        ridge[:, 0] = 1.0
        return replace(state, phase="sums", m=m, S=S, ridge=ridge, noise=1.0, stage=stage, sweep=0)

    def _new_columns(self, state: SparseState, new: NDArray[np.bool_]) -> SparseState:
        """Columns that a stream shows for the first time begin as small as those before did."""
        rng = np.random.default_rng([state.seed, 2 + state.batches])
        m, ridge = state.m.copy(), state.column_ridge[new, 1:]
        m[new, 1:] = rng.standard_normal(ridge.shape) * _SPREAD / np.sqrt(ridge)
        return replace(state, m=m)

    def _level(self, state: SparseState, stats: Stats) -> SparseState:
        """Intercept, noise and ridge; whether this start has come to its end."""
        n = stats["n"]
        if state.prior is not None and state.sweep == 0:
            state = self._follow(state, stats)
        b = state.b + stats["pull"] / max(stats["kappa"] + state.b_precision, 1e-300)
        noise = state.noise
        if not self.logistic:
            noise = max((stats["loss"] + stats["variance"]) / n, _LEAST_NOISE)
        held = stats["held_loss"] / stats["held_n"] if stats["held_n"] and state.sweep else np.inf
        state = self._remember(replace(state, held=float(held), loss=float(stats["loss"] / n)))
        state = replace(
            state,
            b=float(b),
            noise=float(noise),
            change=float(np.sqrt(state.squares / max(stats["size"], 1e-300))) if state.sweep else np.inf,
            phase="field",
            field=0,
            old=None,
            squares=0.0,
        )
        state = self._ended(state, stats)
        return (
            replace(state, ridge=self._ridge(state), sweep=state.sweep + 1)
            if state.phase == "field"
            else state
        )

    def _remember(self, state: SparseState) -> SparseState:
        """Keep the model that does best on the rows left out, and how many sweeps led to it."""
        if state.held >= (state.best[0] * (1 - _GAIN) if state.best else np.inf):
            return state
        wanted = (state.sweep, 0) if state.stage == "falling" else (state.wanted[0], state.sweep)
        best = (state.held, state.m, state.S, state.b, state.noise, state.ridge)
        return replace(state, best=best, wanted=wanted)

    def _ended(self, state: SparseState, stats: Stats) -> SparseState:
        """On to the next stage once sweeps gain nothing; to the end after the sweeps that were wanted."""
        falling, learned = state.wanted
        if state.prior is not None or state.stage == "all":
            if state.sweep < (falling + learned if state.prior is None else _STREAM_SWEEPS):
                return state
            return replace(state, phase="done", b_precision=float(state.b_precision + stats["kappa"]))
        if not stats["held_n"]:
            return self._start(replace(state, wanted=_USUAL_SWEEPS), "all")
        if state.stage == "falling":
            enough = state.sweep >= max(_LEAST_SWEEPS, falling + _PATIENCE)
            if enough or state.held < _LEAST_NOISE or state.sweep == _SWEEPS * len(_RIDGES):
                return replace(self._adopt(state), stage="learned", phase="sums", sweep=0)
        elif state.sweep >= min(learned + _LEARNED_PATIENCE, _LEARNED_SWEEPS):
            return self._start(replace(state, best=None, held=np.inf), "all")
        return state

    def _adopt(self, state: SparseState) -> SparseState:
        held, m, S, b, noise, ridge = state.best
        return replace(state, m=m, S=S, b=b, noise=noise, ridge=ridge, held=held)

    def _ridge(self, state: SparseState) -> NDArray[Any]:
        """Prior precisions: learned from the posterior, or, of the factors, falling."""
        if state.prior is not None:
            return np.asarray(state.ridge)
        seen, first = state.unit > 0, state.bounds[:-1]
        squares = np.where(seen[:, None], np.square(state.m) + state.S, 0.0)
        count, size = np.add.reduceat(seen, first, dtype=np.float64)[:, None], np.add.reduceat(squares, first)
        usual = size.sum(axis=0) / max(count.sum(), 1.0)
        ridge = (count + _SHARED + 1) / (size + _SHARED * usual + 1e-3)
        if state.stage == "falling" or (state.stage == "all" and state.sweep < state.wanted[0]):
            ridge[:, 1:] = _RIDGES[state.sweep // _SWEEPS]
        return np.asarray(ridge)

    def _follow(self, state: SparseState, stats: Stats) -> SparseState:
        """Where a stream's next rows surprise the model, it becomes less sure of what it knew."""
        gap = stats["loss"] / max(stats["expected"], 1e-300)
        state = replace(state, lost=bool(stats["loss"] / stats["n"] > 1.1 * state.nothing and gap > _DRIFT))
        if gap <= _DRIFT or state.batches <= 3:
            return state
        mean, precision = state.prior
        precision = np.maximum(precision / gap**2, state.column_ridge)
        return replace(state, prior=(mean / min(gap, 2.0), precision), b_precision=state.b_precision / gap**2)

    def _field(self, state: SparseState, stats: Stats) -> SparseState:
        """The posterior of each column of a field, given all others."""
        low, high = (int(at) for at in state.bounds[state.field : state.field + 2])
        m, S = state.m.copy(), state.S.copy()
        prior = state.prior or (np.broadcast_to(part, m.shape) for part in (0.0, state.ridge[state.field]))
        mean, precision = (part[low:high] for part in prior)
        found: ColumnSums = stats["systems"]
        solve_systems(found.values, found.ids, mean, precision, m[low:high], S[low:high])
        step = m[low:high] - state.m[low:high]
        last = state.field + 1 == len(state.bounds) - 1
        return replace(
            state,
            m=m,
            S=S,
            old=(state.m[low:high].copy(), state.S[low:high].copy()),
            moved=(low, high),
            squares=state.squares + float(np.sum(np.square(step[found.ids]))),
            field=state.field + 1,
            phase="level" if last else "field",
        )


def user_model(state: SparseState) -> UserModel:
    """The posterior mean in the user's columns: M = V V' / 2 without its diagonal."""
    scale = state.scale
    V = state.m[:, 1:] * scale[:, None]
    own = -0.5 * state.spread * np.square(V).sum(axis=1)
    Q, R = np.linalg.qr(V)
    values, vectors = np.linalg.eigh(R @ R.T * (0.5 * state.spread))
    order = np.argsort(-np.abs(values), kind="stable")
    return UserModel(
        np.zeros(len(V)),
        state.b * state.spread + state.centre,
        state.m[:, 0] * scale * state.spread + np.where(state.binary, own, 0.0),  # x^2 = x
        canonical_signs((Q @ vectors[:, order]).T),
        values[order],
        np.where(state.binary, 0.0, own),
    )


def predict(state: SparseState, X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Mean and variance of f for rows, in the target's units; O(nonzeros * rank)."""
    X = rows_of(X)
    f, variance = np.empty(X.shape[0]), np.empty(X.shape[0])
    predict_rows(X.indptr, X.indices, X.data, state.scale, state.m, state.S, state.b, f, variance)
    return f * state.spread + state.centre, variance * state.spread**2
