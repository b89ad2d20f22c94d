"""Bases of the size of people's data: the same perturbations, one bad pair hidden among many good ones."""

from __future__ import annotations

import numpy as np

from altmin_lab.adversary import cones, quadratics
from altmin_lab.adversary.compose import Draft, Part, between, whole
from altmin_lab.adversary.dictionaries import atoms
from altmin_lab.adversary.quadratics import Law


def _dictionary(
    rng: np.random.Generator, orthogonal: bool, rare: bool = False, noise: float = 0.0, fewer: int = 0
) -> Draft:
    """Codes at least .5 in size; in as many samples as a user with so many atoms would have."""
    k = whole(rng, 20, 40) if rare else whole(rng, 12, 30)
    n = int(k * (between(rng, 200, 400) if rare else between(rng, 80, 200)))
    x = rng.standard_normal((n, k))
    density = rng.uniform(0.02, 0.05) if rare else rng.uniform(0.05, 0.15)
    codes = np.sign(x) * (0.5 + np.abs(x)) * (rng.random((n, k)) < density)
    return Draft(rng, atoms(rng, k, k + (0 if orthogonal else fewer), orthogonal), codes, noise=noise)


def _level(rng: np.random.Generator, low: float, high: float) -> float:
    """Noise of so many decibels below the data."""
    return float(10 ** (-rng.uniform(low, high) / 20))


def _directions(rng: np.random.Generator, orthogonal: bool) -> Draft:
    """Atoms in random directions, as the paper draws them: some nearly lie in the span of others."""
    k = whole(rng, 5, 15)
    A = rng.standard_normal((k, k))
    A = atoms(rng, k, k, True) if orthogonal else A / np.linalg.norm(A, axis=1, keepdims=True)
    x = rng.standard_normal((int(k * between(rng, 150, 400)), k))
    codes = np.sign(x) * (0.5 + np.abs(x)) * (rng.random(x.shape) < rng.uniform(0.08, 0.2))
    return Draft(rng, A, codes, noise=_level(rng, 15, 40))


DICTIONARIES = (
    Part("random directions, noise", _directions, group="noisy"),
    Part("many rare atoms", lambda rng, o: _dictionary(rng, o, rare=True)),
    Part("many atoms, noise", lambda rng, o: _dictionary(rng, o, noise=_level(rng, 15, 40)), group="noisy"),
    Part("many fewer atoms, noise",
         lambda rng, o: _dictionary(rng, o, noise=_level(rng, 15, 40), fewer=whole(rng, 2, 20)),
         group="noisy"),
)  # fmt: skip


def _cone(rng: np.random.Generator, kind: str, noise: float = 0.0, counts: float = 0.0) -> Draft:
    D, n, W = whole(rng, 8, 20), whole(rng, 1500, 4000), whole(rng, 100, 300)
    x = rng.dirichlet(np.full(D, 2.0 / D), n)
    x = np.where(x < 0.02, 0.0, x)
    rows = rng.permutation(n)[: max(10 * D, n // 20)]
    x[rows] = np.eye(D)[rng.integers(D, size=len(rows))]
    x /= x.sum(axis=1, keepdims=True)
    return Draft(rng, cones.features(rng, D, W, kind), x, noise=noise, counts=counts)


CONES = (
    Part("many words", lambda rng: _cone(rng, "sparse")),
    Part("many spectra, noise", lambda rng: _cone(rng, "dense", _level(rng, 25, 45)), group="noisy"),
    Part("many counts", lambda rng: _cone(rng, "sparse", counts=between(rng, 1000, 10_000)), group="counts"),
)


def _law(rng: np.random.Generator, linear: bool, features: str, noise: float = 0.0) -> Law:
    d, k = whole(rng, 15, 40), whole(rng, 1, 5)
    draw = quadratics.features(rng, d, features)
    X = draw(rng, int(between(rng, 8, 30) * (1 + d + d * k)))
    w = rng.standard_normal(d) / np.sqrt(d) if linear else np.zeros(d)
    return Law(rng, X, w, quadratics.low_rank(rng, d, k), k, draw, noise)


QUADRATICS = (
    Part("many columns", lambda rng, linear: _law(rng, linear, "gaussian")),
    Part("many columns, noise", lambda rng, linear: _law(rng, linear, "gaussian", between(rng, 0.02, 0.4)),
         group="noisy"),
    Part("many skewed columns, noise",
         lambda rng, linear: _law(rng, linear, "exponential", between(rng, 0.02, 0.3)), group="noisy"),
)  # fmt: skip
