"""Ways to fill in missing pixels; :func:`altmin.images.inpaint` explains and chooses.

Each takes a layer of shape (H, W, C) whose missing pixels hold a first guess, and gives one of that shape.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from altmin.images.patches import Patches
from altmin.kernels.pursuit import Pursuit

Array = NDArray[Any]

_CONTRAST = (2.5, 0.05)  # first and last threshold, in standard deviations of the known pixels
_MMSE_ROUNDS = 3
_MMSE_NOISE = 1e-4  # of the mean variance of a pixel: keeps the solve well conditioned
_MMSE_CHUNK = 256


def smooth_fill(values: Array, missing: NDArray[np.bool_]) -> Array:
    """Missing pixels as weighted means of the known ones around them, the wider the emptier the place."""
    known = (~missing).astype(np.float64)
    channels = np.where(missing[:, :, None], 0.0, values).astype(np.float64)
    means = values[~missing].mean(axis=0, dtype=np.float64)
    filled = np.broadcast_to(means, values.shape).copy()
    todo = missing.copy()
    radius = 1.0
    while todo.any() and radius < max(missing.shape):
        weight = gaussian_filter(known, radius)
        ready = todo & (weight > 0.05)
        for c in range(values.shape[2]):
            filled[ready, c] = gaussian_filter(channels[:, :, c], radius)[ready] / weight[ready]
        todo &= ~ready
        radius *= 2.0
    return np.where(missing[:, :, None], filled, values).astype(np.float32)


def threshold_fill(
    layer: Array,
    missing: NDArray[np.bool_],
    atoms: Array,
    size: tuple[int, int],
    step: Any,
    max_iter: int,
    n_jobs: int | None,
) -> Array:
    """Iterated hard thresholds of overlapping patches under orthonormal atoms."""
    drift = np.abs(atoms @ atoms.T - np.eye(len(atoms))).max()
    if atoms.shape[0] != atoms.shape[1] or drift > 1e-3:
        raise ValueError(
            f"method='threshold' needs an orthogonal dictionary; this one has shape {atoms.shape} and its "
            f"Gram matrix is {drift:.2g} from the identity (use method='omp' or 'mmse')"
        )
    contrast = float(layer[~missing].std())
    for threshold in contrast * np.geomspace(*_CONTRAST, max_iter):

        def estimate(X: Array, rows: slice, threshold: float = threshold) -> tuple[Array, Array]:
            Z = X @ atoms.T
            Z *= np.abs(Z) >= threshold
            return Z @ atoms, np.ones(len(X), X.dtype)

        filled = Patches(layer, size, step=step, center=True).rebuild(estimate, n_jobs)
        layer = np.where(missing[:, :, None], filled, layer)
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
    seen = _seen(layer, missing, size, step)

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
    seen = _seen(layer, missing, size, step)
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
        layer = np.where(missing[:, :, None], filled, layer)
    return layer


def _conditional_mean(X: Array, known: NDArray[np.bool_], S: Array) -> Array:
    """Mean of zero-mean Gaussian rows of covariance S given their known entries."""
    inner = np.where(known[:, :, None] & known[:, None, :], S, np.eye(S.shape[0]))
    return np.linalg.solve(inner, (X * known)[:, :, None])[:, :, 0] @ S


def _seen(layer: Array, missing: NDArray[np.bool_], size: tuple[int, int], step: Any) -> Patches:
    """Patches of the mask, aligned with those of the layer: 1 where a pixel is known."""
    known = np.broadcast_to(~missing[:, :, None], layer.shape)
    return Patches(np.ascontiguousarray(known, dtype=np.float32), size, step=step)
