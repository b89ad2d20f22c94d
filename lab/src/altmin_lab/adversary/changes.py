"""More perturbations of dictionaries, thought out in one go before any was run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from altmin_lab.adversary.compose import Array, Draft, between, whole


def seen(d: Draft) -> float:
    """Share of the samples below which a report prints that it sees nothing."""
    share, samples = (max(0.01, 0.5 * d.noise), 15) if d.noise > 0 else (0.003, 10)
    return max(share, samples / len(d.codes))


def close(d: Draft) -> float:
    """Angle below which it prints that it can't tell atoms apart; without noise any is seen."""
    return max(0.08, 2 * d.noise) if d.noise > 0 else 0.0


def made(d: Draft, change: Callable[[Array], Array], rows: Array | bool = True) -> None:
    """Samples, or these of them, are no sums of the atoms any more."""
    d.holds = d.sound = False
    d.by_nature = float(np.mean(rows)) < seen(d)
    d.after.append(change)


def missing(d: Draft, codes: Array) -> None:
    """One more atom, with these codes, wasn't asked for."""
    extra = unit(d)
    d.asked = len(d.factors)
    made(d, lambda X: X + np.outer(codes, extra), codes != 0)


def replaced(d: Draft, others: Array, rows: Array) -> None:
    """In some samples the first atoms are other ones: all made the samples, and fewer were asked for."""
    mine, d.asked = d.codes[:, : len(others)], len(d.factors)
    on = np.any(mine != 0, axis=1)
    d.factors = np.vstack([d.factors, others])
    rest = np.where(rows[:, None], 0.0, mine)
    d.codes = np.hstack([rest, d.codes[:, len(others) :], mine - rest])
    d.by_nature = float(min(np.mean(on & rows), np.mean(on & ~rows))) < seen(d)
    d.holds = d.sound = False


def unit(d: Draft) -> Array:
    """A direction of the features."""
    v = d.rng.standard_normal(d.factors.shape[1])
    return np.asarray(v / np.linalg.norm(v))


def some(d: Draft, low: float, high: float) -> Array:
    """Which samples: a share between these."""
    return np.asarray(d.rng.random(len(d.codes)) < d.rng.uniform(low, high))


def _largest(parts: Array) -> Array:
    """Of each sample and feature, what the atom adds that adds most."""
    best = np.abs(parts).argmax(axis=1)[:, None]
    return np.asarray(np.take_along_axis(parts, best, axis=1)[:, 0])


def lost_small(d: Draft) -> None:
    """Entries that are small are lost; the others stay what they are."""
    q = d.rng.uniform(0.15, 0.5)
    made(d, lambda X: np.where(np.abs(X) < np.quantile(np.abs(X[X != 0]), q), 0.0, X))


def leaky(d: Draft) -> None:
    """What is negative is measured with another gain."""
    gain = d.rng.uniform(0.2, 0.8)
    made(d, lambda X: np.where(X < 0, gain * X, X))


def largest_wins(d: Draft) -> None:
    """Each entry is what the largest atom adds to it, not the sum of all."""
    made(d, lambda X: _largest(d.codes[:, :, None] * d.factors))


