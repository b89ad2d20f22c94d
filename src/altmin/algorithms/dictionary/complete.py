r"""Complete dictionary learning (Liang, Zhang, Fattahi and Zhang 2022, Algorithm 2, made exact).

.. math:: Y = X A, \qquad A \in \mathbb{R}^{k \times n} \text{ of full rank}, \quad X \text{ sparse}

Rows are samples and atoms; the paper writes Y = A X with columns and k = n. The preconditioner P makes
V = Y P white, so its dictionary is nearly orthogonal, and starts on V find it (`starts`).

Where we differ from the paper, and why:

- P A* is not orthogonal at finite p, so Algorithm 2 stops at a statistical error of order 1/sqrt(p). A
  least-squares polish removes it: :math:`X = \mathrm{HT}(Y A^{-1})`, :math:`A = (X^\top X)^{-1} X^\top Y`
  contracts the error by about theta in each pass, down to rounding (docs/theory, with a proof).
- theta sigma^2 need not be known: whiten to unit variance, take thresholds relative to the kept codes.
- Any whitening serves as preconditioner; we take the principal axes rather than Cholesky, since fewer
  atoms than features then need nothing more than the leading axes.
- Algorithm 4's descent is one start of a portfolio. Where codes vanish exactly the candidate with least
  mean |z| wins; where there is noise, a Bernoulli-Gauss model refines each candidate, starts without
  whitening join in, and the largest evidence wins (`posterior`).
- A mean is not part of the model: where the data have one, an intercept is found with the atoms.
- With orthogonal atoms the same search serves, and the update is a polar factor instead of least squares.
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
    are_uneven,
    code_map,
    evidence_round,
    extent_map,
    has_mean,
    moments_map,
    norms_map,
    power_of_two,
    residual_map,
    sample_map,
    sketch_map,
    whitening,
    with_residual,
)
from altmin.algorithms.dictionary.merging import can_merge, is_wanted, merged, pool_map, pooled
from altmin.algorithms.dictionary.mixed_pairs import (
    fewest_zeros,
    ratio_map,
    support_map,
    suspicious_pairs,
    unmixed,
)
from altmin.algorithms.dictionary.polish import (
    at,
    first_thresholds,
    half_sample_mode,
    is_exact,
    newton_step,
    polish,
    polish_map,
    refine,
    white,
)
from altmin.algorithms.dictionary.posterior import (
    NOISELESS,
    Prior,
    at_atoms,
    first_prior,
    has_vanished,
    posterior_map,
    refit,
    screen_map,
)
from altmin.algorithms.dictionary.starts import (
    CLEAR,
    PORTFOLIO,
    TIED,
    Candidate,
    Progress,
    Search,
    agree,
    contrast_map,
    distinct_directions,
    first_atoms,
    l1_map,
    l1_step,
    mean_absolute,
    nearest_rotation,
    random_directions,
    random_rotation,
    spread_map,
    unit_rows,
)
from altmin.contract import All, Done, Info, Round, Rows, Stats, Take, record
from altmin.kernels.polar import polar
from altmin.kernels.thresholds import histogram_quantile

_START_PASSES, _BANK_PASSES = 100, 40
_START_TOL = 1e-3  # on 1 - |cos| of the rows of two rotations
_REFINE_PASSES = 40  # of expectation maximisation from a start
_SETTLE_PASSES = 100  # of the best candidate
_SKETCH_PASSES = 3
_BEATEN = 1.0  # nats per sample by which a settled refinement may fall behind before it is given up
_CLEAR = 2  # samples, times the atoms, on which a code must vanish: any direction is orthogonal to k - 1


@record
class CompleteState:
    """Phase, decoder, what the last pass measured, and where the search is (scaled units)."""

    phase: str
    decoder: Any  # (n, k): P W' / scale in the data's dtype, so codes are X @ decoder
    seed: int
    scale: float = 1.0
    n_rows: int = 0
    centre: Any = None  # (n,): the intercept, None where there is none
    levelled: bool = False  # whether large rows are shrunk to one size
    level: float = 0.0  # which is this
    screened: bool = False  # whether the column `inlier` says which rows count
    outliers: Any = None  # numbers of the rows that don't
    frame: Frame = Frame()
    search: Search = Search()
    progress: Progress = Progress()
    W: Any = None  # (k, k): codes are V @ W.T
    atoms: Any = None  # (k, n): inverse of the decoder
    thresholds: Any = None  # (k,)
    noise_gain: Any = None  # (k,): ||P w_i||, by which noise of the data enters a code
    noise: float = 0.0
    prior: Any = None  # Prior, once a refinement has begun
    secants: Any = None  # (m, 2, k, k): W before the last passes of the polish, and how far those moved it
    sums: Any = None  # L1Sums of a start with a penalty
    rows: int = 1  # of the last polish pass
    counts: Any = None
    squares: Any = None
    converged: bool = False
    residual: float = np.inf
    total: float = 0.0
    sample: Any = None  # (m, k): codes of some rows, for the guarantee


# A phase is a map, the rows it sees, its name, whether it is an iteration, and what follows from its sums.
_PHASES: dict[str, tuple[Any, str, str, bool, str]] = {
    "extent": (extent_map, "all", "scale", False, "_scaled"),
    "sketch": (sketch_map, "all", "whiten", False, "_sketched"),
    "covariance": (moments_map, "all", "whiten", False, "_whitened"),
    "norms": (norms_map, "all", "scale", False, "_levelled"),
    "contrast": (contrast_map, "sample", "start", True, "_contrasted"),
    "bank": (contrast_map, "sample", "start", True, "_searched"),
    "pick": (spread_map, "sample", "start", False, "_picked"),
    "descent": (code_map, "sample", "descent", True, "_descended"),
    "l1": (l1_map, "few", "start", False, "_penalised"),
    "zeros": (sample_map, "few", "zeros", False, "_located"),
    "polish": (polish_map, "batch", "polish", True, "_polished"),
    "pairs": (support_map, "sample", "pairs", False, "_suspected"),
    "ratios": (ratio_map, "sample", "pairs", False, "_parted"),
    "judge": (spread_map, "all", "judge", False, "_judged"),
    "refine": (posterior_map, "few", "refine", True, "_refined"),
    "merge": (pool_map, "few", "merge", False, "_merged"),
    "screen": (screen_map, "all", "screen", False, "_screened"),
    "settle": (posterior_map, "all", "refine", True, "_settled"),
    "residual": (residual_map, "all", "residual", False, "_closed"),
}


@record
class Complete:
    """Parameters of the algorithm; :class:`altmin.CompleteDictionaryLearning` explains them."""

    n_components: int | None = None
    start: Any = None
    threshold: float | None = None
    batch_size: int | None = None
    n_restarts: int = 2
    start_rows: int = 20_000
    portfolio: tuple[str, ...] = PORTFOLIO
    orthogonal: bool = False
    intercept: bool | None = False

    least_squares = True

    def init(self, info: Info, seed: int) -> CompleteState:
        """Nothing is known before the scale of the data is."""
        return CompleteState("extent", np.zeros((info.n_features, 1), info.dtype), seed)

    def next_round(self, state: CompleteState) -> Round | Done:
        """Scale, second moments, then starts with their polish or refinement, and at the end the residual."""
        if state.phase in _PHASES:
            mapped, rows, name, iteration, then = _PHASES[state.phase]
            step = Round(mapped, self._rows(state, rows), name, iteration, then=getattr(self, then))
            step = replace(step, writes=("inlier",)) if state.phase == "screen" else step
            return replace(step, reads=("inlier",)) if state.screened else step
        if state.phase == "evidence":
            step = evidence_round(state)
            return replace(step, reads=("inlier",)) if state.screened else step
        if state.converged:
            return Done("converged")
        return Done(
            "stalled", "no start led to a dictionary under which the codes are sparse and agree with another"
        )

    def finish(self, state: CompleteState) -> CompleteState:
        """Take the best candidate, and close with one pass for its codes and residual."""
        best = state.search.best
        if best is not None:
            state = self._at_candidate(state, best)
        elif state.W is None or len(state.W) != state.frame.rank:
            raise ValueError("max_iter is too small: it ended before the first start was complete")
        else:
            if state.thresholds is None:
                state = replace(state, thresholds=np.full(state.frame.rank, WARM_END))
            state = replace(state, atoms=np.linalg.solve(state.W.T, state.frame.unwhiten))
        return replace(state, phase="residual")

    def measure(self, state: CompleteState) -> Mapping[str, float]:
        """Move of the decoder, kept share, estimated noise, and which start this is."""
        polishing = state.phase not in ("contrast", "bank", "pick", "descent", "zeros", "l1")
        counted = polishing and state.counts is not None
        return {
            "change": state.progress.change if polishing else max(state.progress.change, 1.0),
            "density": float(np.mean(state.counts)) / state.rows if counted else 1.0,
            "noise": state.noise * state.scale,
            "start": float(state.search.tried),
        }

    def _rows(self, state: CompleteState, which: str) -> Rows:
        """All rows, a batch of the polish, a sample for starts (the polish makes them exact), or a few."""
        match which:
            case "batch" if self.batch_size is not None and self.batch_size < state.n_rows:
                rng = np.random.default_rng([state.seed, 3, state.search.tried, state.progress.passes])
                return Take(np.sort(rng.choice(state.n_rows, self.batch_size, replace=False)))
            case "sample":
                enough = max(self.start_rows, 200 * state.frame.rank)
            case "few":
                enough = max(4000, 50 * state.frame.rank)
            case _:
                return All()
        return All() if state.n_rows <= enough else Take(_sampled(state.seed, state.n_rows, enough))

    # --- the data's frame -------------------------------------------------------------------------------

    def _scaled(self, state: CompleteState, stats: Stats) -> CompleteState:
        scale, n = power_of_two(stats["largest"].value), len(state.decoder)
        state = replace(state, phase="covariance", scale=scale, n_rows=stats["n_rows"])
        if self.n_components is None or n < 500 or n < 8 * self.n_components:
            return state
        # few atoms, many features: second moments of a subspace that holds the data's are enough
        axes = random_directions(self.n_components + 20, n, [state.seed, 5]).T
        return replace(state, phase="sketch", frame=Frame(axes=np.linalg.qr(axes)[0]))

    def _sketched(self, state: CompleteState, stats: Stats) -> CompleteState:
        passes = state.progress.passes + 1
        state = replace(state, frame=Frame(axes=np.linalg.qr(stats["range"])[0]))
        state = replace(state, progress=replace(state.progress, passes=passes))
        return replace(state, phase="covariance") if passes >= _SKETCH_PASSES else state

    def _whitened(self, state: CompleteState, stats: Stats) -> CompleteState:
        searched = self.start is None and any(kind.startswith("l1") for kind in self.portfolio)
        if not state.levelled and searched and are_uneven(stats, state.n_rows):
            return replace(state, phase="norms")  # and once more with large rows shrunk
        mean, moments = stats["sum"] / state.n_rows, stats["covariance"] / state.n_rows
        unseen = self.intercept is None and has_mean(mean, moments, state.n_rows)
        if state.centre is None and (self.intercept or unseen):
            return replace(state, centre=state.frame.full(mean))  # and once more around it
        if state.centre is not None and np.trace(moments) < 1e-24 * float(state.centre @ state.centre):
            raise ValueError("X: the samples are all the same: they span no dictionary")
        frame = whitening(moments, self.n_components, state.frame.axes, stats["energy"] / state.n_rows)
        state = replace(state, frame=frame)
        if self.start is not None:
            return self._begin(state)
        if state.screened:
            return self._to_refine(state, state.atoms)
        # searches with a penalty are those that outliers do least harm to
        return self._next(replace(state, search=Search()))

    def _levelled(self, state: CompleteState, stats: Stats) -> CompleteState:
        return replace(
            state, phase="covariance", levelled=True, level=histogram_quantile(stats["norms"], 0.5)
        )

    # --- starts -----------------------------------------------------------------------------------------

    def _begin(self, state: CompleteState) -> CompleteState:
        """Set up the current start of the portfolio, or the user's own."""
        k, search = state.frame.rank, state.search
        if self.start is not None:
            atoms = self.start @ state.frame.whiten
            W = np.linalg.inv(unit_rows(atoms, atoms)).T
            return self._started(replace(state, search=replace(search, kind="given", tried=1)), W)
        kind, seed = self.portfolio[search.start], [state.seed, search.start]
        name, _, number = kind.partition(" ")
        begun = (*search.begun, search.start)
        search = replace(search, kind=kind, tried=search.tried + 1, begun=begun, repairs=0, refined=False)
        state = replace(state, search=search, progress=Progress())
        if name == "l1":
            atoms, sums = first_atoms(k, len(state.decoder), seed)
            return replace(state, phase="l1", atoms=atoms, sums=sums)
        if name == "bank":
            return at(replace(state, phase="bank"), random_directions(int(number) * k, k, seed))
        if name == "descent":
            state = replace(state, phase="descent", thresholds=np.full(k, 5.0))
            return at(state, random_rotation(k, seed))
        return at(replace(state, phase="contrast"), random_rotation(k, seed))

    def _contrasted(self, state: CompleteState, stats: Stats) -> CompleteState:
        """A symmetric start goes on until its rotation stands still."""
        W = nearest_rotation(newton_step(state, stats), state.W)
        return self._turned(state, W, _START_PASSES)

    def _turned(self, state: CompleteState, W: NDArray[Any], passes: int) -> CompleteState:
        turned = float(np.max(1 - np.abs(np.einsum("ij,ij->i", W, state.W))))
        state = at(replace(state, progress=state.progress.after(turned)), W)
        search = state.search
        if search.best is not None and search.best.exact and agree(W, search.best.W):
            again = replace(search.best, kind=search.kind)
            return self._next(replace(state, search=replace(search, found=(*search.found, again))))
        if turned > _START_TOL and state.progress.passes < passes:
            return state
        return self._started(state, W)

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
        W = distinct_directions(state.W, mean_absolute(stats), state.frame.rank, seed)
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

    def _penalised(self, state: CompleteState, stats: Stats) -> CompleteState:
        state = l1_step(state, stats)
        return self._to_refine(state, state.atoms) if state.phase == "penalised" else state

    # --- polish and refinement --------------------------------------------------------------------------

    def _started(self, state: CompleteState, W: NDArray[Any]) -> CompleteState:
        state = replace(state, search=replace(state.search, rotation=W))
        if state.centre is None:
            return self._to_polish(state, W)
        return at(replace(state, phase="zeros", atoms=np.linalg.solve(W.T, state.frame.unwhiten)), W)

    def _located(self, state: CompleteState, stats: Stats) -> CompleteState:
        """Codes are zero most of the time, not on average: the intercept is where most of them are."""
        zero = half_sample_mode(stats["codes"].value)
        state = replace(state, centre=state.centre + zero @ state.atoms)
        return self._to_polish(state, state.W)

    def _to_polish(self, state: CompleteState, W: NDArray[Any]) -> CompleteState:
        progress = Progress(change=state.progress.change)
        state = at(replace(state, phase="polish", progress=progress, secants=None), W)
        return replace(state, thresholds=first_thresholds(state, self.threshold))

    def _polished(self, state: CompleteState, stats: Stats) -> CompleteState:
        state = polish(state, stats, self.threshold, self.orthogonal)
        if state.phase not in ("failed", "loud"):
            return state
        if state.search.refined:
            return self._add(state, None)
        # thresholds above the noise lose weak codes: the refinement begins at the start itself
        return self._to_refine(state, np.linalg.solve(state.search.rotation.T, state.frame.unwhiten))

    def _suspected(self, state: CompleteState, stats: Stats) -> CompleteState:
        suspects, vanishing = suspicious_pairs(stats["joint"]), fewest_zeros(stats)
        state = replace(state, search=replace(state.search, suspects=suspects, vanishing=vanishing))
        return replace(state, phase="ratios") if len(suspects) else self._cleared(state)

    def _parted(self, state: CompleteState, stats: Stats) -> CompleteState:
        """Polish again if pairs of atoms were taken apart."""
        search = state.search
        W = unmixed(state.W, search.suspects, stats["codes"].value)
        if W is state.W or np.linalg.cond(W) > WORST_CONDITION:
            return self._cleared(state) if W is state.W else replace(state, phase="judge")
        state = replace(state, search=replace(search, repairs=search.repairs + 1))
        return self._to_polish(state, unit_rows(W, state.W))

    def _cleared(self, state: CompleteState) -> CompleteState:
        """No two atoms are mixed up: with enough exact zeros no other start has a say."""
        clear = self.threshold is None and state.search.vanishing >= _CLEAR * state.frame.rank
        return self._add(state, None, CLEAR) if clear else replace(state, phase="judge")

    def _to_refine(self, state: CompleteState, atoms: NDArray[Any]) -> CompleteState:
        """Begin expectation maximisation, with too much noise."""
        prior = first_prior(state.frame, len(atoms))
        state = replace(state, phase="refine", prior=prior, progress=Progress())
        return at_atoms(replace(state, noise=float(np.sqrt(prior.variance))), unit_rows(atoms, atoms))

    def _refined(self, state: CompleteState, stats: Stats) -> CompleteState:
        state = refit(state, stats, self.orthogonal)
        best = state.search.best
        beaten = best is not None and best.score - state.prior.score > _BEATEN and state.prior.settled
        if state.phase != "refined" and state.progress.passes < _REFINE_PASSES and not beaten:
            return state
        settled = state.screened or not state.levelled
        noiseless = state.noise < NOISELESS * state.frame.rms
        if settled and noiseless and np.linalg.cond(state.W) < WORST_CONDITION:
            search = replace(state.search, refined=True, rotation=state.W)
            return self._to_polish(replace(state, search=search), state.W)
        return self._add(state, state.prior)

    def _screened(self, state: CompleteState, stats: Stats) -> CompleteState:
        """Second moments of the rows that count, and the refinement again on them."""
        search = Search(kind="l1 screened", tried=state.search.tried)
        outliers = stats["outliers"].value
        return replace(state, phase="covariance", screened=True, outliers=outliers, search=search)

    # --- candidates -------------------------------------------------------------------------------------

    def _judged(self, state: CompleteState, stats: Stats) -> CompleteState:
        """A polished start: minus its mean |z| is its score."""
        # one refinement a start: where it led back here, another would too
        if not (is_exact(state) or state.search.refined):
            return self._to_refine(state, self._atoms(state))
        if state.search.refined and not is_exact(state) and not has_vanished(state.prior, state.frame):
            # thresholds above the noise, however small, cost more than codes of largest evidence
            state = replace(state, noise=float(np.sqrt(state.prior.variance)))
            return self._add(at_atoms(state, state.atoms), state.prior)
        return self._add(state, None, -float(np.mean(mean_absolute(stats))))

    def _atoms(self, state: CompleteState) -> NDArray[Any]:
        return np.linalg.solve(state.W.T, state.frame.unwhiten)

    def _add(self, state: CompleteState, prior: Prior | None, score: float = -np.inf) -> CompleteState:
        """One more candidate; the best is an exact one, or the one with the largest score."""
        search, exact = state.search, prior is None and np.isfinite(score)
        atoms = self._atoms(state) if prior is None else state.atoms
        score = score if prior is None else prior.score
        candidate = Candidate(
            search.kind, state.W, atoms, state.centre, state.thresholds, score, state.noise,
            bool(exact and is_exact(state)), prior,
        )  # fmt: skip
        best = search.best
        if search.kind == "merged" and not (candidate.exact or score > best.score + TIED):
            return self._next(state)
        if best is None or (candidate.exact, score) > (best.exact, best.score):
            best = candidate
        after = replace(search, found=(*search.found, candidate), best=best)
        state = replace(state, search=after)
        other = candidate if best is not candidate else search.best
        if can_merge(state, other):
            return pooled(state, best, other)
        return self._next(state)

    def _merged(self, state: CompleteState, stats: Stats) -> CompleteState:
        return merged(state, stats) or self._next(state)

    def _next(self, state: CompleteState) -> CompleteState:
        """The next start, unless enough of them agree."""
        search, exact = state.search, state.search.best is not None and state.search.best.exact
        enough = search.agreeing >= self.n_restarts and search.trusted
        enough |= exact and search.best.score >= CLEAR
        rest = [start for start in range(len(self.portfolio)) if start not in search.begun]
        later = [start for start in rest if is_wanted(state, self.portfolio[start])]
        if exact:  # what has worked is the quickest to confirm it, from elsewhere
            later.sort(key=lambda start: self.portfolio[start] != search.best.kind)
        if not enough and later and self.start is None:
            return self._begin(replace(state, search=replace(search, start=later[0])))
        if state.levelled and not state.screened:
            return replace(self._at_candidate(state, search.best), phase="screen")
        return self._accept(replace(state, converged=enough or exact))

    def _accept(self, state: CompleteState) -> CompleteState:
        """The best candidate is final, but for the end of its refinement, on all rows."""
        best = state.search.best
        state = self._at_candidate(replace(state, progress=Progress()), best)
        return replace(state, phase="settle" if best.prior is not None else "accepted")

    def _settled(self, state: CompleteState, stats: Stats) -> CompleteState:
        state = refit(state, stats, self.orthogonal)
        fields = {"W": state.W, "atoms": state.atoms, "centre": state.centre, "prior": state.prior}
        best = replace(state.search.best, **fields, thresholds=state.thresholds, noise=state.noise)
        state = replace(state, search=replace(state.search, best=best))
        done = state.phase == "refined" or state.progress.passes >= _SETTLE_PASSES
        return replace(state, phase="accepted" if done else "settle")

    def _at_candidate(self, state: CompleteState, best: Candidate) -> CompleteState:
        state = replace(state, centre=best.centre, noise=best.noise, prior=best.prior)
        if best.prior is not None:
            state = at_atoms(state, best.atoms)
            if self.threshold is None:
                return state
            # it is one of codes: atoms in noise are found by evidence
            return replace(state, thresholds=np.full(len(state.atoms), self.threshold / state.scale))
        return replace(at(state, best.W), thresholds=best.thresholds, atoms=best.atoms)

    def _closed(self, state: CompleteState, stats: Stats) -> CompleteState:
        return with_residual(refine(state, stats, self.orthogonal), stats)


@lru_cache(maxsize=4)
def _sampled(seed: int, n_rows: int, n: int) -> NDArray[np.intp]:
    """Rows of the starts; kept, as every round of a start asks for them."""
    return np.unique(np.random.default_rng([seed, 7]).integers(0, n_rows, n))
