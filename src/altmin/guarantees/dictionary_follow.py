"""Whether what is left beside an atom follows anything that is known of its samples.

Beside a sum of atoms there is noise, which follows nothing. Where an atom looks another way, what is left
depends on when: where its code is negative or large, late or for a while, in loud samples, in company, with a
certain other atom. Such a mean shows in far fewer samples than a direction that is merely more frequent
(:mod:`altmin.guarantees.dictionary_shadow`), which noise has, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.guarantees.dictionary_shadow import beside_large
from altmin.kernels.gram import row_blocks, row_norms2

Array = NDArray[Any]
_FEWEST, _MOST, _BOTH = 8, 400, 6  # samples with an atom; with its largest codes; with and without another
_WAVES, _OWN = 4, 8  # half periods of time; what is known of samples without other atoms, with these
_CLIP, _OTHERS = 3.0, 32  # medians of a size; other atoms: those that occur with it most
_CHANCE, _CHANCE_OF_ALL, _EACH = 1.5, 2.2, 3.0  # deviations beyond the largest of so many; of one atom in all
_SLOWEST, _NEARBY = 8, 25  # waves in all samples, from which on they are a rhythm; frequencies on either side
_NEAR, _SHAPES = (0.5, 1.0), 5  # root mean squares: what is that small may be lost; shapes of a distortion
_SAME, _BLURRED = 1e-6, 3.0  # of a square: what the codes explain of what is known; times the codes' noise


def followed(S: Array, X: Array, A: Array, noise: Array) -> tuple[Array, float, float]:
    """Deviations by which what is left over follows something, over what is no chance.

    Parameters
    ----------
    S : ndarray of shape (n_samples, n_components)
        Codes, 0 where an atom is off.
    X : ndarray of shape (n_samples, n_features)
        Samples, in the order in which they came.
    A : ndarray of shape (n_components, n_features)
        Unit atoms.
    noise : ndarray of shape (n_components,)
        Standard deviation of each atom's codes.

    Returns
    -------
    each : ndarray of shape (n_components,)
        Of the atom and what it follows most; 0 where too few samples tell.
    all : float
        Of all atoms together, where no one of them counts for more than a few deviations.
    hum : float
        Of one frequency in the order of the samples, whatever atoms they have.
    """
    large, rest = beside_large(S, X, A, noise)
    rest -= rest.sum(axis=0) / max(len(rest), 1)
    used, free = large != 0, _free(rest)
    about = _about(large @ A, used)
    found, tried = np.zeros(len(A)), 1
    sums, told = np.zeros(_OWN), 0
    energy = np.sum(large**2, axis=0) / np.maximum(used.sum(axis=0), 1)
    blur = np.divide(noise**2, energy, out=np.zeros_like(energy), where=energy > 0)
    for i in np.flatnonzero(used.sum(axis=0) >= _FEWEST):
        on = np.flatnonzero(used[:, i])
        on = np.sort(on[np.argsort(-np.abs(large[on, i]), kind="stable")[:_MOST]])
        code = large[on, i]
        code = np.clip(code / np.median(np.abs(code)), -_CLIP, _CLIP)[:, None]
        joint = used[on].sum(axis=0)
        others = np.flatnonzero((joint >= _BOTH) & (joint <= len(on) - _BOTH))
        others = others[np.argsort(-joint[others], kind="stable")[:_OTHERS]]
        with_other = used[np.ix_(on, others)]
        known = (np.ones_like(code), np.sign(code), code * about[on], code * with_other)
        own = rest[on] - np.outer(rest[on] @ A[i], A[i])  # an atom's length isn't its direction
        same = np.maximum(_SAME, _BLURRED * np.append(np.full(_OWN, blur[i]), blur[i] + blur[others]))
        t2 = _explained(np.hstack(known), own, large[np.ix_(on, [i, *others])], free, same)
        found[i], tried = _deviations(t2, free).max(), tried + len(t2)
        sums += np.minimum(t2[:_OWN], free * (1 - 2 / (9 * free) + _EACH * np.sqrt(2 / (9 * free))) ** 3)
        told += 1
    together = _deviations(sums, free * told).max() if told else 0.0
    of_all = max(together, 0.0) / (np.sqrt(2 * np.log(_OWN)) + _CHANCE_OF_ALL)
    return found / (np.sqrt(2 * np.log(tried)) + _CHANCE), float(of_all), rhythm(rest)


def rhythm(rest: Array) -> float:
    """How far what is left over follows a wave of one frequency in the order of the samples, over chance.

    A hum runs through all samples, whatever atoms they have. Its power is held against that of frequencies
    nearby, as noise may go on from sample to sample; the slowest waves are what :func:`followed` looks at.

    Parameters
    ----------
    rest : ndarray of shape (n_samples, n_features)
        What large codes leave of each sample, in the order in which they came.

    Returns
    -------
    float
        Above 1 no chance; 0 where too few samples tell.
    """
    if len(rest) < _FEWEST * _NEARBY:
        return 0.0
    power = np.square(np.abs(np.fft.rfft(rest, axis=0)[_SLOWEST:]))
    power = np.mean(power / np.maximum(power.mean(axis=0), 1e-300), axis=1)  # each feature counts alike
    sums, place = np.concatenate([[0.0], np.cumsum(power)]), np.arange(len(power))
    begin, end = np.maximum(place - _NEARBY, 0), np.minimum(place + _NEARBY + 1, len(power))
    beside = (sums[end] - sums[begin] - power) / (end - begin - 1)
    free = 2 * _free(rest)  # a cosine and a sine
    found = _deviations(free * power / np.maximum(beside, 1e-300), free)
    return float(found.max() / (np.sqrt(2 * np.log(len(power))) + _CHANCE))


def bent(S: Array, X: Array, A: Array, noise: Array) -> float:
    """How far what is left over in a feature follows what large codes make of it, over what is no chance.

    Samples are sums in each feature by itself: one that saturates, loses small values, or has another gain
    below 0 shows by itself what the sum over all features (:mod:`altmin.guarantees.curvature`) dilutes.
    Parameters are those of :func:`followed`.
    """
    large, rest = beside_large(S, X, A, noise)
    if not len(rest):
        return 0.0
    rest -= rest.mean(axis=0)
    size = np.sqrt(np.maximum(np.sum(A * (large.T @ large @ A), axis=0), 0.0) / len(rest))
    size[size == 0] = 1.0

    def told(rows: slice) -> Array:
        codes = large[rows]
        return np.hstack([codes, codes != 0, np.ones((len(codes), 1))])  # an intercept is off where atoms are

    def shapes(rows: slice) -> Iterator[Array]:
        return _shapes(np.clip(large[rows] @ A / size, -_CLIP, _CLIP))

    blocks = list(row_blocks(len(rest)))
    gram = sum(known.T @ known for known in map(told, blocks))
    inverse = np.linalg.pinv(gram, rcond=1e-10, hermitian=True)
    explained = np.zeros((_SHAPES, len(inverse), A.shape[1]))
    for rows in blocks:
        known = told(rows)
        for moments, shape in zip(explained, shapes(rows), strict=True):
            moments += known.T @ shape
    for moments in explained:
        moments[:] = inverse @ moments
    sums, squares = np.zeros((2, _SHAPES, A.shape[1]))
    for rows in blocks:
        known = told(rows)
        for place, shape in enumerate(shapes(rows)):
            each = (shape - known @ explained[place]) * rest[rows]
            sums[place] += each.sum(axis=0)
            squares[place] += np.einsum("ij,ij->j", each, each)
    spread = np.sqrt(squares)
    t = np.abs(sums) / np.where(spread > 0, spread, 1.0)
    return float(t.max()) / float(np.sqrt(2 * np.log(t.size)) + _CHANCE)


def _shapes(unit: Array) -> Iterator[Array]:
    """What a distortion adds to values: one after the other, as memory is short."""
    yield unit**3
    yield np.abs(unit)
    yield np.sign(unit)
    for near in _NEAR:
        yield np.where(np.abs(unit) < near, unit, 0.0)


def _about(fitted: Array, used: NDArray[np.bool_]) -> Array:
    """Of each sample: slow waves of time, its size without what is left, how many other atoms it has."""
    n = max(len(fitted), 1)
    size = np.sqrt(row_norms2(fitted))
    size = np.minimum(size / max(float(np.sqrt(np.sum(size**2) / n)), 1e-300), _CLIP)
    time = (np.arange(len(fitted)) + 0.5) / n
    waves = np.cos(np.pi * np.outer(time, np.arange(1, _WAVES + 1)))
    return np.column_stack([waves, size, used.sum(axis=1) - 1])


def _free(rest: Array) -> float:
    """Of how many independent features a sum of squares has the spread: codes that aren't large tie them."""
    cov = rest.T @ rest
    size = np.sqrt(np.diag(cov))
    ties = cov / np.maximum(np.outer(size, size), 1e-300)
    return max(len(cov) ** 2 / max(float(np.sum(ties**2)), 1.0) - 1, 1.0)


def _explained(known: Array, rest: Array, codes: Array, free: float, same: Array) -> Array:
    """Mean over the features of t^2 of the rest on what is known but not explained by codes, times these.

    Where no more of what is known is left than ``same``, codes explain it but for their noise.
    """
    before = np.sum(known**2, axis=0)
    known = known - codes @ (np.linalg.pinv(codes.T @ codes, rcond=1e-10, hermitian=True) @ (codes.T @ known))
    new = np.sum(known**2, axis=0) > same * before
    variance = np.square(known).T @ np.square(rest)
    t2 = np.square(known.T @ rest) / np.where(variance > 0, variance, 1.0)
    each = t2.sum(axis=1) / max(rest.shape[1] - 1, 1)  # nothing is left along the atom
    return np.where(new, free * each, free)


def _deviations(t2: Array, free: Any) -> Array:
    """Of a sum of so many t^2: its cube root is about normal."""
    return np.asarray((np.cbrt(t2 / free) - (1 - 2 / (9 * free))) / np.sqrt(2 / (9 * free)))
