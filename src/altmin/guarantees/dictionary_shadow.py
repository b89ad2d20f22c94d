"""Whether what samples with an atom hold besides it has a direction of its own.

Where two atoms were taken for one, where an atom looks another way in some samples, or where features don't
add up, something follows an atom wherever it goes. Codes that go down to the noise make it up from
small codes of other atoms, so that nothing is seen in what they leave over. What is left beside *large* codes
holds all of it; small codes of atoms that are really there are as frequent in samples with any other atom.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.gram import row_norms2
from altmin.kernels.lanczos import largest_eigenvalue

Array = NDArray[Any]
_LARGE = 4.0  # standard deviations of noise
_LOUD, _HEAVY = (
    4.0,
    2.0,
)  # times the median energy of what is left, of a squared code: no sample counts for more
_MOST, _FEWEST, _WITHOUT = 400, 8, 16  # samples with an atom: with its largest codes; and samples without it
_CHANCE = 1.6  # times the edge of the eigenvalues of noise
_SMALL, _STEPS = 32, 12  # features up to which all eigenvalues are computed; steps for the largest one


def shadows(S: Array, X: Array, A: Array, noise: Array) -> Array:
    r"""Largest eigenvalue of what comes with each atom, over what chance explains.

    Of r, what large codes leave of a sample, :math:`\sum s^2 (r r^T - B)` over the samples with an atom of
    code s is a matrix of noise if B is the mean of :math:`r r^T` over all samples, and nothing follows the
    atom. Its squared norm is known from its terms, and with that the edge of its eigenvalues.

    Parameters
    ----------
    S : ndarray of shape (n_samples, n_components)
        Codes, 0 where an atom is off.
    X : ndarray of shape (n_samples, n_features)
        Samples.
    A : ndarray of shape (n_components, n_features)
        Unit atoms.
    noise : ndarray of shape (n_components,)
        Standard deviation of each atom's codes.

    Returns
    -------
    ndarray of shape (n_components,)
        Above 1 no chance; NaN where too few samples tell.
    """
    large, rest = beside_large(S, X, A, noise)
    n = len(rest)
    found = np.full(len(A), np.nan)
    if not n:
        return found
    base = rest.T @ rest / n
    size = np.linalg.norm(base)
    if size == 0:
        return found
    edge = 2 * np.sqrt(_top(base) / np.trace(base))
    around = np.einsum("ij,ij->i", rest @ base, rest)
    terms = row_norms2(rest) ** 2 - 2 * around + size**2
    rest = rest.astype(np.float32)  # of an eigenvalue of noise two digits are enough
    for i in range(len(A)):
        on = np.flatnonzero(large[:, i])
        if len(on) < _FEWEST or n - len(on) < _WITHOUT:
            continue
        squares = large[on, i] ** 2
        first = np.argsort(-squares, kind="stable")[:_MOST]
        rows, weight = on[first], np.minimum(squares[first], _HEAVY * np.median(squares[first]))
        by_chance = edge * np.sqrt(weight**2 @ terms[rows])
        found[i] = _largest(rest[rows], weight.astype(np.float32), base) / (_CHANCE * by_chance)
    return found


def beside_large(S: Array, X: Array, A: Array, noise: Array) -> tuple[Array, Array]:
    """Large codes, and what they leave of each sample; no sample leaves much more than most do."""
    large = np.where(np.abs(S) > _LARGE * noise, S, 0.0)
    rest = X - large @ A
    if len(rest):
        energy = row_norms2(rest) / np.maximum(rest.shape[1] - np.count_nonzero(large, axis=1), 1)
        rest *= np.sqrt(np.minimum(1.0, _LOUD * np.median(energy) / np.maximum(energy, 1e-300)))[:, None]
    return large, rest


def _largest(R: Array, weight: Array, base: Array) -> float:
    """Largest eigenvalue of R' diag(weight) R less its expectation; by Lanczos' steps where it is large."""
    expected = weight.sum() * base
    if len(base) <= _SMALL:
        return _top((R.T * weight) @ R - expected)
    start = np.random.default_rng(0).standard_normal(len(base))
    return largest_eigenvalue(
        lambda v: R.T @ (weight * (R @ v.astype(np.float32))) - expected @ v, start, _STEPS
    )


def _top(symmetric: Array) -> float:
    """Its largest eigenvalue, from the lower triangle."""
    return float(np.linalg.eigvalsh(symmetric)[-1])
