"""Is what lies outside of the components' span noise, each entry's own, whatever its size?

Projecting noise off the span mixes it: where a few features are large, as in counts of words, what they lose
is spread over the others, and they seem to share a direction. So chance is noise of the size that each entry
has, with random signs, projected in the same way. Features are in units of their noise, which makes the span
take about as much of each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.sparse.linalg import svds

from altmin.guarantees.chance import follows

Array = NDArray[Any]
_FEATURES = 400  # that are looked at; a random part of more
_LAW_ROWS = 200  # samples that say how noise depends on what is measured
_DRAWS = 5
_NARROW = 128  # features or samples up to which a decomposition is quicker than iterations
_FREE = 1e-3  # share of a direction that must lie outside of the span


class Outside(NamedTuple):
    """What lies outside of the span, against chance.

    Parameters
    ----------
    shared : float
        Largest singular value over that of noise.
    drifting : float
        How far it follows the order of samples, alone or with a component: deviations of a normal law.
    sloping : float
        The t of a constant, a slope or a slow wave along the features, of its own in each sample.
    """

    shared: float
    drifting: float
    sloping: float


def look_outside(X: Array, components: Array, counts: bool) -> Outside:
    """Hold what lies outside of the span against noise that is each entry's own.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples in their order, no copies among them.
    components : ndarray of shape (n_components, n_features)
        The fitted components.
    counts : bool
        Whether noise is that of counts.

    Returns
    -------
    Outside
        1 and zeros where nothing lies there.
    """
    nothing = Outside(1.0, 0.0, 0.0)
    rng = np.random.default_rng(0)
    W, D = components.shape[1], len(components)
    most = max(_FEATURES, 4 * D)
    some = np.sort(rng.permutation(W)[:most]) if W > most else slice(None)
    X, A = np.asarray(X[:, some], np.float64), np.asarray(components[:, some], np.float64)
    W = X.shape[1]
    if len(X) < 2 or W <= D or not X.any():
        return nothing
    X = X / np.abs(X).max()  # squares of some scales are no numbers
    weight = np.ones((len(X), 1))
    if counts:
        variance, total = X.mean(axis=0), X.sum(axis=1, keepdims=True)
        weight = 1 / np.sqrt(np.maximum(total, 0.1 * total.mean()))
    else:
        variance = np.mean((X - (X @ np.linalg.pinv(A)) @ A) ** 2, axis=0)
    unit = 1 / np.sqrt(np.maximum(variance + 0.1 * variance.mean(), 1e-300))
    X, A = X * unit, A * unit
    inverse = np.linalg.pinv(A)
    codes = np.maximum(X @ inverse, 0.0)
    off = np.eye(W) - inverse @ A
    rest = (X @ off) * weight
    if np.sum(rest**2) <= 1e-20 * np.sum((X * weight) ** 2):
        return nothing
    fitted = np.maximum(codes @ A, 0.0)
    law = np.maximum(fitted, 0.02 * fitted.mean()) * unit * weight**2 if counts else _law(rest, fitted, off)
    own = rest * np.sqrt(law / np.maximum(law @ (off * off), 1e-300))
    return Outside(
        _shared(rest, own, off, rng), _drifting(rest, codes, weight), _sloping(rest, own, off, unit)
    )


def _law(rest: Array, fitted: Array, off: Array) -> Array:
    """The variance of each entry's noise, as far as its feature, the fitted value and its square tell it."""
    fitted = fitted / max(float(np.sqrt(np.mean(fitted**2))), 1e-300)
    terms = (np.broadcast_to(np.mean(rest**2, axis=0), rest.shape), fitted, fitted * fitted)
    few = slice(None, None, -(-len(rest) // _LAW_ROWS))
    expected = np.stack([(term[few] @ (off * off)).ravel() for term in terms], axis=1)
    scale = 1 / np.maximum(expected[:, :1], 1e-300)
    sizes = nnls(expected * scale, rest[few].ravel() ** 2 * scale[:, 0])[0]
    return sum(size * term for size, term in zip(sizes, terms, strict=True)) + 1e-300


def _largest(R: Array) -> float:
    if min(R.shape) <= _NARROW:
        gram = R.T @ R if R.shape[0] > R.shape[1] else R @ R.T
        return float(np.sqrt(max(np.linalg.eigvalsh(gram)[-1], 0.0)))
    return float(svds(R, 1, tol=1e-3, v0=np.ones(min(R.shape)), return_singular_vectors=False)[0])


def _shared(rest: Array, own: Array, off: Array, rng: np.random.Generator) -> float:
    drawn = [_largest((own * rng.choice([-1.0, 1.0], own.shape)) @ off) for _ in range(_DRAWS)]
    return _largest(rest) / max(float(np.median(drawn)), 1e-300)


def _drifting(rest: Array, codes: Array, weight: Array) -> float:
    """Whether what is left over follows the order of samples, by itself or where a component is."""
    t = np.linspace(0.0, np.pi, len(rest))[:, None]
    Z = codes / np.maximum(np.sqrt(np.mean(codes**2, axis=0)), 1e-300) * weight
    found = np.hstack(
        [along * part for along in (np.cos(t), np.cos(2 * t), np.sin(2 * t)) for part in (weight, Z)]
    )
    found = found - Z @ (np.linalg.pinv(Z.T @ Z, rcond=1e-12, hermitian=True) @ (Z.T @ found))
    return follows((found, rest))


def _sloping(rest: Array, own: Array, off: Array, unit: Array) -> float:
    """Whether samples have more along slow waves of the table's features than each entry's noise explains."""
    x = (np.arange(len(unit)) + 0.5) / len(unit)
    waves = np.stack([unit * np.cos(np.pi * number * x) for number in range(5)], axis=1)
    waves = waves / np.linalg.norm(waves, axis=0)
    waves = off @ waves
    waves = waves[:, np.sum(waves**2, axis=0) > _FREE]
    beyond = np.square(rest @ waves) - np.square(own) @ np.square(waves)
    size = np.sqrt(np.sum(beyond**2, axis=0))
    return float(np.max(beyond.sum(axis=0) / np.maximum(size, 1e-300), initial=0.0))
