"""Passes over the groups of similar patches of an image, strip by strip."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.contract import Block
from altmin.engine.progress import Progress, Silent
from altmin.engine.reduce import map_in_order
from altmin.engine.side_by_side import other_threads
from altmin.engine.threads import one_thread
from altmin.images.learn import cosine_patches
from altmin.kernels.groups import match, threshold_groups, wiener_groups

Array = NDArray[Any]

_RADIUS = 19  # of the window in which similar patches are looked for
_KAISER = 2.0  # pixels at the edge of a patch have seen less of their surroundings and count less
_THRESHOLD = 2.6  # of the codes that survive the first pass, in sigmas
_WIENER = 0.7  # of the variance of the noise: the pilot's codes are too small already, as some were dropped
# Squared distance for each pixel, in variances of the noise, under which two patches count as equal. Two
# noisy copies of a patch are 2 apart on average; copies in the pilot are apart by what noise is left in it.
_TIE_NOISY, _TIE_PILOT = 2.0, 0.02
_STRIP = 16  # rows of references


@dataclass(frozen=True)
class Groups:
    """How groups are formed: ``n`` patches of ``size`` for each reference, references ``step`` apart."""

    size: tuple[int, int]
    n: int
    step: int
    tie: float
    powers: bool = False


def threshold_pass(noisy: Array, atoms: list[Array], n_jobs: int, progress: Progress | None = None) -> Array:
    """First estimate: groups of the noisy image, codes under the atoms and a Haar transform cut at 2.6 sigma.

    Parameters
    ----------
    noisy : ndarray of shape (C, H, W)
        Layers with white noise of variance 1; groups are found on layer 0.
    atoms : list of ndarray of shape (d, d)
        Orthonormal atoms for each layer, as patches of 8 x 8 (or as large as the image allows).
    n_jobs : int
        Threads; the result doesn't depend on it.
    progress : Progress or None
        Where to tell how far it is.

    Returns
    -------
    ndarray of shape (C, H, W)
        The estimate.
    """
    size = patch_size(noisy)
    spread = np.sqrt(2.0 / (size[0] * size[1]))  # of the squared distance, against its mean
    groups = Groups(size, 16, 3, _TIE_NOISY * (1 - 0.5 * spread), powers=True)
    cut_off = noisy.dtype.type(_THRESHOLD)

    def shrink(c: int, *rest: Any) -> None:
        places, *target = rest
        threshold_groups(noisy[c], places, atoms[c], cut_off, *target)

    return _filter(noisy[0], len(noisy), groups, shrink, n_jobs, progress or Silent(), "thresholds")


def wiener_pass(noisy: Array, pilot: Array, n_jobs: int, progress: Progress | None = None) -> Array:
    """Better estimate: groups of a pilot estimate, each filtered along its principal axes.

    Parameters
    ----------
    noisy, pilot : ndarray of shape (C, H, W)
        Layers with white noise of variance 1, and an estimate of them; groups are found on its layer 0.
    n_jobs : int
        Threads; the result doesn't depend on it.
    progress : Progress or None
        Where to tell how far it is.

    Returns
    -------
    ndarray of shape (C, H, W)
        The estimate.
    """
    groups = Groups(patch_size(noisy), 64, 4, _TIE_PILOT)
    variance = noisy.dtype.type(_WIENER)
    cosines = np.ascontiguousarray(cosine_patches(*groups.size), noisy.dtype)

    def shrink(c: int, *rest: Any) -> None:
        places, *target = rest
        wiener_groups(noisy[c], pilot[c], places, variance, cosines, *target)

    return _filter(pilot[0], len(noisy), groups, shrink, n_jobs, progress or Silent(), "Wiener")


def patch_size(layers: Array) -> tuple[int, int]:
    """Patches of 8 x 8, or as large as the layers (C, H, W) allow."""
    return min(8, layers.shape[1]), min(8, layers.shape[2])


def uncorrelated(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Channels of shape (H, W, C) as uncorrelated layers (C, H, W), the highest contrast first.

    Parameters
    ----------
    values : ndarray of shape (H, W, C)
        Channels with noise of variance 1.

    Returns
    -------
    layers : ndarray of shape (C, H, W)
        White noise stays white.
    rotation : ndarray of shape (C, C)
        Principal axes in columns: layers with their axes moved back, times its transpose, are the channels.
    """
    pixels = values.reshape(-1, values.shape[2]).astype(np.float64)
    pixels -= pixels.mean(axis=0)
    rotation = np.linalg.eigh(pixels.T @ pixels)[1][:, ::-1].astype(values.dtype)
    return np.ascontiguousarray(np.moveaxis(values @ rotation, -1, 0)), rotation


def _filter(
    guide: Array,
    n_layers: int,
    groups: Groups,
    shrink: Callable[..., None],
    n_jobs: int,
    progress: Progress,
    name: str,
) -> Array:
    """Find the groups on the guide, let ``shrink`` estimate them, average where patches overlap."""
    (H, W), (height, width) = guide.shape, groups.size
    tops, lefts = (
        np.unique(np.append(np.arange(0, extent - side + 1, groups.step), extent - side))
        for extent, side in zip(guide.shape, groups.size, strict=True)
    )
    tie = guide.dtype.type(groups.tie * height * width)
    order = np.random.default_rng(0).random((2 * _RADIUS + 1,) * 2).astype(guide.dtype)
    window = np.outer(np.kaiser(height, _KAISER), np.kaiser(width, _KAISER)).astype(guide.dtype)
    canvas, total = (np.zeros((n_layers, H, W), guide.dtype) for _ in range(2))

    def strip(block: Block) -> tuple[int, Array, Array]:
        rows = tops[block.start : block.start + _STRIP]
        first, last = max(0, rows[0] - _RADIUS), min(H, rows[-1] + _RADIUS + height)
        places = np.empty((len(rows) * len(lefts), groups.n), np.int32)
        found = match(guide, rows, lefts, height, width, tie, order, places)
        if groups.powers:
            found = 1 << (found.bit_length() - 1)
        places = np.ascontiguousarray(places[:, :found])
        part, mass = (np.zeros((n_layers, last - first, W), guide.dtype) for _ in range(2))
        for c in range(n_layers):
            shrink(c, places, window, first, part[c], mass[c])
        return first, part, mass

    def blocks() -> Iterator[Block]:
        for index, start in enumerate(range(0, len(tops), _STRIP)):
            yield Block(index, start, None)

    with ExitStack() as stack:
        stack.enter_context(one_thread())
        pool = other_threads(n_jobs, stack)
        for block, (first, part, mass) in map_in_order(strip, blocks(), pool, 2 * n_jobs):
            canvas[:, first : first + part.shape[1]] += part
            total[:, first : first + part.shape[1]] += mass
            progress.round(name, min((block.start + _STRIP) / len(tops), 1.0))
    canvas /= total
    return canvas
