"""Problems of AND. Error: largest sine between a true component and its match; 1 for a wrong number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.estimators.nonnegative.and_nmf import AND
from altmin.metrics import sine_errors
from altmin_lab.calibration.trial import Group, Trial, between, kind, whole

Array = NDArray[Any]


def topics(rng: np.random.Generator, D: int, W: int, signed: bool = False) -> Array:
    """Components: sparse distributions, or features of both signs."""
    return rng.uniform(-0.5, 0.5, (D, W)) if signed else rng.dirichlet(np.full(W, 0.2), D)


def dirichlet(rng: np.random.Generator, n: int, D: int, total: float) -> Array:
    """Weights on the simplex; ``total`` about 1 is sparse, 10 D dense."""
    return rng.dirichlet(np.full(D, total / D), n)


def sizes(rng: np.random.Generator) -> tuple[int, int, int]:
    """Components, features, samples."""
    D = whole(rng, 3, 9)
    return D, D + whole(rng, 5, 40), whole(rng, 40, 100) * D


def trial(rng: np.random.Generator, X: Array, A: Array, D: int | None = None, **options: Any) -> Trial:
    """Fit D components to X and compare with A."""
    D = D or len(A)

    def error(model: AND) -> float:
        if len(model.components_) != len(A):
            return 1.0
        return float(sine_errors(model.components_, A, signed=True).max())

    return Trial(AND(D, random_state=whole(rng, 0, 9999), **options), (X,), error)


def noisy(rng: np.random.Generator, X: Array, level: float) -> Array:
    """X with noise of this norm relative to a sample's."""
    size = np.sqrt(np.mean(np.sum(X**2, axis=1)) / X.shape[1])
    return X + level * size * rng.standard_normal(X.shape)


@kind("and", "sparse Dirichlet weights", "clean", 5)
def _sparse(rng: np.random.Generator) -> Trial:
    D, W, n = sizes(rng)
    A = topics(rng, D, W, signed=rng.random() < 0.4)
    return trial(rng, dirichlet(rng, n, D, between(rng, 0.4, 2.0)) @ A, A)


@kind("and", "unequal sizes of samples", "clean")
def _unequal(rng: np.random.Generator) -> Trial:
    D, W, n = sizes(rng)
    A = topics(rng, D, W)
    return trial(rng, (dirichlet(rng, n, D, 1.0) * rng.uniform(0.3, 3, (n, 1))) @ A, A)


@kind("and", "logistic-normal weights", "clean")
def _ctm(rng: np.random.Generator) -> Trial:
    D, W, n = sizes(rng)
    logits = between(rng, 2, 12) * rng.standard_normal((n, D))
    x = np.exp(logits - logits.max(axis=1, keepdims=True))
    A = topics(rng, D, W)
    return trial(rng, x / x.sum(axis=1, keepdims=True) @ A, A)


@kind("and", "little noise", "noisy", 4)
def _noise(rng: np.random.Generator) -> Trial:
    D, W, n = sizes(rng)
    A = topics(rng, D, W, signed=rng.random() < 0.4)
    X = dirichlet(rng, n, D, between(rng, 0.4, 1.5)) @ A
    return trial(rng, noisy(rng, X, between(rng, 1e-4, 1e-2)), A)


@kind("and", "outliers", "noisy")
def _outliers(rng: np.random.Generator) -> Trial:
    D, W, n = sizes(rng)
    A = topics(rng, D, W)
    X = dirichlet(rng, n, D, 1.0) @ A
    rows = rng.permutation(n)[: max(int(between(rng, 0.003, 0.1) * n), 1)]
    strange = rng.standard_normal((len(rows), W))
    X[rows] = strange * between(rng, 0.3, 5) * np.linalg.norm(X) / np.linalg.norm(strange) / np.sqrt(n)
    return trial(rng, X, A)


@kind("and", "strong noise", "noisy", 2)
def _strong(rng: np.random.Generator) -> Trial:
    D, W, n = sizes(rng)
    A = topics(rng, D, W)
    return trial(rng, noisy(rng, dirichlet(rng, n, D, 1.0) @ A, between(rng, 0.05, 1.0)), A)


@kind("and", "counts of words", "noisy")
def _counts(rng: np.random.Generator) -> Trial:
    D, W, n = sizes(rng)
    A = topics(rng, D, W)
    length = int(between(rng, 30, 3000))
    X = np.array([rng.multinomial(length, p / p.sum()) for p in dirichlet(rng, n, D, 1.0) @ A])
    return trial(rng, X / length, A)


@kind("and", "too few samples", "clean", 2)
def _few(rng: np.random.Generator) -> Trial:
    D, W, _ = sizes(rng)
    A = topics(rng, D, W)
    return trial(rng, dirichlet(rng, whole(rng, D + 1, 5 * D), D, between(rng, 1, 5)) @ A, A)


@kind("and", "copies of few samples", "clean")
def _copies(rng: np.random.Generator) -> Trial:
    D, W, n = sizes(rng)
    A = topics(rng, D, W)
    X = dirichlet(rng, whole(rng, D + 1, 4 * D), D, between(rng, 1, 5)) @ A
    return trial(rng, X[rng.integers(len(X), size=n)], A)


@kind("and", "too few components asked for", "clean", 2)
def _too_small(rng: np.random.Generator) -> Trial:
    D, W, n = sizes(rng)
    A = topics(rng, D, W)
    X = dirichlet(rng, n, D, between(rng, 0.4, 2)) @ A
    return trial(rng, noisy(rng, X, 1e-3) if rng.random() < 0.5 else X, A, D=max(D - whole(rng, 1, 2), 1))


