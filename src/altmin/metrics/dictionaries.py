"""How far a learned dictionary is from the true one, up to order, sign and scale."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from altmin.metrics.matching import match_components, sine_errors


def atom_error(components: ArrayLike, reference: ArrayLike) -> float:
    r"""Largest error of an atom after matching.

    .. math:: \max_i \min_{\sigma = \pm 1} \| a_{\pi(i)} - \sigma a^*_i \|_2

    with unit atoms; computed so that errors of 1e-15 are still seen.

    Parameters
    ----------
    components : array-like of shape (n_components, n_features)
        Learned atoms, one a row.
    reference : array-like of shape (n_reference, n_features)
        True atoms.

    Returns
    -------
    float
        Between 0 and about 1.41.

    Notes
    -----
    **Cost.** That of :func:`match_components`.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.metrics import atom_error
    >>> atom_error(-np.eye(3)[::-1], np.eye(3))
    0.0
    """
    sine = np.minimum(sine_errors(components, reference), 1.0)
    # ||a - a*||^2 = 2 (1 - cos), and 1 - cos = sin^2 / (1 + cos) without cancellation
    return float(np.max(np.sqrt(2.0) * sine / np.sqrt(1.0 + np.sqrt(1.0 - sine**2))))


def crosstalk(components: ArrayLike, reference: ArrayLike) -> float:
    r"""Largest share of another atom in a code: the right measure where the dictionary is ill conditioned.

    .. math:: \max_i \frac{\max_{j \ne i} |T_{ji}|}{|T_{ii}|}, \qquad T = A^* A^+

    Codes of noiseless data are :math:`y A^+ = x T`; T is a scaled permutation for a perfect dictionary.

    Parameters
    ----------
    components : array-like of shape (n_components, n_features)
        Learned atoms.
    reference : array-like of shape (n_components, n_features)
        True atoms, as many.

    Returns
    -------
    float
        0 for a perfect recovery.

    Notes
    -----
    **Cost.** A pseudo-inverse and a product.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.metrics import crosstalk
    >>> crosstalk(3 * np.eye(4)[::-1], np.eye(4))
    0.0
    """
    A, R = np.asarray(components, np.float64), np.asarray(reference, np.float64)
    if A.shape != R.shape:
        raise ValueError(f"components has shape {A.shape}, reference {R.shape}: they must agree")
    index, _ = match_components(A, R)
    A = A[index]
    scale = np.einsum("ij,ij->i", R, A) / np.maximum(np.einsum("ij,ij->i", A, A), np.finfo(float).tiny)
    # T = diag(scale) + (R - scale A) A^+: the difference is small, so a large A^+ doesn't amplify rounding
    T = np.abs(np.diag(scale) + (R - scale[:, None] * A) @ np.linalg.pinv(A))
    own = np.diag(T).copy()
    np.fill_diagonal(T, 0.0)
    return float(np.max(T.max(axis=0) / np.maximum(own, np.finfo(float).tiny)))


def support_recovery(
    codes: ArrayLike, reference_codes: ArrayLike, components: ArrayLike, reference: ArrayLike
) -> float:
    r"""Share of the entries on which zero and nonzero agree, after matching the atoms.

    .. math:: \frac{1}{np} \#\{(t, i) : [z_{t\pi(i)} \ne 0] = [x_{ti} \ne 0]\}

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_components)
        Learned codes.
    reference_codes : array-like of shape (n_samples, n_reference)
        True codes.
    components : array-like of shape (n_components, n_features)
        Learned atoms.
    reference : array-like of shape (n_reference, n_features)
        True atoms.

    Returns
    -------
    float
        1 for the exact support.

    Notes
    -----
    **Cost.** That of :func:`match_components`, and one pass over the codes.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.metrics import support_recovery
    >>> support_recovery([[0.0, 2.0]], [[1.0, 0.0]], np.eye(2)[::-1], np.eye(2))
    1.0
    """
    index, _ = match_components(components, reference)
    learned, true = np.asarray(codes)[:, index] != 0, np.asarray(reference_codes) != 0
    return float(np.mean(learned == true))
