"""Peers of approximate dictionary learning: K-SVD, SPAMS, scikit-learn's mini-batches, truncated SVD.

Each takes rows as samples and gives unit atoms as rows; errors are measured by the same pursuit for
all of them. Third parties are imported where they are used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.pursuit import Pursuit
from altmin_lab.peers.ksvd import data_start, ksvd


def relative_error(X: NDArray[Any], components: NDArray[Any], n_nonzero: int) -> float:
    """Squared error of the best codes that pursuit finds, over the squared norm of the data."""
    return float(row_errors(X, components, n_nonzero) @ np.sum(X**2, axis=1) / np.sum(X**2))


def row_errors(X: NDArray[Any], components: NDArray[Any], n_nonzero: int) -> NDArray[Any]:
    """Relative squared error of each row."""
    left = X - Pursuit(components, n_nonzero)(X).csr() @ components
    squares = np.sum(X**2, axis=1)
    return np.sum(left**2, axis=1) / np.where(squares > 0, squares, 1.0)


def ksvd_dictionary(
    X: NDArray[Any], n_components: int, n_nonzero: int, *, n_sweeps: int = 20, seed: int = 0
) -> NDArray[Any]:
    """Approximate K-SVD from random samples, batch OMP; weak atoms become the samples coded worst."""
    return ksvd(X, data_start(X, n_components, seed), n_nonzero=n_nonzero, max_iter=n_sweeps, seed=seed)


def spams_dictionary(
    X: NDArray[Any],
    n_components: int,
    *,
    penalty: float = 0.1,
    iterations: int = 300,
    batch: int = 512,
    seed: int = 0,
) -> NDArray[Any]:
    """SPAMS's online dictionary learning (Mairal et al. 2010), one thread.

    ``penalty`` counts in units of the rows' root mean square norm.
    """
    import spams

    D = spams.trainDL(
        np.asfortranarray(X.T) / np.sqrt(np.mean(np.sum(X**2, axis=1))),
        K=n_components,
        lambda1=penalty,
        mode=2,
        iter=iterations,
        batchsize=batch,
        numThreads=1,
        verbose=False,
    )
    return np.ascontiguousarray(D.T)


def mini_batch_dictionary(
    X: NDArray[Any], n_components: int, n_nonzero: int, *, seed: int = 0
) -> NDArray[Any]:
    """scikit-learn's MiniBatchDictionaryLearning, penalty a tenth of a row's norm, 10 passes."""
    import warnings

    from sklearn.decomposition import MiniBatchDictionaryLearning
    from sklearn.exceptions import ConvergenceWarning

    penalty = 0.1 * float(np.median(np.linalg.norm(X, axis=1)))
    model = MiniBatchDictionaryLearning(
        n_components, alpha=penalty, batch_size=256, max_iter=10, random_state=seed, fit_algorithm="cd"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of its inner lasso, to 1e-4 of its scale
        return _unit(model.fit(X).components_)


def svd_directions(X: NDArray[Any], n_nonzero: int) -> NDArray[Any]:
    """The k right singular vectors: the best dictionary where all rows use the same k atoms."""
    return np.linalg.svd(X, full_matrices=False)[2][:n_nonzero]


def _unit(rows: NDArray[Any]) -> NDArray[Any]:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms > 0, norms, 1.0)
