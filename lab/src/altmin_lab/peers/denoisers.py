"""Other denoisers behind one call: ``denoiser(noisy, sigma)`` for grey images in units of 0 to 255."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin_lab.peers.ksvd import ksvd_denoise

Denoiser = Callable[[NDArray[Any], float], NDArray[Any]]


def toolbox_ksvd(noisy: NDArray[Any], sigma: float) -> NDArray[Any]:
    """K-SVD at the settings of Rubinstein's toolbox: 40,000 patches, 20 rounds, 256 atoms of 8 x 8."""
    return ksvd_denoise(noisy, sigma, n_training=40_000, max_iter=20)


def quick_ksvd(noisy: NDArray[Any], sigma: float) -> NDArray[Any]:
    """K-SVD with 20,000 patches and ten rounds, as in Elad and Aharon 2006 but for the patches."""
    return ksvd_denoise(noisy, sigma)


def block_matching(noisy: NDArray[Any], sigma: float) -> NDArray[Any]:
    """BM3D of the authors (``pip install bm3d``) at its defaults."""
    import bm3d

    return np.asarray(bm3d.bm3d(noisy, sigma))


def colour_block_matching(noisy: NDArray[Any], sigma: float) -> NDArray[Any]:
    """Colour BM3D of the authors (opponent colours, groups found on luminance) at its defaults."""
    import bm3d

    return np.asarray(bm3d.bm3d_rgb(noisy, sigma))


def total_variation(noisy: NDArray[Any], sigma: float) -> NDArray[Any]:
    """scikit-image's total variation (Chambolle), weight = .7 sigma, the best for all strengths."""
    from skimage.restoration import denoise_tv_chambolle

    return np.asarray(denoise_tv_chambolle(noisy / 255, weight=0.7 * sigma / 255)) * 255


def wavelets(noisy: NDArray[Any], sigma: float) -> NDArray[Any]:
    """scikit-image's wavelet shrinkage (BayesShrink, soft, cycle-spun over 3 x 3 shifts)."""
    from skimage.restoration import cycle_spin, denoise_wavelet

    options = {"sigma": sigma / 255, "method": "BayesShrink", "mode": "soft", "rescale_sigma": True}
    spun = cycle_spin(noisy / 255, max_shifts=2, func=denoise_wavelet, func_kw=options)
    return np.asarray(spun) * 255


def non_local_means(noisy: NDArray[Any], sigma: float) -> NDArray[Any]:
    """scikit-image's non-local means with the noise known (7 x 7, distance 11, h = .8 sigma, fast)."""
    from skimage.restoration import denoise_nl_means

    level = sigma / 255
    options: dict[str, Any] = {"patch_size": 7, "patch_distance": 11, "fast_mode": True}
    return np.asarray(denoise_nl_means(noisy / 255, h=0.8 * level, sigma=level, **options)) * 255
