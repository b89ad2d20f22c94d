"""Perturbations of dictionaries that judge only: written after all others had judged, before any was run."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from altmin_lab.adversary.changes import close, made, missing, replaced, some, unit
from altmin_lab.adversary.compose import Array, Draft, between, sines, whole


def between_features(d: Draft) -> None:
    """Samples come a part of a feature late, another part each time."""
    late = d.rng.uniform(0.0, d.rng.uniform(0.5, 1.0), (len(d.codes), 1))
    made(d, lambda X: (1 - late) * X + late * np.roll(X, -1, axis=1))


def suppressed(d: Draft) -> None:
    """Of two atoms in a sample the smaller one hardly shows in half of the features."""
    hidden = d.rng.permutation(d.factors.shape[1]) % 2 == 0
    both = (d.codes[:, 0] != 0) & (d.codes[:, 1] != 0)
    smaller = np.abs(d.codes[:, :2]).argmin(axis=1)
    lost = np.where(both, d.rng.uniform(0.5, 1.0) * d.codes[np.arange(len(both)), smaller], 0.0)
    made(d, lambda X: X - lost[:, None] * d.factors[smaller] * hidden, both)


def recalibrated(d: Draft) -> None:
    """From some sample on one feature has another gain."""
    n, j = len(d.codes), int(np.argmax(np.sum(d.factors**2, axis=0)))
    rows = np.arange(n) >= d.rng.uniform(0.2, 0.8) * n
    gain = np.ones(d.factors.shape[1])
    gain[j] = d.rng.choice([0.5, 0.7, 1.5, 2.0])
    made(d, lambda X: np.where(rows[:, None], X * gain, X), rows)
    d.by_nature |= float(sines(d.factors * gain, d.factors).max()) < close(d)


def worn(d: Draft) -> None:
    """In some samples an atom lacks its largest feature."""
    left = d.factors[0].copy()
    left[np.abs(left).argmax()] = 0.0
    replaced(d, left[None], some(d, 0.2, 0.7))


def one_bent(d: Draft) -> None:
    """One feature answers with a cube, too."""
    j, c = int(np.argmax(np.sum(d.factors**2, axis=0))), d.rng.uniform(0.1, 0.6)

    def bend(X: Array) -> Array:
        X = X.copy()
        X[:, j] += c * X[:, j] ** 3 / np.mean(X[:, j] ** 2)
        return X

    made(d, bend)


def one_deaf(d: Draft) -> None:
    """One feature shows nothing below a level."""
    j, q = int(np.argmax(np.sum(d.factors**2, axis=0))), d.rng.uniform(0.3, 0.7)

    def lose(X: Array) -> Array:
        X = X.copy()
        size = np.abs(X[:, j])
        X[size < np.quantile(size[size > 0], q), j] = 0.0
        return X

    made(d, lose)


def diode(d: Draft) -> None:
    """What is positive in one feature leaks into the next one."""
    part = d.rng.uniform(0.3, 0.9)

    def leak(X: Array) -> Array:
        X = X.copy()
        X[:, 1] += part * np.maximum(X[:, 0], 0.0)
        return X

    made(d, leak)


def sluggish(d: Draft) -> None:
    """A third of the features keeps a part of the sample before."""
    slow = np.where(d.rng.permutation(d.factors.shape[1]) % 3 == 0, d.rng.uniform(0.2, 0.6), 0.0)
    made(d, lambda X: (1 - slow) * X + slow * np.roll(X, 1, axis=0))


def predicted(d: Draft) -> None:
    """In some samples a third of the features is what least squares predicts from the others."""
    rows = some(d, 0.05, 0.5)
    lost = d.rng.permutation(d.factors.shape[1]) % 3 == 0

    def predict(X: Array) -> Array:
        X = X.copy()
        coef = np.linalg.lstsq(X[:, ~lost], X[:, lost], rcond=None)[0]
        X[np.ix_(rows, lost)] = X[np.ix_(rows, ~lost)] @ coef
        return X

    sums = d.codes @ d.factors
    if np.allclose(predict(sums), sums):  # of fewer atoms than features some features tell the others
        return
    made(d, predict, rows)


def reduced(d: Draft) -> None:
    """Only the largest principal components of the samples were kept."""
    kept = len(d.factors) - whole(d.rng, 1, 2)

    def reduce(X: Array) -> Array:
        Vt = np.linalg.svd(X, full_matrices=False)[2][:kept]
        return np.asarray(X @ Vt.T @ Vt)

    made(d, reduce)


def chord(d: Draft) -> None:
    """In some samples all atoms sound at once, in one proportion."""
    on = d.rng.random(len(d.codes)) < d.rng.uniform(0.03, 0.25)
    mix = d.rng.choice([-1, 1], len(d.factors)) @ d.factors
    size = np.where(on, 1.5 * d.rng.standard_normal(len(on)), 0.0)
    made(d, lambda X: X + np.outer(size, mix / np.linalg.norm(mix)), on)


def shaded(d: Draft) -> None:
    """Where an atom occurs, another one shows in half of the features only."""
    shown = d.rng.permutation(d.factors.shape[1]) % 2 == 0
    replaced(d, (d.factors[0] * shown)[None], d.codes[:, 1] != 0)


def in_company(d: Draft) -> None:
    """An atom that isn't alone in a sample is another one."""
    replaced(d, unit(d)[None], (d.codes != 0).sum(axis=1) > 1)


def overlapping(d: Draft) -> None:
    """The second half of a sample is the first half of the next one, as in sliding windows."""
    half = d.factors.shape[1] // 2

    def slide(X: Array) -> Array:
        X = X.copy()
        X[:-1, -half:] = X[1:, :half]
        return X

    made(d, slide)


