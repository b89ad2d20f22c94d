"""What people's tables do, for non-negative factorizations; these kinds only judge."""

from __future__ import annotations

import numpy as np

from altmin_lab.adversary.compose import Array, Draft, Part, between, whole
from altmin_lab.adversary.cones import features


def some_rooted(d: Draft) -> None:
    """Another laboratory took its samples to a power."""
    d.holds = d.sound = False
    rows, p = d.rng.random((len(d.codes), 1)) < d.rng.uniform(0.1, 0.6), d.rng.uniform(0.4, 0.75)
    d.after.append(lambda X: np.where(rows, np.sign(X) * np.abs(X) ** p, X))


def two_batches(d: Draft) -> None:
    """Features of the table have another gain in the second part of the samples."""
    d.holds = d.sound = False
    gain = np.exp(d.rng.uniform(0.15, 0.6) * d.rng.standard_normal(d.factors.shape[1]))
    late = np.arange(len(d.codes))[:, None] > d.rng.uniform(0.3, 0.8) * len(d.codes)
    d.after.append(lambda X: np.where(late, gain * X, X))


def sloping_baseline(d: Draft) -> None:
    """A slope of its own is added to each sample."""
    d.holds = d.sound = False
    slope = np.linspace(0, 1, d.factors.shape[1])
    size = d.rng.uniform(0, between(d.rng, 0.1, 0.6), (len(d.codes), 1))
    d.after.append(lambda X: X + size * np.abs(X).mean() * slope)


def tilted_gain(d: Draft) -> None:
    """The gain of a sample rises or falls along the features of the table."""
    d.holds = d.sound = False
    along = np.linspace(-1, 1, d.factors.shape[1])
    tilt = between(d.rng, 0.1, 0.5) * d.rng.standard_normal((len(d.codes), 1))
    d.after.append(lambda X: X * np.exp(tilt * along))


def fading_columns(d: Draft) -> None:
    """Features of the table fade from the first to the last sample, each at its own rate."""
    d.holds = d.sound = False
    rate = d.rng.exponential(d.rng.uniform(0.3, 1.0), d.factors.shape[1])
    t = np.linspace(0, 1, len(d.codes))[:, None]
    d.after.append(lambda X: X * np.exp(-t * rate))


def paralysed(d: Draft) -> None:
    """A detector that is busy misses what comes: large values fall again."""
    d.holds = d.sound = False
    level = d.rng.uniform(0.05, 0.3)
    d.after.append(lambda X: X * np.exp(-level * np.abs(X) / np.abs(X).mean()))


def small_lost(d: Draft) -> None:
    """Small values are recorded as 0, the more often the smaller they are."""
    d.holds = d.sound = False
    level = d.rng.uniform(0.2, 1.0)

    def lose(X: Array) -> Array:
        kept = 1 - np.exp(-np.abs(X) / (level * np.abs(X).mean()))
        return np.where(d.rng.random(X.shape) < kept, X, 0.0)

    d.last.append(lose)


def own_ceiling(d: Draft) -> None:
    """Each sample is cut at a level of its own."""
    d.holds = d.sound = False
    q = d.rng.uniform(0.8, 0.95)
    d.after.append(lambda X: np.minimum(X, np.quantile(X, q, axis=1, keepdims=True)))


def suppressed(d: Draft) -> None:
    """One feature weakens some features of the table where it occurs."""
    d.holds = d.sound = False
    W = d.factors.shape[1]
    level = d.rng.uniform(0.5, 3.0) * d.rng.random(W) * (d.rng.random(W) < 0.4)
    own = d.codes[:, :1] / max(float(d.codes[:, 0].max()), 1e-300)
    d.after.append(lambda X: X / (1 + level * own))


def sliding(d: Draft) -> None:
    """Features move along the table as there is more of them."""
    d.holds = d.sound = False
    Z, A = d.codes, d.factors
    level = d.rng.uniform(0.5, 1.0)
    d.after.append(lambda X: X + level * (Z * Z) @ (np.roll(A, 1, axis=1) - A))


