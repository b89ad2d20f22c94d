"""Perturbations of quadratic models that only judge: other laws, targets and features, by other hands."""

from __future__ import annotations

import numpy as np

from altmin_lab.adversary.compose import Array, Part, between, whole
from altmin_lab.adversary.quadratics import Law, direction


def _spread(law: Law) -> float:
    """Of the target without noise."""
    return float(law.clean().std())


def _curve(law: Law) -> None:
    """The target is a fixed function of the features, but no quadratic."""
    law.holds, law.curved = False, True


def _inexact(law: Law) -> None:
    """Features were recorded as something else than what made the target."""
    law.holds = law.exogenous = False


def _strongest(law: Law) -> int:
    """The feature that counts most."""
    return int(np.argmax(law.w**2 + np.sum(law.M**2, axis=0)))


def _redrawn(law: Law, change: Array, shift: Array) -> None:
    """Features are these times what they were, and moved; more rows are drawn alike."""
    usual = law.draw
    law.X = law.X * change + shift
    law.draw = lambda rng, n: usual(rng, n) * change + shift


# --- fixed functions of the features


def tree(law: Law) -> None:
    """A tree of decisions adds a constant of its own in each of four leaves."""
    _curve(law)
    at, step = law.rng.uniform(-0.7, 0.7, 3), between(law.rng, 0.2, 1.5) * _spread(law)
    leaves = step * law.rng.permutation([-1.0, -0.3, 0.4, 1.0])

    def target(X: Array, y: Array) -> Array:
        left = np.where(X[:, 1] > at[1], leaves[0], leaves[1])
        right = np.where(X[:, 2] > at[2], leaves[2], leaves[3])
        return y + np.where(X[:, 0] > at[0], left, right)

    law.target = target


def distance(law: Law) -> None:
    """The distance to a place counts."""
    _curve(law)
    place = 0.7 * law.rng.standard_normal(law.X.shape[1])
    level = law.rng.choice([-1, 1]) * between(law.rng, 0.3, 2.0) * _spread(law)
    law.target = lambda X, y: y + level * np.linalg.norm(X - place, axis=1)


def door(law: Law) -> None:
    """One direction opens the door to another one, fast but smoothly."""
    _curve(law)
    u, v, speed = direction(law), direction(law), law.rng.uniform(2, 6)
    level = between(law.rng, 0.2, 1.5) * _spread(law)
    law.target = lambda X, y: y + level * (X @ u) / (1 + np.exp(-np.clip(speed * (X @ v), -50, 50)))


def champion(law: Law) -> None:
    """It counts which of the features is largest, not how large it is."""
    _curve(law)
    d = law.X.shape[1]
    level = between(law.rng, 0.2, 1.5) * _spread(law)
    prizes = np.asarray(level * law.rng.permutation(np.linspace(-1.5, 1.5, d)))
    law.target = lambda X, y: y + prizes[X.argmax(axis=1)]


def direction_only(law: Law) -> None:
    """A feature counts as a part of the size of the whole row."""
    _curve(law)
    level = between(law.rng, 0.4, 3.0) * _spread(law)
    law.target = lambda X, y: y + level * X[:, 0] / np.maximum(np.linalg.norm(X, axis=1), 1e-12)


def parity(law: Law) -> None:
    """It counts whether an odd number of three features is positive."""
    _curve(law)
    level = between(law.rng, 0.1, 1.0) * _spread(law)
    law.target = lambda X, y: y + level * np.sign(X[:, 0] * X[:, 1] * X[:, 2])


def compounded(law: Law) -> None:
    """Features multiply the target one after the other, as interest does."""
    _curve(law)
    rates = np.clip(law.rng.uniform(0.1, 0.3) * law.rng.standard_normal(law.X.shape[1]), -0.4, 0.4)
    rates[0] = law.rng.choice([-0.3, 0.3])
    law.target = lambda X, y: y * np.prod(1 + rates * X, axis=1)


def network(law: Law) -> None:
    """A few units that answer above a threshold only add up to a part of the target."""
    _curve(law)
    d, units = law.X.shape[1], whole(law.rng, 3, 6)
    V, at = law.rng.standard_normal((d, units)) / np.sqrt(d), law.rng.uniform(-1, 1, units)
    sizes = between(law.rng, 0.4, 2.0) * _spread(law) * law.rng.choice([-1, 1], units)
    law.target = lambda X, y: y + np.maximum(X @ V - at, 0.0) @ sizes


def per_head(law: Law) -> None:
    """Targets were divided by a size that grows as the exponential of a feature."""
    _curve(law)
    speed = law.rng.choice([-1, 1]) * law.rng.uniform(0.15, 0.6)
    law.target = lambda X, y: y * np.exp(-speed * np.clip(X[:, 0], -4, 4))


