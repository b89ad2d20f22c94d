"""What decoded weights say about a fitted cone: do samples fix its facets, and pure ones its corners?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.guarantees.nonnegative_theory import weight_constants
from altmin.guarantees.refits import distinct
from altmin.io.records import record

_MOST_FACETS = 128
_ZERO = 1e-3  # codes up to this share of the largest lie on a facet, to the accuracy that is claimed


@record
class ConeShape:
    """What codes of a sample of the data say about a fit; see :func:`shape`."""

    negative: float
    pairs: float
    span: float
    condition: float
    distinct: float
    piled: bool
    negative_mass: float
    empty: int
    weights: dict[str, float]
    negative_share: float = 0.0
    smallest: float = 0.0
    carried: Any = None  # samples in which each component is the largest
    pure: Any = None  # samples of which each component has at least 95 % (90 % with noise)
    slack: Any = 0.0  # median share of other components in samples of which each has at least 90 %
    mixed_up: float = 0.0  # noise of the weights that it moves most, where others are moved far less


def shape(
    codes: NDArray[Any], components: NDArray[Any], level: float = 0.0, blur: NDArray[Any] | None = None
) -> ConeShape:
    """Measure what the verdict rests on.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Decoded weights of some samples, negative ones included.
    components : ndarray of shape (n_components, n_features)
        The fitted components.
    level : float
        Error that is known of otherwise: codes up to it (but .02 at most) may be zero.
    blur : ndarray of shape (n_components,), optional
        Standard deviation of each code's noise: codes that it explains don't make a sample impure.

    Returns
    -------
    ConeShape
        Scale-free: each component's codes are measured in units of its .999 quantile.
    """
    norms = np.linalg.norm(components, axis=1)
    alive = norms > 0
    if not alive.any():
        nothing = dict.fromkeys(("r", "k", "m", "lambda", "q", "between"), np.nan) | {"D": 0.0}
        none = np.zeros(len(norms))
        return ConeShape(0.0, 0.0, 0.0, np.inf, 0.0, False, 0.0, len(norms), nothing, carried=none, pure=none)
    Z = np.asarray(codes, dtype=np.float64)[:, alive]
    A = components[alive] / norms[alive, None]
    scale = np.quantile(Z, 0.999, axis=0) if len(Z) else np.ones(Z.shape[1])
    unit = np.where(scale > 0, scale, 1.0)
    Z = Z / unit
    negative = float(max(-Z.min(initial=0.0), 0.0))
    negative_share, piled, weights = _negative_share(Z), _piled(Z), weight_constants(np.maximum(Z, 0.0))
    zero = max(3 * negative, _ZERO, min(level, 0.02))
    positive = np.maximum(Z, 0.0)
    if blur is not None:
        positive = np.where(positive * scale > 3 * blur[alive], positive, 0.0)
    share = positive / np.maximum(positive.sum(axis=1, keepdims=True), 1e-300)
    n_distinct = (
        None if blur is None else _distinct_at_noise(Z, blur[alive] / np.where(scale > 0, scale, 1.0))
    )
    slack = np.zeros(len(norms))
    slack[alive] = _slack(Z * unit)
    Z = Z[distinct(Z)]  # copies of a sample say nothing new about facets and pairs
    singular = np.linalg.svd(A, compute_uv=False)
    condition = float(singular[0] / singular[-1]) if singular[-1] > 0 else np.inf
    return ConeShape(
        negative=negative,
        pairs=_pairs(Z, zero),
        span=_span(Z, zero),
        condition=condition,
        distinct=float(len(Z) if n_distinct is None else n_distinct),
        piled=piled,
        negative_mass=float(np.maximum(-A, 0).sum() / np.abs(A).sum()),
        empty=int(np.sum(~alive)),
        weights=weights,
        negative_share=negative_share,
        smallest=float(singular[-1]),
        carried=_spread_out(alive, np.bincount(share.argmax(axis=1), minlength=share.shape[1])),
        pure=_spread_out(alive, np.sum(share >= (0.95 if blur is None else 0.9), axis=0)),
        slack=slack,
        mixed_up=0.0 if blur is None else _mixed_up(blur[alive] / unit),
    )


def _slack(Z: NDArray[Any]) -> NDArray[Any]:
    """Of each component, what its nearly pure samples lack: about 0 where it is the corner they lie in."""
    share = Z / np.maximum(Z.sum(axis=1, keepdims=True), 1e-300)
    found = np.zeros(Z.shape[1])
    for i, own in enumerate(share.T):
        if np.any(own >= 0.9):
            found[i] = max(1 - float(np.median(own[own >= 0.9])), 0.0)
    return found


def _mixed_up(noise: NDArray[Any]) -> float:
    """Largest noise of a weight, where another's is a fraction of it: of components close to each other."""
    return float(noise.max()) if noise.max() > 4 * noise.min() else 0.0


def _distinct_at_noise(Z: NDArray[Any], blur: NDArray[Any]) -> int:
    """How many of a thousand samples aren't copies of others up to noise."""
    some = Z[:: max(-(-len(Z) // 1000), 1)]
    size = max(float(np.median(np.linalg.norm(some, axis=1))), 1e-300) if len(some) else 1.0
    return int(distinct(some, min(3 * float(np.linalg.norm(blur)) / size, 0.25)).sum())


def _spread_out(alive: NDArray[np.bool_], counts: NDArray[Any]) -> NDArray[Any]:
    """Counts of the components that are there, 0 for empty ones."""
    found = np.zeros(len(alive), dtype=np.intp)
    found[alive] = counts
    return found


def _negative_share(Z: NDArray[Any]) -> float:
    """Worst over the components of the energy of its negative codes, as a share of that of all."""
    energy = np.sum(Z**2, axis=0)
    return float(np.max(np.sum(np.minimum(Z, 0.0) ** 2, axis=0) / np.maximum(energy, 1e-300), initial=0.0))


def _pairs(Z: NDArray[Any], zero: float) -> float:
    near, active = (np.abs(Z) <= zero).astype(float), (Z > 0.1).astype(float)
    counts = near.T @ active
    np.fill_diagonal(counts, np.inf)
    return float(counts.min())


def _span(Z: NDArray[Any], zero: float) -> float:
    """Min over i of sigma_min / sqrt(count) of the unit samples on facet i, coordinate i removed."""
    D = Z.shape[1]
    if D == 1:
        return 1.0
    norms = np.linalg.norm(Z, axis=1)
    U = Z[norms > 0] / norms[norms > 0, None]
    near = np.abs(Z[norms > 0]) <= zero
    counts = near.sum(axis=0)
    if counts.min() < D - 1:
        return 0.0
    total = U.T @ U
    facets = np.argsort(counts, kind="stable")[:_MOST_FACETS]
    grams = np.empty((len(facets), D - 1, D - 1))
    for place, i in enumerate(facets):
        on = near[:, i]
        gram = U[on].T @ U[on] if 2 * counts[i] < len(U) else total - U[~on].T @ U[~on]
        grams[place] = np.delete(np.delete(gram, i, axis=0), i, axis=1)
    least = np.maximum(np.linalg.eigvalsh(grams)[:, 0], 0.0)
    return float(np.sqrt(least / counts[facets]).min())


def _piled(Z: NDArray[Any]) -> bool:
    """Whether over 5 % of the samples share a code's maximum while no sample is pure in it."""
    top = Z.max(axis=0, initial=0.0)
    at_top = np.mean(Z >= 0.98 * top, axis=0)
    positive = np.maximum(Z, 0.0)
    share = positive / np.maximum(positive.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return bool(np.any((at_top > 0.05) & (share.max(axis=0) < 0.9)))
