"""Mixed-up pairs of atoms are recognised and taken apart."""

import numpy as np

from altmin.algorithms.dictionary_pairs import suspicious_pairs, unmixed, zeros_gained


def codes_of(seed=0, n_samples=2000, n=5, density=0.3):
    rng = np.random.default_rng(seed)
    shape = (n_samples, n)
    return (rng.random(shape) < density) * rng.choice([-1.0, 1.0], shape)


def joint_supports(Z):
    used = (Z != 0).astype(float)
    return used.T @ used


def test_independent_codes_are_cleared_by_their_supports():
    Z = codes_of()
    assert len(suspicious_pairs(joint_supports(Z), len(Z))) == 0


def test_a_rotated_pair_is_suspect_and_comes_apart():
    Z = codes_of()
    W = np.eye(5)
    W[:2, :2] = [[1.0, 1.0], [1.0, -1.0]]
    mixed = Z @ W.T
    suspects = suspicious_pairs(joint_supports(mixed), len(Z))
    assert {tuple(pair) for pair in suspects[:2].tolist()} == {(0, 1), (1, 0)}
    parted = unmixed(W, suspects, mixed[:, np.unique(suspects)])
    assert parted is not W
    counts = np.count_nonzero(np.abs(parted) > 1e-9, axis=1)
    assert counts.tolist() == [1] * 5
    assert np.linalg.matrix_rank(parted) == 5


def test_gain_of_zeros_is_negative_where_nothing_is_mixed():
    Z = codes_of()
    _, gain = zeros_gained(Z[:, 0], Z[:, 1])
    assert gain < -0.1
    eye = np.eye(5)
    assert unmixed(eye, np.array([[0, 1]]), Z[:, :2]) is eye
