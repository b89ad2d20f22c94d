"""Singular values against the edge of noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import svds


@dataclass(frozen=True)
class Spectrum:
    """Singular values of the data, largest first, and what they can say.

    Parameters
    ----------
    values : ndarray
        All of them, or the leading ones of a large sparse table.
    rank : int
        How many are above rounding: no model has more components than that without inventing some.
    above_noise : int or None
        How many are above the edge of white noise; None where nothing is left over to estimate it from.
    edge : float or None
        That edge: the largest singular value of white noise of the size of the median one.
    """

    values: NDArray[Any]
    rank: int
    above_noise: int | None
    edge: float | None


def spectrum(X: Any, n_leading: int) -> Spectrum:
    r"""Singular values, numerical rank and the Marchenko-Pastur edge.

    .. math:: \text{edge} = \frac{1 + \sqrt\beta}{\sqrt{\mu_\beta}} \operatorname{median}(s), \qquad
       \beta = \frac{\min(n, W)}{\max(n, W)}

    with :math:`\mu_\beta` the median of the Marchenko-Pastur law (Gavish and Donoho 2014). It holds for
    white noise and fewer components than half of the features.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        Complete data.
    n_leading : int
        Singular values of a large sparse table to compute.

    Returns
    -------
    Spectrum
        What they say.
    """
    n, W = X.shape
    if sp.issparse(X) and min(n, W) > 1500:
        k = min(n_leading + 5, min(n, W) - 1)
        start = np.ones(min(n, W))
        values = svds(X.astype(np.float64), k=k, return_singular_vectors=False, v0=start)
        return Spectrum(np.sort(values)[::-1], min(n, W), None, None)
    dense = X.toarray() if sp.issparse(X) else np.asarray(X)
    resolution = np.finfo(dense.dtype).eps if dense.dtype.kind == "f" else np.finfo(float).eps
    dense = dense.astype(np.float64)
    gram = dense.T @ dense if n >= W else dense @ dense.T
    if gram.shape[0] <= 1500:
        # R of a QR factorization has the same singular values, and none are lost by squaring.
        values = np.linalg.svd(np.linalg.qr(dense if n >= W else dense.T, mode="r"), compute_uv=False)
    else:
        values = np.sqrt(np.maximum(np.linalg.eigvalsh(gram)[::-1], 0.0))
    rank = int(np.sum(values > values[0] * max(n, W) * resolution)) if values[0] > 0 else 0
    if rank < len(values):
        return Spectrum(values, rank, rank, float(values[rank]))
    beta = min(n, W) / max(n, W)
    edge = float((1 + np.sqrt(beta)) * np.median(values) / np.sqrt(_median_law(beta)))
    return Spectrum(values, rank, int(np.sum(values > edge)), edge)


def _median_law(beta: float) -> float:
    """Median of the Marchenko-Pastur law with ratio beta and unit variance."""
    low, high = (1 - np.sqrt(beta)) ** 2, (1 + np.sqrt(beta)) ** 2
    # By angles, which takes the square roots at both ends away.
    angle = (np.arange(4000) + 0.5) * np.pi / 4000
    x = (low + high) / 2 - (high - low) / 2 * np.cos(angle)
    mass = np.cumsum(np.sin(angle) ** 2 / np.maximum(x, np.finfo(float).tiny))
    return float(x[np.searchsorted(mass, mass[-1] / 2)])
