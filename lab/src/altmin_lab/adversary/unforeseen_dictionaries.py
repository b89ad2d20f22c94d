"""Perturbations of dictionaries that only judge, thought out by somebody who knew no rule of the verdicts.

Where atoms were left out the whole can't be found; where samples were spoilt the error against the true atoms
says whether they were found all the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.signal import hilbert, lfilter
from scipy.spatial import cKDTree

from altmin_lab.adversary.changes import close, replaced, seen, some, unit
from altmin_lab.adversary.compose import Array, Draft, Part, between, sines, sized, whole

_ANGLE = 1e-9  # of atoms that count as orthogonal


def _spoilt(d: Draft, change: Callable[[Array], Array], last: bool = False) -> None:
    """Samples are no sums of the atoms any more, which stay what is true."""
    d.holds = False
    (d.last if last else d.after).append(change)


def _more(d: Draft, atoms: Array, codes: Array) -> None:
    """More atoms with these codes, which weren't asked for."""
    d.holds = d.sound = False
    d.asked = len(d.factors)
    d.by_nature = float(np.mean(np.any(codes != 0, axis=1))) < seen(d)
    d.factors = np.vstack([d.factors, atoms])
    d.codes = np.hstack([d.codes, codes])


def _in_forms(d: Draft, forms: list[Array], which: Array) -> None:
    """Each code belongs to one of several forms of its atom; only one form of each was asked for."""
    codes = d.codes.copy()
    d.codes = np.where(which == 0, codes, 0.0)
    others = [np.where(which == number, codes, 0.0) for number in range(1, len(forms) + 1)]
    turned = max(
        float(sines(form, d.factors[[j]])[0]) for own in forms for j, form in enumerate(own[:, None])
    )
    _more(d, np.vstack(forms), np.hstack(others))
    d.by_nature |= turned < close(d)


