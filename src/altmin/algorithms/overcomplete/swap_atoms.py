"""Swaps: directions that a dictionary misses, and atoms that it can do without.

A missing atom shows in the residuals of the rows that need it, as the direction on which they agree
(threshold correlation). Residuals are orthogonal to the atoms that stood in for it, so that direction
is bent: it is straightened on a sample of rows by coding them with the atoms *and* the candidates, and
updating the candidates alone. What a candidate would gain is measured by that coding.

An atom's weakness is what its removal would cost, the energy of its codes times 1 - mu^2 with mu its
largest cosine with another atom.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.correlation import score_candidates
from altmin.kernels.peel import add_moments, descend_on_atoms, subtract_codes
from altmin.kernels.pursuit import SparseRows

_AGREE = 0.3  # squared cosine with a residual that counts as agreement
_CANDIDATES = 128
_SUPPORT = 5  # residuals that must agree
_STRAIGHTEN = 6  # rounds of coding and updating the candidates

Coder = Callable[[NDArray[Any], NDArray[Any]], SparseRows]


def propose(
    code: Coder, atoms: NDArray[Any], rows: NDArray[Any], left: float, n_directions: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Directions that would lower the error most, and by how much.

    Parameters
    ----------
    code : callable
        ``code(atoms, rows)`` gives sparse codes.
    atoms : ndarray of shape (n_atoms, n_features)
        The dictionary.
    rows : ndarray of shape (n_rows, n_features)
        Unit rows drawn in proportion to their weighted errors, so that each stands for an equal share.
    left : float
        The error of all rows.
    n_directions : int
        How many at most.

    Returns
    -------
    directions : ndarray of shape (n_found, n_features)
        Unit rows, best first.
    gains : ndarray of shape (n_found,)
        Estimated decrease of the error.
    """
    before, residuals = _coded(code, atoms, rows)[1:]
    found = residual_directions(residuals, n_directions)
    if not len(found):
        return found, np.zeros(0)
    m = len(atoms)
    both = np.concatenate([atoms, found])
    for _ in range(_STRAIGHTEN):
        codes = _coded(code, both, rows)[0]
        G, B = np.zeros((len(both), len(both))), np.zeros(both.shape)
        add_moments(rows, np.ones(len(rows)), codes.atoms, codes.codes, codes.counts, G, B)
        both = update_atoms(both, G, B, 1, first=m)
    codes, after, _ = _coded(code, both, rows)
    gains = left / len(rows) * _shares(codes, before, after, m)
    order = np.argsort(-gains, kind="stable")
    return both[m:][order], gains[order]


def update_atoms(
    A: NDArray[Any], G: NDArray[Any], B: NDArray[Any], passes: int, first: int = 0
) -> NDArray[Any]:
    """Block coordinate descent on the atoms from ``first`` on, for fixed codes; unused ones stay."""
    D = A.astype(np.float64)
    descend_on_atoms(D, np.asarray(G, np.float64), np.asarray(B, np.float64), passes, first)
    return D.astype(A.dtype)


def weak_atoms(atoms: NDArray[Any], energy: NDArray[Any], n_weak: int) -> NDArray[np.intp]:
    """The atoms that are cheapest to lose.

    One at a time: of two atoms that double each other either is cheap to lose, but not both.
    """
    cosine2 = np.square(np.asarray(atoms, np.float64) @ atoms.T)
    np.fill_diagonal(cosine2, 0.0)
    energy = energy.copy()
    weak: list[int] = []
    for _ in range(n_weak):
        loss = energy * np.maximum(1.0 - cosine2.max(axis=1, initial=0.0), 0.0)
        loss[weak] = np.inf
        atom = int(np.argmin(loss))
        weak.append(atom)
        # What the lost atom explained falls to its neighbour.
        energy[int(np.argmax(cosine2[atom]))] += energy[atom] * cosine2[atom].max()
        cosine2[:, atom] = 0.0
    return np.array(weak, np.intp)


def residual_directions(residuals: NDArray[Any], n_directions: int) -> NDArray[Any]:
    """Directions on which residuals agree, each found among those that the ones before left over."""
    norms = np.linalg.norm(residuals, axis=1)
    Z = residuals[norms > 0] / norms[norms > 0, None]
    found: list[NDArray[Any]] = []
    while len(found) < n_directions and len(Z) >= _SUPPORT:
        candidates = Z[:_CANDIDATES]
        scores, _ = score_candidates(candidates, Z, np.ones(len(Z)), np.full(len(Z), _AGREE / 2))
        x = candidates[int(np.argmax(scores))]
        for level in (_AGREE / 2, _AGREE / 2, _AGREE, _AGREE):
            g = Z @ x
            step = np.where(g * g >= level, g, 0.0).astype(Z.dtype) @ Z
            norm = float(np.linalg.norm(step))
            x = step / norm if norm > 0 else x
        hit = np.square(Z @ x) >= _AGREE
        if hit.sum() < _SUPPORT:
            break
        found.append(x)
        Z = Z[~hit]
    return np.array(found, residuals.dtype).reshape(-1, residuals.shape[1])


def _coded(
    code: Coder, atoms: NDArray[Any], rows: NDArray[Any]
) -> tuple[SparseRows, NDArray[Any], NDArray[Any]]:
    codes, Z = code(atoms, rows), rows.copy()
    subtract_codes(Z, codes.atoms, codes.codes, codes.counts, atoms)
    return codes, np.einsum("ij,ij->i", Z, Z, dtype=np.float64), Z


def _shares(codes: SparseRows, before: NDArray[Any], after: NDArray[Any], m: int) -> NDArray[Any]:
    """Sum over rows of the part of their error that is gone, shared by the candidates they use."""
    gone = np.clip(1.0 - after / np.where(before > 0, before, np.inf), -1.0, 1.0)
    using = (codes.atoms >= m) & (np.arange(codes.atoms.shape[1]) < codes.counts[:, None])
    each = gone / np.maximum(using.sum(axis=1), 1)
    row, place = np.nonzero(using)
    return np.bincount(codes.atoms[row, place] - m, each[row], minlength=codes.n_atoms - m)
