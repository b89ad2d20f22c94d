r"""Orthogonal dictionary learning (Liang, Zhang, Fattahi and Zhang 2022, Algorithms 1 and 4).

.. math:: Y = X D, \qquad D \in \mathbb{O}(n), \quad X \text{ sparse}

Rows are samples and atoms; the paper writes Y = D X with columns. One pass is

.. math:: X^{(t)} = \mathrm{HT}_\zeta(Y D^{(t)\top}), \qquad
   D^{(t+1)} = \mathrm{Polar}(X^{(t)\top} Y).

Theorem 1: with theta <= 1/144, ||D0 - D*||_F = O(1/log n), p = Omega(n/theta^2) and zeta = Gamma/2, the
error halves in each pass. Algorithm 4 gets there from the identity by a falling threshold.

Where we differ from the paper, and why:

- zeta in the penalty zeta ||X||_0 means the threshold sqrt(zeta); the theorems' zeta is the threshold,
  and so is ours. The paper returns X of the last D but one; we code with the last D.
- The descent of Algorithm 4 ends where the threshold is .4 of the rms of the kept codes, so it needs no
  Gamma; from there on thresholds fall as the atoms converge, so codes without a gap (Gaussian) are exact.
- Polar is not unique for a rank-deficient matrix: the factor nearest to the last D is taken, which also
  covers Algorithm 4's special case X = 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.dictionary.block_sums import (
    WARM_END,
    code_map,
    covariance_map,
    evidence_round,
    extent_map,
    fallen_thresholds,
    largest_magnitude,
    noise_level,
    power_of_two,
    relative_threshold,
    residual_map,
    rms_change,
    sampled_magnitudes,
    with_residual,
)
from altmin.contract import Block, Done, Info, Round, Stats, record
from altmin.kernels.gram import times
from altmin.kernels.polar import polar
from altmin.kernels.thresholds import histogram_quantile


@record
class OrthogonalState:
    """Atoms, thresholds of the next pass, and what the last pass measured (scaled units)."""

    phase: str
    atoms: Any  # (n, n): D, an atom a row
    decoder: Any  # (n, n): D' / scale in the data's dtype, so codes are X @ decoder
    thresholds: Any  # (n,)
    noise_gain: Any  # (n,): ||w_i||, all one here
    scale: float = 1.0
    n_rows: int = 0
    centre: Any = None  # no intercept
    levelled: bool = False  # rows as they are
    level: float = 0.0
    covariance: Any = None  # (n, n): second moments, Y'Y / p
    change: float = 1.0
    noise: float = 0.0
    counts: Any = None  # (n,): kept codes of each atom
    squares: Any = None  # (n,): their sums of squares
    residual: float = np.inf
    total: float = 0.0
    sample: Any = None  # (m, k): codes of some rows, for the guarantee


@record
class Orthogonal:
    """Parameters of the algorithm; :class:`altmin.OrthogonalDictionaryLearning` explains them."""

    start: Any = None
    threshold: float | None = None
    keep: float | None = None
    decay: float | None = 0.97

    least_squares = False

    def init(self, info: Info, seed: int) -> OrthogonalState:
        """The start (a random rotation where none is given), before the scale of the data is known."""
        n = info.n_features
        given = np.random.default_rng(seed).standard_normal((n, n)) if self.start is None else self.start
        atoms = polar(np.asarray(given, dtype=np.float64))
        return OrthogonalState("extent", atoms, atoms.T.astype(info.dtype), np.full(n, np.inf), np.ones(n))

    def next_round(self, state: OrthogonalState) -> Round | Done:
        """Scale; second moments and magnitudes; descent; alternation; the closing rounds."""
        match state.phase:
            case "extent":
                return Round(extent_map, name="scale", then=self._scaled)
            case "measure":
                return Round(measure_map, name="measure", then=self._measured)
            case "descent":
                return Round(code_map, name="descent", iteration=True, then=self._descended)
            case "alternate":
                return Round(code_map, name="alternate", iteration=True, then=self._alternated)
            case "residual":
                return Round(residual_map, name="residual", then=with_residual)
            case "evidence":
                return evidence_round(state)
        return Done("converged")

    def finish(self, state: OrthogonalState) -> OrthogonalState:
        """One closing pass: codes of the last atoms and what they leave over."""
        return replace(state, phase="residual")

    def measure(self, state: OrthogonalState) -> Mapping[str, float]:
        """Largest move of an atom, threshold, kept share, noise (in units of the data)."""
        return {
            "change": state.change if state.phase != "descent" else max(state.change, 1.0),
            "threshold": float(np.max(state.thresholds)) * state.scale,
            "density": float(np.mean(state.counts)) / state.n_rows,
            "noise": state.noise * state.scale,
        }

    def _scaled(self, state: OrthogonalState, stats: Stats) -> OrthogonalState:
        scale = power_of_two(stats["largest"].value)
        state = replace(state, phase="measure", scale=scale, n_rows=stats["n_rows"])
        return self._with_atoms(state, state.atoms)

    def _measured(self, state: OrthogonalState, stats: Stats) -> OrthogonalState:
        """The first thresholds: where Algorithm 4 begins, or what the user or the codes say."""
        state = replace(state, covariance=stats["covariance"] / state.n_rows)
        magnitudes = stats["magnitudes"]
        if self.keep is not None:
            first = histogram_quantile(magnitudes, 1 - self.keep)
        elif self.decay is not None:
            # Algorithm 4: from where nothing is kept
            return self._at(state, "descent", largest_magnitude(magnitudes))
        elif self.threshold is not None:
            first = self.threshold / state.scale
        else:
            first = relative_threshold(magnitudes)
        return self._at(state, "alternate", first)

    def _at(self, state: OrthogonalState, phase: str, threshold: float) -> OrthogonalState:
        return replace(state, phase=phase, thresholds=np.full(len(state.atoms), threshold))

    def _step(self, state: OrthogonalState, stats: Stats) -> OrthogonalState:
        """Algorithm 1, line 4: the polar factor of Z'X."""
        atoms = polar(stats["cross"] / state.scale, toward=state.atoms)
        density = float(np.mean(stats["counts"])) / state.n_rows
        after = replace(
            state,
            change=float(np.max(np.linalg.norm(atoms - state.atoms, axis=1))),
            noise=noise_level(stats["magnitudes"], density),
            counts=stats["counts"],
            squares=stats["squares"],
        )
        return self._with_atoms(after, atoms)

    def _descended(self, state: OrthogonalState, stats: Stats) -> OrthogonalState:
        """Algorithm 4, line 4: zeta falls by beta, until codes and the rest are told apart."""
        assert self.decay is not None
        state = self._step(state, stats)
        zeta = float(state.thresholds[0])
        rms = float(np.sqrt(state.squares.sum() / max(state.counts.sum(), 1.0)))
        if self.threshold is not None:
            last = self.threshold / state.scale
            if zeta <= last:
                return self._at(state, "alternate", last)
        elif 0 < zeta <= WARM_END * rms:
            own = np.sqrt(state.squares / np.maximum(state.counts, 1.0))
            thresholds = WARM_END * np.where(state.counts > 0, own, rms)
            return replace(state, phase="alternate", thresholds=thresholds)
        return self._at(state, "descent", zeta * self.decay)

    def _alternated(self, state: OrthogonalState, stats: Stats) -> OrthogonalState:
        """Algorithm 1, with the thresholds of the next pass."""
        after = self._step(state, stats)
        if self.threshold is None:
            step = after.atoms - state.atoms
            after = replace(after, thresholds=self._thresholds(after, step, stats["magnitudes"]))
        if after.change <= 100 * np.finfo(after.decoder.dtype).eps:
            return replace(after, phase="converged")
        return after

    def _thresholds(
        self, state: OrthogonalState, step: NDArray[Any], magnitudes: NDArray[Any]
    ) -> NDArray[Any]:
        if self.keep is not None:
            return np.full(len(state.atoms), histogram_quantile(magnitudes, 1 - self.keep))
        rounding = np.finfo(state.decoder.dtype).eps * np.sqrt(np.trace(state.covariance))
        moved = rms_change(step, state.covariance)
        return fallen_thresholds(
            state.thresholds, moved, np.full(len(moved), state.noise), np.full(len(moved), rounding)
        )

    def _with_atoms(self, state: OrthogonalState, atoms: NDArray[Any]) -> OrthogonalState:
        decoder = np.ascontiguousarray((atoms.T / state.scale).astype(state.decoder.dtype))
        return replace(state, atoms=atoms, decoder=decoder)


def measure_map(algorithm: Orthogonal, state: OrthogonalState, block: Block) -> Stats:
    """Second moments of the data, and magnitudes of the codes under the start."""
    Z = times(block.X, state.decoder)
    return {
        **covariance_map(algorithm, state, block),
        "magnitudes": sampled_magnitudes(Z, state.noise_gain),
    }
