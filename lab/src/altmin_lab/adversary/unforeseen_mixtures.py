"""Perturbations of non-negative factorizations that only judge, by somebody who knew no rule of the verdicts.

Where features were left out the whole can't be found; where samples were spoilt the error against the true
features, or against what they show alone, says whether they were found all the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial import cKDTree

from altmin_lab.adversary.compose import Array, Draft, Part, between, sized, whole
from altmin_lab.adversary.cones import features


def _some(d: Draft, low: float, high: float) -> Array:
    """Which samples, as a column: a share between these."""
    return np.asarray(d.rng.random((len(d.codes), 1)) < d.rng.uniform(low, high))


def _spoilt(d: Draft, change: Callable[[Array], Array], last: bool = False) -> None:
    """Samples are no mixtures any more; the features stay what is true."""
    d.holds = False
    (d.last if last else d.after).append(change)


def _shown(d: Draft, change: Callable[[Array], Array]) -> None:
    """Samples are no mixtures any more; what is true of a feature is what it shows alone."""
    d.holds = False
    X = d.codes @ d.factors
    d.factors = change(d.factors)
    d.after.append(lambda _: change(X))


def _more(d: Draft, others: Array, codes: Array) -> None:
    """More features with these weights, which weren't asked for."""
    d.holds = d.sound = False
    d.asked = len(d.factors)
    d.factors = np.vstack([d.factors, others])
    d.codes = np.hstack([d.codes, codes])


def _forms(d: Draft, others: Array, share: Array) -> None:
    """This share of each weight belongs to another form of its feature; one form of each was asked for."""
    codes, d.codes = d.codes, (1 - share) * d.codes
    _more(d, others, share * codes)


def _like(d: Draft, many: int, kind: str = "sparse") -> Array:
    """Features of the size of those that there are."""
    return features(d.rng, many, d.factors.shape[1], kind) * float(np.abs(d.factors).mean())


def _new_weights(d: Draft, codes: Array) -> None:
    d.codes = codes / np.maximum(codes.sum(axis=1, keepdims=True), 1e-300)


# --- more features than were asked for


def templates(d: Draft) -> None:
    """Half of the texts begin with one of several templates, as much of it as there is of the text."""
    many = whole(d.rng, 3, 6)
    which = np.eye(many)[d.rng.integers(many, size=len(d.codes))]
    amount = np.where(_some(d, 0.3, 0.7), d.rng.uniform(0.1, 0.5, (len(d.codes), 1)), 0.0)
    d.codes = (1 - amount) * d.codes
    _more(d, _like(d, many), amount * which)


def cell_cycle(d: Draft) -> None:
    """A cycle runs in all samples, each at its own hour: columns rise and fall one after the other."""
    W = d.factors.shape[1]
    own = np.where(d.rng.random(W) < d.rng.uniform(0.2, 0.6), 2 * np.pi * d.rng.random(W), np.nan)
    hour = 2 * np.pi * d.rng.random((len(d.codes), 1))
    level = between(d.rng, 0.2, 1.0) * float(np.abs(d.factors).mean())
    d.sound = False
    _spoilt(d, lambda X: X + np.nan_to_num(level * (1 + np.cos(hour - own))))


def shade(d: Draft) -> None:
    """In the shade some columns get less light than others, and samples lie more or less in the shade."""
    shaded = d.factors * d.rng.uniform(0.0, 1.0, d.factors.shape[1]) ** between(d.rng, 0.5, 2.0)
    _forms(d, shaded, np.where(_some(d, 0.3, 1.0), d.rng.uniform(0, 1, (len(d.codes), 1)), 0.0))


def dirty_standards(d: Draft) -> None:
    """Samples in which a feature prevails hold something foreign, too."""
    most = d.codes.max(axis=1, keepdims=True)
    amount = np.where(most > 0.75, d.rng.uniform(0.1, 0.5, most.shape), 0.0)
    d.codes = (1 - amount) * d.codes
    _more(d, _like(d, 1, "dense"), amount)


def warm_samples(d: Draft) -> None:
    """Columns answer to the temperature, each in its own way, and every sample has another one."""
    change = 1 + d.rng.uniform(0.3, 1.0) * d.rng.uniform(-1, 1, d.factors.shape[1])
    _forms(d, d.factors * change, d.rng.uniform(0, 1, (len(d.codes), 1)))


def coarse_half(d: Draft) -> None:
    """Some samples were measured with columns twice as wide, and read off in between."""
    blurred = (d.factors + np.roll(d.factors, 1, axis=1)) / 2
    blurred[:, ::2] = np.roll(blurred, -1, axis=1)[:, ::2]
    _forms(d, blurred, _some(d, 0.15, 0.6).astype(float))


