"""The noise of an image, from the high frequencies of its smoothest patches."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from altmin.images.frame import Frame, as_frame, check_image, check_mask
from altmin.images.learn import cosine_patches
from altmin.images.patches import Patches

Array = NDArray[Any]

_SAMPLE = 100_000
# Sets of the smoothest patches (shares and least number), and where the low frequencies end and sets of the
# high ones begin: 1 is the highest.
_SHARES, _FEWEST = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0), 60
_LOW, _HIGH = 5 / 14, (11 / 14, 9 / 14, 7 / 14)
_CAREFUL = 2.0  # standard errors by which more patches and frequencies may say more than fewer
# Overlapping patches share their noise: what n of them tell, as independent ones, for each of the n and for
# each patchful of pixels of the picture.
_OWN, _COVERED = 0.3, 1.3
_ENOUGH = 200  # patches without a missing pixel
_CLIPPED = 0.005  # share of the pixels at an end of the range from which on they count as clipped
_PIXELS = 64  # the fewest that say anything
_BINS, _IN_BIN, _CORRELATED = 12, 1000, 0.9  # of brightness, to see whether the noise grows with it


class Noise(float):
    """Standard deviation of the noise of an image: a number, and how well it is known.

    Attributes
    ----------
    error : float
        Standard error of the number itself; texture that was taken for noise isn't in it.
    channels : ndarray of shape (C,)
        Standard deviation in each channel; the number is their root mean square.
    gain : ndarray of shape (C,)
        Growth of the variance with the brightness; 0 where none is seen. Photon noise has one.
    floor : ndarray of shape (C,)
        Variance at brightness 0, where the gain isn't 0.
    """

    error: float
    channels: Array
    gain: Array
    floor: Array


def estimate_noise(image: ArrayLike, mask: ArrayLike | None = None) -> Noise:
    r"""Standard deviation of additive white noise.

    Frequencies of white noise are independent, those of a picture are not: where its low ones are small, so
    are its high ones. So the patches of 8 x 8 pixels with the least energy at low frequencies show the
    noise at high ones, and the choice doesn't bias what is measured (Colom and Buades 2013). How many patches
    and frequencies are used is up to the picture: as many as agree with the smoothest few (Lepski 1991).

    Parameters
    ----------
    image : array-like of shape (H, W) or (H, W, channels)
        The noisy image.
    mask : array-like of bool of shape (H, W) or (H, W, channels), or None
        True where a pixel is missing.

    Returns
    -------
    Noise
        Sigma in the units of the image as a float, of the channels together; with its ``error``, the
        sigmas of the ``channels``, and their ``gain`` where the noise grows with the brightness.

    Notes
    -----
    Fine texture that is found in every patch can't be told from noise and is counted as such.

    **Cost.** One cosine transform of at most 100,000 patches for each channel.

    References
    ----------
    M. Colom and A. Buades, Analysis and extension of the Ponomarenko et al. method, estimating a noise curve
    from a single image, Image Processing On Line, 2013.

    O. V. Lepski, On a problem of adaptive estimation in Gaussian white noise, Theory of Probability and its
    Applications, 1991.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.images import estimate_noise
    >>> sigma = estimate_noise(0.1 * np.random.default_rng(0).standard_normal((64, 64)))
    >>> bool(abs(sigma - 0.1) < 0.01)
    True
    """
    known = None if mask is None else ~check_mask(mask, check_image(image).shape)
    frame = as_frame(image, known)
    sigma, error, gain, floor = _measured(frame, known)
    noise = Noise(np.sqrt(np.mean(sigma**2)) * frame.scale)
    noise.error = float(np.sqrt(np.mean(error**2) / len(error))) * frame.scale
    noise.channels, noise.gain, noise.floor = sigma * frame.scale, gain * frame.scale, np.zeros(len(gain))
    grows = gain > 0
    noise.floor[grows] = (floor[grows] * frame.scale - gain[grows] * frame.offset) * frame.scale
    return noise


def _measured(frame: Frame, known: NDArray[np.bool_] | None = None) -> Array:
    """Sigma, its error, gain and floor (rows) of each channel, in the units of the frame."""
    seen = np.ones(frame.values.shape, bool) if known is None else known
    return np.transpose([_channel(frame.values[:, :, c], seen[:, :, c]) for c in range(seen.shape[2])])


def _channel(layer: Array, known: NDArray[np.bool_]) -> tuple[float, float, float, float]:
    """Sigma of a layer (H, W), its standard error, and gain and floor of the variance, in its units."""
    codes, frequency = _codes(layer, known & ~_clipped(layer, known))
    density = known.sum() / len(codes)  # pixels for each patch
    sigma, error = _level(codes, frequency, density)
    brightness = codes[:, 0] / np.sqrt(codes.shape[1])
    margin = 2 * sigma  # near the ends of the range some of the noise may have been cut off
    inside = np.flatnonzero((brightness > layer.min() + margin) & (brightness < layer.max() - margin))
    if len(inside) < _BINS * _IN_BIN:
        return sigma, error, 0.0, 0.0
    bins = np.array_split(inside[np.argsort(brightness[inside])], _BINS)
    level = np.array([brightness[members].mean() for members in bins])
    variance = np.array([_level(codes[members], frequency, density)[0] ** 2 for members in bins])
    return sigma, error, *_growth(level, variance)


def _level(codes: Array, frequency: Array, density: float) -> tuple[float, float]:
    """Sigma and its standard error from as many patches and frequencies as agree with the smoothest ones.

    Few smooth patches and the highest frequencies have the least of the picture in them, many patches and
    more frequencies the least chance. Sets grow in both ways; the best known sigma is taken among those that
    no smaller set contradicts (Lepski's rule). Its error is that of the smallest set, as more of the picture
    than that couldn't have gone unseen.
    """
    low = (frequency > 0) & (frequency <= _LOW)
    order = np.argsort(np.einsum("ij,ij->i", codes[:, low], codes[:, low]), kind="stable")
    counts = np.unique(np.clip(np.multiply(_SHARES, len(codes)).astype(int), _FEWEST, len(codes)))
    powers = [np.mean(codes[order[:n]] ** 2, axis=0) for n in counts]
    sigmas = np.sqrt([[power[frequency >= cut].mean() for cut in _HIGH] for power in powers])
    patches = 1 / (1 / (_OWN * counts) + codes.shape[1] / (_COVERED * density * len(codes)))
    chance = 1 / np.sqrt(2 * np.outer(patches, [(frequency >= cut).sum() for cut in _HIGH]))
    most = np.minimum.accumulate(np.minimum.accumulate(sigmas * (1 + _CAREFUL * chance), axis=0), axis=1)
    best = np.where(sigmas <= most, chance, np.inf).argmin()
    return float(sigmas.flat[best]), float(sigmas.flat[best] * chance[0, 0])


def _clipped(layer: Array, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Pixels that have lost their noise at an end of the range, where a good part of the picture lies."""
    seen = layer[known]
    clipped = np.zeros(layer.shape, bool)
    levels, counts = np.unique(seen, return_counts=True)
    for end, inside in ((0, 1), (-1, -2)) if len(levels) > 1 else ():
        # Noise has few pixels at its end, and fewer than next to it.
        if counts[end] > max(_CLIPPED * seen.size, 4, 2 * counts[inside]):
            clipped |= known & (layer == levels[end])
    return clipped if clipped.sum() < seen.size / 2 else np.zeros(layer.shape, bool)


def _codes(layer: Array, known: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Cosine transforms of patches without missing pixels, and the frequency of each code from 0 to 1."""
    if known.sum() < _PIXELS:
        raise ValueError(
            f"image has {known.sum()} known pixels in a channel; at least {_PIXELS} are needed to estimate "
            "the noise: give sigma"
        )
    for side in (8, 4, 2):
        size = (min(side, layer.shape[0]), min(side, layer.shape[1]))
        patches, seen = Patches(layer, size), Patches(known.astype(np.float32), size)
        chosen = np.random.default_rng(0).permutation(patches.n_rows)
        chosen = np.sort(chosen[:_SAMPLE])
        whole = chosen[seen.take(chosen).X.min(axis=1) > 0]
        if len(whole) >= min(_ENOUGH, patches.n_rows):
            break
    else:
        raise ValueError("mask leaves too few known pixels side by side to estimate the noise: give sigma")
    height, width = size
    steps = np.add.outer(np.arange(height), np.arange(width)).ravel() / max(height + width - 2, 1)
    return patches.take(whole).X.astype(np.float64) @ cosine_patches(height, width).T, steps


def _growth(level: Array, variance: Array) -> tuple[float, float]:
    """Slope and intercept of the variance over the brightness; zeros where it doesn't clearly grow."""
    gain, floor = np.polyfit(level, variance, 1)
    ends = gain * level[[0, -1]] + floor
    clear = np.corrcoef(level, variance)[0, 1] > _CORRELATED and ends[1] > 2 * max(ends[0], 0)
    return (float(gain), float(floor)) if clear else (0.0, 0.0)


@dataclass(frozen=True)
class UnitNoise:
    """Channels to and from units in which their noise has variance 1.

    Parameters
    ----------
    channels : ndarray of int
        Channels with noise and contrast; the others are left as they are.
    sigma, gain, floor : ndarray, one entry for each of those channels
        Standard deviation of the noise; where the gain isn't 0, the variance is gain * brightness + floor
        instead, and the generalized Anscombe transform makes it constant.
    """

    channels: NDArray[np.intp]
    sigma: Array
    gain: Array
    floor: Array

    def __str__(self) -> str:
        return "noise that grows with the brightness" if self.gain.any() else "noise of constant strength"

    def forward(self, values: Array) -> Array:
        """The noisy channels of an image (H, W, C) in units of their noise."""
        used = values[:, :, self.channels] / self.sigma
        for c in np.flatnonzero(self.gain):
            a, photons = self.gain[c], values[:, :, self.channels[c]] / self.gain[c]
            used[:, :, c] = 2 * np.sqrt(np.maximum(photons + 3 / 8 + self.floor[c] / a**2, 0))
        return used.astype(np.float32)

    def inverse(self, cleaned: Array, values: Array) -> Array:
        """The image with its noisy channels replaced by clean ones (H, W, k)."""
        result = values.copy()
        result[:, :, self.channels] = cleaned * self.sigma
        for c in np.flatnonzero(self.gain):  # Makitalo and Foi 2013: unbiased where the noise isn't small
            a, d = self.gain[c], np.maximum(cleaned[:, :, c].astype(np.float64), 1.0)
            root = np.sqrt(1.5)
            photons = d**2 / 4 + root / 4 / d - 11 / 8 / d**2 + 5 / 8 * root / d**3 - 1 / 8
            result[:, :, self.channels[c]] = a * photons - self.floor[c] / a
        return result


def unit_noise(frame: Frame, sigma: Any) -> UnitNoise:
    """Units for an image, from the user's sigma (None: estimated)."""
    n_channels = frame.values.shape[2]
    if sigma is None:
        given, _, gain, floor = _noticed(frame)
    else:
        given, (gain, floor) = channel_sigmas(frame, sigma), np.zeros((2, n_channels))
    contrast = np.ptp(frame.values.reshape(-1, n_channels), axis=0)
    used = np.flatnonzero((given > np.finfo(np.float32).eps) & (contrast > 0))
    return UnitNoise(used, given[used], gain[used], floor[used])


def _noticed(frame: Frame, known: NDArray[np.bool_] | None = None) -> Array:
    """What was measured, with a warning where no noise is seen: nothing is left undone without a word."""
    rows = _measured(frame, known)
    for c in np.flatnonzero(rows[0] <= np.finfo(np.float32).eps):
        values = frame.values[:, :, c] if known is None else frame.values[:, :, c][known[:, :, c]]
        if np.ptp(values) > 0:
            warnings.warn(
                f"no noise is seen in channel {c}, which is left as it is: its smoothest parts have none. If "
                "it is noisy elsewhere, give sigma; wrong single pixels are for inpaint",
                UserWarning,
                stacklevel=4,
            )
    return rows


def channel_sigmas(frame: Frame, sigma: Any, known: NDArray[np.bool_] | None = None) -> Array:
    """Sigma of each channel in the units of the frame, as the user gave it or estimated ('auto')."""
    n_channels = frame.values.shape[2]
    if isinstance(sigma, str) and sigma == "auto":
        return np.asarray(_noticed(frame, known)[0])
    given = np.asarray(sigma)
    if given.dtype.kind not in "uif" or given.shape not in ((), (n_channels,)):
        raise ValueError(
            f"sigma is {sigma!r}; one number, or one for each of the {n_channels} channel(s), is needed"
        )
    if not ((given >= 0) & (given < np.inf)).all():
        raise ValueError(f"sigma is {sigma!r}; numbers >= 0 in the units of the image are needed")
    return np.broadcast_to(given / frame.scale, n_channels)
