"""How far spectra and abundance maps are from the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from altmin.metrics.matching import match_components, sine_errors


def spectral_angle(endmembers: ArrayLike, reference: ArrayLike) -> NDArray[Any]:
    r"""Angle between each spectrum of the reference and its match, in radians.

    .. math:: \theta_i = \arccos \frac{\langle e_{\pi(i)}, e^*_i \rangle}{\|e_{\pi(i)}\| \|e^*_i\|}

    Parameters
    ----------
    endmembers : array-like of shape (n_endmembers, n_bands)
        Spectra, in any order and scale.
    reference : array-like of shape (n_reference, n_bands)
        The truth; at most as many.

    Returns
    -------
    ndarray of shape (n_reference,)
        Matched one to one; exact for small angles too.

    Notes
    -----
    **Cost.** That of :func:`match_components`.

    Examples
    --------
    >>> from altmin.metrics import spectral_angle
    >>> spectral_angle([[0.0, 2.0], [3.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).tolist()
    [0.0, 0.0]
    """
    _, cosine = match_components(endmembers, reference, signed=True)
    sine = sine_errors(endmembers, reference, signed=True)
    return np.where(cosine > 0, np.arctan2(sine, cosine), np.arccos(np.clip(cosine, -1.0, 1.0)))


def abundance_rmse(abundances: ArrayLike, reference: ArrayLike, order: ArrayLike | None = None) -> float:
    """Root mean square difference of abundances over all pixels and materials.

    Parameters
    ----------
    abundances : array-like of shape (..., n_endmembers)
        Estimated shares.
    reference : array-like of shape (..., n_reference)
        The truth.
    order : array-like of int or None
        Which endmember belongs to each material, from :func:`match_components`; None: the order as it is.

    Returns
    -------
    float
        0 where they agree.

    Notes
    -----
    **Cost.** One pass.

    Examples
    --------
    >>> from altmin.metrics import abundance_rmse
    >>> abundance_rmse([[0.5, 0.5]], [[1.0, 0.0]])
    0.5
    """
    estimate, truth = np.asarray(abundances, np.float64), np.asarray(reference, np.float64)
    if order is not None:
        estimate = estimate[..., np.asarray(order)]
    if estimate.shape != truth.shape:
        raise ValueError(f"abundances have shape {estimate.shape}, the reference {truth.shape}")
    return float(np.sqrt(np.mean(np.square(estimate - truth))))
