"""Further perturbations of quadratic models, which only judge: most targets follow another law."""

from __future__ import annotations

import numpy as np

from altmin_lab.adversary.compose import Array, Part, between
from altmin_lab.adversary.quadratics import Law, direction, low_rank, quadratic


def gated(law: Law) -> None:
    """The quadratic part is at work on one side of a feature only."""
    law.holds = law.sound = False
    at, M = law.rng.uniform(-0.5, 0.5), law.M
    law.target = lambda X, y: y - np.where(X[:, 0] > at, 0.0, quadratic(X, M))


def damped(law: Law) -> None:
    """The target is damped where a feature is large."""
    law.holds = law.sound = False
    level = between(law.rng, 0.1, 2.0)
    law.target = lambda X, y: y / (1 + level * X[:, 0] ** 2)


def wrapped(law: Law) -> None:
    """The target is known up to a period, as angles are."""
    law.holds = law.sound = False
    period = law.rng.uniform(0.5, 3.0)
    law.target = lambda X, y: y - period * y.std() * np.round(y / (period * y.std()))


def both_ends_cut(law: Law) -> None:
    """Targets are cut at a low and at a high level."""
    law.holds = law.sound = False
    q = law.rng.uniform(0.08, 0.3)
    law.target = lambda X, y: np.clip(y, *np.quantile(y, [q, 1 - q]))


def ranked(law: Law) -> None:
    """Targets are ranks."""
    law.holds = law.sound = False
    law.target = lambda X, y: np.argsort(np.argsort(y)) / len(y)


def graded(law: Law) -> None:
    """Targets are few grades, each as frequent."""
    law.holds = law.sound = False
    grades = int(law.rng.integers(2, 5))
    law.target = lambda X, y: np.floor(grades * np.argsort(np.argsort(y)) / len(y))


def bent_features(law: Law) -> None:
    """Features were recorded as a power of what they are."""
    law.holds = law.sound = law.exogenous = False
    p = law.rng.choice([law.rng.uniform(0.4, 0.75), law.rng.uniform(1.35, 2.0)])
    law.seen = lambda X: np.sign(X) * np.abs(X) ** p


def fourth_power(law: Law) -> None:
    """A fourth power of a direction."""
    law.holds, law.curved = False, True
    v, level = direction(law), between(law.rng, 0.01, 0.3)
    law.target = lambda X, y: y + level * (X @ v) ** 4


def two_squares_multiply(law: Law) -> None:
    """The squares of two features multiply."""
    law.holds, law.curved = False, True
    level = between(law.rng, 0.05, 0.5)
    law.target = lambda X, y: y + level * (X[:, 0] * X[:, 1]) ** 2


def far_rows_differ(law: Law) -> None:
    """Rows that are far out follow another law."""
    law.holds = law.sound = False
    other, q = low_rank(law.rng, law.X.shape[1], law.rank), law.rng.uniform(0.3, 0.8)

    def target(X: Array, y: Array) -> Array:
        size = np.sum(X**2, axis=1)
        return np.where(size > np.quantile(size, q), quadratic(X, other), y)

    law.target = target


def selected(law: Law) -> None:
    """Rows with a large target are missing, noise included."""
    law.holds = law.sound = False
    q = law.rng.uniform(0.5, 0.85)
    noise = max(law.noise, 0.3)  # without any, the rows that are left follow the law
    law.noise = 0.0

    def target(X: Array, y: Array) -> Array:
        y = y + noise * y.std() * law.rng.standard_normal(len(y))
        law.rows = np.flatnonzero(y <= np.quantile(y, q))
        return y

    law.target = target


def flipped_targets(law: Law) -> None:
    """Some targets have lost their sign."""
    law.holds = False
    share = law.rng.uniform(0.1, 0.5)
    law.target = lambda X, y: np.where(law.rng.random(len(y)) < share, np.abs(y), y)


def shared_targets(law: Law) -> None:
    """Rows in groups, each with the mean target of its group."""
    law.holds = law.sound = False
    size = int(law.rng.integers(2, 5))

    def target(X: Array, y: Array) -> Array:
        group = np.arange(len(y)) // size
        return np.asarray((np.bincount(group, y) / np.bincount(group))[group])

    law.target = target


def strange_middle(law: Law) -> None:
    """Where a direction is near a level, nothing was measured but a constant."""
    law.holds = law.sound = False
    u = law.X @ direction(law)
    near = np.abs(u - law.rng.uniform(-0.5, 0.5)) < law.rng.uniform(0.2, 0.6)
    law.target = lambda X, y: np.where(near, y.mean(), y)


def small_lost(law: Law) -> None:
    """Targets below a size are recorded as 0."""
    law.holds = law.sound = False
    q = law.rng.uniform(0.3, 0.7)
    law.target = lambda X, y: np.where(np.abs(y) < np.quantile(np.abs(y), q), 0.0, y)


def size_times_feature(law: Law) -> None:
    """The size of a feature multiplies another one."""
    law.holds, law.curved = False, True
    level = between(law.rng, 0.1, 1.0)
    law.target = lambda X, y: y + level * np.abs(X[:, 0]) * X[:, 1]


def four_multiply(law: Law) -> None:
    """Four features multiply, and are as large as the rest."""
    law.holds = law.sound = False
    level = law.rng.uniform(0.5, 2.0)
    law.target = lambda X, y: y + level * y.std() * X[:, 0] * X[:, 1] * X[:, 2] * X[:, 3]


