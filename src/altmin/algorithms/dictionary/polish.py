r"""The polish of complete dictionaries: least squares on thresholded codes, to rounding or to the noise.

.. math:: X = \mathrm{HT}(Y A^{-1}), \qquad A \leftarrow (X^\top X)^{-1} X^\top Y

contracts the error of atom j by the largest non-trivial eigenvalue of the pencil (G_j, G), the Gram matrices
of the codes of samples that use j and of all: about theta (docs/theory, Proposition 1). All of it happens in
whitened coordinates, where codes have unit variance and atoms are nearly orthogonal.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.dictionary.block_sums import (
    LOUD,
    NOISE_FACTOR,
    WARM_END,
    fallen_thresholds,
    least_squares_decoder,
    noise_level,
)
from altmin.contract import Stats

if TYPE_CHECKING:
    from altmin.algorithms.dictionary.complete import CompleteState

_POLISH_PASSES, _PATIENCE = 100, 6  # at most, and without progress
_PURSUIT_PASSES, _PURSUIT_TOL = 40, 1e-3
_REPAIRS = 3  # times that mixed-up pairs of atoms are taken apart


def polish(state: CompleteState, stats: Stats, threshold: float | None) -> CompleteState:
    """A = (X'X)^-1 X'Y in whitened coordinates, rows scaled to unit norm; thresholds of the next pass."""
    W, change = least_squares_decoder(state.W, stats["gram"], white(state, stats))
    if not np.isfinite(change):
        return replace(state, phase="failed")
    noise = noise_level(stats["magnitudes"], float(np.mean(stats["counts"])) / stats["n_rows"])
    progress = state.progress.after(change)
    after = replace(
        state,
        progress=progress,
        noise=noise,
        rows=stats["n_rows"],
        counts=stats["counts"],
        squares=stats["squares"],
    )
    after = at(after, W)
    after = replace(after, thresholds=next_thresholds(after, state.W, threshold))
    exact = change <= 100 * np.finfo(state.decoder.dtype).eps
    if exact or progress.waited >= _PATIENCE or progress.passes >= _POLISH_PASSES:
        if threshold is None and is_loud(after):
            # thresholds this high lose the weak atoms: the pursuit goes on from the start itself
            return replace(at(after, after.search.rotation), phase="judge")
        mixed = after.search.repairs < _REPAIRS and is_exact(after)
        return replace(after, phase="pairs" if mixed else "judge")
    return after


def next_thresholds(state: CompleteState, before: NDArray[Any], threshold: float | None) -> NDArray[Any]:
    """The user's threshold in units of these codes, or what convergence and noise allow."""
    if threshold is not None:
        # in units of the data: codes of unit atoms, seen from those of the whitened ones
        atoms = np.linalg.solve(state.W.T, state.frame.unwhiten) * state.scale
        return np.asarray(threshold / np.linalg.norm(atoms, axis=1))
    thresholds = state.thresholds
    if state.progress.passes == 1:
        rms = np.sqrt(state.squares / np.maximum(state.counts, 1.0))
        thresholds = np.where(state.counts > 0, WARM_END * rms, thresholds)
    moved = np.linalg.norm(state.W - before, axis=1)  # rms over white data
    rounding = np.finfo(state.decoder.dtype).eps * np.sqrt(np.trace(state.frame.covariance))
    gain = state.noise_gain
    return fallen_thresholds(thresholds, moved, state.noise * gain, rounding * gain)


def pursue(state: CompleteState, stats: Stats) -> CompleteState:
    """A = (Z'Z)^-1 Z'Y with the pursuit's codes, until the atoms move by less than they are off."""
    W, change = least_squares_decoder(state.W, stats["gram"], white(state, stats))
    if not np.isfinite(change):
        return replace(state, phase="accepted", progress=replace(state.progress, change=0.0))
    density = float(np.mean(stats["counts"])) / stats["n_rows"]
    state = replace(
        at(state, W),
        progress=state.progress.after(change),
        rows=stats["n_rows"],
        counts=stats["counts"],
        # too low an estimate lets the pursuit choose too many atoms, which would lower it further
        noise=max(state.noise, noise_level(stats["magnitudes"], density)),
        atoms=np.linalg.solve(W.T, state.frame.unwhiten),
    )
    thresholds = NOISE_FACTOR * state.noise * state.noise_gain
    assert state.search.best is not None
    best = replace(state.search.best, W=W, thresholds=thresholds, noise=state.noise)
    state = replace(state, search=replace(state.search, best=best))
    done = change < _PURSUIT_TOL or state.progress.passes >= _PURSUIT_PASSES
    return replace(state, phase="accepted" if done else "pursuit")


def refine(state: CompleteState, stats: Stats) -> CompleteState:
    """One step of iterative refinement on the residual, in the data's own coordinates.

    What whitening of condition kappa lost to rounding (kappa eps) comes back.
    """
    best = state.search.best
    if best is None or not best.exact or not np.all(stats["counts"] > 0):
        return state
    return replace(state, atoms=state.atoms + np.linalg.solve(stats["gram"], stats["left"]))


def is_loud(state: CompleteState) -> bool:
    """Whether thresholds above the noise are a large share of the codes, which have unit variance."""
    return NOISE_FACTOR * state.noise * float(np.max(state.noise_gain)) > LOUD


def is_exact(state: CompleteState) -> bool:
    """Whether small codes vanish to rounding, which happens under no rotation of dense codes."""
    density = float(np.max(state.counts)) / state.rows
    rounding = np.finfo(state.decoder.dtype).eps * np.sqrt(np.trace(state.frame.covariance))
    return density < 0.95 and state.noise < 1e4 * rounding


def white(state: CompleteState, stats: Stats) -> NDArray[Any]:
    """Sums Z'V over whitened data V = X P, from the sums Z'X of a round."""
    return np.asarray(stats["cross"] / state.scale @ state.frame.whiten)


def newton_step(state: CompleteState, stats: Stats) -> NDArray[Any]:
    """Newton's step of each row of W, from the whitened means E[g(z) v'] and E[g'(z)]."""
    slope = stats["slope"] / stats["n_rows"]
    return np.asarray(white(state, stats) / stats["n_rows"] - slope[:, None] * state.W)


def at(state: CompleteState, W: NDArray[Any]) -> CompleteState:
    """The state with another decoder."""
    decoder = state.frame.whiten @ W.T
    return replace(
        state,
        W=W,
        noise_gain=np.linalg.norm(decoder, axis=0),
        decoder=np.ascontiguousarray((decoder / state.scale).astype(state.decoder.dtype)),
    )
