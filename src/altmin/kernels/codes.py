"""One sweep over a block of decoded weights: threshold, screen, and every statistic a stage needs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.compiled import compiled

# Large codes are counted in logarithmic bins from 1/2 to 4, 32 per octave: their quantile to 2 %. Bins are
# centred on powers of 2^(1/32), so that a code of exactly 1 is never at an edge that rounding could cross.
OCTAVES, BINS_AN_OCTAVE = 3, 32
N_BINS = OCTAVES * BINS_AN_OCTAVE


@compiled
def count_large(z, w, counts):  # type: ignore[no-untyped-def] # numba
    """Add a row of weight w to the logarithmic bins of its large codes."""
    for i in range(z.shape[0]):
        if z[i] > 0.5:
            place = int((math.log2(z[i]) + 1.0) * BINS_AN_OCTAVE + 0.5)
            counts[i, min(place, N_BINS - 1)] += w


@compiled
def sweep_rows(  # type: ignore[no-untyped-def] # numba
    Z, weight, alpha, cut, trimming, counting, squares, number, mass, largest, smallest, counts, totals
):
    """The loop of :func:`sweep`: no branch inside, so that the compiler makes vector instructions of it."""
    n_rows, D = Z.shape
    for r in range(n_rows):
        w = max(weight[r], 0.0)
        low = large = 0
        for i in range(D):
            low += Z[r, i] < cut[i]
            large += Z[r, i] > 0.5
        if counting and large and w > 0.0:
            count_large(Z[r], w, counts)
        totals[0] += w
        totals[1] += w if low else 0.0
        use = 1.0 if w > 0.0 and not (low and trimming) else 0.0
        seen = 1.0 if w > 0.0 else 0.0
        for i in range(D):
            z = Z[r, i]
            negative = min(z, 0.0)
            squares[i] += w * negative * negative
            number[i] += w if z < 0.0 else 0.0
            largest[i] = max(largest[i], seen * z)
            smallest[i] = min(smallest[i], use * negative)
            z = use * z if z >= alpha[i] else 0.0
            mass[i] += w * z
            Z[r, i] = z


def sweep(
    Z: NDArray[Any],
    weight: NDArray[Any],
    alpha: NDArray[Any],
    cut: NDArray[Any],
    *,
    trimming: bool = False,
    counting: bool = True,
) -> dict[str, NDArray[Any]]:
    """Threshold the codes in place and measure them as they were before.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_components)
        Decoded weights; on return those below ``alpha`` are 0, as are rows of weight 0 and, while
        ``trimming``, rows with an entry below ``cut``.
    weight : ndarray of shape (n_rows,)
        How often each row counts.
    alpha, cut : ndarray of shape (n_components,)
        The threshold, and the (negative) value under which a row contradicts the model.
    trimming : bool
        Whether such rows are left out.
    counting : bool
        Whether to count large codes, for their quantile.

    Returns
    -------
    dict of ndarray
        ``sums``: squares and number of the negative codes, sum of the kept ones (rows of one array);
        ``largest`` and ``smallest`` (the latter of the rows in use); ``counts``: large codes in
        logarithmic bins; ``totals``: rows, and rows that contradict the model.
    """
    D = Z.shape[1]
    sums, counts, totals = np.zeros((5, D)), np.zeros((D, N_BINS)), np.zeros(2)
    sweep_rows(Z, weight, alpha, cut, trimming, counting, *sums, counts, totals)
    return {
        "sums": sums[:3],
        "largest": sums[3],
        "smallest": sums[4],
        "counts": counts,
        "totals": totals,
    }


def upper_quantile(
    counts: NDArray[Any], total: float, largest: NDArray[Any], share: float = 0.001
) -> NDArray[Any]:
    """The values that a ``share`` of the codes exceeds, one per component.

    Parameters
    ----------
    counts : ndarray of shape (n_components, N_BINS)
        From :func:`sweep`.
    total : float
        Number of rows.
    largest : ndarray of shape (n_components,)
        Largest codes: no quantile is above, and a component without positive codes gets 1.
    share : float
        Above the quantile.

    Returns
    -------
    ndarray of shape (n_components,)
        At least 1/2 (a component that shrank by more is caught up with in the next stage).
    """
    above = np.cumsum(counts[:, ::-1], axis=1)[:, ::-1]
    target = share * total
    place = np.sum(above >= target, axis=1) - 1
    rows = np.arange(len(counts))
    safe = np.maximum(place, 0)
    inside = np.maximum(counts[rows, safe], np.finfo(float).tiny)
    fraction = np.clip(above[rows, safe] - target, 0.0, inside) / inside
    value = np.where(place < 0, 0.5, np.exp2((safe + fraction - 0.5) / BINS_AN_OCTAVE - 1.0))
    return np.where(largest > 0, np.minimum(value, np.maximum(largest, 0.5)), 1.0)