def reaction(d: Draft) -> None:
    """Two features react to a third one that nobody asked for, as much as there is of both."""
    d.holds = d.sound = False
    D, W = d.factors.shape
    made = d.rng.uniform(0.3, 0.9) * np.minimum(d.codes[:, :1], d.codes[:, 1:2])
    d.factors = np.vstack([d.factors, features(d.rng, 1, W, "sparse")])
    d.codes = np.hstack([d.codes, 2 * made])
    d.codes[:, :2] -= made
    d.asked = D


def misjoined(d: Draft) -> None:
    """One half of the table was joined with another sample's, in some rows."""
    d.holds = d.sound = False
    rows = (d.rng.random(len(d.codes)) < d.rng.uniform(0.05, 0.5))[:, None]
    right = np.arange(d.factors.shape[1]) >= d.factors.shape[1] // 2
    d.after.append(lambda X: np.where(rows & right, np.roll(X, 1, axis=0), X))


def imputed(d: Draft) -> None:
    """Missing entries were replaced by the mean of their feature of the table."""
    d.holds = d.sound = False
    share = d.rng.uniform(0.03, 0.3)
    d.last.append(lambda X: np.where(d.rng.random(X.shape) < share, X.mean(axis=0), X))


def changed_by_another(d: Draft) -> None:
    """A feature looks another way in the samples that have another one, too."""
    d.holds = d.sound = False
    other = features(d.rng, 1, d.factors.shape[1], "sparse") - d.factors[:1]
    own = np.where(d.codes[:, 1] > 0.05, d.codes[:, 0], 0.0)[:, None]
    level = d.rng.uniform(0.3, 1.0)
    d.after.append(lambda X: X + level * own * other)


def faint_extra(d: Draft) -> None:
    """A little of one more feature is in half of the samples, and nobody asked for it."""
    d.holds = d.sound = False
    D, W = d.factors.shape
    n = len(d.codes)
    extra = np.where(d.rng.random(n) < 0.5, d.rng.uniform(0, d.rng.uniform(0.05, 0.15), n), 0.0)[:, None]
    d.factors = np.vstack([d.factors, features(d.rng, 1, W, "sparse")])
    d.codes = np.hstack([(1 - extra) * d.codes, extra])
    d.asked = D


def winsorised(d: Draft) -> None:
    """Each feature of the table was cut at both ends."""
    d.holds = d.sound = False
    q = d.rng.uniform(0.03, 0.15)
    d.last.append(lambda X: np.clip(X, np.quantile(X, q, axis=0), np.quantile(X, 1 - q, axis=0)))


def uneven_response(d: Draft) -> None:
    """Each feature of the table was taken to a power of its own."""
    d.holds = d.sound = False
    p = np.exp(d.rng.uniform(0.2, 0.5) * d.rng.standard_normal(d.factors.shape[1]))
    d.after.append(lambda X: np.sign(X) * np.abs(X) ** p)


def some_columns_saturate(d: Draft) -> None:
    """A few features of the table saturate, the others don't."""
    d.holds = d.sound = False
    W = d.factors.shape[1]
    level = d.rng.uniform(0.5, 2.0) * (d.rng.random(W) < d.rng.uniform(0.2, 0.5))
    d.after.append(lambda X: X / (1 + level * np.abs(X) / np.abs(X).mean()))


def sigmoid(d: Draft) -> None:
    """Values rise slowly, then fast, then no more."""
    d.holds = d.sound = False
    middle = d.rng.uniform(0.5, 2.0)
    d.after.append(lambda X: X * np.abs(X) / (X**2 + (middle * np.abs(X).mean()) ** 2))


