"""Mixed-up pairs of atoms are recognised and taken apart."""

import numpy as np
import pytest

from altmin.algorithms.dictionary.mixed_pairs import suspicious_pairs, unmixed, zeros_gained


def codes_of(seed=0, n_samples=2000, n=5, density=0.3):
    rng = np.random.default_rng(seed)
    shape = (n_samples, n)
    return (rng.random(shape) < density) * rng.choice([-1.0, 1.0], shape)


def joint_supports(Z):
    used = (Z != 0).astype(float)
    return used.T @ used


def test_independent_codes_are_cleared_by_their_supports():
    Z = codes_of()
    assert len(suspicious_pairs(joint_supports(Z))) == 0


@pytest.mark.parametrize("density", [0.3, 0.05, 0.005])  # where atoms are rare, so is what a pair gains
def test_a_rotated_pair_is_suspect_and_comes_apart(density):
    Z = codes_of(n_samples=20_000, density=density)
    W = np.eye(5)
    W[:2, :2] = [[1.0, 1.0], [1.0, -1.0]]
    mixed = Z @ W.T
    suspects = suspicious_pairs(joint_supports(mixed))
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


def by_definition(z, other, near=1e-6):
    """Every ratio tried as c, with NumPy."""
    both = (z != 0) & (other != 0)
    ratios = np.sort(z[both] / other[both])
    ends = np.searchsorted(ratios, ratios + near * (1 + np.abs(ratios)), side="right")
    on_line = ends - np.arange(len(ratios))
    best = int(np.argmax(on_line))
    lost = np.count_nonzero((z == 0) & (other != 0))
    return float(np.median(ratios[best : ends[best]])), (on_line[best] - lost) / np.count_nonzero(other)


def test_gain_of_zeros_is_that_of_trying_every_ratio():
    for seed in range(5):
        Z = codes_of(seed, 400, density=0.5) * np.random.default_rng(seed).integers(1, 4, (400, 5))
        mixed = Z[:, 0] + 0.5 * Z[:, 1]
        for other in (Z[:, 1], Z[:, 2]):
            found, expected = zeros_gained(mixed, other), by_definition(mixed, other)
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert zeros_gained(np.zeros(4), np.ones(4)) == (0.0, -1.0)
