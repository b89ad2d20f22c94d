"""Perturbations of quadratic models that only judge, by somebody who knew no rule of the verdicts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.signal import lfilter
from scipy.spatial import cKDTree

from altmin_lab.adversary.compose import Array, Part, between, whole
from altmin_lab.adversary.quadratics import Law, direction, low_rank, quadratic


def _spread(law: Law) -> float:
    """Of the target without noise."""
    return float(law.clean().std())


def _curve(law: Law, term: Callable[[Array], Array], size: float) -> None:
    """The target is a fixed function of the features but no quadratic: a term of this size is added."""
    law.holds, law.curved = False, True
    some, usual = term(law.X), law.target
    unit = size * _spread(law) / float(np.std(some))
    law.target = lambda X, y: (y if usual is None else usual(X, y)) + unit * term(X)


def _inexact(law: Law, seen: Callable[[Array], Array]) -> None:
    """Features were recorded as something else than what made the target."""
    law.holds = law.exogenous = False
    law.seen = seen


def _one_inexact(law: Law, change: Callable[[Array], Array]) -> None:
    """The feature that counts most was recorded as something else."""
    j = int(np.argmax(law.w**2 + np.sum(law.M**2, axis=0)))
    own = np.arange(len(law.w)) == j
    _inexact(law, lambda X: np.where(own, change(X[:, j])[:, None], X))


def _redrawn(law: Law, change: Callable[[np.random.Generator, Array], Array]) -> None:
    """Features are made of what they were, and more rows of the same law alike."""
    usual = law.draw
    law.X = change(law.rng, law.X)
    law.draw = lambda rng, n: change(rng, usual(rng, n))


def _own_noise(law: Law, least: float = 0.0) -> Array:
    """Noise that is known beforehand, in the place of what would have been added."""
    e = max(law.noise, least) * _spread(law) * law.rng.standard_normal(len(law.X))
    law.noise = 0.0
    return np.asarray(e)


def _groups(law: Law, low: int, high: int) -> Array:
    """Number of the group of each row; rows of a group follow one another."""
    return np.asarray(np.arange(len(law.X)) // whole(law.rng, low, high))


def _group_sums(values: Array, group: Array) -> Array:
    return np.asarray(np.bincount(group, values)[group])


# --- fixed functions of the features


def table_of_two(law: Law) -> None:
    """Two features are numbered categories, and each pair of them adds something of its own."""
    many = whole(law.rng, 3, 5)

    def categories(rng: np.random.Generator, X: Array) -> Array:
        return np.hstack([rng.integers(many, size=(len(X), 2)), X[:, 2:]])

    _redrawn(law, categories)
    table = law.rng.standard_normal((many, many))
    _curve(law, lambda X: table[X[:, 0].astype(int), X[:, 1].astype(int)], between(law.rng, 0.15, 1.0))


def dose_squared(law: Law) -> None:
    """A feature multiplies the square of another one."""
    _curve(law, lambda X: X[:, 0] * X[:, 1] ** 2, between(law.rng, 0.1, 1.0))


def soft_hinge(law: Law) -> None:
    """A direction counts from some level on only, which begins softly."""
    v, at, speed = direction(law), law.rng.uniform(-1, 1), law.rng.uniform(2, 8)
    _curve(law, lambda X: np.logaddexp(0.0, speed * (X @ v - at)), between(law.rng, 0.2, 1.5))


def rugged(law: Law) -> None:
    """A landscape of hills and valleys in all directions lies on the quadratic."""
    d, speed = law.X.shape[1], law.rng.uniform(0.8, 2.5)
    V, at = speed * law.rng.standard_normal((d, 30)) / np.sqrt(d), law.rng.uniform(0, 2 * np.pi, 30)
    _curve(law, lambda X: np.cos(X @ V + at).sum(axis=1), between(law.rng, 0.1, 1.0))


def weakest_link(law: Law) -> None:
    """The smallest of three directions counts."""
    V = np.stack([direction(law) for _ in range(3)], axis=1)
    _curve(law, lambda X: np.min(X @ V, axis=1), between(law.rng, 0.2, 1.5))


def middle_one(law: Law) -> None:
    """Of three features the one between the two others counts."""
    _curve(law, lambda X: np.median(X[:, :3], axis=1), between(law.rng, 0.2, 1.5))


def production(law: Law) -> None:
    """Sizes of the features multiply, each to a power of its own."""
    powers = law.rng.uniform(-0.3, 0.8, law.X.shape[1])
    _curve(law, lambda X: np.exp(np.log(np.abs(X) + 0.2) @ powers), between(law.rng, 0.15, 1.0))


_TERMS: tuple[Callable[[Array, Array], Array], ...] = (
    lambda X, v: (X @ v) ** 3,
    lambda X, v: np.abs(X @ v),
    lambda X, v: np.sin(2 * X @ v),
    lambda X, v: X[:, 0] * X[:, 1] * X[:, 2],
    lambda X, v: (X @ v > 0.3).astype(float),
    lambda X, v: np.maximum(X[:, 0], X[:, 1]),
    lambda X, v: np.exp(np.clip(X @ v, -3, 3)),
)


def _mild(law: Law, many: int) -> None:
    for number in law.rng.permutation(len(_TERMS))[:many]:
        term = partial(_TERMS[number], v=direction(law))
        _curve(law, term, between(law.rng, 0.08, 0.3))


def two_mild_terms(law: Law) -> None:
    """Two terms that are no quadratics, both small."""
    _mild(law, 2)


def mild_term_and_error(law: Law) -> None:
    """A small term that is no quadratic, and small errors of the features."""
    _mild(law, 1)
    level = law.rng.uniform(0.15, 0.35)
    _inexact(law, lambda X: X + level * X.std(axis=0) * law.rng.standard_normal(X.shape))


# --- hidden causes


def only_takers(law: Law) -> None:
    """Only rows that decided to take part are known, and what moved them moves the target, too."""
    law.holds = law.exogenous = False
    law.by_nature = True  # the mean of what moved them is a curve that differs little from a quadratic
    e, v = _own_noise(law, 0.3), direction(law)
    part = law.rng.uniform(0.5, 0.95) * law.rng.choice([-1, 1])
    move = part * e / e.std() + np.sqrt(1 - part**2) * law.rng.standard_normal(len(e))
    law.target = lambda X, y: y + e
    law.rows = np.flatnonzero(move + law.rng.uniform(1, 2) * (law.X @ v) > law.rng.uniform(-0.5, 0.7))


def groups_reverse(law: Law) -> None:
    """Groups lie apart from one another, and what sets them apart counts the other way round."""
    law.holds = law.exogenous = False
    many, v = whole(law.rng, 3, 6), direction(law)
    place = law.rng.integers(many, size=len(law.X)) - (many - 1) / 2
    law.X = law.X + law.rng.uniform(2, 4) * place[:, None] * v
    level = between(law.rng, 0.3, 2.0) * float(np.std(law.X @ law.w)) if law.w.any() else 0.5 * _spread(law)
    law.target = lambda X, y: y - level * place


def sluggish(law: Law) -> None:
    """Features change slowly from row to row, and a part of the target stays for the next row."""
    law.holds = law.exogenous = False
    memory, stays = law.rng.uniform(0.6, 0.95), law.rng.uniform(0.2, 0.8)
    law.X = np.asarray(lfilter([np.sqrt(1 - memory**2)], [1.0, -memory], law.X, axis=0))
    law.target = lambda X, y: np.asarray(lfilter([1.0], [1.0, -stays], y - y.mean()))


def same_season(law: Law) -> None:
    """A feature and the target have the same season, each for a reason of its own."""
    law.holds = law.exogenous = False
    n = len(law.X)
    wave = np.sqrt(2) * np.sin(2 * np.pi * law.rng.uniform(3, 12) * np.arange(n) / n)
    law.X[:, 0] += law.rng.uniform(0.7, 2.0) * wave
    level = between(law.rng, 0.3, 1.5) * _spread(law)
    law.target = lambda X, y: y + level * wave


# --- targets that were recoded, or follow another law at times


def reform(law: Law) -> None:
    """From some row on another quadratic is in force."""
    law.holds = law.sound = False
    other, shift = low_rank(law.rng, law.X.shape[1], law.rank), direction(law) * np.linalg.norm(law.w)
    late = np.arange(len(law.X)) >= law.rng.uniform(0.25, 0.75) * len(law.X)
    law.target = lambda X, y: np.where(late, quadratic(X, other) + X @ shift, y)


def worn_out(law: Law) -> None:
    """The instrument that measures the target answers less and less from row to row."""
    law.holds = law.sound = False
    left = law.rng.uniform(0.1, 0.6)
    law.target = lambda X, y: y * np.linspace(1, left, len(y))


def factor_timing(law: Law) -> None:
    """What a direction counts for swings slowly, as if somebody traded it."""
    law.holds = False
    v, level = direction(law), between(law.rng, 0.2, 1.5) * _spread(law)
    mood = lfilter([np.sqrt(1 - 0.98**2)], [1.0, -0.98], law.rng.standard_normal(len(law.X)))
    law.target = lambda X, y: y + level * mood * (X @ v)


def marked_in_class(law: Law) -> None:
    """Targets are marks, given by comparison with the others of the class."""
    law.holds = law.sound = False
    group = _groups(law, 5, 30)

    def mark(X: Array, y: Array) -> Array:
        many = _group_sums(np.ones(len(y)), group)
        rest = y - _group_sums(y, group) / many
        return np.asarray(rest / np.sqrt(_group_sums(rest**2, group) / many + 0.01 * y.var()))

    law.target = mark


def market_shares(law: Law) -> None:
    """Targets are shares of a market, which a few rows divide among them."""
    law.holds = law.sound = False
    group, strength = _groups(law, 2, 8), law.rng.uniform(0.7, 2.0)

    def share(X: Array, y: Array) -> Array:
        pull = np.exp(strength * np.clip((y - y.mean()) / y.std(), -4, 4))
        return np.asarray(pull / _group_sums(pull, group))

    law.target = share


def hurdle(law: Law) -> None:
    """A row takes part or not, the more likely the larger a direction is; who doesn't has 0."""
    law.holds = law.sound = False
    v, ease = law.rng.uniform(1, 3) * direction(law), law.rng.uniform(-0.5, 1.5)
    part = law.rng.random(len(law.X)) < 1 / (1 + np.exp(-law.X @ v - ease))
    law.target = lambda X, y: np.where(part, y, 0.0)


