"""Classical non-negative factorizations with a clock: components and CPU seconds as they go."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.nnls import nnls
from altmin_lab.peers.hals import hals

Curve = list[tuple[float, float]]


def follow(steps: Iterator[NDArray[Any]], error: Callable[[NDArray[Any]], float], budget: float) -> Curve:
    """Errors of an iterative method against its own CPU seconds (measuring is off the clock).

    Parameters
    ----------
    steps : iterator of ndarray
        Components after each chunk of iterations.
    error : callable
        Of components.
    budget : float
        CPU seconds.

    Returns
    -------
    list of (seconds, error)
        One a chunk.
    """
    curve: Curve = []
    spent = 0.0
    while spent < budget:
        begin = time.process_time()
        A = next(steps)
        spent += time.process_time() - begin
        curve.append((spent, error(A)))
    return curve


def multiplicative(X: NDArray[Any], start: NDArray[Any], chunk: int = 20) -> Iterator[NDArray[Any]]:
    """Multiplicative updates (Lee and Seung 2001), scikit-learn's."""
    yield from _sklearn_nmf(X, start, "mu", chunk)


def coordinate_descent(X: NDArray[Any], start: NDArray[Any], chunk: int = 20) -> Iterator[NDArray[Any]]:
    """NMF by coordinate descent, scikit-learn's default."""
    yield from _sklearn_nmf(X, start, "cd", chunk)


def _sklearn_nmf(X: NDArray[Any], start: NDArray[Any], solver: str, chunk: int) -> Iterator[NDArray[Any]]:
    from sklearn.decomposition import NMF

    D = len(start)
    H, W = np.maximum(start, 1e-12), np.full((len(X), D), 1.0 / D)
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # not converged: that is what is being watched
            model = NMF(D, init="custom", solver=solver, tol=0.0, max_iter=chunk)
            W = model.fit_transform(X, W=W, H=H.copy())
        H = model.components_
        yield H


def alternating_nnls(X: NDArray[Any], start: NDArray[Any], *, signed: bool = False) -> Iterator[NDArray[Any]]:
    """Alternating non-negative least squares (Kim and Park 2008), each half solved to 1e-6.

    With ``signed`` the components are free, and only the weights are non-negative.
    """
    A = start if signed else np.maximum(start, 0.0)
    while True:
        Z = nnls(A @ A.T, X @ A.T, tol=1e-6)
        A = np.linalg.lstsq(Z, X, rcond=None)[0] if signed else nnls(Z.T @ Z, X.T @ Z, tol=1e-6).T
        yield A


def hals_chunks(
    X: NDArray[Any], start: NDArray[Any], chunk: int = 20, *, signed: bool = False
) -> Iterator[NDArray[Any]]:
    """HALS (Cichocki et al. 2007), compiled, some iterations at a time."""
    steps = hals(X, start, 10**9, signed=signed)
    while True:
        for _ in range(chunk):
            A = next(steps)
        yield A


def online_lda(X: NDArray[Any], start: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Online LDA (Hoffman et al. 2010), scikit-learn's, on the data as counts of 1000 words a document."""
    from sklearn.decomposition import LatentDirichletAllocation

    counts = np.round(1000 * X / np.maximum(X.sum(axis=1, keepdims=True), 1e-300))
    model = LatentDirichletAllocation(len(start), learning_method="online", random_state=0)
    model.partial_fit(counts[:2])
    model.components_ = np.maximum(start, 1e-6) * 1e4
    model.exp_dirichlet_component_ = np.exp(np.log(model.components_ / model.components_.sum(1)[:, None]))
    while True:
        model.partial_fit(counts)
        yield model.components_


def mini_batch(X: NDArray[Any], start: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """MiniBatchNMF (Lefevre et al. 2011), scikit-learn's, batches of 1024 in random order."""
    from sklearn.decomposition import MiniBatchNMF

    D, rng, size = len(start), np.random.default_rng(0), min(1024, len(X))
    model = MiniBatchNMF(D, init="custom", batch_size=size, tol=0.0)
    first: dict[str, Any] = {"W": np.full((size, D), 1.0 / D), "H": np.maximum(start, 1e-12)}
    while True:
        order = rng.permutation(len(X))
        for low in range(0, len(X), size):
            model.partial_fit(X[order[low : low + size]], **first)
            first = {}
        yield model.components_


def mcr_als(X: NDArray[Any], start: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """MCR-ALS of pyMCR with non-negative least squares for both factors."""
    from pymcr.mcr import McrAR

    logging.getLogger("pymcr").setLevel(logging.ERROR)  # it reports every end of an iteration
    ST = np.maximum(start, 1e-12)
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = McrAR(max_iter=1, tol_increase=np.inf, c_regr="NNLS", st_regr="NNLS")
            model.fit(X, ST=ST)
        ST = model.ST_
        yield ST


def gibbs_lda(X: NDArray[Any], start: NDArray[Any], chunk: int = 20) -> Iterator[NDArray[Any]]:
    """LDA by collapsed Gibbs sampling, tomotopy's, on the data as counts of 300 words a document."""
    import tomotopy

    shares = np.maximum(X, 0.0) / np.maximum(X.sum(axis=1, keepdims=True), 1e-300)
    counts = np.random.default_rng(0).multinomial(300, shares / shares.sum(axis=1, keepdims=True))
    model = tomotopy.LDAModel(k=len(start), alpha=0.05, eta=0.01, seed=0)
    for row in counts:
        model.add_doc([str(j) for j in np.repeat(np.arange(len(row)), row)])
    while True:
        model.train(chunk, workers=1)
        columns = np.array([int(word) for word in model.used_vocabs])
        topics = np.zeros(start.shape)
        for k in range(len(start)):
            topics[k, columns] = model.get_topic_word_dist(k)
        yield topics
