"""Is what a quadratic leaves over noise? Residuals held against many further functions of the features.

The residual of a least-squares fit is at right angles to the Jacobian J, so its product with any further
function of the features sees only what no parameter explains. What chance gives is known by flipping signs
of the residual at random (and taking J out of it again): that keeps the size of each row's noise, so noise
may depend on the row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from altmin.guarantees.residuals import inverse_gram, weighted_norms
from altmin.io.records import record

Array = NDArray[Any]
_FLIPS = 20
_FEW_FLIPS = 8
_CLEAR = 1.2  # below the bounds of all rules: where a draw of chance comes so near, more decide nothing
_SUMS = 60  # flips of which mean and spread of a sum are known well enough
_SIZES = 100  # further flips, which say how large the product with each function is by chance
_WAVES = 64  # random directions along which a wave is looked for
_HALVES = 256  # half-spaces of the features
_COST = 4e7  # multiplications that one family of functions may cost
_SPREAD_OF_THREE = 2.2  # standard deviation of the sum of three such numbers, by simulation
_INNER, _OUTER = 0.5, 2.5  # robust standard deviations: the middle of a residual, and its tails
_STARTS = 4  # of the search for a direction
_MOST_FEATURES = 64  # whose products with pairs of others are looked at
_POWERS = 8  # iterations for the largest such product


@record
class Misfit:
    """What is left over, each against what chance leaves (1 is about the largest of 20 or 8 draws).

    Parameters
    ----------
    shape : float
        Largest correlation with a further function: powers, kinks, waves, functions of the fitted value.
    pattern : float
        All of these correlations together, in standard deviations of what chance gives.
    rank : float
        A quadratic that is left over.
    product : float
        A product of three features that is left over.
    steps : float
        Correlations with random half-spaces together, with products of sizes, or with all, in deviations of
        a normal law: jumps, kinks and bends along any direction, where no single function shows them.
    ridge : float
        A cube of some direction that is left over: a jump, a saturation, a wave along it show there.
    unseen : float
        Size of a further term that would still pass for chance, in units of y.
    middle : float
        |t| of how the middle and the far tails of the residual follow the fitted value, which least squares
        makes their sum not do: where some targets are lost or another row's, the others pull one way.
    neighbour : float
        |t| of the residual on the fitted value of the row before or after it.
    """

    shape: float
    pattern: float
    rank: float
    product: float
    ridge: float
    unseen: float
    middle: float = 0.0
    neighbour: float = 0.0
    steps: float = 0.0


def misfit(
    r: Array,
    J: Array,
    designs: tuple[Array, ...],
    across: Array,
    fitted: Array,
    further: Array | None = None,
    seed: int = 0,
    inverse: Array | None = None,
) -> Misfit:
    """Hold a residual against further functions of the features.

    Parameters
    ----------
    r : ndarray of shape (n_samples,)
        Residual of least squares; no copies among the rows.
    J : ndarray of shape (n_samples, n_parameters)
        Jacobian.
    designs : tuple of one or two ndarrays of shape (n_samples, n_features)
        Scaled features; two of them where left and right ones differ.
    across : ndarray of shape (n_samples, n_directions)
        Standardised directions: those of the model first, then the features.
    fitted : ndarray of shape (n_samples,)
        Fitted values.
    further : ndarray of shape (n_samples, n_terms), optional
        More functions that this model lacks.
    seed : int
        Of flips and waves.
    inverse : ndarray of shape (n_parameters, n_parameters), optional
        Of J'J, where it is known.

    Returns
    -------
    Misfit
        NaN where nothing is left over.
    """
    if not r.any():
        return Misfit(np.nan, np.nan, np.nan, np.nan, np.nan, 0.0, np.nan, np.nan, np.nan)
    rng = np.random.default_rng([seed, 5])
    further = np.empty((len(r), 0)) if further is None else further
    columns = 4 * across.shape[1] + 2 * _WAVES + further.shape[1] + J.shape[1] + 10
    rows = _evenly(len(r), max(_COST / (columns * _FLIPS), 6 * J.shape[1]))
    J = J[rows]
    if inverse is None or len(rows) < len(r):
        exact = J.astype(np.float64)
        inverse = inverse_gram(exact.T @ exact)
    drawn = _flipped(r[rows], J, inverse, rng)
    across = across[rows].astype(np.float32)  # of chance few digits are enough
    curves = np.hstack([bends(fitted[rows]).astype(np.float32), shapes(across), waves(across, rng)])
    terms = np.hstack([further[rows].astype(np.float32), _about_mean(curves)])
    designs = tuple(part[rows].astype(np.float32) for part in designs)
    white = tuple(_whitened(part) for part in designs)
    both = np.hstack(white)
    along, beside, cross = (
        _correlated(drawn, functions)
        for functions in (terms, _about_mean(half_spaces(both, rng)), _about_mean(crossed(both, rng)))
    )
    joint = (along.normal + beside.normal + cross.normal) / _SPREAD_OF_THREE
    some = slice(0, max(int(_COST / (_FEW_FLIPS * min(designs[0].shape[1], _MOST_FEATURES)
                                     * designs[0].shape[1] * designs[-1].shape[1])), 1000))  # fmt: skip
    few = drawn[: _FEW_FLIPS + 1]
    thirds = _over_draws(few, lambda one: _thirds([part[some] for part in white], one[some]))
    return Misfit(
        float(np.fmax(along.largest, cross.largest)),
        along.total,
        _over_chance(weighted_norms(designs[0], few, designs[-1])),
        float(thirds[0]),
        float(thirds[1]),
        6 * float(np.std(r)) / np.sqrt(len(rows)),
        _middle(r, fitted),
        _neighbour(r, fitted),
        float(np.fmax(np.fmax(beside.normal, cross.normal), joint)),
    )


def _about_mean(terms: Array) -> Array:
    """Without a constant: where a model has none, hundreds of functions would follow that one together."""
    return np.asarray(terms - terms.mean(axis=0))


def _middle(r: Array, fitted: Array) -> float:
    """Largest |t| of the fitted value on the clipped residual, and on the signs of those far out.

    Noise that depends on the row, but is as likely positive as negative, leaves both at 0, and so does skewed
    noise that doesn't depend on it: signs are taken about their mean.
    """
    unit = max(float(np.median(np.abs(r))) / 0.6745, 1e-300)
    w = fitted - fitted.mean()
    found = 0.0
    for part in (np.clip(r / unit, -_INNER, _INNER), np.sign(r) * (np.abs(r) > _OUTER * unit)):
        product = w * (part - part.mean())
        found = max(found, abs(float(product.sum())) / max(float(np.linalg.norm(product)), 1e-300))
    return found


def _neighbour(r: Array, fitted: Array) -> float:
    """Largest |t| of the residual on the fitted value of the row before or after it."""
    w = fitted - fitted.mean()
    found = 0.0
    for product in (r[1:] * w[:-1], r[:-1] * w[1:]):
        found = max(found, abs(float(product.sum())) / max(float(np.linalg.norm(product)), 1e-300))
    return found


def shapes(u: Array) -> Array:
    """Cubic, fourth-power, absolute and saturating functions of (standardised) directions."""
    u = np.clip(u, -5, 5)
    return np.hstack([u * u * u, u * u * u * u, np.abs(u), np.tanh(u)])


def waves(u: Array, rng: np.random.Generator) -> Array:
    """Sines and cosines along random mixtures of few directions, of speeds from .5 to 4."""
    k = u.shape[1]
    mix = rng.standard_normal((k, _WAVES)) * (rng.random((k, _WAVES)) < np.minimum(2.0 / k, 1.0))
    mix[rng.integers(k, size=_WAVES), np.arange(_WAVES)] += 1.0
    mix *= np.exp(rng.uniform(np.log(0.5), np.log(4.0), _WAVES)) / np.linalg.norm(mix, axis=0)
    phase = u @ mix.astype(u.dtype)
    return np.hstack([np.sin(phase), np.cos(phase)])


def half_spaces(u: Array, rng: np.random.Generator) -> Array:
    """Which rows lie on one side of random planes, each through a row; half of them along few columns."""
    d = u.shape[1]
    mix = rng.standard_normal((d, _HALVES))
    mix[:, ::2] *= rng.random((d, _HALVES // 2)) < min(2.5 / d, 1.0)
    along = u @ mix.astype(u.dtype)
    return np.asarray(along > along[rng.integers(len(u), size=_HALVES), np.arange(_HALVES)], dtype=u.dtype)


def crossed(u: Array, rng: np.random.Generator) -> Array:
    """Products of the sizes of two columns, and of two random directions."""
    d = u.shape[1]
    first, second = np.triu_indices(d, 1)
    pairs = rng.permutation(len(first))[:_WAVES]
    mix = rng.standard_normal((2, d, _WAVES)) * (rng.random((2, d, _WAVES)) < min(2.5 / d, 1.0))
    mix, u = mix.astype(u.dtype), np.clip(u, -5, 5)
    sizes = np.abs(u)
    return np.hstack([sizes[:, first[pairs]] * sizes[:, second[pairs]], np.abs((u @ mix[0]) * (u @ mix[1]))])


def bends(fitted: Array) -> Array:
    """Functions of the fitted value: powers, and kinks at some of its quantiles."""
    f = (fitted - fitted.mean()) / max(float(np.std(fitted)), 1e-300)
    kinks = [
        np.maximum(f - level, 0.0) for level in np.quantile(f, [0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98])
    ]
    f = np.clip(f, -5, 5)
    return np.column_stack([f**2, f**3, *kinks])


def first_of_copies(S: Array) -> NDArray[np.intp]:
    """Numbers of rows that aren't near copies of earlier ones; the target is one of the columns."""
    probe = np.random.default_rng(0).standard_normal((S.shape[1], 2)) / np.sqrt(S.shape[1])
    along = S @ probe
    least = np.maximum(
        1e-9 * np.abs(along).max(axis=0, initial=0.0), 1e-300
    )  # constant columns have no spread
    cells = np.round(along / np.maximum(along.std(axis=0), least) * 1e4)
    return np.sort(np.unique(cells @ np.array([1.0, np.sqrt(2.0)]), return_index=True)[1])


