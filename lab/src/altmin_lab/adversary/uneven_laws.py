"""Perturbations of quadratic models that tune: noise that is uneven by itself, mixtures that look like it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from altmin_lab.adversary.compose import Array, Part, between, whole
from altmin_lab.adversary.quadratics import Law, direction, low_rank, quadratic

# --- right: one law, and noise whose size depends on the row


def _noise(
    law: Law, size: Callable[[Array, Array], Array], draw: Callable[[int], Array] | None = None
) -> None:
    """Noise of up to .3 of the target, times a size that depends on the row."""
    level = between(law.rng, 0.05, 0.3)
    draw = law.rng.standard_normal if draw is None else draw

    def target(X: Array, y: Array) -> Array:
        of_row = size(X, y)
        return y + level * y.std() * of_row / np.sqrt(np.mean(of_row**2)) * draw(len(y))

    law.target = target


def noise_with_size(law: Law) -> None:
    """Noise grows with the size of the target, beside some that is there anyway."""
    least = law.rng.uniform(0.0, 0.5)
    _noise(law, lambda X, y: least + np.abs(y) / y.std())


def noise_of_a_direction(law: Law) -> None:
    """Noise grows along a direction."""
    v, least = direction(law), law.rng.uniform(0.0, 0.5)
    _noise(law, lambda X, y: least + np.abs(X @ v))


def noise_of_a_side(law: Law) -> None:
    """Noise is several times as large on one side of a feature."""
    times = law.rng.uniform(2.0, 6.0)
    _noise(law, lambda X, y: np.where(X[:, 0] > 0, times, 1.0))


def noise_of_far_rows(law: Law) -> None:
    """Noise grows with how far out a row is."""
    _noise(law, lambda X, y: np.sum(X**2, axis=1))


def heavy_uneven_noise(law: Law) -> None:
    """Noise with heavy tails grows with a feature."""
    freedom = law.rng.uniform(4.0, 8.0)
    _noise(law, lambda X, y: np.abs(X[:, 0]), lambda n: law.rng.standard_t(freedom, n))


def bounded_uneven_noise(law: Law) -> None:
    """Noise that is evenly spread between two bounds, which grow with a feature."""
    _noise(law, lambda X, y: np.abs(X[:, 0]), lambda n: law.rng.uniform(-1.7, 1.7, n))


def symmetric_slopes(law: Law) -> None:
    """Each row has slopes of its own, as often above as below the usual ones: the mean is the law."""
    d = law.X.shape[1]
    slopes = law.rng.standard_normal((len(law.X), d)) / np.sqrt(d)
    level = between(law.rng, 0.05, 0.4) * float(law.clean().std())
    law.target = lambda X, y: y + level * np.einsum("ij,ij->i", X, slopes)


# --- wrong: some rows follow another law


def _mixed(law: Law, change: Callable[[Array, Array], Array], share: float, noise: float = 0.0) -> None:
    """In this share of the rows something is added; noise as a part of the target's spread."""
    law.holds = False
    law.noise = max(law.noise, noise)
    rows = law.rng.random(len(law.X)) < share
    law.target = lambda X, y: y + np.where(rows, change(X, y), 0.0)


def noisy_mixture(law: Law) -> None:
    """Some rows follow another quadratic, and there is noise as large as the difference."""
    other = low_rank(law.rng, law.X.shape[1], law.rank)
    _mixed(law, lambda X, y: quadratic(X, other) - y, law.rng.uniform(0.05, 0.4), between(law.rng, 0.05, 0.6))


def even_mixture(law: Law) -> None:
    """Half of the rows follow one law, half another one: neither is the law."""
    part, noise = law.rng.uniform(0.3, 1.0) * direction(law), between(law.rng, 0.01, 0.3)
    size = float(law.clean().std())
    _mixed(law, lambda X, y: size * (X @ part), 0.5, noise)
    law.sound = False


def near_even_mixture(law: Law) -> None:
    """Nearly half of the rows have another slope, so that what is left over is hardly skewed."""
    part, noise = law.rng.uniform(0.3, 1.5) * direction(law), between(law.rng, 0.01, 0.3)
    size = float(law.clean().std())
    _mixed(law, lambda X, y: size * (X @ part), law.rng.uniform(0.3, 0.42), noise)


def gains_per_row(law: Law) -> None:
    """Each row has a gain of its own, one at the median, and more often far above it than far below."""
    law.holds = False
    gains = np.exp(law.rng.uniform(0.3, 0.8) * law.rng.standard_normal(len(law.X)))
    law.target = lambda X, y: gains * y


def few_gains(law: Law) -> None:
    """Each row was measured with one of three to six instruments, whose gains differ."""
    law.holds = law.sound = False
    many = whole(law.rng, 3, 6)
    gains = 1 + law.rng.uniform(0.3, 0.7) * np.linspace(-1, 1, many)
    who = law.rng.integers(many, size=len(law.X))
    law.target = lambda X, y: gains[who] * y


def small_gains(law: Law) -> None:
    """Some targets are smaller than they should be."""
    times, noise = law.rng.uniform(-0.5, 0.6), between(law.rng, 0.01, 0.3)
    _mixed(law, lambda X, y: (times - 1) * y, law.rng.uniform(0.1, 0.4), noise)


def many_small_laws(law: Law) -> None:
    """Two fifths of the rows follow laws of their own, which lean the same way."""
    d = law.X.shape[1]
    usual = direction(law)
    slopes = usual + law.rng.uniform(0.2, 1.0) * law.rng.standard_normal((len(law.X), d)) / np.sqrt(d)
    level, noise = between(law.rng, 0.3, 1.5) * float(law.clean().std()), between(law.rng, 0.01, 0.3)
    _mixed(law, lambda X, y: level * np.einsum("ij,ij->i", X, slopes), law.rng.uniform(0.1, 0.4), noise)


