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

Array = NDArray[Any]
_MOST_SPANS = 64  # atoms whose samples without them are looked at: those that are used most
_FEW = 4  # samples with both, or with one of them alone, that say anything
_BOTH_SIGNS = 4.0  # times the variance of both signs, so that the rarer ones are expected together
_SHIFT = 0.3  # of the mean log size, or of a correlation: smaller ones come from pursuit and noise


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
    pairs = int(np.count_nonzero(np.triu(told, 1)))
    tied = float((np.sum(np.triu(t, 1) ** 2) - pairs) / np.sqrt(2 * max(pairs, 1)))
    return _worst(size), _worst(np.where(np.abs(rho) > _SHIFT, t, 0.0)), tied


def _sizes(U: Array, used: NDArray[np.bool_], both: Array) -> Array:
    """The t of the mean log size of atom i where atom j is on against where it is off."""
    ones = used.astype(np.float32)
    logs = np.log(np.where(used, np.abs(U), 1.0)).astype(np.float32)
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
    """The inverse, None where the matrix is singular to rounding."""
    factor, failed = scipy.linalg.lapack.dpotrf(gram, lower=True)
    size = np.diag(factor)
    if failed or size.min() <= 1e-6 * size.max():
        return None
    inverse = scipy.linalg.lapack.dpotri(factor, lower=True)[0]
    lower = np.tril(inverse)
    return np.asarray(lower + np.tril(inverse, -1).T)


def _largest(inverse: Array) -> float:
    """Largest eigenvalue, by powers from its largest column; to a percent."""
    v = inverse[:, np.diag(inverse).argmax()]
    value = 0.0
    for _ in range(100):
        v = v / np.linalg.norm(v)
        w = inverse @ v
        before, value = value, float(v @ w)
        if value - before <= 1e-4 * value:
            break
        v = w
    return value
