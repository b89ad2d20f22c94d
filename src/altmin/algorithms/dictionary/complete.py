r"""Complete dictionary learning (Liang, Zhang, Fattahi and Zhang 2022, Algorithm 2, made exact).

.. math:: Y = X A, \qquad A \in \mathbb{R}^{k \times n} \text{ of full rank}, \quad X \text{ sparse}

Rows are samples and atoms; the paper writes Y = A X with columns and k = n. The preconditioner P makes
V = Y P white, so its dictionary is nearly orthogonal, and starts on V find it (`rotations`).

Where we differ from the paper, and why:

- P A* is not orthogonal at finite p, so Algorithm 2 stops at a statistical error of order 1/sqrt(p). A
  least-squares polish removes it: :math:`X = \mathrm{HT}(Y A^{-1})`, :math:`A = (X^\top X)^{-1} X^\top Y`
  contracts the error by about theta in each pass, down to rounding (docs/theory, with a proof).
- theta sigma^2 need not be known: whiten to unit variance, take thresholds relative to the kept codes.
- Any whitening serves as preconditioner; we take the principal axes rather than Cholesky, since fewer
  atoms than features then need nothing more than the leading axes.
- Algorithm 4's descent is one start of a portfolio; the candidate with least mean |z| wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.dictionary.block_sums import (
    WARM_END,
    WORST_CONDITION,
    Frame,
    code_map,
    covariance_map,
    evidence_round,
    extent_map,
    power_of_two,
    pursuit_map,
    residual_map,
    whitening,
    with_residual,
)
from altmin.algorithms.dictionary.mixed_pairs import ratio_map, support_map, suspicious_pairs, unmixed
from altmin.algorithms.dictionary.polish import (
    at,
    is_exact,
    is_loud,
    newton_step,
    next_thresholds,
    polish,
    pursue,
    refine,
    white,
)
from altmin.algorithms.dictionary.rotations import (
    PORTFOLIO,
    agree,
    contrast_map,
    distinct_directions,
    mean_absolute,
    random_directions,
    random_rotation,
    spread_map,
    unit_rows,
)
from altmin.contract import All, Done, Info, Next, Round, Rows, Stats, Take, record
from altmin.kernels.polar import polar

_START_PASSES, _BANK_PASSES = 100, 40
_START_TOL = 1e-4  # on 1 - |cos| of the rows of two rotations


@record
class Candidate:
    """A polished start: its decoder, thresholds, score (mean |z|, less is better), noise, exactness."""

    W: Any
    thresholds: Any
    score: float
    noise: float
    exact: bool


@record
class Progress:
    """Passes of the current phase, the last move of the decoder, the least one, and passes since then."""

    passes: int = 0
    change: float = 1.0
    least_change: float = np.inf
    waited: int = 0

    def after(self, change: float) -> Progress:
        """The progress after one more pass, which moved the decoder by ``change``."""
        waited = 0 if change < 0.9 * self.least_change else self.waited + 1
        return Progress(self.passes + 1, change, min(change, self.least_change), waited)


@record
class Search:
    """Where the portfolio of starts is, and the best candidate so far."""

    start: int = 0
    kind: str = ""
    tried: int = 0
    agreeing: int = 0
    rotation: Any = None  # (k, k): W of the current start, before its polish
    suspects: Any = None  # (m, 2): pairs of atoms that may be mixed up
    repairs: int = 0
    best: Candidate | None = None


@record
class CompleteState:
    """Phase, decoder, what the last pass measured, and where the search is (scaled units)."""

    phase: str
    decoder: Any  # (n, k): P W' / scale in the data's dtype, so codes are X @ decoder
    seed: int
    scale: float = 1.0
    n_rows: int = 0
    frame: Frame = Frame()
    search: Search = Search()
    progress: Progress = Progress()
    W: Any = None  # (k, k): codes are V @ W.T
    atoms: Any = None  # (k, n): inverse of the decoder
    thresholds: Any = None  # (k,)
    noise_gain: Any = None  # (k,): ||P w_i||, by which noise of the data enters a code
    noise: float = 0.0
    rows: int = 1  # of the last polish pass
    counts: Any = None
    squares: Any = None
    converged: bool = False
    residual: float = np.inf
    total: float = 0.0
    sample: Any = None  # (m, k): codes of some rows, for the guarantee


@record
class Complete:
    """Parameters of the algorithm; :class:`altmin.CompleteDictionaryLearning` explains them."""

    n_components: int
    start: Any = None
    threshold: float | None = None
    batch_size: int | None = None
    n_restarts: int = 2
    start_rows: int = 20_000
    portfolio: tuple[str, ...] = PORTFOLIO

    least_squares = True

    def init(self, info: Info, seed: int) -> CompleteState:
        """Nothing is known before the scale of the data is."""
        return CompleteState("extent", np.zeros((info.n_features, self.n_components), info.dtype), seed)

    def next_round(self, state: CompleteState) -> Round | Done:
        """Scale, second moments, then starts and their polish, and at the end the residual."""
        sample = self._sample(state)
        match state.phase:
            case "extent":
                return Round(extent_map, name="scale", then=self._scaled)
            case "covariance":
                return Round(covariance_map, name="whiten", then=self._whitened)
            case "contrast":
                return Round(contrast_map, sample, name="start", iteration=True, then=self._contrasted)
            case "bank":
                return Round(contrast_map, sample, name="start", iteration=True, then=self._searched)
            case "pick":
                return Round(spread_map, sample, name="start", then=self._picked)
            case "descent":
                return Round(code_map, sample, name="descent", iteration=True, then=self._descended)
            case "polish":
                return Round(code_map, self._batch(), name="polish", iteration=True, then=self._polished)
            case "pairs":
                return Round(support_map, sample, name="pairs", then=self._suspected)
            case "ratios":
                return Round(ratio_map, sample, name="pairs", then=self._parted)
            case "judge":
                return Round(spread_map, name="judge", then=self._judged)
            case "pursuit":
                return Round(pursuit_map, self._batch(), name="pursuit", iteration=True, then=pursue)
            case "residual":
                return Round(residual_map, name="residual", then=self._closed)
            case "evidence":
                return evidence_round(state)
        if state.converged:
            return Done("converged")
        return Done(
            "stalled", "no start led to a dictionary under which the codes are sparse and agree with another"
        )

    def finish(self, state: CompleteState) -> CompleteState:
        """Take the best candidate, and close with one pass for its codes and residual."""
        best = state.search.best
        if best is not None:
            state = replace(at(state, best.W), thresholds=best.thresholds, noise=best.noise)
        elif state.W is None or len(state.W) != self.n_components:
            raise ValueError("max_iter is too small: it ended before the first start was complete")
        elif state.thresholds is None:
            state = replace(state, thresholds=np.full(self.n_components, WARM_END))
        atoms = np.linalg.solve(state.W.T, state.frame.unwhiten)
        return replace(state, phase="residual", atoms=atoms)

    def measure(self, state: CompleteState) -> Mapping[str, float]:
        """Move of the decoder, kept share, estimated noise, and which start this is."""
        polishing = state.phase in ("polish", "pairs", "judge", "pursuit", "accepted")
        counted = polishing and state.counts is not None
        return {
            "change": state.progress.change if polishing else max(state.progress.change, 1.0),
            "density": float(np.mean(state.counts)) / state.rows if counted else 1.0,
            "noise": state.noise * state.scale,
            "start": float(state.search.tried),
        }

    # --- rows -------------------------------------------------------------------------------------------

    def _sample(self, state: CompleteState) -> Rows:
        """Starts need no more than a sample: the polish makes them exact on all rows."""
        enough = max(self.start_rows, 200 * self.n_components)
        if state.n_rows <= enough:
            return All()
        return Take(_sampled(state.seed, state.n_rows, enough))

    def _batch(self) -> Rows:
        return All() if self.batch_size is None else Next(self.batch_size, wrap=True)

    # --- starts -----------------------------------------------------------------------------------------

    def _scaled(self, state: CompleteState, stats: Stats) -> CompleteState:
        scale = power_of_two(stats["largest"].value)
        return replace(state, phase="covariance", scale=scale, n_rows=stats["n_rows"])

    def _whitened(self, state: CompleteState, stats: Stats) -> CompleteState:
        frame = whitening(stats["covariance"] / state.n_rows, self.n_components)
        return self._begin(replace(state, frame=frame))

    def _begin(self, state: CompleteState) -> CompleteState:
        """Set up the current start of the portfolio, or the user's own."""
        n, search = self.n_components, state.search
        if self.start is not None:
            atoms = self.start @ state.frame.whiten
            W = np.linalg.inv(unit_rows(atoms, atoms)).T
            return self._to_polish(replace(state, search=replace(search, kind="given", tried=1)), W)
        kind, seed = self.portfolio[search.start], [state.seed, search.start]
        name, _, number = kind.partition(" ")
        search = replace(search, kind=kind, tried=search.tried + 1, repairs=0)
        state = replace(state, search=search, progress=Progress())
        if name == "bank":
            return at(replace(state, phase="bank"), random_directions(int(number) * n, n, seed))
        if name == "descent":
            state = replace(state, phase="descent", thresholds=np.full(n, 5.0))
            return at(state, random_rotation(n, seed))
        return at(replace(state, phase="contrast"), random_rotation(n, seed))

    def _contrasted(self, state: CompleteState, stats: Stats) -> CompleteState:
        """A symmetric start goes on until its rotation stands still."""
        W = polar(newton_step(state, stats), toward=state.W)
        return self._turned(state, W, _START_PASSES)

    def _turned(self, state: CompleteState, W: NDArray[Any], passes: int) -> CompleteState:
        turned = float(np.max(1 - np.abs(np.einsum("ij,ij->i", W, state.W))))
        state = at(replace(state, progress=state.progress.after(turned)), W)
        if turned > _START_TOL and state.progress.passes < passes:
            return state
        search = state.search
        if search.best is not None and agree(W, search.best.W):
            return self._next(replace(state, search=replace(search, agreeing=search.agreeing + 1)))
        return self._to_polish(state, W)

    def _searched(self, state: CompleteState, stats: Stats) -> CompleteState:
        """The directions of a bank, each on its own."""
        W = unit_rows(newton_step(state, stats), state.W)
        passes = state.progress.passes + 1
        state = at(replace(state, progress=replace(state.progress, passes=passes)), W)
        return state if passes < _BANK_PASSES else replace(state, phase="pick")

    def _picked(self, state: CompleteState, stats: Stats) -> CompleteState:
        """The best distinct directions of a bank begin a symmetric start."""
        search = state.search
        seed = [state.seed, search.start, 1]
        W = distinct_directions(state.W, mean_absolute(stats), self.n_components, seed)
        progress = replace(state.progress, passes=0)
        state = replace(state, phase="contrast", search=replace(search, kind="huber 0.5"), progress=progress)
        return at(state, W)

    def _descended(self, state: CompleteState, stats: Stats) -> CompleteState:
        """Algorithm 4 on whitened data."""
        W = polar(white(state, stats), toward=state.W)
        zeta = float(state.thresholds[0])
        rms = float(np.sqrt(stats["squares"].sum() / max(stats["counts"].sum(), 1.0)))
        if 0 < zeta <= WARM_END * rms:
            return self._turned(state, W, 1)
        return at(replace(state, thresholds=np.full(len(W), 0.98 * zeta)), W)

    # --- polish and candidates --------------------------------------------------------------------------

    def _to_polish(self, state: CompleteState, W: NDArray[Any]) -> CompleteState:
        progress = Progress(change=state.progress.change)
        state = replace(state, phase="polish", progress=progress, search=replace(state.search, rotation=W))
        state = at(state, W)
        if self.threshold is not None:
            return replace(state, thresholds=next_thresholds(state, W, self.threshold))
        # Codes have unit variance here, so nonzeros have rms 1/sqrt(theta): a first guess above that of
        # dense codes, corrected after one pass.
        return replace(state, thresholds=np.full(self.n_components, 0.8))

    def _polished(self, state: CompleteState, stats: Stats) -> CompleteState:
        state = polish(state, stats, self.threshold)
        return self._judge(state, np.inf) if state.phase == "failed" else state

    def _suspected(self, state: CompleteState, stats: Stats) -> CompleteState:
        suspects = suspicious_pairs(stats["joint"], stats["n_rows"])
        search = replace(state.search, suspects=suspects)
        return replace(state, phase="ratios" if len(suspects) else "judge", search=search)

    def _parted(self, state: CompleteState, stats: Stats) -> CompleteState:
        """Polish again if pairs of atoms were taken apart."""
        search = state.search
        W = unmixed(state.W, search.suspects, stats["codes"].value)
        if W is state.W or np.linalg.cond(W) > WORST_CONDITION:
            return replace(state, phase="judge")
        state = replace(state, search=replace(search, repairs=search.repairs + 1))
        return self._to_polish(state, unit_rows(W, state.W))

    def _judged(self, state: CompleteState, stats: Stats) -> CompleteState:
        return self._judge(state, float(np.mean(mean_absolute(stats))))

    def _judge(self, state: CompleteState, score: float) -> CompleteState:
        """Keep the candidate if it is the best; go on to the next start unless enough of them agree."""
        search = state.search
        again = search.best is not None and agree(state.W, search.best.W, 0.99)
        if search.best is None or score < search.best.score:
            exact = np.isfinite(score) and is_exact(state)
            best = Candidate(state.W, state.thresholds, score, state.noise, exact)
            search = replace(search, best=best, agreeing=search.agreeing if again else 0)
            again = True
        search = replace(search, agreeing=search.agreeing + again)
        return self._next(replace(state, search=search))

    def _next(self, state: CompleteState) -> CompleteState:
        search = state.search
        exact = search.best is not None and search.best.exact
        enough = search.best is not None and search.agreeing >= self.n_restarts
        last = self.start is not None or search.start + 1 >= len(self.portfolio)
        # the banks are for data on which nothing else works
        if enough or last or (exact and self.portfolio[search.start + 1].startswith("bank")):
            return self._accept(replace(state, converged=enough or exact))
        return self._begin(replace(state, search=replace(search, start=search.start + 1)))

    def _accept(self, state: CompleteState) -> CompleteState:
        """The best candidate is final, but for the pursuit where noise in its codes is large."""
        best = state.search.best
        if best is None:
            return replace(state, phase="accepted")
        state = at(replace(state, thresholds=best.thresholds, noise=best.noise), best.W)
        loud = self.threshold is None and is_loud(state)
        atoms = np.linalg.solve(best.W.T, state.frame.unwhiten)
        progress = replace(state.progress, passes=0)
        return replace(state, atoms=atoms, progress=progress, phase="pursuit" if loud else "accepted")

    def _closed(self, state: CompleteState, stats: Stats) -> CompleteState:
        return with_residual(refine(state, stats), stats)


@lru_cache(maxsize=2)
def _sampled(seed: int, n_rows: int, n: int) -> NDArray[np.intp]:
    """Rows of the starts; kept, as every round of a start asks for them."""
    return np.unique(np.random.default_rng([seed, 7]).integers(0, n_rows, n))
