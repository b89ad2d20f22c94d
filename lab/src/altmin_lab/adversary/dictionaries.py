"""Bases and perturbations of dictionaries: as many atoms as features, or fewer."""

from __future__ import annotations

import numpy as np

from altmin_lab.adversary import changes, fresh_changes, later_changes, measured_changes
from altmin_lab.adversary.compose import Array, Draft, Part, between, whole


def atoms(rng: np.random.Generator, k: int, d: int, orthogonal: bool) -> Array:
    """Unit atoms, orthonormal or of condition up to 5."""
    U, _, Vt = np.linalg.svd(rng.standard_normal((k, d)), full_matrices=False)
    A = U @ Vt if orthogonal else (U * np.geomspace(1, 1 / between(rng, 1.0, 5.0), k)) @ Vt
    return np.asarray(A / np.linalg.norm(A, axis=1, keepdims=True))


def _codes(rng: np.random.Generator, n: int, k: int, density: float, law: str) -> Array:
    x = rng.standard_normal((n, k))
    values = {"gap": np.sign(x) * (0.5 + np.abs(x)), "sign": np.sign(x), "gauss": x}[law]
    return np.asarray(values * (rng.random((n, k)) < density))


def _base(
    rng: np.random.Generator,
    orthogonal: bool,
    law: str,
    noise: float = 0.0,
    density: tuple[float, float] = (0.1, 0.25),
    n: tuple[int, int] = (700, 1500),
    fewer: int = 0,
) -> Draft:
    k = whole(rng, 5, 7)
    A = atoms(rng, k, k + (0 if orthogonal else fewer), orthogonal)
    Z = _codes(rng, whole(rng, *n), k, rng.uniform(*density), law)
    return Draft(rng, A, Z, noise=noise)


BASES = (
    Part("gap codes", lambda rng, o: _base(rng, o, "gap")),
    Part("Gaussian codes", lambda rng, o: _base(rng, o, "gauss")),
    Part("sign codes", lambda rng, o: _base(rng, o, "sign")),
    Part("rare codes", lambda rng, o: _base(rng, o, "gap", density=(0.02, 0.06), n=(2000, 3000))),
    Part("noise of 25 to 40 dB", lambda rng, o: _base(rng, o, "gap", 10 ** (-rng.uniform(25, 40) / 20)),
         group="noisy"),
    Part("noise of 15 to 25 dB", lambda rng, o: _base(rng, o, "gap", 10 ** (-rng.uniform(15, 25) / 20)),
         group="noisy"),
    Part("fewer atoms, noise", lambda rng, o: _base(rng, o, "gap", 10 ** (-rng.uniform(20, 40) / 20),
                                                    fewer=whole(rng, 1, 4)), group="noisy"),
)  # fmt: skip


def union(d: Draft) -> None:
    """Some samples are made of another dictionary: half of what made the data is missing."""
    d.holds = False
    k = len(d.factors)
    rows = d.rng.random(len(d.codes)) < d.rng.uniform(0.05, 0.45)
    other = atoms(d.rng, k, d.factors.shape[1], True)
    Z = d.codes.copy()
    d.after.append(lambda X: np.where(rows[:, None], Z @ other, X))
    d.sound = False


def equal_pair(d: Draft) -> None:
    """In a quarter of the samples two codes are equal but for the sign."""
    d.holds = False
    rows = d.rng.random(len(d.codes)) < d.rng.uniform(0.1, 0.4)
    size = 0.5 + np.abs(d.rng.standard_normal(rows.sum()))
    for column in (0, 1):
        d.codes[rows, column] = size * d.rng.choice([-1, 1], rows.sum())


def merged(d: Draft) -> None:
    """Two atoms always occur in the same proportion: only their sum can be known."""
    d.holds = False
    d.codes[:, 1] = d.codes[:, 0]
    both = d.factors[0] + d.factors[1]
    d.factors[0] = d.factors[1] = both / 2
    d.sound = False


def near_copy(d: Draft) -> None:
    """One more atom than asked for, close to another."""
    d.holds = False
    k = len(d.factors)
    close = d.factors[0] + between(d.rng, 0.1, 0.6) * d.rng.standard_normal(d.factors.shape[1]) / np.sqrt(k)
    d.factors = np.vstack([d.factors, close / np.linalg.norm(close)])
    d.codes = np.column_stack([d.codes, d.rng.permutation(d.codes[:, 0])])
    d.asked, d.sound = k, False
    angle = float(np.arccos(min(abs(d.factors[0] @ d.factors[-1]), 1.0)))
    d.by_nature = d.noise > 0 and angle < max(0.08, 2 * d.noise)  # the report prints that it can't see that


