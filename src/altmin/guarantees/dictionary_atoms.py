r"""What samples say about each atom of a dictionary with as many atoms as features, or fewer.

Codes are X A^+ where the data have no noise. With noise they are those of largest evidence, because the
pseudo-inverse of an ill-conditioned dictionary hides small codes under the noise. An atom is
fixed by the samples *without* it (they span a hyperplane) and confirmed by those *with* it (what they leave
over has no direction of its own, no line through two codes is crowded, early and late samples agree).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, erfinv

from altmin.engine.side_by_side import Begin, at_once
from altmin.guarantees.curvature import curved, cut_off, grid_step, leaning
from altmin.guarantees.dictionary_follow import bent, followed
from altmin.guarantees.dictionary_joint import threes, with_fewer_silent
from altmin.guarantees.dictionary_pairs import levels, multiply, related, signs_beside, spans, together, unmet
from altmin.guarantees.dictionary_shadow import shadows
from altmin.guarantees.refits import distinct
from altmin.io.records import record
from altmin.kernels.bernoulli_gauss import sparse_posterior
from altmin.kernels.gram import row_norms2
from altmin.kernels.lines import crowded_lines
from altmin.kernels.pursuit import Pursuit
from altmin.kernels.thresholds import keep_large

Array = NDArray[Any]
_ENTRIES, _EACH = 2_000_000, 20  # numbers that are looked at, but at least so many samples for each atom
_EM_ROWS, _EM_STEPS = 2000, 30
_SURROGATES = 500  # Gaussian samples that are coded for comparison
_SPAN_ROWS, _SPAN_EACH = 5000, 100  # samples, and such with each atom, that show what others span
_PAIR_ROWS, _BLOCK = 2000, 500  # all pairs of these are compared, so many with all others at a time
_CLIP, _SURE = 4.0, 4.0  # standard deviations of noise
_DENSITY, _PASSES = 0.1, 3  # of codes, before they are known; in which densities and sizes settle
_LEAST = 2.0  # standard deviations of noise: the codes of an atom are no smaller
_GRID = 3.0  # of noise: values on a finer grid are as good as any


@record
class AtomFacts:
    """What samples say; arrays hold one number for each atom, NaN where nothing can be said.

    Parameters
    ----------
    noise : float
        Standard deviation of a feature's noise over the root mean square of the data; 0: none is seen.
    n_samples, n_distinct : int
        Samples that were looked at (none of them 0), and those that aren't near copies.
    by_chance : float
        How many would be no near copies if the same codes were used independently; inf: not looked at.
    unmet : ndarray
        With noise, samples that show that it and another atom of one size do meet, over those with both.
    theta, on : ndarray
        Share and number of the samples that use the atom.
    off, span : ndarray
        Distinct samples without it; how evenly they span all other directions (1: evenly).
    together, partner : ndarray
        Largest correlation of its use with that of another atom, and which one.
    line : ndarray
        Samples on the most crowded line with another atom, over what chance explains.
    second : ndarray
        Direction of its own in what samples with it hold besides, over what chance explains.
    drift : ndarray
        Angle between early and late samples' atoms, over what noise explains.
    step, se : ndarray
        Angle to the least-squares atom, and its standard error.
    turn, ways : ndarray
        Standard error where all atoms are orthogonal; of how many directions errors are made, where one that
        is known badly counts for more.
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
    lean : float
        |t| of the cubes of what is left over in a feature: values of which one side was lost or moved.
    alone : ndarray
        How well samples without any other atom part it from that one (1: evenly, 0: it never occurs without).
    size_related, sign_related : ndarray
        |t| of the dependence of its code's size on another atom's use, and of its sign on another's.
    tied : float
        Dependence of all pairs of signs together, in standard deviations of chance.
    multiplied : float
        How far other codes follow the product of two, over what chance explains.
    cut : float
        Share of the entries that are piled up at an end of their feature's values.
    bare : ndarray
        1 where the atom is a single feature whose values have one sign: its zeros may be those of a cut.
    three : ndarray
        How far it is there with two others more, or less, often than with one of them, over chance.
    grid : float
        Distance of neighbouring values, of root mean square 1, where they lie on a grid coarser than noise.
    follows : ndarray
        How far what samples with it hold besides follows its code, time, or other atoms, over chance.
    all_follow : float
        The same of all atoms together.
    hum : float
        How far what is left over follows a wave of one frequency in the order of the samples, over chance.
    bends : float
        How far what is left over in a feature follows its fitted values, over chance.
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
    alone: Any = 1.0
    size_related: Any = 0.0
    sign_related: Any = 0.0
    tied: float = 0.0
    multiplied: float = 0.0
    cut: float = 0.0
    grid: float = 0.0
    bare: Any = 0.0
    three: Any = 0.0
    lean: float = 0.0
    turn: Any = 0.0
    ways: Any = 1.0
    follows: Any = 0.0
    all_follow: float = 0.0
    hum: float = 0.0
    bends: float = 0.0
    by_chance: float = np.inf
    unmet: Any = 0.0