def blank(d: Draft) -> None:
    """Samples are of very different size, and the same blank is in each of them."""
    d.codes = d.codes * np.exp(0.7 * d.rng.standard_normal((len(d.codes), 1)))
    _more(d, _like(d, 1, "dense"), np.full((len(d.codes), 1), between(d.rng, 0.1, 0.8)))


def numbered(d: Draft) -> None:
    """The number of the sample is one of the columns."""
    d.factors = np.hstack([d.factors, np.zeros((len(d.factors), 1))])
    other = np.zeros((1, d.factors.shape[1]))
    other[0, -1] = between(d.rng, 0.3, 3.0) * float(np.linalg.norm(d.factors, axis=1).mean())
    _more(d, other, np.linspace(0, 1, len(d.codes))[:, None])


def sold_out(d: Draft) -> None:
    """For some time one feature is replaced by the next best, which is similar."""
    other = d.factors[:1] + d.rng.uniform(0.5, 1.5) * (_like(d, 1) - d.factors[:1])
    while_out = np.abs(np.linspace(0, 1, len(d.codes)) - d.rng.random()) < d.rng.uniform(0.1, 0.3)
    own = np.where(while_out, d.codes[:, 0], 0.0)[:, None]
    d.codes[:, :1] -= own
    _more(d, other, own)


def visitors(d: Draft) -> None:
    """Some samples hold something that no other sample has."""
    amount = np.where(_some(d, 0.03, 0.15), d.rng.uniform(0.2, 0.8, (len(d.codes), 1)), 0.0)
    others = _like(d, len(d.codes))
    _spoilt(d, lambda X: (1 - amount) * X + amount * others)


# --- weights from which features can't be told


def ambient(d: Draft) -> None:
    """Every sample takes up some of what floats around, which is the mean of all."""
    least = between(d.rng, 0.06, 0.3)
    share = d.rng.uniform(least, least + 0.3, (len(d.codes), 1))
    d.codes = (1 - share) * d.codes + share * d.codes.mean(axis=0)


def index_hopping(d: Draft) -> None:
    """A part of each sample belongs to another one, which was measured at the same time."""
    share = d.rng.uniform(0.06, between(d.rng, 0.1, 0.4), (len(d.codes), 1))
    d.codes = (1 - share) * d.codes + share * d.codes[d.rng.permutation(len(d.codes))]


def kinetics(d: Draft) -> None:
    """Features are substances that become one another in turn: only the first and the last are ever alone."""
    n, D = d.codes.shape
    t = d.rng.uniform(0, D, (n, 1))
    steps = np.exp(-((t - np.arange(D)) ** 2) / d.rng.uniform(0.5, 1.5))
    _new_weights(d, steps * d.rng.uniform(0.9, 1.1, (n, D)))


def solvent(d: Draft) -> None:
    """One feature, which was asked for, is at least a third of every sample."""
    share = d.rng.uniform(0.3, 0.9, (len(d.codes), 1))
    d.codes *= 1 - share
    d.codes[:, :1] += share


def impure_reagents(d: Draft) -> None:
    """What was put in for each feature holds a fixed part of the others."""
    rest, D = d.rng.uniform(0.12, 0.4), d.codes.shape[1]
    d.codes = d.codes @ ((1 - rest) * np.eye(D) + rest * d.rng.dirichlet(np.ones(D), D))


def inner_feature(d: Draft) -> None:
    """One feature is nearly a mixture of the others, whatever its samples."""
    mix = d.rng.dirichlet(np.full(len(d.factors) - 1, 2.0))
    away = between(d.rng, 0.003, 0.1)
    d.factors[0] = (1 - away) * mix @ d.factors[1:] + away * d.factors[0]
    d.holds = False


def ball(d: Draft) -> None:
    """Weights fill a ball around even ones, which hardly touches what would be without a feature."""
    n, D = d.codes.shape
    v = d.rng.standard_normal((n, D))
    v -= v.mean(axis=1, keepdims=True)
    v *= d.rng.random((n, 1)) ** (1 / (D - 1)) / np.linalg.norm(v, axis=1, keepdims=True)
    d.codes = 1 / D + d.rng.uniform(0.5, 0.97) * v / np.sqrt(D * (D - 1))


def survivors(d: Draft) -> None:
    """Samples with much in a group of columns didn't survive."""
    group = d.rng.random(d.factors.shape[1]) < 0.3
    load = np.abs(d.codes @ d.factors)[:, group].sum(axis=1)
    d.codes = d.codes[load <= np.quantile(load, d.rng.uniform(0.3, 0.7))]
    d.holds = False


