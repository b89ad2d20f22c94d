"""How many iterations small fits of every family take, how they end, and how near to the truth they come.

A wrong step often still ends at the truth, later. Where a change makes fits faster or slower on purpose, the
numbers of ``PACE`` are renewed with what this file prints when it is run as a script.
"""

import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from altmin import (
    AND,
    ApproximateDictionaryLearning,
    CompleteDictionaryLearning,
    FactorizationMachineClassifier,
    FactorizationMachineRegressor,
    OnlineDictionaryLearning,
    OrthogonalDictionaryLearning,
    PhaseRetrieval,
    RankOneSensing,
)
from altmin.datasets import make_dir, make_planted_sparse, make_quadratic, make_sparse_dictionary
from altmin.metrics import sine_errors


def cone(noise=0.0, counts=False, holes=0.0, **options):
    problem = make_dir(800, 40, 5, concentration=1.0, noise=noise, random_state=0)
    X, rng = problem.X, np.random.default_rng(0)
    if counts:
        X = rng.poisson(200 * X / X.mean()).astype(float)
    if holes:
        X = np.where(rng.random(X.shape) < holes, np.nan, X)
    return AND(5, random_state=0, **options).fit(X), problem


def dictionary(estimator, n=2000, features=10, atoms=None, offset=0.0, model=None, **problem):
    made = make_sparse_dictionary(n, features, atoms, density=0.15, random_state=0, **problem)
    return estimator(random_state=0, **(model or {})).fit(made.X + offset), made


def orthogonal(model=None, **problem):
    made = make_sparse_dictionary(1500, 10, density=0.15, orthogonal=True, random_state=0, **problem)
    return OrthogonalDictionaryLearning(**(model or {})).fit(made.X), made


def peeled(**options):
    made = make_planted_sparse(500, 12, 16, 2, 0.02, random_state=0)
    return ApproximateDictionaryLearning(16, n_nonzero_coefs=2, random_state=0, **options).fit(made.X), made


class Law:
    """What a quadratic is held against: predictions on fresh rows."""

    def __init__(self, found, truth):
        self.n_iter_, self.outcome_ = found.n_iter_, found.outcome_
        self.error = float(np.linalg.norm(found.predict(truth[0]) - truth[1]) / np.linalg.norm(truth[1]))


def machine(noise=0.0, n=1500, features="gaussian", model=None, **problem):
    made = make_quadratic(2 * n, 8, 2, features=features, noise=noise, random_state=0, **problem)
    found = FactorizationMachineRegressor(2, random_state=0, **(model or {})).fit(made.X[:n], made.y[:n])
    return Law(found, (made.X[n:], made.y[n:])), None


def one_hot(kind):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 8, (1500, 2))
    table = sp.csr_array(np.hstack([np.eye(8)[codes[:, 0]], np.eye(8)[codes[:, 1]]]))
    value = rng.standard_normal(8)[codes[:, 0]] * rng.standard_normal(8)[codes[:, 1]]
    noisy = value + 0.1 * rng.standard_normal(1500)
    y = noisy if kind is FactorizationMachineRegressor else (value > 0).astype(int)
    return Law(kind(2, random_state=0).fit(table, y), (table, y)), None


def clicks():
    made = make_quadratic(3000, 6, 2, mixed_signs=True, random_state=0)
    y = (made.y > np.median(made.y)).astype(int)
    found = FactorizationMachineClassifier(2, random_state=0).fit(made.X[:1500], y[:1500])
    return Law(found, (made.X[1500:], y[1500:])), None


def sensing(pair):
    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((600, 8)), rng.standard_normal((600, 6))
    M = rng.standard_normal((8, 2)) @ rng.standard_normal((2, 6))
    if pair:
        return Law(RankOneSensing(2, random_state=0).fit((U, V), np.einsum("ij,jk,ik->i", U, M, V)),
                   ((U, V), np.einsum("ij,jk,ik->i", U, M, V))), None  # fmt: skip
    S = M @ M.T
    y = np.einsum("ij,jk,ik->i", U, S, U)
    return Law(RankOneSensing(2, random_state=0).fit(U, y), (U, y)), None


def phase(complex_signal):
    rng = np.random.default_rng(0)
    signal = rng.standard_normal(12) + (1j * rng.standard_normal(12) if complex_signal else 0)
    X = rng.standard_normal((120, 12)) + (1j * rng.standard_normal((120, 12)) if complex_signal else 0)
    y = np.abs(X @ signal) ** 2
    return Law(PhaseRetrieval(random_state=0).fit(X, y), (X, y)), None