def covered(d: Draft) -> None:
    """An atom hides the others in half of the features."""
    hidden = d.rng.permutation(d.factors.shape[1])[: d.factors.shape[1] // 2]

    def cover(X: Array) -> Array:
        X, on = X.copy(), np.flatnonzero(d.codes[:, 0])
        X[np.ix_(on, hidden)] = np.outer(d.codes[on, 0], d.factors[0, hidden])
        return X

    made(d, cover)


def jittered(d: Draft) -> None:
    """An atom comes one feature later in some samples."""
    later = np.roll(d.factors[0], 1) - d.factors[0]
    part = np.where(some(d, 0.2, 0.6), d.codes[:, 0], 0.0)
    made(d, lambda X: X + np.outer(part, later), part != 0)


def turned_by_size(d: Draft) -> None:
    """An atom looks another way the larger its code is."""
    d.codes[:, 0] *= d.rng.uniform(0.5, 1.5, len(d.codes))
    size = np.maximum(np.abs(d.codes[:, 0]) - 0.5, 0.0)
    other = max(d.rng.uniform(0.5, 1.5), 4 * d.noise) * unit(d)
    made(d, lambda X: X + np.outer(size * np.sign(d.codes[:, 0]), other))


def any_two(d: Draft) -> None:
    """Wherever two of four atoms occur together they leave one and the same trace."""
    both = (d.codes[:, :4] != 0).sum(axis=1) >= 2
    trace = d.rng.uniform(0.5, 2.0) * unit(d)
    made(d, lambda X: X + np.outer(both, trace), both)


def companion(d: Draft) -> None:
    """An atom that wasn't asked for occurs only where another one is negative."""
    on = (d.codes[:, 0] < 0) & some(d, 0.3, 1.0)
    missing(d, np.where(on, 1.5 * d.rng.standard_normal(len(on)), 0.0))


def missing_plane(d: Draft) -> None:
    """Some samples hold a direction of a plane that wasn't asked for, another one each time."""
    rows = some(d, 0.05, 0.3)
    plane = np.vstack([unit(d), unit(d)])
    size = rows[:, None] * 1.2 * d.rng.standard_normal((len(rows), 2))
    made(d, lambda X: X + size @ plane, rows)


def turned_pair(d: Draft) -> None:
    """In some samples two atoms are turned by one angle, within their plane."""
    angle, rows = d.rng.uniform(0.3, 0.8), some(d, 0.1, 0.5)
    first, second = d.codes[:, 0].copy(), d.codes[:, 1].copy()
    d.codes[:, 0] = np.where(rows, np.cos(angle) * first - np.sin(angle) * second, first)
    d.codes[:, 1] = np.where(rows, np.sin(angle) * first + np.cos(angle) * second, second)
    d.by_nature = angle < close(d)
    d.holds = d.sound = False


def dead_features(d: Draft) -> None:
    """In some samples a third of the features were not recorded."""
    rows = some(d, 0.03, 0.4)
    dead = d.rng.permutation(d.factors.shape[1])[: max(d.factors.shape[1] // 3, 1)]
    alive = np.ones(d.factors.shape[1])
    alive[dead] = 0.0
    made(d, lambda X: np.where(rows[:, None], X * alive, X), rows)


def misjoined(d: Draft) -> None:
    """In some samples half of the features belong to another sample."""
    rows, half = some(d, 0.03, 0.4), d.factors.shape[1] // 2

    def join(X: Array) -> Array:
        other = X[d.rng.permutation(len(X))]
        other[:, :half] = X[:, :half]
        return np.where(rows[:, None], other, X)

    made(d, join, rows)


def other_units(d: Draft) -> None:
    """In some samples a few features have another unit."""
    rows, unit = some(d, 0.05, 0.5), np.ones(d.factors.shape[1])
    unit[d.rng.permutation(len(unit))[:2]] = d.rng.choice([0.4, 0.6, 1.7, 2.5])
    made(d, lambda X: np.where(rows[:, None], X * unit, X), rows)


def late_features(d: Draft) -> None:
    """Some features are one sample late: each atom is two, one for either part of the features."""
    late = np.arange(d.factors.shape[1]) < whole(d.rng, 1, d.factors.shape[1] // 2)
    d.asked = len(d.factors)
    d.codes = np.hstack([d.codes, np.roll(d.codes, 1, axis=0)])
    d.factors = np.vstack([np.where(late, 0.0, d.factors), np.where(late, d.factors, 0.0)])
    d.holds = d.sound = False


def two_faces(d: Draft) -> None:
    """An atom comes with a second one, of the same size and either sign."""
    part = np.where(some(d, 0.5, 1.0), d.rng.choice([-1.0, 1.0], len(d.codes)) * d.codes[:, 0], 0.0)
    second = max(d.rng.uniform(0.4, 1.0), 3 * d.noise) * unit(d)
    made(d, lambda X: X + np.outer(part, second), part != 0)


def compromise(d: Draft) -> None:
    """Where two atoms occur together, both mostly have the same code."""
    both = (d.codes[:, 0] != 0) & (d.codes[:, 1] != 0) & some(d, 0.6, 1.0)
    d.codes[both, 0] = d.codes[both, 1] = d.codes[both, :2].mean(axis=1)
    d.holds = False


def fan(d: Draft) -> None:
    """An atom is any direction of a sector, another one in each sample."""
    angle = d.rng.uniform(0.4, 1.2) * d.rng.uniform(-1, 1, len(d.codes))
    side = unit(d)
    side -= d.factors[0] * (side @ d.factors[0])
    side /= np.linalg.norm(side)
    own = d.codes[:, 0].copy()
    made(
        d,
        lambda X: X + np.outer(own * (np.cos(angle) - 1), d.factors[0]) + np.outer(own * np.sin(angle), side),
    )


def ghost(d: Draft) -> None:
    """In some samples a part of an atom's code is found again, with either sign, in another one's."""
    rows = (d.codes[:, 0] != 0) & some(d, 0.3, 0.8)
    sign = d.rng.choice([-1.0, 1.0], len(rows))
    d.codes[rows, 1] += (d.rng.uniform(0.3, 1.0) * sign * d.codes[:, 0])[rows]
    d.by_nature = float(rows.mean()) < seen(d)
    d.holds = d.sound = False


def balance(d: Draft) -> None:
    """Where two of three atoms occur, the third one's code is the sum of theirs."""
    both = (d.codes[:, 0] != 0) & (d.codes[:, 1] != 0)
    d.codes[both, 2] = d.codes[both, 0] + d.codes[both, 1]
    d.by_nature = float(both.mean()) < seen(d)
    d.holds = d.sound = False


def root_of_squares(d: Draft) -> None:
    """Atoms add up as energies do: the root of the sum of squares, with the sign of the sum."""
    made(d, lambda X: np.sign(X) * np.sqrt((d.codes**2) @ (d.factors**2)))


def away_from_zero(d: Draft) -> None:
    """Values are moved away from 0 by a constant."""
    c = d.rng.uniform(0.2, 0.7)
    made(d, lambda X: X + c * np.sqrt(np.mean(X**2)) * np.sign(X))


def dense_direction(d: Draft) -> None:
    """One more direction is in all samples, as much as noise in another one."""
    size, v = d.rng.uniform(0.2, 0.8), unit(d)
    d.holds = False
    d.after.append(lambda X: X + np.outer(size * d.rng.standard_normal(len(X)), v))


def drifting_feature(d: Draft) -> None:
    """The gain of two features grows from the first to the last sample."""
    grows = d.rng.uniform(0.4, 1.5) * (np.arange(d.factors.shape[1]) < 2)
    made(d, lambda X: X * (1 + np.linspace(-0.5, 0.5, len(X))[:, None] * grows))


def crossed_features(d: Draft) -> None:
    """In some samples two features were mixed up."""
    rows, (i, j) = some(d, 0.03, 0.5), d.rng.permutation(d.factors.shape[1])[:2]

    def cross(X: Array) -> Array:
        X = X.copy()
        X[np.ix_(rows, [i, j])] = X[np.ix_(rows, [j, i])]
        return X

    made(d, cross, rows)


def other_beginning(d: Draft) -> None:
    """The first samples have other atoms in the place of two."""
    early = np.arange(len(d.codes)) < d.rng.uniform(0.05, 0.3) * len(d.codes)
    shift = np.vstack([unit(d), unit(d)]) - d.factors[:2]
    made(d, lambda X: X + np.where(early[:, None], d.codes[:, :2], 0.0) @ shift)


def bent_sensor(d: Draft) -> None:
    """Features answer with a square, too."""
    c = d.rng.choice([-1, 1]) * d.rng.uniform(0.15, 0.6)
    made(d, lambda X: X + c * X * X / np.sqrt(np.mean(X**2)))


def overtone(d: Draft) -> None:
    """An atom leaves a trace as large as the square of its code."""
    trace = d.rng.uniform(0.4, 1.5) * unit(d)
    made(d, lambda X: X + np.outer(d.codes[:, 0] ** 2, trace))


def full_wave(d: Draft) -> None:
    """Two atoms leave traces as large as their codes, whatever the sign."""
    traces = max(d.rng.uniform(0.4, 1.0), 3 * d.noise) * np.vstack([unit(d), unit(d)])
    made(d, lambda X: X + np.abs(d.codes[:, :2]) @ traces)


def twins(d: Draft) -> None:
    """An atom is really two, at the same angle on either side of it."""
    side = d.rng.uniform(0.35, 0.8) * unit(d)
    sign = d.rng.choice([-1.0, 1.0], len(d.codes))
    made(d, lambda X: X + np.outer(sign * d.codes[:, 0], side))


def rare_and_large(d: Draft) -> None:
    """An atom that wasn't asked for is rare and large."""
    on = d.rng.random(len(d.codes)) < between(d.rng, 0.008, 0.04)
    missing(d, np.where(on, 4 * d.rng.standard_normal(len(on)), 0.0))


def often_and_small(d: Draft) -> None:
    """An atom that wasn't asked for is in many samples, with small codes."""
    on = d.rng.random(len(d.codes)) < d.rng.uniform(0.2, 0.5)
    level = max(d.rng.uniform(0.15, 0.4), 3 * d.noise)
    missing(d, np.where(on, level * d.rng.standard_normal(len(on)), 0.0))


def folded(d: Draft) -> None:
    """Large values wrap around, as angles do."""
    top = d.rng.uniform(1.5, 2.5)

    def fold(X: Array) -> Array:
        limit = top * np.sqrt(np.mean(X**2))
        return (X + limit) % (2 * limit) - limit

    made(d, fold)


def chain(d: Draft) -> None:
    """Where an atom occurs, the next one takes a part of its code, around the circle, in some samples."""
    rows = some(d, 0.1, 0.4)
    part = d.rng.uniform(0.3, 0.8) * np.roll(d.codes, 1, axis=1)
    d.codes = np.where(rows[:, None], d.codes + part, d.codes)
    d.by_nature = float((rows[:, None] & (part != 0)).mean()) < seen(d)
    d.holds = d.sound = False


def only_differences(d: Draft) -> None:
    """One feature is the difference of its value and that of the feature before, in some samples."""
    rows, j = some(d, 0.05, 0.5), whole(d.rng, 1, d.factors.shape[1] - 1)

    def differ(X: Array) -> Array:
        X = X.copy()
        X[rows, j] -= X[rows, j - 1]
        return X

    made(d, differ, rows)


def triple(d: Draft) -> None:
    """An atom that wasn't asked for is the sum of three others, in some samples."""
    on = d.rng.random(len(d.codes)) < d.rng.uniform(0.04, 0.25)
    mix = d.rng.choice([-1, 1], 3) @ d.factors[:3]
    size = np.where(on, np.sign(x := d.rng.standard_normal(len(on))) * (0.5 + np.abs(x)), 0.0)
    made(d, lambda X: X + np.outer(size, mix / np.linalg.norm(mix)))


def mutual(d: Draft) -> None:
    """Two atoms each borrow a part of the other where only one occurs, in some samples."""
    rows, part = some(d, 0.2, 0.5), d.rng.uniform(0.3, 0.8)
    first, second = d.codes[:, 0].copy(), d.codes[:, 1].copy()
    d.codes[:, 1] += np.where(rows & (second == 0), part * first, 0.0)
    d.codes[:, 0] += np.where(rows & (first == 0), part * second, 0.0)
    d.by_nature = float((rows & (first != 0) & (second == 0)).mean()) < seen(d)
    d.holds = d.sound = False


def louder_half(d: Draft) -> None:
    """Half of the features are louder in the samples of one atom."""
    on = d.codes[:, 0] != 0
    gain = np.where(np.arange(d.factors.shape[1]) % 2 == 0, d.rng.uniform(1.4, 2.5), 1.0)
    made(d, lambda X: np.where(on[:, None], X * gain, X))


# --- data that are right


def tailed(d: Draft) -> None:
    """Codes have heavy tails (Student, three degrees of freedom)."""
    on = d.codes != 0
    d.codes = np.where(on, d.rng.standard_t(3, d.codes.shape), 0.0)


def own_densities(d: Draft) -> None:
    """Each atom has a density of its own."""
    n, k = d.codes.shape
    size = np.where(d.codes != 0, np.abs(d.codes), 1.0)
    d.codes = size * d.rng.choice([-1, 1], (n, k)) * (d.rng.random((n, k)) < d.rng.uniform(0.06, 0.3, k))


def two_sizes(d: Draft) -> None:
    """Codes have one of two sizes, and either sign."""
    d.codes = np.sign(d.codes) * d.rng.choice([1.0, d.rng.uniform(2, 4)], d.codes.shape)


def even_sizes(d: Draft) -> None:
    """Codes are spread evenly between two sizes."""
    d.codes = np.sign(d.codes) * d.rng.uniform(0.3, 1.5, d.codes.shape)


def sorted_rows(d: Draft) -> None:
    """Samples come sorted by the size of their first feature."""
    d.last.append(lambda X: X[np.argsort(X[:, 0], kind="stable")])


def other_scale(d: Draft) -> None:
    """All values are in another unit."""
    unit = between(d.rng, 1e-6, 1e6)
    d.last.append(lambda X: X * unit)


def single_precision(d: Draft) -> None:
    """Values are kept in single precision."""
    d.last.append(lambda X: X.astype(np.float32))


def own_signs(d: Draft) -> None:
    """Each atom has codes of one sign, half of them negative."""
    d.codes = np.abs(d.codes) * d.rng.choice([-1, 1], d.codes.shape[1])


def silent_samples(d: Draft) -> None:
    """Some samples hold nothing."""
    d.codes[d.rng.random(len(d.codes)) < d.rng.uniform(0.1, 0.5)] = 0.0


def uneven_atoms(d: Draft) -> None:
    """Some atoms are up to four times as large as others."""
    d.codes = d.codes * np.geomspace(1, d.rng.uniform(2, 4), d.codes.shape[1])


ALL = (
    only_differences, rare_and_large, fan, overtone, folded, away_from_zero, often_and_small, twins,
    covered, missing_plane, turned_pair, balance, root_of_squares, other_beginning, triple,
    crossed_features, bent_sensor, sorted_rows, own_signs, other_scale, two_sizes, misjoined, chain,
    ghost, companion, lost_small, mutual, any_two, turned_by_size, full_wave, louder_half,
    drifting_feature, compromise, dead_features, other_units, two_faces, leaky, largest_wins, jittered,
    dense_direction, late_features, own_densities, silent_samples, uneven_atoms, tailed, even_sizes,
    single_precision,
)  # fmt: skip
