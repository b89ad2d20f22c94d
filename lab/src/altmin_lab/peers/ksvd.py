"""A fair K-SVD: batch pursuit and in-place atom updates in compiled loops.

Aharon, Elad and Bruckstein 2006 with the approximate update of Rubinstein, Zibulevsky and Elad 2008 (one
power step instead of an SVD, the usual choice in practice). The package ``ksvd`` on PyPI is two orders of
magnitude slower and breaks down at as many atoms as dimensions.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.images import Patches
from altmin.kernels.compiled import compiled
from altmin.kernels.pursuit import Pursuit, SparseRows

Array = NDArray[Any]


def ksvd(
    X: Array,
    start: Array,
    *,
    n_nonzero: int | None = None,
    tol: float = 0.0,
    max_iter: int = 10_000,
    cpu_seconds: float = np.inf,
    seed: int = 0,
) -> Array:
    """Learn a dictionary.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training signals.
    start : ndarray of shape (n_atoms, n_features)
        Start: :func:`data_start`, a cosine basis, another dictionary.
    n_nonzero : int or None
        Nonzeros of a signal; None: until the squared residual is under ``tol``.
    tol : float
        Squared residual.
    max_iter : int
        Rounds of pursuit and update.
    cpu_seconds : float
        CPU time of this process at which to stop.
    seed : int
        For the order of the updates.

    Returns
    -------
    ndarray of shape (n_atoms, n_features)
        Unit atoms.
    """
    rng = np.random.default_rng(seed)
    atoms = np.array(start, dtype=X.dtype)
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    limit = time.process_time() + cpu_seconds
    for _ in range(max_iter):
        codes = Pursuit(atoms, n_nonzero or X.shape[1])(X, tol)
        rest = X - codes.csr() @ atoms
        order, bounds = _users(codes)
        update_atoms(rest, atoms, codes.codes, order, bounds, rng.permutation(len(atoms)))
        _replace_weak(rest, atoms, X, np.diff(bounds))
        if time.process_time() >= limit:
            break
    return atoms


def data_start(X: Array, n_atoms: int, seed: int = 0) -> Array:
    """Random signals as atoms, without those that are (almost) zero."""
    norms = np.linalg.norm(X, axis=1)
    usable = np.flatnonzero(norms > 0.1 * np.median(norms))
    chosen = np.random.default_rng(seed).choice(usable, n_atoms, replace=False)
    return X[chosen] / norms[chosen, None]


def overcomplete_cosines(side: int, per_side: int) -> Array:
    """Cosine atoms of ``per_side`` frequencies along each side, centred but for the constant one."""
    k, x = np.arange(per_side)[:, None], np.arange(side)[None, :]
    C = np.cos(np.pi * k * x / per_side)
    C[1:] -= C[1:].mean(axis=1, keepdims=True)
    C /= np.linalg.norm(C, axis=1, keepdims=True)
    return np.kron(C, C)


def ksvd_denoise(
    noisy: Array,
    sigma: float,
    *,
    side: int = 8,
    per_side: int = 16,
    max_iter: int = 10,
    n_training: int = 20_000,
    gain: float = 1.15,
) -> Array:
    """Denoise a grey image with K-SVD (Elad and Aharon 2006) at the paper's settings.

    256 cosine atoms as a start, ten rounds on patches of the image itself, error-driven pursuit down to
    (1.15 sigma)^2 per pixel, average of all overlapping patches with the noisy image at 30/sigma.

    Parameters
    ----------
    noisy : ndarray of shape (H, W)
        Image in units of 0 to 255.
    sigma : float
        Its noise.
    side, per_side : int
        Sides of a patch, and of the start's grid of frequencies.
    max_iter, n_training : int
        Rounds, and patches they learn from.
    gain : float
        Factor of sigma at which the pursuit stops.

    Returns
    -------
    ndarray of shape (H, W)
        The estimate.
    """
    patches = Patches(np.asarray(noisy, dtype=np.float64), side, center=True)
    tol = side * side * (gain * sigma) ** 2
    start = overcomplete_cosines(side, per_side)[1:]  # means are apart
    atoms = ksvd(patches.sample(n_training, seed=0), start, tol=tol, max_iter=max_iter)
    pursuit = Pursuit(atoms, side * side)

    def code(X: Array, rows: slice) -> tuple[Array, Array]:
        return pursuit(X, tol).csr() @ atoms, np.ones(len(X))

    average = patches.rebuild(code, 1)[:, :, 0]
    trust = 30.0 / sigma / (side * side)  # of a noisy pixel beside those of side^2 patches
    return (trust * noisy + average) / (trust + 1.0)


def _users(codes: SparseRows) -> tuple[Array, Array]:
    """Flat places of each atom's codes, atom after atom, and where an atom's begin."""
    used = np.arange(codes.atoms.shape[1]) < codes.counts[:, None]
    places = np.flatnonzero(used)
    atoms = codes.atoms.ravel()[places]
    order = places[np.argsort(atoms, kind="stable")]
    bounds = np.concatenate([[0], np.cumsum(np.bincount(atoms, minlength=codes.n_atoms))])
    return order, bounds


def _replace_weak(rest: Array, atoms: Array, X: Array, uses: Array) -> None:
    """Atoms that nobody uses, or twins of another, become the signals that are coded worst."""
    gram = np.abs(np.triu(atoms @ atoms.T, 1))
    weak = np.flatnonzero((uses < 2) | (gram.max(axis=0) > 0.99))
    if len(weak):
        worst = np.argsort(-np.einsum("ij,ij->i", rest, rest))[: len(weak)]
        fresh = X[worst]
        atoms[weak] = fresh / np.maximum(np.linalg.norm(fresh, axis=1, keepdims=True), 1e-12)


@compiled
def update_atoms(
    rest: Array, atoms: Array, codes: Array, order: Array, bounds: Array, sequence: Array
) -> None:
    """One power step for each atom and its codes, residuals kept up to date.

    Parameters
    ----------
    rest : ndarray of shape (n_samples, n_features)
        Residuals; updated.
    atoms : ndarray of shape (n_atoms, n_features)
        Dictionary; updated.
    codes : ndarray of shape (n_samples, L)
        Codes; updated.
    order, bounds : ndarray
        Flat places of the codes by atom.
    sequence : ndarray of shape (n_atoms,)
        Order of the updates.
    """
    n, L = atoms.shape[1], codes.shape[1]
    fresh = np.empty(n, atoms.dtype)
    for k in sequence:
        if bounds[k] == bounds[k + 1]:
            continue
        atom = atoms[k]
        fresh[:] = 0
        for u in range(bounds[k], bounds[k + 1]):
            row = order[u] // L
            code, own = codes[row, order[u] - row * L], rest[row]
            for t in range(n):
                own[t] += code * atom[t]
                fresh[t] += code * own[t]
        norm = fresh[0] - fresh[0]
        for t in range(n):
            norm += fresh[t] * fresh[t]
        if norm > 0:
            norm = 1 / np.sqrt(norm)
            for t in range(n):
                atom[t] = fresh[t] * norm
        for u in range(bounds[k], bounds[k + 1]):
            row = order[u] // L
            own = rest[row]
            code = norm - norm
            for t in range(n):
                code += own[t] * atom[t]
            codes[row, order[u] - row * L] = code
            for t in range(n):
                own[t] -= code * atom[t]
