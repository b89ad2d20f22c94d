"""Dictionaries of other methods and libraries, learnt from the same patches under one CPU cap.

Each function takes centred patches (n_samples, n_pixels), a number of atoms and CPU seconds, and gives unit
atoms, one a row.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.images.learn import cosine_patches

Array = NDArray[Any]


def cosines(X: Array, n_atoms: int, cpu_seconds: float) -> Array:
    """The two-dimensional cosine basis: nothing to learn."""
    side = round(X.shape[1] ** 0.5)
    return cosine_patches(side, side).astype(np.float64)


def spams_l1(X: Array, n_atoms: int, cpu_seconds: float) -> Array:
    """SPAMS ``trainDL`` (online l1 learning, Mairal et al. 2010), lambda = 1.2 / sqrt(n_pixels).

    Patches are scaled to unit mean energy, which is what that lambda is made for.
    """
    import spams

    Y = np.asfortranarray((X / np.sqrt(np.mean(np.sum(X * X, axis=1)))).T)
    options: dict[str, Any] = {"K": n_atoms, "lambda1": 1.2 / X.shape[1] ** 0.5, "batchsize": 400}
    limit = time.process_time() + cpu_seconds
    resume: dict[str, Any] = {}  # its own cap counts the wall clock, so go on by slices
    while not resume or time.process_time() < limit:
        atoms, model = spams.trainDL(
            Y, **options, **resume, iter=20, numThreads=1, return_model=True, verbose=False
        )
        resume = {"D": np.asfortranarray(atoms), "model": model}
    return _unit(np.asarray(resume["D"]).T)


def minibatch_scikit_learn(X: Array, n_atoms: int, cpu_seconds: float) -> Array:
    """scikit-learn's ``MiniBatchDictionaryLearning``, the same lambda and scale, batches of 256."""
    from sklearn.decomposition import MiniBatchDictionaryLearning

    Y = X / np.sqrt(np.mean(np.sum(X * X, axis=1)))
    model = MiniBatchDictionaryLearning(n_atoms, alpha=1.2 / X.shape[1] ** 0.5, random_state=0, n_jobs=1)
    rng = np.random.default_rng(0)
    limit = time.process_time() + cpu_seconds
    while time.process_time() < limit:
        model.partial_fit(Y[rng.choice(len(Y), min(256, len(Y)), replace=False)])
    return _unit(model.components_)


def _unit(atoms: Array) -> Array:
    norms = np.linalg.norm(atoms, axis=1, keepdims=True)
    return atoms / np.where(norms > 0, norms, 1.0)
