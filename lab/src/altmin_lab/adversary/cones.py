"""Bases and perturbations of non-negative factorizations."""

from __future__ import annotations

import numpy as np

from altmin_lab.adversary.compose import Array, Draft, Part, between, whole


def features(rng: np.random.Generator, D: int, W: int, kind: str) -> Array:
    """Features with zeros (words), dense ones (spectra) or of both signs."""
    if kind == "signed":
        return rng.standard_normal((D, W))
    A = rng.gamma(0.3 if kind == "sparse" else 2.0, size=(D, W))
    if kind == "sparse":
        A = np.where(A < 0.02, 0.0, A)
    return np.asarray(A / A.sum(axis=1, keepdims=True) * W)


def _weights(rng: np.random.Generator, n: int, D: int, pure: bool) -> Array:
    x = rng.dirichlet(np.full(D, 0.4), n)
    x = np.where(x < 0.02, 0.0, x)
    if pure:
        rows = rng.permutation(n)[: max(8 * D, n // 20)]
        x[rows] = np.eye(D)[rng.integers(D, size=len(rows))]
    return np.asarray(x / x.sum(axis=1, keepdims=True))


def _base(rng: np.random.Generator, kind: str, pure: bool, noise: float = 0.0, counts: float = 0.0) -> Draft:
    D, n, W = whole(rng, 3, 6), whole(rng, 400, 1000), whole(rng, 25, 60)
    return Draft(rng, features(rng, D, W, kind), _weights(rng, n, D, pure), noise=noise, counts=counts)


def _wide_counts(rng: np.random.Generator) -> Draft:
    D, n, W = whole(rng, 3, 9), whole(rng, 600, 1500), whole(rng, 60, 150)
    A = features(rng, D, W, "sparse") * np.exp(rng.uniform(0, 1) * rng.standard_normal(W))
    return Draft(rng, A, _weights(rng, n, D, True), counts=between(rng, 500, 5000))


def pure(codes: Array) -> bool:
    """Whether each feature has at least 95 % of three samples: then it is true to declare that."""
    share = np.maximum(codes, 0.0) / np.maximum(np.abs(codes).sum(axis=1, keepdims=True), 1e-300)
    return bool(np.all(np.sum(share >= 0.95, axis=0) >= 3))


BASES = (
    Part("words", lambda rng: _base(rng, "sparse", False)),
    Part("words, pure samples", lambda rng: _base(rng, "sparse", True)),
    Part("spectra, pure samples", lambda rng: _base(rng, "dense", True)),
    Part("both signs, pure samples", lambda rng: _base(rng, "signed", True)),
    Part("words, noise", lambda rng: _base(rng, "sparse", True, 10 ** (-rng.uniform(15, 40) / 20)),
         group="noisy"),
    Part("spectra, noise", lambda rng: _base(rng, "dense", True, 10 ** (-rng.uniform(25, 45) / 20)),
         group="noisy"),
    Part("counts", lambda rng: _base(rng, "sparse", True, counts=between(rng, 300, 5000)), group="counts"),
    Part("spectra, counts", lambda rng: _base(rng, "dense", True, counts=between(rng, 300, 20000)),
         group="counts"),
    Part("wide counts", _wide_counts, group="counts"),
)  # fmt: skip


ADD_NOISE = (
    "uneven features", "noisy samples", "tailed noise", "bounded noise", "overdispersed", "coloured noise",
    "quantised", "heteroscedastic", "multiplied",
)  # fmt: skip


# --- perturbations on which rules may be tuned -------------------------------------------------------


def capped(d: Draft) -> None:
    """No weight exceeds a cap."""
    d.holds = False
    cap = d.rng.uniform(0.45, 0.65)
    for _ in range(20):
        d.codes = np.minimum(d.codes, cap)
        d.codes /= d.codes.sum(axis=1, keepdims=True)
    keep = d.codes.max(axis=1) <= cap + 1e-6
    d.codes = d.codes[keep]


def pairs_together(d: Draft) -> None:
    """Each feature occurs only together with its partner, never alone."""
    d.holds = False
    D = len(d.factors)
    partner = np.arange(D) ^ 1
    partner[partner >= D] = 0
    share = d.rng.uniform(0.25, 0.75, d.codes.shape)
    mixed = d.codes * share
    np.add.at(mixed.T, partner, (d.codes * (1 - share)).T)
    d.codes = mixed


def too_few_asked(d: Draft) -> None:
    """One component fewer is asked for."""
    d.asked, d.sound = len(d.factors) - 1, False


def too_many_asked(d: Draft) -> None:
    """One component more is asked for."""
    d.asked, d.sound = len(d.factors) + 1, False


def close_features(d: Draft) -> None:
    """Two features are nearly the same."""
    d.factors[1] = d.factors[0] + between(d.rng, 0.02, 0.3) * d.factors[1]


def background(d: Draft) -> None:
    """A constant background in all samples."""
    extra = features(d.rng, 1, d.factors.shape[1], "dense")[0] * between(d.rng, 0.05, 0.5)
    d.factors = d.factors + extra  # weights sum to 1: the background is a part of each feature


def outliers(d: Draft) -> None:
    """A few samples are something else."""
    d.holds = False
    rows = d.rng.random(len(d.codes)) < between(d.rng, 0.005, 0.1)
    other = d.rng.gamma(0.5, size=(len(d.codes), d.factors.shape[1]))
    d.after.append(lambda X: np.where(rows[:, None], other * X.mean() / other.mean(), X))


def copies(d: Draft) -> None:
    """A few samples, many times."""
    d.holds = False
    D = len(d.factors)
    rows = d.rng.permutation(len(d.codes))[: whole(d.rng, D, 3 * D)]
    d.codes = d.codes[d.rng.choice(rows, len(d.codes))]


def binary(d: Draft) -> None:
    """Weights are 0 or 1, several at a time."""
    d.holds = False
    n, D = d.codes.shape
    active = whole(d.rng, 2, max(D - 1, 2))
    d.codes = (np.argsort(d.rng.random((n, D)), axis=1) < active).astype(float)


def merged(d: Draft) -> None:
    """Two features always occur in the same proportion."""
    d.codes[:, 1] = d.codes[:, 0]
    d.factors[0] = d.factors[1] = d.factors[0] + d.factors[1]
    d.sound = False


def few_samples(d: Draft) -> None:
    """Hardly more samples than features."""
    d.holds = False
    D = len(d.factors)
    d.codes = d.codes[: whole(d.rng, D, 6 * D)]


def floor(d: Draft) -> None:
    """Every feature is in every sample."""
    d.holds = False
    level = d.rng.uniform(0.02, 0.1)
    d.codes = level + (1 - level * d.codes.shape[1]) * d.codes


def no_structure(d: Draft) -> None:
    """Independent exponential entries."""
    d.after.append(lambda X: d.rng.exponential(size=X.shape))
    d.codes, d.sound = np.ones_like(d.codes), False


# --- perturbations that only judge -------------------------------------------------------------------


def drift(d: Draft) -> None:
    """The features change from the first to the last sample."""
    d.holds = False
    D, W = d.factors.shape
    later = d.factors * np.exp(d.rng.uniform(0.1, 0.6) * d.rng.standard_normal((D, W)))
    t, Z, A = np.linspace(0, 1, len(d.codes))[:, None], d.codes, d.factors
    d.after.append(lambda X: (1 - t) * (Z @ A) + t * (Z @ later))
    d.sound = False


def heteroscedastic(d: Draft) -> None:
    """Features have noise of very different size."""
    level = between(d.rng, 0.002, 0.05)
    sd = d.rng.exponential(1, d.factors.shape[1]) ** 2
    d.last.append(lambda X: X + level * np.sqrt(np.mean(X**2)) * sd * d.rng.standard_normal(X.shape))


def quantised(d: Draft) -> None:
    """Values are rounded to a grid."""
    step = between(d.rng, 0.01, 0.5)
    d.last.append(lambda X: np.round(X / (step * X.std())) * step * X.std())


def two_populations(d: Draft) -> None:
    """Some samples are made of other features."""
    d.holds = False
    rows = d.rng.random(len(d.codes)) < d.rng.uniform(0.05, 0.4)
    D, W = d.factors.shape
    other = features(d.rng, D, W, "sparse")
    Z = d.codes
    d.after.append(lambda X: np.where(rows[:, None], Z @ other, X))
    d.sound = False


def structured_noise(d: Draft) -> None:
    """Noise along one direction."""
    d.holds = False
    v, level = d.rng.standard_normal(d.factors.shape[1]), between(d.rng, 0.01, 0.2)
    d.after.append(lambda X: X + level * np.sqrt(np.mean(X**2)) * d.rng.standard_normal((len(X), 1)) * v)


def some_negative(d: Draft) -> None:
    """Some weights are negative."""
    d.holds = False
    flip = d.rng.random(d.codes.shape) < d.rng.uniform(0.01, 0.1)
    d.codes = np.where(flip, -d.codes, d.codes)


def brightness(d: Draft) -> None:
    """Samples of very different size."""
    d.codes = d.codes * np.exp(d.rng.standard_normal((len(d.codes), 1)))


def saturating(d: Draft) -> None:
    """Features saturate."""
    d.holds = False
    level = d.rng.uniform(0.2, 1.0)
    d.after.append(lambda X: X / (1 + level * X / X.mean()))
    d.sound = False


def rare_feature(d: Draft) -> None:
    """One more feature, in few samples, that wasn't asked for."""
    d.holds = False
    D, W = d.factors.shape
    d.factors = np.vstack([d.factors, features(d.rng, 1, W, "sparse")])
    on = d.rng.random(len(d.codes)) < d.rng.uniform(0.02, 0.15)
    extra = np.where(on, d.rng.uniform(0.2, 1.0, len(on)), 0.0)[:, None]
    d.codes = np.hstack([(1 - extra) * d.codes, extra])
    d.asked, d.sound = D, False


def hierarchy(d: Draft) -> None:
    """A feature occurs only where another one does."""
    d.holds = False
    d.codes[:, 1] = np.minimum(d.codes[:, 1], d.codes[:, 0])
    d.codes = d.codes[d.codes.sum(axis=1) > 0]


def smooth(d: Draft) -> None:
    """All features in all samples, in similar amounts."""
    d.holds = False
    n, D = d.codes.shape
    d.codes = d.rng.dirichlet(np.full(D, d.rng.uniform(2.0, 6.0)), n)


def cut_corner(d: Draft) -> None:
    """One feature never dominates, the others may."""
    d.holds = False
    keep = d.codes[:, 0] < d.rng.uniform(0.3, 0.6)
    d.codes = d.codes[keep]


def nonlinear(d: Draft) -> None:
    """Features that occur together multiply."""
    d.holds = False
    level = d.rng.uniform(0.1, 0.6)
    both = d.codes[:, :1] * d.codes[:, 1:2] * (d.factors[0] * d.factors[1])
    d.after.append(lambda X: X + level * both)
    d.sound = False


def cut_features(d: Draft) -> None:
    """Features are cut at a level."""
    d.holds = d.sound = False
    q = d.rng.uniform(0.9, 0.99)
    d.last.append(lambda X: np.minimum(X, np.quantile(X, q)))


def detection_limit(d: Draft) -> None:
    """Small values are recorded as 0."""
    d.holds = False
    q = d.rng.uniform(0.05, 0.4)
    d.last.append(lambda X: np.where(np.abs(X) < np.quantile(np.abs(X), q), 0.0, X))


def impulses(d: Draft) -> None:
    """Single entries are far off."""
    d.holds = False
    share, size = between(d.rng, 0.001, 0.03), between(d.rng, 1, 10)

    def spoil(X: Array) -> Array:
        hit = d.rng.random(X.shape) < share
        return X + np.where(hit, size * X.std() * d.rng.exponential(size=X.shape), 0.0)

    d.last.append(spoil)


def averages(d: Draft) -> None:
    """Each sample is the mean of two."""
    d.codes = (d.codes + d.codes[d.rng.permutation(len(d.codes))]) / 2


def multiplied(d: Draft) -> None:
    """Noise multiplies each entry."""
    level = between(d.rng, 0.005, 0.2)
    d.last.append(lambda X: X * (1 + level * d.rng.standard_normal(X.shape)))


def lopsided(d: Draft) -> None:
    """One feature is in nearly all samples, another one in few."""
    n = len(d.codes)
    d.codes[:, 0] += d.rng.uniform(0.2, 1.0) * (d.rng.random(n) < 0.9)
    d.codes[:, 1] *= d.rng.random(n) < 0.1
    d.codes = d.codes[d.codes.sum(axis=1) > 0]


def uneven_features(d: Draft) -> None:
    """Features have noise of very different size."""
    level, size = between(d.rng, 0.003, 0.03), d.rng.exponential(1, d.factors.shape[1])
    d.last.append(lambda X: X + level * np.sqrt(np.mean(X**2)) * size * d.rng.standard_normal(X.shape))


def three_multiply(d: Draft) -> None:
    """Three features that occur together leave something of their own."""
    d.holds = d.sound = False
    extra = features(d.rng, 1, d.factors.shape[1], "dense")[0]
    both = np.prod(d.codes[:, :3], axis=1, keepdims=True) * d.rng.uniform(10, 40)
    d.after.append(lambda X: X + both * extra)


def quenched(d: Draft) -> None:
    """A feature weakens another one where both occur: samples are mixtures all the same."""
    d.codes[:, 1] *= 1 - d.rng.uniform(0.3, 0.9) * d.codes[:, 0]


def repeated(d: Draft) -> None:
    """Most samples come several times, each with noise of its own."""
    d.codes = d.codes[d.rng.integers(len(d.codes) // 2, size=len(d.codes))]


def two_sizes(d: Draft) -> None:
    """Half of the samples are ten times larger."""
    d.codes = d.codes * d.rng.choice([1.0, 10.0], (len(d.codes), 1))


def swapped_entries(d: Draft) -> None:
    """In some samples two features of the table were mixed up."""
    d.holds = False
    rows = d.rng.random(len(d.codes)) < between(d.rng, 0.01, 0.2)
    order = np.arange(d.factors.shape[1])
    order[[0, 1, 2, 3]] = order[[1, 2, 3, 0]]
    d.after.append(lambda X: np.where(rows[:, None], X[:, order], X))


def stopped_early(d: Draft) -> None:
    """The fit ends after a few iterations."""
    d.stop = whole(d.rng, 1, 6)


def powered(d: Draft) -> None:
    """Values were taken to a power."""
    d.holds = d.sound = False
    p = float(d.rng.choice([d.rng.uniform(0.4, 0.8), d.rng.uniform(1.25, 2.0)]))
    d.after.append(lambda X: np.sign(X) * np.abs(X) ** p)


def mirrored(d: Draft) -> None:
    """Some samples were read backwards."""
    d.holds = d.sound = False
    rows = d.rng.random(len(d.codes)) < d.rng.uniform(0.03, 0.4)
    d.after.append(lambda X: np.where(rows[:, None], X[:, ::-1], X))


def smeared(d: Draft) -> None:
    """Each entry takes a part of the one before, in some samples more than in others."""
    d.holds = d.sound = False
    part = d.rng.uniform(0.0, d.rng.uniform(0.2, 0.8), (len(d.codes), 1))
    d.after.append(lambda X: (1 - part) * X + part * np.roll(X, 1, axis=1))


def two_versions(d: Draft) -> None:
    """A feature looks another way in some samples."""
    d.holds = d.sound = False
    rows = d.rng.random(len(d.codes)) < d.rng.uniform(0.1, 0.5)
    own = np.where(rows, d.codes[:, 0], 0.0)[:, None]
    other = features(d.rng, 1, d.factors.shape[1], "sparse") - d.factors[:1]
    level = d.rng.uniform(0.2, 1.0)
    d.after.append(lambda X: X + level * own * other)


def changing_offset(d: Draft) -> None:
    """A constant of its own is added to each sample."""
    d.holds = d.sound = False
    size = d.rng.uniform(0, between(d.rng, 0.05, 0.5), (len(d.codes), 1))
    d.after.append(lambda X: X + size * np.abs(X).mean())


def half_asked(d: Draft) -> None:
    """Two components fewer are asked for, or one of three."""
    d.holds = d.sound = False
    d.asked = max(len(d.factors) - 2, 2)


def two_more_asked(d: Draft) -> None:
    """Two components more are asked for."""
    d.holds = d.sound = False
    d.asked = len(d.factors) + 2


def _nothing(d: Draft) -> None:
    """As it is."""


PERTURBATIONS = (
    *(Part(act.__name__.strip("_").replace("_", " "), act) for act in (
        _nothing, capped, pairs_together, too_few_asked, too_many_asked, close_features, background, outliers,
        copies, binary, merged, few_samples, floor, no_structure, cut_features, nonlinear, heteroscedastic,
        multiplied, brightness, quantised, averages, changing_offset, powered, saturating,
        repeated, stopped_early, some_negative)),
    *(Part(act.__name__.replace("_", " "), act, held_out=True) for act in (
        drift, two_populations, structured_noise, rare_feature, hierarchy, smooth,
        cut_corner, detection_limit, impulses, lopsided, uneven_features, three_multiply, quenched,
        two_sizes, swapped_entries, mirrored, smeared, two_versions,
        half_asked, two_more_asked)),
)  # fmt: skip