def drift(d: Draft) -> None:
    """The atoms turn from the first to the last sample."""
    d.holds = False
    k, n = len(d.factors), len(d.codes)
    turned = d.factors + d.rng.uniform(0.1, 1.0) * d.rng.standard_normal(d.factors.shape) / np.sqrt(k)
    t, Z, A = np.linspace(0, 1, n)[:, None], d.codes, d.factors
    d.after.append(lambda X: (1 - t) * (Z @ A) + t * (Z @ turned))
    d.sound = False


def outliers(d: Draft) -> None:
    """A few samples are dense."""
    d.holds = False
    rows = d.rng.random(len(d.codes)) < between(d.rng, 0.01, 0.15)
    dense = d.rng.standard_normal((len(d.codes), d.factors.shape[1]))
    d.after.append(lambda X: np.where(rows[:, None], dense * np.sqrt(np.mean(X**2)), X))


def copies(d: Draft) -> None:
    """A few samples, many times."""
    d.holds = False
    k = len(d.factors)
    d.codes = d.codes[d.rng.integers(whole(d.rng, k, 5 * k), size=len(d.codes))]


def together(d: Draft) -> None:
    """Two atoms share their support."""
    d.holds = False
    on = d.codes[:, 0] != 0
    d.codes[:, 1] = np.where(on, d.rng.standard_normal(len(on)), 0.0)


def dense(d: Draft) -> None:
    """Codes in most samples."""
    d.holds = False
    n, k = d.codes.shape
    d.codes = _codes(d.rng, n, k, d.rng.uniform(0.45, 0.9), str(d.rng.choice(["gap", "sign", "gauss"])))


def too_few_asked(d: Draft) -> None:
    """One atom fewer is asked for."""
    d.holds = False
    d.asked, d.sound = len(d.factors) - 1, False


def few_samples(d: Draft) -> None:
    """Hardly more samples than atoms."""
    d.holds = False
    k = len(d.factors)
    d.codes = d.codes[: whole(d.rng, 2 * k, 9 * k)]


def no_structure(d: Draft) -> None:
    """Gaussian data."""
    d.holds = False
    d.after.append(lambda X: d.rng.standard_normal(X.shape))
    d.sound = False


def hierarchy(d: Draft) -> None:
    """An atom occurs only where another one does."""
    d.holds = False
    d.codes[:, 1] *= d.codes[:, 0] != 0
    d.codes[:, 3] *= d.codes[:, 2] != 0


