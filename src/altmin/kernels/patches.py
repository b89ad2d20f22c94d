"""Cutting patches out of an image, shrinking their codes, putting them back: compiled loops."""

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


@compiled
def drop_small(Z: Array, threshold: float, weights: Array) -> None:
    """Hard threshold in place; a row of k survivors weighs 1 / (1 + k).

    Parameters
    ----------
    Z : ndarray of shape (n, K)
        Codes.
    threshold : float
        What reaches it stays.
    weights : ndarray of shape (n,)
        Result.
    """
    for p in range(Z.shape[0]):
        z = Z[p]
        kept = weights[p] - weights[p] + 1
        for k in range(z.shape[0]):
            stays = abs(z[k]) >= threshold
            kept += stays
            z[k] = z[k] if stays else 0
        weights[p] = 1 / kept


@compiled
def wiener_shrink(Z: Array, pilot: Array, variance: float, weights: Array) -> None:
    """Shrink codes by s^2 / (s^2 + variance) in place; a row weighs 1 / (1 + sum of squared factors).

    Parameters
    ----------
    Z, pilot : ndarray of shape (n, K)
        Noisy codes, and the codes s of a cleaner estimate.
    variance : float
        Of the noise.
    weights : ndarray of shape (n,)
        Result.
    """
    for p in range(Z.shape[0]):
        z, s = Z[p], pilot[p]
        mass = weights[p] - weights[p] + 1
        for k in range(z.shape[0]):
            power = s[k] * s[k]
            gain = power / (power + variance)
            z[k] *= gain
            mass += gain * gain
        weights[p] = 1 / mass
