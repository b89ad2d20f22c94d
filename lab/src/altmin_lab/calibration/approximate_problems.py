"""Problems of approximate dictionaries. Error: largest atom error; 1 for a wrong number of atoms."""

from __future__ import annotations

from typing import Any

import numpy as np

from altmin.estimators.overcomplete.approximate import ApproximateDictionaryLearning
from altmin.metrics import atom_error
from altmin_lab.calibration.dictionary_data import atoms, with_noise
from altmin_lab.calibration.trial import Trial, kind, whole


def planted(rng: np.random.Generator, p: int, asked: int = 0, decibel: float | None = None) -> Trial:
    """Overcomplete data with k nonzeros a row."""
    d = whole(rng, 8, 12)
    m, k = whole(rng, d, d + d // 2), 2
    A = atoms(rng, m, d, None)
    x = np.zeros((p, m))
    on = np.argsort(rng.random((p, m)), axis=1)[:, :k]
    np.put_along_axis(x, on, rng.choice([-1, 1], (p, k)) * (0.5 + rng.random((p, k))), axis=1)
    X = x @ A if decibel is None else with_noise(rng, x @ A, decibel)
    model = ApproximateDictionaryLearning(m + asked, n_nonzero_coefs=k, random_state=whole(rng, 0, 999))

    def error(found: Any) -> float:
        return 1.0 if len(found.components_) != m else atom_error(found.components_, A)

    return Trial(model, (X,), error)


@kind("approximate", "sparse codes", "clean", 2)
def _clean(rng: np.random.Generator) -> Trial:
    return planted(rng, whole(rng, 300, 600))


@kind("approximate", "noise", "noisy", 2)
def _noise(rng: np.random.Generator) -> Trial:
    return planted(rng, whole(rng, 300, 600), decibel=rng.uniform(5, 35))


@kind("approximate", "too few samples", "clean")
def _few(rng: np.random.Generator) -> Trial:
    return planted(rng, whole(rng, 30, 80))


@kind("approximate", "a wrong number of atoms", "clean", 2)
def _wrong_number(rng: np.random.Generator) -> Trial:
    return planted(rng, whole(rng, 300, 600), asked=int(rng.choice([-3, -2, -1, 2])))


def _estimator(rng: np.random.Generator, d: int) -> ApproximateDictionaryLearning:
    return ApproximateDictionaryLearning(d, n_nonzero_coefs=2, random_state=whole(rng, 0, 999))


@kind("approximate", "pure noise", "noise")
def _pure(rng: np.random.Generator) -> Trial:
    return Trial(_estimator(rng, 10), (rng.standard_normal((400, 8)),))


@kind("approximate", "dense non-negative weights", "other")
def _weights(rng: np.random.Generator) -> Trial:
    return Trial(_estimator(rng, 8), (rng.random((400, 8)) @ rng.standard_normal((8, 8)),))
