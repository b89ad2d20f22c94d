r"""Complete dictionary learning (Liang, Zhang, Fattahi and Zhang 2022, Algorithm 2, made exact).

.. math:: Y = X A, \qquad A \in \mathbb{R}^{k \times n} \text{ of full rank}, \quad X \text{ sparse}

Rows are samples and atoms; the paper writes Y = A X with columns and k = n. The preconditioner P makes
V = Y P white, so its dictionary is nearly orthogonal, and starts on V find it (`dictionary_starts`).

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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.dictionary_pairs import ratio_map, support_map, suspicious_pairs, unmixed
from altmin.algorithms.dictionary_starts import (
    PORTFOLIO,
    agree,
    contrast_map,
    contrast_step,
    distinct_directions,
    mean_absolute,
    random_directions,
    random_rotation,
    spread_map,
    unit_rows,
)
from altmin.algorithms.dictionary_steps import (
    LOUD,
    NOISE_FACTOR,
    WARM_END,
    WORST_CONDITION,
    code_map,
    covariance_map,
    evidence_rows,
    extent_map,
    fallen_thresholds,
    least_squares_decoder,
    noise_level,
    power_of_two,
    pursuit_map,
    residual_map,
    sample_map,
    whitening,
)
from altmin.contract import All, Done, Info, Next, Round, Rows, Stats, Take, record
from altmin.kernels.polar import polar

_START_PASSES, _BANK_PASSES, _POLISH_PASSES = 100, 40, 100
_START_TOL = 1e-4  # on 1 - |cos| of the rows of two rotations
_PATIENCE = 6  # polish passes without progress
_PURSUIT_PASSES, _PURSUIT_TOL = 40, 1e-3
_REPAIRS = 3  # times that mixed-up pairs of atoms are taken apart


@record
class Candidate:
    """A polished start: its decoder, thresholds, score (mean |z|, less is better), noise, exactness."""

    W: Any
    thresholds: Any
    score: float
    noise: float
    exact: bool


@record
class CompleteState:
    """Phase, preconditioner, decoder, and the best candidate so far (scaled units)."""

    phase: str
    decoder: Any  # (n, k): P W' / scale in the data's dtype, so codes are X @ decoder
    seed: int
    scale: float = 1.0
    n_rows: int = 0
    covariance: Any = None  # (n, n): second moments
    whiten: Any = None  # (n, k): P
    unwhiten: Any = None  # (k, n): its pseudo-inverse
    W: Any = None  # (k, k): codes are V @ W.T
    atoms: Any = None  # (k, n): inverse of the decoder
    thresholds: Any = None  # (k,)
    noise_gain: Any = None  # (k,): ||P w_i||, by which noise of the data enters a code
    noise: float = 0.0
    start: int = 0  # in the portfolio
    kind: str = ""
    passes: int = 0  # of the current phase
    change: float = 1.0
    least_change: float = np.inf
    waited: int = 0
    rotation: Any = None  # (k, k): W before the polish
    rows: int = 1  # of the last polish pass
    counts: Any = None
    squares: Any = None
    best: Candidate | None = None
    converged: bool = False
    suspects: Any = None  # (m, 2): pairs of atoms that may be mixed up
    repairs: int = 0
    agreeing: int = 0
    tried: int = 0
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
        match state.phase:
            case "extent":
                return Round(extent_map, name="scale")
            case "covariance":
                return Round(covariance_map, name="whiten")
            case "contrast" | "bank":
                return Round(contrast_map, rows=self._sample(state), name="start", iteration=True)
            case "pick":
                return Round(spread_map, rows=self._sample(state), name="start")
            case "descent":
                return Round(code_map, rows=self._sample(state), name="descent", iteration=True)
            case "polish":
                return Round(code_map, rows=self._batch(), name="polish", iteration=True)
            case "pairs":
                return Round(support_map, rows=self._sample(state), name="pairs")
            case "ratios":
                return Round(ratio_map, rows=self._sample(state), name="pairs")
            case "judge":
                return Round(spread_map, name="judge")
            case "pursuit":
                return Round(pursuit_map, rows=self._batch(), name="pursuit", iteration=True)
            case "residual":
                return Round(residual_map, name="residual")
            case "evidence":
                return Round(sample_map, rows=evidence_rows(state.n_rows, len(state.atoms)), name="evidence")
        if state.converged:
            return Done("converged")
        return Done(
            "stalled", "no start led to a dictionary under which the codes are sparse and agree with another"
        )

    def update(self, state: CompleteState, stats: Stats) -> CompleteState:
        """What follows from the sums of a round."""
        match state.phase:
            case "extent":
                scale = power_of_two(stats["largest"].value)
                return replace(state, phase="covariance", scale=scale, n_rows=stats["n_rows"])
            case "covariance":
                covariance = stats["covariance"] / state.n_rows
                whiten, unwhiten = whitening(covariance, self.n_components)
                state = replace(state, covariance=covariance, whiten=whiten, unwhiten=unwhiten)
                return self._begin(state)
            case "contrast":
                return self._contrast(state, stats)
            case "bank":
                return self._search(state, stats)
            case "pick":
                n, seed = self.n_components, [state.seed, state.start, 1]
                W = distinct_directions(state.W, mean_absolute(stats), n, seed)
                return self._at(replace(state, phase="contrast", kind="huber 0.5", passes=0), W)
            case "descent":
                return self._descend(state, stats)
            case "polish":
                return self._polish(state, stats)
            case "pairs":
                suspects = suspicious_pairs(stats["joint"], stats["n_rows"])
                return replace(state, phase="ratios" if len(suspects) else "judge", suspects=suspects)
            case "ratios":
                return self._part(state, unmixed(state.W, state.suspects, stats["codes"].value))
            case "judge":
                return self._judged(state, float(np.mean(mean_absolute(stats))))
            case "pursuit":
                return self._pursue(state, stats)
            case "evidence":
                return replace(state, phase="done", sample=stats["codes"].value)
        names = ("residual", "total", "counts", "squares")
        return replace(state, phase="evidence", **{name: stats[name] for name in names})

    def finish(self, state: CompleteState) -> CompleteState:
        """Take the best candidate, and close with one pass for its codes and residual."""
        best = state.best
        if best is not None:
            state = replace(self._at(state, best.W), thresholds=best.thresholds, noise=best.noise)
        elif state.W is None or len(state.W) != self.n_components:
            raise ValueError("max_iter is too small: it ended before the first start was complete")
        elif state.thresholds is None:
            state = replace(state, thresholds=np.full(self.n_components, WARM_END))
        atoms = np.linalg.solve(state.W.T, state.unwhiten)
        return replace(state, phase="residual", atoms=atoms)

    def measure(self, state: CompleteState) -> Mapping[str, float]:
        """Move of the decoder, kept share, estimated noise, and which start this is."""
        polishing = state.phase in ("polish", "pairs", "judge", "pursuit", "accepted")
        counted = polishing and state.counts is not None
        return {
            "change": state.change if polishing else max(state.change, 1.0),
            "density": float(np.mean(state.counts)) / state.rows if counted else 1.0,
            "noise": state.noise * state.scale,
            "start": float(state.tried),
        }

    # --- rows -------------------------------------------------------------------------------------------

    def _sample(self, state: CompleteState) -> Rows:
        """Starts need no more than a sample: the polish makes them exact on all rows."""
        enough = max(self.start_rows, 200 * self.n_components)
        if state.n_rows <= enough:
            return All()
        ids = np.random.default_rng([state.seed, 7]).choice(state.n_rows, enough, replace=False)
        return Take(np.sort(ids))

    def _batch(self) -> Rows:
        return All() if self.batch_size is None else Next(self.batch_size, wrap=True)

    # --- starts -----------------------------------------------------------------------------------------

    def _begin(self, state: CompleteState) -> CompleteState:
        """Set up the current start of the portfolio, or the user's own."""
        n = self.n_components
        if self.start is not None:
            atoms = self.start @ state.whiten
            W = np.linalg.inv(unit_rows(atoms, atoms)).T
            return self._to_polish(replace(state, kind="given", tried=1), W)
        kind, seed = self.portfolio[state.start], [state.seed, state.start]
        name, _, number = kind.partition(" ")
        state = replace(state, kind=kind, passes=0, tried=state.tried + 1, change=1.0, repairs=0)
        if name == "bank":
            return self._at(replace(state, phase="bank"), random_directions(int(number) * n, n, seed))
        if name == "descent":
            state = replace(state, phase="descent", thresholds=np.full(n, 5.0))
            return self._at(state, random_rotation(n, seed))
        return self._at(replace(state, phase="contrast"), random_rotation(n, seed))

    def _contrast(self, state: CompleteState, stats: Stats) -> CompleteState:
        cross = self._white(state, stats) / stats["n_rows"]
        step = contrast_step(state.W, cross, stats["slope"] / stats["n_rows"])
        return self._turned(state, polar(step, toward=state.W), _START_PASSES)

    def _turned(self, state: CompleteState, W: NDArray[Any], passes: int) -> CompleteState:
        """A symmetric start goes on until its rotation stands still."""
        turned = float(np.max(1 - np.abs(np.einsum("ij,ij->i", W, state.W))))
        state = self._at(replace(state, passes=state.passes + 1, change=turned), W)
        if turned > _START_TOL and state.passes < passes:
            return state
        if state.best is not None and agree(W, state.best.W):
            return self._next(replace(state, agreeing=state.agreeing + 1))
        return self._to_polish(state, W)

    def _search(self, state: CompleteState, stats: Stats) -> CompleteState:
        cross = self._white(state, stats) / stats["n_rows"]
        step = contrast_step(state.W, cross, stats["slope"] / stats["n_rows"])
        state = self._at(replace(state, passes=state.passes + 1), unit_rows(step, state.W))
        return state if state.passes < _BANK_PASSES else replace(state, phase="pick")

    def _descend(self, state: CompleteState, stats: Stats) -> CompleteState:
        """Algorithm 4 on whitened data."""
        W = polar(self._white(state, stats), toward=state.W)
        zeta = float(state.thresholds[0])
        rms = float(np.sqrt(stats["squares"].sum() / max(stats["counts"].sum(), 1.0)))
        if 0 < zeta <= WARM_END * rms:
            return self._turned(replace(state, passes=0), W, 1)
        return self._at(replace(state, thresholds=np.full(len(W), 0.98 * zeta)), W)

    # --- polish -----------------------------------------------------------------------------------------

    def _to_polish(self, state: CompleteState, W: NDArray[Any]) -> CompleteState:
        n = self.n_components
        # Codes have unit variance here, so nonzeros have rms 1/sqrt(theta): a first guess above that of
        # dense codes, corrected after one pass.
        thresholds = np.full(n, 0.8) if self.threshold is None else np.full(n, np.inf)
        state = replace(state, phase="polish", passes=0, waited=0, least_change=np.inf, rotation=W)
        return self._at(replace(state, thresholds=thresholds), W)

    def _polish(self, state: CompleteState, stats: Stats) -> CompleteState:
        """A = (X'X)^-1 X'Y in whitened coordinates, rows scaled to unit norm; thresholds of the next pass."""
        W, change = least_squares_decoder(state.W, stats["gram"], self._white(state, stats))
        if not np.isfinite(change):
            return self._judged(replace(state, passes=_POLISH_PASSES), np.inf)
        noise = noise_level(stats["magnitudes"], float(np.mean(stats["counts"])) / stats["n_rows"])
        progress = change < 0.9 * state.least_change
        after = replace(
            state,
            passes=state.passes + 1,
            change=change,
            least_change=min(change, state.least_change),
            waited=0 if progress else state.waited + 1,
            noise=noise,
            rows=stats["n_rows"],
            counts=stats["counts"],
            squares=stats["squares"],
        )
        after = self._at(after, W)
        after = replace(after, thresholds=self._thresholds(after, state.W))
        exact = change <= 100 * np.finfo(state.decoder.dtype).eps
        if exact or after.waited >= _PATIENCE or after.passes >= _POLISH_PASSES:
            if self._is_loud(after):
                # thresholds this high lose the weak atoms: the pursuit goes on from the start itself
                return replace(self._at(after, after.rotation), phase="judge")
            mixed = after.repairs < _REPAIRS and self._is_exact(after)
            return replace(after, phase="pairs" if mixed else "judge")
        return after

    def _thresholds(self, state: CompleteState, before: NDArray[Any]) -> NDArray[Any]:
        if self.threshold is not None:
            # in units of the data: codes of unit atoms, seen from those of the whitened ones
            atoms = np.linalg.solve(state.W.T, state.unwhiten) * state.scale
            return np.asarray(self.threshold / np.linalg.norm(atoms, axis=1))
        thresholds = state.thresholds
        if state.passes == 1:
            rms = np.sqrt(state.squares / np.maximum(state.counts, 1.0))
            thresholds = np.where(state.counts > 0, WARM_END * rms, thresholds)
        moved = np.linalg.norm(state.W - before, axis=1)  # rms over white data
        rounding = np.finfo(state.decoder.dtype).eps * np.sqrt(np.trace(state.covariance))
        gain = state.noise_gain
        return fallen_thresholds(thresholds, moved, state.noise * gain, rounding * gain)

    # --- candidates -------------------------------------------------------------------------------------

    def _part(self, state: CompleteState, W: NDArray[Any]) -> CompleteState:
        """Polish again if pairs of atoms were taken apart."""
        if W is state.W or np.linalg.cond(W) > WORST_CONDITION:
            return replace(state, phase="judge")
        return self._to_polish(replace(state, repairs=state.repairs + 1), unit_rows(W, state.W))

    def _judged(self, state: CompleteState, score: float) -> CompleteState:
        """Keep the candidate if it is the best; go on to the next start unless enough of them agree."""
        again = state.best is not None and agree(state.W, state.best.W, 0.99)
        if state.best is None or score < state.best.score:
            exact = np.isfinite(score) and self._is_exact(state)
            best = Candidate(state.W, state.thresholds, score, state.noise, exact)
            state = replace(state, best=best, agreeing=state.agreeing if again else 0)
            again = True
        return self._next(replace(state, agreeing=state.agreeing + 1) if again else state)

    def _next(self, state: CompleteState) -> CompleteState:
        exact = state.best is not None and state.best.exact
        enough = state.best is not None and state.agreeing >= self.n_restarts
        last = self.start is not None or state.start + 1 >= len(self.portfolio)
        # the banks are for data on which nothing else works
        if enough or last or (exact and self.portfolio[state.start + 1].startswith("bank")):
            return self._accept(replace(state, converged=enough or exact))
        return self._begin(replace(state, start=state.start + 1))

    def _accept(self, state: CompleteState) -> CompleteState:
        """The best candidate is final, but for the pursuit where noise in its codes is large."""
        if state.best is None:
            return replace(state, phase="accepted")
        W, noise = state.best.W, state.best.noise
        state = self._at(replace(state, thresholds=state.best.thresholds, noise=noise), W)
        atoms = np.linalg.solve(W.T, state.unwhiten)
        return replace(state, atoms=atoms, passes=0, phase="pursuit" if self._is_loud(state) else "accepted")

    def _pursue(self, state: CompleteState, stats: Stats) -> CompleteState:
        """A = (Z'Z)^-1 Z'Y with the pursuit's codes, until the atoms move by less than they are off."""
        W, change = least_squares_decoder(state.W, stats["gram"], self._white(state, stats))
        if not np.isfinite(change):
            return replace(state, phase="accepted", change=0.0)
        density = float(np.mean(stats["counts"])) / stats["n_rows"]
        state = replace(
            self._at(state, W),
            passes=state.passes + 1,
            change=change,
            rows=stats["n_rows"],
            counts=stats["counts"],
            # too low an estimate lets the pursuit choose too many atoms, which would lower it further
            noise=max(state.noise, noise_level(stats["magnitudes"], density)),
            atoms=np.linalg.solve(W.T, state.unwhiten),
        )
        thresholds = NOISE_FACTOR * state.noise * state.noise_gain
        assert state.best is not None
        state = replace(state, best=replace(state.best, W=W, thresholds=thresholds, noise=state.noise))
        done = change < _PURSUIT_TOL or state.passes >= _PURSUIT_PASSES
        return replace(state, phase="accepted" if done else "pursuit")

    def _is_loud(self, state: CompleteState) -> bool:
        """Whether thresholds above the noise are a large share of the codes, which have unit variance."""
        return self.threshold is None and NOISE_FACTOR * state.noise * float(np.max(state.noise_gain)) > LOUD

    def _is_exact(self, state: CompleteState) -> bool:
        """Whether small codes vanish to rounding, which happens under no rotation of dense codes."""
        density = float(np.max(state.counts)) / state.rows
        rounding = np.finfo(state.decoder.dtype).eps * np.sqrt(np.trace(state.covariance))
        return density < 0.95 and state.noise < 1e4 * rounding

    # --- coordinates ------------------------------------------------------------------------------------

    def _white(self, state: CompleteState, stats: Stats) -> NDArray[Any]:
        """Z'V from Z'X."""
        return np.asarray(stats["cross"] / state.scale @ state.whiten)

    def _at(self, state: CompleteState, W: NDArray[Any]) -> CompleteState:
        decoder = state.whiten @ W.T
        return replace(
            state,
            W=W,
            noise_gain=np.linalg.norm(decoder, axis=0),
            decoder=np.ascontiguousarray((decoder / state.scale).astype(state.decoder.dtype)),
        )
