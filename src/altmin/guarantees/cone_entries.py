"""Counts against the noise that each entry has by itself: what one weight for each sample and feature blurs.

In a sample that is nearly pure most entries are small, and so is their noise: a little that doesn't belong
there shows in these, and drowns in the sum over all. So a law of the noise is read off the data (of each
feature, and growing with what is expected and with its square, as counts do whose rate varies), every entry
is divided by its own, and decoded so. As in :mod:`altmin.guarantees.features_apart` weights come from the
other half of the features, those of the noise too, so that only a wrong model moves means away from zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.special import ndtr, ndtri

from altmin.guarantees.chance import FAR_T2, deviations
from altmin.guarantees.curvature import are_whole
from altmin.guarantees.features_apart import BENDS, FAR, SPARE
from altmin.io.records import record

Array = NDArray[Any]
_FEATURES, _FEWEST = 200, 4  # that are looked at; samples for each component, or nothing is said
_GRAMS = 4_000_000  # entries of all samples' Gram matrices at most
_SPLITS = 2  # of the features into halves
_LAW_ROWS, _LAW_STEPS = 300, 2
_LEAST, _EVERYWHERE = 0.05, 0.2  # of a feature's mean that is expected at least; of that the mean of all
_STEPS = 2  # of codes and the noise that they lead to
_PAIRS, _CANDIDATES, _FLIPS, _DRAWS = 45, 8, 40, 3


@record
class Entries:
    """What whole numbers say where each entry counts by its own noise.

    Parameters
    ----------
    shared : float
        Largest singular value of what lies outside of the components' span, over that of random signs of it.
    curved, multiplied : float
        As in :class:`altmin.guarantees.features_apart.Apart`.
    """

    shared: float
    curved: float
    multiplied: float


class _Law(NamedTuple):
    """Variance of an entry: a feature's own, and what grows with the expected value and its square."""

    own: Array
    slope: float
    square: float
    least: Array  # of each feature, what is expected at least

    def of(self, expected: Array) -> Array:
        mean = np.maximum(expected, self.least)
        return np.asarray(self.own + self.slope * mean + self.square * mean * mean)

    def at(self, features: Array) -> _Law:
        return self._replace(own=self.own[features], least=self.least[features])


class _Half(NamedTuple):
    """One half of the features, with codes and noise that the other half gives."""

    features: Array
    codes: Array
    expected: Array
    variance: Array
    rest: Array  # outside of the components' span, in units of the noise


