"""Ways to fill in missing pixels; :func:`altmin.images.inpaint` explains and chooses.

Each takes a layer of shape (H, W, C) whose missing pixels hold a first guess, and which pixels these are, in
the same shape; and gives a filled layer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from altmin.engine.progress import Progress
from altmin.images.groups import patch_size, uncorrelated, wiener_pass
from altmin.images.learn import cosine_patches
from altmin.images.patches import Patches
from altmin.kernels.pursuit import Pursuit

Array = NDArray[Any]

_CONTRAST = (2.5, 0.05)  # first and last threshold, in standard deviations of the known pixels
_COARSE, _FIRST = (2.5, 0.5), 10  # thresholds of the first guess, and how many
_LEVELS, PASSES = (0.33, 0.05), 8  # noise that is assumed in the first and in the last pass over groups
_MOMENTUM = 0.3
_LEAST_KNOWN = 0.3  # fewer pixels than this share would be weighed too much
_MMSE_ROUNDS = 3
_MMSE_NOISE = 1e-4  # of the mean variance of a pixel: keeps the solve well conditioned
_MMSE_CHUNK = 256


def smooth_fill(values: Array, missing: NDArray[np.bool_]) -> Array:
    """Missing pixels as weighted means of the known ones around them, the wider the emptier the place."""
    filled = values.astype(np.float32)
    for c in range(values.shape[2]):
        todo, known = missing[:, :, c].copy(), ~missing[:, :, c]
        channel = np.where(known, values[:, :, c], 0.0).astype(np.float64)
        filled[todo, c] = channel.sum() / max(known.sum(), 1)
        radius = 1.0
        while todo.any() and radius < max(todo.shape):
            weight = gaussian_filter(known.astype(np.float64), radius)
            ready = todo & (weight > 0.05)
            filled[ready, c] = gaussian_filter(channel, radius)[ready] / weight[ready]
            todo &= ~ready
            radius *= 2.0
    return filled


def group_fill(
    start: Array, missing: NDArray[np.bool_], sigma: Array | None, n_jobs: int, progress: Progress
) -> Array:
    r"""Iterated Wiener filters of groups of similar patches, under noise that falls to the true one.

    In each pass the current estimate x and the known pixels y give :math:`z = x + (y - x) / \rho` where
    pixels are known and :math:`z = x` elsewhere, with the share :math:`\rho` of known pixels: on average the
    picture itself, with noise of variance :math:`\sigma^2 / \rho`. Some noise is assumed even if there is
    none, a lot at first: the filter then spreads what is known, as falling thresholds do.
    """
    known, contrast = ~missing, float(start[~missing].std()) or 1.0
    share = max(float(known.mean()), _LEAST_KNOWN)
    true = np.zeros(start.shape[2]) if sigma is None else sigma
    size = patch_size(start.transpose(2, 0, 1))
    atoms = cosine_patches(*size)
    x = np.concatenate(
        [
            threshold_fill(start[:, :, [c]], missing[:, :, [c]], atoms, size, 1, _FIRST, n_jobs, _COARSE)
            for c in range(start.shape[2])
        ],
        axis=-1,
    )
    last = x
    for k, level in enumerate(contrast * np.geomspace(*_LEVELS, PASSES)):
        ahead = x + _MOMENTUM * (x - last)
        z = np.where(known, ahead + (start - ahead) / share, ahead)
        units = (np.maximum(true, level) / np.sqrt(share)).astype(np.float32)
        noisy, rotation = uncorrelated(z / units)
        pilot = np.ascontiguousarray(np.moveaxis((ahead / units) @ rotation, -1, 0))
        filtered = wiener_pass(noisy, pilot, n_jobs, progress)
        last, x = x, (np.moveaxis(filtered, 0, -1) @ rotation.T) * units
        progress.iteration(k + 1, {})
    return x


def threshold_fill(
    layer: Array,
    missing: NDArray[np.bool_],
    atoms: Array,
    size: tuple[int, int],
    step: Any,
    max_iter: int,
    n_jobs: int | None,
    contrasts: tuple[float, float] = _CONTRAST,
) -> Array:
    """Iterated hard thresholds of overlapping patches under orthonormal atoms."""
    drift = np.abs(atoms @ atoms.T - np.eye(len(atoms))).max()
    if atoms.shape[0] != atoms.shape[1] or drift > 1e-3:
        raise ValueError(
            f"method='threshold' needs an orthogonal dictionary; this one has shape {atoms.shape} and its "
            f"Gram matrix is {drift:.2g} from the identity (use method='omp' or 'mmse')"
        )
    contrast = float(layer[~missing].std())
    for threshold in contrast * np.geomspace(*contrasts, max_iter):

        def estimate(X: Array, rows: slice, threshold: float = threshold) -> tuple[Array, Array]:
            Z = X @ atoms.T
            Z *= np.abs(Z) >= threshold
            return Z @ atoms, np.ones(len(X), X.dtype)

        filled = Patches(layer, size, step=step, center=True).rebuild(estimate, n_jobs)
        layer = np.where(missing, filled, layer)
    return layer


def pursuit_fill(
    layer: Array,
    missing: NDArray[np.bool_],
    atoms: Array,
    size: tuple[int, int],
    step: Any,
    n_nonzero: int,
    selection: str,
    weights: Any,
    n_jobs: int | None,
) -> Array:
    """Each patch by a pursuit on its observed pixels, less their mean."""
    pursuit = Pursuit(atoms, n_nonzero, selection, None if weights is None else np.asarray(weights))
    seen = _seen(missing, size, step)

    def estimate(X: Array, rows: slice) -> tuple[Array, Array]:
        known = seen.read(rows.start, rows.stop).X > 0
        count = known.sum(axis=1, keepdims=True)
        means = np.where(count > 0, (X * known).sum(axis=1, keepdims=True) / np.maximum(count, 1), X.mean())
        codes = pursuit(X - means, mask=known).dense()
        return (codes @ atoms + means).astype(X.dtype), np.ones(len(X), X.dtype)

    return Patches(layer, size, step=step).rebuild(estimate, n_jobs)


def mmse_fill(
    layer: Array,
    missing: NDArray[np.bool_],
    atoms: Array,
    size: tuple[int, int],
    step: Any,
    variances: Any,
    n_jobs: int | None,
) -> Array:
    r"""Linear estimate of least mean square error: :math:`\Sigma_{mo}\Sigma_{oo}^{-1} x_o` for each patch.

    The covariance of pixels :math:`\Sigma` follows from the variances of the codes and of the means; where
    those aren't given they are read off the layer as it is filled, a few rounds.
    """
    inverse = np.linalg.pinv(atoms.astype(np.float64))
    seen = _seen(missing, size, step)
    for _ in range(1 if variances is not None else _MMSE_ROUNDS):
        centred = Patches(layer, size, center=True).sample(20_000, seed=0)
        v = np.mean((centred @ inverse) ** 2, axis=0) if variances is None else np.asarray(variances)
        covariance = (atoms.T * v) @ atoms + 4.0 * float(np.mean(layer**2))
        covariance = covariance + _MMSE_NOISE * np.mean(np.diag(covariance)) * np.eye(len(covariance))

        def estimate(X: Array, rows: slice, S: Array = covariance) -> tuple[Array, Array]:
            known = seen.read(rows.start, rows.stop).X > 0
            cuts = range(0, len(X), _MMSE_CHUNK)
            parts = [_conditional_mean(X[i : i + _MMSE_CHUNK], known[i : i + _MMSE_CHUNK], S) for i in cuts]
            return np.concatenate(parts).astype(X.dtype), np.ones(len(X), X.dtype)

        filled = Patches(layer, size, step=step).rebuild(estimate, n_jobs)
        layer = np.where(missing, filled, layer)
    return layer


def _conditional_mean(X: Array, known: NDArray[np.bool_], S: Array) -> Array:
    """Mean of zero-mean Gaussian rows of covariance S given their known entries."""
    inner = np.where(known[:, :, None] & known[:, None, :], S, np.eye(S.shape[0]))
    return np.linalg.solve(inner, (X * known)[:, :, None])[:, :, 0] @ S


def _seen(missing: NDArray[np.bool_], size: tuple[int, int], step: Any) -> Patches:
    """Patches of the mask, aligned with those of the layer: 1 where a pixel is known."""
    return Patches((~missing).astype(np.float32), size, step=step)
