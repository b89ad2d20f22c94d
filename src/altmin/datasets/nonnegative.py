"""Data with known non-negative weights: the problems of Li and Liang 2017, Section 7."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state


@dataclass(frozen=True)
class Planted:
    """A problem whose answer is known.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Data, with noise if any was asked for.
    components : ndarray of shape (n_components, n_features)
        The truth.
    codes : ndarray of shape (n_samples, n_components)
        The weights that made X.
    start : ndarray of shape (n_components, n_features)
        A start near the truth, A* (I + U) with U uniform in [-.05, .05).
    """

    X: NDArray[Any]
    components: NDArray[Any]
    codes: NDArray[Any]
    start: NDArray[Any]


def make_dir(
    n_samples: int = 5000,
    n_features: int = 1000,
    n_components: int = 100,
    *,
    concentration: float = 5.0,
    noise: float = 0.0,
    random_state: Any = None,
) -> Planted:
    r"""DIR: topics with Dirichlet weights.

    .. math:: y = x A^* + \zeta, \quad x \sim \mathrm{Dirichlet}(s/D, \dots, s/D), \quad
       \zeta \sim \gamma N(0, I/W)

    Parameters
    ----------
    n_samples, n_features, n_components : int
        Sizes n, W and D of the paper.
    concentration : float
        Parameter s; the paper's DIR has 5 (.05 for each of 100 topics).
    noise : float
        Noise level, gamma.
    random_state : int, RandomState or None
        Seed of the data.

    Returns
    -------
    Planted
        Data, truth, weights and a start near the truth.

    Notes
    -----
    **Guarantee.** Follows the model of AND: Theorem 4 applies where the concentration is small against the
    number of components; pure samples become rare as it grows.

    **Cost.** One product, n_samples * n_components * n_features.

    References
    ----------
    Y. Li and Y. Liang, Provable alternating gradient descent for non-negative matrix factorization with
    strong correlations, ICML 2017.

    Examples
    --------
    >>> from altmin.datasets import make_dir
    >>> make_dir(200, 50, 5, random_state=0).X.shape
    (200, 50)
    """
    rng = check_random_state(random_state)
    A = _topics(rng, n_components, n_features)
    codes = rng.dirichlet(np.full(n_components, concentration / n_components), size=n_samples)
    return _plant(rng, A, codes, noise)


def make_ctm(
    n_samples: int = 5000,
    n_features: int = 1000,
    n_components: int = 100,
    *,
    sigma: float = 10.0,
    correlation: float = 0.5,
    group_size: int = 10,
    per_document_covariance: bool = False,
    noise: float = 0.0,
    random_state: Any = None,
) -> Planted:
    r"""CTM: topics with correlated logistic-normal weights.

    .. math:: y = x A^*, \quad x = \mathrm{softmax}(g), \quad g \sim N(0, \sigma^2 C)

    where C has ones on its diagonal and ``correlation`` inside groups of ``group_size`` topics: one
    covariance for all documents, as in Blei and Lafferty 2006. The authors of AND drew a new random
    covariance for *each* document, which makes weights nearly one-hot: ``per_document_covariance``.

    Parameters
    ----------
    n_samples, n_features, n_components : int
        Sizes n, W and D of the paper.
    sigma : float
        Standard deviation of the normal; larger is sparser.
    correlation : float
        Inside a group.
    group_size : int
        Topics in a group.
    per_document_covariance : bool
        A fresh covariance R'R, R standard normal (D x D) times ``sigma`` / sqrt(D), for each document.
    noise : float
        Noise level, gamma.
    random_state : int, RandomState or None
        Seed of the data.

    Returns
    -------
    Planted
        Data, truth, weights and a start near the truth.

    Notes
    -----
    **Guarantee.** Weights are never exactly zero, so recovery stalls at the size of the smallest ones;
    sparser for larger ``sigma``.

    **Cost.** One product, n_samples * n_components * n_features; ``per_document_covariance`` draws one matrix
    per sample.

    References
    ----------
    D. M. Blei and J. D. Lafferty, Correlated topic models, NIPS 2006.

    Examples
    --------
    >>> from altmin.datasets import make_ctm
    >>> float(make_ctm(200, 50, 5, random_state=0).codes.sum(axis=1).round(12).max())
    1.0
    """
    rng = check_random_state(random_state)
    A = _topics(rng, n_components, n_features)
    codes = _logistic_normal(
        rng, n_samples, n_components, sigma, correlation, group_size, per_document_covariance
    )
    return _plant(rng, A, codes, noise)


def make_neg(
    n_samples: int = 5000,
    n_features: int = 1000,
    n_components: int = 100,
    *,
    weights: str = "ctm",
    concentration: float = 5.0,
    noise: float = 0.0,
    random_state: Any = None,
) -> Planted:
    r"""NEG: features of both signs, :math:`A^*_{ij}` uniform in [-.5, .5).

    .. math:: y = x A^* + \zeta, \quad x \ge 0

    Parameters
    ----------
    n_samples, n_features, n_components : int
        Sizes n, W and D of the paper.
    weights : {'ctm', 'dir'}
        Weights as in :func:`make_ctm` (the paper's) or :func:`make_dir`.
    concentration : float
        Parameter s of the Dirichlet weights.
    noise : float
        Noise level, gamma.
    random_state : int, RandomState or None
        Seed of the data.

    Returns
    -------
    Planted
        Data, truth, weights and a start near the truth.

    Notes
    -----
    **Guarantee.** Features of any sign are within the model of AND; other non-negative factorizations
    refuse such data.

    **Cost.** One product, n_samples * n_components * n_features.

    References
    ----------
    Y. Li and Y. Liang, Provable alternating gradient descent for non-negative matrix factorization with
    strong correlations, ICML 2017.

    Examples
    --------
    >>> from altmin.datasets import make_neg
    >>> bool((make_neg(200, 50, 5, random_state=0).components < 0).any())
    True
    """
    if weights not in ("ctm", "dir"):
        raise ValueError(f"weights={weights!r}: allowed are 'ctm' and 'dir'")
    rng = check_random_state(random_state)
    A = rng.uniform(-0.5, 0.5, size=(n_components, n_features))
    if weights == "dir":
        codes = rng.dirichlet(np.full(n_components, concentration / n_components), size=n_samples)
    else:
        codes = _logistic_normal(rng, n_samples, n_components, 10.0, 0.5, 10, False)
    return _plant(rng, A, codes, noise)


def make_binary(
    n_samples: int = 3000,
    n_features: int = 200,
    n_components: int = 50,
    *,
    n_active: int = 4,
    noise: float = 0.0,
    random_state: Any = None,
) -> Planted:
    r"""Binary weights: the simplified case of Li and Liang 2017, Section 5 (equation 5.1).

    .. math:: y = x A^* + \zeta, \quad x \in \{0, 1\}^D \text{ with s ones, uniformly}

    No sample is pure, so a start from the data alone fails on it.

    Parameters
    ----------
    n_samples, n_features, n_components : int
        Sizes n, W and D of the paper.
    n_active : int
        Number of ones, s.
    noise : float
        Noise level, gamma.
    random_state : int, RandomState or None
        Seed of the data.

    Returns
    -------
    Planted
        Data, truth, weights and a start near the truth.

    Notes
    -----
    **Guarantee.** Theorem 1 applies from the start that is given along.

    **Cost.** One product, n_samples * n_components * n_features.

    References
    ----------
    Y. Li and Y. Liang, Provable alternating gradient descent for non-negative matrix factorization with
    strong correlations, ICML 2017.

    Examples
    --------
    >>> from altmin.datasets import make_binary
    >>> set(make_binary(50, 20, 6, n_active=2, random_state=0).codes.sum(axis=1).tolist())
    {2.0}
    """
    rng = check_random_state(random_state)
    A = _topics(rng, n_components, n_features)
    codes = np.zeros((n_samples, n_components))
    ones = np.argsort(rng.random_sample((n_samples, n_components)), axis=1)[:, :n_active]
    np.put_along_axis(codes, ones, 1.0, axis=1)
    return _plant(rng, A, codes, noise)


def add_outliers(
    X: NDArray[Any], share: float, *, scale: float = 1.0, random_state: Any = None
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Replace some samples by gross outliers: dense random directions.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The data; not changed.
    share : float
        Share of the samples that become outliers.
    scale : float
        Norm of an outlier in units of the mean norm of a sample.
    random_state : int, RandomState or None
        Seed of the data.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        A copy with outliers.
    rows : ndarray of int
        Which samples they are, sorted.

    Notes
    -----
    **Guarantee.** Outliers lie outside the span of the others, with probability 1.

    **Cost.** A copy of X.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.datasets import add_outliers
    >>> X, rows = add_outliers(np.ones((100, 5)), 0.03, random_state=0)
    >>> len(rows), bool((np.delete(X, rows, axis=0) == 1).all())
    (3, True)
    """
    rng = check_random_state(random_state)
    rows = np.sort(rng.permutation(len(X))[: round(share * len(X))])
    directions = rng.standard_normal((len(rows), X.shape[1]))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    X = X.copy()
    X[rows] = scale * np.linalg.norm(X, axis=1).mean() * directions
    return X, rows


def _topics(rng: np.random.RandomState, n_components: int, n_features: int) -> NDArray[Any]:
    """Word distributions: Dirichlet around a Zipf law, as learned topics look."""
    zipf = 1.0 / np.arange(1, n_features + 1)
    base = zipf / zipf.sum()
    return rng.dirichlet(0.05 * n_features * base + 1e-3, size=n_components)


def _logistic_normal(
    rng: np.random.RandomState, n: int, D: int, sigma: float, rho: float, group: int, per_document: bool
) -> NDArray[Any]:
    if per_document:
        logits = np.empty((n, D))
        for i in range(n):
            R = rng.standard_normal((D, D)) * (sigma / np.sqrt(D))
            logits[i] = rng.standard_normal(D) @ R
    else:
        shared = rng.standard_normal((n, -(-D // group))).repeat(group, axis=1)[:, :D]
        own = rng.standard_normal((n, D))
        logits = sigma * (np.sqrt(rho) * shared + np.sqrt(1 - rho) * own)
    logits -= logits.max(axis=1, keepdims=True)
    codes = np.exp(logits)
    return codes / codes.sum(axis=1, keepdims=True)


def _plant(rng: np.random.RandomState, A: NDArray[Any], codes: NDArray[Any], noise: float) -> Planted:
    D, W = A.shape
    X = codes @ A
    if noise:
        X = X + rng.standard_normal(X.shape) * (noise / np.sqrt(W))
    start = A + rng.uniform(-0.05, 0.05, size=(D, D)) @ A
    return Planted(X, A, codes, start)
