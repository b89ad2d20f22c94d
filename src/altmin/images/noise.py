"""The noise of an image, from the spectrum of its patches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from altmin.images.frame import as_frame
from altmin.images.patches import Patches

_SAMPLE = 100_000


def estimate_noise(image: ArrayLike, *, patch_size: int = 8) -> float:
    r"""Standard deviation of additive white noise.

    Patches of a clean image lie near a subspace, so the smallest eigenvalues of their covariance are
    those of the noise alone. The eigenvalues that are left after the largest ones were taken away belong
    to noise as soon as their mean is not above their median (Chen, Zhu and Heng 2015).

    Parameters
    ----------
    image : array-like of shape (H, W) or (H, W, channels)
        The noisy image.
    patch_size : int
        Side of the patches.

    Returns
    -------
    float
        Sigma in the units of the image; of the channels together, where there are several.

    Notes
    -----
    **Cost.** A covariance of patches, n_pixels * patch_size^4, and its eigenvalues.

    References
    ----------
    G. Chen, F. Zhu and P. A. Heng, An efficient statistical method for image noise level estimation,
    ICCV 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.images import estimate_noise
    >>> rng = np.random.default_rng(0)
    >>> bool(abs(estimate_noise(0.1 * rng.standard_normal((64, 64))) - 0.1) < 0.01)
    True
    """
    frame = as_frame(image)
    return noise_of_channels(frame.values, patch_size) * frame.scale


def noise_of_channels(values: NDArray[Any], patch_size: int = 8) -> float:
    """Sigma of channels of shape (H, W, C): root of the channels' mean variance."""
    size = min(patch_size, *values.shape[:2])
    variances = []
    for c in range(values.shape[2]):
        X = Patches(values[:, :, c], size).sample(_SAMPLE, seed=0).astype(np.float64)
        X -= X.mean(axis=0)
        variances.append(_noise_variance(np.linalg.eigvalsh(X.T @ X / len(X))))
    return float(np.sqrt(np.mean(variances)))


def _noise_variance(eigenvalues: NDArray[Any]) -> float:
    """Mean of the small eigenvalues, as many as look like noise; ``eigenvalues`` rise."""
    eigenvalues = np.maximum(eigenvalues, 0.0)
    for n in range(len(eigenvalues), 0, -1):
        small = eigenvalues[:n]
        if small.mean() <= np.median(small):
            return float(small.mean())
    return float(eigenvalues[0])
