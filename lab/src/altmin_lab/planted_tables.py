"""Tables with a known answer for :func:`altmin.discover`: structure of each family, and none at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_swiss_roll

from altmin.datasets import make_dir, make_quadratic, make_sparse_dictionary

Rng = np.random.Generator


@dataclass(frozen=True)
class Planted:
    """A table and the truth about it."""

    kind: str
    family: str
    n_components: int
    X: NDArray[Any]
    y: NDArray[Any] | None = None
    factors: NDArray[Any] | None = None


def _mixture(rng: Rng, noise: float, concentration: float = 0.3) -> Planted:
    k, d, n = int(rng.integers(3, 9)), int(rng.integers(20, 60)), int(rng.integers(500, 3000))
    made = make_dir(
        n, d, k, concentration=concentration, noise=noise, random_state=int(rng.integers(1 << 31))
    )
    return Planted("", "mixtures", k, made.X, factors=made.components)


def _signed_mixture(rng: Rng) -> Planted:
    k, d, n = int(rng.integers(3, 8)), int(rng.integers(15, 40)), int(rng.integers(500, 2500))
    A = rng.standard_normal((k, d))
    W = rng.dirichlet(np.full(k, 0.3), size=n) * rng.uniform(0.5, 2, (n, 1))
    return Planted("", "mixtures", k, W @ A, factors=A)


def _counts(rng: Rng) -> Planted:
    k, d, n = int(rng.integers(3, 7)), int(rng.integers(30, 80)), int(rng.integers(500, 2000))
    A = rng.dirichlet(np.full(d, 0.2), size=k)
    W = rng.dirichlet(np.full(k, 0.2), size=n) * rng.uniform(200, 800, (n, 1))
    return Planted("", "mixtures", k, rng.poisson(W @ A).astype(float), factors=A)


def _sparse(rng: Rng, orthogonal: bool, noise: float = 0.0) -> Planted:
    k = int(rng.integers(6, 17))
    made = make_sparse_dictionary(
        int(k * rng.integers(60, 150)), k, density=float(rng.uniform(0.08, 0.2)), orthogonal=orthogonal,
        random_state=int(rng.integers(1 << 31)),
    )  # fmt: skip
    X = made.X + noise * made.X.std() * rng.standard_normal(made.X.shape)
    name = "sparse combinations, orthogonal atoms" if orthogonal else "sparse combinations"
    return Planted("", name, k, X, factors=made.components)


def _law(rng: Rng) -> Planted:
    k = int(rng.integers(1, 4))
    made = make_quadratic(
        int(rng.integers(1500, 5000)), int(rng.integers(6, 15)), k, noise=0.1,
        random_state=int(rng.integers(1 << 31)),
    )  # fmt: skip
    return Planted("", "quadratic law", k, made.X, made.y)


PLANTED: dict[str, Callable[[Rng], Planted]] = {
    "mixtures, no noise": lambda rng: _mixture(rng, 0.0),
    "mixtures, noise": lambda rng: _mixture(rng, 3e-3),
    "mixtures of signed features": _signed_mixture,
    "mixtures, spread weights": lambda rng: _mixture(rng, 0.0, 0.6),
    "counts": _counts,
    "sparse, general atoms": lambda rng: _sparse(rng, False),
    "sparse, 30 dB": lambda rng: _sparse(rng, False, 0.03),
    "sparse, orthogonal atoms": lambda rng: _sparse(rng, True),
    "quadratic law": _law,
}


def _size(rng: Rng) -> tuple[int, int]:
    return int(rng.integers(400, 2000)), int(rng.integers(5, 25))


def _gaussian(rng: Rng) -> NDArray[Any]:
    return rng.standard_normal(_size(rng))


def _correlated(rng: Rng) -> NDArray[Any]:
    n, d = _size(rng)
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + rng.standard_normal(d)


def _low_rank(rng: Rng) -> NDArray[Any]:
    n, d = _size(rng)
    k = max(2, d // 3)
    return rng.standard_normal((n, k)) @ rng.standard_normal((k, d)) + 0.2 * rng.standard_normal((n, d))


def _elliptical(rng: Rng) -> NDArray[Any]:
    return _correlated(rng) * np.sqrt(1 / rng.gamma(2.5, 1 / 2.5, (1, 1)))


def _clusters(rng: Rng) -> NDArray[Any]:
    n, d = _size(rng)
    return rng.standard_normal((5, d))[rng.integers(0, 5, n)] * 2 + rng.standard_normal((n, d))


def _manifold(rng: Rng) -> NDArray[Any]:
    X, _ = make_swiss_roll(int(rng.integers(500, 1500)), noise=0.05, random_state=int(rng.integers(1 << 31)))
    return np.asarray(X @ rng.standard_normal((3, 10)))


def _walk(rng: Rng) -> NDArray[Any]:
    n, d = _size(rng)
    return np.asarray(np.cumsum(rng.standard_normal((n, d)), axis=1))


def _shuffled(rng: Rng) -> NDArray[Any]:
    load = (load_iris, load_wine, load_breast_cancer)[int(rng.integers(3))]
    table = load().data
    return np.column_stack([rng.permutation(column) for column in table.T])


PLAIN: dict[str, Callable[[Rng], NDArray[Any]]] = {
    "white noise": _gaussian,
    "correlated Gaussian": _correlated,
    "low rank": _low_rank,
    "elliptical": _elliptical,
    "clusters": _clusters,
    "manifold": _manifold,
    "random walk": _walk,
    "shuffled columns of real tables": _shuffled,
}


def planted(per_kind: int, seed: int) -> Iterator[Planted]:
    """So many tables of each kind that holds structure."""
    for number, (kind, make) in enumerate(PLANTED.items()):
        for trial in range(per_kind):
            found = make(np.random.default_rng([seed, number, trial]))
            yield Planted(kind, found.family, found.n_components, found.X, found.y, found.factors)


def plain(per_kind: int, seed: int) -> Iterator[tuple[str, NDArray[Any]]]:
    """So many tables of each kind without such structure."""
    for number, (kind, make) in enumerate(PLAIN.items()):
        for trial in range(per_kind):
            yield kind, make(np.random.default_rng([seed, 100 + number, trial]))