def fixed_recipes(d: Draft) -> None:
    """Samples are a few recipes, hardly varied; no recipe is a single feature."""
    n, D = d.codes.shape
    recipes = d.rng.dirichlet(np.full(D, 1.0), whole(d.rng, D, 3 * D))
    recipes = 0.8 * recipes + 0.2 / D
    varied = recipes[d.rng.integers(len(recipes), size=n)] * np.exp(0.1 * d.rng.standard_normal((n, D)))
    _new_weights(d, varied)


# --- samples that were spoilt


def intimate(d: Draft) -> None:
    """Light is scattered from grain to grain: roots of what isn't swallowed are what mixes."""
    top = float(np.abs(d.factors).max()) * d.rng.uniform(1.02, 1.3)
    X = np.clip(d.codes @ (1 - np.sqrt(1 - np.clip(d.factors / top, 0.0, 1.0))), 0.0, 1.0)
    d.factors = np.maximum(d.factors, 0.0)
    _spoilt(d, lambda _: top * (1 - (1 - X) ** 2))


def multi_words(d: Draft) -> None:
    """Where two columns occur together they are counted as a third one."""
    W = d.factors.shape[1]
    pairs = d.rng.permutation(W)[: W // 2 * 2].reshape(2, -1)[:, : whole(d.rng, W // 5, W // 2)]

    def join(X: Array) -> Array:
        both = np.minimum(np.abs(X[:, pairs[0]]), np.abs(X[:, pairs[1]]))
        X = X.copy()
        for one in pairs:
            X[:, one] = np.sign(X[:, one]) * (np.abs(X[:, one]) - both)
        return np.hstack([X, both])

    _shown(d, join)


def overcompensated(d: Draft) -> None:
    """Too much of what columns spill into others was taken off, and what fell below 0 is 0."""
    W = d.factors.shape[1]
    spill = np.where(d.rng.random((W, W)) < 0.3, d.rng.random((W, W)), 0.0)
    spill *= d.rng.uniform(0.2, 0.8) / spill.sum(axis=0).max()
    _shown(d, lambda X: np.sign(X) * np.maximum(np.abs(X) - np.abs(X) @ spill, 0.0))


def overflowing(d: Draft) -> None:
    """What a column can't hold goes over into the next one."""
    top = np.quantile(np.abs(d.codes @ d.factors), d.rng.uniform(0.6, 0.9))

    def flow(X: Array) -> Array:
        over = np.maximum(X - top, 0.0)
        return X - over + np.roll(over, 1, axis=1)

    _shown(d, flow)


def lost_with_one(d: Draft) -> None:
    """Entries are lost at random, the more often the more there is of one feature."""
    lost = d.rng.uniform(0.2, 0.7) * d.codes[:, :1] / d.codes[:, 0].max()
    _spoilt(d, lambda X: np.where(d.rng.random(X.shape) < lost, 0.0, X), last=True)


def last_value_kept(d: Draft) -> None:
    """Missing entries were filled with the value of the sample before."""
    share = between(d.rng, 0.08, 0.4)

    def fill(X: Array) -> Array:
        there = d.rng.random(X.shape) >= share
        there[0] = True
        last = np.maximum.accumulate(np.where(there, np.arange(len(X))[:, None], 0), axis=0)
        return np.take_along_axis(X, last, axis=0)

    _spoilt(d, fill, last=True)


def filled_by_nearest(d: Draft) -> None:
    """Missing entries were filled from the sample that is most alike in the others."""
    share = d.rng.uniform(0.1, 0.5)

    def fill(X: Array) -> Array:
        lost = d.rng.random(X.shape) < share
        known = np.where(lost, 0.0, X)
        near = cKDTree(known).query(known, k=2)[1][:, 1]
        return np.where(lost, X[near], X)

    _spoilt(d, fill, last=True)


def too_few_kept(d: Draft) -> None:
    """Only the largest principal components were kept, one fewer than there are features."""

    def project(X: Array) -> Array:
        _, _, Vt = np.linalg.svd(X, full_matrices=False)
        V = Vt[: max(len(d.factors) - 1, 1)]
        return X @ V.T @ V

    _spoilt(d, project, last=True)


def centred(d: Draft) -> None:
    """Of each column its mean was taken, and it was divided by its spread."""
    X = d.codes @ d.factors
    spread = np.maximum(X.std(axis=0), 1e-2 * X.std())
    middle = X.mean(axis=0)
    d.factors = (d.factors - middle) / spread
    d.holds, d.counts = False, 0.0
    d.after.append(lambda _: (X - middle) / spread)


def inhibited(d: Draft) -> None:
    """A column is weakened by its neighbours, as in the eye."""
    level = between(d.rng, 0.3, 2.0)

    def inhibit(X: Array) -> Array:
        size = np.abs(X)
        near = (np.roll(size, 1, axis=1) + np.roll(size, -1, axis=1)) / 2
        return np.asarray(X / (1 + level * near / size.mean()))

    _shown(d, inhibit)


def per_column_depth(d: Draft) -> None:
    """Each entry was measured for a time of its own, long or short, which nobody wrote down."""
    level = d.rng.uniform(0.3, 1.0)
    gains = np.exp(level * d.rng.standard_normal((len(d.codes), d.factors.shape[1])))
    _spoilt(d, lambda X: X * gains)


def common_part_removed(d: Draft) -> None:
    """What is common to all was taken out: a fixed change of the columns, so features lack it, too."""
    part = d.rng.uniform(0.4, 1.0)
    d.holds, d.counts = False, 0.0
    _, _, Vt = np.linalg.svd(d.codes @ d.factors, full_matrices=False)
    d.factors = d.factors - part * d.factors @ np.outer(Vt[0], Vt[0])


_MILD: tuple[Callable[[Draft], Callable[[Array], Array]], ...] = (
    lambda d: lambda X: np.minimum(X, np.quantile(X, 0.95)),
    lambda d: lambda X: X * np.exp(np.linspace(-1, 1, len(X))[:, None] * d.rng.standard_normal(X.shape[1])),
    lambda d: lambda X: X + d.rng.random((len(X), 1)) * np.roll(X, 1, axis=1),
    lambda d: lambda X: X + d.rng.random((len(X), 1)) * np.abs(X).mean(),
    lambda d: lambda X: np.where(d.rng.random(X.shape) < 0.1, 0.0, X),
    lambda d: lambda X: np.sign(X) * np.abs(X) ** 1.3,
    lambda d: lambda X: X + X * np.roll(X, 1, axis=1),
    lambda d: lambda X: X + np.roll(X, 1, axis=0),
)


def _mild(d: Draft, many: int) -> None:
    for number in d.rng.permutation(len(_MILD))[:many]:
        _spoilt(d, sized(_MILD[number](d), between(d.rng, 0.05, 0.15)))


def two_mild_changes(d: Draft) -> None:
    """Two things went wrong, each a little."""
    _mild(d, 2)


def four_mild_changes(d: Draft) -> None:
    """Four things went wrong, each a little."""
    _mild(d, 4)


# --- data that are right


def doublets(d: Draft) -> None:
    """Some samples are two that stuck together."""
    rows = _some(d, 0.03, 0.25)
    d.codes = np.where(rows, d.codes + d.codes[d.rng.permutation(len(d.codes))], d.codes)


def inverse_frequencies(d: Draft) -> None:
    """Columns were divided by how often they occur, as words of texts are."""
    X = np.abs(d.codes @ d.factors)
    often = np.mean(X > 0.1 * X.mean(), axis=0)
    d.factors = d.factors * (1 + np.log(1 / np.maximum(often, 0.02)))


def denoised(d: Draft) -> None:
    """Of samples with noise only as many principal components were kept as there are features."""
    d.noise = max(d.noise, between(d.rng, 0.003, 0.05))

    def project(X: Array) -> Array:
        _, _, Vt = np.linalg.svd(X, full_matrices=False)
        V = Vt[: len(d.factors)]
        return X @ V.T @ V

    d.last.append(project)


def peaks(d: Draft) -> None:
    """Features are a few peaks each, which run into one another, on a line of columns."""
    D, W = d.factors.shape
    x = np.arange(W)[:, None, None]
    place, height = d.rng.uniform(0, W, (D, 4)), d.rng.uniform(0.3, 1.5, (D, 4))
    d.factors = np.sum(height * np.exp(-(((x - place) / d.rng.uniform(1.0, W / 12, (D, 4))) ** 2)), axis=2).T


def none_below_a_tenth(d: Draft) -> None:
    """A feature either makes up a tenth of a sample or isn't there."""
    _new_weights(d, np.where(d.codes < 0.1, 0.0, d.codes))


def bleaching(d: Draft) -> None:
    """Features fade from the first to the last sample, each at its own rate: less of each, and no others."""
    rate = d.rng.uniform(0, 2, d.codes.shape[1])
    d.codes = d.codes * np.exp(-rate * np.linspace(0, 1, len(d.codes))[:, None])


def matrix_effect(d: Draft) -> None:
    """All of a sample is weaker the more it holds of one feature."""
    d.codes = d.codes / (1 + d.rng.uniform(0.5, 5.0) * d.codes[:, :1])


def bridged_samples(d: Draft) -> None:
    """Samples that got lost were replaced by the mean of the one before and the one after."""
    rows = _some(d, 0.05, 0.3)
    d.codes = np.where(rows, (np.roll(d.codes, 1, axis=0) + np.roll(d.codes, -1, axis=0)) / 2, d.codes)


def hypermutated(d: Draft) -> None:
    """A few samples are up to thirty times as large as the others."""
    rows = _some(d, 0.01, 0.04)
    d.codes = np.where(rows, d.codes * d.rng.uniform(5, 30, rows.shape), d.codes)


def studies(d: Draft) -> None:
    """Samples come from some studies, each of which knows a part of the features only."""
    n, D = d.codes.shape
    many = whole(d.rng, 3, 6)
    knows = d.rng.random((many, D)) < 0.7
    knows[0] = True
    codes = d.codes * knows[np.arange(n) * many // n]
    _new_weights(d, np.where(codes.sum(axis=1, keepdims=True) > 0, codes, d.codes))


def weighted_rows(d: Draft) -> None:
    """Samples come as often as they weigh, from once to four times."""
    d.codes = np.repeat(d.codes, d.rng.choice([1, 1, 2, 4], len(d.codes)), axis=0)


def water_peak(d: Draft) -> None:
    """One column is many times as large as all others, in each feature as much as it was."""
    column = int(np.argmin(np.linalg.norm(d.factors - d.factors.mean(), axis=0)))
    d.factors[:, column] = d.factors.mean() * between(d.rng, 3, 10) * d.rng.uniform(0.5, 1.5, len(d.factors))


def coloured_noise(d: Draft) -> None:
    """A little noise that is alike in neighbouring columns; counts stay whole."""
    level, memory = between(d.rng, 0.002, 0.02), d.rng.uniform(0.3, 0.8)

    def add(X: Array) -> Array:
        e = d.rng.standard_normal(X.shape)
        for j in range(1, X.shape[1]):
            e[:, j] = memory * e[:, j - 1] + np.sqrt(1 - memory**2) * e[:, j]
        X = X + level * np.sqrt(np.mean(X**2)) * e
        return np.maximum(np.round(X), 0.0) if np.any(d.counts) else X

    d.last.append(add)


def two_sorts(d: Draft) -> None:
    """Half of the samples are single features, give or take a twentieth, and the rest are even mixtures."""
    n, D = d.codes.shape
    single = np.eye(D)[d.rng.integers(D, size=n)]
    mixed = d.rng.dirichlet(np.full(D, d.rng.uniform(2.0, 6.0)), n)
    d.codes = np.where(_some(d, 0.3, 0.6), 0.97 * single + 0.03 * mixed, mixed)


def ladders(d: Draft) -> None:
    """Samples were made on purpose: two features at a time, in steps of a tenth."""
    n, D = d.codes.shape
    pair = np.argsort(d.rng.random((n, D)), axis=1)[:, :2]
    step = d.rng.integers(0, 11, (n, 1)) / 10
    d.codes = step * np.eye(D)[pair[:, 0]] + (1 - step) * np.eye(D)[pair[:, 1]]


def titration(d: Draft) -> None:
    """A titration in a part of the samples: from one to the next there is more of one feature."""
    share = np.where(_some(d, 0.3, 0.6), np.linspace(0, 1, len(d.codes))[:, None], 0.0)
    d.codes = (1 - share) * d.codes
    d.codes[:, :1] += share


UNFORESEEN_MIXTURES = tuple(Part(act.__name__.replace("_", " "), act, held_out=True) for act in (
    templates, cell_cycle, shade, dirty_standards, warm_samples, coarse_half, blank, numbered, sold_out,
    visitors, ambient, index_hopping, kinetics, solvent, impure_reagents, inner_feature, ball, survivors,
    fixed_recipes, intimate, multi_words, overcompensated, overflowing, lost_with_one, last_value_kept,
    filled_by_nearest, too_few_kept, centred, inhibited, per_column_depth, common_part_removed,
    two_mild_changes, four_mild_changes, doublets, inverse_frequencies, denoised, peaks, none_below_a_tenth,
    bleaching, matrix_effect, bridged_samples, hypermutated, studies, weighted_rows, water_peak,
    coloured_noise, two_sorts, ladders, titration,
))  # fmt: skip