def folded(law: Law) -> None:
    """Targets beyond a level are reflected at it."""
    _curve(law)
    most = float(np.quantile(law.clean(), law.rng.uniform(0.4, 0.75)))
    law.target = lambda X, y: np.where(y > most, 2 * most - y, y)


def censored(law: Law) -> None:
    """Each row was watched for a time of its own, and no target is larger than that."""
    _curve(law)
    low, high = np.quantile(law.clean(), [law.rng.uniform(0.3, 0.6), 0.98])
    law.target = lambda X, y: np.minimum(y, law.rng.uniform(low, high, len(y)))


def thermostat(law: Law) -> None:
    """Something is switched on above one level of a feature, and off below a lower one only."""
    _curve(law)
    low, high, level = -law.rng.uniform(0.2, 0.6), law.rng.uniform(0.2, 0.6), between(law.rng, 0.3, 2.0)
    level *= _spread(law)

    def target(X: Array, y: Array) -> Array:
        decides = (X[:, 0] > high) | (X[:, 0] < low)
        last = np.maximum.accumulate(np.where(decides, np.arange(len(y)), 0))
        return y + level * (X[last, 0] > high)

    law.target = target


# --- targets that were recoded, depend on other rows, or follow another law in each group


def compared(law: Law) -> None:
    """A target says no more than whether it is larger than the next one."""
    law.holds = law.sound = False
    law.target = lambda X, y: np.sign(y - np.roll(y, -1))


def queue(law: Law) -> None:
    """Targets are waiting times: what is too much for one row is left for the next one, and never below 0."""
    law.holds = law.sound = False
    slack = law.rng.uniform(0.1, 0.4)

    def target(X: Array, y: Array) -> Array:
        change, waits = y - y.mean() - slack * y.std(), np.zeros(len(y))
        for i in range(len(y)):
            waits[i] = max(waits[i - 1] + change[i], 0.0)
        return waits

    law.target = target


def peak_hold(law: Law) -> None:
    """A target is the largest one of the last few rows."""
    law.holds = law.sound = False
    length = whole(law.rng, 2, 4)
    law.target = lambda X, y: np.max([np.roll(y, i) for i in range(length)], axis=0)


def annotators(law: Law) -> None:
    """Targets were given by a few people, each with a scale and a zero of one's own."""
    law.holds = law.sound = False
    many, by = whole(law.rng, 3, 8), law.rng.uniform(0.25, 0.7)
    gains = np.exp(by * law.rng.standard_normal(many))
    gains[:2] = 1.0, 1 + 2 * by
    zeros, who = by * law.rng.standard_normal(many), law.rng.integers(many, size=len(law.X))
    law.target = lambda X, y: gains[who] * y + zeros[who] * y.std()


def trimmed(law: Law) -> None:
    """Rows with targets at either end were dropped as outliers, noise included."""
    law.holds = law.sound = False
    q, noise = law.rng.uniform(0.1, 0.3), max(law.noise, 0.3)  # without any, what is left follows the law
    law.noise = 0.0

    def target(X: Array, y: Array) -> Array:
        y = y + noise * y.std() * law.rng.standard_normal(len(y))
        low, high = np.quantile(y, [q, 1 - q])
        law.rows = np.flatnonzero((low <= y) & (y <= high))
        return y

    law.target = target


def own_slopes(law: Law) -> None:
    """Rows belong to people, each with slopes that differ from the usual ones."""
    law.holds = False
    n, d = law.X.shape
    who = np.arange(n) // whole(law.rng, 5, 20)
    slopes = (
        between(law.rng, 0.1, 0.7) * _spread(law) * law.rng.standard_normal((who[-1] + 1, d)) / np.sqrt(d)
    )
    law.target = lambda X, y: y + np.einsum("ij,ij->i", X, slopes[who])


def running_total(law: Law) -> None:
    """A target holds what the rows before it had beyond the mean, too, since the meter was set back."""
    law.holds = False
    since = np.arange(len(law.X)) // whole(law.rng, 3, 20)

    def target(X: Array, y: Array) -> Array:
        total = np.cumsum(y - y.mean()) - (y - y.mean())
        return y + total - total[np.searchsorted(since, since)]

    law.target = target


# --- features that were recorded as something else


def coded_category(law: Law) -> None:
    """A feature was cut into classes, and these were numbered in any order."""
    _inexact(law)
    law.sound = False
    classes, j = whole(law.rng, 4, 8), _strongest(law)
    codes = law.rng.permutation(classes).astype(float)
    codes = codes[::-1] if np.all(np.diff(codes) > 0) else codes

    def seen(X: Array) -> Array:
        X, marks = X.copy(), np.quantile(X[:, j], np.arange(1, classes) / classes)
        X[:, j] = codes[np.searchsorted(marks, X[:, j])]
        return X

    law.seen = seen


