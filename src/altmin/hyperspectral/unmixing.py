"""From a cube to spectra and abundance maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from altmin.estimators.nonnegative.and_nmf import AND
from altmin.guarantees.report import GuaranteeReport
from altmin.hyperspectral.bands import noisy_bands
from altmin.hyperspectral.cube import check_bands, check_cube, usable_pixels
from altmin.kernels.masked import masked_codes
from altmin.kernels.nnls import nnls


@dataclass(frozen=True)
class Unmixing:
    """What :func:`unmix` found.

    Parameters
    ----------
    endmembers : ndarray of shape (n_endmembers, bands)
        One spectrum per material, in the units of the cube: the pixel of about the largest share that
        the scene shows. Bad bands are filled in by regression on the weights; NaN where the cube holds no
        number.
    abundances : ndarray of shape (rows, columns, n_endmembers)
        Shares that sum to one in each valid pixel, 0 elsewhere.
    valid : ndarray of bool of shape (rows, columns)
        The pixels that were unmixed.
    bad_bands : ndarray of bool of shape (bands,)
        The bands that were left out.
    model : estimator
        The fitted estimator, on the good bands.
    """

    endmembers: NDArray[Any]
    abundances: NDArray[Any]
    valid: NDArray[np.bool_]
    bad_bands: NDArray[np.bool_]
    model: Any

    @property
    def component_scales(self) -> NDArray[Any]:
        """Norm of each endmember over the good bands."""
        return np.linalg.norm(self.endmembers[:, ~self.bad_bands], axis=1)

    @property
    def guarantee(self) -> GuaranteeReport:
        """Whether these are the materials of the scene, and why."""
        return self.model.guarantee_


def unmix(
    cube: ArrayLike,
    n_endmembers: int,
    *,
    bad_bands: Any = "auto",
    mask: ArrayLike | None = None,
    scaling: str = "peak",
    estimator: Any = None,
) -> Unmixing:
    r"""Find the materials of a scene and their shares in each pixel.

    .. math:: y_p \approx \sum_i a_{pi} e_i, \qquad a_{pi} \ge 0, \quad \sum_i a_{pi} = 1

    The spectra :math:`e_i` are found by :class:`altmin.AND`: the cone of the pixels has a facet for each
    material, where that material is missing; no pixel needs to be pure. The start takes the purest pixels,
    from the data alone and without a seed.

    Parameters
    ----------
    cube : array-like of shape (rows, columns, bands)
        Radiances or reflectances. NaN and masked entries are missing.
    n_endmembers : int
        Number of materials; :func:`altmin.select_n_components` helps to choose it.
    bad_bands : 'auto', None or array-like
        Bands to leave out: booleans or band numbers; 'auto' asks :func:`noisy_bands`, None keeps all.
    mask : array-like of bool of shape (rows, columns) or None
        Pixels to use. Pixels that are 0 in all bands are never used.
    scaling : {'peak', 'scene'}
        What a share of 1 means; see :func:`abundances`.
    estimator : estimator or None
        With ``components_`` after ``fit``; its ``n_components`` is set. None: ``AND`` with non-negative
        components and otherwise its defaults.

    Returns
    -------
    Unmixing
        Spectra, maps and the fitted model.

    Notes
    -----
    **Guarantee.** That of :class:`altmin.AND`: ``result.guarantee`` says whether the spectra are those of
    the scene. A wrong number of endmembers finds other spectra.

    **Cost.** That of the estimator, and a non-negative least squares of n_endmembers unknowns per pixel.

    References
    ----------
    N. Keshava and J. F. Mustard, Spectral unmixing, IEEE Signal Processing Magazine 2002.

    Examples
    --------
    >>> from altmin.datasets import make_scene
    >>> from altmin.hyperspectral import unmix
    >>> from altmin.metrics import spectral_angle
    >>> scene = make_scene(40, 40, 60, 3, random_state=0)
    >>> result = unmix(scene.cube, 3)
    >>> result.abundances.shape
    (40, 40, 3)
    >>> bool(spectral_angle(result.endmembers, scene.endmembers).max() < 0.05)
    True
    """
    array = check_cube(cube)
    if isinstance(bad_bands, str) and bad_bands != "auto":
        raise ValueError(f"bad_bands={bad_bands!r}: 'auto', None, booleans or band numbers are allowed")
    if isinstance(bad_bands, str):
        bad = noisy_bands(array)
    elif bad_bands is None:
        bad = np.zeros(array.shape[2], bool)
    else:
        bad = check_bands(bad_bands, array.shape[2])
    if n_endmembers > np.sum(~bad):
        raise ValueError(f"n_endmembers={n_endmembers}: only {np.sum(~bad)} of {len(bad)} bands are usable")
    pixels = usable_pixels(array, ~bad, mask)
    model = AND(n_endmembers, nonnegative_components=True, decoder="nnls") if estimator is None else estimator
    model = clone(model).set_params(n_components=n_endmembers)
    if np.isnan(pixels.X).any() and model.get_params().get("missing") == "raise":
        model.set_params(missing="mask")
    model.fit(pixels.X)
    spectra = model.components_ * getattr(model, "component_scales_", np.ones(n_endmembers))[:, None]
    shares = abundances(pixels.X, spectra, scaling=scaling)
    maps = pixels.maps(shares)
    spectra = _all_bands(array[pixels.valid], spectra, bad)
    return Unmixing(spectra, maps, pixels.valid & maps.any(axis=2), bad, model)


def abundances(pixels: ArrayLike, endmembers: ArrayLike, *, scaling: str = "peak") -> NDArray[Any]:
    r"""Shares of known spectra, by non-negative least squares and division by their sum.

    .. math:: a = \frac{z}{\sum_i z_i}, \qquad z = \arg\min_{z \ge 0} \| y - \textstyle\sum_i z_i e_i \|_2

    Dividing by the sum, rather than demanding it to be 1, leaves each pixel its own brightness.

    Parameters
    ----------
    pixels : array-like of shape (..., bands)
        Spectra of the pixels; NaN entries are left out of the squares.
    endmembers : array-like of shape (n_endmembers, bands)
        Spectra of the materials; bands that are NaN in any of them are left out.
    scaling : {'peak', 'scene'}
        The unit of a share. 'peak' scales each spectrum to a maximum of 1, as published ground truths do;
        'scene' takes the spectra as they are, which after :func:`unmix` means a pixel of about the largest
        share in the scene: dark materials count for more.

    Returns
    -------
    ndarray of shape (..., n_endmembers)
        They sum to one; 0 for pixels that no combination of the spectra comes near.

    Notes
    -----
    **Guarantee.** The exact minimiser, to rounding; shares sum to one.

    **Cost.** bands * n_endmembers operations per pixel, and an active-set search in n_endmembers unknowns.

    References
    ----------
    N. Keshava and J. F. Mustard, Spectral unmixing, IEEE Signal Processing Magazine 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.hyperspectral import abundances
    >>> spectra = np.array([[1.0, 0.2, 0.1], [0.1, 0.5, 1.0]])
    >>> abundances(0.25 * spectra[:1] + 0.75 * spectra[1:], spectra).round(6).tolist()
    [[0.25, 0.75]]
    """
    if scaling not in ("peak", "scene"):
        raise ValueError(f"scaling={scaling!r}: allowed are 'peak' and 'scene'")
    Y, E = np.asarray(pixels, np.float64), np.asarray(endmembers, np.float64)
    if E.ndim != 2 or Y.shape[-1] != E.shape[1]:
        raise ValueError(f"pixels have shape {Y.shape}, endmembers {E.shape}: the bands must agree")
    good = np.isfinite(E).all(axis=0)
    Y, E = Y[..., good].reshape(-1, good.sum()), E[:, good]
    if scaling == "peak":
        peak = E.max(axis=1, keepdims=True)
        E = E / np.where(peak > 0, peak, 1.0)
    codes = _weights(Y, E)
    total = codes.sum(axis=1, keepdims=True)
    shares = np.divide(codes, total, out=np.zeros_like(codes), where=total > 0)
    return shares.reshape(*np.shape(pixels)[:-1], len(E))


def _weights(Y: NDArray[Any], E: NDArray[Any]) -> NDArray[Any]:
    if np.isnan(Y).any():
        return masked_codes(Y, E, nonnegative=True)
    return nnls(E @ E.T, Y @ E.T)


def _all_bands(Y: NDArray[Any], spectra: NDArray[Any], bad: NDArray[np.bool_]) -> NDArray[Any]:
    """The spectra with the bad bands, by least squares on the weights that the good ones gave."""
    full = np.full((len(spectra), len(bad)), np.nan, spectra.dtype)
    full[:, ~bad] = spectra
    if not bad.any():
        return full
    codes = _weights(Y[:, ~bad].astype(np.float64), spectra.astype(np.float64))
    for band in np.flatnonzero(bad):
        known = np.isfinite(Y[:, band])
        if known.sum() >= len(spectra):
            full[:, band] = nnls(codes[known].T @ codes[known], Y[None, known, band] @ codes[known])[0]
    return full