@kind("and", "too many components asked for", "noisy")
def _too_large(rng: np.random.Generator) -> Trial:
    D, W, n = sizes(rng)
    A = topics(rng, D, W)
    X = dirichlet(rng, n, D, between(rng, 0.4, 2)) @ A
    return trial(rng, noisy(rng, X, between(rng, 1e-4, 0.05)), A, D=D + whole(rng, 1, 2))


@kind("and", "dense weights", "clean", 2)
def _dense(rng: np.random.Generator) -> Trial:
    D, W, n = sizes(rng)
    A = topics(rng, D, W, signed=rng.random() < 0.5)
    x = rng.random((n, D)) if rng.random() < 0.3 else dirichlet(rng, n, D, D * between(rng, 1, 20))
    return trial(rng, x @ A, A)


@kind("and", "no pure samples: binary weights", "clean", 2)
def _binary(rng: np.random.Generator) -> Trial:
    D, W, n = sizes(rng)
    D = max(D, 4)
    A = topics(rng, D, W, signed=rng.random() < 0.5)
    on = np.argsort(rng.random((n, D)), axis=1) < whole(rng, 2, D - 1)
    values = rng.uniform(0.8, 1, (n, D)) if rng.random() < 0.3 else 1.0
    return trial(rng, (on * values) @ A, A)


@kind("and", "no pure samples: capped weights", "clean", 2)
def _capped(rng: np.random.Generator) -> Trial:
    D, W, n = sizes(rng)
    D = max(D, 4)
    A = topics(rng, D, W)
    cap = rng.uniform(1.2 / D, 0.7)
    x = dirichlet(rng, 60 * n, D, D * between(rng, 0.3, 2))
    x = x[x.max(axis=1) <= cap][:n]
    if len(x) <= 5 * D:
        return _binary(rng)
    return trial(rng, noisy(rng, x @ A, between(rng, 1e-3, 0.2)) if rng.random() < 0.5 else x @ A, A)


def above(floor: float, D: int, A: Array) -> Array:
    """Components of the smallest cone that holds weights with a floor: what is claimed, and not A itself.

    With constant sums f + (1 - D f) s is s under components B = (f 11' + (1 - D f) I) A; with max(s, f) the
    pure samples are the rows of (f 11' + (1 - f) I) A, and all others lie in their cone. Data of the one
    model are data of the other, so nothing in them can tell A from B.
    """
    return (floor * np.ones((D, D)) + (1 - floor) * np.eye(D)) @ A


@kind("and", "weights with a floor that varies", "clean")
def _floor(rng: np.random.Generator) -> Trial:
    D, W, n = sizes(rng)
    A, floor = topics(rng, D, W), between(rng, 0.01, 0.2)
    return trial(rng, np.maximum(dirichlet(rng, n, D, 1.0), floor) @ A, above(floor, D, A))


@kind("and", "weights with a constant floor", "clean")
def _constant_floor(rng: np.random.Generator) -> Trial:
    D, W, n = sizes(rng)
    A, share = topics(rng, D, W), rng.uniform(0.05, 0.9)
    B = above(share / D / (1 - share + share / D), D, A)
    return trial(rng, dirichlet(rng, n, D, between(rng, 0.4, 1.5)) @ B, B)


@kind("and", "collinear components", "clean")
def _collinear(rng: np.random.Generator) -> Trial:
    D, W, n = sizes(rng)
    A = topics(rng, D, W)
    A[0] = 0.5 * (A[1] + A[2]) + between(rng, 1e-7, 0.03) * (A[0] - A[1])
    X = dirichlet(rng, n, D, between(rng, 0.4, 2)) @ A
    return trial(rng, noisy(rng, X, between(rng, 1e-5, 1e-2)) if rng.random() < 0.5 else X, A)


@kind("and", "a random start", "clean", 2)
def _random_start(rng: np.random.Generator) -> Trial:
    D, W, n = sizes(rng)
    A = topics(rng, D, W)
    X = dirichlet(rng, n, D, between(rng, 0.5, 4)) @ A
    return trial(rng, noisy(rng, X, 1e-3) if rng.random() < 0.3 else X, A, init="random")


def _foreign(name: str, group: Group, draw: Any) -> None:
    def make(rng: np.random.Generator) -> Trial:
        D, W, n = sizes(rng)
        return Trial(AND(D, random_state=whole(rng, 0, 9999)), (draw(rng, n, D, W),))

    kind("and", name, group)(make)


def _sparse_signed(rng: np.random.Generator, n: int, D: int, W: int) -> Array:
    x = rng.standard_normal((n, D)) * (rng.random((n, D)) < rng.uniform(0.1, 0.6))
    return noisy(rng, x @ rng.standard_normal((D, W)), between(rng, 1e-5, 1e-2))


_foreign("pure noise", "noise", lambda rng, n, D, W: rng.standard_normal((n, W)))
_foreign("pure noise, non-negative", "noise", lambda rng, n, D, W: rng.random((n, W)))
_foreign("sparse codes of both signs", "other", _sparse_signed)
_foreign(
    "Gaussian factors", "other",
    lambda rng, n, D, W: noisy(rng, rng.standard_normal((n, D)) @ rng.standard_normal((D, W)), 1e-3),
)  # fmt: skip
