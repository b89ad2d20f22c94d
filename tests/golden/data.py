"""The data of the cases."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from altmin import datasets


@cache
def cone() -> Any:
    return datasets.make_dir(300, 20, 3, concentration=1.0, random_state=0)


@cache
def noisy_cone() -> Any:
    return datasets.make_dir(300, 20, 3, concentration=0.4, noise=1e-2, random_state=1).X


@cache
def holed_cone() -> Any:
    X = datasets.make_dir(300, 20, 3, concentration=0.4, random_state=2).X
    return np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)


@cache
def spoiled_cone() -> Any:
    return datasets.add_outliers(noisy_cone(), 0.03, scale=3.0, random_state=0)[0]


@cache
def counts() -> Any:
    X = datasets.make_dir(120, 30, 3, concentration=0.3, random_state=1).X
    return np.random.default_rng(0).poisson(60 * X / X.mean()).astype(float)


@cache
def atoms(orthogonal: bool = False, snr_db: Any = None) -> Any:
    return datasets.make_sparse_dictionary(
        900, 6, density=0.2, snr_db=snr_db, orthogonal=orthogonal, random_state=0
    ).X


@cache
def spoiled_atoms() -> Any:
    return datasets.add_outliers(atoms(snr_db=30)[:400], 0.03, scale=20.0, random_state=0)[0]


@cache
def planted() -> Any:
    return datasets.make_planted_sparse(200, 8, 12, 2, 0.05, outliers=0.1, random_state=0).X


@cache
def law(noise: float = 0.0, features: str = "exponential") -> Any:
    return datasets.make_quadratic(
        700,
        5,
        2,
        features=features,
        correlation=0.4,
        noise=noise,
        intercept=1.0,
        condition=3.0,
        random_state=0,
    )


@cache
def designs(kind: str = "real") -> Any:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((90, 6)) + (1j * rng.standard_normal((90, 6)) if kind == "complex" else 0)
    signal = rng.standard_normal(6) + (1j * rng.standard_normal(6) if kind == "complex" else 0)
    return A, np.abs(A @ signal) ** 2


@cache
def ratings() -> Any:
    rng = np.random.default_rng(0)
    low_rank = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 30)) + 3
    return sp.coo_array(low_rank * (rng.random((40, 30)) < 0.6))


@cache
def clicks() -> Any:
    rng = np.random.default_rng(1)
    return sp.csr_array((rng.random((60, 25)) < 0.8 * rng.random((60, 3)) @ rng.random((3, 25)) / 2) * 1.0)


@cache
def weights() -> Any:
    return 0.5 + np.random.default_rng(3).random(900)