def differenced(law: Law) -> None:
    """Of features and target the changes from row to row are known."""
    _inexact(law, lambda X: X - np.roll(X, 1, axis=0))
    law.target = lambda X, y: y - np.roll(y, 1)


def summed_rows(law: Law) -> None:
    """Rows are sums of two or three, features and targets alike."""
    n, many = len(law.X), whole(law.rng, 2, 3)
    _inexact(law, lambda X: np.sum([np.roll(X, i, axis=0) for i in range(many)], axis=0))
    law.target = lambda X, y: np.sum([np.roll(y, i) for i in range(many)], axis=0)
    law.rows = np.arange(many - 1, n, many)


# --- features that were recorded as something else


def some_rows_inexact(law: Law) -> None:
    """In some rows the features were measured with error."""
    rows = law.rng.random((len(law.X), 1)) < law.rng.uniform(0.15, 0.7)
    level = law.rng.uniform(0.4, 1.2)
    _inexact(law, lambda X: X + rows * level * X.std(axis=0) * law.rng.standard_normal(X.shape))


def area_means(law: Law) -> None:
    """Of the features the means of the area are known only, to which a few rows belong."""
    group = _groups(law, 2, 5)
    share = law.rng.uniform(0.3, 0.8)
    mean = law.draw(law.rng, group[-1] + 1)[group]
    law.X = np.sqrt(share) * mean + np.sqrt(1 - share) * law.X
    _inexact(law, lambda X: np.sqrt(share) * mean)