def two_slopes(law: Law) -> None:
    """Targets above the median count more."""
    law.holds = law.sound = False
    times = law.rng.uniform(1.5, 4.0)
    law.target = lambda X, y: np.median(y) + np.where(y > np.median(y), times, 1.0) * (y - np.median(y))


def sawtooth(law: Law) -> None:
    """A direction counts by what is beyond its last whole step."""
    law.holds, law.curved = False, True
    v, level = law.rng.uniform(0.7, 2.0) * direction(law), between(law.rng, 0.5, 2.0)
    level = level * float(law.clean().std())
    law.target = lambda X, y: y + level * (X @ v - np.floor(X @ v))


def nearest_two(law: Law) -> None:
    """The smaller of two features, in size, counts alone."""
    law.holds, law.curved = False, True
    level = between(law.rng, 0.2, 1.0)
    law.target = lambda X, y: y + level * np.minimum(np.abs(X[:, 0]), np.abs(X[:, 1]))


def bounded_noise(law: Law) -> None:
    """Noise is evenly spread between two bounds."""
    level = between(law.rng, 0.01, 0.2)
    law.target = lambda X, y: y + level * y.std() * law.rng.uniform(-1.7, 1.7, len(y))


def two_instruments(law: Law) -> None:
    """Half of the rows were measured less precisely."""
    level = between(law.rng, 0.02, 0.2)
    worse = law.rng.random(len(law.X)) < 0.5
    law.target = lambda X, y: (
        y + level * y.std() * np.where(worse, 1.0, 0.2) * law.rng.standard_normal(len(y))
    )


def noise_of_two(law: Law) -> None:
    """Noise grows with two of the features."""
    level = between(law.rng, 0.02, 0.15)
    law.target = lambda X, y: (
        y + level * y.std() * np.hypot(X[:, 0], X[:, 1]) * law.rng.standard_normal(len(y))
    )


def counted_targets(law: Law) -> None:
    """Targets are counts, whose mean grows as the exponential of a quadratic."""
    law.holds = law.sound = False
    speed, size = law.rng.uniform(0.4, 1.0), between(law.rng, 1.0, 20.0)
    law.target = lambda X, y: law.rng.poisson(size * np.exp(np.minimum(speed * y / y.std(), 5.0))) / size


def logged_targets(law: Law) -> None:
    """Targets are logarithms."""
    law.holds = law.sound = False
    least = between(law.rng, 0.05, 0.5)
    law.target = lambda X, y: np.log(y - y.min() + least * y.std())


def dose(law: Law) -> None:
    """A feature is at work up to a level, where its answer saturates."""
    law.holds, law.curved = False, True
    level, speed = between(law.rng, 0.3, 3.0), law.rng.uniform(1.0, 3.0)
    law.target = lambda X, y: y + level * np.tanh(speed * X[:, 0])


def ratio(law: Law) -> None:
    """A feature counts the less the larger another one is."""
    law.holds, law.curved = False, True
    level = between(law.rng, 0.3, 3.0)
    law.target = lambda X, y: y + level * X[:, 0] / (1 + X[:, 1] ** 2)


def weekends(law: Law) -> None:
    """Two rows of seven follow another law."""
    law.holds = False
    other = low_rank(law.rng, law.X.shape[1], law.rank)
    law.target = lambda X, y: np.where(np.arange(len(y)) % 7 < 2, quadratic(X, other), y)


def other_units(law: Law) -> None:
    """In some rows one feature was recorded in another unit."""
    law.holds = law.exogenous = False
    rows = law.rng.random(len(law.X)) < law.rng.uniform(0.05, 0.4)
    unit = law.rng.choice([0.4, 0.6, 1.7, 2.5])
    law.seen = lambda X: X * np.where(rows[:, None] & (np.arange(X.shape[1]) == 0), unit, 1.0)


def imputed(law: Law) -> None:
    """Half of the features have missing values, which were filled in with their mean."""
    law.holds = law.exogenous = False
    lost = law.rng.random(law.X.shape) < law.rng.uniform(0.05, 0.4)
    lost[:, law.X.shape[1] // 2 :] = False
    law.seen = lambda X: np.where(lost, X.mean(axis=0), X)


def winsorised(law: Law) -> None:
    """Features were cut at a low and at a high level."""
    law.holds = law.exogenous = False
    q = law.rng.uniform(0.05, 0.2)
    law.seen = lambda X: np.clip(X, *np.quantile(X, [q, 1 - q], axis=0))


def shuffled_feature(law: Law) -> None:
    """A feature was sorted by itself, and has nothing to do with its rows any more."""
    law.holds = law.exogenous = False
    law.by_nature = True  # that it is exact is assumed
    order = law.rng.permutation(len(law.X))
    law.seen = lambda X: np.column_stack([X[order, 0], X[:, 1:]])


def whole_features(law: Law) -> None:
    """Features are small whole numbers."""
    law.X = law.rng.poisson(2.0, law.X.shape).astype(float)


LAWS = (*(Part(act.__name__.replace("_", " "), act) for act in (two_squares_multiply, other_units)), *(
    Part(act.__name__.replace("_", " "), act, held_out=True) for act in (
    gated, damped, wrapped, both_ends_cut, ranked, graded, bent_features, fourth_power,
    far_rows_differ, selected, flipped_targets, shared_targets, strange_middle, small_lost,
    size_times_feature, four_multiply, two_slopes, sawtooth, nearest_two, bounded_noise,
    two_instruments, noise_of_two, counted_targets, logged_targets, dose, ratio, weekends, imputed,
    winsorised, shuffled_feature, whole_features,
)))  # fmt: skip
