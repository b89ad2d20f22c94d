"""Mixtures as people have them: noise, no pure samples, rare components, counts. The truth is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

Problem = tuple[Any, NDArray[Any]]
"""Data, and the components that made them."""


def spectra(D: int, W: int, rng: np.random.Generator) -> NDArray[Any]:
    """Smooth and nowhere near 0: non-negativity says nothing of such features."""
    curves = gaussian_filter1d(rng.standard_normal((D, 3 * W)), 0.06 * W, axis=1)[:, :W]
    curves -= curves.min(axis=1, keepdims=True)
    return 0.05 + 0.95 * curves / curves.max(axis=1, keepdims=True)


def parts(D: int, W: int, rng: np.random.Generator) -> NDArray[Any]:
    """Features with zeros, which pin them down."""
    return rng.gamma(1.0, 1.0, (D, W)) * (rng.random((D, W)) > 0.6)


def with_noise(clean: NDArray[Any], decibel: float | None, rng: np.random.Generator) -> NDArray[Any]:
    """The data with noise of so many decibels below; None: without."""
    if decibel is None:
        return clean
    level = np.sqrt(np.mean(clean**2)) * 10 ** (-decibel / 20)
    return clean + level * rng.standard_normal(clean.shape)


def capped(n: int, D: int, cap: float, rng: np.random.Generator) -> NDArray[Any]:
    """Shares none of which exceeds the cap."""
    found = np.zeros((0, D))
    while len(found) < n:
        drawn = rng.dirichlet(np.ones(D), 4 * n)
        found = np.vstack([found, drawn[drawn.max(axis=1) < cap]])
    return found[:n]


def rare(n: int, D: int, rng: np.random.Generator) -> NDArray[Any]:
    """Shares of which the last one occurs in one sample of a hundred."""
    Z = rng.dirichlet(np.full(D, 0.4), n)
    Z[:, -1] = (rng.random(n) < 0.01) * rng.random(n)
    return Z


WEIGHTS: dict[str, Callable[..., NDArray[Any]]] = {
    "nearly pure samples": lambda n, D, rng: rng.dirichlet(np.full(D, 0.3), n),
    "shares up to .85": lambda n, D, rng: capped(n, D, 0.85, rng),
    "shares up to .7": lambda n, D, rng: capped(n, D, 0.7, rng),
    "exponential weights": lambda n, D, rng: rng.exponential(size=(n, D)),
    "uniform weights": lambda n, D, rng: rng.random((n, D)),
    "binary weights": lambda n, D, rng: (rng.random((n, D)) < 0.3).astype(float),
    "a rare component": rare,
}


def mixture(
    weights: str, features: Callable[..., NDArray[Any]], decibel: float | None, n: int, D: int, W: int
) -> Callable[[int], Problem]:
    """Problems of one kind, by seed."""

    def make(seed: int) -> Problem:
        rng = np.random.default_rng([seed, n, D, W])
        A = features(D, W, rng)
        return with_noise(WEIGHTS[weights](n, D, rng) @ A, decibel, rng), A

    return make


MIXTURES: dict[str, Callable[[int], Problem]] = {
    **{f"pure, {db} dB": mixture("nearly pure samples", spectra, db, 1800, 5, 90) for db in (20, 30, 40, 60)},
    **{f"cap .85, {db} dB": mixture("shares up to .85", spectra, db, 1800, 5, 90) for db in (20, 30, 40, 60)},
    "cap .7, 30 dB": mixture("shares up to .7", spectra, 30, 1500, 4, 70),
    "exponential, spectra, 40 dB": mixture("exponential weights", spectra, 40, 1500, 5, 80),
    "exponential, parts, 30 dB": mixture("exponential weights", parts, 30, 1200, 7, 90),
    "uniform, parts, 30 dB": mixture("uniform weights", parts, 30, 1200, 7, 90),
    "uniform, parts, no noise": mixture("uniform weights", parts, None, 1200, 7, 90),
    "two components, 30 dB": mixture("exponential weights", spectra, 30, 1000, 2, 60),
    "binary, parts, no noise": mixture("binary weights", parts, None, 1500, 15, 90),
    "rare, parts, 30 dB": mixture("a rare component", parts, 30, 1500, 6, 80),
    "n < W, parts, 30 dB": mixture("nearly pure samples", parts, 30, 120, 5, 400),
    "30 samples, parts, 30 dB": mixture("nearly pure samples", parts, 30, 30, 4, 70),
}


def signature_counts(
    A: NDArray[Any], n: int, depth: float, rng: np.random.Generator, *, heavy: bool = False
) -> NDArray[Any]:
    """Counts of samples with two to five active signatures each; ``heavy``: a few have one 30 times over."""
    Z = np.zeros((n, len(A)))
    for row in Z:
        on = rng.choice(len(A), min(len(A), int(rng.integers(2, 6))), replace=False)
        row[on] = rng.dirichlet(np.ones(len(on))) * depth * np.exp(0.7 * rng.standard_normal())
    if heavy:
        few = rng.choice(n, n // 12, replace=False)
        Z[:, 0] = 0.0
        Z[few, 0] = 30 * depth * rng.random(len(few))
    return rng.poisson(Z @ A).astype(float)


def documents(seed: int, *, correlated: bool, n: int = 1500, W: int = 1000, D: int = 20) -> Problem:
    """Word counts of documents with planted topics."""
    rng = np.random.default_rng([seed, 9])
    A = rng.dirichlet(np.full(W, 0.05), D)
    shares = rng.dirichlet(np.full(D, 0.1), n)
    if correlated:
        together = 0.7 * np.kron(np.eye(D // 4), np.ones((4, 4))) + 0.3 * np.eye(D)
        grown = np.exp(2 * rng.standard_normal((n, D)) @ np.linalg.cholesky(together).T)
        shares = grown / grown.sum(axis=1, keepdims=True)
    return sp.csr_array(rng.poisson(shares @ A * rng.integers(100, 300, (n, 1))).astype(float)), A
