"""Perturbations of dictionaries that only judge: measurement chains, joins and codecs, by other hands."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from altmin_lab.adversary.changes import close, made, seen, some, unit
from altmin_lab.adversary.compose import Array, Draft, Part, between, whole


def changed(d: Draft, change: Callable[[Array], Array]) -> None:
    """Samples are no sums of the atoms any more; the report says how little and how few it can't see."""
    X = d.codes @ d.factors
    away = np.linalg.norm(change(X) - X, axis=1)
    rows = away > 1e-9 * np.sqrt(np.mean(X**2))
    made(d, change, rows)
    d.by_nature |= bool(np.linalg.norm(away) < close(d) * np.linalg.norm(X[rows]))


def _also(d: Draft, *forms: Array) -> None:
    """What atoms look like alone, in some samples, is true, too: as many are asked for as there were."""
    d.asked, many = len(d.factors), sum(map(len, forms))
    d.factors = np.vstack([d.factors, *forms])
    d.codes = np.hstack([d.codes, np.zeros((len(d.codes), many))])


def _loudest_feature(d: Draft) -> int:
    """The feature in which the atoms are largest."""
    return int(np.argmax(np.sum(d.factors**2, axis=0)))


def bad_channel(d: Draft) -> None:
    """In some samples a broken feature was replaced by the mean of its two neighbours."""
    rows, j = some(d, 0.1, 0.6), _loudest_feature(d)

    def bridge(X: Array) -> Array:
        X = X.copy()
        X[:, j] = (X[:, j - 1] + X[:, (j + 1) % X.shape[1]]) / 2
        return X

    changed(d, lambda X: np.where(rows[:, None], bridge(X), X))
    _also(d, bridge(d.factors))


def median_filtered(d: Draft) -> None:
    """In some samples each feature is the median of itself and its two neighbours."""
    rows = some(d, 0.1, 1.0)

    def smooth(X: Array) -> Array:
        three = np.stack([np.roll(X, 1, axis=1), X, np.roll(X, -1, axis=1)])
        return np.asarray(np.median(three, axis=0))

    changed(d, lambda X: np.where(rows[:, None], smooth(X), X))
    _also(d, smooth(d.factors))


def compressed(d: Draft) -> None:
    """Neighbouring features were stored as sum and difference, and small differences were dropped."""
    q = d.rng.uniform(0.3, 0.8)

    def store(X: Array) -> Array:
        X, even = X.copy(), X.shape[1] // 2 * 2
        a, b = X[:, 0:even:2].copy(), X[:, 1:even:2].copy()
        away = (a - b) / 2
        away[np.abs(away) < np.quantile(np.abs(away[away != 0]), q)] = 0.0
        X[:, 0:even:2], X[:, 1:even:2] = (a + b) / 2 + away, (a + b) / 2 - away
        return X

    changed(d, store)


def code_book(d: Draft) -> None:
    """Half of the features were replaced by the nearest entry of a code book of samples."""
    size, order = whole(d.rng, 12, 48), d.rng.permutation(len(d.codes))

    def look_up(X: Array) -> Array:
        X, half = X.copy(), X.shape[1] // 2
        filled = order[np.any(X[order] != 0, axis=1)][:size]
        book = np.vstack([np.zeros((1, half)), X[filled, :half]])
        far = np.sum(X[:, :half] ** 2, axis=1)[:, None] - 2 * X[:, :half] @ book.T + np.sum(book**2, axis=1)
        X[:, :half] = book[far.argmin(axis=1)]
        return X

    changed(d, look_up)


def slew_limited(d: Draft) -> None:
    """Half of the features can't change by more than a limit from one sample to the next."""
    slow, q = d.rng.permutation(d.factors.shape[1]) % 2 == 0, d.rng.uniform(0.5, 0.85)

    def follow(X: Array) -> Array:
        X, steps = X.copy(), np.abs(np.diff(X[:, slow], axis=0))
        most, out = np.quantile(steps[steps > 0], q), X[:, slow]
        for i in range(1, len(out)):
            out[i] = out[i - 1] + np.clip(out[i] - out[i - 1], -most, most)
        X[:, slow] = out
        return X

    changed(d, follow)


def backlash(d: Draft) -> None:
    """A feature keeps its value until it should be another by more than some play."""
    play = d.rng.uniform(0.3, 1.2)

    def keep(X: Array) -> Array:
        out, least = X.copy(), play * np.sqrt(np.mean(X**2))
        for i in range(1, len(out)):
            out[i] = np.where(np.abs(X[i] - out[i - 1]) > least, X[i], out[i - 1])
        return out

    changed(d, keep)


def temperature(d: Draft) -> None:
    """The gains of the features depend on a temperature that nobody wrote down."""
    warm, slope = d.rng.uniform(-1, 1, (len(d.codes), 1)), d.rng.standard_normal(d.factors.shape[1])
    gains = np.exp(d.rng.uniform(0.2, 0.8) * warm * slope)
    changed(d, lambda X: X * gains)