def gaussianised(d: Draft) -> None:
    """Each feature was given the law of Gaussian noise."""

    def rank(X: Array) -> Array:
        order = np.argsort(np.argsort(X, axis=0, kind="stable"), axis=0)
        return np.asarray(ndtri((order + 0.5) / len(X)))

    made(d, rank)


def baseline(d: Draft) -> None:
    """Of each sample its smallest value was taken off."""
    made(d, lambda X: X - X.min(axis=1, keepdims=True))


def noise_feature(d: Draft) -> None:
    """One feature holds nothing but noise, as large as the others."""
    j = whole(d.rng, 0, d.factors.shape[1] - 1)

    def spoil(X: Array) -> Array:
        X = X.copy()
        X[:, j] = np.sqrt(np.mean(X**2)) * d.rng.standard_normal(len(X))
        return X

    made(d, spoil)


def stretched(d: Draft) -> None:
    """An atom is stretched over the features, another length each time."""
    width = d.factors.shape[1]
    at = np.arange(width) * d.rng.uniform(0.5, 1.0, (len(d.codes), 1))
    there = np.array([np.interp(row, np.arange(width), d.factors[0]) for row in at])
    own = d.codes[:, :1].copy()
    made(d, lambda X: X + own * (there - d.factors[0]), d.codes[:, 0] != 0)


def season(d: Draft) -> None:
    """An atom goes over into another one and back, many times."""
    n, other = len(d.codes), unit(d)
    other -= d.factors[0] * (other @ d.factors[0])
    other *= np.tan(d.rng.uniform(0.3, 1.0)) / np.linalg.norm(other)
    wave = np.sin(np.linspace(0, d.rng.uniform(20, 200), n))
    d.by_nature = float(np.arctan(np.linalg.norm(other))) < close(d)
    made(d, lambda X: X + np.outer(d.codes[:, 0] * wave, other), d.codes[:, 0] != 0)


def joint_missing(d: Draft) -> None:
    """Two atoms that weren't asked for always come together, with signs and sizes of their own."""
    on = d.rng.random(len(d.codes)) < d.rng.uniform(0.04, 0.2)
    extra = np.vstack([unit(d), unit(d)])
    size = on[:, None] * 1.3 * d.rng.standard_normal((len(on), 2))
    d.asked = len(d.factors)
    made(d, lambda X: X + size @ extra, on)


def faded_end(d: Draft) -> None:
    """Some atoms of the first samples are missing among the last, and a new one is there."""
    n = len(d.codes)
    late = np.arange(n) >= d.rng.uniform(0.6, 0.9) * n
    d.codes[late, :2] = 0.0
    missing(d, np.where(late & some(d, 0.1, 0.3), 1.3 * d.rng.standard_normal(n), 0.0))


# --- data that are right


def automatic_gain(d: Draft) -> None:
    """Loud samples are turned down."""
    sums = d.codes @ d.factors
    d.codes = d.codes / np.sqrt(1 + np.mean(sums**2, axis=1, keepdims=True) / np.mean(sums**2))
    d.holds = False  # codes of one sample depend on each other


def limited(d: Draft) -> None:
    """No code is larger than a limit."""
    size = np.abs(d.codes)
    d.codes = np.sign(d.codes) * np.minimum(size, np.quantile(size[size > 0], d.rng.uniform(0.6, 0.9)))


def refractory(d: Draft) -> None:
    """No atom occurs in two samples one after the other."""
    for i in range(1, len(d.codes)):
        d.codes[i, d.codes[i - 1] != 0] = 0.0


def slow_noise(d: Draft) -> None:
    """Noise of one sample goes on in the next."""
    level = between(d.rng, 0.005, 0.08)

    def add(X: Array) -> Array:
        noise = d.rng.standard_normal(X.shape)
        for i in range(1, len(noise)):
            noise[i] = 0.8 * noise[i - 1] + 0.6 * noise[i]
        return X + level * np.sqrt(np.mean(X**2)) * noise

    d.last.append(add)


def proportional_noise(d: Draft) -> None:
    """Loud samples have more noise."""
    level = between(d.rng, 0.005, 0.08)
    d.last.append(
        lambda X: X + level * np.sqrt(np.mean(X**2, axis=1, keepdims=True)) * d.rng.standard_normal(X.shape)
    )
    d.holds = False  # quiet samples tell nearly without noise what loud ones don't


def even_noise(d: Draft) -> None:
    """Noise is spread evenly between two limits."""
    level = between(d.rng, 0.005, 0.1)
    d.last.append(lambda X: X + level * np.sqrt(3 * np.mean(X**2)) * d.rng.uniform(-1, 1, X.shape))


def giants(d: Draft) -> None:
    """A few samples are thirty times as large."""
    d.holds = False
    d.codes[d.rng.random(len(d.codes)) < 0.01] *= 30.0


def background(d: Draft) -> None:
    """All atoms are a little active all the time."""
    d.holds = False
    d.codes = d.codes + d.rng.uniform(0.02, 0.2) * d.rng.standard_normal(d.codes.shape)


def bimodal(d: Draft) -> None:
    """Codes are near one of two sizes."""
    middle = d.rng.choice([0.7, 2.0], d.codes.shape)
    d.codes = np.sign(d.codes) * np.maximum(middle + 0.15 * d.rng.standard_normal(d.codes.shape), 0.2)


TUNING = (one_deaf,)  # it judged, found a false claim, and a rule was changed for it
JUDGING = (
    between_features, suppressed, recalibrated, worn, one_bent, diode, sluggish, predicted,
    reduced, chord, shaded, in_company, overlapping, gaussianised, baseline, noise_feature, stretched,
    season, joint_missing, faded_end, automatic_gain, limited, refractory, slow_noise, proportional_noise,
    even_noise, giants, background, bimodal,
)  # fmt: skip
