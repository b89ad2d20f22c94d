"""Tables without structure that :func:`altmin.discover` could claim.

All of these kinds were looked at while its rules were chosen; :mod:`altmin_lab.judged_tables` has others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_s_curve,
    make_swiss_roll,
)

from altmin_lab.real_tables import TABLES

Rng = np.random.Generator


def _size(rng: Rng) -> tuple[int, int]:
    return int(rng.integers(400, 2000)), int(rng.integers(5, 25))


def _correlated(rng: Rng) -> NDArray[Any]:
    n, d = _size(rng)
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + rng.standard_normal(d)


def _low_rank(rng: Rng) -> NDArray[Any]:
    n, d = _size(rng)
    k = max(2, d // 3)
    return rng.standard_normal((n, k)) @ rng.standard_normal((k, d)) + 0.2 * rng.standard_normal((n, d))


def _elliptical(rng: Rng) -> NDArray[Any]:
    """Each row of a Gaussian table times a size of its own."""
    table = _correlated(rng)
    return np.asarray(table * np.sqrt(1 / rng.gamma(2.5, 1 / 2.5, (len(table), 1))))


def _clusters(rng: Rng) -> NDArray[Any]:
    n, d = _size(rng)
    return rng.standard_normal((5, d))[rng.integers(0, 5, n)] * 2 + rng.standard_normal((n, d))


def _manifold(rng: Rng) -> NDArray[Any]:
    X, _ = make_swiss_roll(int(rng.integers(500, 1500)), noise=0.05, random_state=int(rng.integers(1 << 31)))
    return np.asarray(X @ rng.standard_normal((3, 10)))


def _walk(rng: Rng) -> NDArray[Any]:
    return np.asarray(np.cumsum(rng.standard_normal(_size(rng)), axis=1))


def _shuffled(rng: Rng) -> NDArray[Any]:
    load = (load_iris, load_wine, load_breast_cancer)[int(rng.integers(3))]
    return np.column_stack([rng.permutation(column) for column in load().data.T])


def _copula(rng: Rng) -> NDArray[Any]:
    """Correlated ranks with skewed columns."""
    table = _correlated(rng)
    ranks = table.argsort(axis=0).argsort(axis=0) + 0.5
    return np.asarray(-np.log1p(-ranks / len(table)))


def _t_columns(rng: Rng) -> NDArray[Any]:
    """Heavy tails in all rows at once: a multivariate t of three degrees of freedom."""
    table = _correlated(rng)
    return np.asarray(table / np.sqrt(rng.chisquare(3, (len(table), 1)) / 3))


def _gaussian_mixture(rng: Rng) -> NDArray[Any]:
    """Three overlapping groups, each with a covariance of its own."""
    n, d = _size(rng)
    roots = rng.standard_normal((3, d, d)) / np.sqrt(d)
    group = rng.integers(0, 3, n)
    centres = 1.5 * rng.standard_normal((3, d))
    return np.einsum("nd,nde->ne", rng.standard_normal((n, d)), roots[group]) + centres[group]


def _autoregressive(rng: Rng) -> NDArray[Any]:
    """Windows of one series."""
    n, d = _size(rng)
    series = np.zeros(n + d)
    for t in range(1, n + d):
        series[t] = 0.9 * series[t - 1] + rng.standard_normal()
    return np.lib.stride_tricks.sliding_window_view(series, d)[:n].copy()


def _s_curve(rng: Rng) -> NDArray[Any]:
    X, _ = make_s_curve(int(rng.integers(500, 1500)), noise=0.02, random_state=int(rng.integers(1 << 31)))
    return np.asarray(X @ rng.standard_normal((3, 8)) + rng.standard_normal(8))


def _survey(rng: Rng) -> NDArray[Any]:
    """Answers from 1 to 5 that share two attitudes."""
    n, d = _size(rng)
    feeling = rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)) + rng.standard_normal((n, d))
    return np.clip(np.round(feeling / 1.2 + 3), 1, 5)


def _one_hot(rng: Rng) -> NDArray[Any]:
    """Independent categories as columns of 0 and 1."""
    n = int(rng.integers(400, 2000))
    blocks = [np.eye(levels)[rng.integers(0, levels, n)] for levels in rng.integers(2, 6, 4)]
    return np.hstack(blocks)


def _rounded(rng: Rng) -> NDArray[Any]:
    """Whole numbers from rounding, none negative."""
    return np.maximum(np.round(3 * _correlated(rng) + 20), 0)


def _lognormal(rng: Rng) -> NDArray[Any]:
    table = _correlated(rng)
    return np.asarray(np.exp(0.7 * table / table.std(axis=0)))


def _shuffled_others(rng: Rng) -> NDArray[Any]:
    load = (load_diabetes, load_digits)[int(rng.integers(2))]
    table = load().data
    table = table[:, table.std(axis=0) > 0]
    table = table[:, rng.permutation(table.shape[1])[:25]]
    return np.column_stack([rng.permutation(column) for column in table.T])


def _groups(rng: Rng) -> NDArray[Any]:
    """Groups that don't overlap, at any distance of 0."""
    n, d = _size(rng)
    near, centres = rng.uniform(0.02, 0.6), 2 * rng.standard_normal((int(rng.integers(3, 8)), d))
    shift = rng.choice([0.0, 6.0])
    return centres[rng.integers(0, len(centres), n)] + near * rng.standard_normal((n, d)) + shift


