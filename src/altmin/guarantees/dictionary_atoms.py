r"""What samples say about each atom of a dictionary with as many atoms as features, or fewer.

Codes are X A^+ where the data have no noise. With noise they come from a pursuit that goes down to the
noise, because the pseudo-inverse of an ill-conditioned dictionary hides small codes under it. An atom is
fixed by the samples *without* it (they span a hyperplane) and confirmed by those *with* it (what they leave
over has no direction of its own, no line through two codes is crowded, early and late samples agree).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, erfinv

from altmin.guarantees.curvature import curved
from altmin.guarantees.refits import distinct
from altmin.io.records import record
from altmin.kernels.gram import least_eigenvalue
from altmin.kernels.lines import crowded_lines
from altmin.kernels.pursuit import Pursuit

Array = NDArray[Any]
_MOST_SPANS = 64  # atoms whose span is looked at: those that are used most
_EM_ROWS, _EM_STEPS = 2000, 30
_DRAWS = 16
_PAIR_ROWS = 2000  # all pairs of these are compared


@record
class AtomFacts:
    """What samples say; arrays hold one number for each atom, NaN where nothing can be said.

    Parameters
    ----------
    noise : float
        Standard deviation of a feature's noise over the root mean square of the data; 0: none is seen.
    n_samples, n_distinct : int
        Samples that were looked at (none of them 0), and those that aren't near copies.
    theta, on : ndarray
        Share and number of the samples that use the atom.
    off, span : ndarray
        Distinct samples without it; how evenly they span all other directions (1: evenly).
    together, partner : ndarray
        Largest correlation of its use with that of another atom, and which one.
    line : ndarray
        Samples on the most crowded line with another atom, over what chance explains.
    second : ndarray
        Direction that samples with it leave over, over what other samples leave.
    drift : ndarray
        Angle between early and late samples' atoms, over what noise explains.
    step, se : ndarray
        Angle to the least-squares atom, and its standard error.
    left : float
        What the codes leave over, over what codes of Gaussian data of that density would.
    discrete : bool
        Whether the codes of some atom are nearly of one size, so that sums of atoms are as sparse as atoms.
    spread : float
        Variance of the number of atoms in a sample, over that of independent ones.
    dense : float
        Share of the samples that use more atoms than independent ones ever would.
    outside : float
        Energy for each dimension outside the span of the atoms, over the noise inside.
    curved : float
        |t| of what is left over on squares and cubes of the fitted values: samples aren't sums.
    """

    noise: float
    n_samples: int
    n_distinct: int
    theta: Any
    on: Any
    off: Any
    span: Any
    together: Any
    partner: Any
    line: Any
    second: Any
    drift: Any
    step: Any
    se: Any
    left: float
    discrete: bool
    spread: float
    dense: float
    outside: float
    curved: float


def atom_facts(X: Array, components: Array, eps: float = 2e-16, sizes: Array | None = None) -> AtomFacts:
    """Look at samples through a dictionary.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples, in the order in which they came.
    components : ndarray of shape (n_components, n_features)
        Unit atoms.
    eps : float
        Rounding of the data.
    sizes : ndarray of shape (n_samples,), optional
        What samples were divided by: multiples of one sample are no copies.

    Returns
    -------
    AtomFacts
        What they say about each atom.
    """
    A = np.asarray(components, dtype=np.float64)
    X = np.asarray(X, dtype=np.float64)
    there = np.any(X != 0, axis=1)
    X, sizes = X[there], np.ones(int(there.sum())) if sizes is None else sizes[there]
    X = X / max(float(np.sqrt(np.mean(X**2))) if len(X) else 1.0, 1e-300)
    decoder = np.linalg.pinv(A)
    Z = X @ decoder
    rounding = max(1e-6, 1e3 * eps)
    noise = _noise(Z, decoder, X, A, rounding)
    S = _codes(X, Z, A, noise, rounding)
    on = np.count_nonzero(S, axis=0)
    size = np.sqrt(np.sum(S**2, axis=0) / np.maximum(on, 1))
    unit = S / np.where(size > 0, size, 1.0)
    apart = distinct(unit * sizes[:, None], by_size=True)
    U = unit[apart]
    n, k = S.shape
    together, partner = _together(S != 0)
    window = np.full(k, 5e-5)
    if noise > 0:
        window = 2 * noise * np.linalg.norm(decoder, axis=0) / np.where(size > 0, size, 1.0)
    lines = crowded_lines(U, np.minimum(window, 0.3), 2000) if len(U) else np.zeros((k, k))
    step, se, rest = _least_squares(S, X, A)
    spread, dense = _counts(S != 0)
    return AtomFacts(
        noise=noise,
        n_samples=n,
        n_distinct=_n_distinct((X * sizes[:, None])[np.any(S != 0, axis=1)], apart, noise),
        theta=on / max(n, 1),
        on=np.count_nonzero(U, axis=0),
        off=len(U) - np.count_nonzero(U, axis=0),
        span=_spans(U),
        together=together,
        partner=partner,
        line=lines.max(axis=1),
        second=_second_direction(S, rest, noise),
        drift=_drift(S, X, A, rounding),
        step=step,
        se=se if noise > 0 else np.zeros(k),
        left=_left_over(Z, S),
        discrete=_discrete(unit),
        spread=spread,
        dense=dense,
        outside=_outside(X, Z, A, noise),
        curved=curved(X, S) if noise > 0 else 0.0,
    )


def _n_distinct(X: Array, apart: NDArray[np.bool_], noise: float) -> int:
    """Samples that aren't copies of others; with noise, up to noise, among some of them."""
    if noise == 0.0:
        return int(apart.sum())
    some = X[:: max(-(-len(X) // _PAIR_ROWS), 1)]
    if not len(some):
        return 0
    size = np.sqrt(np.mean(np.sum(some**2, axis=1)))
    return int(distinct(some, min(4 * noise * np.sqrt(X.shape[1]) / size, 0.25), by_size=True).sum())


def _noise(Z: Array, decoder: Array, X: Array, A: Array, rounding: float) -> float:
    """Noise of a feature from the spikes of the codes, the lower quartile of the atoms'; 0: rounding."""
    spike = _spikes(Z[:: -(-len(Z) // _EM_ROWS)]) / np.maximum(np.linalg.norm(decoder, axis=0), 1e-300)
    inside = float(np.quantile(spike, 0.25))
    k, d = A.shape
    outside = 0.0
    if k < d:
        outside = float(np.sqrt(np.mean(np.sum((X - Z @ A) ** 2, axis=1)) / (d - k)))
    noise = max(inside, min(outside, 3 * inside)) if inside > rounding else inside
    return noise if max(inside, outside) > rounding else 0.0


def _spikes(Z: Array) -> Array:
    """Standard deviation of the narrow part of each column, a mixture of two centred Gaussians."""
    squares = Z**2
    total = np.maximum(squares.mean(axis=0), 1e-300)
    narrow, wide, share = 0.05 * total, 3 * total, np.full(Z.shape[1], 0.7)
    floor = 1e-26 * total
    for _ in range(_EM_STEPS):
        with np.errstate(all="ignore"):
            ratio = np.log((1 - share) / share) + 0.5 * np.log(narrow / wide)
            ratio = ratio + 0.5 * squares * (1 / narrow - 1 / wide)
        r = 1 / (1 + np.exp(np.minimum(ratio, 700.0)))
        weight = r.sum(axis=0)
        narrow = np.maximum((r * squares).sum(axis=0) / np.maximum(weight, 1e-12), floor)
        others = ((1 - r) * squares).sum(axis=0) / np.maximum(len(Z) - weight, 1e-12)
        wide = np.maximum(others, 1.0001 * narrow)
        share = np.clip(weight / len(Z), 1e-6, 1 - 1e-6)
    return np.sqrt(narrow)


def _codes(X: Array, Z: Array, A: Array, noise: float, rounding: float) -> Array:
    """Codes, 0 where an atom is off: to rounding without noise, by a pursuit down to the noise with it."""
    if noise == 0.0:
        return np.where(np.abs(Z) > rounding * np.sqrt(np.mean(Z**2)), Z, 0.0)
    k, d = A.shape
    found = Pursuit(A, max(int(0.6 * k), 1), "ormp")(X, tol=noise**2 * d)
    S = np.asarray(found.dense(), dtype=np.float64)
    return np.where(np.abs(S) > 2.5 * noise, S, 0.0)


def _together(used: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Largest correlation of each atom's use with that of another, and with which one."""
    n, k = used.shape
    if k == 1 or n < 2:
        return np.zeros(k), np.zeros(k, dtype=np.intp)
    share = used.mean(axis=0)
    joint = (used.T.astype(np.float32) @ used.astype(np.float32)).astype(np.float64) / n
    sd = np.sqrt(np.maximum(share * (1 - share), 1e-12))
    phi = (joint - np.outer(share, share)) / np.outer(sd, sd)
    np.fill_diagonal(phi, -np.inf)
    return phi.max(axis=1), phi.argmax(axis=1)


def _spans(U: Array) -> Array:
    """Of the atoms that are used most: sigma_min / sqrt(count / (k - 1)) of the unit samples without them."""
    k = U.shape[1]
    found = np.ones(k)
    if k == 1 or not len(U):
        return found
    V = U / np.maximum(np.linalg.norm(U, axis=1, keepdims=True), 1e-300)
    total = V.T @ V
    on = U != 0
    for i in np.argsort(-on.sum(axis=0), kind="stable")[:_MOST_SPANS]:
        used = V[on[:, i]]
        gram = total - used.T @ used
        gram[i, :] = gram[:, i] = 0.0
        gram[i, i] = len(V)  # its own direction is left out: as large as none of the others
        count = len(V) - len(used)
        found[i] = np.sqrt(max(least_eigenvalue(gram), 0.0) * (k - 1) / max(count, 1))
    return found


def _least_squares(S: Array, X: Array, A: Array) -> tuple[Array, Array, Array]:
    """Angles to the least-squares atoms and their standard errors; what these leave over."""
    G = S.T @ S
    inverse = np.linalg.pinv(G, rcond=1e-12, hermitian=True)
    B = inverse @ (S.T @ X)
    rest = X - S @ B
    n, d = X.shape
    free = max(n * d - np.count_nonzero(S) - S.shape[1] * d, 1)
    sigma = np.sqrt(float(np.sum(rest**2)) / free)
    norms = np.maximum(np.linalg.norm(B, axis=1), 1e-300)
    se = sigma * np.sqrt(np.maximum(np.diag(inverse), 0.0) * max(d - 1, 1)) / norms
    return angles(B, A), np.where(norms > 1e-12, se, np.nan), rest


def angles(atoms: Array, reference: Array) -> Array:
    """Angles between matching rows, up to sign, without cancellation; a row of zeros is at a right angle."""
    norms = np.linalg.norm(atoms, axis=1, keepdims=True)
    U = atoms / np.where(norms > 0, norms, 1.0)
    R = reference / np.linalg.norm(reference, axis=1, keepdims=True)
    along = np.einsum("ij,ij->i", U, R)
    across = np.linalg.norm(R - along[:, None] * U, axis=1)
    return np.where(norms[:, 0] > 0, np.arctan2(across, np.abs(along)), np.pi / 2)


def _second_direction(S: Array, rest: Array, noise: float) -> Array:
    """Top eigenvalue of what samples with an atom leave over, against that of samples without it."""
    k = S.shape[1]
    found = np.full(k, np.nan)
    if noise == 0.0:
        return np.zeros(k)
    rng = np.random.default_rng(0)
    for i in range(k):
        on = np.flatnonzero(S[:, i])
        size = np.abs(S[on, i])
        large = on[size >= np.median(size)] if len(on) else on
        off = np.flatnonzero(S[:, i] == 0)
        m = min(len(large), 400)
        if m < 8 or len(off) < 2 * m:
            continue
        large = large[np.argsort(-np.abs(S[large, i]), kind="stable")[:m]]
        draws = [_top(rest[rng.choice(off, m, replace=False)]) for _ in range(_DRAWS)]
        found[i] = _top(rest[large]) / (2.2 * max(draws) + 0.25 * (max(draws) - min(draws)))
    return found


def _top(R: Array) -> float:
    """Largest eigenvalue of R'R without the tenth of the rows that is largest, by a few powers."""
    squares = np.sum(R**2, axis=1)
    R = R[squares <= np.quantile(squares, 0.9)]  # samples whose support was missed say nothing
    G = R.T @ R if R.shape[1] <= R.shape[0] else R @ R.T
    v = np.linalg.norm(G, axis=1)
    for _ in range(12):
        w = G @ v
        size = float(np.linalg.norm(w))
        if size == 0.0:
            return 0.0
        v = w / size
    return float(v @ G @ v)


def _drift(S: Array, X: Array, A: Array, rounding: float) -> Array:
    """Angle between the atoms of early and late samples, over max(.01, 4 standard errors)."""
    half = len(S) // 2
    found = np.full(S.shape[1], np.nan)
    if half < 2 * S.shape[1]:
        return found
    fits = []
    for part in (slice(0, half), slice(half, None)):
        inverse = np.linalg.pinv(S[part].T @ S[part], rcond=1e-12, hermitian=True)
        B = inverse @ (S[part].T @ X[part])
        sigma2 = float(np.mean((X[part] - S[part] @ B) ** 2))
        norms = np.maximum(np.linalg.norm(B, axis=1), 1e-150)  # an atom may be unused in a half
        fits.append((B, sigma2 * np.diag(inverse) * max(X.shape[1] - 1, 1) / norms**2))
    (first, v), (second, w) = fits
    seen = (np.linalg.norm(first, axis=1) > 1e-12) & (np.linalg.norm(second, axis=1) > 1e-12)
    allowed = np.maximum(0.01, 4 * np.sqrt(np.maximum(v + w, 0.0)))
    apart = angles(first[seen], second[seen])
    found[seen] = apart / allowed[seen]
    return found


def _left_over(Z: Array, S: Array) -> float:
    """Norm of what the kept codes leave of all, over that of Gaussian codes of the same density."""
    size = np.sqrt(np.mean(Z**2, axis=0))
    W = Z / np.where(size > 0, size, 1.0)
    off = S == 0
    theta = float(np.clip(1 - off.mean(), 1e-6, 1 - 1e-6))
    t = np.sqrt(2) * float(erfinv(1 - theta))  # Gaussian codes below t are those that are dropped
    gaussian = float(erf(t / np.sqrt(2))) - t * np.sqrt(2 / np.pi) * float(np.exp(-(t**2) / 2))
    return float(np.sqrt(np.mean(np.where(off, W, 0.0) ** 2) / max(gaussian, 1e-12)))


def _discrete(unit: Array) -> bool:
    """Whether the kurtosis of some atom's nonzeros is that of +-1 (1) and not of a density (1.8)."""
    on = np.maximum(np.count_nonzero(unit, axis=0), 1)
    return bool(np.any((unit**4).sum(axis=0) / on < 1.8))


def _counts(used: NDArray[np.bool_]) -> tuple[float, float]:
    """Variance of the number of atoms in a sample over that of independent uses, and share of dense samples.

    A share of the samples is dense where more of them use at least so many atoms than independent uses and
    chance explain; the largest such excess counts.
    """
    theta = used.mean(axis=0)
    counts = used.sum(axis=1)
    variance = float(np.sum(theta * (1 - theta)))
    if variance <= 0 or used.shape[1] < 3:
        return 0.0, 0.0
    expected = np.ones(1)
    for share in theta:  # the Poisson-binomial law: how many of k coins show heads
        expected = np.append(expected * (1 - share), 0.0) + np.append(0.0, expected * share)
    n = len(counts)
    found = np.bincount(counts, minlength=len(expected)) / n
    at_least, tail = (np.cumsum(part[::-1])[::-1] for part in (found, np.maximum(expected, 0.0)))
    excess = (at_least - tail - 4 * np.sqrt(tail * np.maximum(1 - tail, 0.0) / n))[tail <= 0.1]
    return float(np.var(counts)) / variance, float(max(excess.max(initial=0.0), 0.0))


def _outside(X: Array, Z: Array, A: Array, noise: float) -> float:
    """Variance for each dimension outside the span of the atoms, over that of the noise inside."""
    k, d = A.shape
    if k >= d:
        return 0.0
    outside = float(np.mean(np.sum((X - Z @ A) ** 2, axis=1))) / (d - k)
    return outside / (noise**2 + 1e-12)
