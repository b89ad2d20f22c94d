"""Near copies of samples are counted without looking at all pairs."""

import numpy as np
import pytest

from altmin.guarantees.refits import distinct


def all_pairs(Z, near=1e-3):
    """The definition: a sample counts unless an earlier one has almost its direction."""
    U = Z[np.any(Z != 0, axis=1)]
    U = U / np.linalg.norm(U, axis=1, keepdims=True)
    distance = np.linalg.norm(U[:, None] - U[None], axis=2)
    return int(np.sum(~np.any(np.tril(distance < near, -1), axis=1)))


@pytest.mark.parametrize("seed", range(4))
def test_distinct_samples_are_those_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    Z = np.maximum(rng.standard_normal((150, 6)), 0.0)
    copies = Z[rng.integers(0, 150, 80)] * rng.uniform(0.5, 2.0, (80, 1))
    copies += 5e-4 * rng.standard_normal(copies.shape)
    Z = rng.permutation(np.vstack([Z, copies, np.zeros((3, 6))]))
    assert distinct(Z).sum() == all_pairs(Z)


def test_one_sample_over_and_over_counts_once():
    assert distinct(np.ones((500, 4))).sum() == 1
    assert distinct(np.eye(4)).sum() == 4
    assert distinct(np.zeros((3, 4))).sum() == 0
