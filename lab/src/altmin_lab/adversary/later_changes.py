"""Perturbations of dictionaries that were thought out after those of :mod:`changes` had judged."""

from __future__ import annotations

import numpy as np

from altmin_lab.adversary.changes import close, made, missing, replaced, seen, some, unit
from altmin_lab.adversary.compose import Array, Draft, between, sines, whole


def interlude(d: Draft) -> None:
    """For a while two atoms are other ones; then they are back."""
    n = len(d.codes)
    length = int(d.rng.uniform(0.08, 0.3) * n)
    begin = whole(d.rng, 0, n - length)
    rows = (np.arange(n) >= begin) & (np.arange(n) < begin + length)
    replaced(d, np.vstack([unit(d), unit(d)]), rows)


def turned_features(d: Draft) -> None:
    """In some samples two features are turned into each other by one angle."""
    rows, angle = some(d, 0.05, 0.4), d.rng.uniform(0.5, 1.2)
    i, j = d.rng.permutation(d.factors.shape[1])[:2]
    turn = np.eye(d.factors.shape[1])
    turn[[i, j], [i, j]], turn[i, j], turn[j, i] = np.cos(angle), np.sin(angle), -np.sin(angle)
    made(d, lambda X: np.where(rows[:, None], X @ turn, X), rows)


def lenders(d: Draft) -> None:
    """Two atoms take a part of a third one's code with them, in some samples."""
    parts = d.rng.uniform(0.3, 0.9, 2) * d.rng.choice([-1, 1], 2)
    rows = some(d, 0.2, 0.6)
    taken = np.where(rows, d.codes[:, :2] @ parts, 0.0)
    d.codes[:, 2] += taken
    d.by_nature = float((taken != 0).mean()) < seen(d)
    d.holds = d.sound = False


def other_when_loud(d: Draft) -> None:
    """In the larger half of the samples with an atom it is another one."""
    size, on = np.linalg.norm(d.codes @ d.factors, axis=1), d.codes[:, 0] != 0
    replaced(d, unit(d)[None], size > np.median(size[on]))


def half_when_negative(d: Draft) -> None:
    """Where an atom's code is negative, only half of its features show."""
    seen_then = d.rng.permutation(len(d.factors[0])) % 2 != 0
    replaced(d, (d.factors[0] * seen_then)[None], d.codes[:, 0] < 0)


def answer(d: Draft) -> None:
    """The sample after one with a certain atom holds an atom that wasn't asked for."""
    after = np.roll(d.codes[:, 0] != 0, 1) & some(d, 0.4, 1.0)
    missing(d, np.where(after, 1.3 * d.rng.standard_normal(len(after)), 0.0))


def missing_signs(d: Draft) -> None:
    """An atom that wasn't asked for has codes of one size and either sign."""
    on = d.rng.random(len(d.codes)) < d.rng.uniform(0.05, 0.25)
    missing(d, np.where(on, d.rng.choice([-1.0, 1.0], len(on)), 0.0))


def blurred_rows(d: Draft) -> None:
    """In some samples each feature is the mean of itself and its neighbours."""
    rows = some(d, 0.05, 0.4)

    def blur(X: Array) -> Array:
        return np.where(rows[:, None], (np.roll(X, 1, axis=1) + 2 * X + np.roll(X, -1, axis=1)) / 4, X)

    made(d, blur, rows)


def larger_of_two(d: Draft) -> None:
    """One feature is the larger of itself and another one."""

    def larger(X: Array) -> Array:
        X = X.copy()
        X[:, 0] = np.maximum(X[:, 0], X[:, 1])
        return X

    made(d, larger)


def half_flipped(d: Draft) -> None:
    """In some samples half of an atom's features have the other sign."""
    rows = some(d, 0.15, 0.6)
    flipped = np.where(d.rng.permutation(len(d.factors[0])) % 2 == 0, -1.0, 1.0) * d.factors[0]
    replaced(d, flipped[None], rows)


