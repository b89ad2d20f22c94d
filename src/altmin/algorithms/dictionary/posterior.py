r"""Noise: expectation maximisation for a Bernoulli-Gauss model of the codes, in the data's own coordinates.

.. math:: y = x A + \varepsilon, \quad \varepsilon \sim N(0, v I), \qquad
          x_j \sim N(0, s_j) \text{ with probability } \theta_j, \text{ else } 0

A pass codes every sample by the support of largest evidence (:mod:`altmin.kernels.bernoulli_gauss`), then
takes atoms by least squares, and densities, sizes and the noise from the codes. The noise starts high and
anneals itself: supports that a small noise would freeze in error can still change. The evidence, with the
code sizes integrated out, is also the score by which candidates from different starts compete; a joint
maximum would favour a vanishing noise.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.dictionary.block_sums import Frame, first_moments, signals, without_mean
from altmin.algorithms.dictionary.starts import unit_rows
from altmin.contract import Block, Concat, Stats, TopRows, record
from altmin.kernels.bernoulli_gauss import sparse_posterior
from altmin.kernels.polar import polar

if TYPE_CHECKING:
    from altmin.algorithms.dictionary.complete import CompleteState

_FIRST_NOISE = 0.3  # of the rms of the data
_FIRST_DENSITY = 0.1
_NOISE_STEP = 4.0  # by which the variance may change in a pass
_FURTHER = 2.5  # times the step of least squares in every other pass, which errors that shrink slowly need
_SETTLED = 0.03  # of the standard error of the most used atom
_RARE = 0.002  # share of samples below which an atom counts as unused
_TWIN = 0.995  # |cos| of two atoms that are one
_UNSCREENED = 3  # passes after which rows that aren't explained don't count
_OUTLIER = 0.05  # prior odds of an outlier
_MOST_OUTLIERS = 0.12  # share of the rows that may be left out before the dictionary has settled
_DENSEST = 0.5  # beyond, a prior would add atoms that explain nothing
_REPLACED = 4  # atoms that a pass may replace by what is left of a sample
NOISELESS = 1e-4
"""Noise, relative to the data, below which the exact polish may end what the passes began."""


@record
class Prior:
    """Noise of a feature (variance), variances of the nonzero codes of unit atoms, their densities."""

    variance: float
    sizes: Any  # (k,)
    density: Any  # (k,)
    score: float = -np.inf  # evidence of a sample, in nats
    rows: int = 1  # samples of which this is the mean
    settled: bool = False  # whether the last pass left the noise where it was


def first_prior(frame: Frame, n_components: int) -> Prior:
    """A prior that is too noisy on purpose."""
    sizes = np.full(n_components, frame.energy / (n_components * _FIRST_DENSITY))
    variance = (_FIRST_NOISE * frame.rms) ** 2
    return Prior(variance, sizes, np.full(n_components, _FIRST_DENSITY))


def posterior_map(algorithm: Any, state: CompleteState, block: Block) -> Stats:
    """Codes of largest evidence, from nothing or from thresholded linear codes; sums for the update."""
    X = signals(state, block)
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64) / state.scale
    prior, linear = state.prior, X @ (state.decoder.astype(np.float64) * state.scale)
    floor = np.maximum(3 * np.sqrt(prior.variance) * state.noise_gain, 0.3 * np.sqrt(prior.sizes))
    linear[np.abs(linear) < floor] = 0.0
    Z, evidence = sparse_posterior(X, state.atoms, prior.variance, prior.sizes, prior.density, linear)
    evidence = evidence + _empty(X, prior)
    if state.levelled and not state.screened and state.progress.passes >= _UNSCREENED:
        # most rows stay whatever their evidence: those that use an atom not found yet look like outliers, too
        outlier = gaussian_evidence(X, state.frame) + np.log(_OUTLIER)
        kept = evidence - outlier > min(0.0, float(np.quantile(evidence - outlier, _MOST_OUTLIERS)))
        evidence = np.maximum(evidence, outlier)
        X, Z = X * kept[:, None], Z * kept[:, None]
    left = X - Z @ state.atoms
    norms = np.einsum("ij,ij->i", left, left)
    worst = np.argsort(-norms, kind="stable")[:_REPLACED]
    stats = {
        "gram": Z.T @ Z,
        "cross": Z.T @ X,
        "counts": np.count_nonzero(Z, axis=0).astype(np.float64),
        "squares": np.einsum("ij,ij->j", Z, Z),
        "left": float(norms.sum()),
        "evidence": float(evidence.sum()),
        "worst": TopRows(_REPLACED, norms[worst], block.start + worst, left[worst]),
        "n_rows": block.n_rows,
    }
    return stats if state.centre is None else stats | first_moments(X, Z)


def screen_map(algorithm: Any, state: CompleteState, block: Block) -> tuple[Stats, dict[str, NDArray[Any]]]:
    """Which rows the dictionary explains better than a Gaussian does: the column ``inlier``."""
    X = np.asarray(signals(state, block), np.float64) / state.scale
    prior = state.prior
    Z, evidence = sparse_posterior(X, state.atoms, prior.variance, prior.sizes, prior.density)
    kept = evidence + _empty(X, prior) > gaussian_evidence(X, state.frame) + np.log(_OUTLIER)
    usual = float(prior.density.sum())  # with all atoms any row can be explained
    kept &= np.count_nonzero(Z, axis=1) <= usual + 6 * np.sqrt(usual) + 1
    outliers = block.start + np.flatnonzero(~kept)
    return {"outliers": Concat(outliers)}, {"inlier": kept.astype(np.float64)}


def _empty(X: NDArray[Any], prior: Prior) -> NDArray[Any]:
    """Log density of each row without any atom."""
    energy = np.einsum("ij,ij->i", X, X)
    noise = X.shape[1] * np.log(2 * np.pi * prior.variance) + energy / prior.variance
    return np.asarray(np.log1p(-prior.density).sum() - 0.5 * noise)


def gaussian_evidence(X: NDArray[Any], frame: Frame) -> NDArray[Any]:
    """Log density of each row under a Gaussian with the data's second moments."""
    n, values, V = X.shape[1], frame.variances, X @ frame.whiten
    inside = V**2
    size = n * np.log(2 * np.pi) + np.log(values).sum() + inside.sum(axis=1)
    if n > len(values):
        rest = max((frame.energy - float(values.sum())) / (n - len(values)), 1e-30 * frame.energy)
        outside = np.maximum(np.einsum("ij,ij->i", X, X) - inside @ values, 0.0)
        size = size + (n - len(values)) * np.log(rest) + outside / rest
    return np.asarray(-0.5 * size)


