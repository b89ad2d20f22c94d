"""Samples with noise of orthogonal atoms: what tests of a dictionary's report begin with."""

import numpy as np

N, K = 1000, 6


def problem(seed, k=K, d=K, noise=0.15, density=0.17):
    """Orthogonal atoms, codes with a gap, and noise of this size in units of the data's."""
    rng = np.random.default_rng(seed)
    A = np.linalg.qr(rng.standard_normal((d, d)))[0][:k]
    x = rng.standard_normal((N, k))
    S = np.sign(x) * (0.5 + np.abs(x)) * (rng.random((N, k)) < density)
    return rng, A, S, noise * np.sqrt(np.mean((S @ A) ** 2))
