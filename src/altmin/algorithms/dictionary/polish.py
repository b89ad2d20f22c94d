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
    correction,
    fallen_thresholds,
    first_moments,
    in_single,
    least_squares_decoder,
    noise_level,
    sampled_magnitudes,
    signals,
    without_mean,
)
from altmin.contract import Block, Stats
from altmin.kernels.gram import row_norms2, times
from altmin.kernels.polar import polar
from altmin.kernels.thresholds import split_large

if TYPE_CHECKING:
    from altmin.algorithms.dictionary.complete import CompleteState

_POLISH_PASSES, _PATIENCE = 100, 6  # at most, and without progress
_MEMORY, _STANDS, _LONGEST = (
    3,
    0.02,
    1.0,
)  # secants, the move of a pass from which they are taken, the longest
_ROUGH = 1e-3  # move of a pass above which single precision serves
_REPAIRS = 3  # times that mixed-up pairs of atoms are taken apart


def polish_map(algorithm: Any, state: CompleteState, block: Block) -> Stats:
    """Codes Z that pass the thresholds, and R that don't: Z'Z and Z'R tell how far the atoms have to move.

    Only Z + R needs the precision of the data, as R vanishes where the atoms are right; while they are far
    from that, not even Z + R does.
    """
    rows = in_single(state, block) if _is_rough(state) else (signals(state, block), state.decoder)
    codes = times(*rows)
    Z, R, counts, squares = split_large(codes, state.thresholds)
    inlier = block.columns.get("inlier")
    telling = codes if inlier is None else codes[inlier > 0]  # rows that were set to 0 have no noise
    stats = {
        "magnitudes": sampled_magnitudes(telling, state.noise_gain),
        "n_rows": block.n_rows,
        "counts": counts,
        "squares": squares,
        **correction(Z, R),
    }
    return stats if state.centre is None else stats | first_moments(R, Z)


def _is_rough(state: CompleteState) -> bool:
    """Whether atoms still move by far more than what single precision loses in a code."""
    far = state.progress.passes == 0 or state.progress.change > _ROUGH
    # products of n terms lose about a tenth of this bound
    lost = 0.1 * np.finfo(np.float32).eps * np.sqrt(state.frame.energy) * float(np.max(state.noise_gain))
    return far and lost < 0.3 * _ROUGH


def polish(
    state: CompleteState, stats: Stats, threshold: float | None, orthogonal: bool = False
) -> CompleteState:
    """A = (X'X)^-1 X'Y in whitened coordinates, rows scaled to unit norm; thresholds of the next pass."""
    sums = without_mean(stats)
    if orthogonal:
        W, change = polar_decoder(state, sums)
    else:
        W, change = least_squares_decoder(state.W, sums["gram"], sums["cross"])
    if not np.isfinite(change):
        return replace(state, phase="failed")
    noise = noise_level(stats["magnitudes"], float(np.mean(stats["counts"])) / stats["n_rows"])
    progress = state.progress.after(change)
    W, secants = accelerated(state, W)
    after = replace(
        state,
        progress=progress,
        secants=secants,
        noise=noise,
        rows=stats["n_rows"],
        counts=stats["counts"],
        squares=stats["squares"],
    )
    after, drift = recentred(at(after, W), stats)
    after = replace(after, thresholds=next_thresholds(after, state.W, threshold, drift))
    # as far as the next pass would move
    left = change * change / max(state.progress.change, change, np.finfo(float).tiny)
    exact = left <= max(100, 6 * len(W)) * np.finfo(state.decoder.dtype).eps  # rounding of a sum of k terms
    if exact or progress.waited >= _PATIENCE or progress.passes >= _POLISH_PASSES:
        if is_loud(after):
            return replace(after, phase="loud")
        mixed = after.search.repairs < _REPAIRS and is_exact(after)
        return replace(after, phase="pairs" if mixed else "judge")
    return after


