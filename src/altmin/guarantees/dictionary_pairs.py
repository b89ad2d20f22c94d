"""What the codes of two atoms say about each other: mixtures of atoms depend on one another, atoms needn't.

A basis in which an atom is replaced by its mixture with another one fits the samples as well. What tells them
apart: samples with the one and without the other fix the mixture; the size and the sign of an atom's code
don't depend on whether, and how, another one is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import hypergeom

from altmin.kernels.gram import row_blocks
from altmin.kernels.lanczos import largest_eigenvalue

Array = NDArray[Any]
_SMALL = 32  # rows of a matrix all of whose eigenvalues cost less than the steps for one
_STEPS = 16  # of a larger one: to a percent
_MOST_SPANS = 64  # atoms whose samples without them are looked at: those that are used most
_FEW = 4  # samples with both, or with one of them alone, that say anything
_BOTH_SIGNS = 4.0  # times the variance of both signs, so that the rarer ones are expected together
_RARER = 0.05  # of an atom's codes: with fewer of the rarer sign it has codes of one sign
_SURE_SIGN = 0.5  # of its usual size, from which a code's sign is hardly a mistake
_ONE_SIZE = 1.4  # fourth moment over the squared second: 1 of one size, 1.4 of 1 and 2, 1.8 of a density
_MEETINGS, _OFTEN = 3, 0.3  # samples with two atoms that show that they meet; of the number by chance
_SHIFT = 0.3  # of the mean log size, or of a correlation: smaller ones come from pursuit and noise
_LEVELS, _DIGITS = 32, 6  # sizes of exact codes: the most frequent ones, and digits that tell them apart
_MOST_PAIRS, _TRACE, _TRACE_ROWS = 100, 6, 400  # pairs that may multiply, samples with both: least and most
_ROUNDING = 1e-20  # of squares
_FLIPS, _SIGNED, _DENSER = 10, 1.5, 5.0  # draws of chance; times its largest, and deviations, that are none


def together(used: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Largest correlation of each atom's use with that of another, and with which one."""
    n, k = used.shape
    if k == 1 or n < 2:
        return np.zeros(k), np.zeros(k, dtype=np.intp)
    share = used.mean(axis=0)
    joint = _counts(used).astype(np.float64) / n
    sd = np.sqrt(np.maximum(share * (1 - share), 1e-12))
    phi = (joint - np.outer(share, share)) / np.outer(sd, sd)
    np.fill_diagonal(phi, -np.inf)
    return phi.max(axis=1), phi.argmax(axis=1)


def spans(U: Array) -> tuple[Array, Array]:
    """How evenly samples without an atom span all others, and how well they part an atom from each other one.

    Parameters
    ----------
    U : ndarray of shape (n_samples, n_components)
        Distinct codes in units of their size, 0 where an atom is off.

    Returns
    -------
    span : ndarray of shape (n_components,)
        Of the unit samples without atom i: sigma_min / sqrt(count / (k - 1)).
    alone : ndarray of shape (n_components,)
        Of atom j, the least over all i of what the samples without i say about j, 1 being that of even ones:
        0 where j never occurs without some i, so that any mixture of the two may take the place of j.
    """
    k = U.shape[1]
    span, alone = np.ones(k), np.ones(k)
    if k == 1 or not len(U):
        return span, alone
    V = U / np.maximum(np.linalg.norm(U, axis=1, keepdims=True), 1e-300)
    total = V.T @ V
    on = U != 0
    for i in np.argsort(-on.sum(axis=0), kind="stable")[:_MOST_SPANS]:
        used = V[on[:, i]]
        gram = total - used.T @ used
        gram[i, :] = gram[:, i] = 0.0
        gram[i, i] = len(V)  # its own direction is left out: as large as none of the others
        even = max(len(V) - len(used), 1) / (k - 1)
        inverse = _inverse(gram)
        if inverse is None:
            values, vectors = np.linalg.eigh(gram)
            lost = values < 1e-9 * len(V)
            span[i] = 0.0
            alone[np.sum(vectors[:, lost] ** 2, axis=1) > 1e-3] = 0.0
            continue
        fixed = np.sqrt(1 / np.maximum(np.diag(inverse) * even, 1e-300))
        fixed[i] = 1.0
        alone = np.minimum(alone, fixed)
        span[i] = np.sqrt(1 / (_largest(inverse) * even))
    return span, alone