def clock(law: Law) -> None:
    """A feature begins again at the end of its period, as the hour of the day does."""
    _inexact(law)
    law.sound = False
    half, j = law.rng.uniform(0.6, 1.3), _strongest(law)

    def seen(X: Array) -> Array:
        X = X.copy()
        X[:, j] = (X[:, j] + half) % (2 * half) - half
        return X

    law.seen = seen


def leaked(law: Law) -> None:
    """A part of the target, noise and all, found its way into a feature."""
    _inexact(law)
    law.sound = False
    part, noise, spread = between(law.rng, 0.1, 1.0), max(law.noise, 0.05), _spread(law)
    law.noise, e = 0.0, noise * law.rng.standard_normal(len(law.X))
    law.target = lambda X, y: y + e * y.std()

    def seen(X: Array) -> Array:
        X, y = X.copy(), law.clean(X)
        X[:, 0] += part * ((y - y.mean()) / spread + e)
        return X

    law.seen = seen


def stale_features(law: Law) -> None:
    """Half of the features are brought up to date every few rows only."""
    _inexact(law)
    n, every = len(law.X), whole(law.rng, 2, 5)
    slow = np.arange(law.X.shape[1]) % 2 == 0
    law.seen = lambda X: np.where(slow, X[np.arange(n) // every * every], X)


def joined_wrongly(law: Law) -> None:
    """In some rows half of the features belong to the next row."""
    _inexact(law)
    rows = law.rng.random((len(law.X), 1)) < law.rng.uniform(0.05, 0.5)
    right = np.arange(law.X.shape[1]) >= law.X.shape[1] // 2
    law.seen = lambda X: np.where(rows & right, np.roll(X, -1, axis=0), X)


# --- data that are right


def neighbours(law: Law) -> None:
    """The row before has some influence, in proportion to what this row holds, which is noise here."""
    u, v, level = direction(law), direction(law), between(law.rng, 0.02, 0.2)
    law.target = lambda X, y: y + level * y.std() * (X @ u) * (np.roll(X, 1, axis=0) @ v)


def heavy_features(law: Law) -> None:
    """Features have heavy tails (Student, five degrees of freedom)."""
    d = law.X.shape[1]
    law.draw = lambda rng, n: np.asarray(rng.standard_t(5, (n, d)) * np.sqrt(0.6))
    law.X = law.draw(law.rng, len(law.X))


def genotypes(law: Law) -> None:
    """Features are 0, 1 or 2, each with a frequency of its own."""
    d = law.X.shape[1]
    frequency = law.rng.uniform(0.2, 0.5, d)
    law.draw = lambda rng, n: rng.binomial(2, frequency, (n, d)).astype(float)
    law.X = law.draw(law.rng, len(law.X))


def yes_or_no(law: Law) -> None:
    """One feature is 0 or 1, so that its square is known by the rank of the model only."""
    usual = law.draw

    def draw(rng: np.random.Generator, n: int) -> Array:
        X = usual(rng, n)
        X[:, 0] = rng.random(n) < 0.5
        return X

    law.holds = 2 * law.rank < law.X.shape[1] or not law.w.any()
    law.draw, law.X = draw, draw(law.rng, len(law.X))


def villages(law: Law) -> None:
    """Rows come from many small places, those of one place alike."""
    n = len(law.X)
    place = np.arange(n) // whole(law.rng, 4, 12)
    law.X = np.sqrt(0.6) * law.draw(law.rng, place[-1] + 1)[place] + np.sqrt(0.4) * law.X


def stormy_noise(law: Law) -> None:
    """Noise comes in storms, between which there is little."""
    level, n = between(law.rng, 0.02, 0.2), len(law.X)
    wild = np.repeat(law.rng.random(n // 15 + 1) < 0.25, 15)[:n]
    law.target = lambda X, y: y + level * y.std() * np.where(wild, 1.0, 0.1) * law.rng.standard_normal(len(y))


def far_apart_units(law: Law) -> None:
    """Features have units that differ by factors of up to a million."""
    units = np.exp(law.rng.uniform(np.log(1e-3), np.log(1e3), law.X.shape[1]))
    law.w, law.M = law.w / units, law.M / np.outer(units, units)
    _redrawn(law, units, np.zeros(len(units)))


def far_from_zero(law: Law) -> None:
    """Features are counted from far away, as years are."""
    d = law.X.shape[1]
    _redrawn(law, np.ones(d), law.rng.choice([-1, 1], d) * law.rng.uniform(2, 6, d))


STRANGE_LAWS = tuple(Part(act.__name__.replace("_", " "), act, held_out=True) for act in (
    tree, distance, door, champion, direction_only, parity, compounded, network, per_head, folded, censored,
    thermostat, compared, queue, peak_hold, annotators, trimmed, own_slopes, running_total, coded_category,
    clock, leaked, stale_features, joined_wrongly, neighbours, heavy_features, genotypes, yes_or_no, villages,
    stormy_noise, far_apart_units, far_from_zero,
))  # fmt: skip
