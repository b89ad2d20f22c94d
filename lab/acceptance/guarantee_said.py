"""Where the fit is right the report says so: rare atoms, machines with noise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from harness import Figure, promise

from altmin import CompleteDictionaryLearning, FactorizationMachineRegressor
from altmin.datasets import make_quadratic, make_sparse_dictionary
from altmin.metrics import atom_error


@promise
def rare_atoms() -> Iterator[Figure]:
    """The theorem's own density, 1/144, with 50 atoms and 20,000 samples: 'recovered', with the fit."""
    said, worst = 0, 0.0
    for seed in range(3):
        truth = make_sparse_dictionary(20_000, 50, density=1 / 144, random_state=seed)
        model = CompleteDictionaryLearning(random_state=0).fit(truth.X)
        said += model.guarantee_.verdict == "recovered"
        worst = max(worst, atom_error(model.components_, truth.components))
    yield Figure("'recovered' of 3", said, at_least=3)
    yield Figure("worst error of an atom", worst, at_most=1e-6)


@promise
def noisy_machines() -> Iterator[Figure]:
    """Noise of .3 of the target's spread, 30,000 rows, 10 to 30 features: 'recovered', with the fit."""
    said, worst, low = 0, 0.0, np.inf
    sizes = ((10, 2), (15, 2), (20, 3), (30, 3))
    for seed, (d, rank) in enumerate(sizes):
        truth = make_quadratic(30_000, d, rank, random_state=seed)
        rng = np.random.default_rng(seed)
        y = truth.y + 0.3 * truth.y.std() * rng.standard_normal(len(truth.y))
        model = FactorizationMachineRegressor(rank, random_state=0).fit(truth.X, y)
        M = (truth.factors.T * truth.eigenvalues) @ truth.factors
        gap = np.hypot(np.linalg.norm(model.coef_ - truth.coef), np.linalg.norm(model.matrix() - M))
        error = float(gap / np.hypot(np.linalg.norm(truth.coef), np.linalg.norm(M)))
        said += model.guarantee_.verdict == "recovered"
        worst, low = max(worst, error), min(low, model.guarantee_.estimated_error / error)
    yield Figure(f"'recovered' of {len(sizes)}", said, at_least=len(sizes))
    yield Figure("worst error of (w, M)", worst, at_most=0.05)
    yield Figure("smallest estimated / true error", low, at_least=0.5)
