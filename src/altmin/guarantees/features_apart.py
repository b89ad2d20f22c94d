"""Are samples sums, whatever the noise? One half of the features decodes, the other one is looked at.

Noise moves a sample's weights and is left over, both at once. Where it depends on what is measured, as that
of counts does, what is left over then follows curves of the fitted values even where samples are sums.
Weights that one half of the features gives know nothing of the noise in the other half. There fitted values
are held against what lies outside of the span of the components: the mean of their product is zero for sums,
whatever the noise, as long as each feature has its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from altmin.guarantees.chance import FAR_T2, deviations, multiplied
from altmin.io.records import record

Array = NDArray[Any]
_SPLITS = 4  # of the features into halves
SPARE = 4  # features of a half beyond the components: with fewer their errors look like curves
_STEP = 0.1  # root mean squares of a feature over which a step rises
FAR = 5.0  # root mean squares of a feature beyond which a fitted value counts as that
_ENTRIES = 4_000_000  # that are looked at
_FLIPS = 60


@record
class Apart:
    """What one half of the features says of the other.

    Parameters
    ----------
    curved : float
        Largest |t| of what is left over on squares, f log f, roots and steps at 0 of fitted values f, in all
        features or in each of them together, in deviations of a normal law.
    multiplied : float
        How far what is left over follows products of two codes, in such deviations.
    unseen : float
        Error of the components that a power makes which shows by one standard deviation.
    """

    curved: float
    multiplied: float
    unseen: float


def features_apart(X: Array, components: Array, counts: bool) -> Apart | None:
    """Hold samples against what half of their features lets expect.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples, no copies among them.
    components : ndarray of shape (n_components, n_features)
        The fitted components.
    counts : bool
        Whether noise is that of counts; otherwise each feature has its own, as far as weights go.

    Returns
    -------
    Apart or None
        None where half of the features don't fix the codes, or nothing is there. Of counts of so few features
        each single count is dealt to one of two halves by a coin: those of Poisson counts are independent.
    """
    W, D = X.shape[1], len(components)
    wide = 2 * (D + SPARE) <= W
    if not (wide or (counts and D < W)) or not X.any():
        return None
    X = X[:: -(-X.size // _ENTRIES)]
    X, A = np.asarray(X, dtype=np.float64), np.asarray(components, dtype=np.float64)
    if counts:
        variance, total = X.mean(axis=0), X.sum(axis=1, keepdims=True)
        weight = 1 / np.sqrt(np.maximum(total, 0.1 * total.mean()))
    else:
        X = X / np.abs(X).max()  # squares of some scales are no numbers
        variance = np.mean((X - (X @ np.linalg.pinv(A)) @ A) ** 2, axis=0)
        weight = np.ones((len(X), 1))
    unit = 1 / np.sqrt(np.maximum(variance + 0.1 * variance.mean(), 1e-300))
    numbers = np.empty((0, W), np.int64) if wide else np.rint(np.maximum(X, 0.0)).astype(np.int64)
    X, A = X * unit, A * unit
    codes = np.maximum(X @ np.linalg.pinv(A), 0.0)
    size = np.sqrt(np.mean((codes @ A) ** 2, axis=0))
    size = np.maximum(size, 1e-9 * max(float(size.max()), 1e-300))
    rng = np.random.default_rng(0)
    products = np.zeros((len(BENDS), *X.shape))
    products_of_codes = np.nan
    expected = 0.0  # of f log f
    for _ in range(_SPLITS):
        if wide:
            order = rng.permutation(W)
            halves = [np.sort(order[: W // 2]), np.sort(order[W // 2 :])]
            looks = [_look_at(X[:, j], A[:, j], weight) for j in halves]
        else:
            dealt = rng.binomial(numbers, 0.5)
            halves = [np.arange(W), np.arange(W)]
            looks = [_look_at(part * unit, A, weight) for part in (dealt, numbers - dealt)]
        crossed = [(other.codes, look.rest) for look, other in zip(looks, looks[::-1], strict=True)]
        if np.isnan(products_of_codes):  # of one split
            products_of_codes = multiplied(*crossed, weight=weight)
        for j, look, other in zip(halves, looks, looks[::-1], strict=True):
            Z = other.codes * weight
            fitted, own = (
                np.clip(codes @ A[:, j] / size[j], -FAR, FAR) for codes in (other.codes, look.codes)
            )
            inverse = np.linalg.pinv(Z.T @ Z, rcond=1e-12, hermitian=True)
            for of, bend in zip(products, BENDS, strict=True):
                bent = bend(fitted) * size[j] * weight
                bent -= Z @ (inverse @ (Z.T @ bent))
                of[:, j] += look.rest * bent
                if bend is _powers:  # what a power would leave, by codes whose noise is independent
                    power = bend(own) * size[j] * weight
                    expected += float(np.sum((power - (power @ look.inverse) @ A[:, j]) * bent))
    deviation = float(np.sqrt(np.sum(products[BENDS.index(_powers)].sum(axis=1) ** 2)))
    harm = _harm(A * np.quantile(codes, 0.999, axis=0)[:, None], size, unit)
    return Apart(
        max(_follows(of) for of in products),
        products_of_codes,
        harm * deviation / expected if expected > 0 else np.inf,
    )


def _harm(corners: Array, size: Array, unit: Array) -> float:
    """Sine by which the first term of a power turns a typical component."""
    bent = _powers(np.clip(corners / size, -FAR, FAR)) * size / unit
    corners = corners / unit
    squares = np.maximum(np.sum(corners**2, axis=1, keepdims=True), 1e-300)
    beside = bent - np.sum(bent * corners, axis=1, keepdims=True) / squares * corners
    return float(np.median(np.linalg.norm(beside, axis=1) / np.sqrt(squares[:, 0])))


def _squares(f: Array) -> Array:
    return f * f


def _powers(f: Array) -> Array:
    """The first that a power other than 1 adds."""
    return f * np.log(np.maximum(np.abs(f), 1e-3))


def _roots(f: Array) -> Array:
    return np.sign(f) * np.sqrt(np.abs(f))


def _steps(f: Array) -> Array:
    return np.tanh(f / _STEP)


BENDS: tuple[Callable[[Array], Array], ...] = (_squares, _powers, _roots, _steps)


class _Look(NamedTuple):
    codes: Array  # weights by some features, negative ones as 0
    rest: Array  # what is outside of the components' span in them
    inverse: Array


def _look_at(X: Array, A: Array, weight: Array) -> _Look:
    inverse = np.linalg.pinv(A)
    codes = X @ inverse
    rest = (X - codes @ A) * weight
    return _Look(np.maximum(codes, 0.0), rest, inverse)


def _follows(products: Array) -> float:
    """The sum over all entries as |t| by samples, or that of each feature's t^2 as a deviation."""
    by_row = products.sum(axis=1)
    size = float(np.sqrt(np.sum(by_row**2)))
    variance = np.sum(products**2, axis=0)
    if size == 0.0:
        return float(np.nan)
    signs = np.random.default_rng(1).choice([-1.0, 1.0], (_FLIPS + 1, len(products)))
    signs[0] = 1.0
    t2 = np.minimum((signs @ products) ** 2 / np.maximum(variance, 1e-300), FAR_T2).sum(axis=1)
    return float(max(abs(float(by_row.sum())) / size, deviations(t2[0], t2[1:])))
