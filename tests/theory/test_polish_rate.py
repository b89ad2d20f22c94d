"""Proposition 1 of the theory page: the rate of the polish is an eigenvalue of the codes' Gram matrices."""

import numpy as np
import pytest
from scipy.linalg import eigh

from altmin.datasets import make_sparse_dictionary


def predicted_rates(X):
    """Second largest eigenvalue of (G_j, G) for each atom; the largest is 1, the rescaling."""
    G = X.T @ X
    rates = []
    for j in range(X.shape[1]):
        used = X[X[:, j] != 0]
        values = eigh(used.T @ used, G, eigvals_only=True)
        assert values[-1] == pytest.approx(1.0)
        rates.append(values[-2])
    return np.array(rates)


@pytest.mark.parametrize("density", [0.1, 0.3])
def test_each_atom_contracts_at_most_at_its_predicted_rate(density):
    problem = make_sparse_dictionary(4000, 10, density=density, kind="gap", random_state=0)
    X, A, Y = problem.codes, problem.components, problem.X
    rates = predicted_rates(X)
    assert np.all(np.abs(rates - density) < 0.08)
    error = 1e-5 * np.random.default_rng(0).standard_normal((10, 10))
    off = []
    for _ in range(3):
        T = np.eye(10) + error
        T /= np.diag(T)
        Z = np.where(X != 0, X @ T, 0.0)
        atoms = np.linalg.solve(Z.T @ Z, Z.T @ Y)
        T = A @ np.linalg.pinv(atoms)
        error = T / np.diag(T) - np.eye(10)
        off.append(np.sqrt(np.einsum("ij,ik,kj->j", error, X.T @ X, error)))
    # in the norm of G every column contracts by its own rate, up to the second order
    assert np.all(off[-1] <= (rates + 0.02) * off[-2])
    assert off[-1].max() > 0.5 * density * off[-2].max()


def test_samples_that_do_not_span_leave_a_direction_that_never_contracts():
    problem = make_sparse_dictionary(2000, 6, density=0.2, random_state=1)
    X = problem.codes.copy()
    X[X[:, 0] == 0, 1] = 0.0  # atom 1 is used only together with atom 0
    rates = predicted_rates(X)
    assert rates[0] == pytest.approx(1.0)
    assert rates[2:].max() < 0.5
