"""Bands without signal: dead detectors, water vapour."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from altmin.hyperspectral.cube import check_cube

_MOST_PIXELS = 20_000


def noisy_bands(cube: ArrayLike, *, noise_share: float = 0.5) -> NDArray[np.bool_]:
    r"""Bands that are constant, hold no number, or stand out by noise that drowns their signal.

    .. math:: \sigma_b^2 = \operatorname{var}(y_b \mid \text{other bands}) = 1 / (C^{-1})_{bb}
       > \text{noise\_share} \cdot C_{bb}, \qquad \sigma_b > 3 \operatorname{median} \sigma

    Neighbouring bands see nearly the same, so what linear regression on all the other bands cannot predict
    is noise (Roger and Arnold 1996; Bioucas-Dias and Nascimento 2008). A band in which all materials look
    alike has little signal but no more noise than others, and stays.

    Parameters
    ----------
    cube : array-like of shape (rows, columns, bands)
        Reflectances; NaN or masked entries are unknown.
    noise_share : float
        Share of a band's variance that may be unpredictable. With .5 a band goes where it holds more noise
        than signal.

    Returns
    -------
    ndarray of bool of shape (bands,)
        True for the bad ones.

    Notes
    -----
    **Guarantee.** None: the share of noise is estimated by regression, right where noise is independent
    between bands.

    **Cost.** A covariance of at most 20,000 pixels and its inverse, bands^3.

    References
    ----------
    R. E. Roger and J. F. Arnold, Reliably estimating the noise in AVIRIS hyperspectral images,
    International Journal of Remote Sensing 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.datasets import make_scene
    >>> from altmin.hyperspectral import noisy_bands
    >>> cube = make_scene(random_state=0).cube
    >>> cube[:, :, 40] = np.random.default_rng(0).normal(size=cube.shape[:2])
    >>> np.flatnonzero(noisy_bands(cube)).tolist()
    [40]
    """
    array = check_cube(cube)
    pixels = array.reshape(-1, array.shape[2]).astype(np.float64)
    size = np.nanmax(np.abs(pixels), initial=0.0)
    pixels = pixels[:: -(-len(pixels) // _MOST_PIXELS)]
    known = np.isfinite(pixels)
    share_known = known.mean(axis=0)
    dead = share_known < 0.5
    pixels = np.where(known, pixels, 0.0)
    pixels -= pixels.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    pixels[~known] = 0.0
    spread = np.sqrt(np.mean(pixels**2, axis=0))
    dead |= spread <= 1e-12 * size
    bad = dead.copy()
    if np.sum(~dead) > 2 and len(pixels) > 2 * np.sum(~dead):
        Z = pixels[:, ~dead] / spread[~dead]
        C = Z.T @ Z / len(Z)
        # A trace of noise keeps the inverse finite where bands depend on each other exactly.
        inverse = np.linalg.inv(C + 1e-10 * np.eye(len(C)))
        share = 1.0 / np.diag(inverse)
        noise = np.sqrt(share) * spread[~dead]
        bad[~dead] = (share > noise_share) & (noise > 3 * np.median(noise))
    return bad