def atom_facts(
    X: Array, components: Array, eps: float = 2e-16, sizes: Array | None = None, begin: Begin = at_once
) -> AtomFacts:
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
    begin : callable
        Begins what can be computed side by side.

    Returns
    -------
    AtomFacts
        What they say about each atom.
    """
    A = np.asarray(components, dtype=np.float64)
    there = np.flatnonzero(np.any(X != 0, axis=1))
    most = max(_ENTRIES // max(A.shape[1], 1), _EACH * len(A))
    there = there[:: max(-(-len(there) // most), 1)]
    X, sizes = np.asarray(X[there], dtype=np.float64), None if sizes is None else sizes[there]
    rounding = max(1e-6, 1e3 * eps)
    decoder = np.linalg.pinv(A)
    X, Z, S, noise, uneven = _coded(X, decoder, A, rounding)
    if sizes is not None and noise > 0:  # noise that was added before samples were scaled isn't even after it
        own = _coded(X * sizes[:, None], decoder, A, rounding)
        if np.count_nonzero(own[2]) < np.count_nonzero(S):
            (X, Z, S, noise, uneven), sizes = own, None
    outside, own_noise = _outside(X, Z, A, noise), noise * np.linalg.norm(decoder, axis=0)
    speaking, (n, k) = with_fewer_silent(S != 0), S.shape
    three = begin(threes, speaking)
    left = begin(_left_over, X, Z, S, A, noise)
    multiplied = begin(multiply, S, _clipped(Z, S, own_noise), noise > 0)
    del Z
    rest = begin(_from_rest, S, X, A, noise)
    if noise > 0:
        second, following = (begin(look, S, X, A, own_noise) for look in (shadows, followed))
        bends = begin(bent, S, X, A, own_noise)
    else:
        second, following, bends = begin(np.zeros, k), begin(lambda: (np.zeros(k), 0.0, 0.0)), begin(float)
    drift = begin(_drift, S, X, noise)
    n_distinct, by_chance = _repeated(X, S, A, sizes, noise) if noise > 0 else (0, np.inf)
    spread, dense = _counts(speaking, noise > 0)
    phi, partner = together(speaking)
    on = np.count_nonzero(S, axis=0)
    size = np.sqrt(np.sum(S**2, axis=0) / np.maximum(on, 1))
    for looked in (left, multiplied, rest, second, following, bends, drift):  # at codes as they are
        looked.result()
    some = X[:: max(-(-n // _PAIR_ROWS), 1)] if n else X
    grid = grid_step(some) if noise > 0 else 0.0
    cut = cut_off(some, grid) if noise > 0 else 0.0
    del X, some  # what follows looks at codes alone
    S /= np.where(size > 0, size, 1.0)
    apart = distinct(S if sizes is None else S * sizes[:, None], by_size=True)
    U = S[apart]
    spanned = begin(spans, U[:: _thinned(U)])
    window = np.full(k, 5e-5)
    if noise > 0:
        window = 2 * own_noise / np.where(size > 0, size, 1.0)
    line = begin(crowded_lines, U, np.minimum(window, 0.3), 2000) if len(U) else begin(np.zeros, k)
    discrete = _discrete(S)
    codes = S if discrete else U  # rows of +-1 codes are equal by chance: each counts
    if noise > 0:  # what noise alone may make has no size or sign of its own
        codes = np.where(np.abs(codes) > _SURE / 2 * window, codes, 0.0)
    known = codes if sizes is None else codes * sizes[slice(None) if discrete else apart, None]
    dependent = begin(related, known)
    # codes of a size of their own beside another atom, however close that size is to others
    levelled = begin(levels if noise == 0 else signs_beside, codes)
    step, variances, curves, lean = rest.result()
    variances *= uneven**2  # noise along few directions leans codes, and atoms, by more than its average
    se, turn, ways = _standard_errors(variances, A.shape[1])
    span, alone = spanned.result()
    follows, all_follow, hum = following.result()
    size_related, sign_related, tied = dependent.result()
    return AtomFacts(
        noise=noise,
        n_samples=n,
        n_distinct=n_distinct if noise > 0 else int(apart.sum()),
        by_chance=by_chance,
        unmet=unmet(codes) if noise > 0 else 0.0,
        theta=on / max(n, 1),
        on=np.count_nonzero(U, axis=0),
        off=len(U) - np.count_nonzero(U, axis=0),
        span=span,
        together=phi,
        partner=partner,
        line=line.result(),
        second=second.result(),
        follows=follows,
        all_follow=all_follow,
        hum=hum,
        bends=bends.result(),
        drift=drift.result(),
        step=step,
        se=se,
        left=left.result(),
        discrete=discrete,
        spread=spread,
        dense=dense,
        outside=outside,
        curved=curves,
        lean=lean,
        alone=alone,
        size_related=np.maximum(size_related, levelled.result()),
        sign_related=sign_related,
        tied=tied,
        multiplied=multiplied.result(),
        cut=cut,
        grid=grid if grid > _GRID * noise else 0.0,
        bare=_bare(S, A),
        three=three.result(),
        turn=turn,
        ways=ways,
    )


def _coded(X: Array, decoder: Array, A: Array, rounding: float) -> tuple[Array, Array, Array, float, float]:
    """Samples of root mean square 1, X A^+, codes, noise, and how uneven that is."""
    X /= max(_rms(X), 1e-300)  # in place: it is the look's own copy
    Z = X @ decoder
    noise, uneven = _noise(Z, decoder, X, A, rounding)
    return X, Z, _codes(X, Z, A, noise, rounding), noise, uneven


def _rms(X: Array) -> float:
    """Root mean square of the entries, 1 where there are none."""
    return float(np.sqrt(np.vdot(X, X) / X.size)) if X.size else 1.0


def _clipped(Z: Array, S: Array, noise: Array) -> Array:
    """Codes with noise, in units of it and clipped; the signs of exact ones."""
    return np.clip(Z / noise, -_CLIP, _CLIP) if noise.all() else np.sign(S)


def _thinned(U: Array) -> int:
    """Every how many-th sample is enough to see what samples span: the rarest atom keeps a hundred."""
    rarest = int(np.count_nonzero(U, axis=0).min(initial=len(U)))
    return max(min(len(U) // _SPAN_ROWS, rarest // _SPAN_EACH), 1)


def _bare(S: Array, A: Array) -> Array:
    """Which atoms are single features with codes of one sign."""
    single = np.abs(A).max(axis=1) >= 0.999 * np.linalg.norm(A, axis=1)
    return (single & ~(np.any(S > 0, axis=0) & np.any(S < 0, axis=0))).astype(np.float64)


def _from_rest(S: Array, X: Array, A: Array, noise: float) -> tuple[Array, Array, float, float]:
    """Least-squares steps, variances of the atoms; curvature and lean of the rest."""
    step, variances, rest = _least_squares(S, X, A)
    if noise == 0:
        return step, np.zeros_like(variances), 0.0, 0.0
    return step, variances, curved(X, S), leaning(rest, S, A)


def _repeated(X: Array, S: Array, A: Array, sizes: Array | None, noise: float) -> tuple[int, float]:
    """Samples that aren't copies of others, and how many of independent uses of the same codes wouldn't be.

    Codes of few sizes make few patterns, and repeat them all; copies of few samples lack most of what the
    same codes would make if each atom were used for itself.
    """
    found = _n_distinct(X, sizes, noise)
    if 2 * found > min(len(X), _PAIR_ROWS) or sizes is not None:  # hardly any copies, or of sizes unknown
        return found, np.inf
    rng = np.random.default_rng(0)
    drawn = rng.permuted(S, axis=0) @ A
    drawn += rng.permutation(X - S @ A)
    return found, float(_n_distinct(drawn, None, noise))


def _n_distinct(X: Array, sizes: Array | None, noise: float) -> int:
    """Of some samples, those with no earlier one nearer than two copies with noise would be."""
    some = slice(None, None, max(-(-len(X) // _PAIR_ROWS), 1))
    X, logs = X[some], None if sizes is None else np.log(np.maximum(sizes[some], 1e-300))
    d = X.shape[1]
    radius = 2 * noise**2 * (d + 3 * np.sqrt(2 * d))
    squares = row_norms2(X)
    count = 0
    for start in range(0, len(X), _BLOCK):
        part = slice(start, start + _BLOCK)
        near = squares[part, None] + squares - 2 * (X[part] @ X.T) <= radius
        if logs is not None:  # samples were scaled to one size: multiples of one are no copies
            near &= np.abs(logs[part, None] - logs) <= 3 * noise
        count += int(np.sum(~np.any(np.tril(near, start - 1), axis=1)))
    return count


def _noise(Z: Array, decoder: Array, X: Array, A: Array, rounding: float) -> tuple[float, float]:
    """Noise of a feature from the spikes of the codes, the lower quartile of the atoms', 0: rounding.

    The second number is how many times larger that of the worst atom is: noise that has a direction.
    """
    spike = _spikes(Z[:: -(-len(Z) // _EM_ROWS)]) / np.maximum(np.linalg.norm(decoder, axis=0), 1e-300)
    inside = float(np.quantile(spike, 0.25))
    k, d = A.shape
    outside = 0.0
    if k < d:
        outside = float(np.sqrt(np.mean(np.sum((X - Z @ A) ** 2, axis=1)) / (d - k)))
    if max(inside, outside) <= rounding:
        return 0.0, 1.0
    noise = max(inside, min(outside, 3 * inside)) if inside > rounding else inside
    return noise, max(float(spike.max()) / noise, 1.0) if noise > 0 else 1.0


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
        weight, before = r.sum(axis=0), narrow
        narrow = np.maximum((r * squares).sum(axis=0) / np.maximum(weight, 1e-12), floor)
        others = ((1 - r) * squares).sum(axis=0) / np.maximum(len(Z) - weight, 1e-12)
        wide = np.maximum(others, 1.0001 * narrow)
        share = np.clip(weight / len(Z), 1e-6, 1 - 1e-6)
        if np.all(np.abs(narrow - before) <= 1e-7 * narrow):
            break
    return np.sqrt(narrow)


def _codes(X: Array, Z: Array, A: Array, noise: float, rounding: float) -> Array:
    """Codes, 0 where an atom is off: to rounding without noise, of largest evidence with it.

    Densities and sizes of the codes are those that the codes themselves have, after a few passes. (A pursuit
    down to the noise takes two small codes for one where atoms are close, and adds others to make up for it:
    of random directions a third of what it found wasn't there.)
    """
    if noise == 0.0:
        S = Z.copy()
        keep_large(S, np.full(len(A), rounding * _rms(Z)))
        return S
    n, k = Z.shape
    density = np.full(k, _DENSITY)
    sizes = np.full(k, X.shape[1] / (k * _DENSITY))  # X has root mean square 1
    for _ in range(_PASSES):
        S = sparse_posterior(X, A, noise**2, sizes, density)[0]
        on = np.maximum(np.count_nonzero(S, axis=0), 1)
        sizes = np.maximum(np.sum(S**2, axis=0) / on, (_LEAST * noise) ** 2)
        density = np.minimum(on / n, 0.5)
    return S


def _least_squares(S: Array, X: Array, A: Array) -> tuple[Array, Array, Array]:
    """Angles to the least-squares atoms; variance of each towards each other one; what is left over.

    Codes are fitted, too: where another atom is on its code takes up what this one errs towards it, so that
    only samples with this atom and without the other one say anything about that direction. The last column
    is the variance of all directions outside the span together.
    """
    G = S.T @ S
    inverse = np.linalg.pinv(G, rcond=1e-12, hermitian=True)
    B = inverse @ (S.T @ X)
    rest = X - S @ B
    n, d = X.shape
    k = S.shape[1]
    if n < k:  # fits atoms to anything
        return np.full(k, np.nan), np.full((k, k + 1), np.nan), rest
    free = max(n * d - np.count_nonzero(S) - k * d, 1)
    sigma2 = float(np.sum(rest**2)) / free
    norms = np.maximum(np.linalg.norm(B, axis=1), 1e-300)
    alone = (S**2).T @ (S == 0)
    share = np.where(alone > 0, np.diag(G)[:, None] / np.where(alone > 0, alone, 1.0), np.inf)
    np.fill_diagonal(share, 0.0)  # an atom's length isn't its direction
    share[np.diag(G) == 0] = 0.0  # of an atom that no sample uses the right angle of its step says enough
    each = (np.sqrt(sigma2 * np.maximum(np.diag(inverse), 0.0)) / norms) ** 2
    variances = each[:, None] * np.column_stack([share, np.full(k, max(d - k, 0))])
    return angles(B, A), np.where(norms[:, None] > 1e-12, variances, np.nan), rest


def _standard_errors(variances: Array, d: int) -> tuple[Array, Array, Array]:
    """Of free atoms, of orthogonal ones, and in how many directions: variances that differ are fewer.

    Orthogonal atoms turn in pairs, so that samples with one and without the other speak for both.
    """
    total = variances.sum(axis=1)
    own, outside = variances[:, :-1], variances[:, -1]
    squares = np.sum(own**2, axis=1) + outside**2 / max(d - len(own), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ways = np.where(squares > 0, total**2 / squares, 1.0)
        both = np.where(own > 0, 1 / (1 / own + 1 / own.T), 0.0)
    return np.sqrt(total), np.sqrt(both.sum(axis=1)), ways


def angles(atoms: Array, reference: Array) -> Array:
    """Angles between matching rows, up to sign, without cancellation; a row of zeros is at a right angle."""
    norms = np.linalg.norm(atoms, axis=1, keepdims=True)
    U = atoms / np.where(norms > 0, norms, 1.0)
    R = reference / np.linalg.norm(reference, axis=1, keepdims=True)
    along = np.einsum("ij,ij->i", U, R)
    across = np.linalg.norm(R - along[:, None] * U, axis=1)
    return np.where(norms[:, 0] > 0, np.arctan2(across, np.abs(along)), np.pi / 2)


def _drift(S: Array, X: Array, noise: float) -> Array:
    """Angle between the atoms of early and late samples, over max(.01, 4 standard errors).

    With noise all atoms together say more than each alone: their mean square, in standard errors, is that of
    so many numbers with noise.
    """
    half, k, free = len(S) // 2, S.shape[1], max(X.shape[1] - 1, 1)
    found = np.full(k, np.nan)
    if half < 2 * k:
        return found
    fits = []
    for part in (slice(0, half), slice(half, None)):
        inverse = np.linalg.pinv(S[part].T @ S[part], rcond=1e-12, hermitian=True)
        B = inverse @ (S[part].T @ X[part])
        known = max(X[part].size - np.count_nonzero(S[part]) - B.size, 1)
        sigma2 = float(np.sum((X[part] - S[part] @ B) ** 2)) / known
        norms = np.maximum(np.linalg.norm(B, axis=1), 1e-150)  # an atom may be unused in a half
        fits.append((B, sigma2 * np.diag(inverse) * free / norms**2))
    (first, v), (second, w) = fits
    seen = (np.linalg.norm(first, axis=1) > 1e-12) & (np.linalg.norm(second, axis=1) > 1e-12)
    se = np.maximum(0.0025, np.sqrt(np.maximum(v + w, 0.0)))[seen]
    apart = angles(first[seen], second[seen]) / se
    found[seen] = apart / 4
    if noise > 0 and len(apart):
        found[seen] = np.maximum(found[seen], np.mean(apart**2) / (1 + 6 * np.sqrt(2 / (k * free))))
    return found


def _left_over(X: Array, Z: Array, S: Array, A: Array, noise: float) -> float:
    """Norm of what the kept codes leave of all, over what codes of Gaussian data of that density leave."""
    if not len(X):
        return np.nan
    if noise > 0:
        return _left_of_gaussian(X, S, A)
    size = np.sqrt(np.mean(Z**2, axis=0))
    off = S == 0
    dropped = np.sqrt(
        np.mean(np.mean(np.where(off, Z, 0.0) ** 2, axis=0) / np.where(size > 0, size, 1.0) ** 2)
    )
    theta = float(np.clip(1 - off.mean(), 1e-6, 1 - 1e-6))
    t = np.sqrt(2) * float(erfinv(1 - theta))  # Gaussian codes below t are those that are dropped
    gaussian = float(erf(t / np.sqrt(2))) - t * np.sqrt(2 / np.pi) * float(np.exp(-(t**2) / 2))
    return float(dropped / np.sqrt(max(gaussian, 1e-12)))


def _left_of_gaussian(X: Array, S: Array, A: Array) -> float:
    """The same in the data's own space: the pseudo-inverse of an ill-conditioned dictionary hides it."""
    values, vectors = np.linalg.eigh(X.T @ X / len(X))
    draws = np.random.default_rng(0).standard_normal((_SURROGATES, len(values)))
    Y = (draws * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    each = max(round(np.count_nonzero(S) / len(S)), 1)
    gaussian = Y - np.asarray(Pursuit(A, each, "ormp")(Y).dense(), dtype=np.float64) @ A
    some = slice(None, None, max(-(-len(X) // _PAIR_ROWS), 1))
    left = (np.sum((part - codes) ** 2) / np.sum(part**2)
            for part, codes in ((X[some], S[some] @ A), (Y, Y - gaussian)))  # fmt: skip
    return float(np.sqrt(next(left) / max(next(left), 1e-12)))


def _discrete(unit: Array) -> bool:
    """Whether the kurtosis of some atom's nonzeros is that of +-1 (1) and not of a density (1.8)."""
    on = np.maximum(np.count_nonzero(unit, axis=0), 1)
    return bool(np.any(np.einsum("ij,ij,ij,ij->j", unit, unit, unit, unit) / on < 1.8))


def _counts(used: NDArray[np.bool_], noisy: bool) -> tuple[float, float]:
    """Variance of the number of atoms in a sample over that of independent uses, and share of dense samples.

    With noise a share of the samples is dense where more of them use at least so many atoms than independent
    uses and chance explain; the largest such excess counts. Without noise a single exact zero says that a
    sample lies in the span of the atoms that it uses, which one with a missing atom never does: only samples
    that use all atoms are dense, whatever the law of their number (blocks of a photograph).
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
    seen = tail <= 0.1 if noisy else np.arange(len(tail)) == len(tail) - 1
    excess = (at_least - tail - 4 * np.sqrt(tail * np.maximum(1 - tail, 0.0) / n))[seen]
    return float(np.var(counts)) / variance, float(max(excess.max(initial=0.0), 0.0))


def _outside(X: Array, Z: Array, A: Array, noise: float) -> float:
    """Variance for each dimension outside the span of the atoms, over that of the noise inside."""
    k, d = A.shape
    if k >= d:
        return 0.0
    outside = float(np.mean(np.sum((X - Z @ A) ** 2, axis=1))) / (d - k)
    return outside / (noise**2 + 1e-12)
