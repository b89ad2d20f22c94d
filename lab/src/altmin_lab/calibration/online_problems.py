"""Problems of online dictionaries: those of the complete ones as a stream, and streams that change."""

from __future__ import annotations

import numpy as np

from altmin.estimators.dictionary.online import OnlineDictionaryLearning
from altmin.metrics import atom_error
from altmin_lab.calibration.dictionary_data import atoms, codes, register
from altmin_lab.calibration.trial import Trial, between, kind, whole


def estimator(k: int, rng: np.random.Generator) -> OnlineDictionaryLearning:
    """Windows that are a fair share of these short streams."""
    return OnlineDictionaryLearning(k, batch_size=300, random_state=whole(rng, 0, 9999))


register("online", estimator, orthogonal=False, samples=(500, 1600), least=5)


def changing(rng: np.random.Generator, first: np.ndarray, later: np.ndarray, A: np.ndarray) -> Trial:
    """A stream of two parts, judged by the dictionary at its end."""
    X = np.vstack([first, later])
    return Trial(estimator(len(A), rng), (X,), lambda model: atom_error(model.components_, A))


@kind("online", "a dictionary that changes", "clean")
def _changes(rng: np.random.Generator) -> Trial:
    k, density = whole(rng, 4, 7), rng.uniform(0.1, 0.3)
    A, B = atoms(rng, k, k, None), atoms(rng, k, k, None)
    n = whole(rng, 200, 1500)
    return changing(rng, codes(rng, 700, k, density) @ A, codes(rng, n, k, density) @ B, B)


@kind("online", "a dictionary that drifts", "noisy")
def _drifts(rng: np.random.Generator) -> Trial:
    k, p = whole(rng, 4, 7), whole(rng, 900, 2000)
    A, B = atoms(rng, k, k, None), atoms(rng, k, k, None)
    t = between(rng, 1e-3, 1.0) * np.linspace(0, 1, p)[:, None, None]
    C = (1 - t) * A + t * B
    C /= np.linalg.norm(C, axis=2, keepdims=True)
    X = np.einsum("ij,ijk->ik", codes(rng, p, k, rng.uniform(0.1, 0.25)), C)
    return Trial(estimator(k, rng), (X,), lambda model: atom_error(model.components_, C[-1]))


@kind("online", "noise after the dictionary", "other")
def _then_noise(rng: np.random.Generator) -> Trial:
    k, p = whole(rng, 4, 7), whole(rng, 200, 1200)
    A = atoms(rng, k, k, None)
    first = codes(rng, 700, k, rng.uniform(0.1, 0.3)) @ A
    later = rng.standard_normal((p, k))
    return Trial(estimator(k, rng), (np.vstack([first, later]),))