def refit(state: CompleteState, stats: Stats, orthogonal: bool = False) -> CompleteState:
    """Atoms by least squares, densities, sizes and noise from the codes; the score of the prior it had."""
    n_rows, (k, n), before = stats["n_rows"], state.atoms.shape, state.prior
    sums = without_mean(stats)
    ridge = 1e-10 * max(float(sums["gram"].diagonal().max()), 1e-10 * state.frame.energy)
    atoms = np.linalg.solve(sums["gram"] + ridge * np.eye(k), sums["cross"] + ridge * state.atoms)
    if orthogonal:
        atoms = polar(sums["cross"], toward=state.atoms)
    if state.centre is not None:
        state = replace(state, centre=state.centre + (stats["sum"] - stats["codes_sum"] @ atoms) / n_rows)
    norms = np.linalg.norm(atoms, axis=1)
    atoms = np.where(norms[:, None] > 0, atoms / np.where(norms > 0, norms, 1.0)[:, None], state.atoms)
    change = float(np.max(np.linalg.norm(atoms - state.atoms, axis=1)))
    if state.progress.passes % 2 and not orthogonal:
        atoms = unit_rows(state.atoms + _FURTHER * (atoms - state.atoms), atoms)
    counts = stats["counts"]
    free = max(n_rows * n - counts.sum() - k * n, 1.0)
    variance = stats["left"] / free
    variance = float(np.clip(variance, before.variance / _NOISE_STEP, _NOISE_STEP * before.variance))
    settled = abs(np.log(variance / before.variance)) < 0.02
    sizes = np.where(counts > 0, stats["squares"] / np.maximum(counts, 1) * norms**2, before.sizes)
    sizes = np.maximum(sizes, 1e-24 * state.frame.energy)
    density, score = np.clip(counts / n_rows, 1e-4, _DENSEST), stats["evidence"] / n_rows
    prior = Prior(variance, sizes, density, score, n_rows, settled)
    atoms, mended = _mended(atoms, counts / n_rows, stats["worst"].payload)
    error = np.sqrt(variance / np.max(np.maximum(counts, 1.0) * sizes))
    calm = change < _SETTLED * error and settled and not mended
    state = replace(state, prior=prior, progress=state.progress.after(change), counts=counts, rows=n_rows)
    state = at_atoms(replace(state, noise=float(np.sqrt(variance))), atoms)
    return replace(state, phase="refined") if calm or has_vanished(state.prior, state.frame) else state


def structure(prior: Prior, frame: Frame) -> float:
    """Evidence of the codes beyond that of Gaussian data with the same covariance, in nats per sample.

    Less what atoms gain by being fitted to few samples, by Schwarz's criterion: with 50 samples an atom wrong
    ones gain several nats.
    """
    n, values = len(frame.whiten), np.maximum(frame.variances, prior.variance)
    rest = max((frame.energy - float(frame.variances.sum())) / max(n - len(values), 1), prior.variance)
    logs = np.log(values).sum() + (n - len(values)) * np.log(rest)
    fitted = len(prior.sizes) * n * np.log(prior.rows) / prior.rows
    return float(prior.score + 0.5 * (n * np.log(2 * np.pi) + logs + n - fitted))


def at_atoms(state: CompleteState, atoms: NDArray[Any]) -> CompleteState:
    """The state with unit atoms, their decoder, and thresholds above the noise."""
    decoder = np.linalg.pinv(atoms)
    gain = np.linalg.norm(decoder, axis=0)
    white = atoms @ state.frame.whiten
    W = np.linalg.pinv(white / np.maximum(np.linalg.norm(white, axis=1, keepdims=True), 1e-300)).T
    return replace(
        state,
        atoms=atoms,
        W=W,
        noise_gain=gain,
        thresholds=3 * state.noise * gain,
        decoder=np.ascontiguousarray((decoder / state.scale).astype(state.decoder.dtype)),
    )


def has_vanished(prior: Prior, frame: Frame) -> bool:
    """Whether so little noise is left that the exact polish should take over."""
    return bool(np.sqrt(prior.variance) < 0.1 * NOISELESS * frame.rms)


def _mended(atoms: NDArray[Any], density: NDArray[Any], rests: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """Unused atoms, and the second of two that are one, become what the worst samples leave over."""
    cosine = np.triu(np.abs(atoms @ atoms.T), 1)
    bad = np.flatnonzero((density < _RARE) | (cosine > _TWIN).any(axis=0))[: len(rests)]
    norms = np.linalg.norm(rests[: len(bad)], axis=1, keepdims=True)
    if len(bad) == 0 or not np.all(norms > 0):
        return atoms, False
    atoms = atoms.copy()
    atoms[bad] = rests[: len(bad)] / norms
    return atoms, True
