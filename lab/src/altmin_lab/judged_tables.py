"""Tables that judge :func:`altmin.discover`.

A first round, before any rule was changed, asked all of these kinds. Then half of them, drawn at random, were
looked at (LOOKED_AT), and rules were chosen on them; the others judge what came out, with other seeds.

They are as people's tables are: columns of any unit, rows of any size, rounded values, zeros below a limit of
detection, near copies of columns, a few wrong rows, groups of unequal size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.datasets import make_dir, make_neg, make_quadratic
from altmin_lab.planted_tables import LAW, MIXTURES, ORTHOGONAL, OVERCOMPLETE, SPARSE, Planted
from altmin_lab.real_tables import folder

Rng = np.random.Generator
Array = NDArray[Any]


def _rms(X: Array) -> float:
    return float(np.sqrt(np.mean(X**2)))


def _noise(X: Array, level: float | Array, rng: Rng) -> Array:
    return np.asarray(X + level * _rms(X) * rng.standard_normal(X.shape))


def _units(rng: Rng, d: int) -> Array:
    """Units of columns: the largest is about a thousand times the smallest."""
    return np.asarray(10.0 ** rng.uniform(-1.5, 1.5, d))


def _shares(rng: Rng, n: int, k: int, concentration: float = 0.3) -> Array:
    return rng.dirichlet(np.full(k, concentration), size=n)


def _size(rng: Rng) -> tuple[int, int, int]:
    """Rows, columns and features; one table in ten is long, one in ten has many features."""
    k = int(rng.integers(10, 19) if rng.random() < 0.1 else rng.integers(3, 9))
    n = int(rng.integers(6000, 20_000) if rng.random() < 0.1 else rng.integers(500, 3000))
    return max(n, 80 * k), int(rng.integers(max(16, 2 * k), 70)), k


def _mixture_in_units(rng: Rng) -> Planted:
    """Columns of very different units, each with noise of .3 % of its own size."""
    n, d, k = _size(rng)
    A, unit = rng.gamma(1.0, 1.0, (k, d)), _units(rng, d)
    X = _shares(rng, n, k) * rng.uniform(0.5, 2, (n, 1)) @ A
    return Planted(MIXTURES, k, _noise(X, 0.003, rng) * unit, factors=A * unit)


def _rows_of_any_size(rng: Rng) -> Planted:
    """Rows that are a hundred times larger than others, each noisy in proportion."""
    n, d, k = _size(rng)
    A = rng.random((k, d))
    X = _noise(_shares(rng, n, k) @ A, 0.005, rng)
    return Planted(MIXTURES, k, X * rng.lognormal(0, 1, (n, 1)), factors=A)


def _below_detection(rng: Rng) -> Planted:
    """Features with peaks; what is below a limit of detection is written as 0."""
    n, d, k = _size(rng)
    A = rng.gamma(0.5, 1.0, (k, d))
    X = _noise(_shares(rng, n, k, 0.4) * rng.uniform(0.5, 2, (n, 1)) @ A, 0.005, rng)
    return Planted(MIXTURES, k, np.where(X < 0.02 * _rms(X), 0.0, X), factors=A)


def _measured_twice(rng: Rng) -> Planted:
    """Most columns come again, with another gain and an error of their own."""
    k = int(rng.integers(3, 7))
    n, d = int(rng.integers(500, 3000)), int(rng.integers(3 * k, 25))
    A = rng.random((k, d))
    A = np.hstack([A, A[:, rng.permutation(d)[: int(0.7 * d)]]])
    A = A * rng.uniform(0.5, 2, A.shape[1])
    X = _shares(rng, n, k) * rng.uniform(0.5, 2, (n, 1)) @ A
    return Planted(MIXTURES, k, _noise(X, 0.004, rng), factors=A)


def _errors_of_cells(rng: Rng) -> Planted:
    """Each cell has an error of 1 to 2 % of itself."""
    n, d, k = _size(rng)
    A = rng.exponential(size=(k, d))
    X = _shares(rng, n, k, 0.25) * rng.uniform(0.5, 2, (n, 1)) @ A
    return Planted(MIXTURES, k, X * (1 + rng.uniform(0.01, 0.02) * rng.standard_normal(X.shape)), factors=A)


def _wide(rng: Rng) -> Planted:
    """500 rows of many columns."""
    k, d = int(rng.integers(3, 11)), int(rng.integers(150, 300))
    made = make_dir(500, d, k, concentration=0.25, random_state=int(rng.integers(1 << 31)))
    return Planted(MIXTURES, k, _noise(made.X, 0.01, rng), factors=made.components)


def _wrong_rows(rng: Rng) -> Planted:
    """One row in two hundred has nothing to do with the others."""
    n, d, k = _size(rng)
    A = rng.random((k, d))
    X = _noise(_shares(rng, n, k) @ A, 0.003, rng)
    wrong = rng.permutation(n)[: max(2, n // 200)]
    X[wrong] = 2 * X.max() * rng.random((len(wrong), d))
    return Planted(MIXTURES, k, X, factors=A)


def _bumps(rng: Rng) -> Planted:
    """Wide bumps over each other, some in two thirds of the rows and some in a tenth."""
    n, d, k = _size(rng)
    at = (np.arange(k) + rng.uniform(0.2, 0.8, k))[:, None] / k
    A = np.exp(-0.5 * ((np.arange(d) / d - at) * k / rng.uniform(0.6, 1.0)) ** 2)
    W = rng.exponential(size=(n, k)) * (rng.random((n, k)) < rng.uniform(0.1, 0.67, k))
    W[np.arange(n), rng.integers(0, k, n)] += rng.exponential(size=n)
    return Planted(MIXTURES, k, _noise(W @ A, 0.003, rng), factors=A)


def _whole_per_cent(rng: Rng) -> Planted:
    """Shares of a whole in whole per cent."""
    k, d, n = int(rng.integers(3, 6)), int(rng.integers(15, 25)), int(rng.integers(800, 4000))
    A = rng.dirichlet(np.full(d, 0.3), size=k)
    return Planted(MIXTURES, k, np.round(100 * _shares(rng, n, k, 0.25) @ A), factors=A)


def _signed_in_units(rng: Rng) -> Planted:
    """Features with negative entries, columns of other units, two digits after the point."""
    n, d, k = _size(rng)
    made = make_neg(n, d, k, weights="dir", concentration=0.3, random_state=int(rng.integers(1 << 31)))
    unit = rng.uniform(2, 30, d) / made.X.std(axis=0)
    return Planted(MIXTURES, k, np.round(made.X * unit, 2), factors=made.components * unit)


def _cohorts(rng: Rng) -> Planted:
    """Counts of three groups of unequal size, each with some of the features only."""
    k, d, n = int(rng.integers(3, 8)), int(rng.integers(24, 70)), int(rng.integers(500, 2500))
    A = rng.dirichlet(np.full(d, 0.25), size=k)
    has = rng.random((3, k)) < 0.6
    has[np.arange(k) % 3, np.arange(k)] = True
    group = rng.choice(3, n, p=(0.6, 0.28, 0.12))
    W = rng.gamma(0.4, 1.0, (n, k)) * has[group]
    W = W / np.maximum(W.sum(axis=1, keepdims=True), 1e-12) * rng.lognormal(5.5, 0.6, (n, 1))
    return Planted(MIXTURES, k, rng.poisson(W @ A).astype(float), factors=A)


def _baskets(rng: Rng) -> Planted:
    """Counts of rows of 40 to 200 events, in columns of which some are far more frequent."""
    k, d, n = int(rng.integers(3, 6)), int(rng.integers(30, 60)), int(rng.integers(1500, 6000))
    A = rng.dirichlet(0.15 * d * rng.dirichlet(np.full(d, 2.0)), size=k)
    W = _shares(rng, n, k, 0.15) * rng.uniform(40, 200, (n, 1))
    return Planted(MIXTURES, k, rng.poisson(W @ A).astype(float), factors=A)


def _codes(rng: Rng, n: int, k: int) -> Array:
    return rng.standard_normal((n, k)) * (rng.random((n, k)) < rng.uniform(0.1, 0.18))


def _combined(rng: Rng, noise: float) -> tuple[Array, Array]:
    """Rows that combine a few of 6 to 16 atoms, and these."""
    k = int(rng.integers(6, 17))
    A = rng.standard_normal((k, k + int(rng.integers(0, 6))))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    return _noise(_codes(rng, int(k * rng.integers(90, 200)), k) @ A, noise, rng), A


def _sparse_in_units(rng: Rng) -> Planted:
    X, A = _combined(rng, 0.005)
    unit = _units(rng, A.shape[1])
    return Planted(SPARSE, len(A), X * unit, factors=A * unit)


def _sparse_rows_of_any_size(rng: Rng) -> Planted:
    X, A = _combined(rng, 0.01)
    return Planted(SPARSE, len(A), X * rng.lognormal(0, 0.8, (len(X), 1)), factors=A)


def _sparse_wrong_rows(rng: Rng) -> Planted:
    X, A = _combined(rng, 0.005)
    wrong = rng.permutation(len(X))[: max(2, len(X) // 200)]
    X[wrong] = 5 * _rms(X) * rng.standard_normal((len(wrong), X.shape[1]))
    return Planted(SPARSE, len(A), X, factors=A)


def _sparse_rounded(rng: Rng) -> Planted:
    """Readings in whole units around an offset of each column, with noise that differs by column."""
    X, A = _combined(rng, 0.0)
    X = _noise(X, rng.uniform(0.002, 0.02, X.shape[1]), rng) / _rms(X)
    return Planted(SPARSE, len(A), np.round(40 * X + rng.uniform(100, 900, X.shape[1])), factors=A)


def _turned(rng: Rng) -> Planted:
    """Orthogonal atoms, some three times as strong as others."""
    k = int(rng.integers(5, 17))
    A = np.linalg.qr(rng.standard_normal((k, k)))[0]
    X = _codes(rng, int(k * rng.integers(90, 200)), k) * rng.uniform(1, 3, k) @ A
    return Planted(ORTHOGONAL, k, _noise(X, 0.02, rng), factors=A)


def _turned_and_few(rng: Rng) -> Planted:
    """500 rows of orthogonal atoms, two to a row, in two digits."""
    k = int(rng.integers(5, 11))
    A = np.linalg.qr(rng.standard_normal((k, k)))[0]
    codes = rng.standard_normal((500, k)) * (rng.random((500, k)).argsort(axis=1).argsort(axis=1) < 2)
    return Planted(ORTHOGONAL, k, np.round(codes @ A, 2), factors=A)


def _more_atoms(rng: Rng, uneven: bool) -> Planted:
    """More atoms than columns: two a row, some chosen four times as often; or rows of any size."""
    d = int(rng.integers(8, 15))
    k, n = int(rng.integers(d + 2, min(20, 2 * d) + 1)), int(rng.integers(2000, 4500))
    A = rng.standard_normal((k, d))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    liking = rng.uniform(1, 4, k) if uneven else np.ones(k)
    first = (rng.gumbel(size=(n, k)) + np.log(liking)).argsort(axis=1)[:, -2:]
    codes = np.zeros((n, k))
    np.put_along_axis(codes, first, rng.choice([-1.0, 1.0], (n, 2)) * rng.uniform(0.4, 1.6, (n, 2)), axis=1)
    X = _noise(codes @ A, 0.03, rng)
    return Planted(OVERCOMPLETE, k, X if uneven else X * rng.lognormal(0, 0.7, (n, 1)), factors=A)


def _law(X: Array, k: int, use: Array, unit: Array, rng: Rng, noise: float = 0.1) -> Planted:
    """A target of k directions of standard columns, of which some are used, written in other units."""
    A = np.zeros((k, X.shape[1]))
    A[:, use] = np.linalg.qr(rng.standard_normal((len(use), k)))[0].T
    y = X @ rng.standard_normal(X.shape[1]) * 0.3 + np.square(X @ A.T).sum(axis=1)
    y = y + noise * y.std() * rng.standard_normal(len(y))
    return Planted(LAW, k, X * unit, y, A.T @ A / np.outer(unit, unit))


def _idle_columns(rng: Rng) -> Planted:
    """Two thirds of the columns have no part in the quadratic law."""
    d, k, n = int(rng.integers(15, 31)), int(rng.integers(1, 4)), int(rng.integers(1000, 4000))
    return _law(rng.standard_normal((n, d)), k, rng.permutation(d)[: d // 3], np.ones(d), rng)


def _some_categories(rng: Rng) -> Planted:
    """Amounts that have a quadratic law, and categories that shift the target."""
    d, k, n = int(rng.integers(5, 10)), int(rng.integers(1, 4)), int(rng.integers(1200, 4000))
    levels = [np.eye(m)[rng.integers(0, m, n)][:, 1:] for m in rng.integers(3, 6, 2)]
    X = np.hstack([rng.standard_normal((n, d)), *levels])
    return _law(X, k, np.arange(d), np.ones(X.shape[1]), rng)


def _law_in_units(rng: Rng) -> Planted:
    """Columns of very different units, far from 0."""
    d, k, n = int(rng.integers(6, 14)), int(rng.integers(1, 4)), int(rng.integers(800, 4000))
    made = _law(rng.standard_normal((n, d)), k, np.arange(d), _units(rng, d), rng)
    return replace(made, X=made.X + rng.uniform(0, 5, d) * made.X.std(axis=0))


def _law_of_ties(rng: Rng) -> Planted:
    """Columns of small whole numbers, unevenly distributed, and a third of the target is noise."""
    d, k, n = int(rng.integers(6, 14)), int(rng.integers(1, 4)), int(rng.integers(1500, 5000))
    X = rng.binomial(6, rng.uniform(0.2, 0.6, d), (n, d)) - 2.0
    return _law(X, k, np.arange(d), np.ones(d), rng, 0.5)


def _law_of_opposites(rng: Rng) -> Planted:
    """Directions of either sign, of which the weakest is a third of the strongest."""
    made = make_quadratic(
        int(rng.integers(1000, 5000)), int(rng.integers(8, 20)), int(rng.integers(2, 5)), condition=3.0,
        mixed_signs=True, intercept=5.0, noise=0.2, correlation=0.3, random_state=int(rng.integers(1 << 31)),
    )  # fmt: skip
    M = (made.factors.T * made.eigenvalues) @ made.factors
    return Planted(LAW, len(made.factors), made.X, made.y, M)


PLANTED: dict[str, Callable[[Rng], Planted]] = {
    "mixtures, columns of very different units": _mixture_in_units,
    "mixtures, rows of any size": _rows_of_any_size,
    "mixtures, 0 below a limit of detection": _below_detection,
    "mixtures, most columns measured twice": _measured_twice,
    "mixtures, errors in proportion to cells": _errors_of_cells,
    "mixtures, 500 rows of many columns": _wide,
    "mixtures, a few wrong rows": _wrong_rows,
    "mixtures of wide bumps": _bumps,
    "mixtures in whole per cent": _whole_per_cent,
    "mixtures, negative entries, two digits": _signed_in_units,
    "counts of unequal groups": _cohorts,
    "counts of small baskets": _baskets,
    "sparse, columns of very different units": _sparse_in_units,
    "sparse, rows of any size": _sparse_rows_of_any_size,
    "sparse, a few wrong rows": _sparse_wrong_rows,
    "sparse, whole units around offsets": _sparse_rounded,
    "orthogonal atoms of unequal strength": _turned,
    "orthogonal atoms, 500 rows": _turned_and_few,
    "more atoms than columns, unequal use": lambda rng: _more_atoms(rng, uneven=True),
    "more atoms than columns, rows of any size": lambda rng: _more_atoms(rng, uneven=False),
    "quadratic law, most columns idle": _idle_columns,
    "quadratic law, some categories": _some_categories,
    "quadratic law, columns of very different units": _law_in_units,
    "quadratic law of small whole numbers": _law_of_ties,
    "quadratic law, directions of either sign": _law_of_opposites,
}


def _shape(rng: Rng) -> tuple[int, int]:
    return int(rng.integers(300, 2500)), int(rng.integers(5, 30))


def _latent(rng: Rng, k: int) -> Array:
    """Gaussian columns that share k causes."""
    n, d = _shape(rng)
    shared = rng.standard_normal((n, k)) @ rng.standard_normal((k, d))
    return np.asarray(shared + rng.uniform(0.3, 1.0, d) * rng.standard_normal((n, d)))


def _body_sizes(rng: Rng) -> Array:
    """Lengths that grow with one size, each with a power of its own."""
    n, d = _shape(rng)
    logs = rng.normal(0, 0.4, (n, 1)) * rng.uniform(0.6, 1.6, d) + rng.uniform(1, 4, d)
    return np.round(np.exp(logs + rng.uniform(0.03, 0.15, d) * rng.standard_normal((n, d))), 1)


def _office(rng: Rng) -> Array:
    """Amounts, ages, yes and no, grades, all with one cause in common, in their own units."""
    table = _latent(rng, 1)
    for column in range(table.shape[1]):
        z = table[:, column] / table[:, column].std()
        kinds = (
            np.round(np.exp(8 + 0.8 * z)), np.round(40 + 12 * z), (z > rng.normal()).astype(float),
            np.clip(np.round(3 + z), 1, 5), z,
        )  # fmt: skip
        table[:, column] = kinds[int(rng.integers(5))]
    return table[:, table.std(axis=0) > 0]


def _days(rng: Rng) -> Array:
    """Days of a wave whose height and hour differ from day to day."""
    n, d = _shape(rng)
    hour = 2 * np.pi * np.arange(d + 8) / (d + 8)
    wave = rng.uniform(0.5, 1.5, (n, 1)) * np.cos(hour - rng.normal(0, 1, (n, 1)))
    return np.asarray(wave + rng.choice([0.0, 3.0]) + 0.1 * rng.standard_normal(wave.shape))


def _log_rates(rng: Rng) -> Array:
    """Counts whose log-rates are Gaussian and correlated."""
    table = _latent(rng, int(rng.integers(2, 5)))
    rates = np.exp(0.8 * table / table.std(axis=0) + rng.uniform(0, 4, table.shape[1]))
    return rng.poisson(rates).astype(float)


def _wide_plain(rng: Rng) -> Array:
    """A few hundred rows of many columns that share Gaussian causes."""
    n, d, k = int(rng.integers(150, 500)), int(rng.integers(100, 300)), int(rng.integers(2, 9))
    shared = rng.standard_normal((n, k)) @ rng.standard_normal((k, d))
    return np.asarray(shared + rng.uniform(0.5, 2.0) * rng.standard_normal((n, d)))


def _copies(rng: Rng) -> Array:
    """Rounded Gaussian columns, most of them there twice with an error."""
    table = _latent(rng, 2)
    again = table[:, rng.random(table.shape[1]) < 0.7]
    again = again * rng.uniform(0.5, 2, again.shape[1]) + 0.05 * rng.standard_normal(again.shape)
    return np.round(np.hstack([table, again]) + 10, 1)


def _moving_bump(rng: Rng) -> Array:
    """One bump that may be anywhere."""
    n, d = int(rng.integers(400, 1500)), int(rng.integers(15, 40))
    at, width = rng.uniform(0, d, (n, 1)), rng.uniform(2, 5)
    X = rng.uniform(0.5, 1.5, (n, 1)) * np.exp(-0.5 * ((np.arange(d) - at) / width) ** 2)
    return np.asarray(X + 0.01 * rng.standard_normal((n, d)))


def _censored(rng: Rng) -> Array:
    """Gaussian columns of a few causes, with 0 for all that is negative."""
    table = _latent(rng, int(rng.integers(1, 5)))
    return np.maximum(table / table.std(axis=0) + rng.uniform(-0.3, 0.8), 0.0)


def _log_ratios(rng: Rng) -> Array:
    """Shares of a whole whose log-ratios are Gaussian."""
    table = _latent(rng, int(rng.integers(2, 5)))
    parts = np.exp(rng.uniform(0.4, 1.0) * table / table.std(axis=0) + rng.standard_normal(table.shape[1]))
    return np.asarray(np.round(100 * parts / parts.sum(axis=1, keepdims=True), 2))


def _rankings(rng: Rng) -> Array:
    """Each row ranks the columns."""
    return _latent(rng, 2).argsort(axis=1).argsort(axis=1) + 1.0


def _items(rng: Rng) -> Array:
    """Right and wrong answers to questions, which one ability explains."""
    n, d = _shape(rng)
    easy = 1.5 * rng.standard_normal((n, 1)) + rng.standard_normal(d)
    table = (rng.random((n, d)) < 1 / (1 + np.exp(-easy))).astype(float)
    return table[:, table.std(axis=0) > 0]


def _lost_cells(rng: Rng) -> Array:
    """Positive Gaussian columns of which one cell in ten was not filled in, and is 0."""
    table = _latent(rng, 2)
    table = np.maximum(5 + table / table.std(axis=0), 0.1)
    return np.asarray(table * (rng.random(table.shape) > 0.1))


def _classes(rng: Rng) -> Array:
    """Pupils in classes in schools: groups of unequal size within groups, each with an effect."""
    n, d = _shape(rng)
    school = rng.choice(8, n, p=rng.dirichlet(np.full(8, 1.5)))
    room = 5 * school + rng.integers(0, 5, n)
    effects = rng.standard_normal((8, d))[school] + 0.7 * rng.standard_normal((40, d))[room]
    return np.asarray(10 + effects + rng.standard_normal((n, d)))


def _volatile(rng: Rng) -> Array:
    """Returns of shares: calm and stormy days, one market, tails of their own."""
    n, d = _shape(rng)
    log_size = np.zeros(n)
    for day in range(1, n):
        log_size[day] = 0.97 * log_size[day - 1] + 0.15 * rng.standard_normal()
    market = rng.standard_normal((n, 1)) * rng.uniform(0.5, 1.5, d)
    return np.asarray(np.exp(log_size)[:, None] * (market + rng.standard_t(5, (n, d))))


@cache
def _real(name: str) -> tuple[Array, ...]:
    """Tables of two collections: regressions, and faces of 1,024 pixels or less."""
    if name == "regressions":
        file = np.load(folder() / "uci_regression/uci_regression.npz")
        return tuple(np.asarray(file[key], dtype=float) for key in file.files if file[key].ndim == 2)
    images = np.load(folder() / "yale/yale_32x32.npz")["images"]
    return (images.reshape(len(images), -1).astype(float),)


def _shuffled(rng: Rng) -> Array:
    """Some rows and columns of regressions and faces, each column in an order of its own."""
    tables = _real(("regressions", "faces")[int(rng.integers(2))])
    table = tables[int(rng.integers(len(tables)))]
    table = table[rng.permutation(len(table))[: int(rng.integers(150, 2000))]]
    table = table[:, rng.permutation(np.flatnonzero(table.std(axis=0) > 0))[: int(rng.integers(8, 25))]]
    return np.column_stack([rng.permutation(column) for column in table.T])


PLAIN: dict[str, Callable[[Rng], Array]] = {
    "lengths of bodies of any size": _body_sizes,
    "a spreadsheet of amounts, ages and answers": _office,
    "days of a wave": _days,
    "counts with Gaussian log-rates": _log_rates,
    "few rows of many Gaussian columns": _wide_plain,
    "rounded columns and near copies": _copies,
    "a moving bump": _moving_bump,
    "Gaussian columns cut off at 0": _censored,
    "shares with Gaussian log-ratios": _log_ratios,
    "rankings": _rankings,
    "answers that one ability explains": _items,
    "cells that were lost and are 0": _lost_cells,
    "groups within groups": _classes,
    "returns of calm and stormy days": _volatile,
    "shuffled columns of regressions and faces": _shuffled,
}

# rules were chosen on these after the first round
LOOKED_AT = frozenset(
    {
        "mixtures, columns of very different units",
        "mixtures, rows of any size",
        "mixtures, 0 below a limit of detection",
        "mixtures, most columns measured twice",
        "mixtures, a few wrong rows",
        "sparse, columns of very different units",
        "sparse, a few wrong rows",
        "sparse, whole units around offsets",
        "orthogonal atoms of unequal strength",
        "more atoms than columns, unequal use",
        "quadratic law, most columns idle",
        "quadratic law, directions of either sign",
        "sparse, rows of any size",
        "more atoms than columns, rows of any size",
        "mixtures in whole per cent",
        "a spreadsheet of amounts, ages and answers",
        "days of a wave",
        "counts with Gaussian log-rates",
        "a moving bump",
        "shares with Gaussian log-ratios",
        "cells that were lost and are 0",
        "groups within groups",
    }
)