def _flipped(r: Array, J: Array, inverse: Array, rng: np.random.Generator) -> Array:
    """The residual, and copies of it with random signs, without J, all of length 1.

    J has been taken out of the copies twice: where rows are few for the parameters, that shortens them.
    """
    unit = (r / np.maximum(np.abs(r).max(), 1e-300)).astype(np.float32)
    signs = rng.choice(np.array([-1.0, 1.0], np.float32), (_SUMS + _SIZES, len(r)))
    drawn, J = np.vstack([unit, unit * signs]), J.astype(np.float32, copy=False)
    drawn -= ((drawn @ J) @ inverse).astype(np.float32) @ J.T
    return np.asarray(drawn / np.maximum(np.linalg.norm(drawn, axis=1, keepdims=True), 1e-30))


class _Correlated(NamedTuple):
    largest: float  # |t|, over the largest of the flips
    total: float  # sum of the squares, in deviations of the flips' sums
    normal: float  # the same, as deviations of a normal law


def _correlated(drawn: Array, terms: Array) -> _Correlated:
    """The |t| of some functions against those of flips.

    Flips without J have the same product with a function as with what J leaves of it, so that isn't formed.
    """
    t = drawn @ terms
    size = np.mean(np.square(t[_SUMS + 1 :]), axis=0)  # as noise is in each row
    whole = np.einsum("ij,ij->j", terms, terms) * np.mean(np.square(drawn[0]))
    own = size > 1e-8 * whole  # the others are functions that the model has already
    if not own.any():
        return _Correlated(np.nan, np.nan, np.nan)
    t = (t[: _SUMS + 1, own] / np.sqrt(size[own])).astype(np.float64)
    total = np.sum(np.minimum(t**2, 50.0), axis=1)
    mean, spread = float(total[1:].mean()), max(float(total[1:].std()), 1e-300)
    skew = spread**2 / (9 * mean**2)  # a sum of few squares has a long tail, but hardly its cube root
    return _Correlated(
        _over_chance(np.abs(t[: _FLIPS + 1]).max(axis=1)),
        float((total[0] - mean) / spread),
        float(((total[0] / mean) ** (1 / 3) - 1 + skew) / np.sqrt(skew)),
    )


