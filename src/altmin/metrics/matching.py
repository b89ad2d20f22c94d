"""Match components of two factorizations, and measure angles without cancellation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment


def match_components(
    components: ArrayLike, reference: ArrayLike, *, signed: bool = False
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    r"""Assign to each reference component the component closest to it in angle.

    .. math:: \max_\pi \sum_i |\cos \angle(a_{\pi(i)}, a^*_i)|

    Parameters
    ----------
    components : array-like of shape (n_components, n_features)
        One atom per row.
    reference : array-like of shape (n_reference, n_features)
        The truth, or another fit; at most as many rows as ``components``.
    signed : bool
        Whether the sign of a component matters (non-negative factorizations) or is free (dictionaries).

    Returns
    -------
    index : ndarray of shape (n_reference,)
        ``components[index]`` is in the order of the reference.
    cosine : ndarray of shape (n_reference,)
        Cosines of the matched pairs.

    Notes
    -----
    **Cost.** A product of the two, and an assignment of n_components^3.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.metrics import match_components
    >>> index, cosine = match_components(np.eye(3)[[2, 0, 1]], np.eye(3))
    >>> index.tolist()
    [1, 2, 0]
    """
    A, R = _unit_rows(components), _unit_rows(reference)
    if len(R) > len(A):
        raise ValueError(f"reference has {len(R)} components, more than the {len(A)} to choose from")
    cosine = R @ A.T
    score = cosine if signed else np.abs(cosine)
    rows, index = linear_sum_assignment(score, maximize=True)
    return index, cosine[rows, index]


def sine_errors(components: ArrayLike, reference: ArrayLike, *, signed: bool = False) -> NDArray[Any]:
    r"""Sine of the angle between each reference component and its match.

    .. math:: \sin\angle(a, a^*) = \min_\sigma \|a^* - \sigma a\|_2, \qquad \|a^*\|_2 = 1

    Computed from the residual: :math:`\sqrt{1 - \cos^2}` cannot see angles under 1e-8. With ``signed``,
    a matched pair that points in opposite directions counts as 1.

    Parameters
    ----------
    components : array-like of shape (n_components, n_features)
        One atom per row.
    reference : array-like of shape (n_reference, n_features)
        The truth.
    signed : bool
        Whether the sign matters.

    Returns
    -------
    ndarray of shape (n_reference,)
        Between 0 and 1.

    Notes
    -----
    **Cost.** That of :func:`match_components`.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.metrics import sine_errors
    >>> sine_errors(-2 * np.eye(3)[::-1], np.eye(3))
    array([0., 0., 0.])
    """
    index, cosine = match_components(components, reference, signed=signed)
    A, R = _unit_rows(components)[index], _unit_rows(reference)
    along = np.einsum("ij,ij->i", A, R)
    errors = np.linalg.norm(R - along[:, None] * A, axis=1)
    return np.where(cosine > 0, errors, 1.0) if signed else errors


def total_correlation_error(components: ArrayLike, reference: ArrayLike, *, signed: bool = False) -> float:
    r"""The paper's total correlation error: the sum of :func:`sine_errors`.

    .. math:: \varepsilon(A, A^*) = \sum_i \min_{\pi, \sigma} \|a^*_i - \sigma a_{\pi(i)}\|_2

    with unit columns (Li and Liang 2017, Section 7), and matched one to one.

    Parameters
    ----------
    components : array-like of shape (n_components, n_features)
        One atom per row.
    reference : array-like of shape (n_reference, n_features)
        The truth.
    signed : bool
        Whether the sign matters.

    Returns
    -------
    float
        0 for a perfect recovery.

    Notes
    -----
    **Cost.** That of :func:`match_components`.

    References
    ----------
    Y. Li and Y. Liang, Provable alternating gradient descent for non-negative matrix factorization with
    strong correlations, ICML 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.metrics import total_correlation_error
    >>> total_correlation_error(2 * np.eye(3)[::-1], np.eye(3))
    0.0
    """
    return float(sine_errors(components, reference, signed=signed).sum())


def _unit_rows(components: ArrayLike) -> NDArray[Any]:
    A = np.asarray(components, dtype=np.float64)
    A = A / np.maximum(np.abs(A).max(axis=1, keepdims=True), np.finfo(float).tiny)
    norms = np.linalg.norm(A, axis=1, keepdims=True)
    return np.divide(A, norms, out=np.zeros_like(A), where=norms > 0)
