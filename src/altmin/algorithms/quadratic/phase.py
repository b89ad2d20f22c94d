r"""Phase retrieval: a signal from its intensities (Lin and Ye 2016 with M = s s^*; rank one).

.. math:: y = |x^T s|^2, \qquad s \in \mathbb{R}^d \text{ or } \mathbb{C}^d

On a stream :math:`H = \frac{1}{\beta n} X^H \mathrm{diag}(r) X - \frac{\bar r}{\beta} I`, with
:math:`\beta = 2` for real and 1 for complex designs, estimates what :math:`s s^H` misses, and a damped
power step on :math:`s s^H + \eta H` needs O(d) memory. Rows that can be read again polish the estimate by
reweighted amplitude flow (Wang, Giannakis, Saad and Chen 2018): gradient steps on
:math:`\frac1n \sum w_i (|x_i^T s| - \sqrt{y_i})^2` where :math:`w_i` is small for rows whose phase is
still uncertain, and 0 for rows that miss by far more than the others (outliers). The start is the top
direction of the rows with the largest intensities; where rows are few and the polish settles above a loss of
zero, it begins again a few times from that direction with noise added, and the lowest loss counts. Columns
are measured in units of their own size. Noise may have put intensities below zero: their amplitude is 0.

Complex designs come as rows [Re x, Im x]: the engine's blocks are real. Coded diffraction patterns come as
rows of masks, each with a row of intensities beside it; products with them are fast Fourier transforms. A
linear operator is a parameter of the algorithm; its data are one row of intensities.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.quadratic.guarded_steps import (
    SMALLEST_CUT,
    GuardedState,
    GuardedSteps,
    accept,
    batch_noise,
    loss_of,
    take_back,
)
from altmin.algorithms.quadratic.lens import weights_of
from altmin.contract import All, Block, Done, Info, Max, Round, Stats, record
from altmin.io.records import replace
from altmin.kernels.diffraction import Diffraction, OperatorDesign

_POWER_ROUNDS = 60
_POLISH_STEP = 0.8
_CALM = 1e-13  # size of a step, as a share of the signal, that is rounding
_UNEXPLAINED = 0.05  # share of the mean square of the intensities
_DOUBT, _DOUBT_LATER = 5.0, 0.5  # in the weights of rows: until the signal settles, and after
_SETTLED = 1e-6
_MOMENTUM = 0.8
_FEW, _STARTS = 5, 6  # rows an unknown below which a settled polish may begin again, and how often
_STUCK, _EXACT = 1e-7, 1e-6  # a step so small at a loss above this is that of a local minimum, or of noise
_FAR = 6.0  # times the mean miss of rows that count: an outlier
_LARGE = 1.45  # times the mean: about 23 % of the rows, for real and complex Gaussian designs alike


@record
class PhaseState(GuardedState):
    """Phase, the signal, the last good one, and the pace."""

    scale: float  # largest y: the unit of intensities
    mean: float  # of y / scale
    s: Any  # (d,): real or complex
    safe: Any
    left: int
    probe: Any  # (d,): power iteration on X^H X, for the longest safe step of the polish
    spread: float = 1.0  # largest eigenvalue of X^H X / n
    new: Any = None  # direction that the V round looks along
    new_shift: float = 0.0
    amplitude_loss: float = np.inf
    unit: Any = None  # (d,): size of the columns of the design
    coasting: bool = False  # whether the last step had the momentum of the one before
    settled: bool = False  # whether the polish has found its basin
    miss: float = np.inf  # mean miss of the amplitudes of rows that count
    start: Any = None  # (d,): from which the polish began
    starts: int = 0  # how often it began again
    best: Any = None  # (loss, s) of the polishes before
    seed: int = 0
    n: float = 0.0  # rows
    excess: float = 0.0  # of the design's entries: |E|x|^4 / (E|x|^2)^2 - Gaussian|


@record
class Phase(GuardedSteps):
    """Parameters; ``polish`` asks for amplitude steps. The loss is a share of the mean of y^2."""

    complex_design: bool = False
    polish: bool = False
    shape: tuple[int, ...] = ()  # of the signal behind masks or a linear operator
    operator: Any = None  # LinearOperator, or None
    calm: float = 0.0  # size of a step, as a share of the signal, that ends the polish

    @property
    def stops_itself(self) -> bool:
        """The polish says whether it has found a signal."""
        return self.polish

    @property
    def beta(self) -> float:
        """E[(x'Mx) x x'] = beta M + tr(M) I."""
        return 1.0 if self.complex_design else 2.0

    def init(self, info: Info, seed: int) -> PhaseState:
        """A random direction."""
        rng = np.random.default_rng(seed)
        d = info.n_features // 2 if self.complex_design else info.n_features
        d = d if self.operator is None else self.operator.shape[1]
        s = rng.standard_normal(d) + (1j * rng.standard_normal(d) if self.complex_design else 0.0)
        s = s / np.linalg.norm(s)
        return PhaseState(1.0, 1.0, s, s, _POWER_ROUNDS, s, phase="moments", seed=seed)

    def next_round(self, state: PhaseState) -> Round | Done:
        """Units, a spectral start, then stream steps or the polish."""
        same, fresh = self.batches(state)
        match state.phase:
            case "moments":
                return Round(moments_map, rows=fresh, name="moments", then=self._see)
            case "power":
                return Round(power_map, rows=same, name="start", then=self._power)
            case "u":
                return Round(u_map, rows=same if state.again else fresh, name="U", then=self._u)
            case "v":
                return Round(v_map, rows=same, name="V", iteration=True, then=self._v)
            case "polish":
                if state.change < max(self.calm, _CALM) or state.cut <= SMALLEST_CUT:
                    return self._end(state)
                return Round(polish_map, rows=All(), name="polish", iteration=True, then=self._polish)
        return Done("converged")

    def _end(self, state: PhaseState) -> Done:
        if state.loss < _UNEXPLAINED:
            return Done("converged", "the polish has reached the precision of the numbers")
        hint = "" if self.complex_design else ", or a complex signal, which real designs don't determine"
        share = f"the signal leaves {state.loss:.0%} of the intensities unexplained"
        return Done("stalled", f"{share}: strong noise, a local minimum{hint}")

    def finish(self, state: PhaseState) -> PhaseState:
        """A step taken back isn't kept, nor a polish that ended above another."""
        state = replace(state, phase="done", s=state.safe if state.again else state.s)
        if state.best is not None and state.best[0] < state.loss:
            state = replace(state, loss=state.best[0], s=state.best[1])
        return replace(state, best=None)

    def _see(self, state: PhaseState, stats: Stats) -> PhaseState:
        n = stats["n"]
        if not stats["y"] > 0:
            raise ValueError("y: the mean of the intensities |<x, s>|^2 is not above zero")
        second = stats["xx"] / n
        unit = np.where(second > 0, np.sqrt(np.where(second > 0, second, 1.0)), 1.0)
        scale = float(stats["top"].value) or 1.0
        fourth = float(np.mean(stats["xxxx"] / n / unit**4))
        return replace(
            state,
            phase="power",
            scale=scale,
            mean=float(stats["y"] / n / scale),
            n=float(n),
            unit=unit,
            excess=float(abs(fourth - (2.0 if self.complex_design else 3.0))),
        )

    def _power(self, state: PhaseState, stats: Stats) -> PhaseState:
        """Power iterations: the start along the largest intensities, and the spread of the designs."""
        s, _ = _unit(stats["B"], state.s)
        probe, grown = _unit(stats["P"], state.probe)
        spread = max(grown / stats["n"], 1.0)
        state = replace(state, s=s, probe=probe, spread=spread, left=state.left - 1)
        return state if state.left else self._level(state)

    def _level(self, state: PhaseState) -> PhaseState:
        """Length of the start from the mean intensity: E y = |s|^2 E|x_j|^2."""
        s = state.s * np.sqrt(state.mean)
        polishing = self.polish and self.batch_size == 0
        phase = "polish" if polishing else "u"
        return replace(state, s=s, safe=s, start=s, phase=phase, again=not polishing)

    def _u(self, state: PhaseState, stats: Stats) -> PhaseState:
        n = max(stats["n"], 1e-300)  # rows of a batch may all have no weight
        loss, error = loss_of(stats, max(stats["yy"], 1e-300))
        if self.worse(state, loss, error):
            return take_back(state, s=state.safe)
        state = accept(state, stats, loss, error, safe=state.s)
        state, eta = self.pace(state, batch_noise(3.6, len(state.s), n), self.step)
        shift = stats["r"] / n / self.beta
        new = self._power_step(state, stats, state.s, shift, eta)
        new, _ = _unit(new, state.s)
        return replace(state, phase="v", new=new, new_shift=float(shift), step=eta)

    def _v(self, state: PhaseState, stats: Stats) -> PhaseState:
        """The length along the new direction: u^H (s s^H + eta H) u, positive for a signal."""
        image = self._power_step(state, stats, state.new, state.new_shift, state.step)
        length = float(np.real(np.vdot(state.new, image)))
        s = state.new * np.sqrt(max(length, 0.0))
        change = distance(s, state.s) / max(float(np.linalg.norm(s)), 1e-300)
        return replace(
            state, phase="u", s=s, new=None, steps=state.steps + 1, again=False, change=float(change)
        )

    def _power_step(
        self, state: PhaseState, stats: Stats, along: NDArray[Any], shift: float, eta: float
    ) -> NDArray[Any]:
        """(s s^H + eta H) along, from the round's X^H (r * X along)."""
        H = stats["B"] / (self.beta * stats["n"]) - shift * along
        return state.s * np.vdot(state.s, along) + eta * H

    def _polish(self, state: PhaseState, stats: Stats) -> PhaseState:
        """A reweighted amplitude step; once the signal has settled, none that raises the loss is kept."""
        n = stats["n"]
        loss = stats["amplitude"] / n
        if loss > state.amplitude_loss * (1 + 1e-9) and state.settled and not state.again:
            if state.coasting:  # too far along the old direction: go on without it
                return replace(state, s=state.safe, again=True, coasting=False)
            state = take_back(state, s=state.safe)
            return self._begin_again(state) if state.cut <= SMALLEST_CUT else state
        # Rows that fit count 1 / (1 + doubt), so a step below 2 (1 + doubt) / spread doesn't run away.
        longer = (1 + _DOUBT_LATER) / (1 + _DOUBT) if state.settled else 1.0
        step = 2.5 * longer * state.cut * min(_POLISH_STEP * (2 / self.beta), 2.2 / state.spread)
        move = step * stats["gradient"] / n
        coasting = (state.settled or self.complex_design) and not state.again
        if coasting:
            move -= _MOMENTUM * (state.s - state.safe)
        s = state.s - move
        change = float(np.linalg.norm(move)) / max(float(np.linalg.norm(s)), 1e-300)
        loss_y = stats["rr"] / max(stats["yy"], 1e-300)
        state = replace(
            state,
            safe=state.s,
            s=s,
            amplitude_loss=float(loss),
            loss=float(loss_y),
            change=change,
            steps=state.steps + 1,
            again=False,
            cut=min(state.cut * 1.1, 1.0),
            step=step,
            coasting=coasting,
            settled=state.settled or change < _SETTLED,
            miss=float(stats["miss"] / max(stats["counted"], 1e-300)),
        )
        return self._begin_again(state) if change < _STUCK else state

    def _begin_again(self, state: PhaseState) -> PhaseState:
        """Where rows are few and the loss isn't zero: from the start of the polish with as much noise."""
        few = state.n < _FEW * len(state.s) and state.starts < _STARTS
        if state.loss < _EXACT or not few:
            return state
        rng = np.random.default_rng([state.seed, state.starts])
        noise = rng.standard_normal(len(state.s))
        if self.complex_design:
            noise = noise + 1j * rng.standard_normal(len(noise))
        size = np.linalg.norm(state.start)
        s = state.start + noise * (size / np.linalg.norm(noise))
        s = s * (size / np.linalg.norm(s))
        best = state.best if state.best and state.best[0] < state.loss else (state.loss, state.s)
        fresh: dict[str, Any] = {
            "settled": False,
            "miss": np.inf,
            "amplitude_loss": np.inf,
            "cut": 1.0,
            "again": False,
            "coasting": False,
        }
        return replace(state, s=s, safe=s, best=best, starts=state.starts + 1, change=1.0, **fresh)


def design(algorithm: Phase, block: Block) -> Any:
    """The block's rows, complex where they stand for complex ones; masks as what they measure."""
    X = block.X
    if algorithm.operator is not None:
        return OperatorDesign(algorithm.operator)
    if not algorithm.complex_design:
        return np.asarray(X)
    d = X.shape[1] // 2
    rows = np.asarray(X[:, :d] + 1j * X[:, d:])
    return Diffraction(rows, algorithm.shape) if algorithm.shape else rows


def moments_map(algorithm: Phase, state: PhaseState, block: Block) -> Stats:
    """Sizes of designs and intensities."""
    X, y, w = _data(algorithm, block)
    if algorithm.shape:
        second, fourth = X.powers(w)
    else:
        squares = np.square(np.abs(X))
        second, fourth = w @ squares, w @ np.square(squares)
    return {
        "n": float(w.sum()),
        "xx": np.asarray(second, dtype=np.float64),
        "xxxx": np.asarray(fourth, dtype=np.float64),
        "y": float(w @ y),
        "top": Max(float(np.max(y[w > 0], initial=0.0))),
    }


def power_map(algorithm: Phase, state: PhaseState, block: Block) -> Stats:
    """X^H (t * X s) over the quarter of rows with the largest intensities, t = intensity^(1/4).

    Plain intensities, as in the paper's start, have tails that hide the signal at few rows a dimension.
    """
    X, y, w = _data(algorithm, block)
    y = y / (state.scale * state.mean)
    t = np.where(y > _LARGE, y, 0.0) ** 0.25 * w
    both = X @ (np.column_stack([state.s, state.probe]) / state.unit[:, None])
    both = _adjoint(X, np.column_stack([t, w]) * both) / state.unit[:, None]
    return {"n": float(w.sum()), "B": both[:, 0].copy(), "P": both[:, 1].copy()}


def u_map(algorithm: Phase, state: PhaseState, block: Block) -> Stats:
    """Residual of the intensities, its moments, and X^H (r * X s)."""
    X, y, r, w, Xs = _residual(algorithm, state, block)
    rr = r * r
    return {
        "n": float(w.sum()),
        "rows": int(np.count_nonzero(w)),
        "B": _adjoint(X, w * r * Xs) / state.unit,
        "r": float(w @ r),
        "rr": float(w @ rr),
        "rrrr": float(w @ (rr * rr)),
        "yy": float(w @ (y * y)),
    }


def v_map(algorithm: Phase, state: PhaseState, block: Block) -> Stats:
    """X^H (r * X u) along the new direction, with the residual of the old signal."""
    X, _, r, w, _ = _residual(algorithm, state, block)
    return {"n": float(w.sum()), "B": _adjoint(X, w * r * (X @ (state.new / state.unit))) / state.unit}


def polish_map(algorithm: Phase, state: PhaseState, block: Block) -> Stats:
    """Gradient of the reweighted amplitude loss."""
    X, y, r, w, Xs = _residual(algorithm, state, block)
    amplitude, size = np.sqrt(np.maximum(y, 0.0)), np.abs(Xs)
    # Rows whose predicted amplitude is far below the measured one have an unreliable phase.
    doubt = _DOUBT_LATER if state.settled else _DOUBT
    gap = Xs - amplitude * (Xs / np.maximum(size, 1e-300))
    miss = np.abs(gap)
    counted = w * ((miss <= _FAR * state.miss) if state.settled else 1.0)
    trust = size / (size + doubt * amplitude + 1e-300)
    return {
        "n": float(w.sum()),
        "gradient": _adjoint(X, counted * trust * gap) / state.unit,
        "amplitude": float(counted @ np.square(miss)),
        "miss": float(counted @ miss),
        "counted": float(counted.sum()),
        "rr": float(w @ (r * r)),
        "yy": float(w @ (y * y)),
    }


def distance(a: NDArray[Any], b: NDArray[Any]) -> float:
    """||a - c b|| over the sign or phase c that is not identifiable."""
    inner = np.vdot(b, a)
    c = inner / abs(inner) if abs(inner) > 0 else 1.0
    return float(np.linalg.norm(a - c * b))


def _unit(vector: NDArray[Any], otherwise: NDArray[Any]) -> tuple[NDArray[Any], float]:
    norm = float(np.linalg.norm(vector))
    return (vector / norm, norm) if norm > 0 else (otherwise, 0.0)


def _data(algorithm: Phase, block: Block) -> tuple[Any, NDArray[Any], NDArray[Any]]:
    """Designs, intensities and weights."""
    y = block.y if not algorithm.shape else np.ravel(block.second)
    if y is None:
        raise ValueError("the blocks bring no intensities y: give tuples (X, y), or y beside X")
    w = weights_of(block) if not algorithm.shape else np.ones(len(y))
    return design(algorithm, block), np.asarray(y, dtype=np.float64), w


def _adjoint(X: Any, v: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(X.conj().T @ v) if isinstance(X, np.ndarray) else np.asarray(X.adjoint(v))


def _residual(
    algorithm: Phase, state: PhaseState, block: Block
) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    X, y, w = _data(algorithm, block)
    Xs, y = X @ (state.s / state.unit), y / state.scale
    return X, y, y - np.square(np.abs(Xs)), w, Xs