def features_between(law: Law) -> None:
    """In some rows features weren't measured, and are the mean of the row before and the one after."""
    rows = law.rng.random((len(law.X), 1)) < law.rng.uniform(0.08, 0.5)
    _inexact(law, lambda X: np.where(rows, (np.roll(X, 1, axis=0) + np.roll(X, -1, axis=0)) / 2, X))


def filled_with_the_target(law: Law) -> None:
    """Missing features were filled with what least squares predicts from the target."""
    lost, e = law.rng.random(law.X.shape) < law.rng.uniform(0.1, 0.5), _own_noise(law)
    law.target = lambda X, y: y + e

    def fill(X: Array) -> Array:
        y = law.clean(X) + e
        known = np.column_stack([np.ones_like(y), y, y**2])
        return np.where(lost, known @ np.linalg.lstsq(known, X, rcond=None)[0], X)

    _inexact(law, fill)


def filled_by_nearest(law: Law) -> None:
    """Missing features were filled from the row that is most alike in the others."""
    lost = law.rng.random(law.X.shape) < law.rng.uniform(0.05, 0.3)

    def fill(X: Array) -> Array:
        known = np.where(lost, X.mean(axis=0), X)
        near = cKDTree(known).query(known, k=2)[1][:, 1]
        return np.where(lost, X[near], X)

    _inexact(law, fill)


