"""What a residual says: is it noise, or is there more to find? Tests that machines and sensing share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def singular_ratio(J: Array) -> float:
    """Smallest over largest singular value of a Jacobian: 0 where the rows can't tell parameters apart."""
    values = np.linalg.eigvalsh(J.T @ J)
    return float(np.sqrt(max(values[0], 0.0) / max(values[-1], 1e-300)))


def shapes(u: Array) -> Array:
    """Cubic, absolute and saturating terms of (standardised) directions."""
    u = np.clip(u, -5, 5)
    return np.hstack([u * u * u, np.abs(u), np.tanh(u)])


def worst_t(r: Array, terms: Array, J: Array, inverse: Array) -> float:
    """Largest |t| of the residual on further terms, from which J (inverse: of J'J) is taken out."""
    G = terms - J @ (inverse @ (J.T @ terms))
    norms = np.linalg.norm(G, axis=0)
    usable = norms > 1e-6 * np.sqrt(len(r))
    sigma = float(np.std(r))
    if sigma == 0 or not usable.any():
        return 0.0
    return float(np.max(np.abs(r @ G[:, usable]) / (sigma * norms[usable])))


def moment_ratio(r: Array, left: Array, right: Array, seed: int = 0) -> float:
    """||sum r u v'|| over its value for permuted residuals: about 1 for noise."""
    centred = r - r.mean()
    rng = np.random.default_rng(seed)

    def norm(weights: Array) -> float:
        return float(np.linalg.norm(left.T @ (weights[:, None] * right), 2))

    permuted = float(np.median([norm(rng.permutation(centred)) for _ in range(3)]))
    return norm(centred) / max(permuted, 1e-300)


def gradient_t(r: Array, gradient: Array) -> float:
    """|t| of r^2 against the squared gradient: large where features carry noise."""
    if np.std(gradient) == 0 or np.std(r) == 0:
        return 0.0
    return float(abs(np.corrcoef(r**2, gradient)[0, 1]) * np.sqrt(len(r)))
