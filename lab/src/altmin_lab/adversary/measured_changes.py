"""Perturbations of dictionaries that were thought out then: what measuring and preparing does to data."""

from __future__ import annotations

import numpy as np

from altmin_lab.adversary.changes import made, missing, some, unit
from altmin_lab.adversary.compose import Array, Draft, whole


def batches(d: Draft) -> None:
    """Samples come in a few batches, each with gains, and so with atoms, of its own."""
    n, many, k = len(d.codes), whole(d.rng, 3, 6), len(d.factors)
    gains = np.exp(d.rng.uniform(0.3, 0.6) * d.rng.standard_normal((many, d.factors.shape[1])))
    own = np.repeat(np.arange(n) * many // n == np.arange(many)[:, None], k, axis=0).T
    d.factors = np.vstack([d.factors * gain for gain in gains])
    d.codes, d.asked = np.tile(d.codes, many) * own, k
    d.holds = d.sound = False


def quantile_normalised(d: Draft) -> None:
    """Samples are made to have all the same values, each in an order of its own."""

    def normalise(X: Array) -> Array:
        values = np.sort(X, axis=1).mean(axis=0)
        return np.asarray(values[np.argsort(np.argsort(X, axis=1), axis=1)])

    made(d, normalise)


def stuck(d: Draft) -> None:
    """Now and then a third of the features keep their last value for a while."""
    n, length = len(d.codes), whole(d.rng, 3, 20)
    starts = d.rng.random(n) < d.rng.uniform(0.05, 0.4) / length
    rows = np.convolve(starts, np.ones(length))[:n] > 0
    rows[0] = False
    last = np.maximum.accumulate(np.where(rows, 0, np.arange(n)))
    held = d.rng.permutation(d.factors.shape[1]) < max(d.factors.shape[1] // 3, 1)
    made(d, lambda X: np.where(held, X[last], X), rows)


def average_reference(d: Draft) -> None:
    """Of each sample the mean of its features is taken: of as many atoms as features one can't be told."""
    d.factors = d.factors - d.factors.mean(axis=1, keepdims=True)
    d.last.append(lambda X: X - X.mean(axis=1, keepdims=True))
    if len(d.factors) == d.factors.shape[1]:
        d.holds = d.sound = False


def median_reference(d: Draft) -> None:
    """Of each sample the median of its features is taken: true of single atoms, not of their sums."""
    sums, summed = d.codes @ d.factors, (d.codes != 0).sum(axis=1) > 1
    d.factors = d.factors - np.median(d.factors, axis=1, keepdims=True)
    made(d, lambda X: sums - np.median(sums, axis=1, keepdims=True), summed)


def overcomplete(d: Draft) -> None:
    """There are twice as many atoms as were asked for."""
    k, d.asked = len(d.factors), len(d.factors)
    d.factors = np.vstack([d.factors, *(unit(d) for _ in range(k))])
    d.codes = np.hstack([d.codes, d.codes[d.rng.permutation(len(d.codes))]])
    d.holds = d.sound = False


def afterglow(d: Draft) -> None:
    """After an atom comes another one, of the same size: it wasn't asked for."""
    missing(d, d.rng.uniform(0.6, 1.2) * np.roll(d.codes[:, 0], 1))


def resting(d: Draft) -> None:
    """Samples without any atom hold one that wasn't asked for."""
    on = ~np.any(d.codes != 0, axis=1) & some(d, 0.3, 1.0)
    missing(d, np.where(on, 1.3 * d.rng.standard_normal(len(on)), 0.0))


def loose(d: Draft) -> None:
    """An atom looks a little different each time."""
    n, width = len(d.codes), d.factors.shape[1]
    away = d.rng.uniform(0.4, 1.0) * d.rng.standard_normal((n, width)) / np.sqrt(width)
    made(d, lambda X: X + d.codes[:, :1] * away, d.codes[:, 0] != 0)


def unsigned(d: Draft) -> None:
    """One feature, in which the atoms are large, is known without its sign."""
    j = int(np.argmax(np.sum(d.factors**2, axis=0)))

    def lose(X: Array) -> Array:
        X = X.copy()
        X[:, j] = np.abs(X[:, j])
        return X

    made(d, lose)


# --- data that are right


def own_gains(d: Draft) -> None:
    """Each atom grows and fades slowly, in its own time."""
    n, k = d.codes.shape
    turns, begin = d.rng.uniform(2, 15, k), d.rng.uniform(0, 6, k)
    d.codes = d.codes * np.exp(0.6 * np.sin(begin + np.linspace(0, 1, n)[:, None] * turns))


def measured_twice(d: Draft) -> None:
    """Each sample is there twice, each time with noise of its own."""
    d.codes = np.repeat(d.codes, 2, axis=0)


ALL = (
    batches, quantile_normalised, stuck, average_reference, median_reference, overcomplete, afterglow,
    resting, loose, unsigned, own_gains, measured_twice,
)  # fmt: skip
