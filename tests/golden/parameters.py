"""Every parameter of every estimator with another value than usual: the fits, one beside the other."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import scipy.sparse as sp
from cases import CASES, fitted

import altmin
from altmin.datasets import make_dir, make_planted_sparse, make_quadratic, make_sparse_dictionary

CONE = make_dir(300, 20, 3, concentration=1.0, noise=1e-2, random_state=0)
EXACT = make_sparse_dictionary(800, 6, density=0.2, random_state=0).X  # noise leaves an early end to rounding
SPARSE = make_sparse_dictionary(800, 6, density=0.2, snr_db=20, random_state=0).X
ORTHOGONAL = make_sparse_dictionary(800, 6, density=0.2, orthogonal=True, random_state=0).X
PLANTED = make_planted_sparse(200, 8, 12, 2, 0.05, outliers=0.1, random_state=0).X
LAW = make_quadratic(
    1200, 5, 2, features="exponential", correlation=0.4, noise=0.1, intercept=1.0, random_state=0
)
RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(20 * make_dir(120, 30, 3, concentration=0.5, random_state=1).X).astype(float)
ENTRIES = sp.coo_array((RNG.random((30, 25)) < 0.5) * (RNG.standard_normal((30, 25)) + 2))
SIGNAL = RNG.standard_normal(6)
DESIGNS = RNG.standard_normal((90, 6))

# estimator: what is needed, the data, and another value of each parameter
CHANGES = {
    "AND": ({"n_components": 3, "max_iter": 12, "random_state": 0}, (np.abs(CONE.X),), {
        "init": CONE.start, "threshold": (0.1, 1.1), "noise_factor": 9.0, "trim": 0.5, "inner_steps": 1,
        "batch_size": 100, "decoder": "nnls", "nonnegative_components": True, "noise": "poisson",
        "max_iter": 3, "tol": 0.5,
    }),
    "ApproximateDictionaryLearning": (
        {"n_components": 12, "n_nonzero_coefs": 2, "max_iter": 4, "random_state": 0}, (PLANTED,), {
            "n_components": 9, "n_nonzero_coefs": 3, "contamination": 0.1, "target_error": 0.5,
            "mode": "theory", "peeling": "sampled", "init": PLANTED[:12], "max_iter": 1,
        },
    ),
    "ApproximateDictionaryLearning by theory": (
        {"n_components": 12, "n_nonzero_coefs": 2, "mode": "theory", "max_iter": 2, "random_state": 0},
        (PLANTED,), {"coefficient_bound": 3.0, "target_error": 0.1},
    ),
    "CompleteDictionaryLearning": ({"max_iter": 60, "random_state": 0}, (EXACT,), {
        "init": np.eye(6), "threshold": 0.4, "batch_size": 200, "fit_intercept": True,
        "transform_algorithm": "omp", "max_iter": 3, "tol": 0.5, "random_state": 1,
    }),
    "FactorizationMachineClassifier": ({"rank": 2, "random_state": 0}, (LAW.X, LAW.y > np.median(LAW.y)), {
        "rank": 1, "C": 1e-3, "moments": "gaussian", "whiten": False, "max_iter": 1,
    }),
    "FactorizationMachineRegressor": ({"rank": 2, "random_state": 0}, (LAW.X, LAW.y), {
        "rank": 1, "batch_size": 100, "step": 0.3, "fit_intercept": False, "max_iter": 1,
    }),
    "FactorizationMachineRegressor on batches": (
        {"rank": 2, "batch_size": 300, "step": 0.5, "max_iter": 12, "random_state": 0}, (LAW.X, LAW.y), {
            "moments": "gaussian", "whiten": False, "step": 0.25, "batch_size": 200, "tol": 0.9,
        },
    ),
    "InductiveMatrixCompletion": ({"rank": 2, "max_iter": 20, "random_state": 0}, (ENTRIES,), {
        "rank": 1, "feedback": "implicit", "max_iter": 2, "tol": 0.5,
    }),
    "OnlineDictionaryLearning": ({"batch_size": 200, "random_state": 0}, (SPARSE,), {
        "n_components": 4, "batch_size": 300, "start_size": 500, "memory": 100, "transform_algorithm": "omp",
        "max_iter": 1,
    }),
    "OrthogonalDictionaryLearning": ({"max_iter": 40}, (ORTHOGONAL,), {
        "init": "identity", "threshold": 0.4, "keep": 0.05, "transform_algorithm": "omp", "max_iter": 2,
        "tol": 0.5, "warm_up": 0.5,
    }),
    "PhaseRetrieval": ({"max_iter": 300, "random_state": 0}, (DESIGNS, (DESIGNS @ SIGNAL) ** 2), {
        "batch_size": 45, "polish": False, "max_iter": 3, "tol": 0.5,
    }),
    "PhaseRetrieval on batches": (
        {"batch_size": 45, "max_iter": 6, "polish": False, "random_state": 0},
        (DESIGNS, (DESIGNS @ SIGNAL) ** 2), {"step": 0.4, "batch_size": 30, "random_state": 1},
    ),
    "RankOneSensing": ({"rank": 1, "random_state": 0}, (DESIGNS, (DESIGNS @ SIGNAL) ** 2), {
        "rank": 2, "batch_size": 30, "step": 0.5, "max_iter": 1,
    }),
    "RankOneSensing on batches": (
        {"rank": 1, "batch_size": 45, "step": 0.5, "max_iter": 6, "random_state": 0},
        (DESIGNS, (DESIGNS @ SIGNAL) ** 2), {"step": 0.25, "moments": "sample", "whiten": False, "tol": 0.9},
    ),
    "TopicModel": ({"n_components": 3, "max_iter": 10, "random_state": 0}, (COUNTS,), {
        "n_components": 2, "weighting": None, "start_quantile": 0.8, "max_iter": 2,
    }),
}  # fmt: skip
# other cases have them, where rounding lets them
LEFT_OUT = ("history_", "outcome_", "guarantee_", "n_iter_")


def fits(name: str) -> Any:
    """The usual fit, that of each other value, and those of other rows: weighted, in parts, of float32."""
    needed, data, changes = CHANGES[name]
    make = getattr(altmin, name.partition(" ")[0])
    values = {"usual": {}, **{key: {key: value} for key, value in changes.items()}}
    found = {
        key: fitted(make(**{**needed, **value}), *data, without=LEFT_OUT) for key, value in values.items()
    }
    if "sample_weight" in inspect.signature(make.fit).parameters:
        weight = 0.5 + np.random.default_rng(1).random(len(data[0]))
        found["of weights"] = fitted(make(**needed), *data, weight=weight, without=LEFT_OUT)
    if hasattr(make, "partial_fit") and make is not altmin.FactorizationMachineClassifier:
        found["of parts"] = fitted(make(**needed), *data, steps=3, without=LEFT_OUT)
    if not sp.issparse(data[0]):
        single = fitted(make(**needed), data[0].astype(np.float32), *data[1:], without=(*LEFT_OUT, "walk"))
        found["of single"] = {key: value for key, value in single.items() if isinstance(value, np.ndarray)}
    return found


for _name in CHANGES:
    CASES[f"parameters of {_name}"] = lambda name=_name: fits(name)
