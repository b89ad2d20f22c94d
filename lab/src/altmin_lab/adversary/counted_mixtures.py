"""Perturbations of non-negative factorizations on which rules may be tuned: what counting does to data.

Most are slight, since what is large shows anyway: counts leave room for doubt about errors of a few per cent.
"""

from __future__ import annotations

import numpy as np

from altmin_lab.adversary.compose import Array, Draft, Part, between, whole
from altmin_lab.adversary.cones import features

# --- data that are right


def depths(d: Draft) -> None:
    """Samples are of very different size, whatever they are made of."""
    size = np.exp(d.rng.uniform(0.3, 1.2) * d.rng.standard_normal((len(d.codes), 1)))
    d.codes, d.counts = d.codes * size, d.counts * size if d.counts else 0.0


def steep_columns(d: Draft) -> None:
    """Few columns hold most of what is there."""
    d.factors = d.factors * np.exp(d.rng.uniform(0.7, 1.5) * d.rng.standard_normal(d.factors.shape[1]))


def varying_rates(d: Draft) -> None:
    """The rate of each entry varies by itself before it is counted."""
    spread = between(d.rng, 0.03, 0.4)
    d.holds = spread < 0.15  # of a total that varies with it few entries can't have a large share: a curve
    d.after.append(lambda X: X * np.exp(spread * d.rng.standard_normal(X.shape) - spread**2 / 2))


def mostly_pure(d: Draft) -> None:
    """Most samples hold one feature alone."""
    n, D = d.codes.shape
    alone = np.flatnonzero(d.rng.random(n) < d.rng.uniform(0.4, 0.8))
    d.codes[alone] = np.eye(D)[d.rng.integers(D, size=len(alone))]


def hardly_pure(d: Draft) -> None:
    """Most samples hold all features, and few hold one alone."""
    n, D = d.codes.shape
    d.codes = d.rng.dirichlet(np.full(D, d.rng.uniform(0.8, 1.5)), n)
    rows = d.rng.permutation(n)[: max(whole(d.rng, 5, 15) * D, 1)]
    d.codes[rows] = np.eye(D)[np.arange(len(rows)) % D]


def few_counts(d: Draft) -> None:
    """Little was counted, or noise is large."""
    d.counts = between(d.rng, 100, 500) if d.counts else 0.0
    d.noise = 2 * d.noise


def many_counts(d: Draft) -> None:
    """Much was counted, or noise is small."""
    d.counts, d.noise = 10 * d.counts, d.noise / 3


def dark_counts(d: Draft) -> None:
    """Each column counts something all the time: a part of each feature, where samples are of one size."""
    W = d.factors.shape[1]
    rate = between(d.rng, 0.01, 0.3) * np.abs(d.factors.sum(axis=1)).mean() / W
    d.factors = d.factors + rate * d.rng.random(W)


# --- data that are not


def slight_power(d: Draft) -> None:
    """Values were taken to a power near 1."""
    d.holds = d.sound = False
    p = float(d.rng.choice([d.rng.uniform(0.75, 0.93), d.rng.uniform(1.07, 1.3)]))
    d.after.append(lambda X: np.sign(X) * np.abs(X) ** p)


def dead_time(d: Draft) -> None:
    """While something is counted nothing else is: large values lose a part."""
    d.holds = d.sound = False
    level = between(d.rng, 0.02, 0.3)
    d.after.append(lambda X: X / (1 + level * np.abs(X) / np.abs(X).mean()))


def flickering(d: Draft) -> None:
    """One feature looks a little different each time, along one direction."""
    d.holds = d.sound = False
    W = d.factors.shape[1]
    by = between(d.rng, 0.05, 0.5) * d.rng.standard_normal((len(d.codes), 1)) * d.rng.standard_normal(W)
    own = d.codes[:, :1] * d.factors[:1]
    d.after.append(lambda X: X + own * (np.exp(np.clip(by, -2, 2)) - 1))


def slight_extra(d: Draft) -> None:
    """A little of one more feature is in all samples, in amounts of its own, and nobody asked for it."""
    d.holds = d.sound = False
    D, W = d.factors.shape
    extra = between(d.rng, 0.01, 0.15) * d.rng.random((len(d.codes), 1))
    d.factors = np.vstack([d.factors, features(d.rng, 1, W, "sparse")])
    d.codes = np.hstack([(1 - extra) * d.codes, extra])
    d.asked = D


