"""Problems of rank-one sensing, symmetric and asymmetric. Error of M, relative."""

from __future__ import annotations

from typing import Any

import numpy as np

from altmin.estimators.quadratic.sensing import RankOneSensing
from altmin_lab.calibration.quadratic_data import (
    Array,
    features,
    foreign_target,
    low_rank,
    noise,
    quadratic,
)
from altmin_lab.calibration.trial import Group, Trial, between, kind, whole


class Problem:
    """Designs (one, or a pair), the matrix, measurements without noise."""

    def __init__(
        self, rng: np.random.Generator, rows: float, law: str | None = None, rank: int | None = None
    ):
        self.rng, self.pair = rng, bool(rng.random() < 0.5)
        d, e = whole(rng, 4, 10), whole(rng, 4, 10)
        k = rank or whole(rng, 1, 3)
        self.rank = k
        p = k * (d + e - k) if self.pair else d * k - k * (k - 1) // 2
        n = max(int(rows * p), 3)
        self.U = features(rng, n, d, law)
        self.V = features(rng, n, e, law)
        if self.pair:
            L, R = (np.linalg.qr(rng.standard_normal((m, k)))[0] for m in (d, e))
            self.M = (L * np.geomspace(1, 1 / between(rng, 1, 5), k)) @ R.T
        else:
            self.M = low_rank(rng, d, k)

    def measure(self) -> Array:
        """Values u'Mv, or x'Mx."""
        if self.pair:
            return np.einsum("ij,jk,ik->i", self.U, self.M, self.V)
        return quadratic(self.U, self.M)

    def trial(self, y: Array, rank: int | None = None, foreign: bool = False) -> Trial:
        """Fit a matrix of this rank and compare."""
        size = np.linalg.norm(self.M)

        def error(model: RankOneSensing) -> float:
            return float(np.linalg.norm(model.matrix() - self.M) / size)

        model = RankOneSensing(rank or self.rank, random_state=whole(self.rng, 0, 9999))
        return Trial(model, ((self.U, self.V) if self.pair else self.U, y), None if foreign else error)


@kind("sensing", "low-rank matrix", "clean", 5)
def _clean(rng: np.random.Generator) -> Trial:
    problem = Problem(rng, rng.uniform(4, 30))
    return problem.trial(problem.measure(), problem.rank + whole(rng, 0, 1))


@kind("sensing", "little noise", "noisy", 6)
def _noise(rng: np.random.Generator) -> Trial:
    problem = Problem(rng, rng.uniform(8, 40))
    return problem.trial(noise(rng, problem.measure(), between(rng, 1e-3, 0.05)))


@kind("sensing", "strong noise", "noisy", 3)
def _strong(rng: np.random.Generator) -> Trial:
    problem = Problem(rng, rng.uniform(4, 20))
    return problem.trial(noise(rng, problem.measure(), between(rng, 0.3, 5)))


@kind("sensing", "too few measurements", "clean", 3)
def _few(rng: np.random.Generator) -> Trial:
    problem = Problem(rng, rng.uniform(0.4, 1.6))
    y = problem.measure()
    return problem.trial(y if rng.random() < 0.5 else noise(rng, y, 0.03))


@kind("sensing", "copies of few measurements", "clean")
def _copies(rng: np.random.Generator) -> Trial:
    problem = Problem(rng, rng.uniform(0.4, 1.2))
    rows = rng.integers(len(problem.U), size=20 * len(problem.U))
    problem.U, problem.V = problem.U[rows], problem.V[rows]
    return problem.trial(problem.measure())


@kind("sensing", "too low a rank", "noisy", 3)
def _low(rng: np.random.Generator) -> Trial:
    problem = Problem(rng, rng.uniform(8, 30), rank=whole(rng, 2, 4))
    y = problem.measure()
    return problem.trial(
        noise(rng, y, between(rng, 1e-3, 0.1)) if rng.random() < 0.5 else y, problem.rank - 1
    )


@kind("sensing", "collinear designs", "clean", 2)
def _collinear(rng: np.random.Generator) -> Trial:
    problem = Problem(rng, 12, "gaussian")
    problem.U[:, 1] = problem.U[:, 0] + between(rng, 1e-9, 1e-3) * problem.U[:, 1]
    y = problem.measure()
    return problem.trial(noise(rng, y, 0.01) if rng.random() < 0.5 else y)


@kind("sensing", "binary designs", "clean")
def _binary(rng: np.random.Generator) -> Trial:
    problem = Problem(rng, 15)
    problem.U, problem.V = np.sign(problem.U), np.sign(problem.V)
    return problem.trial(problem.measure())


@kind("sensing", "noise in the designs", "noisy", 2)
def _errors_in_variables(rng: np.random.Generator) -> Trial:
    problem = Problem(rng, rng.uniform(10, 40), "gaussian")
    y = noise(rng, problem.measure(), between(rng, 1e-3, 0.05))
    level = between(rng, 0.12, 0.7)
    problem.U = problem.U + level * rng.standard_normal(problem.U.shape)
    problem.V = problem.V + level * rng.standard_normal(problem.V.shape)
    return problem.trial(y)


@kind("sensing", "outlying measurements", "noisy", 2)
def _outliers(rng: np.random.Generator) -> Trial:
    problem = Problem(rng, rng.uniform(8, 30))
    y = problem.measure()
    rows = rng.permutation(len(y))[: max(int(between(rng, 0.003, 0.1) * len(y)), 1)]
    y[rows] += between(rng, 3, 50) * y.std() * rng.standard_normal(len(rows))
    return problem.trial(y)


@kind("sensing", "small singular values beside", "noisy")
def _tail(rng: np.random.Generator) -> Trial:
    problem = Problem(rng, rng.uniform(10, 40), "gaussian")
    S = rng.standard_normal(problem.M.shape)
    S = S if problem.pair else (S + S.T) / 2
    problem.M = problem.M + between(rng, 0.06, 0.4) * S / np.linalg.norm(S, 2)
    return problem.trial(noise(rng, problem.measure(), 1e-2))


def _foreign(name: str, group: Group, target: Any, share: int = 1) -> None:
    def make(rng: np.random.Generator) -> Trial:
        problem = Problem(rng, rng.uniform(4, 25))
        return problem.trial(target(rng, problem), foreign=True)

    kind("sensing", name, group, share)(make)


def _both(problem: Problem) -> Array:
    return np.hstack([problem.U, problem.V]) if problem.pair else problem.U


_foreign("another law", "other", lambda rng, q: foreign_target(rng, _both(q)), 3)
_foreign(
    "an offset and a linear part", "other",
    lambda rng, q: q.measure() + rng.uniform(0.1, 2) * (1 + q.U @ rng.standard_normal(q.U.shape[1])),
)  # fmt: skip
_foreign("pure noise", "noise", lambda rng, q: rng.standard_normal(len(q.U)), 2)