def coded_as_99(law: Law) -> None:
    """Missing values of a feature were recorded as one number, far from all others."""
    lost = law.rng.random(len(law.X)) < between(law.rng, 0.01, 0.15)
    code = law.rng.choice([-1, 1]) * law.rng.uniform(4, 10)
    _one_inexact(law, lambda x: np.where(lost, code * x.std(), x))


def ranked_features(law: Law) -> None:
    """Features are ranks."""
    law.sound = False
    _inexact(law, lambda X: np.argsort(np.argsort(X, axis=0), axis=0) / len(X) - 0.5)


def sorted_sensors(law: Law) -> None:
    """The features of each row were sorted."""
    law.sound = False
    _inexact(law, lambda X: np.sort(X, axis=1))


def sign_lost(law: Law) -> None:
    """A feature is known without its sign."""
    _one_inexact(law, np.abs)


def leaky_sensors(law: Law) -> None:
    """Features leak into one another, in some rows more than in others."""
    part = law.rng.uniform(0, between(law.rng, 0.2, 0.9), (len(law.X), 1))
    _inexact(law, lambda X: (1 - part) * X + part * np.roll(X, 1, axis=1))


# --- features from which coefficients can't be told


def dropped_level(law: Law) -> None:
    """Some features stand for the levels of a category, but for one: only one of them is 1, or none."""
    law.holds = False
    many = whole(law.rng, 2, 3)
    law.M[:many] = law.M[:, :many] = 0.0

    def code(rng: np.random.Generator, X: Array) -> Array:
        return np.hstack([np.eye(many + 1)[rng.integers(many + 1, size=len(X))][:, 1:], X[:, many:]])

    _redrawn(law, code)


def total_column(law: Law) -> None:
    """A feature is the sum of two others."""
    law.holds = False
    _redrawn(law, lambda rng, X: np.column_stack([X[:, :-1], X[:, 0] + X[:, 1]]))


def shares_of_a_whole(law: Law) -> None:
    """Features are shares, and sum to the same in each row."""
    law.holds = not law.w.any()  # without linear part and constant they leave no choice
    alpha = law.rng.uniform(0.7, 3.0, (law.X.shape[1],))
    _redrawn(law, lambda rng, X: rng.dirichlet(alpha, len(X)) * len(alpha))


def on_a_sphere(law: Law) -> None:
    """All rows of features have one length."""
    law.holds = not law.w.any()
    _redrawn(law, lambda rng, X: X / np.linalg.norm(X, axis=1, keepdims=True) * np.sqrt(X.shape[1]))


def two_settings(law: Law) -> None:
    """Features are settings, high or low, so that all squares are the same."""
    law.holds = False
    _redrawn(law, lambda rng, X: np.where(X > np.median(X, axis=0), 1.0, -1.0))


