r"""AND: alternating non-negative gradient descent (Li and Liang 2017, Algorithm 1).

.. math:: y = x A, \qquad x \ge 0, \quad A \in \mathbb{R}^{D \times W} \text{ of any sign}

Rows are samples here; the paper writes y = A x with samples as columns. In stage j, with the
threshold :math:`\alpha_j` and the working matrix fixed,

.. math:: z = \phi_{\alpha_j}(y A^+), \qquad A \leftarrow A + \eta \sum (z^T y - z^T z A),
   \qquad \phi_\alpha(t) = t \,[t \ge \alpha],

and :math:`\alpha_j` falls from stage to stage (Theorem 4; constant 1/4 for binary x, Theorem 1).

Where we differ from the paper, and why:

- The inner steps of a stage share one Z, so they have a closed form (`kernels.gradient`): a stage is
  one pass over the data for G = Z'Z and B = Z'Y.
- The step is 1 / lambda_max(G), not a constant: the authors' .5/D diverges for many samples.
- The stages run in the coordinates of a subspace that holds the data (`algorithms.nonnegative.subspace`).
- Automatic thresholds: true weights are never negative, so negative decoded ones measure the error.
  The threshold falls with the largest error N. Data without noise (the kept samples span no more than D
  dimensions): not under N/3. With noise: that of component i not under ``noise_factor`` times the root
  mean square sigma_i of its negative codes, where a facet of the cone runs through the middle of its
  noise. Samples with codes far below 0 (in units of ``trim`` thresholds) contradict the model and are
  left out; without noise that bound falls slower than the threshold, as errors still shrink.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.nonnegative.closing_passes import close, nonnegative_map, refitted, residual_map
from altmin.algorithms.nonnegative.starts import Picks, anchor_words, begin_picks, picks_round
from altmin.algorithms.nonnegative.subspace import Reduction, View, coordinates, moments_map, weights
from altmin.contract import All, Block, Done, Info, Max, Min, Next, Round, Rows, Same, Stats, combine, record
from altmin.io.records import replace
from altmin.kernels.codes import sweep, upper_quantile
from altmin.kernels.gradient import gradient_steps
from altmin.kernels.gram import row_norms2, times, transpose_times
from altmin.kernels.inverse import pseudo_inverse

_FIRST_LEVEL, _HIGHEST = 0.25, 0.5
_SLOW, _FAST = 1.1, 1.5  # the threshold falls by these factors at least and at most in a stage
_MEASURES = 16
_FURTHER = 1.7  # steps of the last stages, over those of Algorithm 1
_GROWTH = 2.0  # outliers enlarge the cone by much more than this ratio of its last growth
_CALM = 3  # stages running that change nothing: the fit has settled
_FLOORS = (2.0, 1.0, 0.3)  # of the thresholds, in root mean squares of the negative codes
_EXPLAINED, _AT_NOISE = 1.75, 1.5  # negative codes over noise: a fit needs no second look; the floor is right


@record
class AndState:
    """Phase, working matrix and its decoder, and the thresholds of the next stage."""

    phase: str
    view: View
    A: Any  # (D, K): the paper's A, transposed, in the coordinates of the view
    inside: int | None = None  # how many of these the data use (the others only a given start)
    decoder: Any = None  # (K, D): pseudo-inverse of A, so codes are coordinates @ decoder
    alpha: Any = None  # (D,): thresholds of the next stage
    picks: Any = None  # what the start took so far
    one_way: bool = False  # whether each row is read once
    stride: int = 1  # of the sample of codes that the guarantee looks at
    held: str = ""  # on a stream: the batch in memory is "fresh" or "used"
    measured: int = 0
    level: float = _FIRST_LEVEL
    sigma: Any = None  # (D,): root mean square of each component's negative codes
    trimming: bool = True
    failing: float = 0.0  # share of samples that contradict the model
    stage: int = 0
    change: float = np.inf
    calm: int = 0
    negative: float = np.inf  # N: most negative decoded weight, in units of its component's largest
    pending: Any = None  # sums of a stage that isn't complete
    mass: Any = None  # (D,): sum of each component's codes
    squares: float = 0.0  # sum of squares of the data
    residual: float = np.inf  # sum of squares of what the codes leave over
    kept_share: float = np.inf  # the same over the squares of the data, samples left out not counted
    codes: Any = None  # codes of some samples, before the threshold
    trials: tuple[Any, ...] = ()  # fits at higher floors of the threshold, first to last
    deviance: float | None = None  # of counts: twice the divergence of their likelihood


@record
class Trial:
    """A fit that settled at one floor of the thresholds."""

    A: Any
    excess: float  # negative codes over what noise explains, for the component where that is most
    volume: float  # of the cone: mean log singular value of its rays, cut by a hyperplane


@record
class AndNmf:
    """Parameters of the algorithm; :class:`altmin.AND` explains them."""

    n_components: int
    start: Any = None
    method: str = "spa"
    schedule: tuple[float, float] | None = None
    inner_steps: int | None = None
    step: float | None = None
    noise_factor: float | None = None
    trim: float | None = 1.5
    batch_size: int | None = None
    nonnegative: bool | None = False  # None: where the data are, but for noise
    decoder: str = "threshold"
    online: bool = False
    missing: bool = False
    counts: bool = False

    @property
    def reduction(self) -> Reduction:
        """To the leading D directions, unless the paper's algorithm runs from a given start."""
        free = self.schedule is not None and self.start is not None and not self.missing
        screen = self.schedule is None and self.trim is not None and not self.counts
        rank = None if free else self.n_components
        return Reduction(rank, 2 * self.n_components + 50, screen, self.missing, self.counts)

    def init(self, info: Info, seed: int) -> AndState:
        """Before any data."""
        view = self.reduction.begin(info.n_features, info.sparse, info.dtype)
        stride = -(-(info.n_rows or 0) // max(2000, 20 * self.n_components)) or 1
        A = np.zeros((self.n_components, info.n_features), info.dtype)
        one_way = self.online or not info.replayable
        if one_way and self.reduction.rank is None:
            view = View("ready")
        picks = Picks(None, None, seed=seed)
        return self._after_view(AndState("view", view, A, picks=picks, one_way=one_way, stride=stride))

    def next_round(self, state: AndState) -> Round | Done:
        """The passes that prepare and start; one that only measures; then the stages; the rest."""
        rows, reads = self._rows(state), self._reads(state)
        match state.phase:
            case "view":
                step = self.reduction.round(state.view, rows, state.A.dtype)
                return replace(step, then=partial(self._viewed, step))
            case "picks":
                step = picks_round(state.picks, self.method, rows, self.n_components)
                return replace(step, then=partial(self._picked, step))
            case "anchors":
                return Round(moments_map, rows, name="start", then=self._anchored, **reads)
            case "measure":
                return Round(stage_map, rows, name="measure", then=self._measured, **reads)
            case "stages" if state.calm < _CALM:
                return Round(stage_map, rows, name="stage", iteration=True, then=self._stage, **reads)
            case "clip":
                screened = ("weight",) if state.view.dropped is not None or self.missing else ()
                return Round(
                    nonnegative_map, rows, name="clip", reads=screened, holes=self.missing, then=self._clipped
                )
            case "residual":
                return Round(residual_map, rows, name="residual", then=close, **self._reads(state, "outside"))
            case "wait":
                return Done("end_of_stream", "the rows given so far are used; partial_fit takes more")
        if state.failing > 0.05:
            message = f"the factors stopped changing; {state.failing:.0%} of the samples contradict the model"
            return Done("converged", message)
        return Done("converged")

    def finish(self, state: AndState) -> AndState:
        """Closing passes: non-negative components, and what is left of the data."""
        if self.online:
            return state
        if state.calm < _CALM and state.trials:
            state = self._decide(state)
        if self._clips(state):
            state = _unreduced(state)
            A = np.maximum(state.A, 0.0)
            state = replace(state, A=A, decoder=pseudo_inverse(A), phase="clip")
        elif state.phase != "done":
            state = replace(state, phase="residual")
        return replace(state, phase="done") if state.one_way else state

    def _clips(self, state: AndState) -> bool:
        """Whether negative entries of the components are to go."""
        if self.counts:  # what finishes a fit to counts sees to that
            return False
        if self.nonnegative is not None:
            return self.nonnegative
        view = state.view
        noisy = not (view.noiseless or state.one_way or self.missing) and self.schedule is None
        return noisy and view.negative_share <= 0.01 and bool(np.any(lift(state) < 0))

    def measure(self, state: AndState) -> Mapping[str, float]:
        """How much the factors moved, the largest threshold, the negative part of the codes."""
        return {
            "change": state.change,
            "threshold": float(np.max(state.alpha)),
            "negative": state.negative,
            "failing": state.failing,
        }

    def _rows(self, state: AndState) -> Rows:
        if state.one_way and not self.online:
            if state.held == "fresh":
                return Same()
            if self.batch_size is None:
                return All()  # refused by the engine, with advice
            return Next(self.batch_size, keep=True)
        if state.phase == "stages" and self.batch_size is not None and not self.online:
            return Next(self.batch_size, wrap=True)
        return All()

    def _reads(self, state: AndState, *more: str) -> dict[str, Any]:
        """Where a round finds the samples: in columns once there are coordinates."""
        if state.view.columns:
            return {"reads": ("coordinates", "weight", *more), "needs_data": False}
        return {"reads": ("weight",), "holes": True} if self.missing else {}

    def _viewed(self, step: Round, state: AndState, stats: Stats) -> AndState:
        """After a pass that prepares the view; a stream's rows are held for the passes that follow."""
        return self._after_view(replace(state, view=step.then(state.view, stats), held="fresh"))

    def _after_view(self, state: AndState) -> AndState:
        """Once the view is ready: the given start in its coordinates, or rounds that look for one."""
        view = state.view
        if view.phase != "ready":
            return state
        if self.start is None:
            if self.method == "anchor":
                return replace(state, phase="anchors")
            picks = begin_picks(view, self.method, state.picks.seed)
            return replace(state, phase="picks", picks=picks)
        start = np.asarray(self.start, dtype=state.A.dtype)
        if view.scale is not None:
            start = start * view.scale
        if view.basis is None:
            return self._begin(state, start)
        if self.schedule is not None:  # exact: A may leave the span of the data, so the basis grows by A's
            outside = start - (start @ view.basis) @ view.basis.T
            outside -= (outside @ view.basis) @ view.basis.T
            _, s, Vt = np.linalg.svd(outside, full_matrices=False)
            new = Vt[s > 1e-14 * np.linalg.norm(start)].T
            wider = replace(view, basis=np.hstack([view.basis, new]))
            state = replace(state, view=wider, inside=view.basis.shape[1])
        return self._begin(state, start @ state.view.basis)

    def _picked(self, step: Round, state: AndState, stats: Stats) -> AndState:
        picks = step.then(state.picks, stats)
        state = replace(state, picks=picks)
        return self._begin(state, picks.picked) if picks.done else state

    def _anchored(self, state: AndState, stats: Stats) -> AndState:
        if not state.view.nonnegative:
            raise ValueError("init='anchor': X has negative entries; use init='spa'")
        return self._begin(state, anchor_words(state.view, stats["moments"], self.n_components))

    def _begin(self, state: AndState, A: NDArray[Any]) -> AndState:
        """From a start to the first stage; components that the data have no room for stay 0."""
        full = np.zeros((self.n_components, A.shape[1]), state.A.dtype)
        full[: len(A)] = A
        state = replace(state, A=full, picks=None)
        inexact = self.schedule is not None and not state.view.exact and not self.missing
        if inexact or state.one_way:
            state = _unreduced(state)
        if self.schedule is None:
            norms = np.linalg.norm(state.A, axis=1)
            state = replace(state, A=state.A / _positive(norms)[:, None])
            state = replace(state, phase="measure", alpha=np.full(self.n_components, np.inf))
        else:
            state = replace(state, phase="stages", alpha=np.full(self.n_components, self.schedule[0]))
        return replace(state, decoder=self._decoder(state))

    def _decoder(self, state: AndState) -> NDArray[Any]:
        return pseudo_inverse(state.A)[: state.inside]

    def _measured(self, state: AndState, stats: Stats) -> AndState:
        """Scale the components so that large codes are 1: by the largest, then by the .999 quantile."""
        state = replace(state, measured=state.measured + 1)
        if state.measured == 1:
            return _rescale(state, _positive(stats["largest"].value))
        scale = upper_quantile(stats["counts"], stats["totals"][0], stats["largest"].value)
        state = _rescale(state, scale)
        if np.any(scale <= 0.5) and state.measured < _MEASURES:
            return state
        state = replace(state, sigma=_rms_negative(stats) / scale, phase="stages")
        return replace(state, alpha=self._thresholds(state))

    def _floor(self, state: AndState) -> float:
        """The thresholds stay above this many root mean squares of the negative codes."""
        return _FLOORS[len(state.trials)] if self.noise_factor is None else self.noise_factor

    def _thresholds(self, state: AndState) -> NDArray[Any]:
        floor = 0.0 if state.view.noiseless else self._floor(state) * state.sigma
        return np.minimum(_HIGHEST, np.maximum(state.level, floor * np.ones(self.n_components)))

    def _stage(self, state: AndState, stats: Stats) -> AndState:
        """Algorithm 1, lines 3-8, for all samples at once."""
        if state.pending is not None:
            stats = combine(state.pending, stats)
        if self.online and self.batch_size is not None and stats["totals"][0] < self.batch_size:
            return replace(state, pending=stats, phase="wait")
        G, B = stats["G"], stats["B"]
        B = np.pad(B, ((0, 0), (0, state.A.shape[1] - B.shape[1])))
        A = gradient_steps(state.A, G, B, self.inner_steps, self.step)
        if state.trials:  # near the end the cone creeps: go further
            A = state.A + _FURTHER * (A - state.A)
        moved = np.linalg.norm(A - state.A, axis=1) / _positive(np.linalg.norm(state.A, axis=1))
        total, failed = stats["totals"]
        after = replace(
            state,
            A=A,
            held="used",
            pending=None,
            stage=state.stage + 1,
            change=float(np.max(moved)),
            mass=stats["sums"][2],
            failing=float(failed / max(total, 1.0)),
        )
        if state.one_way:
            left = stats["squares"] - 2 * np.sum(A * B) + np.sum(A * (G @ A))
            after = replace(after, squares=stats["squares"], residual=float(max(left, 0.0)))
        after = self._lower(after, stats) if self.schedule is None else self._scheduled(after, stats)
        after = replace(after, decoder=self._decoder(after))
        if self.online:
            return replace(after, phase="wait")
        if after.calm >= _CALM:
            return self._settled(after)
        # The cone has grown too far already: no need to see where it ends.
        outgrown = len(after.trials) == 2 and not _hard_edge(*after.trials, self._trial(after))
        return self._decide(after) if outgrown else after

    def _settled(self, state: AndState) -> AndState:
        """The fit is calm. Where negative codes exceed what noise explains, the cone cuts into the data.

        Either the floor of the thresholds, which such codes hold up, keeps the cone too small; or the model
        doesn't hold, as in real scenes, and the floor protects from outliers. So the floor is lowered
        twice. The data have a *hard edge* if the second step enlarges the cone less than the first did: the
        cone then has arrived. Otherwise it is outliers that it grows towards, and the first fit stands.
        """
        settled = (*state.trials, self._trial(state))
        if settled[0].excess <= _EXPLAINED:
            return state
        if len(settled) < len(_FLOORS):
            return replace(state, trials=settled, calm=0)
        return self._decide(state)

    def _decide(self, state: AndState) -> AndState:
        """End the trials, the present fit being the last one."""
        chosen = first = state.trials[0]
        if len(state.trials) < len(_FLOORS) - 1:
            return replace(state, A=first.A, decoder=pseudo_inverse(first.A), calm=_CALM)
        second, third = state.trials[1], self._trial(state)
        if _hard_edge(first, second, third):
            chosen = second if second.excess <= _AT_NOISE else third
        state = replace(state, A=chosen.A, trials=(first, second, third), calm=_CALM)
        return replace(state, decoder=self._decoder(state))

    def _trial(self, state: AndState) -> Trial:
        """Excess and volume of this fit; an excess of 0 where the noise is unknown or the floor is given."""
        noise = state.view.noise * np.linalg.norm(state.decoder, axis=0)
        known = self.noise_factor is None and self.schedule is None and np.all(noise > 0)
        if state.view.noiseless or not known or state.one_way:
            return Trial(None, 0.0, 0.0)
        heights = state.A @ state.view.mean
        volume = np.nan
        if np.all(heights > 0):
            volume = float(np.mean(np.log(np.linalg.svd(state.A / heights[:, None], compute_uv=False))))
        return Trial(state.A, float(np.max(state.sigma / noise)), volume)

    def _clipped(self, state: AndState, stats: Stats) -> AndState:
        """Non-negative components that fit the codes best; refitted once."""
        A = refitted(stats, self.missing).astype(state.A.dtype)
        return replace(state, phase="residual", A=A, decoder=pseudo_inverse(A))

    def _scheduled(self, state: AndState, stats: Stats) -> AndState:
        """The paper's thresholds, start / decay^stage."""
        largest, smallest = stats["largest"].value, stats["smallest"].value
        negative = float(max(-np.min(smallest / _positive(largest)), 0.0))
        start, decay = self.schedule or (np.inf, 1.0)
        alpha = np.full(self.n_components, start / decay**state.stage)
        return replace(state, alpha=alpha, negative=negative)

    def _lower(self, state: AndState, stats: Stats) -> AndState:
        """Automatic thresholds for the next stage, and whether the last ones changed anything still."""
        scale = upper_quantile(stats["counts"], stats["totals"][0], stats["largest"].value)
        sigma = _rms_negative(stats) / scale
        negative = float(max(-np.min(stats["smallest"].value / scale), 0.0))
        tiny = 5e3 * np.finfo(np.float64).eps if state.A.dtype == np.float64 else 1e-5
        rms = float(np.sqrt(np.mean(sigma**2)))
        at_noise = not state.view.noiseless and state.level < self._floor(state) * float(np.median(sigma))
        settled = state.change < max(tiny, 0.02 * rms if at_noise else 0.0)
        level = max(state.level / _FAST, min(state.level / _SLOW, negative))
        if state.view.noiseless:
            level = max(level, negative / 3)
        state = replace(
            _rescale(state, scale),
            sigma=sigma,
            negative=negative,
            trimming=state.failing <= 0.1,
            level=min(level, state.level),
            calm=state.calm + 1 if settled else 0,
        )
        return replace(state, alpha=self._thresholds(state))


def stage_map(algorithm: AndNmf, state: AndState, block: Block) -> Stats:
    """Decode a block and sum up G = Z'Z and B = Z'Y; measure the codes before the threshold."""
    S, w = coordinates(state.view, block), weights(block)
    Z = times(S, state.decoder)
    automatic = algorithm.schedule is None
    bound = np.sqrt(_FIRST_LEVEL * state.alpha) if state.view.noiseless else state.alpha
    trimming = automatic and algorithm.reduction.screen and len(state.trials) < len(_FLOORS) - 1
    cut = -(algorithm.trim or 0.0) * bound if trimming else np.full(len(bound), -np.inf)
    stats: dict[str, Any] = sweep(
        Z, w, state.alpha, cut, trimming=state.trimming and trimming, counting=automatic
    )
    weighted = state.view.weighted or (not state.view.columns and block.weight is not None)
    Zw = Z * w.astype(Z.dtype)[:, None] if weighted else Z
    stats |= {"largest": Max(stats["largest"]), "smallest": Min(stats["smallest"])}
    stats |= {"G": Zw.T @ Z, "B": transpose_times(Zw, S)}
    return stats | {"squares": float(w @ row_norms2(S))} if state.one_way else stats


def lift(state: AndState) -> NDArray[Any]:
    """The components in the data's own coordinates."""
    A, scale = _unreduced(state).A, state.view.scale
    return A if scale is None else A / scale


def _unreduced(state: AndState) -> AndState:
    """The state in as many coordinates as there are features, but for its decoder."""
    view = state.view
    if view.basis is None:
        return state
    A = np.ascontiguousarray(state.A @ view.basis.T)
    return replace(state, view=replace(view, basis=None, columns=False), A=A, inside=None)


def _hard_edge(first: Trial, second: Trial, third: Trial) -> bool:
    """Whether the cone grows less from the second floor to the third than from the first to the second."""
    return third.volume - second.volume < _GROWTH * (second.volume - first.volume)


def edge(state: AndState) -> str:
    """What the trials at lower floors of the thresholds said, in a sentence."""
    if len(state.trials) < len(_FLOORS):
        return ""
    excess = f"negative codes exceed the noise {state.trials[0].excess:.1f} times"
    if _hard_edge(*state.trials):
        return f"{excess}, and the samples end at a hard edge: thresholds were lowered to it"
    return f"{excess}, but the samples end at no hard edge: some contradict the model"


def left_out(state: AndState) -> str:
    """What the screen left out, in a sentence."""
    dropped = state.view.dropped
    if dropped is None or not len(dropped):
        return ""
    return f"{len(dropped)} sample(s) with {state.view.lost:.1%} of the squares of the data were left out"


def restated(state: AndState, A: NDArray[Any], decoder: NDArray[Any] | None = None) -> AndState:
    """The state with other components, in the data's own coordinates; with a decoder it can close."""
    view = replace(state.view, basis=None, columns=False, scale=None)
    return replace(state, view=view, A=A, decoder=decoder, phase="stages", calm=_CALM, trials=(), inside=None)


def _rescale(state: AndState, scale: NDArray[Any]) -> AndState:
    """Multiply the components by ``scale``, so that their codes are divided by it."""
    scale = scale.astype(state.A.dtype)
    return replace(state, A=state.A * scale[:, None], decoder=state.decoder / scale)


def _rms_negative(stats: Stats) -> NDArray[Any]:
    squares, number, _ = stats["sums"]
    return np.sqrt(squares / np.maximum(number, 1.0))


def _positive(values: NDArray[Any]) -> NDArray[Any]:
    """The values, with 1 in place of those that cannot be divided by."""
    return np.where(values > 0, values, 1.0)
