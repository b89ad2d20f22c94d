"""Data with a known low-rank quadratic target: the models of Lin and Ye 2016."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state


@dataclass(frozen=True)
class PlantedQuadratic:
    """A quadratic problem whose answer is known: y = b + x'w + x'Mx + noise.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        Target.
    coef : ndarray of shape (n_features,)
        w.
    factors : ndarray of shape (rank, n_features)
        Unit rows f_i of M = sum_i eigenvalue_i f_i f_i'.
    eigenvalues : ndarray of shape (rank,)
        The largest magnitude is 1.
    intercept : float
        Constant b.
    """

    X: NDArray[Any]
    y: NDArray[Any]
    coef: NDArray[Any]
    factors: NDArray[Any]
    eigenvalues: NDArray[Any]
    intercept: float

    def error(self, coef: NDArray[Any], factors: NDArray[Any], eigenvalues: NDArray[Any]) -> float:
        """||w - w*|| + ||M - M*||_2, from the factors."""
        both = np.vstack([self.factors, factors])
        R = np.asarray(np.linalg.qr(both.T)[1])
        core = (R * np.concatenate([self.eigenvalues, -np.asarray(eigenvalues)])) @ R.T
        return float(np.linalg.norm(self.coef - coef) + np.abs(np.linalg.eigvalsh(core)).max())


def make_quadratic(
    n_samples: int = 5000,
    n_features: int = 50,
    rank: int = 3,
    *,
    features: str = "gaussian",
    correlation: float = 0.0,
    condition: float = 1.0,
    mixed_signs: bool = False,
    coef_norm: float = 1.0,
    intercept: float = 0.0,
    noise: float = 0.0,
    random_state: Any = None,
) -> PlantedQuadratic:
    r"""A generalized factorization machine.

    .. math:: y = b + x^T w + x^T M x + \xi, \qquad \|M\|_2 = 1

    Parameters
    ----------
    n_samples, n_features, rank : int
        Sizes n, d and k of the paper.
    features : {'gaussian', 'exponential', 'uniform', 'binary'}
        Distribution of each feature, standardised.
    correlation : float
        Between any two Gaussian features; 0 is independent.
    condition : float
        Largest over smallest eigenvalue magnitude of M (spaced geometrically).
    mixed_signs : bool
        Whether every other eigenvalue is negative.
    coef_norm : float
        Norm of w.
    intercept : float
        Constant b.
    noise : float
        Standard deviation of the noise.
    random_state : int, RandomState or None
        Seed of the data.

    Returns
    -------
    PlantedQuadratic
        Data and truth.

    Notes
    -----
    **Guarantee.** Theorem 1 applies to Gaussian features without correlation.

    **Cost.** n_samples * n_features * rank.

    References
    ----------
    M. Lin and J. Ye, A non-convex one-pass framework for generalized factorization machine and rank-one
    matrix sensing, NIPS 2016.

    Examples
    --------
    >>> from altmin.datasets import make_quadratic
    >>> make_quadratic(100, 8, 2, random_state=0).eigenvalues
    array([1., 1.])
    """
    draws = {
        "gaussian": lambda rng, shape: rng.standard_normal(shape),
        "exponential": lambda rng, shape: rng.exponential(size=shape) - 1.0,
        "uniform": lambda rng, shape: rng.uniform(-np.sqrt(3), np.sqrt(3), shape),
        "binary": lambda rng, shape: rng.choice([-1.0, 1.0], shape),
    }
    if features not in draws:
        raise ValueError(f"features={features!r}: allowed are {sorted(draws)}")
    if not 1 <= rank <= n_features:
        raise ValueError(f"rank={rank}: between 1 and n_features={n_features} is allowed")
    rng = check_random_state(random_state)
    vectors = np.linalg.qr(rng.standard_normal((n_features, rank)))[0]
    values = np.geomspace(1.0, 1.0 / condition, rank) if rank > 1 else np.ones(1)
    if mixed_signs:
        values = values * np.where(np.arange(rank) % 2, -1.0, 1.0)
    w = rng.standard_normal(n_features)
    w *= coef_norm / np.linalg.norm(w)
    X = draws[features](rng, (n_samples, n_features))
    if correlation:
        shared = rng.standard_normal((n_samples, 1))
        X = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * X
    y = intercept + X @ w + np.square(X @ vectors) @ values
    if noise:
        y = y + noise * rng.standard_normal(n_samples)
    return PlantedQuadratic(X, y, w, vectors.T, values, float(intercept))
