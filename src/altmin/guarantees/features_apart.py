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

from altmin.guarantees.curvature import multiplied
from altmin.guarantees.refits import distinct
from altmin.io.records import record

Array = NDArray[Any]
_SPLITS = 4  # of the features into halves
_SPARE = 4  # features of a half beyond the components: with fewer their errors look like curves
_FAR = 5.0  # root mean squares of a feature beyond which a fitted value counts as that
_ENTRIES = 4_000_000  # that are looked at
_FLIPS = 60
_FAR_T2 = 50.0  # a feature's t^2 counts up to this


@record
class Apart:
    """What one half of the features says of the other.

    Parameters
    ----------
    curved : float
        Largest |t| of what is left over on squares, on f log f and on roots f of fitted values, in all
        features or in each of them together, in deviations of a normal law.
    constant : float
        The t of a constant of its own in each sample.
    multiplied : float
        What is left over on products of two codes, over what chance leaves there.
    unseen : float
        Error of the components that a power makes which shows by one standard deviation.
    """

    curved: float
    constant: float
    multiplied: float
    unseen: float


def features_apart(X: Array, components: Array, counts: bool) -> Apart | None:
    """Hold samples against what half of their features lets expect.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples.
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
    wide = 2 * (D + _SPARE) <= W
    if not (wide or (counts and D < W)) or not X.any():
        return None
    X = X[:: -(-X.size // _ENTRIES)]
    X, A = np.asarray(X, dtype=np.float64), np.asarray(components, dtype=np.float64)
    X = X[distinct(X, by_size=True)]  # what is left over of copies is one fact
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
    products = np.zeros((len(_BENDS), *X.shape))
    both = np.zeros(len(X))
    pairs: list[float] = []
    expected = 0.0  # of f log f
    for _ in range(_SPLITS):
        if wide:
            order = rng.permutation(W)
            halves = [np.sort(order[: W // 2]), np.sort(order[W // 2 :])]
            looks = [_look_at(X[:, j], A[:, j], unit[j], weight) for j in halves]
        else:
            dealt = rng.binomial(numbers, 0.5)
            halves = [np.arange(W), np.arange(W)]
            looks = [_look_at(part * unit, A, unit, weight) for part in (dealt, numbers - dealt)]
        both += looks[0].along * looks[1].along
        for j, look, other in zip(halves, looks, looks[::-1], strict=True):
            Z = other.codes * weight
            if len(pairs) < len(halves):  # of one split: ten draws of chance each
                pairs.append(multiplied(other.codes, look.rest))
            fitted, own = (
                np.clip(codes @ A[:, j] / size[j], -_FAR, _FAR) for codes in (other.codes, look.codes)
            )
            inverse = np.linalg.pinv(Z.T @ Z, rcond=1e-12, hermitian=True)
            for of, bend in zip(products, _BENDS, strict=True):
                bent = bend(fitted) * size[j] * weight
                bent -= Z @ (inverse @ (Z.T @ bent))
                of[:, j] += look.rest * bent
                if bend is _powers:  # what a power would leave, by codes whose noise is independent
                    power = bend(own) * size[j] * weight
                    expected += float(np.sum((power - (power @ look.inverse) @ A[:, j]) * bent))
    spread = float(np.sqrt(np.sum(both**2)))
    deviation = float(np.sqrt(np.sum(products[_BENDS.index(_powers)].sum(axis=1) ** 2)))
    harm = _harm(A * np.quantile(codes, 0.999, axis=0)[:, None], size, unit)
    return Apart(
        max(_follows(of) for of in products),
        float(both.sum()) / spread if spread > 0 else 0.0,
        max(pairs),
        harm * deviation / expected if expected > 0 else np.inf,
    )


def _harm(corners: Array, size: Array, unit: Array) -> float:
    """Sine by which the first term of a power turns a typical component."""
    bent = _powers(np.clip(corners / size, -_FAR, _FAR)) * size / unit
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


_BENDS: tuple[Callable[[Array], Array], ...] = (_squares, _powers, _roots)


class _Look(NamedTuple):
    codes: Array  # weights by some features, negative ones as 0
    rest: Array  # what is outside of the components' span in them
    along: Array  # its lean to a constant
    inverse: Array


def _look_at(X: Array, A: Array, unit: Array, weight: Array) -> _Look:
    inverse = np.linalg.pinv(A)
    codes = X @ inverse
    rest = (X - codes @ A) * weight
    return _Look(np.maximum(codes, 0.0), rest, rest @ (unit - (unit @ inverse) @ A), inverse)


def _follows(products: Array) -> float:
    """The sum over all entries as |t| by samples, or that of each feature's t^2 as a deviation."""
    by_row = products.sum(axis=1)
    size = float(np.sqrt(np.sum(by_row**2)))
    variance = np.sum(products**2, axis=0)
    if size == 0.0:
        return float(np.nan)
    signs = np.random.default_rng(1).choice([-1.0, 1.0], (_FLIPS + 1, len(products)))
    signs[0] = 1.0
    t2 = (signs @ products) ** 2 / np.maximum(variance, 1e-300)
    own, *drawn = np.minimum(t2, _FAR_T2).sum(axis=1)
    mean = float(np.mean(drawn))
    skew = float(np.var(drawn)) / (9 * mean**2)  # a sum of squares has a long tail, but hardly its cube root
    joint = ((own / mean) ** (1 / 3) - 1 + skew) / max(float(np.sqrt(skew)), 1e-300)
    return float(max(abs(float(by_row.sum())) / size, joint))
