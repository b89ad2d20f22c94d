"""What rank-one sensing, inductive completion and phase retrieval promise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from harness import Figure, promise

from altmin import InductiveMatrixCompletion, PhaseRetrieval, RankOneSensing
from altmin.algorithms.quadratic.phase import distance

SEEDS = range(10)


@promise
def asymmetric_sensing() -> Iterator[Figure]:
    """Asymmetric 100 x 40, k=5, n=10k(d1+d2): below 1e-10."""
    d1, d2, k = 100, 40, 5
    n = 10 * k * (d1 + d2)
    finite, stream = [], []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        M = np.linalg.qr(rng.standard_normal((d1, k)))[0] @ np.linalg.qr(rng.standard_normal((d2, k)))[0].T
        U, V = rng.standard_normal((30 * n, d1)), rng.standard_normal((30 * n, d2))
        y = np.einsum("ij,ij->i", U @ M, V)
        model = RankOneSensing(k, random_state=seed).fit((U[:n], V[:n]), y[:n])
        finite.append(np.linalg.norm(model.matrix() - M, 2))
        model = RankOneSensing(k, batch_size=n, max_iter=30, random_state=seed).fit((U, V), y)
        stream.append(np.linalg.norm(model.matrix() - M, 2))
    yield Figure("asymmetric sensing, n rows used again and again", max(finite), at_most=1e-10)
    yield Figure("asymmetric sensing, 30 batches of n rows, one pass", max(stream), at_most=1e-10)


@promise
def inductive_completion() -> Iterator[Figure]:
    """Inductive completion with correlated binary features: below 1e-8, new rows predicted."""
    core, new = [], []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        A = ((rng.random((700, 30)) < 0.3) | (rng.random((700, 1)) < 0.3)).astype(float)
        B = ((rng.random((400, 20)) < 0.3) | (rng.random((400, 1)) < 0.3)).astype(float)
        M = np.linalg.qr(rng.standard_normal((30, 3)))[0] @ np.linalg.qr(rng.standard_normal((20, 3)))[0].T
        R = A @ M @ B.T
        rows, columns = np.nonzero(rng.random((600, 400)) < 0.05)
        seen = sp.csr_array((R[rows, columns], (rows, columns)), shape=(600, 400))
        model = InductiveMatrixCompletion(3, random_state=seed).fit(seen, A[:600], B)
        found = (model.left_factors_.T * model.values_) @ model.right_factors_
        core.append(np.linalg.norm(found - M, 2))
        new.append(np.abs(model.complete(A[600:]) - R[600:]).max())
    yield Figure("inductive completion, correlated binary features: error of M", max(core), at_most=1e-8)
    yield Figure("inductive completion: rows never seen, largest error", max(new), at_most=1e-8)


def _phase(seed: int, n: int, is_complex: bool) -> tuple:
    rng = np.random.default_rng(seed)
    s, X = rng.standard_normal(100), rng.standard_normal((n, 100))
    if is_complex:
        s, X = s + 1j * rng.standard_normal(100), X + 1j * rng.standard_normal((n, 100))
    return s, X, np.abs(X @ s) ** 2


@promise
def phase_retrieval() -> Iterator[Figure]:
    """d=100: N=6d to 1e-6 on 9 of 10 seeds; a stream of 12d a batch to 1e-8 in 36 batches; complex too."""
    for kind in (False, True):
        name = "complex" if kind else "real"
        polished, streamed = 0, []
        for seed in SEEDS:
            s, X, y = _phase(seed, 600, kind)
            model = PhaseRetrieval(random_state=seed).fit(X, y)
            polished += distance(model.signal_, s) < 1e-6 * np.linalg.norm(s)
            s, X, y = _phase(seed, 36 * 1200, kind)
            blocks = ((X[i : i + 1200], y[i : i + 1200]) for i in range(0, len(X), 1200))
            model = PhaseRetrieval(random_state=seed).fit(blocks)
            streamed.append(distance(model.signal_, s) / np.linalg.norm(s))
        yield Figure(f"phase retrieval, {name}: seeds recovered from 6d rows", polished, at_least=9)
        yield Figure(f"phase retrieval, {name}: stream of 36 batches of 12d", max(streamed), at_most=1e-8)
