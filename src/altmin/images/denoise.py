"""Denoising by an orthogonal transform that is learnt from the noisy image itself."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from altmin.engine.plan import allowed_threads
from altmin.images.frame import as_frame
from altmin.images.learn import alternate, cosine_patches
from altmin.images.noise import noise_of_channels
from altmin.images.patches import Patches
from altmin.kernels.patches import drop_small, wiener_shrink

_THRESHOLD = 2.7  # of the codes that survive, in sigmas
_LEARN = (3.0, 1.0)  # thresholds while learning from the noisy and from the cleaned image
_SAMPLE, _PASSES = 20_000, 15


def denoise(
    image: ArrayLike, sigma: float | None = None, *, patch_size: int = 8, n_jobs: int | None = None
) -> NDArray[Any]:
    r"""Take white noise out of an image.

    .. math:: y = x + \sigma \epsilon

    In two rounds over all overlapping patches (means apart): an orthogonal dictionary D is learnt from the
    noisy patches, codes under :math:`2.7\sigma` are dropped and patches averaged, sparser ones counting
    more; then D is learnt again from that estimate, whose codes s give the Wiener factors
    :math:`s^2/(s^2+\sigma^2)` of the noisy codes. Colour is rotated to uncorrelated channels first.

    Parameters
    ----------
    image : array-like of shape (H, W) or (H, W, channels)
        Noisy image: integers (uint8, ...) or floats.
    sigma : float or None
        Standard deviation of the noise in the units of the image; None estimates it
        (:func:`estimate_noise`).
    patch_size : int
        Side of the patches.
    n_jobs : int or None
        Threads; the result doesn't depend on it.

    Returns
    -------
    ndarray
        Of the shape and type of the image. Integers are rounded and clipped to their range.

    Notes
    -----
    **Guarantee.** None of recovery; the Wiener factors are optimal given the variances of the codes.

    **Cost.** Two fits of an orthogonal dictionary to at most 20,000 patches, and 2 * n_pixels *
    patch_size^4 operations for the transforms.

    References
    ----------
    G. Liang, G. Zhang, S. Fattahi and R. Y. Zhang, Simple alternating minimization provably solves complete
    dictionary learning, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.images import denoise
    >>> clean = np.kron([[0.2, 0.8], [0.8, 0.2]], np.ones((24, 24)))
    >>> noisy = clean + 0.1 * np.random.default_rng(0).standard_normal(clean.shape)
    >>> bool(np.std(denoise(noisy) - clean) < 0.03)
    True
    """
    frame = as_frame(image)
    if sigma is None:
        sigma = noise_of_channels(frame.values)
    elif not isinstance(sigma, Real) or not 0 <= sigma < np.inf:
        raise ValueError(f"sigma is {sigma!r}; a number >= 0 in the units of the image is needed, or None")
    else:
        sigma = float(sigma) / frame.scale
    if sigma < np.finfo(np.float32).eps:
        return np.array(image)
    n_jobs = allowed_threads(n_jobs)
    size = min(patch_size, *frame.values.shape[:2])
    rotation = _uncorrelated(frame.values)
    channels = np.moveaxis(frame.values @ rotation, -1, 0)
    cleaned = [_denoise_channel(np.ascontiguousarray(c), sigma, size, n_jobs) for c in channels]
    return frame.restore(np.stack(cleaned, axis=-1) @ rotation.T)


def _denoise_channel(noisy: NDArray[Any], sigma: float, size: int, n_jobs: int | None) -> NDArray[Any]:
    patches = Patches(noisy, size, center=True)
    atoms = _learn(patches, cosine_patches(size, size), _LEARN[0] * sigma, n_jobs)

    def threshold(X: NDArray[Any], rows: slice) -> tuple[NDArray[Any], NDArray[Any]]:
        Z, weights = X @ atoms.T, np.empty(len(X), X.dtype)
        drop_small(Z, X.dtype.type(_THRESHOLD * sigma), weights)
        return Z @ atoms, weights

    pilots = Patches(patches.rebuild(threshold, n_jobs), size, center=True)
    better = _learn(pilots, atoms, _LEARN[1] * sigma, n_jobs)

    def wiener(X: NDArray[Any], rows: slice) -> tuple[NDArray[Any], NDArray[Any]]:
        pilot = pilots.read(rows.start, rows.stop).X @ better.T
        Z, weights = X @ better.T, np.empty(len(X), X.dtype)
        wiener_shrink(Z, pilot, X.dtype.type(sigma * sigma), weights)
        return Z @ better, weights

    return patches.rebuild(wiener, n_jobs)[:, :, 0]


def _learn(patches: Patches, init: NDArray[Any], threshold: float, n_jobs: int | None) -> NDArray[Any]:
    sample = patches.sample(_SAMPLE, seed=0)
    if not sample.any():  # a flat channel
        return init
    atoms = alternate(sample, init, threshold=threshold, max_iter=_PASSES, n_jobs=n_jobs)
    return atoms.astype(sample.dtype)


def _uncorrelated(values: NDArray[Any]) -> NDArray[Any]:
    """Rotation of the channels to their principal axes: white noise stays white under it."""
    pixels = values.reshape(-1, values.shape[2]).astype(np.float64)
    pixels -= pixels.mean(axis=0)
    return np.linalg.eigh(pixels.T @ pixels)[1].astype(np.float32)