FITS = {
    "cone": lambda: cone(),
    "cone, noisy": lambda: cone(noise=1e-2),
    "cone, counts": lambda: cone(counts=True),
    "cone, holes": lambda: cone(holes=0.2, missing="mask"),
    "cone, batches": lambda: cone(batch_size=200, max_iter=20),
    "cone, fixed threshold": lambda: cone(threshold=(0.1, 1.1), max_iter=15),
    "orthogonal": lambda: orthogonal(),
    "orthogonal, noisy": lambda: orthogonal(snr_db=20),
    "orthogonal, fixed threshold": lambda: orthogonal({"threshold": 0.5}),
    "complete": lambda: dictionary(CompleteDictionaryLearning),
    "complete, signs": lambda: dictionary(CompleteDictionaryLearning, kind="rad"),
    "complete, noisy": lambda: dictionary(CompleteDictionaryLearning, snr_db=20),
    "complete, ill-conditioned": lambda: dictionary(CompleteDictionaryLearning, condition=100),
    "complete, fewer atoms": lambda: dictionary(
        CompleteDictionaryLearning, features=20, atoms=6, model={"n_components": 6}),
    "complete, offset": lambda: dictionary(CompleteDictionaryLearning, offset=3.0),
    "complete, batches": lambda: dictionary(CompleteDictionaryLearning, n=3000, model={"batch_size": 1000}),
    "online": lambda: dictionary(OnlineDictionaryLearning, n=4000),
    "online, noisy": lambda: dictionary(OnlineDictionaryLearning, n=4000, snr_db=25),
    "peeled": lambda: peeled(),
    "peeled, samples": lambda: peeled(peeling="sampled"),
    "machine": lambda: machine(),
    "machine, noisy": lambda: machine(noise=0.1),
    "machine, exponential": lambda: machine(features="exponential"),
    "machine, batches": lambda: machine(n=12000, model={"batch_size": 600}),
    "machine, one-hot": lambda: one_hot(FactorizationMachineRegressor),
    "classifier": lambda: clicks(),
    "classifier, one-hot": lambda: one_hot(FactorizationMachineClassifier),
    "sensing": lambda: sensing(False),
    "sensing, pairs": lambda: sensing(True),
    "phases": lambda: phase(False),
    "phases, complex": lambda: phase(True),
}  # fmt: skip


def look(name):
    """Iterations, how it ended, error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, problem = FITS[name]()
    if problem is None:
        return int(model.n_iter_), model.outcome_.kind, model.error
    error = float(np.median(sine_errors(model.components_, problem.components)))
    return int(model.n_iter_), model.outcome_.kind, error


# iterations, outcome, error
PACE = {
    "cone": (300, "converged", 2.2e-08),
    "cone, noisy": (64, "converged", 4.1e-03),
    "cone, counts": (73, "converged", 1.0e-03),
    "cone, holes": (300, "converged", 2.2e-08),
    "cone, batches": (20, "max_iter", 6.9e-04),
    "cone, fixed threshold": (15, "max_iter", 1.4e-02),
    "orthogonal": (24, "converged", 3.0e-15),
    "orthogonal, noisy": (47, "converged", 5.8e-03),
    "orthogonal, fixed threshold": (68, "converged", 4.7e-15),
    "complete": (18, "converged", 5.3e-16),
    "complete, signs": (17, "converged", 3.9e-16),
    "complete, noisy": (132, "converged", 8.3e-03),
    "complete, ill-conditioned": (21, "converged", 5.3e-16),
    "complete, fewer atoms": (18, "converged", 1.2e-15),
    "complete, offset": (22, "converged", 3.5e-16),
    "complete, batches": (20, "converged", 3.1e-16),
    "online": (4, "end_of_stream", 8.4e-16),
    "online, noisy": (4, "end_of_stream", 3.1e-03),
    "peeled": (12, "converged", 7.3e-03),
    "peeled, samples": (27, "converged", 1.6e-02),
    "machine": (6, "converged", 9.6e-16),
    "machine, noisy": (6, "converged", 3.4e-02),
    "machine, exponential": (6, "converged", 7.4e-16),
    "machine, batches": (28, "converged", 3.0e-14),
    "machine, one-hot": (32, "converged", 3.7e-01),
    "classifier": (11, "converged", 1.3e-01),
    "classifier, one-hot": (148, "converged", 0.0e00),
    "sensing": (7, "converged", 4.0e-16),
    "sensing, pairs": (6, "converged", 2.2e-14),
    "phases": (101, "converged", 1.7e-13),
    "phases, complex": (187, "converged", 1.4e-13),
}


@pytest.mark.parametrize("name", FITS)
def test_fits_keep_their_pace(name):
    n_iter, kind, error = look(name)
    expected, ending, precise = PACE[name]
    assert kind == ending
    assert abs(n_iter - expected) <= max(2, 0.1 * expected)
    assert error <= max(3 * precise, 1e-9)
    assert error >= precise / 3 or precise < 1e-6  # noise leaves an error: less of it would be luck


if __name__ == "__main__":
    for fit in sys.argv[1:] or FITS:
        n_iter, kind, error = look(fit)
        print(f"    {fit!r}: ({n_iter}, {kind!r}, {error:.1e}),", flush=True)
