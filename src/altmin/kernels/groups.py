"""Groups of similar patches: finding them, shrinking them together, putting them back. Compiled loops."""

from __future__ import annotations

import numpy as np

from altmin.kernels.compiled import compiled
from altmin.kernels.omp import Array


@compiled
def match(
    guide: Array, tops: Array, lefts: Array, height: int, width: int, tie: float, order: Array, places: Array
) -> int:
    """Find the patches that look most like each reference patch, in a square window around it.

    Patches closer than ``tie`` can't be told from the reference under the noise. Ranking them would choose
    those whose noise is alike, and that noise would then survive the average; so they are taken in a fixed
    random order instead.

    Parameters
    ----------
    guide : ndarray of shape (H, W)
        Where to compare.
    tops, lefts : ndarray of shapes (a,) and (b,)
        Rows and columns of the references' upper left corners: all a * b pairs are meant.
    height, width : int
        Size of a patch.
    tie : float
        Squared distance below which patches are equal.
    order : ndarray of shape (2 * radius + 1, 2 * radius + 1)
        Priority between 0 and 1 of each displacement among equals.
    places : ndarray of int of shape (a * b, n)
        Result: the best n of each reference as top * W + left, the reference first.

    Returns
    -------
    int
        How many places of each row were found: n, or the patches of the smallest window.
    """
    H, W = guide.shape
    n, r = places.shape[1], order.shape[0] // 2
    best, far = np.empty(n, guide.dtype), np.empty(order.shape[0], guide.dtype)
    found = n
    for g in range(places.shape[0]):
        ty, tx, who, k = tops[g // lefts.shape[0]], lefts[g % lefts.shape[0]], places[g], 0
        x0, x1 = max(0, tx - r), min(W - width, tx + r) + 1
        for y in range(max(0, ty - r), min(H - height, ty + r) + 1):
            far[:] = 0
            for i in range(height):
                for j in range(width):
                    value, line = guide[ty + i, tx + j], guide[y + i, x0 + j :]
                    for x in range(x1 - x0):
                        gap = line[x] - value
                        far[x] += gap * gap
            for x in range(x1 - x0):
                d = far[x] if far[x] >= tie else tie * order[y - ty + r, x0 + x - tx + r]
                if y == ty and x0 + x == tx:
                    d = far[x] - 1
                if k < n or d < best[k - 1]:
                    i = k if k < n else n - 1
                    while i > 0 and best[i - 1] > d:
                        best[i], who[i] = best[i - 1], who[i - 1]
                        i -= 1
                    best[i], who[i] = d, y * W + x0 + x
                    k = min(k + 1, n)
        found = min(found, k)
    return found


@compiled
def cut(image: Array, places: Array, width: int, out: Array) -> None:
    """Copy patches of an image of shape (H, W) to the rows of ``out``."""
    W = image.shape[1]
    for i in range(out.shape[0]):
        top, left = places[i] // W, places[i] % W
        for k in range(out.shape[1]):
            out[i, k] = image[top + k // width, left + k % width]


@compiled
def paste(
    patches: Array, places: Array, weight: float, window: Array, first: int, part: Array, mass: Array
) -> None:
    """Add patches times weight and window to ``part``, whose row 0 is row ``first`` of the image."""
    W, width = part.shape[1], window.shape[1]
    for i in range(patches.shape[0]):
        top, left = places[i] // W - first, places[i] % W
        for a in range(window.shape[0]):
            line, total = part[top + a, left:], mass[top + a, left:]
            row = patches[i, a * width :]
            for b in range(width):
                line[b] += weight * window[a, b] * row[b]
                total[b] += weight * window[a, b]


@compiled
def center(X: Array, mean: Array) -> None:
    """Take the mean row out of X, and give it."""
    mean[:] = 0
    for i in range(X.shape[0]):
        mean += X[i]
    mean /= X.shape[0]
    for i in range(X.shape[0]):
        X[i] -= mean


@compiled
def haar(G: Array, work: Array, inverse: bool) -> None:
    """Orthonormal Haar transform along the columns of G in place; the number of rows is a power of two."""
    n, s = G.shape[0], np.sqrt(work[0, 0] - work[0, 0] + 0.5)
    m = 2 if inverse else n
    while 2 <= m <= n:
        h = m // 2
        for i in range(h):
            a, b = (i, h + i) if inverse else (2 * i, 2 * i + 1)
            c, d = (2 * i, 2 * i + 1) if inverse else (i, h + i)
            for k in range(G.shape[1]):
                work[c, k] = (G[a, k] + G[b, k]) * s
                work[d, k] = (G[a, k] - G[b, k]) * s
        G[:m] = work[:m]
        m = 2 * m if inverse else h


@compiled
def threshold_groups(
    noisy: Array,
    places: Array,
    atoms: Array,
    threshold: float,
    window: Array,
    first: int,
    part: Array,
    mass: Array,
) -> None:
    """Hard threshold of each group's codes: atoms within patches, Haar across them.

    Parameters
    ----------
    noisy : ndarray of shape (H, W)
        The image.
    places : ndarray of int of shape (n_groups, n)
        Upper left corners of the patches as top * W + left; n is a power of two.
    atoms : ndarray of shape (height * width, height * width)
        Orthonormal atoms, one per row.
    threshold : float
        Codes that reach it stay.
    window : ndarray of shape (height, width)
        Weights of a patch's pixels.
    first : int
        Row of the image that row 0 of ``part`` stands for.
    part, mass : ndarray of shape (rows, W)
        Weighted sums of estimates, and of weights; a group of k survivors weighs 1 / (1 + k).
    """
    n, d = places.shape[1], atoms.shape[0]
    X, Z, work = np.empty((n, d), noisy.dtype), np.empty((n, d), noisy.dtype), np.empty((n, d), noisy.dtype)
    transposed = np.ascontiguousarray(atoms.T)
    for g in range(places.shape[0]):
        cut(noisy, places[g], window.shape[1], X)
        np.dot(X, transposed, Z)
        haar(Z, work, False)
        kept = 1
        for i in range(n):
            for k in range(d):
                stays = abs(Z[i, k]) >= threshold
                kept += stays
                Z[i, k] = Z[i, k] if stays else 0
        haar(Z, work, True)
        np.dot(Z, atoms, X)
        paste(X, places[g], 1 / kept, window, first, part, mass)


@compiled
def wiener_groups(
    noisy: Array,
    pilot: Array,
    places: Array,
    variance: float,
    cosines: Array,
    window: Array,
    first: int,
    part: Array,
    mass: Array,
) -> None:
    r"""Wiener filter of each group along the principal axes of its pilot estimate.

    With the centred patches P of the pilot and Y of the noisy image as rows, the filter that keeps
    :math:`\lambda / (\lambda + \sigma^2)` of each principal axis of variance :math:`\lambda` is
    :math:`Y P^\top (P P^\top + n \sigma^2 I)^{-1} P`: one solve, no eigenvectors. The mean patch has noise of
    variance :math:`\sigma^2 / n` in each pixel and is filtered likewise, along cosines.

    Parameters
    ----------
    noisy, pilot : ndarray of shape (H, W)
        The image, and a first estimate of it.
    places : ndarray of int of shape (n_groups, n)
        As in :func:`threshold_groups`, for any n.
    variance : float
        Of the noise.
    cosines : ndarray of shape (height * width, height * width)
        Orthonormal atoms, one per row, the first one constant.
    window, first, part, mass
        As in :func:`threshold_groups`; a group weighs 1 / (1 + trace of its filter).
    """
    n, d = places.shape[1], window.size
    Y, P, K = np.empty((n, d), noisy.dtype), np.empty((n, d), noisy.dtype), np.empty((n, n), noisy.dtype)
    mean, guess = np.empty(d, noisy.dtype), np.empty(d, noisy.dtype)
    for g in range(places.shape[0]):
        cut(noisy, places[g], window.shape[1], Y)
        cut(pilot, places[g], window.shape[1], P)
        center(P, guess)
        center(Y, mean)
        power, codes = np.dot(cosines, guess) ** 2, np.dot(cosines, mean)
        codes[1:] *= power[1:] / (power[1:] + variance / n)
        mean = np.dot(codes, cosines)
        np.dot(P, P.T, K)
        for i in range(n):
            K[i, i] += n * variance
        A = np.linalg.solve(K, P)
        trace = 1 + (A * P).sum()
        np.dot(Y, P.T, K)
        np.dot(K, A, Y)
        for i in range(n):
            Y[i] += mean
        paste(Y, places[g], 1 / trace, window, first, part, mass)