def _sessions(d: Draft, many: int) -> Array:
    """Number of the session of each sample, as a column."""
    return np.asarray(np.arange(len(d.codes))[:, None] * many // len(d.codes))


def _mixed_features(d: Draft, T: Array) -> None:
    """Features are these mixtures of what they were, and so are atoms, orthogonal no more if they were."""
    A = d.factors @ T
    G, H = d.factors @ d.factors.T, A @ A.T
    before, after = (float(np.abs(S - np.diag(np.diag(S))).max()) for S in (G, H))
    d.holds &= not (before < _ANGLE < after)
    d.factors = A


def _rms(X: Array) -> float:
    return float(np.sqrt(np.mean(X**2)))


# --- atoms of several forms, and atoms that nobody asked for


def anywhere(d: Draft) -> None:
    """An atom comes at its place, or one or two features later, each time anew."""
    reach, share = whole(d.rng, 1, 2), d.rng.uniform(0.15, 0.6)
    which = np.where(d.rng.random(d.codes.shape) < share, d.rng.integers(1, reach + 1, d.codes.shape), 0)
    _in_forms(d, [np.roll(d.factors, step, axis=1) for step in range(1, reach + 1)], which)


def camera_moves(d: Draft) -> None:
    """The camera moves now and then: from scene to scene all features stand at other places."""
    scene = np.arange(len(d.codes))[:, None] // whole(d.rng, 20, 80)
    which = d.rng.choice(3, size=int(scene[-1, 0]) + 1, p=[0.6, 0.2, 0.2])[scene]
    which[: len(which) // 10] = 1
    _in_forms(d, [np.roll(d.factors, 1, axis=1), np.roll(d.factors, -1, axis=1)], which)


def other_seats(d: Draft) -> None:
    """Sensors sit a little differently in each session: features are turned into each other."""
    many, dim = whole(d.rng, 2, 5), d.factors.shape[1]
    forms = []
    for _ in range(1, many):
        K = d.rng.standard_normal((dim, dim))
        K = (K - K.T) * between(d.rng, 0.1, 0.6) / np.linalg.norm(K - K.T, 2)
        forms.append(d.factors @ np.linalg.solve(np.eye(dim) - K, np.eye(dim) + K))
    _in_forms(d, forms, _sessions(d, many))


def other_reference(d: Draft) -> None:
    """A sample is measured against nothing, or against one of its features, not always the same."""
    many = whole(d.rng, 1, 3)
    chosen = d.rng.permutation(d.factors.shape[1])[:many]
    forms = [d.factors - d.factors[:, [one]] for one in chosen]
    _in_forms(d, forms, d.rng.integers(0, many + 1, (len(d.codes), 1)))


def dialect(d: Draft) -> None:
    """Two atoms look another way in the samples that hold a third one."""
    rows = some(d, 0.2, 0.5)
    size = np.abs(d.codes[d.codes != 0]).mean() * d.rng.choice([-1, 1], len(rows))
    d.codes[:, -1] = np.where(rows, np.where(d.codes[:, -1] != 0, d.codes[:, -1], size), 0.0)
    replaced(d, np.stack([unit(d), unit(d)]), rows)


def soup(d: Draft) -> None:
    """What floats around gets into each sample, the more the larger the sample is."""
    size = np.linalg.norm(d.codes @ d.factors, axis=1, keepdims=True)
    _more(d, unit(d)[None], between(d.rng, 0.1, 0.8) * size)


def striping(d: Draft) -> None:
    """A few detectors take turns, each with an offset of its own along one direction."""
    many, level = whole(d.rng, 2, 6), between(d.rng, 0.2, 1.0)
    offsets = d.rng.permutation(np.linspace(-1, 1, many)) * level
    _more(d, unit(d)[None], offsets[np.arange(len(d.codes)) % many][:, None])


def hum(d: Draft) -> None:
    """The hum of the mains runs through the features of one sample into the next one."""
    n, dim = len(d.codes), d.factors.shape[1]
    speed, level = d.rng.uniform(0.3, 2.5), between(d.rng, 0.2, 1.0)
    across = np.stack([np.cos(speed * np.arange(dim)), np.sin(speed * np.arange(dim))])
    along = speed * dim * np.arange(n) + d.rng.uniform(0, 6)
    _more(d, across / np.sqrt(dim / 2), level * np.stack([np.cos(along), -np.sin(along)], axis=1))


def artefacts(d: Draft) -> None:
    """Some samples hold one of many artefacts, each of which is rare."""
    n, k = d.codes.shape
    many = 3 * k
    size = np.where(some(d, 0.1, 0.4), d.rng.choice([-1, 1], n) * d.rng.uniform(0.7, 2.0, n), 0.0)
    which = np.eye(many)[d.rng.integers(many, size=n)]
    _more(d, np.stack([unit(d) for _ in range(many)]), size[:, None] * which)


def faint_and_lost(d: Draft) -> None:
    """A faint atom that wasn't asked for, and a few entries that were lost."""
    n, level, share = len(d.codes), d.rng.uniform(0.4, 0.8), d.rng.uniform(0.01, 0.05)
    size = np.where(some(d, 0.1, 0.3), d.rng.choice([-1, 1], n) * level * d.rng.uniform(0.7, 1.3, n), 0.0)
    _more(d, unit(d)[None], size[:, None])
    d.last.append(lambda X: np.where(d.rng.random(X.shape) < share, 0.0, X))


def numbered(d: Draft) -> None:
    """The number of the sample is one of the features."""
    n, k = d.codes.shape
    d.factors = np.hstack([d.factors, np.zeros((k, 1))])
    ramp = np.linspace(-1, 1, n)[:, None] * between(d.rng, 0.3, 3.0)
    _more(d, np.eye(d.factors.shape[1])[-1:], ramp)


def clusters(d: Draft) -> None:
    """Samples are copies, of any size, of some prototypes, of which there are more than were asked for."""
    n, k = d.codes.shape
    many = whole(d.rng, 2 * k, 4 * k)
    d.asked, d.holds, d.sound = k, False, False
    d.factors = np.stack([unit(d) for _ in range(many)])
    d.codes = np.eye(many)[d.rng.integers(many, size=n)] * d.rng.lognormal(0.0, 0.5, (n, 1))


def closed_curve(d: Draft) -> None:
    """Samples lie on a closed curve; there are no atoms."""
    d.holds = d.sound = False
    angle = np.outer(d.rng.uniform(0, 2 * np.pi, len(d.codes)), np.arange(1, whole(d.rng, 4, 6) + 1))
    waves = np.hstack([np.cos(angle), np.sin(angle)]) / np.sqrt(np.tile(np.arange(1, angle.shape[1] + 1), 2))
    V = d.rng.standard_normal((waves.shape[1], d.factors.shape[1]))
    d.after.append(lambda _: waves @ V)


# --- samples that were spoilt


def bilinear(d: Draft) -> None:
    """Light meets two atoms one after the other: of each pair in a sample their product is added."""
    level = between(d.rng, 0.4, 2.0) * np.sqrt(d.factors.shape[1])
    pairs = ((d.codes @ d.factors) ** 2 - d.codes**2 @ d.factors**2) / 2
    _spoilt(d, lambda X: X + level * pairs)


def vignette(d: Draft) -> None:
    """Features fall off towards the edge, in each sample by another amount."""
    d.sound = False
    dim = d.factors.shape[1]
    edge = np.linspace(-1, 1, dim) ** 2
    amount = d.rng.uniform(0, between(d.rng, 1.0, 3.0), (len(d.codes), 1))
    _spoilt(d, lambda X: X * np.exp(-amount * edge))


def envelope(d: Draft) -> None:
    """Only the envelope of each sample was kept; of an atom that is alone this is true."""
    X = d.codes @ d.factors
    d.factors = np.abs(hilbert(d.factors, axis=1))
    _spoilt(d, lambda _: np.abs(hilbert(X, axis=1)))


def pooled(d: Draft) -> None:
    """Of each feature and the next one the larger is kept."""
    X = d.codes @ d.factors

    def pool(Y: Array) -> Array:
        return np.maximum(Y, np.roll(Y, -1, axis=1))

    d.asked, d.sound = len(d.factors), False
    d.codes = np.hstack([np.maximum(d.codes, 0.0), np.maximum(-d.codes, 0.0)])
    d.factors = np.vstack([pool(d.factors), pool(-d.factors)])  # what they show alone
    _spoilt(d, lambda _: pool(X))


def filled_by_nearest(d: Draft) -> None:
    """Missing entries were filled from the sample that is most alike in the others."""
    share = between(d.rng, 0.08, 0.35)

    def fill(X: Array) -> Array:
        lost = d.rng.random(X.shape) < share
        known = np.where(lost, 0.0, X)
        near = cKDTree(known).query(known, k=2)[1][:, 1]
        return np.where(lost, X[near], X)

    _spoilt(d, fill, last=True)


def overloaded(d: Draft) -> None:
    """A feature that was beyond its range is cut there, and takes some samples to recover."""
    q, gain, rest = d.rng.uniform(0.8, 0.96), d.rng.uniform(0.2, 0.7), whole(d.rng, 1, 4)

    def overload(X: Array) -> Array:
        most = np.quantile(np.abs(X), q)
        beyond = np.abs(X) > most
        tired = np.zeros_like(beyond)
        for later in range(1, rest + 1):
            tired[later:] |= beyond[:-later]
        return np.where(tired, gain, 1.0) * np.clip(X, -most, most)

    _spoilt(d, overload)


def signs_only(d: Draft) -> None:
    """Of a third of the features only the sign was kept."""
    kept = d.rng.permutation(d.factors.shape[1]) % 3 == 0
    _spoilt(d, lambda X: np.where(kept, np.sign(X) * X.std(axis=0), X))


def adapting(d: Draft) -> None:
    """Each feature answers less the more it has been excited lately."""
    memory, power = d.rng.uniform(0.6, 0.95), d.rng.uniform(0.4, 1.2)

    def adapt(X: Array) -> Array:
        size = np.abs(X) / np.maximum(np.abs(X).mean(axis=0), 1e-300)
        lately = lfilter([0.0, 1 - memory], [1.0, -memory], size, axis=0)
        return np.asarray(X / (0.3 + lately) ** power)

    _spoilt(d, adapt)


def creased(d: Draft) -> None:
    """All features take up a part of the sizes of mixtures of them."""
    dim = d.factors.shape[1]
    P, Q = (d.rng.standard_normal((dim, dim)) for _ in range(2))
    _spoilt(d, sized(lambda X: X + np.abs(X @ P) @ Q, between(d.rng, 0.15, 0.7)))


def two_rates(d: Draft) -> None:
    """Some features were measured every few samples only, and lie on straight lines between."""
    slow = d.rng.permutation(d.factors.shape[1]) < whole(d.rng, 1, 3)
    every = whole(d.rng, 2, 5)

    def interpolate(X: Array) -> Array:
        times, X = np.arange(len(X)), X.copy()
        for j in np.flatnonzero(slow):
            X[:, j] = np.interp(times, times[::every], X[::every, j])
        return X

    _spoilt(d, interpolate, last=True)


_MILD: tuple[Callable[[Draft], Callable[[Array], Array]], ...] = (
    lambda d: lambda X: np.sign(X) * np.minimum(np.abs(X), np.quantile(np.abs(X[X != 0]), 0.9)),
    lambda d: lambda X: X + np.linspace(-1, 1, len(X))[:, None] * X * d.rng.standard_normal(X.shape[1]),
    lambda d: lambda X: X + np.abs(X) @ d.rng.standard_normal((X.shape[1],) * 2),
    lambda d: lambda X: X + d.rng.random((len(X), 1)) * np.roll(X, 1, axis=1),
    lambda d: lambda X: X + np.sin(np.arange(len(X)) / 9)[:, None] * d.rng.standard_normal(X.shape[1]),
    lambda d: lambda X: np.where(d.rng.random(X.shape) < 0.05, 0.0, X),
    lambda d: lambda X: X + X * np.roll(X, 1, axis=1),
    lambda d: lambda X: X + np.roll(X, 1, axis=0) @ d.rng.standard_normal((X.shape[1],) * 2),
)


def _mild(d: Draft, many: int) -> None:
    for number in d.rng.permutation(len(_MILD))[:many]:
        _spoilt(d, sized(_MILD[number](d), between(d.rng, 0.08, 0.2)))


def two_mild_changes(d: Draft) -> None:
    """Two things went wrong, each a little."""
    _mild(d, 2)


def four_mild_changes(d: Draft) -> None:
    """Four things went wrong, each a little."""
    _mild(d, 4)


# --- codes that are hard


def cumulated(d: Draft) -> None:
    """Each sample holds all those before it, too."""
    d.holds = False
    d.codes = np.cumsum(d.codes, axis=0)


def calcium(d: Draft) -> None:
    """Codes rise at once and fall slowly, as calcium does after a spike."""
    d.holds = False
    d.codes = np.asarray(lfilter([1.0], [1.0, -d.rng.uniform(0.7, 0.97)], np.abs(d.codes), axis=0))


def family_tree(d: Draft) -> None:
    """Atoms form a tree, and one occurs only where the one above it does."""
    d.holds = False
    n, k = d.codes.shape
    on = d.rng.random((n, k)) < d.rng.uniform(0.4, 0.8)
    for j in range(1, k):
        on[:, j] &= on[:, (j - 1) // 2]
    d.codes = np.where(on, d.rng.choice([-1, 1], (n, k)) * d.rng.uniform(0.5, 1.5, (n, k)), 0.0)


def vocabulary(d: Draft) -> None:
    """Samples are a few words, said more or less loudly; a word is several atoms in one proportion."""
    d.holds = False
    n, k = d.codes.shape
    many = whole(d.rng, 2 * k, 4 * k)
    on = np.argsort(d.rng.random((many, k)), axis=1) < d.rng.integers(2, 4, (many, 1))
    words = np.where(on, d.rng.choice([-1, 1], (many, k)) * d.rng.uniform(0.5, 1.5, (many, k)), 0.0)
    d.codes = words[d.rng.integers(many, size=n)] * d.rng.lognormal(0.0, 0.4, (n, 1))


def crowds_only(d: Draft) -> None:
    """Only samples in which many atoms sound were kept."""
    d.holds = False
    n, k = d.codes.shape
    on = np.argsort(d.rng.random((n, k)), axis=1) < d.rng.integers(k - 2, k + 1, (n, 1))
    d.codes = np.where(on, d.rng.standard_normal((n, k)), 0.0)


def smoothed_by_neighbours(d: Draft) -> None:
    """Each sample is the mean of those that are most like it."""
    d.holds = False
    X = d.codes @ d.factors
    near = cKDTree(X).query(X, k=whole(d.rng, 2, 8))[1]
    d.codes = d.codes[near].mean(axis=1)


# --- data that are right


def cross_talk(d: Draft) -> None:
    """Every feature takes a part of all others, the same in all samples."""
    dim = d.factors.shape[1]
    _mixed_features(
        d, np.eye(dim) + d.rng.uniform(0.1, 0.4) * d.rng.standard_normal((dim, dim)) / np.sqrt(dim)
    )


def standardised(d: Draft) -> None:
    """Each feature was divided by its spread."""
    spread = np.std(d.codes @ d.factors, axis=0)
    _mixed_features(d, np.diag(1 / np.maximum(spread, 1e-3 * spread.max())))


def whitened(d: Draft) -> None:
    """Features were replaced by principal components, all of the same spread."""
    X = d.codes @ d.factors
    _, values, Vt = np.linalg.svd(X, full_matrices=False)
    k = len(d.factors)
    _mixed_features(d, (Vt[:k].T / values[:k]) @ Vt[:k] * np.sqrt(len(X)))


def units_of_their_own(d: Draft) -> None:
    """Each feature has a unit of its own, the same in all samples."""
    _mixed_features(d, np.diag(np.exp(d.rng.uniform(0.2, 0.7) * d.rng.standard_normal(d.factors.shape[1]))))


def inverted_features(d: Draft) -> None:
    """Some features were connected the wrong way round, and all stand in another order."""
    dim = d.factors.shape[1]
    _mixed_features(d, (np.eye(dim) * d.rng.choice([-1, 1], dim))[d.rng.permutation(dim)])


def doublets(d: Draft) -> None:
    """Some samples are two that stuck together."""
    rows = some(d, 0.03, 0.2)
    d.codes = d.codes + np.where(rows[:, None], d.codes[d.rng.permutation(len(d.codes))], 0.0)


def microstates(d: Draft) -> None:
    """Exactly one atom is on at a time, and stays on for some samples, louder and quieter."""
    n, k = d.codes.shape
    begins = d.rng.random(n) < d.rng.uniform(0.1, 0.5)
    since = np.maximum.accumulate(np.where(begins, np.arange(n), 0))
    state = np.eye(k)[d.rng.integers(0, k, (n,))[since]]
    d.codes = state * d.rng.choice([-1, 1], (n, 1)) * (0.5 + np.abs(d.rng.standard_normal((n, 1))))


def ducking(d: Draft) -> None:
    """Where one atom sounds the others are turned down."""
    down = np.where(d.codes[:, :1] != 0, d.rng.uniform(0.3, 0.8), 1.0)
    d.codes[:, 1:] *= down


def coloured_noise(d: Draft) -> None:
    """A little noise that is alike in neighbouring features."""
    level, dim = between(d.rng, 0.005, 0.04), d.factors.shape[1]
    root = np.linalg.cholesky(d.rng.uniform(0.3, 0.8) ** np.abs(np.subtract.outer(range(dim), range(dim))))
    d.last.append(lambda X: X + level * _rms(X) * d.rng.standard_normal(X.shape) @ root.T)


def weighted_rows(d: Draft) -> None:
    """Samples come as often as they weigh, from once to four times."""
    n = len(d.codes)
    d.codes = np.repeat(d.codes, d.rng.choice([1, 1, 2, 4], n), axis=0)


def programmes(d: Draft) -> None:
    """Each session has atoms that it doesn't use."""
    many, k = whole(d.rng, 3, 6), d.codes.shape[1]
    used = d.rng.random((many, k)) < 0.7
    used[0], used[1, ::2], used[2, 1::2] = True, True, True
    d.codes = d.codes * used[_sessions(d, many)[:, 0]]


def seasonal_use(d: Draft) -> None:
    """Atoms come and go with the seasons, each in its own."""
    n, k = d.codes.shape
    phase = 2 * np.pi * (np.linspace(0, whole(d.rng, 2, 6), n)[:, None] + d.rng.random(k))
    d.codes = d.codes * (d.rng.random((n, k)) < 0.55 + 0.45 * np.sin(phase))


def bridged_samples(d: Draft) -> None:
    """Samples that got lost were replaced by the mean of the one before and the one after."""
    rows = some(d, 0.03, 0.12)[:, None]
    d.codes = np.where(rows, (np.roll(d.codes, 1, axis=0) + np.roll(d.codes, -1, axis=0)) / 2, d.codes)


def last_sample_again(d: Draft) -> None:
    """Samples that got lost were replaced by the last one that arrived."""
    rows = some(d, 0.05, 0.4)
    d.codes = d.codes[np.maximum.accumulate(np.where(rows, 0, np.arange(len(rows))))]


def shared_budget(d: Draft) -> None:
    """The more atoms a sample has, the smaller they are."""
    d.codes = d.codes / np.maximum((d.codes != 0).sum(axis=1, keepdims=True), 1)


def one_of_each(d: Draft) -> None:
    """Every sample has one atom of a first group and one of a second."""
    n, k = d.codes.shape
    half = k // 2
    on = np.eye(k)[d.rng.integers(half, size=n)] + np.eye(k)[half + d.rng.integers(k - half, size=n)]
    d.codes = on * d.rng.choice([-1, 1], (n, k)) * (0.5 + np.abs(d.rng.standard_normal((n, k))))


_TUNING = (hum,)  # it was called right once, and a rule changed for it
UNFORESEEN_DICTIONARIES = tuple(
    Part(act.__name__.replace("_", " "), act, held_out=act not in _TUNING) for act in (
    anywhere, camera_moves, other_seats, other_reference, dialect, soup, striping, hum, artefacts,
    faint_and_lost, numbered, clusters, closed_curve, bilinear, vignette, envelope, pooled,
    filled_by_nearest, overloaded, signs_only, adapting, creased, two_rates, two_mild_changes,
    four_mild_changes, cumulated, calcium, family_tree, vocabulary, crowds_only, smoothed_by_neighbours,
    cross_talk, standardised, whitened, units_of_their_own, inverted_features, doublets, microstates, ducking,
    coloured_noise, weighted_rows, programmes, seasonal_use, bridged_samples, last_sample_again,
    shared_budget, one_of_each,
))  # fmt: skip