def accelerated(state: CompleteState, W: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    r"""Secant steps for each atom, once the supports stand: half as many passes to rounding.

    Under fixed supports a pass maps the error of an atom linearly, e to M e. From the moves d of the last
    passes the combination that would have been smallest follows (Anderson's acceleration, one atom at a
    time), as conjugate gradients do it for a linear system.

    Parameters
    ----------
    state : CompleteState
        Before the pass, with ``secants``: decoders before the last passes, and how far those moved them.
    W : ndarray of shape (k, k)
        What the pass makes of ``state.W``.

    Returns
    -------
    W : ndarray of shape (k, k)
        Further along.
    secants : ndarray of shape (m, 2, k, k)
        For the next pass, the latest first.
    """
    now = np.stack([state.W, W - state.W])
    if state.secants is None or state.progress.change > _STANDS:
        return W, now[None]
    past = np.concatenate([now[None], state.secants])[: _MEMORY + 1]
    turns = past[0] - past[1:]  # (m, 2, k, k)
    size = np.einsum("aij,bij->iab", turns[:, 1], turns[:, 1])
    size += (
        1e-12 * np.trace(size, axis1=1, axis2=2)[:, None, None] * np.eye(len(turns)) + np.finfo(float).tiny
    )
    share = np.linalg.solve(size, np.einsum("aij,ij->ia", turns[:, 1], past[0, 1])[:, :, None])[:, :, 0]
    share[np.abs(share).sum(axis=1) > _LONGEST] = 0.0
    return W - np.einsum("ia,aij->ij", share, turns.sum(axis=1)), past


def first_thresholds(state: CompleteState, threshold: float | None) -> NDArray[Any]:
    """The user's threshold in units of these codes, or a guess that one pass corrects.

    Codes have unit variance here, so nonzeros have rms 1 / sqrt(theta): the guess is above that of dense
    codes.
    """
    if threshold is None:
        return np.full(len(state.W), 0.8)
    # in units of the data: codes of unit atoms, seen from those of the whitened ones
    atoms = np.linalg.solve(state.W.T, state.frame.unwhiten) * state.scale
    return np.asarray(threshold / np.linalg.norm(atoms, axis=1))


def next_thresholds(
    state: CompleteState, before: NDArray[Any], threshold: float | None, drift: NDArray[Any] | float = 0.0
) -> NDArray[Any]:
    """The user's threshold, or what convergence and noise allow."""
    if threshold is not None:
        return first_thresholds(state, threshold)
    thresholds = state.thresholds
    if state.progress.passes == 1:
        rms = np.sqrt(state.squares / np.maximum(state.counts, 1.0))
        thresholds = np.where(state.counts > 0, WARM_END * rms, thresholds)
    moved = np.sqrt(row_norms2(state.W - before)) + drift  # rms over white data
    rounding = rounding_of(state)
    gain = state.noise_gain
    return fallen_thresholds(thresholds, moved, state.noise * gain, rounding * gain)


def recentred(state: CompleteState, stats: Stats) -> tuple[CompleteState, NDArray[Any] | float]:
    """The intercept of the same least squares, and how far that moved the codes."""
    if state.centre is None:
        return state, 0.0
    sums, near = without_mean(stats), np.linalg.solve(state.W.T, state.frame.unwhiten)
    ridge = 1e-10 * max(float(sums["gram"].diagonal().max()), 1e-10) * np.eye(len(near))
    moved = np.linalg.solve(sums["gram"] + ridge, sums["cross"] @ near)
    step = (stats["sum"] @ near - stats["codes_sum"] @ moved) / stats["n_rows"]
    return replace(state, centre=state.centre + step), np.abs(step @ (state.frame.whiten @ state.W.T))


def half_sample_mode(Z: NDArray[Any]) -> NDArray[Any]:
    """Where the values of each column are densest: the shortest half, again and again."""
    modes = np.empty(Z.shape[1])
    for j, values in enumerate(np.sort(np.asarray(Z, np.float64), axis=0).T):
        while len(values) > 3:
            half = (len(values) + 1) // 2
            start = int(np.argmin(values[half - 1 :] - values[: len(values) - half + 1]))
            values = values[start : start + half]
        modes[j] = values.mean()
    return modes


def polar_decoder(state: CompleteState, sums: Stats) -> tuple[NDArray[Any], float]:
    """The polish with orthogonal atoms: the polar factor of Z'X, as a decoder, and how far that moved.

    Z'X = Z'(Z + R) A, and the polar factor of Z'Z A is A to rounding, however roughly Z'Z is known.
    """
    atoms = np.linalg.solve(state.W.T, state.frame.unwhiten)
    norms = np.linalg.norm(atoms, axis=1, keepdims=True)
    unit = polar((sums["gram"] + sums["cross"]) @ atoms * norms, toward=atoms / norms)
    white = unit @ state.frame.whiten
    W = np.linalg.inv(white / np.linalg.norm(white, axis=1, keepdims=True)).T
    return W, float(np.max(np.linalg.norm(W - state.W, axis=1)))


def refine(state: CompleteState, stats: Stats, orthogonal: bool = False) -> CompleteState:
    """One step of iterative refinement on the residual, in the data's own coordinates.

    What whitening of condition kappa lost to rounding (kappa eps) comes back.
    """
    best = state.search.best
    if best is None or not best.exact or not np.all(stats["counts"] > 0) or orthogonal:
        return state
    sums = without_mean(stats)
    step = np.linalg.solve(sums["gram"], sums["cross"])
    if state.centre is not None:
        left = (stats["sum"] - stats["codes_sum"] @ step) / stats["n_rows"]
        state = replace(state, centre=state.centre + left)
    return replace(state, atoms=state.atoms + step)


def is_loud(state: CompleteState) -> bool:
    """Whether thresholds above the noise are a large share of the codes, which have unit variance."""
    return NOISE_FACTOR * state.noise * float(np.max(state.noise_gain)) > LOUD


def is_exact(state: CompleteState) -> bool:
    """Whether small codes vanish to rounding, which happens under no rotation of dense codes."""
    density = float(np.max(state.counts)) / state.rows
    return density < 0.95 and state.noise < 1e4 * rounding_of(state)


def rounding_of(state: CompleteState) -> float:
    """Rounding error of the data's entries."""
    size = (
        state.frame.energy
        if state.centre is None
        else state.frame.energy + float(state.centre @ state.centre)
    )
    return float(np.finfo(state.decoder.dtype).eps * np.sqrt(size))


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
        noise_gain=np.sqrt(np.einsum("ij,ij->j", decoder, decoder)),
        decoder=np.ascontiguousarray((decoder / state.scale).astype(state.decoder.dtype)),
    )
