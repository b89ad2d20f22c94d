"""Sums of squares against chance: the same with flipped signs, so that noise may have any size anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
FAR_T2 = 50.0  # a feature's t^2 counts up to this
_FLIPS = 40
_CANDIDATES = 8  # functions that are held against chance: those that most follows
_COST, _FEWEST = 2e7, 16  # entries times pairs that are looked at, pairs that are all the same


def follows(*looks: tuple[Array, Array]) -> float:
    """How far rest follows the worst of some functions: all features' t^2, against flipped signs.

    Parameters
    ----------
    *looks : (functions, rest)
        Functions of the sample, (n_samples, n_functions), that what is left over in some features,
        (n_samples, n_features), could follow; of several looks the squares add up.

    Returns
    -------
    float
        In deviations of a normal law.
    """
    variance = [np.maximum((functions**2).T @ (rest**2), 1e-300) for functions, rest in looks]

    def squares(chosen: Any, sign: Any = 1.0) -> Array:
        t2 = [
            np.minimum(np.square((functions[:, chosen] * sign).T @ rest) / size[chosen], FAR_T2).sum(axis=1)
            for (functions, rest), size in zip(looks, variance, strict=True)
        ]
        return np.asarray(sum(t2))

    every = squares(slice(None))
    most = np.argsort(-every, kind="stable")[:_CANDIDATES]
    signs = np.random.default_rng(1).choice([-1.0, 1.0], (_FLIPS, len(looks[0][1]), 1))
    drawn = np.array([squares(most, sign) for sign in signs])
    return float(np.max(deviations(every[most], drawn), initial=0.0))


def deviations(own: Any, drawn: Array) -> Any:
    """A sum of squares against draws of it: its cube root is about normal."""
    mean = np.maximum(np.mean(drawn, axis=0), 1e-100)
    skew = np.maximum(np.var(drawn, axis=0) / (9 * mean**2), 1e-12)
    return ((own / mean) ** (1 / 3) - 1 + skew) / np.sqrt(skew)


def multiplied(*looks: tuple[Array, Array], weight: Array | float = 1.0) -> float:
    """Do parts multiply, by each other or by themselves? How far what is left over follows such products.

    Parameters
    ----------
    *looks : (codes, rest)
        Weights, (n_samples, n_components), of which negative ones count as 0, and what lies outside the span
        of the components in some features.
    weight : ndarray of shape (n_samples, 1), optional
        By which the rest was multiplied.

    Returns
    -------
    float
        Of the worst product, in deviations of a normal law.
    """
    size = max(sum(rest.size for _, rest in looks), 1)
    pairs: Any = None
    found = []
    for codes, rest in looks:
        Z = np.maximum(codes, 0.0).astype(np.float64)  # for squares of any scale
        Z = Z / np.maximum(np.sqrt(np.mean(Z**2, axis=0)), 1e-300)
        if pairs is None:
            i, j = np.triu_indices(Z.shape[1])
            together = ((Z * Z).T @ (Z * Z))[i, j]
            often = np.argsort(-together, kind="stable")[: max(int(_COST / size), _FEWEST)]
            pairs = i[often], j[often]
        P, Z = Z[:, pairs[0]] * Z[:, pairs[1]] * weight, Z * weight
        P = P - Z @ (np.linalg.pinv(Z.T @ Z, rcond=1e-12, hermitian=True) @ (Z.T @ P))
        rest = rest.astype(np.float64)
        found.append((P, rest / max(float(np.abs(rest).max(initial=0.0)), np.finfo(float).tiny)))
    return follows(*found)