def _over_draws(drawn: Array, measure: Callable[[Array], tuple[float, ...]]) -> Array:
    """What is measured of the first row over the largest of the others; no more of them than it takes."""
    own, most = np.array(measure(drawn[0])), np.zeros(1)
    for one in drawn[1:]:
        most = np.maximum(most, measure(one))
        if np.all(own <= _CLEAR * most):
            break
    return np.asarray(own / np.maximum(most, 1e-300))


def _over_chance(values: Array) -> float:
    """The first value over the largest of the others."""
    return float(values[0] / max(float(values[1:].max()), 1e-300))


def _whitened(X: Array) -> Array:
    """Columns of mean 0, uncorrelated, clipped at five standard deviations."""
    X = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(X.T @ X / len(X))
    known = values > 1e-10 * max(float(values[-1]), 1e-300)
    return np.clip(X @ (vectors[:, known] / np.sqrt(values[known])) @ vectors[:, known].T, -5, 5)


def _thirds(designs: list[Array], r: Array) -> tuple[float, float]:
    """Largest sum of r times a product of three features, and of r times a cube of any direction.

    The second is found by a power iteration on the third moments, from their largest slices.
    """
    every = np.hstack(designs)
    d = min(every.shape[1], _MOST_FEATURES)
    if d < every.shape[1] or len(designs) == 2:
        return float(weighted_norms(designs[0], (r[:, None] * every[:, :d]).T, designs[-1]).max()), 0.0
    slices = _third_moments(every, r)
    V = np.random.default_rng(0).standard_normal((d, d, 1), dtype=slices.dtype)
    for _ in range(_POWERS):
        V = slices @ (slices @ (V / np.maximum(np.linalg.norm(V, axis=1, keepdims=True), 1e-30)))
    norms = np.sqrt(np.linalg.norm(V, axis=1)[:, 0])
    V = V[np.argsort(-norms)[:_STARTS], :, 0]
    for _ in range(15):
        V = V / np.maximum(np.linalg.norm(V, axis=1, keepdims=True), 1e-30)
        W = V
        V = np.einsum("ijs,sj->si", slices @ V.T, V)
    return float(norms.max()), float(np.abs(np.sum(V * W, axis=1)).max())


def _third_moments(u: Array, r: Array) -> Array:
    """Sums of r u_i u_j u_l: each set of three once."""
    d = u.shape[1]
    u = np.ascontiguousarray(u.T)
    weighted = r * u
    moments = np.empty((d, d, d), dtype=u.dtype)
    for i in range(d):
        sums = (u[i] * u[i:]) @ weighted[i:].T
        moments[i, i:, i:] = moments[i:, i, i:] = moments[i:, i:, i] = sums
    return moments


def _evenly(n: int, most: float) -> NDArray[np.intp]:
    """At most so many row numbers, but a thousand, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(n, max(int(most), 1000))).astype(np.intp))