def edited_copies(d: Draft) -> None:
    """Some samples are copies of others in which a third of the features was written over."""
    n, rows = len(d.codes), some(d, 0.1, 0.5)
    source, second = d.rng.permutation(n), d.rng.permutation(n)
    edited = d.rng.permutation(d.factors.shape[1]) % 3 == 0
    changed(d, lambda X: np.where(rows[:, None], np.where(edited, X[second], X[source]), X))
    _also(d, d.factors * edited, d.factors * ~edited)


def other_zero(d: Draft) -> None:
    """In some samples a third of the features is counted from another zero: as one more atom."""
    rows, moved = some(d, 0.05, 0.5), d.rng.permutation(d.factors.shape[1]) % 3 == 0
    size = max(d.rng.uniform(0.5, 2.0), 4 * d.noise) * np.sqrt(np.mean((d.codes @ d.factors) ** 2))
    shift = np.where(moved, size * d.rng.choice([-1.0, 1.0], len(moved)), 0.0)
    changed(d, lambda X: X + np.where(rows[:, None], shift, 0.0))
    _also(d, shift[None])


def ring(d: Draft) -> None:
    """Two atoms always come together, as an oscillation of any phase: no two of their plane are special."""
    d.holds = d.sound = False
    n = len(d.codes)
    on, size, phase = d.codes[:, 0] != 0, d.rng.uniform(0.8, 1.6, n), d.rng.uniform(0, 2 * np.pi, n)
    d.codes[:, 0] = np.where(on, size * np.cos(phase), 0.0)
    d.codes[:, 1] = np.where(on, size * np.sin(phase), 0.0)


def halves_apart(d: Draft) -> None:
    """The two halves of an atom come together, each in an amount of its own: really there are two atoms."""
    d.holds = d.sound = False
    n, k = d.codes.shape
    by, left = d.rng.uniform(0.4, 0.9), d.rng.permutation(d.factors.shape[1]) % 2 == 0
    amounts = d.codes[:, :1] * d.rng.uniform(1 - by, 1 + by, (n, 2))
    parts = np.vstack([d.factors[0] * left, d.factors[0] * ~left])
    turns = 0.8 * by * float(np.prod(np.linalg.norm(parts, axis=1)))  # standard deviation of its direction
    d.by_nature = turns < close(d) or float(np.mean(d.codes[:, 0] != 0)) < seen(d)
    d.factors, d.codes = np.vstack([parts, d.factors[1:]]), np.hstack([amounts, d.codes[:, 1:]])
    d.asked = k


def wrong_range(d: Draft) -> None:
    """Values above a level were recorded in the unit of another range."""
    q, unit_ = d.rng.uniform(0.6, 0.9), float(d.rng.choice([0.5, 0.7, 1.6]))
    changed(d, lambda X: np.where(np.abs(X) > np.quantile(np.abs(X[X != 0]), q), unit_ * X, X))


def standardised_in_batches(d: Draft) -> None:
    """Each feature was brought to the same spread within every batch of samples."""
    n, size = len(d.codes), whole(d.rng, 20, 80)
    batch = np.arange(n) // size

    def standardise(X: Array) -> Array:
        spread = np.array([X[batch == b].std(axis=0) for b in range(batch[-1] + 1)])
        usual = X.std(axis=0)
        return X * (usual / np.maximum(spread, 0.3 * usual))[batch]

    changed(d, standardise)


def shares_of_all(d: Draft) -> None:
    """Values are exponentials, as shares of their sum, counted from the mean share."""
    c = between(d.rng, 1.0, 4.0)
    d.factors = d.factors - d.factors.mean(axis=1, keepdims=True)  # all that shares can tell

    def softmax(X: Array) -> Array:
        E = np.exp(c * X / np.abs(X).max())
        return np.asarray((E / E.mean(axis=1, keepdims=True) - 1) * np.abs(X).max() / c)

    changed(d, softmax)


def compounded(d: Draft) -> None:
    """Values compound: gains grow faster than they should, losses slower."""
    c = between(d.rng, 0.5, 2.0)
    changed(d, lambda X: np.expm1(c * X / np.abs(X).max()) * np.abs(X).max() / c)


def largest_kept(d: Draft) -> None:
    """Of each sample only the largest features were kept."""
    lost = whole(d.rng, 2, d.factors.shape[1] - 2)

    def keep(X: Array) -> Array:
        order = np.argsort(np.argsort(np.abs(X), axis=1), axis=1)
        return np.where(order < lost, 0.0, X)

    changed(d, keep)
    _also(d, keep(d.factors))