def related(U: Array) -> tuple[Array, Array, float]:
    """How far the size of each atom's code, and its sign, depend on another atom.

    Parameters
    ----------
    U : ndarray of shape (n_samples, n_components)
        Distinct codes in units of their size, 0 where an atom is off.

    Returns
    -------
    size : ndarray of shape (n_components,)
        Largest |t| of the mean log size with another atom on against off, either way.
    sign : ndarray of shape (n_components,)
        Largest |t| of the correlation of two signs in samples with both; atoms of one sign have none.
    tied : float
        All pairs of signs together: their sum of t^2 beyond that of chance, in standard deviations.
    """
    k = U.shape[1]
    if k == 1 or not len(U):
        return np.zeros(k), np.zeros(k), 0.0
    used = U != 0
    both = _counts(used).astype(np.float64)
    on = np.maximum(both, 1.0)
    (rho, told), size = _signs(U, used, both, on), _sizes(U, used, both)
    t = np.where(told, rho * np.sqrt(both), 0.0)
    above, below = (U > _SURE_SIGN).sum(axis=0), (U < -_SURE_SIGN).sum(axis=0)
    rarer = np.minimum(above, below) >= _RARER * np.maximum(above + below, 1)
    of_both = np.triu(told & np.outer(rarer, rarer), 1)  # rare signs of an atom of one sign are mistakes
    pairs = int(np.count_nonzero(of_both))
    tied = float((np.sum(t[of_both] ** 2) - pairs) / np.sqrt(2 * max(pairs, 1)))
    return _worst(size), _worst(np.where(np.abs(rho) > _SHIFT, t, 0.0)), tied


def levels(U: Array) -> Array:
    """Do exact codes of one size occur with another atom more often than codes of other sizes?

    An atom that borrows another one in some samples has codes of a size of its own there, however close to
    the usual one, and always beside that other atom. Codes of a density have no size twice, and say nothing.

    Parameters
    ----------
    U : ndarray of shape (n_samples, n_components)
        Codes without noise in units of their size, 0 where an atom is off.

    Returns
    -------
    ndarray of shape (n_components,)
        By Fisher's exact test, as a number of standard deviations, all sizes of a pair taken into account;
        of the worst pair that the atom is in.
    """
    used = U != 0
    worst = np.zeros(U.shape[1])
    for j in range(U.shape[1]):
        rows = np.flatnonzero(used[:, j])
        size = np.abs(U[rows, j])
        _, level, count = np.unique(np.round(size, _DIGITS), return_inverse=True, return_counts=True)
        often = np.argsort(-count, kind="stable")[:_LEVELS]
        often = often[count[often] >= _FEW]
        if len(often) == 0 or (len(often) == 1 and count[often[0]] == len(rows)):
            continue
        others = used[rows].astype(np.float32)
        both = (level[:, None] == often).astype(np.float32).T @ others
        p = hypergeom.sf(both - 1, len(rows), others.sum(axis=0), count[often][:, None]).min(axis=0)
        p[j] = 1.0
        t = np.maximum(-ndtri(np.clip(p * len(often), 1e-300, 0.5)), 0.0)
        worst = np.maximum(worst, t)
        worst[j] = max(worst[j], float(t.max()))
    return worst


def signs_beside(U: Array) -> Array:
    """Does the sign of an atom's code depend on whether another atom is used?

    Where an atom occurs hardly without another one, a mixture of the two may take its place: the other one's
    codes are then negative where it occurs, and positive elsewhere. Small codes are left out, as those of
    the wrong sign are mostly mistakes.

    Parameters
    ----------
    U : ndarray of shape (n_samples, n_components)
        Codes in units of their size, 0 where an atom is off.

    Returns
    -------
    ndarray of shape (n_components,)
        The |t| of the worst pair that the atom is in.
    """
    sign = np.where(np.abs(U) > _SURE_SIGN, np.sign(U), 0.0).astype(np.float32)
    here, used = np.abs(sign), (U != 0).astype(np.float32)
    both, summed = (np.asarray(part.T @ used, dtype=np.float64) for part in (here, sign))
    n = np.maximum(np.diag(both), 1.0)[:, None]
    share, mean = both / n, np.diag(summed)[:, None] / n
    rarer = n * np.minimum(np.minimum(share, 1 - share), (1 - np.abs(mean)) / 2)
    spread = np.sqrt(np.maximum(share * (1 - share) * (1 - mean**2), 1e-12))
    rho = (summed / n - share * mean) / spread
    return _worst(np.where((rarer >= _FEW) & (np.abs(rho) > _SHIFT), rho * np.sqrt(n), 0.0))


