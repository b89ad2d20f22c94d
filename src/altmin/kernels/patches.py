"""Cutting patches out of an image and putting them back, in compiled loops."""

from __future__ import annotations

from altmin.kernels.compiled import compiled
from altmin.kernels.omp import Array


@compiled
def gather(
    image: Array, tops: Array, lefts: Array, width: int, center: bool, out: Array, means: Array
) -> None:
    """Copy patches, channel by channel less their means.

    Parameters
    ----------
    image : ndarray of shape (H, W, C)
        Source.
    tops, lefts : ndarray of shape (n,)
        Upper left corners.
    width : int
        Columns of a patch.
    center : bool
        Whether to take the means out.
    out : ndarray of shape (n, height * width * C)
        The patches, row by row, channels last.
    means : ndarray of shape (n, C)
        Mean of each patch's channels, or zero.
    """
    C = image.shape[2]
    height = out.shape[1] // (width * C)
    run = width * C
    for p in range(tops.shape[0]):
        top, left, patch = tops[p], lefts[p], out[p]
        for y in range(height):
            for x in range(width):
                for c in range(C):
                    patch[y * run + x * C + c] = image[top + y, left + x, c]
        means[p] = 0
        if center:
            for c in range(C):
                total = patch[c] - patch[c]
                for k in range(c, patch.shape[0], C):
                    total += patch[k]
                mean = total / (height * width)
                means[p, c] = mean
                for k in range(c, patch.shape[0], C):
                    patch[k] -= mean


@compiled
def scatter_add(
    patches: Array,
    means: Array,
    weights: Array,
    tops: Array,
    lefts: Array,
    width: int,
    canvas: Array,
    total: Array,
) -> None:
    """Add weighted patches (and their means) to a canvas, and their weights to ``total``.

    Parameters
    ----------
    patches, means, weights : ndarray of shapes (n, height * width * C), (n, C) and (n,)
        What to add.
    tops, lefts : ndarray of shape (n,)
        Upper left corners.
    width : int
        Columns of a patch.
    canvas : ndarray of shape (H, W, C)
        Weighted sums.
    total : ndarray of shape (H, W)
        Sums of weights.
    """
    C = canvas.shape[2]
    height = patches.shape[1] // (width * C)
    run = width * C
    for p in range(tops.shape[0]):
        top, left, patch, weight = tops[p], lefts[p], patches[p], weights[p]
        for y in range(height):
            for x in range(width):
                total[top + y, left + x] += weight
                for c in range(C):
                    canvas[top + y, left + x, c] += weight * (patch[y * run + x * C + c] + means[p, c])
