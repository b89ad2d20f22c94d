r"""Hypercontractive norms of a matrix, bounded from both sides (Bhaskara and Tai, Section 4.2).

.. math:: \|A\|_{2 \to p} = \max_{\|x\|_2 = 1} \|A x\|_p, \qquad p \ge 2

Theorem 17 reduces it to threshold correlation at levels that double. (Printed with two slips: the
factor is :math:`\alpha^{1/2 - 1/p}`, and the levels are :math:`(Q^p / 2n)^{2/p} 2^j`, on absolute values.)
The directions found there start the power method, which never falls as the p-th power of the norm is
convex.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from altmin.algorithms.correlation.threshold_correlation import threshold_correlation
from altmin.contract import record

_ROWS = 128  # rows that start the power method
_STEPS = 500


@record
class HypercontractiveNorm:
    """A vector that shows the norm to be at least ``value``, and a bound from above.

    Parameters
    ----------
    value : float
        Norm of A x for the vector: a lower bound.
    vector : ndarray of shape (n_features,)
        Of unit norm.
    upper_bound : float
        The norm is at most this.
    """

    value: float
    vector: Any
    upper_bound: float


def hypercontractive_norm(A: ArrayLike, p: float) -> HypercontractiveNorm:
    r"""Lower and upper bound of the 2 -> p norm of a matrix.

    .. math:: \|A\|_{2 \to p} = \max_{\|x\|_2 = 1} \|A x\|_p

    It is exact for p = 2 (largest singular value) and p = inf (longest row); between them the problem
    is hard (Barak et al. 2012), and the lower bound is a local maximum from many good starts.

    Parameters
    ----------
    A : array-like of shape (n_rows, n_columns)
        The matrix.
    p : float
        At least 2; ``numpy.inf`` is allowed.

    Returns
    -------
    HypercontractiveNorm
        With ``value``, ``vector`` and ``upper_bound``.

    Notes
    -----
    **Guarantee.** ``value`` is reached by ``vector``, and ``upper_bound`` is proven; between them lies the
    norm.

    **Cost.** A singular value decomposition and threshold correlations at O(log n_rows) levels, n_rows^2 *
    n_columns each, then power steps of n_rows * n_columns.

    References
    ----------
    A. Bhaskara and W. M. Tai, Approximate guarantees for dictionary learning, COLT 2019, Theorem 17.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin import hypercontractive_norm
    >>> norm = hypercontractive_norm(np.eye(3), 4)
    >>> round(norm.value, 6), round(norm.upper_bound, 6)
    (1.0, 1.0)
    """
    A = np.asarray(A, dtype=np.float64)
    if A.ndim != 2 or 0 in A.shape or not np.isfinite(A).all():
        raise ValueError(f"A: a finite matrix with rows and columns is needed, got shape {A.shape}")
    if not isinstance(p, Real) or not p >= 2:
        raise ValueError(f"p={p!r}: a number of at least 2 is needed")
    scale = float(np.abs(A).max())
    if scale == 0.0:
        return HypercontractiveNorm(0.0, np.eye(A.shape[1])[0], 0.0)
    A = A / scale  # p-th powers neither overflow nor vanish
    lengths = np.linalg.norm(A, axis=1)
    longest = int(np.argmax(lengths))
    if np.isinf(p):
        value = float(lengths[longest]) * scale
        return HypercontractiveNorm(value, A[longest] / lengths[longest], value)
    _, singular, right = np.linalg.svd(A, full_matrices=False)
    if p == 2:
        value = float(singular[0]) * scale
        return HypercontractiveNorm(value, right[0], value)
    order = np.argsort(-lengths, kind="stable")[:_ROWS]
    rows = A[order] / np.maximum(lengths[order], np.finfo(float).tiny)[:, None]
    starts = np.vstack([right, rows[lengths[order] > 0], _level_directions(A, p)])
    values, vectors = _power(A, starts, float(p))
    best = int(np.argmax(values))
    upper = _upper_bound(lengths, float(singular[0]), float(p))
    value = float(values[best])
    return HypercontractiveNorm(value * scale, vectors[best], max(upper, value) * scale)


def _upper_bound(lengths: NDArray[Any], top: float, p: float) -> float:
    """Smallest of three: the 2-norm; mixed, as |g|^p <= max |a_i|^(p-2) g^2; the rows' own lengths."""
    longest = float(lengths.max())
    mixed = longest * (top / longest) ** (2 / p)
    own = longest * float(np.sum((lengths / longest) ** p)) ** (1 / p)
    return min(top, mixed, own)


def _level_directions(A: NDArray[Any], p: float) -> NDArray[Any]:
    """Theorem 17's candidates: threshold correlation at the levels R^2 (2n)^(-2/p) 2^j up to R^2."""
    longest2 = float(np.max(np.einsum("ij,ij->i", A, A)))
    n_levels = int(np.ceil(2 / p * np.log2(2 * len(A)))) + 1
    levels = longest2 * 2.0 ** -np.arange(n_levels)
    found = [threshold_correlation(A, float(level), random_state=0).vector for level in levels]
    return np.stack(found)


def _power(A: NDArray[Any], X: NDArray[Any], p: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Power method for all starts at once: x <- unit(A' |Ax|^(p-1) sign(Ax)); the norms never fall."""
    values = np.zeros(len(X))
    for _ in range(_STEPS):
        G = X @ A.T
        peak = np.maximum(np.abs(G).max(axis=1, keepdims=True), np.finfo(float).tiny)
        H = np.abs(G / peak) ** (p - 2) * (G / peak)
        before, values = values, peak[:, 0] * np.sum(np.abs(G / peak) ** p, axis=1) ** (1 / p)
        if np.all(values - before <= 1e-13 * values):
            break
        step = H @ A
        X = step / np.linalg.norm(step, axis=1, keepdims=True)
    return values, X
