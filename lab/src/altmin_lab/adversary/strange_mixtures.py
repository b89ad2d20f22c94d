"""Perturbations of non-negative factorizations that only judge: laboratories, surveys, texts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from altmin_lab.adversary.compose import Array, Draft, Part, between, whole
from altmin_lab.adversary.cones import features


def _some(d: Draft, low: float, high: float) -> Array:
    """Which samples, as a column: a share between these."""
    return np.asarray(d.rng.random((len(d.codes), 1)) < d.rng.uniform(low, high))


def _columns(d: Draft, low: float, high: float) -> Array:
    """Which features of the table: a share between these, and one at least."""
    W = d.factors.shape[1]
    return np.asarray(d.rng.permutation(W) < max(d.rng.uniform(low, high) * W, 1))


def _extended(d: Draft, others: Array, share: Array) -> None:
    """This share of each weight belongs to other features: all made the samples, and fewer were asked for."""
    d.holds = d.sound = False
    d.asked = len(d.factors)
    d.factors = np.vstack([d.factors, others])
    d.codes = np.hstack([(1 - share) * d.codes, share * d.codes])


def _shown(d: Draft, change: Callable[[Array], Array]) -> None:
    """Samples are no mixtures any more; what is true of a feature is what it shows alone."""
    d.holds = d.sound = False
    X = d.codes @ d.factors
    d.factors = change(d.factors)
    d.after.append(lambda _: change(X))


def self_absorbed(d: Draft) -> None:
    """What the samples send out is swallowed by what is in them, each feature in places of its own."""
    d.holds = d.sound = False
    D, W = d.factors.shape
    swallows = d.rng.gamma(0.5, size=(D, W)) * d.rng.uniform(0.5, 2.0)
    X = (d.codes @ d.factors) * np.exp(-np.abs(d.codes) @ swallows)
    d.factors = d.factors * np.exp(-swallows)  # what each of them shows alone
    d.after.append(lambda _: X)


def renamed(d: Draft) -> None:
    """From some sample on a part of the columns go by each other's names."""
    moved = np.flatnonzero(_columns(d, 0.2, 0.7))
    order = np.arange(d.factors.shape[1])
    order[moved] = np.roll(moved, 1)
    late = np.arange(len(d.codes))[:, None] >= d.rng.uniform(0.3, 0.8) * len(d.codes)
    _extended(d, d.factors[:, order], late)


