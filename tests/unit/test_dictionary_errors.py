"""Standard errors of atoms: codes are fitted, too, and take up a part of what atoms err."""

import numpy as np
import pytest

from altmin.guarantees.dictionary_atoms import _least_squares, _standard_errors, angles

K, N, NOISE = 6, 400, 0.05


def fitted(rng, A, S):
    """Codes and atoms by turns, with known supports: what the likelihood says."""
    X = S @ A + NOISE * rng.standard_normal((len(S), A.shape[1]))
    B, Z = A.copy(), S.copy()
    for _ in range(25):
        for i in range(len(X)):
            on = S[i] != 0
            Z[i, on] = np.linalg.lstsq(B[on].T, X[i], rcond=None)[0]
        B = np.linalg.lstsq(Z, X, rcond=None)[0]
        B /= np.linalg.norm(B, axis=1, keepdims=True)
    return X, B, Z


@pytest.mark.parametrize("density", [0.15, 0.5])
def test_standard_errors_are_those_of_atoms_fitted_with_their_codes(density):
    """With dense codes few samples are without another atom, and errors towards it are large."""
    rng = np.random.default_rng(3)
    A = np.linalg.qr(rng.standard_normal((K, K)))[0]
    squares, said = [], []
    for _ in range(6):
        S = rng.standard_normal((N, K))
        S = np.where(rng.random((N, K)) < density, S + np.sign(S), 0.0)
        X, B, Z = fitted(rng, A, S)
        squares.append(angles(B, A) ** 2)
        said.append(_standard_errors(_least_squares(Z, X, B)[1], K)[0] ** 2)
    assert 0.75 < np.sqrt(np.mean(squares) / np.mean(said)) < 1.25


def test_orthogonal_atoms_turn_in_pairs():
    """Samples with either atom speak for the angle of both: half of the variance, where all are alike."""
    variances = np.column_stack([np.full((K, K), 2.0) - 2.0 * np.eye(K), np.zeros(K)])
    free, turn, ways = _standard_errors(variances, K)
    np.testing.assert_allclose(turn, free / np.sqrt(2))
    np.testing.assert_allclose(ways, K - 1)


def test_one_direction_that_is_known_badly_counts_as_one():
    """A bound from the law of many directions would be too small."""
    variances = np.column_stack([np.full((K, K), 1e-4) - 1e-4 * np.eye(K), np.zeros(K)])
    variances[0, 1] = 1.0
    assert 1.0 <= _standard_errors(variances, K)[2][0] < 1.01