def lasting(d: Draft) -> None:
    """Every atom leaves something of another look in the next sample: as many atoms again."""
    k, part = len(d.factors), max(d.rng.uniform(0.3, 0.8), 3 * d.noise)
    d.factors = np.vstack([d.factors, *(unit(d) for _ in range(k))])
    d.codes, d.asked = np.hstack([d.codes, part * np.roll(d.codes, 1, axis=0)]), k
    d.holds = d.sound = False


def cleaned(d: Draft) -> None:
    """Where a certain direction is loud, as a blink of the eye is, it was taken out of the sample."""
    v, q = unit(d), d.rng.uniform(0.4, 0.85)

    def clean(X: Array) -> Array:
        along = X @ v
        loud = np.abs(along) > np.quantile(np.abs(along[along != 0]), q)
        return X - np.outer(np.where(loud, along, 0.0), v)

    changed(d, clean)
    _also(d, d.factors - np.outer(d.factors @ v, v))


def rank_swapped(d: Draft) -> None:
    """To protect people, a third of the features had values swapped among samples of near ranks."""
    hidden = np.flatnonzero(d.rng.permutation(d.factors.shape[1]) % 3 == 0)
    reach, dice = d.rng.uniform(0.05, 0.3), d.rng.uniform(-1, 1, (len(d.codes), len(hidden)))

    def swap(X: Array) -> Array:
        X = X.copy()
        for j, move in zip(hidden, dice.T, strict=True):
            rank = np.argsort(X[:, j], kind="stable")
            X[rank, j] = X[rank[np.argsort(np.arange(len(X)) + reach * len(X) * move)], j]
        return X

    changed(d, swap)


def quadrature(d: Draft) -> None:
    """One feature is the size of what it and the next one hold."""

    def size(X: Array) -> Array:
        X = X.copy()
        X[:, 0] = np.hypot(X[:, 0], X[:, 1])
        return X

    changed(d, size)
    _also(d, size(d.factors), size(-d.factors))


def fed_back(d: Draft) -> None:
    """A part of each sample, with its features mixed, is found again in the next one, and so on."""
    W = d.rng.standard_normal((d.factors.shape[1],) * 2)
    W *= d.rng.uniform(0.15, 0.6) / np.linalg.norm(W, 2)

    def feed(X: Array) -> Array:
        X = X.copy()
        for i in range(1, len(X)):
            X[i] += X[i - 1] @ W
        return X

    d.holds = False
    d.after.append(feed)


def powers_of_two(d: Draft) -> None:
    """Each value was rounded to a power of two."""
    d.holds = False
    d.last.append(lambda X: np.sign(X) * 2.0 ** np.round(np.log2(np.maximum(np.abs(X), 1e-300))))


# --- data that are right


def patients(d: Draft) -> None:
    """Samples come from a few people, each with sizes of the atoms of their own."""
    n, k = d.codes.shape
    many = whole(d.rng, 5, 15)
    d.codes = d.codes * np.exp(0.6 * d.rng.standard_normal((many, k)))[d.rng.integers(many, size=n)]


def switches(d: Draft) -> None:
    """Atoms are on or off, all of one size and sign."""
    d.codes = (d.codes != 0).astype(float)


def tailed_noise(d: Draft) -> None:
    """Noise has heavy tails (Student, three degrees of freedom)."""
    level = between(d.rng, 0.01, 0.06)
    d.last.append(lambda X: X + level * np.sqrt(np.mean(X**2) / 3) * d.rng.standard_t(3, X.shape))


def crashes(d: Draft) -> None:
    """Codes are mostly small and positive, and now and then large and negative."""
    size = d.rng.uniform(0.5, 1.0, d.codes.shape)
    falls = d.rng.random(d.codes.shape) < 0.2
    d.codes = (d.codes != 0) * np.where(falls, -d.rng.uniform(2, 4) * size, size)


def power_law(d: Draft) -> None:
    """Sizes of codes follow a power law above a least one."""
    d.codes = np.sign(d.codes) * 0.5 * (1 + d.rng.pareto(2.5, d.codes.shape))


def one_or_two(d: Draft) -> None:
    """Each sample is made of one atom or of two, never of none or more."""
    n, k = d.codes.shape
    order = np.argsort(d.rng.random((n, k)), axis=1)
    size = np.sign(x := d.rng.standard_normal((n, k))) * (0.5 + np.abs(x))
    d.codes = np.where(order < d.rng.integers(1, 3, (n, 1)), size, 0.0)


_TUNING = (edited_copies,)  # it judged, failed, and has been among the tuned ones since
STRANGE_DICTIONARIES = tuple(Part(act.__name__.replace("_", " "), act, act not in _TUNING) for act in (
    bad_channel, median_filtered, compressed, code_book, slew_limited, backlash, temperature, edited_copies,
    other_zero, ring, halves_apart, wrong_range, standardised_in_batches, shares_of_all, compounded,
    largest_kept, lasting, cleaned, rank_swapped, quadrature, fed_back, powers_of_two, patients, switches,
    tailed_noise, crashes, power_law, one_or_two,
))  # fmt: skip