def look_at_entries(X: Array, components: Array) -> Entries | None:
    """Hold counts against mixtures of the components, each entry in units of its noise.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples, no copies among them.
    components : ndarray of shape (n_components, n_features)
        The fitted components.

    Returns
    -------
    Entries or None
        None where values are no counts, or half of the features don't fix the codes.
    """
    D, rng = len(components), np.random.default_rng(0)
    if not are_whole(X) or X.min(initial=0.0) < 0:
        return None
    X = X[:: -(-len(X) // max(_GRAMS // D**2, _FEWEST * D))]
    used = np.flatnonzero(X.any(axis=0))
    used = np.sort(rng.permutation(used)[: max(_FEATURES, 4 * D)])
    X, A = X[np.ix_(X[:, used].any(axis=1), used)], np.maximum(components[:, used], 0.0)
    if 2 * (D + SPARE) > len(used) or len(X) < _FEWEST * D:
        return None
    X = np.asarray(X / X.max(), np.float64)
    law = _law(X, A)
    splits = [_split(X, A, law, rng) for _ in range(_SPLITS)]
    return Entries(_shared(X, A, law, rng), _curved(splits), _multiplied(splits[0]))


def _law(X: Array, A: Array) -> _Law:
    """How noise depends on what is expected, by what lies outside of the components' span."""
    inverse = np.linalg.pinv(A)
    off = np.eye(X.shape[1]) - inverse @ A
    rest, expected = X @ off, np.maximum(X @ inverse, 0.0) @ A
    usual = np.mean(rest**2, axis=0)
    few = slice(None, None, -(-len(X) // _LAW_ROWS))
    terms = (np.broadcast_to(usual, rest.shape), expected, expected**2)
    parts = np.stack([(term[few] @ (off * off)).ravel() for term in terms], axis=1)
    squares, variance = rest[few].ravel() ** 2, parts[:, 1]
    sizes = np.zeros(3)
    for _ in range(_LAW_STEPS):
        weight = 1 / np.maximum(variance + _LEAST * variance.mean(), 1e-300)
        sizes = nnls(parts * weight[:, None], squares * weight)[0]
        variance = parts @ sizes
    mean = X.mean(axis=0)
    least = _LEAST * (mean + _EVERYWHERE * mean.mean())
    own = sizes[0] * usual + 1e-6 * usual.mean() + 1e-300
    return _Law(own, float(sizes[1]), float(sizes[2]), least)


def _decoded(X: Array, A: Array, variance: Array) -> Array:
    """Codes by least squares in which each entry counts by its own noise."""
    weighted = A / variance[:, None]
    gram = weighted @ A.T
    ridge = 1e-9 * np.trace(gram, axis1=1, axis2=2) / len(A)
    gram += ridge[:, None, None] * np.eye(len(A))
    return np.asarray(np.linalg.solve(gram, weighted @ X[:, :, None])[:, :, 0])


def _codes(X: Array, A: Array, law: _Law) -> Array:
    codes = np.maximum(X @ np.linalg.pinv(A), 0.0)
    for _ in range(_STEPS):
        codes = np.maximum(_decoded(X, A, law.of(codes @ A)), 0.0)
    return codes


def _split(X: Array, A: Array, law: _Law, rng: np.random.Generator) -> list[_Half]:
    order = rng.permutation(X.shape[1])
    halves = [np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])]
    codes = [_codes(X[:, j], A[:, j], law.at(j)) for j in halves]
    found = []
    for j, other in zip(halves, codes[::-1], strict=True):
        expected = other @ A[:, j]
        variance = law.at(j).of(expected)
        own = _decoded(X[:, j], A[:, j], variance)
        rest = (X[:, j] - own @ A[:, j]) / np.sqrt(variance)
        found.append(_Half(j, other, expected, variance, rest))
    return found


def _apart(functions: Array, codes: Array, weight: Array) -> Array:
    """Functions of the samples without what codes explain of them, in this feature's weights."""
    weighted = codes * weight[:, None]
    gram = weighted.T @ codes
    gram += 1e-10 * np.trace(gram) * np.eye(len(gram))
    return np.asarray(functions - codes @ np.linalg.solve(gram, weighted.T @ functions))


def _multiplied(halves: list[_Half]) -> float:
    """How far what is left over follows products of two codes, by the size of the sample.

    In deviations that the worst of so many pairs would have as the only one.
    """
    signs = np.random.default_rng(1).choice([-1.0, 1.0], (_FLIPS, len(halves[0].codes)))
    pairs: Any = None
    functions = []
    for half in halves:
        Z = half.codes / np.maximum(np.sqrt(np.mean(half.codes**2, axis=0)), 1e-300)
        if pairs is None:
            i, j = np.triu_indices(Z.shape[1])
            often = np.argsort(-((Z * Z).T @ (Z * Z))[i, j], kind="stable")[:_PAIRS]
            pairs = i[often], j[often]
        size = Z.sum(axis=1, keepdims=True)
        functions.append((Z[:, pairs[0]] * Z[:, pairs[1]] / np.maximum(size, 1e-3 * size.mean()), Z))

    def t2(chosen: Any, signs: Array) -> Array:
        total = np.zeros((len(signs), len(pairs[0][chosen])))
        for half, (products, Z) in zip(halves, functions, strict=True):
            for variance, rest in zip(half.variance.T, half.rest.T, strict=True):
                own = _apart(products[:, chosen], Z, 1 / variance) * (rest / np.sqrt(variance))[:, None]
                total += np.minimum((signs @ own) ** 2 / np.maximum(np.sum(own**2, axis=0), 1e-300), FAR_T2)
        return total

    every = t2(slice(None), np.ones((1, signs.shape[1])))[0]
    most = np.argsort(-every, kind="stable")[:_CANDIDATES]
    worst = float(np.max(deviations(every[most], t2(most, signs)), initial=0.0))
    return float(-ndtri(min(len(every) * float(ndtr(-worst)), 0.5)))


def _curved(splits: list[list[_Half]]) -> float:
    """How far what is left over follows curves of what is expected."""
    n, W = len(splits[0][0].codes), sum(len(half.features) for half in splits[0])
    products, size = np.zeros((len(BENDS), n, W)), np.empty(W)
    for half in splits[0]:
        size[half.features] = np.sqrt(np.mean(half.expected**2, axis=0))
    size = np.maximum(size, 1e-9 * size.max())
    for half in (half for halves in splits for half in halves):
        unit, noise = size[half.features], np.sqrt(half.variance)
        bent = [bend(np.clip(half.expected / unit, 0.0, FAR)) * unit for bend in BENDS]
        for place, feature in enumerate(half.features):
            curves = np.stack([of[:, place] for of in bent], axis=1)
            curves = _apart(curves, half.codes, 1 / half.variance[:, place]) / noise[:, place, None]
            products[:, :, feature] += (curves * half.rest[:, place, None]).T
    return max(_follows(of) for of in products)


def _follows(products: Array) -> float:
    by_row = products.sum(axis=1)
    signs = np.random.default_rng(1).choice([-1.0, 1.0], (_FLIPS, len(products)))
    size = np.maximum(np.sum(products**2, axis=0), 1e-300)
    t2 = np.minimum(np.vstack([products.sum(axis=0), signs @ products]) ** 2 / size, FAR_T2).sum(axis=1)
    along = abs(float(by_row.sum())) / max(float(np.linalg.norm(by_row)), 1e-300)
    return max(along, float(deviations(t2[0], t2[1:])))


def _shared(X: Array, A: Array, law: _Law, rng: np.random.Generator) -> float:
    """Largest singular value outside of the span, over that of the same entries with random signs."""
    variance = law.of(_codes(X, A, law) @ A)
    noise = np.sqrt(variance)

    def outside(entries: Array) -> Array:
        return np.asarray((entries - _decoded(entries, A, variance) @ A) / noise)

    def largest(rest: Array) -> float:
        gram = rest.T @ rest if rest.shape[0] > rest.shape[1] else rest @ rest.T
        return float(np.linalg.eigvalsh(gram)[-1] / max(float(np.sum(rest**2)), 1e-300))

    rest = outside(X)
    drawn = [largest(outside(rest * noise * rng.choice([-1.0, 1.0], rest.shape))) for _ in range(_DRAWS)]
    return float(np.sqrt(largest(rest) / max(float(np.median(drawn)), 1e-300)))
