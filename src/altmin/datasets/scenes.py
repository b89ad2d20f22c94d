"""Hyperspectral scenes with known spectra and abundances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from sklearn.utils import check_random_state


@dataclass(frozen=True)
class Scene:
    """A cube whose answer is known.

    Parameters
    ----------
    cube : ndarray of shape (rows, columns, bands)
        Reflectances, with noise.
    endmembers : ndarray of shape (n_endmembers, bands)
        Spectra of the materials, at most 1.
    abundances : ndarray of shape (rows, columns, n_endmembers)
        Shares of the materials; they sum to one in each pixel.
    """

    cube: NDArray[Any]
    endmembers: NDArray[Any]
    abundances: NDArray[Any]


def make_scene(
    rows: int = 60,
    columns: int = 60,
    bands: int = 100,
    n_endmembers: int = 4,
    *,
    snr: float = 30.0,
    mixing: float = 0.15,
    shading: float = 0.0,
    random_state: Any = None,
) -> Scene:
    r"""A scene of smooth spectra and smooth abundance maps.

    .. math:: y_p = s_p \sum_i a_{pi} e_i + \zeta_p, \qquad a_{pi} \ge 0, \quad \sum_i a_{pi} = 1

    Abundances are the soft maximum of smooth random fields: regions of one material, mixed where they meet.

    Parameters
    ----------
    rows, columns, bands, n_endmembers : int
        Sizes.
    snr : float
        Signal-to-noise ratio in dB.
    mixing : float
        Temperature of the soft maximum: larger mixes more.
    shading : float
        Standard deviation of log s, the brightness of a pixel.
    random_state : int, RandomState or None
        Seed of the data.

    Returns
    -------
    Scene
        Cube, spectra and abundances.

    Notes
    -----
    **Guarantee.** Follows the linear mixing model exactly, but for noise and ``shading``; regions of one
    material have nearly pure pixels where ``mixing`` is small.

    **Cost.** One product, pixels * bands * n_endmembers, and smooth random fields.

    References
    ----------
    N. Keshava and J. F. Mustard, Spectral unmixing, IEEE Signal Processing Magazine 2002.

    Examples
    --------
    >>> from altmin.datasets import make_scene
    >>> make_scene(20, 30, 50, 3, random_state=0).cube.shape
    (20, 30, 50)
    """
    rng = check_random_state(random_state)
    fields = rng.standard_normal((rows, columns, n_endmembers))
    fields = gaussian_filter(fields, sigma=(0.08 * rows, 0.08 * columns, 0), mode="wrap")
    fields = (fields - fields.mean(axis=(0, 1))) / fields.std(axis=(0, 1))
    grown = np.exp((fields - fields.max(axis=2, keepdims=True)) / mixing)
    abundances = grown / grown.sum(axis=2, keepdims=True)
    spectra = gaussian_filter(rng.standard_normal((n_endmembers, 3 * bands)), (0, 0.08 * bands), mode="wrap")
    spectra = spectra[:, :bands] - spectra[:, :bands].min(axis=1, keepdims=True)
    spectra = 0.05 + 0.95 * spectra / spectra.max(axis=1, keepdims=True)
    spectra /= spectra.max(axis=1, keepdims=True)
    clean = abundances @ spectra * np.exp(shading * rng.standard_normal((rows, columns, 1)))
    level = np.sqrt(np.mean(clean**2)) * 10 ** (-snr / 20)
    return Scene(clean + level * rng.standard_normal(clean.shape), spectra, abundances)
