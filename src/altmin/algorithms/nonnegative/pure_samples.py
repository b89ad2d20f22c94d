"""SPA and VCA as functions: which samples are the purest."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

from altmin.kernels.gram import row_norms2

_NARROW = 128  # features up to which a decomposition is quicker than iterations


def spa(X: Any, n_components: int, *, project: bool = True) -> NDArray[np.intp]:
    r"""Successive projection: the samples farthest from the span of those taken before.

    .. math:: i_{k+1} = \arg\max_i \min_c \|x_i - \textstyle\sum_{j \le k} c_j x_{i_j}\|_2

    Finds the vertices of separable data, also under bounded noise (Gillis and Vavasis 2014).

    Parameters
    ----------
    X : ndarray or sparse of shape (n_samples, n_features)
        The data. Divide samples by their sums first where their size means nothing.
    n_components : int
        How many samples to take.
    project : bool
        Whether to project onto the leading ``n_components`` directions first, which makes it robust.

    Returns
    -------
    ndarray of int
        Row numbers in the order taken; fewer where the samples span fewer dimensions.

    Notes
    -----
    **Guarantee.** Finds all vertices of separable data (Gillis and Vavasis 2014), also under
    noise that is small against the condition of the vertices. No sample of a component that has no nearly
    pure one.

    **Cost.** O(n_samples * n_features * n_components), and a singular value decomposition of that order for
    the projection.

    References
    ----------
    N. Gillis and S. A. Vavasis, Fast and robust recursive algorithms for separable nonnegative matrix
    factorization, IEEE Transactions on Pattern Analysis and Machine Intelligence 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin import spa
    >>> spa(np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 2.0]]), 2).tolist()
    [2, 0]
    """
    points = _points(X, n_components, project)
    return _take(points, n_components, lambda left, _: row_norms2(left))


def vca(X: Any, n_components: int, *, random_state: Any = None, project: bool = True) -> NDArray[np.intp]:
    r"""Vertex component analysis: the samples farthest along random directions orthogonal to those taken.

    .. math:: i_{k+1} = \arg\max_i |\langle f_k, x_i \rangle|, \qquad f_k \perp x_{i_1}, \dots, x_{i_k}

    Nascimento and Bioucas-Dias 2005.

    Parameters
    ----------
    X : ndarray or sparse of shape (n_samples, n_features)
        The data.
    n_components : int
        How many samples to take.
    random_state : int, Generator or None
        Seed of the directions.
    project : bool
        Whether to project onto the leading ``n_components`` directions first.

    Returns
    -------
    ndarray of int
        Row numbers in the order taken; fewer where the samples span fewer dimensions.

    Notes
    -----
    **Guarantee.** Finds the vertices of separable data without noise, with probability 1; with noise it
    depends on the random directions.

    **Cost.** O(n_samples * n_features * n_components), and a singular value decomposition of that order for
    the projection.

    References
    ----------
    J. M. P. Nascimento and J. M. Bioucas-Dias, Vertex component analysis: a fast algorithm to unmix
    hyperspectral data, IEEE Transactions on Geoscience and Remote Sensing 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin import vca
    >>> sorted(vca(np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 2.0]]), 2, random_state=0).tolist())
    [0, 2]
    """
    rng = np.random.default_rng(random_state)

    def along(left: NDArray[Any], directions: NDArray[Any]) -> NDArray[Any]:
        probe = rng.standard_normal(left.shape[1])
        probe -= (probe @ directions.T) @ directions
        return np.abs(left @ probe)

    return _take(_points(X, n_components, project), n_components, along)


def _points(X: Any, n_components: int, project: bool) -> NDArray[Any]:
    if getattr(X, "ndim", 0) != 2 or n_components < 1:
        raise ValueError(f"X must be a 2-D array and n_components={n_components} at least 1")
    if not np.isfinite(X.data if sp.issparse(X) else X).all():
        raise ValueError("X contains NaN or infinity")
    if not project or n_components >= min(X.shape):
        return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    if X.shape[1] <= _NARROW and not sp.issparse(X):
        X = np.asarray(X, np.float64)
        return X @ np.linalg.eigh(X.T @ X)[1][:, : -n_components - 1 : -1]
    _, _, Vt = svds(X.astype(np.float64), k=n_components, v0=np.ones(min(X.shape)))
    return np.asarray(X @ Vt.T)


def _take(points: NDArray[Any], n: int, score: Any) -> NDArray[np.intp]:
    left, taken = points.copy(), []
    directions = np.zeros((0, points.shape[1]))
    smallest = 100 * np.finfo(float).eps * np.sqrt(row_norms2(points).max(initial=0.0))
    for _ in range(min(n, *points.shape)):
        best = int(np.argmax(score(left, directions)))
        norm = float(np.linalg.norm(left[best]))
        if norm <= smallest:
            break
        taken.append(best)
        new = left[best] / norm
        directions = np.vstack([directions, new])
        left -= np.outer(left @ new, new)
    return np.array(taken, dtype=np.intp)