def derived_columns(d: Draft) -> None:
    """The table holds columns that were computed from others: roots of products of two."""
    W = d.factors.shape[1]
    pairs = d.rng.integers(W, size=(2, whole(d.rng, W // 5, W // 2)))

    def derive(X: Array) -> Array:
        product = X[:, pairs[0]] * X[:, pairs[1]]
        return np.hstack([X, np.sign(product) * np.sqrt(np.abs(product))])

    _shown(d, derive)


def broadening(d: Draft) -> None:
    """Columns run into their neighbours, the more the later the sample."""
    d.holds = d.sound = False
    part = d.rng.uniform(0.15, 0.33) * np.linspace(0, 1, len(d.codes))[:, None]
    d.after.append(lambda X: (1 - 2 * part) * X + part * (np.roll(X, 1, axis=1) + np.roll(X, -1, axis=1)))


def closed_blocks(d: Draft) -> None:
    """Columns come in blocks, as questions do, and are shares of the sum of their block."""
    W = d.factors.shape[1]
    block = d.rng.permutation(W) * whole(d.rng, 4, 8) // W

    def close(X: Array) -> Array:
        sums = np.stack([np.abs(X[:, block == b]).sum(axis=1) for b in range(block.max() + 1)], axis=1)
        return X / np.maximum(sums, 0.02 * sums.mean())[:, block]

    _shown(d, close)


def five_grades(d: Draft) -> None:
    """Values are grades from 0 to 4, each as frequent in its column as the others."""
    d.holds = d.sound = False

    def grade(X: Array) -> Array:
        marks = np.quantile(X, [0.2, 0.4, 0.6, 0.8], axis=0)
        return np.asarray((X > marks[:, None]).sum(axis=0).astype(float))

    d.last.append(grade)


def reverse_coded(d: Draft) -> None:
    """Some people answered a part of the questions the wrong way round."""
    d.holds = d.sound = False
    rows, asked = _some(d, 0.08, 0.5), _columns(d, 0.15, 0.6)
    d.after.append(lambda X: np.where(rows & asked, X.max(axis=0) + X.min(axis=0) - X, X))


def slow_columns(d: Draft) -> None:
    """Some columns are means of the last few samples, the others aren't."""
    d.holds = d.sound = False
    slow, length = _columns(d, 0.2, 0.6), whole(d.rng, 2, 6)

    def lag(X: Array) -> Array:
        mean = np.mean([np.roll(X, i, axis=0) for i in range(length)], axis=0)
        return np.where(slow, mean, X)

    d.after.append(lag)


def divided_in_batches(d: Draft) -> None:
    """Each column was divided by its mean within every small batch of samples."""
    d.holds = d.sound = False
    batch = np.arange(len(d.codes)) // whole(d.rng, 5, 20)

    def divide(X: Array) -> Array:
        level = np.array([np.abs(X[batch == b]).mean(axis=0) for b in range(batch[-1] + 1)])
        usual = np.abs(X).mean(axis=0)
        return X * (usual / np.maximum(level, 0.1 * usual + 1e-300))[batch]

    d.after.append(divide)


def interfering(d: Draft) -> None:
    """Waves add up before they are squared, a part of them: where two features meet there is more."""
    d.holds = d.sound = False
    part = d.rng.uniform(0.2, 1.0)
    each = d.codes[:, :, None] * d.factors
    wave = np.sum(np.sign(each) * np.sqrt(np.abs(each)), axis=1)
    d.after.append(lambda X: (1 - part) * X + part * wave * np.abs(wave))


def most_of_it_kept(d: Draft) -> None:
    """Of each sample only the largest entries were kept, those that make up most of it."""
    share = d.rng.uniform(0.6, 0.9)

    def keep(X: Array) -> Array:
        order = np.argsort(-np.abs(X), axis=1)
        size = np.take_along_axis(np.abs(X), order, axis=1)
        before = np.cumsum(size, axis=1) - size
        kept = np.empty(X.shape, bool)
        np.put_along_axis(kept, order, before < share * size.sum(axis=1, keepdims=True), axis=1)
        return np.where(kept, X, 0.0)

    _shown(d, keep)


def largest_lost(d: Draft) -> None:
    """The largest entries of each sample were off the scale, and left out."""
    many = whole(d.rng, 1, 3)

    def lose(X: Array) -> Array:
        order = np.argsort(np.argsort(-X, axis=1), axis=1)
        return np.where(order < many, 0.0, X)

    _shown(d, lose)


def piled_up(d: Draft) -> None:
    """Two hits at once count as one, at the sum of their places."""
    share, W = d.rng.uniform(0.5, 0.9), d.factors.shape[1]

    def pile(X: Array) -> Array:
        P = X / np.maximum(np.abs(X).sum(axis=1, keepdims=True), 1e-300)
        both = np.fft.irfft(np.fft.rfft(P, 2 * W, axis=1) ** 2, 2 * W, axis=1)[:, :W]
        return (1 - share) * X + share * np.round(both, 14) * np.abs(X).sum(axis=1, keepdims=True)

    _shown(d, pile)


def two_forms(d: Draft) -> None:
    """Every feature has two forms, in a proportion that differs from sample to sample, as with acidity."""
    other = d.factors * np.exp(d.rng.uniform(0.4, 1.0) * d.rng.standard_normal(d.factors.shape))
    _extended(d, other, d.rng.uniform(0, d.rng.uniform(0.4, 1.0), (len(d.codes), 1)))


def same_distribution(d: Draft) -> None:
    """All samples were given the same values, each in an order of its own."""
    values = np.sort(d.codes @ d.factors, axis=1).mean(axis=0)

    def normalise(X: Array) -> Array:
        return np.asarray(values[np.argsort(np.argsort(X, axis=1, kind="stable"), axis=1, kind="stable")])

    _shown(d, normalise)


def another_panel(d: Draft) -> None:
    """In some samples a part of the columns wasn't measured."""
    rows, lost = _some(d, 0.1, 0.6), _columns(d, 0.15, 0.6)
    _extended(d, np.where(lost, 0.0, d.factors), rows)


def bridged(d: Draft) -> None:
    """In some samples a run of columns was spoilt, and bridged by a straight line between its ends."""
    W, rows = d.factors.shape[1], _some(d, 0.1, 0.6)
    length = whole(d.rng, max(W // 6, 3), W // 2)
    first = whole(d.rng, 0, W - length - 1)
    t = np.linspace(0, 1, length + 1)

    def bridge(X: Array) -> Array:
        line = X.copy()
        line[:, first : first + length + 1] = np.outer(X[:, first], 1 - t) + np.outer(X[:, first + length], t)
        return line

    _extended(d, bridge(d.factors), rows)


def only_in_mixtures(d: Draft) -> None:
    """One more feature is there only where no other one prevails, and nobody asked for it."""
    d.holds = d.sound = False
    D, W = d.factors.shape
    even = 1 - np.abs(d.codes).max(axis=1) / np.maximum(np.abs(d.codes).sum(axis=1), 1e-300)
    d.factors = np.vstack([d.factors, features(d.rng, 1, W, "sparse")])
    d.codes = np.hstack([d.codes, (d.rng.uniform(0.3, 1.0) * even)[:, None]])
    d.asked = D


def tide(d: Draft) -> None:
    """One more feature comes and goes along the samples, and nobody asked for it."""
    d.holds = d.sound = False
    (D, W), n = d.factors.shape, len(d.codes)
    wave = d.rng.uniform(0.15, 0.5) * np.sin(np.linspace(0, d.rng.uniform(3, 40), n)[:, None]) ** 2
    d.factors = np.vstack([d.factors, features(d.rng, 1, W, "dense")])
    d.codes = np.hstack([(1 - wave) * d.codes, wave])
    d.asked = D


def turned_down(d: Draft) -> None:
    """A control turns columns down where they have been large in the samples before."""
    d.holds = d.sound = False
    level, memory = d.rng.uniform(0.3, 2.0), d.rng.uniform(0.3, 0.8)

    def turn(X: Array) -> Array:
        usual, past = np.abs(X).mean(axis=0) + 1e-300, np.abs(X).mean(axis=0)
        out = np.empty_like(X)
        for i, x in enumerate(X):
            out[i] = x / (1 + level * past / usual)
            past = memory * past + (1 - memory) * np.abs(x)
        return out

    d.after.append(turn)


# --- data that are right


def tailed_noise(d: Draft) -> None:
    """Noise has heavy tails (Student, three degrees of freedom); counts stay whole."""
    level = between(d.rng, 0.004, 0.03)

    def add(X: Array) -> Array:
        X = X + level * np.sqrt(np.mean(X**2) / 3) * d.rng.standard_t(3, X.shape)
        return np.maximum(np.round(X), 0.0) if np.any(d.counts) else X

    d.last.append(add)


def pairs(d: Draft) -> None:
    """No sample holds more than two features."""
    order = np.argsort(np.argsort(d.codes, axis=1), axis=1)
    d.codes = np.where(order >= d.codes.shape[1] - 2, d.codes, 0.0)
    d.codes = d.codes / d.codes.sum(axis=1, keepdims=True)


def schools(d: Draft) -> None:
    """Half of the samples are close to one of a few usual mixtures."""
    n, D = d.codes.shape
    many = whole(d.rng, 3, 12)
    usual = d.rng.dirichlet(np.ones(D), many)[d.rng.integers(many, size=n)]
    near = _some(d, 0.4, 0.6)
    d.codes = np.where(near, 0.85 * usual + 0.15 * d.codes, d.codes)


def zipf(d: Draft) -> None:
    """Columns are as large as one over their rank."""
    W = d.factors.shape[1]
    d.factors = d.factors / (1 + d.rng.permutation(W)) ** d.rng.uniform(0.5, 1.0)


def own_columns(d: Draft) -> None:
    """A part of the columns belongs to one feature each."""
    D, W = d.factors.shape
    owner = np.where(_columns(d, 0.3, 0.8), d.rng.integers(D, size=W), -1)
    d.factors = np.where((owner < 0) | (owner == np.arange(D)[:, None]), d.factors, 0.0)


def present(d: Draft) -> None:
    """Features are present or not, each by itself, and those that are present in equal amounts."""
    n, D = d.codes.shape
    on = d.rng.random((n, D)) < d.rng.uniform(1.0, 1.6) / D
    on[np.arange(n), d.rng.integers(D, size=n)] |= ~on.any(axis=1)
    d.codes = on / on.sum(axis=1, keepdims=True)


def related(d: Draft) -> None:
    """Some features like to come together and others avoid each other, and all are alone at times."""
    n, D = d.codes.shape
    x = d.rng.standard_normal((n, D)) @ d.rng.standard_normal((D, D)) * 3.0 / np.sqrt(D)
    mixed = np.exp(x - x.max(axis=1, keepdims=True))
    rest = _some(d, 0.5, 0.8)
    d.codes = np.where(rest, mixed / mixed.sum(axis=1, keepdims=True), d.codes)


STRANGE_MIXTURES = tuple(Part(act.__name__.replace("_", " "), act, held_out=True) for act in (
    self_absorbed, renamed, derived_columns, broadening, closed_blocks, five_grades, reverse_coded,
    slow_columns, divided_in_batches, interfering, most_of_it_kept, largest_lost, piled_up, two_forms,
    same_distribution, another_panel, bridged, only_in_mixtures, tide, turned_down, tailed_noise, pairs,
    schools, zipf, own_columns, present, related,
))  # fmt: skip
