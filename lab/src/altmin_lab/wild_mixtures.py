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


def near_collinear(D: int, W: int, rng: np.random.Generator) -> NDArray[Any]:
    """Parts of which the last is nearly the first: a cosine of about .98."""
    A = parts(D, W, rng)
    A[-1] = A[0] + 0.2 * np.linalg.norm(A[0]) / np.linalg.norm(A[-1]) * A[-1]
    return A


def blocks(D: int, W: int, rng: np.random.Generator) -> NDArray[Any]:
    """Each component lives on a third of the features that lie side by side."""
    A = np.zeros((D, W))
    for row, begin in zip(A, rng.integers(0, W - W // 3, D), strict=True):
        row[begin : begin + W // 3] = rng.gamma(2.0, 1.0, W // 3)
    return A


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
    "near collinear, 40 dB": mixture("nearly pure samples", near_collinear, 40, 1200, 5, 80),
}


def changed(make: Callable[[int], Problem], change: Callable[..., NDArray[Any]]) -> Callable[[int], Problem]:
    """Problems whose data are changed by ``change(X, rng)``."""

    def made(seed: int) -> Problem:
        X, A = make(seed)
        return change(X, np.random.default_rng([seed, 17])), A

    return made


def _two_populations(n: int, D: int, rng: np.random.Generator) -> NDArray[Any]:
    """Half of the samples have the first components alone, half all of them."""
    Z = rng.dirichlet(np.full(D, 0.7), n)
    Z[: n // 2, D // 2 :] = 0.0
    return Z


WEIGHTS["two populations"] = _two_populations
NEW_MIXTURES: dict[str, Callable[[int], Problem]] = {
    "gamma noise, parts": changed(
        mixture("exponential weights", parts, None, 1000, 6, 80),
        lambda X, rng: X * rng.gamma(100.0, 0.01, X.shape),
    ),
    "gamma noise, spectra": changed(
        mixture("nearly pure samples", spectra, None, 1200, 4, 80),
        lambda X, rng: X * rng.gamma(100.0, 0.01, X.shape),
    ),
    "quantised to 64 levels, parts": changed(
        mixture("shares up to .7", parts, None, 1000, 6, 80),
        lambda X, rng: np.round(X / X.max() * 64) * X.max() / 64,
    ),
    "copied rows, parts, 30 dB": changed(
        mixture("exponential weights", parts, 30, 400, 6, 80),
        lambda X, rng: np.vstack([X, np.repeat(X[:20], 20, axis=0)]),
    ),
    "two populations, parts, 30 dB": mixture("two populations", parts, 30, 1000, 6, 80),
    "blocks, uniform, 25 dB": mixture("uniform weights", blocks, 25, 900, 6, 90),
    "few giants, parts, 30 dB": changed(
        mixture("nearly pure samples", parts, 30, 800, 6, 80),
        lambda X, rng: X * np.where(np.arange(len(X)) < 5, 50.0, 1.0)[:, None],
    ),
    "sizes over two decades, parts": changed(
        mixture("nearly pure samples", parts, 40, 800, 6, 80),
        lambda X, rng: X * 10 ** rng.uniform(-1, 1, (len(X), 1)),
    ),
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


def _counts(
    law: Callable[..., NDArray[Any]], n: int = 200, D: int = 6, W: int = 96
) -> Callable[[int], Problem]:
    """Counts by seed, from ``law(means, rng)``."""

    def make(seed: int) -> Problem:
        rng = np.random.default_rng([seed, 23])
        A = rng.dirichlet(np.full(W, 0.15), D)
        Z = rng.dirichlet(np.full(D, 0.3), n) * 2000 * np.exp(0.8 * rng.standard_normal((n, 1)))
        return law(Z @ A, rng).astype(float), A

    return make


COUNTS: dict[str, Callable[[int], Problem]] = {
    "negative binomial": _counts(lambda mean, rng: rng.poisson(mean * rng.gamma(20.0, 0.05, mean.shape))),
    "counts over a background": _counts(lambda mean, rng: rng.poisson(mean + 0.05 * mean.mean())),
    "few counts": _counts(lambda mean, rng: rng.poisson(mean / 20)),
    "counts of many samples": _counts(lambda mean, rng: rng.poisson(mean), n=3000),
    "copied samples": _counts(lambda mean, rng: np.repeat(rng.poisson(mean[:60]), 3, axis=0)),
    "depths over three decades": _counts(
        lambda mean, rng: rng.poisson(mean * 10 ** rng.uniform(-1.5, 1.5, (len(mean), 1)))
    ),
}
