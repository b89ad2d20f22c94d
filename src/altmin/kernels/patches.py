"""Cutting patches out of an image and putting them back: compiled loops."""

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
    image : ndarray of shape (H, W * C)
        Source, channels of a pixel side by side.
    tops, lefts : ndarray of shape (n,)
        Upper left corners, in pixels.
    width : int
        Columns of a patch.
    center : bool
        Whether to take the means out.
    out : ndarray of shape (n, height * width * C)
        The patches, row by row, channels last.
    means : ndarray of shape (n, C)
        Mean of each patch's channels, or zero.
    """
    C = means.shape[1]
    run = width * C
    height = out.shape[1] // run
    for p in range(tops.shape[0]):
        patch = out[p]
        for y in range(height):
            line, part = image[tops[p] + y, lefts[p] * C :], patch[y * run :]
            for x in range(run):
                part[x] = line[x]
        means[p] = 0
        if center and C == 1:  # a contiguous loop of its own
            total = patch[0] - patch[0]
            for k in range(patch.shape[0]):
                total += patch[k]
            total /= patch.shape[0]
            means[p, 0] = total
            for k in range(patch.shape[0]):
                patch[k] -= total
        elif center:
            for k in range(patch.shape[0]):
                means[p, k % C] += patch[k]
            for c in range(C):
                means[p, c] /= height * width
            for k in range(patch.shape[0]):
                patch[k] -= means[p, k % C]


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
        What to add; the means are put back into ``patches``.
    tops, lefts : ndarray of shape (n,)
        Upper left corners, in pixels.
    width : int
        Columns of a patch.
    canvas : ndarray of shape (H, W * C)
        Weighted sums.
    total : ndarray of shape (H, W)
        Sums of weights.
    """
    C = means.shape[1]
    run = width * C
    height = patches.shape[1] // run
    for p in range(tops.shape[0]):
        patch, weight, first = patches[p], weights[p], means[p, 0]
        if C == 1:
            for k in range(patch.shape[0]):
                patch[k] += first
        else:
            for k in range(patch.shape[0]):
                patch[k] += means[p, k % C]
        for y in range(height):
            line, part = canvas[tops[p] + y, lefts[p] * C :], patch[y * run :]
            for x in range(run):
                line[x] += weight * part[x]
            mass = total[tops[p] + y, lefts[p] :]
            for x in range(width):
                mass[x] += weight