def unmet(U: Array) -> Array:
    """Whether two atoms that are only on or off hardly ever occur together.

    Two such atoms that never meet may be an atom, and its sum with one that occurs only beside it: both are
    on or off, and one is as sparse as the other.

    Parameters
    ----------
    U : ndarray of shape (n_samples, n_components)
        Codes in units of their size, 0 where an atom is off.

    Returns
    -------
    ndarray of shape (n_components,)
        Samples that show that the atom and another one do meet, over those with both; of the worst pair of
        atoms with codes of one sign and about one size, 0 where there is none.
    """
    large = np.where(np.abs(U) > _SURE_SIGN, U, 0.0)
    n, count = max(len(U), 1), np.maximum(np.count_nonzero(large, axis=0), 1)
    rarer = np.minimum((large > 0).sum(axis=0), (large < 0).sum(axis=0))
    tails = count * np.sum(large**4, axis=0) / np.maximum(np.sum(large**2, axis=0) ** 2, 1e-300)
    switched = (rarer < _RARER * count) & (tails < _ONE_SIZE)
    usual = np.sign(large) == np.sign(large.sum(axis=0))
    both = _counts(usual & (large != 0)).astype(np.float64)
    enough = np.maximum(_MEETINGS, _OFTEN * np.outer(count, count) / n)
    found = np.where(np.outer(switched, switched), enough / np.maximum(both, 0.5), 0.0)
    np.fill_diagonal(found, 0.0)
    return np.asarray(found.max(axis=1))


def multiply(S: Array, clipped: Array, noisy: bool) -> float:
    """Do other codes follow the product of two, as they do where two atoms leave a trace of their own?

    A trace along any direction is coded by all atoms at once, so that the others' t^2 are added up. Codes are
    clipped a little above noise: a trace may be too small for a pursuit, and large codes would drown it.
    Chance is what the same codes give with a random sign of each sample's product. A large trace hides the
    signs of the two, but makes samples with both denser than either atom does alone.

    Parameters
    ----------
    S : ndarray of shape (n_samples, n_components)
        Codes, 0 where an atom is off.
    clipped : ndarray of shape (n_samples, n_components)
        What all atoms say of each sample, noise included, clipped at a few of its standard deviations.
    noisy : bool
        Whether there is noise; without any, samples that are too dense have no exact zero at all.

    Returns
    -------
    float
        The sum of the t^2 for the worst pair over the largest of some draws, or the t of its density,
        each over what is no chance any more; 0 where no pair occurs together.
    """
    k = S.shape[1]
    if k < 3 or not len(S):
        return 0.0
    used = S != 0
    i, j = np.triu_indices(k, 1)
    both = _counts(used)[i, j]
    often = np.argsort(-both, kind="stable")[:_MOST_PAIRS]
    often = often[both[often] >= _TRACE]
    denser = float(denser_together(used, clipped, i[often], j[often]).max(initial=0.0)) if noisy else 0.0
    V = clipped - clipped.mean(axis=0)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (_FLIPS + 1, _TRACE_ROWS))
    signs[0] = 1.0
    worst = np.zeros(_FLIPS + 1)
    for first, second in zip(i[often], j[often], strict=True):
        rows = np.flatnonzero(used[:, first] & used[:, second])[:_TRACE_ROWS]
        own = np.column_stack([np.ones(len(rows)), S[rows, first], S[rows, second]])
        product = own[:, 1] * own[:, 2]
        whole = float(product @ product)
        product -= own @ np.linalg.lstsq(own, product, rcond=None)[0]  # atoms that are a little off leak
        if product @ product <= _ROUNDING * whole:  # codes of one size and sign
            continue
        others = np.delete(V[rows], [first, second], axis=1)
        size = np.maximum(np.square(product) @ np.square(others), 1e-300)
        worst = np.maximum(
            worst, np.sum(np.square((signs[:, : len(rows)] * product) @ others) / size, axis=1)
        )
    signed = float(worst[0] / worst[1:].max()) if worst[1:].any() else 0.0
    return max(signed / _SIGNED, denser / _DENSER)


