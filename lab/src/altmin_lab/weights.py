"""Weights that meet the conditions of Li and Liang (2017) by construction, and the constants they have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.datasets import make_binary
from altmin.datasets.nonnegative import Planted
from altmin_lab.ledger import Check

Array = NDArray[Any]


def paired_weights(n: int, D: int, n_pairs: int, together: float, seed: int, q: float = np.inf) -> Array:
    """Weights of components that come in pairs.

    Each sample draws ``n_pairs`` different pairs of components. With probability ``together`` it uses both
    components of a pair, otherwise one of the two, so that E[x_i x_j] / E[x_i] = 2 c / (1 + c) within a pair.

    Parameters
    ----------
    n, D, n_pairs : int
        Samples, components (an even number), pairs in a sample.
    together : float
        Probability c that both components of a pair are used.
    seed : int
        Of the draw.
    q : float
        Order of the decay condition: a used weight is a uniform number to the power 1/q, and 1 without end.

    Returns
    -------
    ndarray of shape (n, D)
        The weights.
    """
    rng = np.random.default_rng(seed)
    pairs = np.argsort(rng.random((n, D // 2)), axis=1)[:, :n_pairs]
    both, first = rng.random((n, n_pairs)) < together, rng.random((n, n_pairs)) < 0.5
    x = np.zeros((n, D))
    np.put_along_axis(x, 2 * pairs, np.where(both | first, 1.0, 0.0), axis=1)
    np.put_along_axis(x, 2 * pairs + 1, np.where(both | ~first, 1.0, 0.0), axis=1)
    return x if np.isinf(q) else x * rng.random((n, D)) ** (1 / q)


def plant(weights: Array, n_features: int, seed: int, spread: float = 0.05) -> Planted:
    """Data of given weights, with topics of :func:`altmin.datasets.make_binary` and the paper's start."""
    D = weights.shape[1]
    A = make_binary(2, n_features, D, n_active=1, random_state=seed).components
    A = A / np.linalg.norm(A, axis=1, keepdims=True)
    U = np.random.default_rng(seed + 1).uniform(-spread, spread, (D, D))
    return Planted(weights @ A, A, weights, A + U @ A)


def correlation_constants(weights: Array) -> dict[str, float]:
    """The constants r, k, m and lambda of Definition 1."""
    D = weights.shape[1]
    second = weights.T @ weights / len(weights)
    k = D * float(second.diagonal().max()) / 2
    return {
        "r": float(weights.sum(axis=1).max()),
        "k": k,
        "m": D**2 * float(second[~np.eye(D, dtype=bool)].max()),
        "lambda": D * float(np.linalg.eigvalsh(second)[0]) / k,
    }


def strongest_correlation(weights: Array) -> float:
    """Largest E[x_i x_j] / min(E x_i, E x_j): 1 is the highest possible."""
    second, mean = weights.T @ weights / len(weights), weights.mean(axis=0)
    shares = second / np.minimum(mean[:, None], mean[None, :])
    return float(shares[~np.eye(len(mean), dtype=bool)].max())


def and_hypotheses(problem: Planted, q: float = np.inf) -> dict[str, Check]:
    """The hypotheses of Theorems 1, 4 and 5: correlation conditions, the start, and the bound on m."""
    found = correlation_constants(problem.codes)
    r, k, lam, D = found["r"], found["k"], found["lambda"], problem.codes.shape[1]
    mixing = problem.start @ np.linalg.pinv(problem.components)
    scale = np.diag(mixing)
    off = float(np.linalg.norm(mixing - np.diag(scale), 2))
    power = 0.0 if np.isinf(q) else 1 / q
    most = k * D ** (1 - power) * lam ** (4 + 4 * power)
    most /= r ** (5 + (0.0 if np.isinf(q) else 6 / (q + 1)))
    return {
        "weights in [0, 1], lambda > 0 (Definition 1)": Check(
            bool(problem.codes.min() >= 0 and problem.codes.max() <= 1 and lam > 0),
            ", ".join(f"{name} {value:.2g}" for name, value in found.items()),
        ),
        "start: E below a constant, Sigma within 1/4 of I (Definition 2)": Check(
            bool(off < 1 and np.abs(scale - 1).max() <= 0.25), f"norm of E {off:.2g}"
        ),
        "m at most k D lambda^4 / r^5, to the powers of q (constant 1)": Check(
            bool(found["m"] <= most), f"m {found['m']:.2g}, bound {most:.2g}"
        ),
    }