def few_settings_tried(law: Law) -> None:
    """Of the settings only some combinations were tried, many times each."""
    law.holds = False
    d = law.X.shape[1]
    tried = law.draw(law.rng, whole(law.rng, d + 2, d * (d + 3) // 2))
    law.X = tried[law.rng.integers(len(tried), size=len(law.X))]


# --- data that are right


def idle_feature(law: Law) -> None:
    """A feature, the number of the row, counts for nothing."""
    law.w[0] = 0.0
    law.M[0] = law.M[:, 0] = 0.0
    law.X[:, 0] = np.linspace(-1, 1, len(law.X))


def constant_feature(law: Law) -> None:
    """A feature is the same in all rows."""
    value = law.rng.uniform(0.5, 3.0)
    law.M[-1] = law.M[:, -1] = 0.0
    _redrawn(law, lambda rng, X: np.column_stack([X[:, :-1], np.full(len(X), value)]))


def principal_components(law: Law) -> None:
    """Features were replaced by other directions of their space, all of the same spread."""
    T = np.linalg.qr(law.rng.standard_normal((law.X.shape[1],) * 2))[0]
    T = T @ np.diag(np.exp(law.rng.uniform(-0.7, 0.7, len(T)))) @ np.linalg.qr(T + np.eye(len(T)))[0]
    back = np.linalg.inv(T)
    law.w, law.M = back @ law.w, back @ law.M @ back.T
    _redrawn(law, lambda rng, X: X @ T)


def asked_by_features(law: Law) -> None:
    """Some rows were asked more often than others, by what their features are."""
    v = law.rng.uniform(0.5, 2.0) * direction(law)
    X = np.vstack([law.X, law.draw(law.rng, 3 * len(law.X))])
    asked = law.rng.random(len(X)) < 1 / (1 + np.exp(-X @ v))
    law.X = X[asked][: len(law.X)]


def watched_until_failure(law: Law) -> None:
    """Each machine is watched until its target is low for the first time."""
    e, group = _own_noise(law), _groups(law, 15, 30)
    q = law.rng.uniform(0.02, 0.08)
    y = law.clean() + e
    failed = np.where(y < np.quantile(y, q), 1.0, 0.0)
    before = np.cumsum(failed) - failed
    law.rows = np.flatnonzero(before == before[np.searchsorted(group, group)])
    law.target = lambda X, y: y + e


def measured_again(law: Law) -> None:
    """Each row was measured two or three times, the target anew each time."""
    n = len(law.X)
    law.X = np.repeat(law.X, whole(law.rng, 2, 3), axis=0)[: 2 * n]


def hidden_helper(law: Law) -> None:
    """Something that isn't known, and has nothing to do with the features, multiplies one direction."""
    v, level = direction(law), between(law.rng, 0.02, 0.2)
    law.target = lambda X, y: y + level * y.std() * law.rng.standard_normal(len(y)) * (X @ v)


def evenly_spread(law: Law) -> None:
    """Features are evenly spread between two bounds."""
    law.draw = lambda rng, n: rng.uniform(-np.sqrt(3), np.sqrt(3), (n, len(law.w)))
    law.X = law.draw(law.rng, len(law.X))


def two_sorts_of_rows(law: Law) -> None:
    """Rows come in two clouds, apart from one another."""
    v = law.rng.uniform(1, 3) * direction(law)
    _redrawn(law, lambda rng, X: X + rng.choice([-1, 1], (len(X), 1)) * v)


def mostly_zero(law: Law) -> None:
    """Most values of the features are 0."""
    share = law.rng.uniform(0.3, 0.6)
    _redrawn(law, lambda rng, X: X * (rng.random(X.shape) < share) / np.sqrt(share))


def shared_shocks(law: Law) -> None:
    """Noise is the same for the rows of a group."""
    group, level = _groups(law, 2, 10), between(law.rng, 0.01, 0.2)
    shock = law.rng.standard_normal(group[-1] + 1)[group]
    law.target = lambda X, y: y + level * y.std() * shock


def own_season(law: Law) -> None:
    """The target has a season, the features don't."""
    n, level = len(law.X), between(law.rng, 0.01, 0.2)
    wave = np.sin(2 * np.pi * law.rng.uniform(3, 12) * np.arange(n) / n)
    law.target = lambda X, y: y + level * y.std() * wave


def lasting_target(law: Law) -> None:
    """A little of the target stays for the next row, whose features have nothing to do with it."""
    stays = law.rng.uniform(0.02, 0.15)
    law.target = lambda X, y: y + stays * (np.roll(y, 1) - y.mean())


UNFORESEEN_LAWS = tuple(Part(act.__name__.replace("_", " "), act, held_out=True) for act in (
    table_of_two, dose_squared, soft_hinge, rugged, weakest_link, middle_one, production, two_mild_terms,
    mild_term_and_error, only_takers, groups_reverse, sluggish, same_season, reform, worn_out, factor_timing,
    marked_in_class, market_shares, hurdle, differenced, summed_rows, some_rows_inexact, area_means,
    features_between, filled_with_the_target, filled_by_nearest, coded_as_99,
    ranked_features, sorted_sensors, sign_lost, leaky_sensors, dropped_level, total_column,
    shares_of_a_whole, on_a_sphere, two_settings, few_settings_tried, idle_feature, constant_feature,
    principal_components, asked_by_features, watched_until_failure, measured_again, hidden_helper,
    evenly_spread, two_sorts_of_rows, mostly_zero, shared_shocks, own_season, lasting_target,
))  # fmt: skip
