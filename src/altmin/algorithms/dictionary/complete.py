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
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.dictionary.block_sums import (
    WARM_END,
    WORST_CONDITION,
    code_map,
    covariance_map,
    evidence_rows,
    extent_map,
    power_of_two,
    pursuit_map,
    residual_map,
    sample_map,
    whitening,
)
from altmin.algorithms.dictionary.mixed_pairs import ratio_map, support_map, suspicious_pairs, unmixed
from altmin.algorithms.dictionary.polish import (
    Candidate,
    CompleteState,
    at,
    is_exact,
    is_loud,
    polish,
    pursue,
    refine,
    white,
)
from altmin.algorithms.dictionary.rotations import (
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
from altmin.contract import All, Done, Info, Next, Round, Rows, Stats, Take, record
from altmin.kernels.polar import polar

_START_PASSES, _BANK_PASSES = 100, 40
_START_TOL = 1e-4  # on 1 - |cos| of the rows of two rotations


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
                return at(replace(state, phase="contrast", kind="huber 0.5", passes=0), W)
            case "descent":
                return self._descend(state, stats)
            case "polish":
                return self._polished(polish(state, stats, self.threshold))
            case "pairs":
                suspects = suspicious_pairs(stats["joint"], stats["n_rows"])
                return replace(state, phase="ratios" if len(suspects) else "judge", suspects=suspects)
            case "ratios":
                return self._part(state, unmixed(state.W, state.suspects, stats["codes"].value))
            case "judge":
                return self._judged(state, float(np.mean(mean_absolute(stats))))
            case "pursuit":
                return pursue(state, stats)
            case "evidence":
                return replace(state, phase="done", sample=stats["codes"].value)
        state = refine(state, stats)
        names = ("residual", "total", "counts", "squares")
        return replace(state, phase="evidence", **{name: stats[name] for name in names})

    def finish(self, state: CompleteState) -> CompleteState:
        """Take the best candidate, and close with one pass for its codes and residual."""
        best = state.best
        if best is not None:
            state = replace(at(state, best.W), thresholds=best.thresholds, noise=best.noise)
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
        return Take(_sampled(state.seed, state.n_rows, enough))

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
            return at(replace(state, phase="bank"), random_directions(int(number) * n, n, seed))
        if name == "descent":
            state = replace(state, phase="descent", thresholds=np.full(n, 5.0))
            return at(state, random_rotation(n, seed))
        return at(replace(state, phase="contrast"), random_rotation(n, seed))

    def _contrast(self, state: CompleteState, stats: Stats) -> CompleteState:
        cross = white(state, stats) / stats["n_rows"]
        step = contrast_step(state.W, cross, stats["slope"] / stats["n_rows"])
        return self._turned(state, polar(step, toward=state.W), _START_PASSES)

    def _turned(self, state: CompleteState, W: NDArray[Any], passes: int) -> CompleteState:
        """A symmetric start goes on until its rotation stands still."""
        turned = float(np.max(1 - np.abs(np.einsum("ij,ij->i", W, state.W))))
        state = at(replace(state, passes=state.passes + 1, change=turned), W)
        if turned > _START_TOL and state.passes < passes:
            return state
        if state.best is not None and agree(W, state.best.W):
            return self._next(replace(state, agreeing=state.agreeing + 1))
        return self._to_polish(state, W)

    def _search(self, state: CompleteState, stats: Stats) -> CompleteState:
        cross = white(state, stats) / stats["n_rows"]
        step = contrast_step(state.W, cross, stats["slope"] / stats["n_rows"])
        state = at(replace(state, passes=state.passes + 1), unit_rows(step, state.W))
        return state if state.passes < _BANK_PASSES else replace(state, phase="pick")

    def _descend(self, state: CompleteState, stats: Stats) -> CompleteState:
        """Algorithm 4 on whitened data."""
        W = polar(white(state, stats), toward=state.W)
        zeta = float(state.thresholds[0])
        rms = float(np.sqrt(stats["squares"].sum() / max(stats["counts"].sum(), 1.0)))
        if 0 < zeta <= WARM_END * rms:
            return self._turned(replace(state, passes=0), W, 1)
        return at(replace(state, thresholds=np.full(len(W), 0.98 * zeta)), W)

    def _to_polish(self, state: CompleteState, W: NDArray[Any]) -> CompleteState:
        n = self.n_components
        # Codes have unit variance here, so nonzeros have rms 1/sqrt(theta): a first guess above that of
        # dense codes, corrected after one pass.
        thresholds = np.full(n, 0.8) if self.threshold is None else np.full(n, np.inf)
        state = replace(state, phase="polish", passes=0, waited=0, least_change=np.inf, rotation=W)
        return at(replace(state, thresholds=thresholds), W)

    # --- candidates -------------------------------------------------------------------------------------

    def _polished(self, state: CompleteState) -> CompleteState:
        return self._judged(state, np.inf) if state.phase == "failed" else state

    def _part(self, state: CompleteState, W: NDArray[Any]) -> CompleteState:
        """Polish again if pairs of atoms were taken apart."""
        if W is state.W or np.linalg.cond(W) > WORST_CONDITION:
            return replace(state, phase="judge")
        return self._to_polish(replace(state, repairs=state.repairs + 1), unit_rows(W, state.W))

    def _judged(self, state: CompleteState, score: float) -> CompleteState:
        """Keep the candidate if it is the best; go on to the next start unless enough of them agree."""
        again = state.best is not None and agree(state.W, state.best.W, 0.99)
        if state.best is None or score < state.best.score:
            exact = np.isfinite(score) and is_exact(state)
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
        state = at(replace(state, thresholds=state.best.thresholds, noise=noise), W)
        loud = self.threshold is None and is_loud(state)
        atoms = np.linalg.solve(W.T, state.unwhiten)
        return replace(state, atoms=atoms, passes=0, phase="pursuit" if loud else "accepted")


@lru_cache(maxsize=2)
def _sampled(seed: int, n_rows: int, n: int) -> NDArray[np.intp]:
    """Rows of the starts; kept, as every round of a start asks for them."""
    return np.unique(np.random.default_rng([seed, 7]).integers(0, n_rows, n))