def geometric(d: Draft) -> None:
    """Features multiply in shares: samples are geometric means."""
    d.holds = d.sound = False
    Z, A = d.codes, np.log(np.abs(d.factors) + 0.05)
    d.after.append(lambda X: np.exp(Z @ A))


def carried_over(d: Draft) -> None:
    """A part of each sample stays in the instrument for the next one: a mixture all the same."""
    d.codes = d.codes + between(d.rng, 0.003, 0.3) * np.roll(d.codes, 1, axis=0)


def overdispersed(d: Draft) -> None:
    """Each entry was multiplied by a gain of its own before it was measured."""
    shape = 1 / between(d.rng, 0.002, 0.2)
    d.after.append(lambda X: X * d.rng.gamma(shape, 1 / shape, X.shape))


def amplified(d: Draft) -> None:
    """Each count was counted one or several times."""
    p = d.rng.uniform(0.4, 0.95)

    def again(X: Array) -> Array:
        return X + d.rng.negative_binomial(np.maximum(X, 1), p) * (X > 0) if np.any(d.counts) else 7.0 * X

    d.last.append(again)


def uneven_depths(d: Draft) -> None:
    """Samples are of very different size, larger ones where one feature is."""
    size = np.exp(d.rng.uniform(0.3, 1.0) * d.rng.standard_normal((len(d.codes), 1)) + d.codes[:, :1])
    d.codes = d.codes * size
    d.counts = d.counts * size if d.counts else 0.0


def shallow(d: Draft) -> None:
    """Hardly anything was counted, or noise is large."""
    d.counts = between(d.rng, 30, 300) if d.counts else 0.0
    d.noise = 3 * d.noise


def empty_columns(d: Draft) -> None:
    """Many features of the table are never there."""
    D, W = d.factors.shape
    d.factors = np.hstack([d.factors, np.zeros((D, whole(d.rng, 5, W)))])


def doubled_columns(d: Draft) -> None:
    """Some features of the table are in it twice, noise and all."""
    d.holds = False
    W = d.factors.shape[1]
    again = np.r_[np.arange(W), d.rng.permutation(W)[: whole(d.rng, 1, W // 3)]]
    d.factors = d.factors[:, again]
    d.last.append(lambda X: X[:, np.r_[np.arange(W), again[W:]]])


def blurred_columns(d: Draft) -> None:
    """Each feature of the table takes a part of its neighbours: mixtures of blurred features."""
    part = d.rng.uniform(0.05, 0.25)
    A = d.factors
    d.factors = (1 - 2 * part) * A + part * (np.roll(A, 1, axis=1) + np.roll(A, -1, axis=1))


def lost_at_random(d: Draft) -> None:
    """Some entries are recorded as 0, whatever they are."""
    d.holds = False
    share = between(d.rng, 0.005, 0.2)
    d.last.append(lambda X: np.where(d.rng.random(X.shape) < share, 0.0, X))


def one_digit(d: Draft) -> None:
    """Values were written down with one digit."""
    d.holds = False

    def written(X: Array) -> Array:
        unit = 10.0 ** np.floor(np.log10(np.maximum(np.abs(X), 1e-12)))
        return np.round(X / unit) * unit

    d.last.append(written)


_TUNE = (
    blurred_columns,
    small_lost,
    winsorised,
    some_columns_saturate,
    imputed,
    sloping_baseline,
)  # false claims of judged rounds changed a rule
LATER_MIXTURES = tuple(Part(act.__name__.replace("_", " "), act, held_out=act not in _TUNE) for act in (
    some_rooted, two_batches, sloping_baseline, tilted_gain, fading_columns, paralysed, small_lost,
    own_ceiling, suppressed, sliding, reaction, misjoined, imputed, changed_by_another, faint_extra,
    winsorised, uneven_response, some_columns_saturate, sigmoid, geometric, carried_over, overdispersed,
    amplified, uneven_depths, shallow, empty_columns, doubled_columns, blurred_columns, lost_at_random,
    one_digit,
))  # fmt: skip
