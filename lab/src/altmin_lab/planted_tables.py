"""Tables with a known answer for :func:`altmin.discover`: structure of each family.

All of these kinds were looked at while its rules were chosen; :mod:`altmin_lab.judged_tables` has others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.datasets import (
    make_ctm,
    make_dir,
    make_neg,
    make_planted_sparse,
    make_quadratic,
    make_scene,
    make_sparse_dictionary,
)

Rng = np.random.Generator
MIXTURES, SPARSE, LAW = "mixtures", "sparse combinations", "quadratic law"
ORTHOGONAL, OVERCOMPLETE = f"{SPARSE}, orthogonal atoms", f"{SPARSE}, more atoms than columns"


@dataclass(frozen=True)
class Planted:
    """A table and the truth about it."""

    family: str
    n_components: int
    X: NDArray[Any]
    y: NDArray[Any] | None = None
    factors: NDArray[Any] | None = None  # of a law: its matrix
    kind: str = ""


def _sizes(rng: Rng, most: int = 9) -> tuple[int, int, int]:
    """Rows, columns and components of a table of mixtures; one in ten is long, or has many components."""
    k = int(rng.integers(10, 21) if rng.random() < 0.1 else rng.integers(3, most))
    n = int(rng.integers(8000, 20_000) if rng.random() < 0.1 else rng.integers(500, 2500))
    return max(n, 60 * k), int(rng.integers(max(20, 2 * k), 60)), k


def _seed(rng: Rng) -> int:
    return int(rng.integers(1 << 31))


def _mixture(rng: Rng, noise: float = 0.0, concentration: float = 0.3) -> Planted:
    n, d, k = _sizes(rng)
    made = make_dir(n, d, k, concentration=concentration, noise=noise, random_state=_seed(rng))
    return Planted(MIXTURES, k, made.X, factors=made.components)


def _signed_mixture(rng: Rng) -> Planted:
    n, d, k = _sizes(rng)
    A = rng.standard_normal((k, d))
    W = rng.dirichlet(np.full(k, 0.3), size=n) * rng.uniform(0.5, 2, (n, 1))
    return Planted(MIXTURES, k, W @ A, factors=A)


def _varying_rates(rng: Rng) -> Planted:
    """Negative binomial counts: each rate varies by 20 to 50 % of its size."""
    made = _counts(rng)
    shape = rng.uniform(4, 25)
    return replace(made, X=rng.poisson(made.X * rng.gamma(shape, 1 / shape, made.X.shape)).astype(float))


def _counts(rng: Rng, dispersion: float = 0.0) -> Planted:
    k, d, n = int(rng.integers(3, 7)), int(rng.integers(30, 80)), int(rng.integers(500, 2000))
    A = rng.dirichlet(np.full(d, 0.2), size=k)
    W = rng.dirichlet(np.full(k, 0.2), size=n) * rng.uniform(200, 800, (n, 1))
    mean = W @ A
    if dispersion:  # Poisson with a rate that varies: variance (1 + dispersion) times the mean
        mean = rng.gamma(np.maximum(mean, 1e-12) / dispersion, dispersion)
    return Planted(MIXTURES, k, rng.poisson(mean).astype(float), factors=A)


def _sparse(rng: Rng, orthogonal: bool = False, noise: float = 0.0) -> Planted:
    k = int(rng.integers(6, 17))
    made = make_sparse_dictionary(
        int(k * rng.integers(60, 150)), k, density=float(rng.uniform(0.08, 0.2)), orthogonal=orthogonal,
        random_state=_seed(rng),
    )  # fmt: skip
    X = made.X + noise * made.X.std() * rng.standard_normal(made.X.shape)
    return Planted(ORTHOGONAL if orthogonal else SPARSE, k, X, factors=made.components)


def _overcomplete(rng: Rng, noise: float = 0.03, kind: str = "dense") -> Planted:
    d = int(rng.integers(8, 15))
    k = int(rng.integers(d + 2, min(20, 2 * d) + 1))
    made = make_planted_sparse(
        int(rng.integers(1500, 3500)),
        d,
        k,
        int(rng.integers(2, 4)),
        noise,
        kind=kind,
        random_state=_seed(rng),
    )
    return Planted(OVERCOMPLETE, k, made.X, factors=made.components)


def _law(rng: Rng, most: int = 3, **options: Any) -> Planted:
    k, d = int(rng.integers(1, most + 1)), int(rng.integers(6, 15))
    made = make_quadratic(int(rng.integers(1500, 5000)), d, k, noise=0.1, random_state=_seed(rng), **options)
    return Planted(LAW, k, made.X, made.y, (made.factors.T * made.eigenvalues) @ made.factors)


def _zeros_in_features(rng: Rng) -> Planted:
    """Each feature is 0 in half of the columns."""
    n, d, k = _sizes(rng)
    A = rng.random((k, d)) * (rng.random((k, d)) < 0.5)
    W = rng.dirichlet(np.full(k, 0.4), size=n) * rng.uniform(0.5, 2, (n, 1))
    X = W @ A
    return Planted(MIXTURES, k, np.maximum(X + 2e-3 * X.std() * rng.standard_normal(X.shape), 0), factors=A)


def _noisy_columns(rng: Rng) -> Planted:
    made = _mixture(rng, 0.0, 0.4)
    level = 0.03 * made.X.std() * rng.uniform(0.2, 1, made.X.shape[1])
    return replace(made, X=made.X + level * rng.standard_normal(made.X.shape))


def _correlated_weights(rng: Rng) -> Planted:
    n, d, k = _sizes(rng)
    made = make_ctm(n, d, k, sigma=5.0, correlation=0.4, group_size=3, random_state=_seed(rng))
    return Planted(MIXTURES, k, made.X, factors=made.components)


def _neg(rng: Rng) -> Planted:
    n, d, k = _sizes(rng)
    made = make_neg(n, d, k, weights="dir", concentration=0.3, random_state=_seed(rng))
    return Planted(MIXTURES, k, made.X, factors=made.components)


def _spectra(rng: Rng) -> Planted:
    k = int(rng.integers(3, 7))
    made = make_scene(40, 40, 60, k, snr=40.0, random_state=_seed(rng))
    X = made.cube.reshape(-1, made.cube.shape[-1])
    return Planted(MIXTURES, k, X, factors=made.endmembers)


def _scaled_columns(rng: Rng) -> Planted:
    """Columns in units of their spread: other features, but mixtures still."""
    made = _mixture(rng)
    unit = made.X.std(axis=0)
    assert made.factors is not None
    return replace(made, X=made.X / unit, factors=made.factors / unit)


def _codes(rng: Rng, draw: Callable[[Rng, tuple[int, int]], NDArray[Any]], columns: int = 0) -> Planted:
    k = int(rng.integers(5, 15))
    d, n = k + columns, int(k * rng.integers(80, 160))
    A = rng.standard_normal((k, d))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    codes = draw(rng, (n, k)) * (rng.random((n, k)) < rng.uniform(0.1, 0.25))
    X = codes @ A
    return Planted(SPARSE, k, X + 0.01 * X.std() * rng.standard_normal(X.shape), factors=A)


def _offset(rng: Rng) -> Planted:
    made = _codes(rng, lambda rng, shape: rng.standard_normal(shape))
    return replace(made, X=made.X + 3 * made.X.std() * rng.standard_normal(made.X.shape[1]))


def _documents(rng: Rng) -> Planted:
    """Counts of rows that differ in length by a factor of twenty."""
    k, d, n = int(rng.integers(3, 7)), int(rng.integers(40, 90)), int(rng.integers(600, 2500))
    A = rng.dirichlet(np.full(d, 0.1), size=k)
    W = rng.dirichlet(np.full(k, 0.15), size=n) * np.exp(rng.uniform(np.log(60), np.log(1200), (n, 1)))
    return Planted(MIXTURES, k, rng.poisson(W @ A).astype(float), factors=A)


def _noisy(X: NDArray[Any], level: float, rng: Rng) -> NDArray[Any]:
    return X + level * np.sqrt(np.mean(X**2)) * rng.standard_normal(X.shape)


def _some_weights(rng: Rng) -> Planted:
    """Exponential weights, each of them there in a third of the rows; features from 0 to far above 1."""
    n, d, k = _sizes(rng)
    A = rng.lognormal(0, 1, (k, d))
    W = rng.exponential(size=(n, k)) * (rng.random((n, k)) < 0.35)
    return Planted(MIXTURES, k, W @ A, factors=A)


def _shares(rng: Rng) -> Planted:
    """Weights of a row add up to 1; gamma features, noise of 1 %."""
    n, d, k = _sizes(rng)
    A = rng.gamma(1.0, 1.0, (k, d))
    return Planted(MIXTURES, k, _noisy(rng.dirichlet(np.full(k, 0.4), size=n) @ A, 0.01, rng), factors=A)


def _uneven_features(rng: Rng) -> Planted:
    """Some features are common and some rare."""
    n, d, k = _sizes(rng)
    A = rng.random((k, d))
    W = rng.dirichlet(rng.uniform(0.15, 0.6, k), size=n) * rng.uniform(0.5, 2, (n, 1))
    return Planted(MIXTURES, k, _noisy(W @ A, 2e-3, rng), factors=A)


def _many(rng: Rng) -> Planted:
    k = int(rng.integers(12, 21))
    made = make_dir(100 * k, 3 * k, k, concentration=0.2, noise=1e-3, random_state=_seed(rng))
    return Planted(MIXTURES, k, made.X, factors=made.components)


def _long(rng: Rng) -> Planted:
    k = int(rng.integers(3, 8))
    made = make_dir(int(rng.integers(10_000, 20_000)), 30, k, concentration=0.4, random_state=_seed(rng))
    return Planted(MIXTURES, k, _noisy(made.X, 5e-3, rng), factors=made.components)


def _neg_with_noise(rng: Rng) -> Planted:
    n, d, k = _sizes(rng)
    made = make_neg(n, d, k, weights="dir", concentration=0.25, random_state=_seed(rng))
    return Planted(MIXTURES, k, _noisy(made.X, 3e-3, rng), factors=made.components)


def _large_counts(rng: Rng) -> Planted:
    """Counts in many columns, with rates that vary a little beyond what the mixtures say."""
    k, d, n = int(rng.integers(3, 8)), int(rng.integers(90, 150)), int(rng.integers(600, 1500))
    A = rng.dirichlet(np.full(d, 0.3), size=k)
    W = rng.gamma(0.3, 1.0, (n, k)) * rng.uniform(300, 3000)
    mean = W @ A
    return Planted(
        MIXTURES, k, rng.poisson(mean * rng.gamma(400, 1 / 400, mean.shape)).astype(float), factors=A
    )


def _dark_scene(rng: Rng) -> Planted:
    k = int(rng.integers(3, 6))
    made = make_scene(36, 36, 80, k, snr=33.0, random_state=_seed(rng))
    X = made.cube.reshape(-1, made.cube.shape[-1])
    return Planted(MIXTURES, k, X, factors=made.endmembers)


def _atoms(
    rng: Rng,
    draw: Callable[[Rng, tuple[int, int]], NDArray[Any]],
    k: int,
    columns: int = 0,
    noise: float = 0.0,
) -> Planted:
    d, n = k + columns, int(k * rng.integers(80, 200))
    A = rng.standard_normal((k, d))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    return Planted(SPARSE, k, _noisy(draw(rng, (n, k)) @ A, noise, rng), factors=A)


def _away_from_zero(rng: Rng, shape: tuple[int, int]) -> NDArray[Any]:
    size = rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)
    return np.asarray(size * (rng.random(shape) < 0.18))


def _so_many_each(rng: Rng, shape: tuple[int, int]) -> NDArray[Any]:
    """Every row has as many atoms as the others."""
    ranks = rng.random(shape).argsort(axis=1).argsort(axis=1)
    return np.asarray(rng.standard_normal(shape) * (ranks < max(shape[1] // 5, 1)))


def _uneven_use(rng: Rng, shape: tuple[int, int]) -> NDArray[Any]:
    return np.asarray(rng.standard_normal(shape) * (rng.random(shape) < rng.uniform(0.05, 0.3, shape[1])))


def _bernoulli_gauss(rng: Rng, shape: tuple[int, int]) -> NDArray[Any]:
    return np.asarray(rng.standard_normal(shape) * (rng.random(shape) < rng.uniform(0.1, 0.2)))


def _rotation(rng: Rng, noise: float) -> Planted:
    """Orthogonal atoms with Laplace weights."""
    k = int(rng.integers(5, 19))
    A = np.linalg.qr(rng.standard_normal((k, k)))[0]
    codes = rng.laplace(size=(k * 110, k)) * (rng.random((k * 110, k)) < rng.uniform(0.08, 0.2))
    return Planted(ORTHOGONAL, k, _noisy(codes @ A, noise, rng), factors=A)


def _wide_overcomplete(rng: Rng) -> Planted:
    """More columns, two atoms a row."""
    d = int(rng.integers(14, 18))
    k = int(rng.integers(d + 1, 21))
    made = make_planted_sparse(int(rng.integers(2000, 4000)), d, k, 2, 0.05, random_state=_seed(rng))
    return Planted(OVERCOMPLETE, k, made.X, factors=made.components)


def _noisy_law(rng: Rng) -> Planted:
    """A third of the target is noise, and its tails are heavy."""
    made = _law(rng, 4)
    assert made.y is not None
    return replace(made, y=made.y + 0.5 * made.y.std() * rng.standard_t(5, len(made.y)))


TUNING: dict[str, Callable[[Rng], Planted]] = {
    "mixtures, no noise": _mixture,
    "mixtures, noise": lambda rng: _mixture(rng, 3e-3),
    "mixtures of signed features": _signed_mixture,
    "mixtures, spread weights": lambda rng: _mixture(rng, 0.0, 0.6),
    "counts": _counts,
    "sparse, general atoms": _sparse,
    "sparse, 30 dB": lambda rng: _sparse(rng, noise=0.03),
    "sparse, orthogonal atoms": lambda rng: _sparse(rng, orthogonal=True),
    "more atoms than columns": _overcomplete,
    "quadratic law": _law,
    "mixtures, more noise": lambda rng: _mixture(rng, 0.01, 0.2),
    # these were judged first, and have been looked at since
    "mixtures, zeros in the features": _zeros_in_features,
    "mixtures, correlated weights": _correlated_weights,
    "mixtures, features with negative entries": _neg,
    "spectra of a scene": _spectra,
    "mixtures, columns in units of their spread": _scaled_columns,
    "mixtures, noise that differs by column": _noisy_columns,
    "overdispersed counts": lambda rng: _counts(rng, 1.0),
    "sparse, Laplace weights": lambda rng: _codes(rng, lambda rng, shape: rng.laplace(size=shape)),
    "sparse, weights of -1 and 1": lambda rng: _codes(rng, lambda rng, shape: rng.choice([-1.0, 1.0], shape)),
    "sparse, with an offset": _offset,
    "sparse, fewer atoms than columns": lambda rng: _codes(
        rng, lambda rng, shape: rng.standard_normal(shape), columns=10
    ),
    "sparse, orthogonal atoms, 30 dB": lambda rng: _sparse(rng, orthogonal=True, noise=0.03),
    "more atoms than columns, less noise": lambda rng: _overcomplete(rng, 0.01),
    "quadratic law, uniform columns": lambda rng: _law(rng, 4, features="uniform"),
    "quadratic law, correlated columns": lambda rng: _law(rng, 6, correlation=0.5, intercept=2.0),
    "counts of documents of any length": _documents,
    "counts with rates that vary": _varying_rates,
    # and these, in a second round
    "mixtures, a third of the weights": _some_weights,
    "mixtures, shares that add up to 1, noise": _shares,
    "mixtures, common and rare features": _uneven_features,
    "mixtures, 12 to 20 features": _many,
    "mixtures, 10,000 to 20,000 rows": _long,
    "mixtures, negative entries and noise": _neg_with_noise,
    "counts in many columns": _large_counts,
    "spectra of a dark scene": _dark_scene,
    "sparse, weights away from 0": lambda rng: _atoms(
        rng, _away_from_zero, int(rng.integers(6, 19)), noise=0.02
    ),
    "sparse, as many atoms in every row": lambda rng: _atoms(rng, _so_many_each, int(rng.integers(6, 21))),
    "sparse, common and rare atoms": lambda rng: _atoms(
        rng, _uneven_use, int(rng.integers(6, 17)), noise=0.01
    ),
    "sparse, 25 dB": lambda rng: _atoms(rng, _bernoulli_gauss, int(rng.integers(8, 15)), noise=0.056),
    "sparse, three to five atoms": lambda rng: _atoms(
        rng, _bernoulli_gauss, int(rng.integers(3, 6)), int(rng.integers(0, 8)), 0.01
    ),
    "orthogonal atoms, Laplace weights": lambda rng: _rotation(rng, 0.0),
    "orthogonal atoms, Laplace weights, 26 dB": lambda rng: _rotation(rng, 0.05),
    "more atoms than columns, no noise": lambda rng: _overcomplete(rng, 0.0),
    "more atoms than columns, two a row, 26 dB": _wide_overcomplete,
    "quadratic law, heavy noise": _noisy_law,
    "quadratic law, skewed columns": lambda rng: _law(rng, 5, features="exponential"),
}


def planted(kinds: dict[str, Callable[[Rng], Planted]], per_kind: int, seed: int) -> Iterator[Planted]:
    """So many tables of each kind, one of each in turn."""
    for trial in range(per_kind):
        for number, (kind, make) in enumerate(kinds.items()):
            yield replace(make(np.random.default_rng([seed, number, trial])), kind=kind)
