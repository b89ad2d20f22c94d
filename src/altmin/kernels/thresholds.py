"""Hard thresholds, and a histogram of magnitudes from which they can be read off."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from altmin.kernels.compiled import compiled

# A magnitude's bin is the head of its bit pattern: exponent and 4 bits of mantissa, so bins are 6 % wide
# over the whole range of float64, and the histogram needs no scale.
_SHIFT = 48
N_BINS = 1 << 15


def hard_threshold(X: ArrayLike, threshold: ArrayLike) -> NDArray[Any]:
    r"""Set to zero what is smaller than a threshold in absolute value.

    .. math:: \mathrm{HT}_\zeta(x) = x \,[\,|x| \ge \zeta\,]

    Parameters
    ----------
    X : array-like
        Any shape; not changed.
    threshold : float or array-like
        Broadcast against X: one number, or one for each column.

    Returns
    -------
    ndarray
        A copy of X with zeros.

    Notes
    -----
    **Guarantee.** The exact minimiser of the squared distance plus the squared threshold times the number
    of nonzeros.

    **Cost.** One pass; a copy of X.

    References
    ----------
    G. Liang, G. Zhang, S. Fattahi and R. Y. Zhang, Simple alternating minimization provably solves complete
    dictionary learning, 2022.

    Examples
    --------
    >>> from altmin import hard_threshold
    >>> hard_threshold([3.0, -0.5, -2.0], 1.0).tolist()
    [3.0, 0.0, -2.0]
    """
    values = np.asarray(X)
    return np.where(np.abs(values) >= threshold, values, np.zeros((), values.dtype))


def keep_large(Z: NDArray[Any], threshold: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Threshold the columns of a codes block in place, in one sweep.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_components)
        C-contiguous codes; overwritten.
    threshold : ndarray of shape (n_components,)
        One a column.

    Returns
    -------
    counts, squares : ndarray of shape (n_components,)
        How many entries of each column were kept, and their sum of squares.
    """
    counts, squares = np.zeros(Z.shape[1]), np.zeros(Z.shape[1])
    _keep_large(Z, threshold.astype(Z.dtype, copy=False), counts, squares)
    return counts, squares


@compiled
def _keep_large(Z, threshold, counts, squares):  # type: ignore[no-untyped-def]
    for i in range(Z.shape[0]):
        for j in range(Z.shape[1]):
            value = Z[i, j]
            if abs(value) >= threshold[j]:
                counts[j] += 1.0
                squares[j] += value * value
            else:
                Z[i, j] = 0.0


def split_large(
    Z: NDArray[Any], threshold: NDArray[Any]
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[Any], NDArray[Any]]:
    """Codes that pass the thresholds of their columns, and those that don't, in one sweep.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_components)
        C-contiguous codes.
    threshold : ndarray of shape (n_components,)
        One a column.

    Returns
    -------
    kept, rest : ndarray of float32 of shape (n_samples, n_components)
        Z is their sum.
    counts, squares : ndarray of shape (n_components,)
        How many entries of each column were kept, and their sum of squares.
    """
    kept, rest = np.empty(Z.shape, np.float32), np.empty(Z.shape, np.float32)
    counts, squares = np.zeros(Z.shape[1]), np.zeros(Z.shape[1])
    _split_large(Z, threshold.astype(Z.dtype, copy=False), kept, rest, counts, squares)
    return kept, rest, counts, squares


@compiled
def _split_large(Z, threshold, kept, rest, counts, squares):  # type: ignore[no-untyped-def]
    for i in range(Z.shape[0]):
        for j in range(Z.shape[1]):
            value = Z[i, j]
            if abs(value) >= threshold[j]:
                counts[j] += 1.0
                squares[j] += value * value
                kept[i, j] = value
                rest[i, j] = 0.0
            else:
                kept[i, j] = 0.0
                rest[i, j] = value


def magnitude_histogram(values: NDArray[Any]) -> NDArray[np.int64]:
    """How many values have which magnitude; histograms of parts add up."""
    size = np.abs(values).astype(np.float64, copy=False)
    bins = size.reshape(-1).view(np.int64) >> _SHIFT
    return np.bincount(bins, minlength=N_BINS)


def histogram_quantile(histogram: NDArray[Any], share: float) -> float:
    """The magnitude below which this share of the values lies, to within 1 % or so."""
    filled = np.flatnonzero(histogram != 0)  # of booleans: five times as fast
    if len(filled) == 0:
        return 0.0
    counts = histogram[filled]
    total = np.cumsum(counts)
    rank = min(max(share, 0.0), 1.0) * total[-1]
    place = min(int(np.searchsorted(total, rank)), len(filled) - 1)
    low, high = (float(edges[filled[place]]) for edges in bin_edges())
    inside = (rank - (total[place] - counts[place])) / counts[place]
    return float(low + inside * (high - low))


@lru_cache(maxsize=1)
def bin_edges() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper edges of the bins (the last finite number above those)."""
    edges = (np.arange(N_BINS + 1, dtype=np.int64) << _SHIFT)[:N_BINS].view(np.float64)
    edges = np.where(np.isfinite(edges), edges, np.finfo(np.float64).max)
    return edges, np.append(edges[1:], edges[-1])