def background_rate(d: Draft) -> None:
    """A background of one shape, of another size in each sample."""
    d.holds = d.sound = False
    shape = features(d.rng, 1, d.factors.shape[1], "dense")[0]
    size = between(d.rng, 0.01, 0.3) * d.rng.exponential(size=(len(d.codes), 1))
    d.after.append(lambda X: X + size * np.abs(X).mean() * shape)


def contaminated(d: Draft) -> None:
    """Samples in which a feature prevails always hold a little of another one."""
    d.holds = False
    most, share = d.codes[:, 0] > 0.6, d.rng.uniform(0.02, 0.15)
    d.codes[most, 1] = np.maximum(d.codes[most, 1], share * d.codes[most].sum(axis=1))


def twins_as_one(d: Draft) -> None:
    """Two features are alike, and one component fewer is asked for."""
    d.holds = d.sound = False
    d.factors[1] = d.factors[0] + between(d.rng, 0.05, 0.5) * d.factors[1]
    d.asked = len(d.factors) - 1


def smallest_lost(d: Draft) -> None:
    """Counts of one, or of a few, are taken for none."""
    d.holds = d.sound = False
    most = whole(d.rng, 1, 3)

    def lose(X: Array) -> Array:
        level = most if np.any(d.counts) else 0.1 * most * np.abs(X).mean()
        return np.where(np.abs(X) <= level, 0.0, X)

    d.last.append(lose)


def quenched_columns(d: Draft) -> None:
    """A feature takes a part from some columns, whatever they hold."""
    d.holds = d.sound = False
    W = d.factors.shape[1]
    part = d.rng.uniform(0.1, 0.6) * d.rng.random(W) * (d.rng.random(W) < 0.5)
    own = d.codes[:, :1] / max(float(d.codes[:, 0].max()), 1e-300)
    d.after.append(lambda X: X * (1 - part * own))


def between_two_looks(d: Draft) -> None:
    """A feature lies somewhere between two looks of it, elsewhere in each sample."""
    d.holds = d.sound = False
    other = features(d.rng, 1, d.factors.shape[1], "sparse") - d.factors[:1]
    own = between(d.rng, 0.05, 0.6) * d.rng.random((len(d.codes), 1)) * d.codes[:, :1]
    d.after.append(lambda X: X + own * other)


def ageing(d: Draft) -> None:
    """All features change a little from the first to the last sample."""
    d.holds = d.sound = False
    D, W = d.factors.shape
    later = d.factors * np.exp(d.rng.uniform(0.05, 0.3) * d.rng.standard_normal((D, W))) - d.factors
    t, Z = np.linspace(0, 1, len(d.codes))[:, None], d.codes
    d.after.append(lambda X: X + t * (Z @ later))


def half_counted(d: Draft) -> None:
    """Every second of an entry's counts is counted."""
    d.holds = d.sound = False
    d.last.append(lambda X: np.floor(X / 2) if np.any(d.counts) else np.abs(X) // X.std() * X.std())


def slightly_multiplied(d: Draft) -> None:
    """Two features leave a little of their own where they meet."""
    d.holds = d.sound = False
    extra = features(d.rng, 1, d.factors.shape[1], "sparse")[0]
    both = between(d.rng, 0.1, 1.5) * d.codes[:, :1] * d.codes[:, 1:2]
    d.after.append(lambda X: X + both * extra)


def neighbours_counted(d: Draft) -> None:
    """Where two columns are large at once a part of both is taken for one count of the next one."""
    d.holds = d.sound = False
    level = between(d.rng, 0.01, 0.2)

    def coincide(X: Array) -> Array:
        both = level * np.abs(X * np.roll(X, 1, axis=1)) / np.abs(X).mean()
        both = np.minimum(both, 0.4 * np.minimum(np.abs(X), np.abs(np.roll(X, 1, axis=1))))
        return X - both - np.roll(both, -1, axis=1) + np.roll(both, 1, axis=1)

    d.after.append(coincide)


COUNTED_MIXTURES = tuple(Part(act.__name__.replace("_", " "), act) for act in (
    depths, steep_columns, varying_rates, mostly_pure, hardly_pure, few_counts, many_counts, dark_counts,
    slight_power, dead_time, flickering, slight_extra, background_rate, contaminated, twins_as_one,
    smallest_lost, quenched_columns, between_two_looks, ageing, half_counted, slightly_multiplied,
    neighbours_counted,
))  # fmt: skip
