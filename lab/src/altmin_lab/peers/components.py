"""Peers for complete dictionaries from independent component analysis and l4 maximisation."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.polar import polar

Array = NDArray[Any]


def picard_atoms(X: Array, *, max_iter: int = 1000, tol: float = 1e-7, seed: int = 0) -> Array:
    """Atoms found by picard (Ablin, Cardoso and Gramfort 2018), orthogonal version.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Data.
    max_iter : int
        Iterations at most.
    tol : float
        Of its gradient.
    seed : int
        Of its start.

    Returns
    -------
    ndarray of shape (n_features, n_features)
        Atoms as rows.
    """
    from picard import picard

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converged: fewer iterations were asked for
        K, W, _ = picard(X.T, ortho=True, max_iter=max_iter, tol=tol, centering=False, random_state=seed)
    return np.asarray(np.linalg.inv(W @ K).T)


def fourth_powers(X: Array, *, chunk: int = 10, seed: int = 0) -> Iterator[Array]:
    """Matching, stretching and projection (Zhai et al. 2020), until the atoms stand still.

    Yields the atoms after every ``chunk`` steps. On whitened rows ``D <- Polar((Y D')^3' Y)`` climbs the sum
    of the codes' fourth powers.
    """
    values, vectors = np.linalg.eigh(X.T @ X / len(X))
    whiten = (vectors / np.sqrt(values)) @ vectors.T
    Y = X @ whiten
    D = np.linalg.qr(np.random.default_rng(seed).standard_normal((X.shape[1],) * 2))[0]
    back = np.linalg.inv(whiten)
    for _ in range(200):
        before = D
        for _ in range(chunk):
            D = polar(((Y @ D.T) ** 3).T @ Y)
        yield D @ back
        if np.abs(D - before).max() < 1e-12:
            return