def blocks(d: Draft) -> None:
    """Atoms are switched on in groups of two or three."""
    d.holds = False
    n, k = d.codes.shape
    size = whole(d.rng, 2, 3)
    on = np.repeat(d.rng.random((n, -(-k // size))) < 0.2, size, axis=1)[:, :k]
    d.codes = np.where(on, d.rng.standard_normal((n, k)), 0.0)


def structured_noise(d: Draft) -> None:
    """Noise along a few directions only."""
    d.holds = False
    r = whole(d.rng, 1, 2)
    V = d.rng.standard_normal((r, d.factors.shape[1])) / np.sqrt(d.factors.shape[1])
    level = between(d.rng, 0.1, 1.0)
    size = float(np.sqrt(np.mean((d.codes @ d.factors) ** 2)))
    d.after.append(lambda X: X + level * size * d.rng.standard_normal((len(X), r)) @ V * np.sqrt(X.shape[1]))


def heteroscedastic(d: Draft) -> None:
    """Samples have noise of very different size."""
    level = between(d.rng, 0.003, 0.1)
    d.last.append(
        lambda X: (
            X
            + level
            * np.sqrt(np.mean(X**2))
            * d.rng.standard_normal(X.shape)
            * d.rng.exponential(1, (len(X), 1)) ** 2
        )
    )


def quantised(d: Draft) -> None:
    """Values are rounded to a grid."""
    step = between(d.rng, 0.02, 0.6)
    d.last.append(lambda X: np.round(X / (step * X.std())) * step * X.std())


def one_sided(d: Draft) -> None:
    """All codes are positive."""
    d.codes = np.abs(d.codes)


def offset(d: Draft) -> None:
    """A constant is added to all samples: the intercept's, the atoms stay what they are."""
    shift = between(d.rng, 0.05, 1.0) * d.rng.standard_normal(d.factors.shape[1])
    d.after.append(lambda X: X + shift * np.sqrt(np.mean(X**2)))


def heavy_tails(d: Draft) -> None:
    """Codes of very different size."""
    d.codes = d.codes * np.exp(d.rng.standard_normal(d.codes.shape))


def laplace(d: Draft) -> None:
    """Codes are Laplacian: small more often than not, never 0."""
    d.holds = False
    d.codes = d.rng.laplace(size=d.codes.shape)


def rare_atom(d: Draft) -> None:
    """One more atom, in few samples, that wasn't asked for."""
    d.holds = False
    k, n = len(d.factors), len(d.codes)
    extra = d.rng.standard_normal((1, d.factors.shape[1]))
    d.factors = np.vstack([d.factors, extra / np.linalg.norm(extra)])
    share = d.rng.uniform(0.02, 0.15)
    on = d.rng.random(n) < share
    d.codes = np.column_stack([d.codes, np.where(on, 1.5 * d.rng.standard_normal(n), 0.0)])
    d.asked, d.sound = k, False
    d.by_nature = d.noise > 0 and share < changes.seen(d)  # the report prints that it can't see that


def two_densities(d: Draft) -> None:
    """Half of the samples are much denser than the others; all are made of the same atoms."""
    d.holds = False
    n, k = d.codes.shape
    rows = d.rng.random(n) < 0.5
    d.codes[rows] = _codes(d.rng, n, k, 0.5, "gap")[rows]


def distorted(d: Draft) -> None:
    """Features saturate (it judged once, failed, and has been among the tuned ones since)."""
    d.holds = False
    level = d.rng.uniform(0.3, 1.5)
    d.last.append(lambda X: np.tanh(level * X / X.std()) * X.std() / level)
    d.sound = False


def lines(d: Draft) -> None:
    """Three atoms in fixed proportion in some samples: a mixture that is as sparse as an atom."""
    d.holds = False
    rows = d.rng.random(len(d.codes)) < d.rng.uniform(0.05, 0.3)
    mix = d.rng.standard_normal(3)
    d.codes[rows] = 0.0
    d.codes[rows, :3] = d.rng.standard_normal((int(rows.sum()), 1)) * mix


def late_arrival(d: Draft) -> None:
    """One atom is replaced by another halfway."""
    d.holds = False
    k, n = len(d.factors), len(d.codes)
    extra = d.rng.standard_normal((1, d.factors.shape[1]))
    d.factors = np.vstack([d.factors, extra / np.linalg.norm(extra)])
    late = np.arange(n) > n // 2
    d.codes = np.column_stack([d.codes, np.where(late, d.codes[:, 0], 0.0)])
    d.codes[late, 0] = 0.0
    d.asked, d.sound = k, False


def cut_features(d: Draft) -> None:
    """Features are cut at a level."""
    d.holds = d.sound = False
    q = d.rng.uniform(0.9, 0.99)
    d.last.append(lambda X: np.clip(X, -np.quantile(np.abs(X), q), np.quantile(np.abs(X), q)))


def impulses(d: Draft) -> None:
    """Single entries are far off."""
    share, size = between(d.rng, 0.001, 0.03), between(d.rng, 1, 10)

    def spoil(X: Array) -> Array:
        hit = d.rng.random(X.shape) < share
        return X + np.where(hit, size * X.std() * d.rng.standard_normal(X.shape), 0.0)

    d.holds = False
    d.last.append(spoil)


def averages(d: Draft) -> None:
    """Each sample is the mean of two."""
    d.holds = False
    d.codes = (d.codes + d.codes[d.rng.permutation(len(d.codes))]) / 2


def bursts(d: Draft) -> None:
    """An atom that is on stays on for some samples."""
    n, k = d.codes.shape
    stay = d.rng.uniform(0.3, 0.8)
    on = d.codes != 0
    values = np.where(on, d.codes, d.rng.standard_normal((n, k)))
    for i in range(1, n):
        on[i] |= on[i - 1] & (d.rng.random(k) < stay)
    d.holds = False
    d.codes = np.where(on, values, 0.0)


def products(d: Draft) -> None:
    """Atoms that occur together leave a trace of their own, beside what makes either of them larger."""
    d.holds = d.sound = False
    extra = np.asarray(d.rng.standard_normal(d.factors.shape[1]))
    extra = extra - extra @ np.linalg.pinv(d.factors[:2]) @ d.factors[:2]
    both, level = d.codes[:, 0] * d.codes[:, 1], between(d.rng, 0.2, 2.0)
    d.by_nature = float(np.mean(both != 0)) < changes.seen(d)
    d.after.append(lambda X: X + level * both[:, None] * extra / np.linalg.norm(extra))


def gain(d: Draft) -> None:
    """Samples are measured with a gain that changes slowly."""
    d.codes = d.codes * np.exp(np.sin(np.linspace(0, d.rng.uniform(2, 20), len(d.codes))))[:, None]


def echo(d: Draft) -> None:
    """Each sample holds a part of the one before."""
    d.holds = False
    d.codes[1:] += d.rng.uniform(0.1, 0.6) * d.codes[:-1].copy()


def exclusive(d: Draft) -> None:
    """Two atoms never occur together."""
    d.holds = False
    d.codes[:, 1] *= d.codes[:, 0] == 0


def one_of_two(d: Draft) -> None:
    """An atom occurs where exactly one of two others does: each pair of them is independent."""
    d.holds = False
    on = (d.codes[:, 0] != 0) ^ (d.codes[:, 1] != 0)
    d.codes[:, 2] = np.where(on, d.rng.standard_normal(len(on)), 0.0)


def sign_versions(d: Draft) -> None:
    """An atom looks another way where its code is negative."""
    d.holds = False
    other = d.factors[0] + d.rng.uniform(0.3, 1.0) * d.rng.standard_normal(d.factors.shape[1]) / np.sqrt(
        d.factors.shape[1]
    )
    below, shift = np.minimum(d.codes[:, :1], 0.0), other / np.linalg.norm(other) - d.factors[0]
    d.after.append(lambda X: X + below * shift)
    d.sound = False


def uneven_features(d: Draft) -> None:
    """Features have noise of very different size."""
    level, size = between(d.rng, 0.005, 0.1), d.rng.exponential(1, d.factors.shape[1]) ** 2
    d.last.append(lambda X: X + level * np.sqrt(np.mean(X**2)) * size * d.rng.standard_normal(X.shape))


def shuffled_rows(d: Draft) -> None:
    """In some samples the features were mixed up."""
    d.holds = False
    rows = d.rng.random(len(d.codes)) < between(d.rng, 0.01, 0.2)
    order = d.rng.permutation(d.factors.shape[1])
    d.after.append(lambda X: np.where(rows[:, None], X[:, order], X))


def normalised(d: Draft) -> None:
    """Samples are scaled to one size."""
    d.last.append(lambda X: X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12))


def rectified(d: Draft) -> None:
    """What is negative was lost."""
    d.holds = d.sound = False
    d.last.append(lambda X: np.maximum(X, 0.0))


def lost_entries(d: Draft) -> None:
    """Some entries were set to 0."""
    d.holds = False
    share = between(d.rng, 0.003, 0.1)
    d.last.append(lambda X: np.where(d.rng.random(X.shape) < share, 0.0, X))


def trend(d: Draft) -> None:
    """A slow wave is added along one direction."""
    d.holds = False
    v, level = d.rng.standard_normal(d.factors.shape[1]), between(d.rng, 0.05, 1.0)
    wave = np.sin(np.linspace(0, d.rng.uniform(3, 30), len(d.codes)))[:, None]
    d.after.append(lambda X: X + level * np.sqrt(np.mean(X**2)) * wave * v)


def crowded(d: Draft) -> None:
    """Some samples use far more atoms than others, as blocks of a photograph do."""
    n, k = d.codes.shape
    busy = np.minimum(d.rng.lognormal(0.0, 0.6, (n, 1)) * (d.codes != 0).mean(), 0.7)
    values = np.where(d.codes != 0, d.codes, np.abs(d.codes[d.codes != 0]).mean())
    d.codes = np.where(d.rng.random((n, k)) < busy, values * d.rng.choice([-1, 1], (n, k)), 0.0)


def whole_numbers(d: Draft) -> None:
    """Codes are small whole numbers, small ones more often."""
    size = d.rng.geometric(0.5, d.codes.shape)
    d.codes = np.sign(d.codes) * size


def skewed(d: Draft) -> None:
    """Codes are mostly of one sign and of very uneven size."""
    n, k = d.codes.shape
    d.codes = np.where(d.codes != 0, d.rng.exponential(1.0, (n, k)) + 0.3, 0.0) * d.rng.choice(
        [1, 1, 1, -1], (n, k)
    )


def uneven_use(d: Draft) -> None:
    """Some atoms are far larger, and some far rarer, than others."""
    k = d.codes.shape[1]
    d.codes = (
        d.codes
        * np.geomspace(1, d.rng.uniform(2, 6), k)
        * (d.rng.random(d.codes.shape) < np.linspace(1, 0.4, k))
    )


def growing_noise(d: Draft) -> None:
    """A little noise that grows from the first to the last sample."""
    level = between(d.rng, 0.005, 0.03)
    d.last.append(
        lambda X: (
            X
            + level
            * np.sqrt(np.mean(X**2))
            * np.linspace(0.5, 2, len(X))[:, None]
            * d.rng.standard_normal(X.shape)
        )
    )


def two_missing(d: Draft) -> None:
    """Two more atoms that never occur together weren't asked for."""
    d.holds = d.sound = False
    k, n = len(d.factors), len(d.codes)
    extra = d.rng.standard_normal((2, d.factors.shape[1]))
    extra /= np.linalg.norm(extra, axis=1, keepdims=True)
    rows = d.rng.random(n) < d.rng.uniform(0.05, 0.3)
    which = d.rng.integers(2, size=n)
    size = np.where(rows, 1.5 * d.rng.standard_normal(n), 0.0)
    d.after.append(lambda X: X + size[:, None] * extra[which])
    d.asked = k


def turning_pair(d: Draft) -> None:
    """Two atoms turn into each other and back as time goes by."""
    d.holds = d.sound = False
    angle = d.rng.uniform(0.1, 0.8) * np.sin(np.linspace(0, d.rng.uniform(3, 12), len(d.codes)))
    first, second = d.codes[:, 0].copy(), d.codes[:, 1].copy()
    d.codes[:, 0] = np.cos(angle) * first - np.sin(angle) * second
    d.codes[:, 1] = np.sin(angle) * first + np.cos(angle) * second


def borrowed(d: Draft) -> None:
    """In some samples an atom is replaced by its mixture with a part of another one."""
    d.holds = d.sound = False
    rows = (d.codes[:, 0] != 0) & (d.rng.random(len(d.codes)) < d.rng.uniform(0.2, 0.6))
    d.codes[rows, 1] += d.rng.uniform(0.3, 1.0) * d.codes[rows, 0]
    d.by_nature = float(rows.mean()) < changes.seen(d)


def stopped_early(d: Draft) -> None:
    """The fit ends after a few iterations."""
    d.stop = whole(d.rng, 1, 6)


def slightly_turned(d: Draft) -> None:
    """In some samples all atoms are turned a little: two dictionaries, close to each other."""
    d.holds = d.sound = False
    rows = d.rng.random(len(d.codes)) < d.rng.uniform(0.1, 0.5)
    turned = d.factors + d.rng.uniform(0.2, 0.8) * d.rng.standard_normal(d.factors.shape) / np.sqrt(
        d.factors.shape[1]
    )
    Z = d.codes.copy()
    d.after.append(lambda X: np.where(rows[:, None], Z @ turned, X))


def missing_mixture(d: Draft) -> None:
    """One more atom, which wasn't asked for, is a mixture of two others."""
    d.holds = d.sound = False
    k, n = len(d.factors), len(d.codes)
    mix = d.factors[0] + d.rng.choice([-1, 1]) * d.rng.uniform(0.5, 1.5) * d.factors[1]
    on = d.rng.random(n) < d.rng.uniform(0.05, 0.25)
    size = np.where(on, 1.5 * d.rng.standard_normal(n), 0.0)
    d.after.append(lambda X: X + size[:, None] * mix / np.linalg.norm(mix))
    d.asked = k


def mirrored(d: Draft) -> None:
    """Some samples were read backwards."""
    d.holds = d.sound = False
    rows = d.rng.random(len(d.codes)) < d.rng.uniform(0.03, 0.4)
    d.after.append(lambda X: np.where(rows[:, None], X[:, ::-1], X))


def smeared(d: Draft) -> None:
    """Each feature takes a part of the one before, in some samples more than in others."""
    d.holds = d.sound = False
    part = d.rng.uniform(0.0, d.rng.uniform(0.2, 0.8), (len(d.codes), 1))
    d.after.append(lambda X: (1 - part) * X + part * np.roll(X, 1, axis=1))


def powered(d: Draft) -> None:
    """Values were taken to a power."""
    d.holds = d.sound = False
    p = float(d.rng.choice([d.rng.uniform(0.4, 0.8), d.rng.uniform(1.25, 2.0)]))
    d.after.append(lambda X: np.sign(X) * np.abs(X) ** p)


def shrunken(d: Draft) -> None:
    """Values are moved towards 0, and small ones are lost."""
    d.holds = d.sound = False
    q = d.rng.uniform(0.1, 0.5)
    d.after.append(lambda X: np.sign(X) * np.maximum(np.abs(X) - np.quantile(np.abs(X[X != 0]), q), 0.0))


def noisy_gains(d: Draft) -> None:
    """Each entry has a gain of its own."""
    d.holds = False
    level = between(d.rng, 0.03, 0.5)
    d.last.append(lambda X: X * (1 + level * d.rng.standard_normal(X.shape)))


def differences(d: Draft) -> None:
    """Each sample is the difference of two."""
    d.holds = False
    d.codes = d.codes - d.codes[d.rng.permutation(len(d.codes))]


def louder_together(d: Draft) -> None:
    """Two atoms are larger where both occur."""
    d.holds = False
    both = (d.codes[:, 0] != 0) & (d.codes[:, 1] != 0)
    d.codes[both, :2] *= d.rng.uniform(1.5, 4.0)


def half_asked(d: Draft) -> None:
    """Two atoms fewer are asked for."""
    d.holds = d.sound = False
    d.asked = len(d.factors) - 2


def negated(d: Draft) -> None:
    """In some samples half of the features have the other sign."""
    d.holds = d.sound = False
    rows = d.rng.random(len(d.codes)) < d.rng.uniform(0.05, 0.5)
    sign = np.where(d.rng.random(d.factors.shape[1]) < 0.5, -1.0, 1.0)
    sign[:2] = 1.0, -1.0
    d.after.append(lambda X: np.where(rows[:, None], X * sign, X))


def replaced(d: Draft) -> None:
    """One atom is another one in some samples, whenever they come."""
    d.holds = d.sound = False
    rows = d.rng.random(len(d.codes)) < d.rng.uniform(0.2, 0.8)
    other = d.rng.standard_normal(d.factors.shape[1])
    shift = other / np.linalg.norm(other) - d.factors[0]
    part = np.where(rows, d.codes[:, 0], 0.0)[:, None]
    d.after.append(lambda X: X + part * shift)


def _nothing(d: Draft) -> None:
    """As it is."""


ADD_NOISE = (
    "growing noise", "heteroscedastic", "uneven features", "noisy gains", "slow noise", "even noise",
    "proportional noise", "tailed noise", "lively noise", "lively noise and wrong", "coloured noise",
)  # fmt: skip
PERTURBATIONS = (
    *(Part(act.__name__.strip("_").replace("_", " "), act) for act in (
        _nothing, union, equal_pair, merged, near_copy, drift, outliers, copies, together, dense,
        too_few_asked, few_samples, no_structure, distorted, hierarchy, lines, quantised, cut_features,
        offset, trend, structured_noise, rectified, heavy_tails, gain, uneven_features, heteroscedastic,
        normalised, one_sided, rare_atom, products, borrowed, shrunken, blocks, laplace, two_densities,
        late_arrival, impulses, averages, bursts, echo, exclusive, one_of_two, sign_versions,
        shuffled_rows, lost_entries, crowded, whole_numbers, skewed, uneven_use, growing_noise,
        two_missing, turning_pair, stopped_early, slightly_turned, missing_mixture, mirrored, smeared,
        powered, noisy_gains, differences, louder_together, half_asked, negated, replaced,
        *changes.ALL, *later_changes.ALL, *measured_changes.ALL, *fresh_changes.TUNING)),
    *(Part(act.__name__.replace("_", " "), act, held_out=True) for act in fresh_changes.JUDGING),
)  # fmt: skip
