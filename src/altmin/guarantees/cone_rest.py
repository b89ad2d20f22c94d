"""What components and residuals say about a fitted cone: could it be larger, is the rest noise?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

from altmin.guarantees.chance import multiplied
from altmin.guarantees.cone_entries import look_at_entries
from altmin.guarantees.cone_outside import Outside, look_outside
from altmin.guarantees.curvature import curved, lost_share, piled_share
from altmin.guarantees.features_apart import Apart, features_apart
from altmin.guarantees.refits import distinct
from altmin.kernels.simplex import most_negative

NOISELESS = 1e-3  # relative residual below which there is no noise to look at
ROOM = 0.05  # corners that can grow by no more count as fixed
_ANCHORS, _ROOM_FEATURES = 10, 200  # features nearly of one component: of each, and of all at least
_NARROW = 128  # features or samples up to which a decomposition is quicker than iterations
_FACETS = 0.6  # share of a code's noise by which its facet moves the components
_OPEN = 0.8  # of what noise leaves open, what components are off: facets don't all lean as far
_POISSON = 1.05  # dispersion up to which counts are drawn without a rate that varies
_NO_NOISE = {
    "structured": 1.0,
    **dict.fromkeys(("drifting", "curved", "unseen", "multiplied", "constant", "cut", "lost"), 0.0),
}
_CUT = 0.005  # negative codes up to this share of the largest are within the claimed error


def room(components: NDArray[Any], error: Any = 0.0) -> NDArray[Any]:
    """How far beyond each facet the cone can grow while its corners stay non-negative.

    With B the components scaled to sum 1, room_i is the largest -z_i of any z with z B >= 0 and sum z = 1:
    0 where features that only component i has forbid any growth. Features are thinned out to those that
    bind most, which can only make the room larger: one feature of each component already bounds the cone, by
    the inverse of a small matrix, and a linear program is solved only where such a bound is large beside
    ``ROOM``. What a corner can grow is the room beyond all facets that meet in it: once this is more than
    ``ROOM`` for every corner the answer is known, and the facets that are left count as 0.

    Parameters
    ----------
    components : ndarray of shape (n_components, n_features)
        The fitted components.
    error : float or ndarray of shape (n_components,)
        Their relative error: an entry may be larger than it was found by its share of that.

    Returns
    -------
    ndarray of shape (n_components,)
        Infinite where the components have negative entries.
    """
    k = len(components)
    totals = np.abs(components).sum(axis=1)
    if not totals.all() or np.maximum(-components, 0).sum() > 0.02 * totals.sum():
        return np.full(k, np.inf)
    spread = np.linalg.norm(components, axis=1) * error / np.sqrt(components.shape[1])
    B = (np.maximum(components, 0.0) + np.reshape(spread, (-1, 1))) / totals[:, None]
    if k == 1:
        return np.zeros(1)
    B = B[:, B.max(axis=0) > 0]
    B = B / B.max(axis=0)
    most = max(_ANCHORS, _ROOM_FEATURES // k)
    anchors = np.argsort(B.sum(axis=0) - 2 * B, axis=1, kind="stable")[:, :most]
    bound = _anchored(B, anchors[:, :3].T)
    order = np.argsort(bound, kind="stable")
    enough = np.cumsum(bound[order]) <= 0.2 * ROOM
    B = B[:, np.unique(anchors)]
    found = np.zeros(k)
    found[order[enough]] = bound[order[enough]]
    for i in np.sort(order[~enough]):
        if found.sum() - found.max() > ROOM:
            break
        found[i] = most_negative(B, int(i))
    return found


def _anchored(B: NDArray[Any], sets: NDArray[Any]) -> NDArray[Any]:
    """Room beyond each facet in the simplex that one feature of each component leaves; the best of some."""
    best = np.full(len(B), np.inf)
    for features in sets:
        chosen = B[:, features]
        if np.linalg.cond(chosen) > 1e8:
            continue
        corners = np.linalg.inv(chosen)
        total = corners.sum(axis=1, keepdims=True)
        if total.min() > 1e-6:  # otherwise it isn't bounded
            best = np.minimum(best, np.maximum(-corners / total, 0.0).max(axis=0))
    return best


def left_over(
    codes: NDArray[Any],
    rest: NDArray[Any],
    components: NDArray[Any],
    *,
    counts: bool,
    complete: bool,
    closely: bool = False,
) -> dict[str, Any]:
    """Whether what is left over is noise, in the names of the evidence.

    Parameters
    ----------
    codes, rest : ndarray
        Of some samples; the rest lies outside the span of the components.
    components : ndarray of shape (n_components, n_features)
        The fitted components.
    counts : bool
        Whether noise is that of counts.
    complete : bool
        Whether all entries are known.
    closely : bool
        Whether to look at each entry of counts by its own noise, too, which takes longer.
    """
    sample = codes @ components + rest
    short = rest + np.minimum(codes, 0.0) @ components
    size = max(float(np.abs(sample).max(initial=0.0)), np.finfo(float).tiny)  # squares may be no numbers
    if np.linalg.norm(short / size) <= NOISELESS * np.linalg.norm(sample / size):
        return _NO_NOISE
    sample = np.where(np.abs(sample) > 1e-7 * np.abs(sample).max(initial=0.0), sample, 0.0)  # as it was
    once = distinct(sample, by_size=True)  # what is left over of copies is one fact
    apart, found = (
        None,
        Outside(structure_left(rest), 0.0, 0.0 if complete else constant_left(rest, components)),
    )
    if complete:
        found = look_outside(sample[once], components, counts)
        apart = features_apart(sample[once], components, counts)
    if apart is None:  # the noise of counts looks like a curve
        bent = np.nan if counts else curved(sample, codes)
        apart = Apart(bent, multiplied((codes, rest)), 0.0)
    return {
        "structured": found.shared,
        "drifting": found.drifting,
        "curved": apart.curved,
        "unseen": apart.unseen,
        "multiplied": apart.multiplied,
        "constant": found.sloping,
        "cut": piled_share(sample[once]),
        "lost": lost_share(sample, np.maximum(codes, 0.0) @ components) if complete else 0.0,
        "entries": look_at_entries(sample[once], components) if closely and complete else None,
    }


def structure_left(rest: NDArray[Any], seed: int = 0) -> float:
    """Largest singular value of a residual over its median for random signs of its entries.

    Signs keep the size of each entry, so that noise may depend on sample and feature, as that of counts does.
    """
    rng = np.random.default_rng(seed)
    rest = rest / max(float(np.abs(rest).max(initial=0.0)), np.finfo(float).tiny)  # squares may be no numbers

    def largest(R: NDArray[Any]) -> float:
        if min(R.shape) <= _NARROW or not R.any():
            G = R.T @ R if R.shape[0] > R.shape[1] else R @ R.T
            return float(np.sqrt(max(np.linalg.eigvalsh(G)[-1], 0.0))) if G.size else 0.0
        v = np.ones(min(R.shape))
        return float(svds(R, 1, tol=1e-4, v0=v, return_singular_vectors=False)[0])

    flipped = float(np.median([largest(rest * rng.choice([-1.0, 1.0], rest.shape)) for _ in range(3)]))
    return largest(rest) / max(flipped, 1e-300)


def constant_left(rest: NDArray[Any], components: NDArray[Any]) -> float:
    """The t of a constant of its own in each sample: what is left over leans as one along all features.

    Entries' noise adds up to the sum of its squares along any direction; a constant adds more. One known
    direction shows far less than the largest of all does.

    Parameters
    ----------
    rest : ndarray of shape (n_samples, n_features)
        What lies outside the span of the components.
    components : ndarray of shape (n_components, n_features)
        The fitted components.

    Returns
    -------
    float
        0 where a constant is a mixture of the components, so that nothing can be said.
    """
    W = rest.shape[1]
    basis = np.linalg.svd(np.asarray(components, dtype=np.float64), full_matrices=False)[2]
    constant = np.ones(W) - (basis.sum(axis=1) @ basis)
    free = 1 - np.sum(basis**2, axis=0)
    if np.sum(constant**2) < 1e-3 * W or free.min() < 1e-3:
        return 0.0
    rest = rest / max(float(np.abs(rest).max(initial=0.0)), np.finfo(float).tiny)
    beyond = np.square(rest @ constant) - np.square(rest) @ (constant**2 / free)
    size = float(np.sqrt(np.sum(beyond**2)))
    return float(np.sum(beyond)) / size if size > 0 else 0.0


def code_noise(rest: NDArray[Any], components: NDArray[Any]) -> NDArray[Any] | None:
    """Standard deviation of each decoded weight, by the noise of each feature outside the span.

    Parameters
    ----------
    rest : ndarray of shape (n_samples, n_features)
        Samples minus what all decoded weights, negative ones included, explain.
    components : ndarray of shape (n_components, n_features)
        The fitted components.

    Returns
    -------
    ndarray of shape (n_components,) or None
        None where nothing lies outside the span.
    """
    W, D = rest.shape[1], len(components)
    if W <= D or not rest.any():
        return None
    noise = np.mean(rest**2, axis=0) * W / (W - D)  # of each feature: that of counts differs
    return np.asarray(np.sqrt(np.square(np.linalg.pinv(components)).T @ noise))


def counted_noise(codes: NDArray[Any], components: NDArray[Any], dispersion: float) -> NDArray[Any]:
    """As :func:`code_noise`, of counts: what is expected tells the noise, where a weight came out negative.

    What is left over tells less: where few features hold most counts, weights take up most of their noise.
    """
    below = codes < 0
    variance = dispersion * (np.maximum(codes, 0.0) @ components) @ np.square(np.linalg.pinv(components))
    total = np.sum(np.where(below, variance, 0.0), axis=0)
    return np.asarray(np.sqrt(total / np.maximum(below.sum(axis=0), 1)))


def noise_error(
    codes: NDArray[Any], rest: NDArray[Any], components: NDArray[Any], n_rows: int
) -> NDArray[Any]:
    """Error of each component that noise leaves where its purest samples fix it.

    What least squares on the codes leaves open, with the noise of each sample, and what the noise of the
    codes themselves moves: facets run through the middle of it, and a corner moves with all facets that meet
    in it, which lean to the same side.

    Parameters
    ----------
    codes, rest : ndarray
        Of some samples; the rest lies outside the span of the components.
    components : ndarray of shape (n_components, n_features)
        Of norm 1.
    n_rows : int
        Samples that were fitted.

    Returns
    -------
    ndarray of shape (n_components,)
        Infinite where nothing lies outside the span.
    """
    W, D = rest.shape[1], len(components)
    blur = code_noise(rest, components)
    if blur is None:
        return np.full(D, np.inf)
    Z = np.maximum(codes, 0.0)
    own = np.linalg.pinv(Z.T @ Z, rcond=1e-12, hermitian=True) @ Z.T
    noise = np.sum(rest**2, axis=1) * W / (W - D)
    left = np.sqrt(np.square(own) @ noise * len(Z) / n_rows)
    moved = blur @ components - blur[:, None] * components  # of each corner, all facets but the opposite one
    moved -= np.sum(moved * components, axis=1, keepdims=True) * components
    size = np.maximum(np.quantile(Z, 0.999, axis=0), 1e-300)
    return np.asarray(_OPEN * (left + _FACETS * np.linalg.norm(moved, axis=1) / size))


def redrawn(
    codes: NDArray[Any], components: NDArray[Any], rest: NDArray[Any], dispersion: float | None, seed: int = 0
) -> NDArray[Any]:
    """Samples of which the components are true by construction: their fit errs as the fit in question does.

    Fits on halves share what leans both: noise makes codes of 0 positive, and takes purest samples for
    purer ones. A fit to samples that were drawn from the model shows how far that leads.

    Parameters
    ----------
    codes, rest : ndarray
        Of the samples; the rest lies outside the span of the components.
    components : ndarray of shape (n_components, n_features)
        The fitted components.
    dispersion : float or None
        Variance of counts over that of Poisson counts; None: noise is what is left over, with random signs.
    seed : int
        Of the drawing.
    """
    rng = np.random.default_rng([seed, 7])
    fitted = np.maximum(codes, 0.0) @ components
    if dispersion is None:
        W, D = components.shape[1], len(components)
        size = np.sqrt(W / (W - D)) if W > D else 1.0
        return np.asarray(fitted + size * rest * rng.choice([-1.0, 1.0], rest.shape))
    fitted = np.maximum(fitted, 0.0)
    if dispersion > _POISSON:
        fitted = rng.gamma(fitted / (dispersion - 1), dispersion - 1)
    return np.asarray(rng.poisson(fitted))


def negative_excess(codes: NDArray[Any], noise: NDArray[Any], error: float) -> float:
    """Worst size of negative codes beyond noise, over that noise or what the claimed error explains.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Decoded weights, negative ones included.
    noise : ndarray of shape (n_components,)
        Standard deviation of each of them.
    error : float
        Error of the components that is claimed.
    """
    below = np.minimum(codes, 0.0)
    size = np.sqrt(np.sum(below**2, axis=0) / np.maximum(np.sum(codes < 0, axis=0), 1))
    excess = np.sqrt(np.maximum(size**2 - noise**2, 0.0))
    unit = np.maximum(np.quantile(codes, 0.999, axis=0), 1e-300)
    return float(np.max(excess / np.maximum(1.1 * noise, max(_CUT, error) * unit)))


def start_quality(init: Any, A: NDArray[Any]) -> tuple[float, float]:
    """The l and rho of Definitions 2 and 4 for a start, the fit standing in for the truth."""
    norms = np.linalg.norm(A, axis=1)
    A = np.asarray(A / np.where(norms > 0, norms, 1.0)[:, None], dtype=np.float64)
    start = np.asarray(init, dtype=np.float64)
    start = start / np.linalg.norm(start, axis=1, keepdims=True)
    mixing = start @ np.linalg.pinv(A)
    outside = float(np.linalg.norm(start - mixing @ A, 2))
    own = np.diag(mixing)
    mixing = mixing / np.where(own != 0, own, 1.0)[:, None]
    return float(np.linalg.norm(mixing - np.diag(np.diag(mixing)), 2)), outside