def _walk_in_time(rng: Rng) -> NDArray[Any]:
    """Each column walks from row to row."""
    n, d = _size(rng)
    return np.asarray(np.cumsum(rng.standard_normal((n, d)) @ rng.standard_normal((d, d)), axis=0))


def _shuffled_parts(rng: Rng) -> NDArray[Any]:
    """Some rows and columns of real tables, each column in an order of its own."""
    table = (load_breast_cancer, load_wine, load_diabetes, load_digits)[int(rng.integers(4))]().data
    table = table[rng.permutation(len(table))[: max(150, len(table) // 2)]]
    table = table[:, table.std(axis=0) > 0]
    table = table[:, rng.permutation(table.shape[1])[: int(rng.integers(8, 20))]]
    return np.column_stack([rng.permutation(column) for column in table.T])


def _gaussian_factors(rng: Rng) -> NDArray[Any]:
    """Gaussian weights of positive factors, with noise of another size in each column."""
    n, d = _size(rng)
    k = max(2, d // 4)
    table = rng.standard_normal((n, k)) @ rng.random((k, d)) + rng.uniform(
        0.05, 0.5, d
    ) * rng.standard_normal((n, d))
    return np.asarray(table + rng.choice([0.0, 4.0]))


def _sizes_of_rows(rng: Rng) -> NDArray[Any]:
    """Gaussian rows, each times a lognormal size."""
    table = _correlated(rng)
    return np.asarray((table - table.mean(axis=0)) * rng.lognormal(0, 0.8, (len(table), 1)))


def _unequal_groups(rng: Rng) -> NDArray[Any]:
    """Groups of unequal number and width."""
    n, d = _size(rng)
    k = int(rng.integers(3, 7))
    group = rng.choice(k, n, p=rng.dirichlet(np.full(k, 2.0)))
    return (2 * rng.standard_normal((k, d)))[group] + rng.uniform(0.3, 1.2, (k, 1))[
        group
    ] * rng.standard_normal((n, d))


def _helix(rng: Rng) -> NDArray[Any]:
    t = rng.uniform(0, 6 * np.pi, int(rng.integers(500, 1500)))
    curve = np.column_stack([np.cos(t), np.sin(t), 0.2 * t])
    return np.asarray(curve @ rng.standard_normal((3, 9)) + 0.03 * rng.standard_normal((len(t), 9)))


def _torus(rng: Rng) -> NDArray[Any]:
    a, b = rng.uniform(0, 2 * np.pi, (2, int(rng.integers(600, 1500))))
    ring = 2 + 0.7 * np.cos(b)
    points = np.column_stack([ring * np.cos(a), ring * np.sin(a), 0.7 * np.sin(b)])
    return np.asarray(points @ rng.standard_normal((3, 7)) + 5)


def _positive_walk(rng: Rng) -> NDArray[Any]:
    n, d = _size(rng)
    return np.asarray(np.exp(0.1 * np.cumsum(rng.standard_normal((n, d)), axis=1)))


def _uniform_cube(rng: Rng) -> NDArray[Any]:
    """Independent uniform columns, turned: not Gaussian, and not sparse."""
    n, d = _size(rng)
    return np.asarray(rng.uniform(-1, 1, (n, d)) @ rng.standard_normal((d, d)))


def _independent_counts(rng: Rng) -> NDArray[Any]:
    n, d = _size(rng)
    return rng.poisson(rng.uniform(2, 60, d), (n, d)).astype(float)


def _outliers(rng: Rng) -> NDArray[Any]:
    """One row in thirty is far away."""
    table = _low_rank(rng)
    far = rng.random(len(table)) < 1 / 30
    table[far] += 8 * rng.standard_normal((int(far.sum()), table.shape[1]))
    return table


def _slow_series(rng: Rng) -> NDArray[Any]:
    """Each column is a series with a memory of fifty rows."""
    n, d = _size(rng)
    shocks = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    for t in range(1, n):
        shocks[t] += 0.98 * shocks[t - 1]
    return np.asarray(shocks)


def _shuffled_planted(rng: Rng) -> NDArray[Any]:
    """Sums of few atoms, of which only the columns, each by itself, are left."""
    n, d = _size(rng)
    codes = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.15)
    return np.column_stack([rng.permutation(column) for column in (codes @ rng.standard_normal((d, d))).T])


def _shuffled_measured(rng: Rng) -> NDArray[Any]:
    """Some rows and columns of scenes, spectra and mutations, each column in an order of its own."""
    names = ("Samson", "Jasper Ridge", "ALS2004", "breast signatures")
    table = _measured(names[int(rng.integers(len(names)))])
    table = table[rng.permutation(len(table))[: int(rng.integers(400, 2000))]]
    table = table[:, rng.permutation(np.flatnonzero(table.std(axis=0) > 0))[: int(rng.integers(8, 25))]]
    return np.column_stack([rng.permutation(column) for column in table.T])


@cache
def _measured(name: str) -> NDArray[Any]:
    return np.asarray(TABLES[name]().X, dtype=float)


TUNING: dict[str, Callable[[Rng], NDArray[Any]]] = {
    "white noise": lambda rng: rng.standard_normal(_size(rng)),
    "correlated Gaussian": _correlated,
    "low rank": _low_rank,
    "elliptical": _elliptical,
    "clusters": _clusters,
    "manifold": _manifold,
    "random walk": _walk,
    "shuffled columns of real tables": _shuffled,
    "groups": _groups,
    # these were judged first, and have been looked at since
    "copula with skewed columns": _copula,
    "t, three degrees of freedom": _t_columns,
    "mixture of Gaussians": _gaussian_mixture,
    "windows of a series": _autoregressive,
    "S curve": _s_curve,
    "survey": _survey,
    "categories": _one_hot,
    "rounded": _rounded,
    "lognormal": _lognormal,
    "shuffled columns of other real tables": _shuffled_others,
    "walk from row to row": _walk_in_time,
    "shuffled columns of parts of real tables": _shuffled_parts,
    # and these, in a second round
    "Gaussian weights of positive factors": _gaussian_factors,
    "Gaussian rows of any size": _sizes_of_rows,
    "groups of unequal width": _unequal_groups,
    "helix": _helix,
    "torus": _torus,
    "slow series side by side": _slow_series,
    "positive walk": _positive_walk,
    "turned cube": _uniform_cube,
    "independent counts": _independent_counts,
    "low rank with outliers": _outliers,
    "shuffled columns of planted tables": _shuffled_planted,
    "shuffled columns of measured tables": _shuffled_measured,
}


def plain(
    kinds: dict[str, Callable[[Rng], NDArray[Any]]], per_kind: int, seed: int
) -> Iterator[tuple[str, NDArray[Any]]]:
    """So many tables of each kind, one of each in turn."""
    for trial in range(per_kind):
        for number, (kind, make) in enumerate(kinds.items()):
            yield kind, make(np.random.default_rng([seed, 100 + number, trial]))