def every_seventh(d: Draft) -> None:
    """Every seventh sample has other atoms in the place of two."""
    rows = np.arange(len(d.codes)) % whole(d.rng, 4, 9) == 0
    replaced(d, np.vstack([unit(d), unit(d)]), rows)


def logarithmic(d: Draft) -> None:
    """Features answer with a logarithm."""
    c = between(d.rng, 1.0, 10.0)
    made(d, lambda X: np.sign(X) * np.log1p(c * np.abs(X) / np.sqrt(np.mean(X**2))))


def amplified(d: Draft) -> None:
    """A feature is amplified by the size of the one before."""
    c = d.rng.uniform(0.3, 1.0)
    made(d, lambda X: X * (1 + c * np.abs(np.roll(X, 1, axis=1)) / np.sqrt(np.mean(X**2))))


def crowd(d: Draft) -> None:
    """An atom that wasn't asked for occurs only where two others do."""
    on = ((d.codes != 0).sum(axis=1) >= 2) & some(d, 0.3, 0.9)
    missing(d, np.where(on, 1.3 * d.rng.standard_normal(len(on)), 0.0))


def wandering(d: Draft) -> None:
    """An atom wanders about as time goes by."""
    n = len(d.codes)
    steps = d.rng.standard_normal((n, d.factors.shape[1])) / np.sqrt(d.factors.shape[1] * n)
    away = d.rng.uniform(0.8, 2.0) * np.cumsum(steps, axis=0)
    d.by_nature = float(np.sqrt(np.mean(away**2) * away.shape[1])) < close(d)
    d.after.append(lambda X: X + d.codes[:, :1] * away)
    d.holds = d.sound = False


def two_recordings(d: Draft) -> None:
    """In some samples each feature has another gain."""
    rows, gains = (
        some(d, 0.1, 0.5),
        np.exp(d.rng.uniform(0.3, 0.7) * d.rng.standard_normal(d.factors.shape[1])),
    )
    made(d, lambda X: np.where(rows[:, None], X * gains, X), rows)
    apart = sines(d.factors * gains, d.factors)
    d.by_nature |= float(apart.max()) < close(d)


def leaning(d: Draft) -> None:
    """An atom's code grows with the size of another one's, where both occur."""
    both = (d.codes[:, 0] != 0) & (d.codes[:, 1] != 0)
    d.codes[:, 1] += np.where(both, np.abs(d.codes[:, 0]) * np.sign(d.codes[:, 1]), 0.0)
    d.holds = False


# --- data that are right


def lognormal(d: Draft) -> None:
    """Codes are spread over a factor of three or so."""
    d.codes = np.sign(d.codes) * np.exp(0.5 * d.rng.standard_normal(d.codes.shape))


def three_sizes(d: Draft) -> None:
    """Codes have one of three sizes, each atom its own share of them."""
    k = d.codes.shape[1]
    share = d.rng.dirichlet(np.full(3, 3.0), k)
    size = np.column_stack([d.rng.choice([0.5, 1.0, 2.0], len(d.codes), p=p) for p in share])
    d.codes = np.sign(d.codes) * size


def more_samples(d: Draft) -> None:
    """Three times as many samples."""
    n = 3 * len(d.codes)
    d.codes = np.column_stack([column[d.rng.permutation(n) % len(column)] for column in d.codes.T])


def mostly_positive(d: Draft) -> None:
    """A fifth of the codes is negative."""
    d.codes = np.abs(d.codes) * d.rng.choice([1, 1, 1, 1, -1], d.codes.shape)


def triangular(d: Draft) -> None:
    """Small codes are more frequent than large ones, down to a gap."""
    d.codes = np.sign(d.codes) * d.rng.triangular(0.25, 0.25, 2.0, d.codes.shape)


ALL = (
    larger_of_two, lenders, two_recordings, interlude, turned_features, other_when_loud,
    half_when_negative, answer, missing_signs, blurred_rows, half_flipped, every_seventh, logarithmic,
    amplified, crowd, wandering, leaning, lognormal, three_sizes, more_samples, mostly_positive,
    triangular,
)  # fmt: skip
