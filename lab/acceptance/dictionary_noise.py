"""Noisy codes: within a small factor of the oracle that knows the support, and well below FastICA."""

from __future__ import annotations

import warnings

import numpy as np
from harness import Figure, promise
from sklearn.decomposition import FastICA

from altmin import CompleteDictionaryLearning
from altmin.datasets import make_sparse_dictionary
from altmin.metrics import sine_errors


def oracle(problem, n_passes=3):
    """Least squares in turn for atoms and codes on the true support, from the true atoms."""
    A, support = problem.components, problem.codes != 0
    for _ in range(n_passes):
        Z = np.zeros_like(problem.codes)
        for row, used in enumerate(support):
            if used.any():
                Z[row, used] = np.linalg.lstsq(A[used].T, problem.X[row], rcond=None)[0]
        A = np.linalg.lstsq(Z, problem.X, rcond=None)[0]
        A = A / np.linalg.norm(A, axis=1, keepdims=True)
    return A


@promise
def noise():
    """Median atom error at most 3 times the oracle's (4 at condition 100, 30 dB), half of FastICA's."""
    for condition, snr_db, factor in ((1, 20, 3), (10, 10, 3), (10, 20, 3), (100, 20, 3), (100, 30, 4)):
        ours, best, ica, sigma = [], [], [], []
        for seed in range(5):
            problem = make_sparse_dictionary(
                8000, 30, density=0.1, condition=condition, snr_db=snr_db, random_state=seed
            )
            model = CompleteDictionaryLearning(random_state=seed).fit(problem.X)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                peer = FastICA(whiten="unit-variance", max_iter=500, random_state=seed).fit(problem.X)
            for errors, atoms in ((ours, model.components_), (best, oracle(problem)), (ica, peer.mixing_.T)):
                errors.append(np.median(sine_errors(atoms, problem.components)))
            sigma.append(model.noise_std_ / problem.noise_std)
        what = f"condition {condition}, {snr_db} dB, 5 seeds"
        ratios = np.array(ours) / np.array(best)
        yield Figure(
            f"{what}: median error {np.median(ours):.4f}, worst ratio to the oracle",
            max(ratios),
            at_most=factor,
        )
        yield Figure(f"{what}: worst ratio to FastICA", max(np.array(ours) / np.array(ica)), at_most=0.5)
        yield Figure(f"{what}: noise estimated / true, farthest from 1", max(sigma, key=lambda s: abs(s - 1)))