def denser_together(used: NDArray[np.bool_], codes: Array, i: Array, j: Array) -> Array:
    """The t by which the energy of all other codes is larger with both atoms than with each of them alone.

    Parameters
    ----------
    used : ndarray of bool of shape (n_samples, n_components)
        Which sample uses which atom.
    codes : ndarray of shape (n_samples, n_components)
        Whose squares are the energy.
    i, j : ndarray of int of shape (n_pairs,)
        Pairs of atoms.

    Returns
    -------
    ndarray of shape (n_pairs,)
        0 where fewer than two samples have both, either one alone, or neither.
    """
    k = used.shape[1]
    sums = np.zeros((3, 3, k, k))
    for rows in row_blocks(len(used)):
        on, energy = used[rows].astype(np.float32), np.square(codes[rows]).astype(np.float32)
        every = np.ones_like(on)
        for place, (a, b) in enumerate(((on, on), (on, every), (every, every))):
            sums[place] += _sums_of_others(a, b, energy)
    both, one, other, whole = sums[0, :, i, j].T, sums[1, :, i, j].T, sums[1, :, j, i].T, sums[2, :, i, j].T
    parts = np.stack([both, one - both, other - both, whole - one - other + both])
    count = np.maximum(parts[:, 0], 1.0)
    means = parts[:, 1] / count
    variances = np.maximum(parts[:, 2] / count - means**2, 0.0)
    spread = np.maximum(variances[0], variances[1:].mean(axis=0))
    error = np.sqrt(spread / count[0] + np.sum(variances[1:] / count[1:], axis=0))
    enough = (parts[:, 0].min(axis=0) > 1.5) & (error > 0)
    beyond = means[0] - means[1] - means[2] + means[3]
    return np.where(enough, beyond / np.where(error > 0, error, 1.0), 0.0)


def _sums_of_others(a: Array, b: Array, energy: Array) -> Array:
    """Over the samples in a[:, i] and b[:, j]: number, energy of all but i and j, and its square."""
    mine, rest = b * energy, a * (energy.sum(axis=1, keepdims=True) - energy)
    squares = (rest * rest).T @ b - 2 * rest.T @ mine + a.T @ (mine * energy)  # a is 0 or 1
    return np.stack([a.T @ b, rest.T @ b - a.T @ mine, squares])


def _sizes(U: Array, used: NDArray[np.bool_], both: Array) -> Array:
    """The t of the mean log size of atom i where atom j is on against where it is off."""
    ones = used.astype(np.float32)
    logs = np.where(used, U, 1.0).astype(np.float32)
    np.log(np.abs(logs, out=logs), out=logs)
    count = np.diag(both)[:, None]
    off = count - both
    sums, squares = (np.asarray(part.T @ ones, dtype=np.float64) for part in (logs, logs * logs))
    total, second = np.diag(sums)[:, None], np.diag(squares)[:, None]
    n_on, n_off = np.maximum(both, 1.0), np.maximum(off, 1.0)
    with_it, without = sums / n_on, (total - sums) / n_off
    within = second - n_on * with_it**2 - n_off * without**2
    pooled = np.maximum(within / np.maximum(count, 1.0), 1e-4)
    shift = with_it - without
    t = shift / np.sqrt(pooled * (1 / n_on + 1 / n_off))
    return np.where((both >= _FEW) & (off >= _FEW) & (np.abs(shift) > _SHIFT), t, 0.0)


def _signs(U: Array, used: NDArray[np.bool_], both: Array, on: Array) -> tuple[Array, NDArray[np.bool_]]:
    """The correlation of the signs of atoms i and j in samples with both, and where it says much."""
    signs, ones = np.sign(U).astype(np.float32), used.astype(np.float32)
    mean = np.asarray(signs.T @ ones, dtype=np.float64) / on
    variance = (1 - mean**2) * (1 - mean.T**2)
    product = np.asarray(signs.T @ signs, dtype=np.float64) / on
    rho = (product - mean * mean.T) / np.sqrt(np.maximum(variance, 1e-12))
    return rho, variance * both >= _BOTH_SIGNS


def _worst(t: Array) -> Array:
    """Of each atom, the largest |t| with another one, either way."""
    size = np.abs(t)
    np.fill_diagonal(size, 0.0)
    return np.maximum(size.max(axis=0), size.max(axis=1))


def _counts(used: NDArray[np.bool_]) -> Array:
    """Samples with both, for each pair."""
    ones = used.astype(np.float32)
    return ones.T @ ones


def _inverse(gram: Array) -> Array | None:
    """The lower triangle of the inverse, None where the matrix is singular to rounding."""
    factor, failed = scipy.linalg.lapack.dpotrf(gram, lower=True)
    size = np.diag(factor)
    if failed or size.min() <= 1e-6 * size.max():
        return None
    return np.asarray(scipy.linalg.lapack.dpotri(factor, lower=True)[0])


def _largest(lower: Array) -> float:
    """Largest eigenvalue of a matrix given by its lower triangle; of a large one by Lanczos, to a percent."""
    if len(lower) <= _SMALL:
        return float(np.linalg.eigvalsh(lower)[-1])
    place = np.diag(lower).argmax()
    row = np.concatenate([lower[place, :place], lower[place:, place]])
    return largest_eigenvalue(lambda v: scipy.linalg.blas.dsymv(1.0, lower, v, lower=True), row, _STEPS)
