"""Sparse combinations of a planted dictionary, without and with outliers, and two telling families."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

OUTLIERS = ("dense", "large", "duplicates")


@dataclass(frozen=True)
class PlantedSparse:
    """Sparse data whose dictionary is known.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Data with noise, and with outliers if any were asked for.
    components : ndarray of shape (n_components, n_features)
        The dictionary, unit rows.
    codes : ndarray of shape (n_samples, n_components)
        The sparse codes; rows of outliers are zero.
    outliers : ndarray of bool, shape (n_samples,)
        Which rows have nothing to do with the dictionary.
    """

    X: NDArray[Any]
    components: NDArray[Any]
    codes: NDArray[Any]
    outliers: NDArray[np.bool_]


def make_planted_sparse(
    n_samples: int = 4000,
    n_features: int = 64,
    n_components: int = 100,
    n_nonzero: int = 5,
    noise: float = 0.05,
    *,
    coherence: float = 0.0,
    outliers: float = 0.0,
    kind: str = "dense",
    random_state: Any = None,
) -> PlantedSparse:
    r"""Each row a sparse Gaussian combination of random atoms, plus noise.

    .. math:: x = y A + \zeta, \qquad |\mathrm{supp}(y)| = k, \quad y_j \sim N(0, 1), \quad
       \|\mathrm{noise}\|_F = \sigma \|Y A\|_F

    Parameters
    ----------
    n_samples, n_features, n_components, n_nonzero : int
        Sizes n, d, m and k of the paper.
    noise : float
        Noise to signal, as a ratio of Frobenius norms.
    coherence : float
        Correlation of each pair of atoms on average: a share of one common direction (0: independent).
    outliers : float
        Share of the rows that are replaced by outliers.
    kind : {'dense', 'large', 'duplicates'}
        Gaussian rows of the inliers' size; the same 10 times as long; a few Gaussian rows repeated.
    random_state : int, RandomState or None
        Seed of the data.

    Returns
    -------
    PlantedSparse
        Data, dictionary, codes, and which rows are outliers.

    Notes
    -----
    **Guarantee.** The best error of Theorem 4 is at most the squared ``noise`` (without outliers).

    **Cost.** One product, n_samples * n_components * n_features.

    References
    ----------
    A. Bhaskara and W. M. Tai, Approximate guarantees for dictionary learning, COLT 2019.

    Examples
    --------
    >>> from altmin.datasets import make_planted_sparse
    >>> problem = make_planted_sparse(100, 16, 20, 3, outliers=.2, random_state=0)
    >>> problem.X.shape, int(problem.outliers.sum())
    ((100, 16), 20)
    """
    if kind not in OUTLIERS:
        raise ValueError(f"kind={kind!r}: one of {OUTLIERS} is needed")
    rng = check_random_state(random_state)
    A = rng.standard_normal((n_components, n_features))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    if coherence:
        common = rng.standard_normal(n_features)
        A = np.sqrt(1 - coherence) * A + np.sqrt(coherence) * common / np.linalg.norm(common)
        A /= np.linalg.norm(A, axis=1, keepdims=True)
    support = np.argsort(rng.random_sample((n_samples, n_components)), axis=1)[:, :n_nonzero]
    codes = np.zeros((n_samples, n_components))
    np.put_along_axis(codes, support, rng.standard_normal((n_samples, n_nonzero)), axis=1)
    X = codes @ A
    zeta = rng.standard_normal(X.shape)
    X += noise * np.linalg.norm(X) / np.linalg.norm(zeta) * zeta
    X, which = replace_by_outliers(X, outliers, kind, rng)
    codes[which] = 0.0
    return PlantedSparse(X, A, codes, which)


def replace_by_outliers(
    X: NDArray[Any], share: float, kind: str, random_state: Any = None
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Put outliers in place of random rows.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The data; not written to.
    share : float
        Share of the rows.
    kind : {'dense', 'large', 'duplicates'}
        As in :func:`make_planted_sparse`.
    random_state : int, RandomState or None
        Seed of the data.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The problem with outliers.
    outliers : ndarray of bool, shape (n_samples,)
        Which rows.
    """
    if kind not in OUTLIERS:
        raise ValueError(f"kind={kind!r}: one of {OUTLIERS} is needed")
    rng = check_random_state(random_state)
    n_samples, n_features = X.shape
    n_outliers = round(share * n_samples)
    which = np.zeros(n_samples, dtype=bool)
    if not n_outliers:
        return X.copy(), which
    which[rng.choice(n_samples, n_outliers, replace=False)] = True
    size = np.sqrt(np.mean(np.sum(X**2, axis=1)) / n_features)
    rows = rng.standard_normal((n_outliers, n_features)) * size * (10 if kind == "large" else 1)
    if kind == "duplicates":
        rows = rows[np.arange(n_outliers) % max(n_outliers // 20, 1)]
    X = X.copy()
    X[which] = rows
    return X, which


def make_star(n_vectors: int = 2000, tau: float = 0.1) -> NDArray[Any]:
    r"""The star: input vectors reach about tau OPT and no more.

    .. math:: v_i = \sqrt\tau\, e_0 + \sqrt{1 - \tau}\, e_i, \qquad \mathrm{OPT}_\tau = n \tau

    Parameters
    ----------
    n_vectors : int
        Number of vectors, in as many dimensions and one.
    tau : float
        The threshold.

    Returns
    -------
    ndarray of shape (n_vectors, n_vectors + 1)
        Unit rows.

    Notes
    -----
    **Guarantee.** The optimum and the best input vector are known in closed form.

    **Cost.** n_vectors * (n_vectors + 1) numbers.

    References
    ----------
    A. Bhaskara and W. M. Tai, Approximate guarantees for dictionary learning, COLT 2019.

    Examples
    --------
    >>> from altmin.datasets import make_star
    >>> star = make_star(50, 0.1)
    >>> round(float((star[:, 0] ** 2).sum()), 9)  # the value of e_0: n tau
    5.0
    """
    star = np.sqrt(1 - tau) * np.eye(n_vectors + 1)[1:]
    star[:, 0] = np.sqrt(tau)
    return star


def make_plateau(n_samples: int = 200, delta2: float = 0.004) -> PlantedSparse:
    r"""The plateau: an exact dictionary of n + 1 atoms that no threshold above delta^2 can see.

    .. math:: x_i = a + \delta b_i, \qquad a, b_1, \dots, b_n \text{ orthonormal}

    Peeling stalls after a, with gamma* = 0: Theorem 9 as printed (for all t) fails here.

    Parameters
    ----------
    n_samples : int
        Rows, n.
    delta2 : float
        Squared size delta^2 of the part that is hard to see.

    Returns
    -------
    PlantedSparse
        Data, dictionary and codes.

    Notes
    -----
    **Guarantee.** An exact dictionary exists.

    **Cost.** n_samples * (n_samples + 1) numbers.

    References
    ----------
    A. Bhaskara and W. M. Tai, Approximate guarantees for dictionary learning, COLT 2019.

    Examples
    --------
    >>> from altmin.datasets import make_plateau
    >>> make_plateau(10).X.shape
    (10, 11)
    """
    A = np.eye(n_samples + 1)
    codes = np.zeros((n_samples, n_samples + 1))
    codes[:, 0] = 1.0
    codes[np.arange(n_samples), np.arange(n_samples) + 1] = np.sqrt(delta2)
    return PlantedSparse(codes @ A, A, codes, np.zeros(n_samples, dtype=bool))
