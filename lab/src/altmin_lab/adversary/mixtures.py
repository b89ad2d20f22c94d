"""Further perturbations of non-negative factorizations, most of which only judge."""

from __future__ import annotations

import numpy as np

from altmin_lab.adversary.compose import Array, Draft, Part, between, whole
from altmin_lab.adversary.cones import features


def shifted(d: Draft) -> None:
    """The features of a sample stand one place to the left or to the right in some samples."""
    d.holds = d.sound = False
    rows = d.rng.random(len(d.codes)) < d.rng.uniform(0.1, 0.6)
    by = np.where(rows, d.rng.choice([-1, 1], len(rows)), 0)[:, None]
    d.after.append(
        lambda X: np.where(by == 0, X, np.where(by > 0, np.roll(X, 1, axis=1), np.roll(X, -1, axis=1)))
    )


def other_when_strong(d: Draft) -> None:
    """A feature turns into another one as there is more of it."""
    d.holds = d.sound = False
    other = features(d.rng, 1, d.factors.shape[1], "sparse") - d.factors[:1]
    extra = d.rng.uniform(0.4, 1.0) * d.codes[:, :1] ** 2
    d.after.append(lambda X: X + extra * other)


def two_backgrounds(d: Draft) -> None:
    """Two more features are in all samples, in amounts that vary, and nobody asked for them."""
    d.holds = d.sound = False
    D, W = d.factors.shape
    amounts = d.rng.dirichlet([2.0, 2.0], len(d.codes)) * d.rng.uniform(0.2, 0.5)
    d.factors = np.vstack([d.factors, features(d.rng, 2, W, "dense")])
    d.codes = np.hstack([(1 - amounts.sum(axis=1, keepdims=True)) * d.codes, amounts])
    d.asked = D


def overcorrected(d: Draft) -> None:
    """Too much background was taken off, and what fell below 0 was set to 0."""
    d.holds = d.sound = False
    level = d.rng.uniform(0.2, 0.8)
    d.last.append(lambda X: np.maximum(X - level * np.abs(X).mean(axis=0), 0.0))


def loudest(d: Draft) -> None:
    """Of each entry only the strongest feature is seen."""
    d.holds = d.sound = False
    Z, A = d.codes, d.factors
    d.after.append(lambda X: np.max(Z[:, :, None] * A[None], axis=1))


def companion(d: Draft) -> None:
    """One more feature comes only with another one, in amounts of its own, and nobody asked for it."""
    d.holds = d.sound = False
    D, W = d.factors.shape
    extra = d.codes[:, :1] * d.rng.uniform(0, 1, (len(d.codes), 1))
    d.factors = np.vstack([d.factors, features(d.rng, 1, W, "sparse")])
    d.codes = np.hstack([d.codes, extra])
    d.codes[:, 0] -= extra[:, 0]
    d.asked = D


def logged(d: Draft) -> None:
    """Values are logarithms."""
    d.holds = d.sound = False
    level = between(d.rng, 0.3, 10.0)
    d.after.append(lambda X: np.sign(X) * np.log1p(level * np.abs(X) / np.abs(X).mean()))


def two_detectors(d: Draft) -> None:
    """One half of the features of the table has a gain of its own in each sample."""
    d.holds = d.sound = False
    W = d.factors.shape[1]
    gain = np.exp(d.rng.uniform(0.1, 0.6) * d.rng.standard_normal((len(d.codes), 1)))
    d.after.append(lambda X: np.where(np.arange(W) < W // 2, X, gain * X))


def ranked(d: Draft) -> None:
    """Values are ranks of their feature of the table."""
    d.holds = d.sound = False
    d.last.append(lambda X: np.argsort(np.argsort(X, axis=0), axis=0) / len(X))


def transmitted(d: Draft) -> None:
    """Values fall exponentially with what should have been measured."""
    d.holds = d.sound = False
    level = d.rng.uniform(0.3, 1.5)
    d.after.append(lambda X: np.exp(-level * X / np.abs(X).mean()))


def softened(d: Draft) -> None:
    """All values lose the same amount, and small ones become 0; where hardly any does, features lose it."""
    d.holds = d.sound = False
    level = between(d.rng, 0.05, 0.5)
    size = np.abs(d.codes @ d.factors)
    d.by_nature = bool(np.mean(size < level * size.mean()) <= 0.01)
    d.last.append(lambda X: np.sign(X) * np.maximum(np.abs(X) - level * np.abs(X).mean(), 0.0))


def wrong_blank(d: Draft) -> None:
    """Half of the samples had another background taken off."""
    d.holds = d.sound = False
    rows = (d.rng.random(len(d.codes)) < 0.5)[:, None]
    blank = between(d.rng, 0.1, 0.5) * features(d.rng, 1, d.factors.shape[1], "sparse")
    d.after.append(lambda X: np.where(rows, X + blank * np.abs(X).mean(), X))


def divided(d: Draft) -> None:
    """Each sample was divided by its first entries."""
    d.holds = False  # another size of each sample: still a mixture, of noise that isn't even

    def divide(X: Array) -> Array:
        size = np.abs(X[:, :5]).sum(axis=1, keepdims=True)
        return X / np.maximum(size, 0.05 * size.mean())

    d.last.append(divide)


def turning(d: Draft) -> None:
    """A feature turns slowly into another one, from the first to the last sample."""
    d.holds = d.sound = False
    t = np.linspace(0, 1, len(d.codes))[:, None]
    other = features(d.rng, 1, d.factors.shape[1], "sparse") - d.factors[:1]
    own = d.codes[:, :1]
    d.after.append(lambda X: X + d.rng.uniform(0.3, 1.0) * t * own * other)


def other_units(d: Draft) -> None:
    """The features of the table have units of their own."""
    d.factors = d.factors * np.exp(0.5 * d.rng.standard_normal(d.factors.shape[1]))


def uneven_use(d: Draft) -> None:
    """Some features are used much more than others."""
    weight = np.geomspace(1, d.rng.uniform(0.2, 0.5), d.codes.shape[1])
    mixed = d.codes * weight
    d.codes = mixed / mixed.sum(axis=1, keepdims=True)


def bounded_noise(d: Draft) -> None:
    """Noise is evenly spread between two bounds."""
    level = between(d.rng, 0.003, 0.03)
    d.last.append(lambda X: X + level * np.sqrt(np.mean(X**2)) * d.rng.uniform(-1.7, 1.7, X.shape))


def noisy_samples(d: Draft) -> None:
    """Some samples were measured less precisely."""
    level, share = between(d.rng, 0.003, 0.02), d.rng.uniform(0.1, 0.5)
    size = np.where(d.rng.random((len(d.codes), 1)) < share, 3.0, 1.0)
    d.last.append(lambda X: X + level * np.sqrt(np.mean(X**2)) * size * d.rng.standard_normal(X.shape))


def three_too_many(d: Draft) -> None:
    """Three more components are asked for."""
    d.holds = d.sound = False
    d.asked = len(d.factors) + whole(d.rng, 3, 4)


_TUNE = (softened, turning)  # false claims of judged rounds changed a rule
MIXTURES = tuple(Part(act.__name__.replace("_", " "), act, held_out=act not in _TUNE) for act in (
    shifted, other_when_strong, two_backgrounds, overcorrected, loudest, companion, logged, two_detectors,
    ranked, transmitted, softened, wrong_blank, divided, turning, other_units, uneven_use, bounded_noise,
    noisy_samples, three_too_many,
))  # fmt: skip