def group_of_another_law(law: Law) -> None:
    """A group of rows, which lie together and nobody named, has another slope and more noise."""
    n, size = len(law.X), float(law.clean().std())
    start, share = law.rng.uniform(0.0, 0.6), law.rng.uniform(0.1, 0.4)
    rows = np.abs(np.arange(n) / n - start - share / 2) < share / 2
    part, level = law.rng.uniform(0.3, 1.5) * direction(law), between(law.rng, 0.05, 0.5)
    law.holds = False
    law.target = lambda X, y: y + np.where(rows, size * (X @ part + level * law.rng.standard_normal(n)), 0.0)


def noise_and_mixture(law: Law) -> None:
    """Noise grows with one feature, and some rows have another slope in that very feature."""
    share, slope, size = law.rng.uniform(0.1, 0.4), law.rng.uniform(0.3, 1.5), float(law.clean().std())
    level = between(law.rng, 0.1, 0.5)
    rows = law.rng.random(len(law.X)) < share
    law.holds = False
    law.target = lambda X, y: (
        y + size * X[:, 0] * (np.where(rows, slope, 0.0) + level * law.rng.standard_normal(len(y)))
    )


# --- of both, made after the rule on shapes was chosen: on these it was judged first


def noise_of_a_product(law: Law) -> None:
    """Noise grows with the product of two features."""
    least = law.rng.uniform(0.1, 0.6)
    _noise(law, lambda X, y: least + np.abs(X[:, 0] * X[:, 1]))


def explosive_noise(law: Law) -> None:
    """Noise grows as the exponential of a direction."""
    v = law.rng.uniform(0.3, 0.8) * direction(law)
    _noise(law, lambda X, y: np.exp(np.clip(X @ v, -4, 4)))


def skewed_uneven_noise(law: Law) -> None:
    """Noise that is far above more often than far below grows with the size of a feature."""
    _noise(law, lambda X, y: np.abs(X[:, 0]), lambda n: law.rng.gamma(4.0, 0.5, n) - 2.0)


def noise_of_the_slope(law: Law) -> None:
    """Noise grows with how fast the target changes."""
    _noise(law, lambda X, y: np.linalg.norm(law.w + 2 * X @ law.M, axis=1))


def mixture_in_heavy_noise(law: Law) -> None:
    """Some rows have another slope; noise has heavy tails."""
    part, level = law.rng.uniform(0.3, 1.5) * direction(law), between(law.rng, 0.02, 0.3)
    size, n = float(law.clean().std()), len(law.X)
    rows = law.rng.random(n) < law.rng.uniform(0.1, 0.4)
    law.holds = False
    law.target = lambda X, y: y + size * (np.where(rows, X @ part, 0.0) + level * law.rng.standard_t(4, n))


def two_further_laws(law: Law) -> None:
    """Some rows have a slope that is larger, others one that is smaller than in most rows."""
    law.holds = False
    first, second = law.rng.uniform(0.05, 0.2), law.rng.uniform(0.15, 0.3)
    slope, size = law.rng.uniform(0.5, 2.0), float(law.clean().std())
    v, noise = direction(law), between(law.rng, 0.01, 0.3)
    law.noise = max(law.noise, noise)
    place = law.rng.random(len(law.X))
    which = np.where(place < first, -1.0, np.where(place < first + second, 1.0, 0.0))
    law.target = lambda X, y: y + size * slope * which * (X @ v)


def more_often_where_large(law: Law) -> None:
    """The other law is the more frequent the larger a feature is in size."""
    law.holds = False
    slope, size = law.rng.uniform(0.3, 1.5), float(law.clean().std())
    v, chance = direction(law), law.rng.uniform(0.1, 0.4)
    rows = law.rng.random(len(law.X)) < np.minimum(chance * np.abs(law.X[:, 0]), 0.6)
    law.noise = max(law.noise, between(law.rng, 0.01, 0.3))
    law.target = lambda X, y: y + np.where(rows, size * slope * (X @ v), 0.0)


def noise_of_the_other_law(law: Law) -> None:
    """Some rows follow another quadratic, and have other noise, too."""
    other, n, size = low_rank(law.rng, law.X.shape[1], law.rank), len(law.X), float(law.clean().std())
    less, more = between(law.rng, 0.01, 0.2), between(law.rng, 0.05, 0.5)
    rows = law.rng.random(n) < law.rng.uniform(0.1, 0.4)
    mix = law.rng.uniform(0.3, 1.0)
    law.holds = False
    law.target = lambda X, y: np.where(
        rows,
        y + mix * (quadratic(X, other) - y) + more * size * law.rng.standard_normal(n),
        y + less * size * law.rng.standard_normal(n),
    )


UNEVEN_LAWS = tuple(Part(act.__name__.replace("_", " "), act) for act in (
    noise_with_size, noise_of_a_direction, noise_of_a_side, noise_of_far_rows, heavy_uneven_noise,
    bounded_uneven_noise, symmetric_slopes, noisy_mixture, even_mixture, near_even_mixture, gains_per_row,
    few_gains, small_gains, many_small_laws, group_of_another_law, noise_and_mixture,
    noise_of_a_product, explosive_noise, skewed_uneven_noise, noise_of_the_slope, mixture_in_heavy_noise,
    two_further_laws, more_often_where_large, noise_of_the_other_law,
))  # fmt: skip
