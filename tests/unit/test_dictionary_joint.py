"""Three atoms that keep together, though each two of them look independent."""

import numpy as np
import pytest

from altmin.guarantees.dictionary_joint import threes, with_fewer_silent


def uses(n, k, seed, density=0.2):
    return np.random.default_rng(seed).random((n, k)) < density


@pytest.mark.parametrize("seed", range(5))
def test_independent_uses_are_chance(seed):
    assert threes(uses(1200, 7, seed)).max() < 0.9


def test_a_third_that_two_others_bring_along():
    used = uses(1000, 6, 0)
    used[used[:, 1] & used[:, 4], 2] = True
    found = threes(used)
    assert found[[1, 2, 4]].min() > 1.2
    assert found[[0, 3, 5]].max() < 0.9


def test_a_third_that_two_others_drive_out():
    used = uses(2000, 6, 1, density=0.35)
    used[used[:, 0] & used[:, 3], 5] = False
    found = threes(used)
    assert found[[0, 3, 5]].min() > 1.2
    assert found[[1, 2, 4]].max() < 0.9


def test_pairs_that_come_together_are_no_threes():
    """One atom brings along another one, whatever else is there."""
    used = uses(2000, 6, 2)
    used[used[:, 0], 1] |= np.random.default_rng(3).random(used[:, 0].sum()) < 0.4
    assert threes(used).max() < 0.9


def test_five_samples_with_two_say_nothing_of_a_third():
    used = np.zeros((1000, 4), dtype=bool)
    used[:300, 0], used[295:600, 1] = True, True
    used[295:300, 2] = True
    assert threes(used).max() == 0.0
    used[294:295, 1] = used[294:295, 2] = True  # the sixth one
    assert threes(used)[2] > 1.0


def test_fewer_than_three_atoms_are_no_three():
    np.testing.assert_array_equal(threes(uses(100, 2, 4)), 0.0)
    assert len(threes(uses(0, 5, 4))) == 5


@pytest.mark.parametrize("seed", range(3))
def test_silence_is_no_use_together(seed):
    """A third of the samples holds nothing: as many of them stay as independent uses explain."""
    used = uses(1500, 6, seed)
    assert len(with_fewer_silent(used)) == 1500
    silent = np.random.default_rng(seed + 10).random(1500) < 0.3
    used[silent] = False
    kept = with_fewer_silent(used)
    assert abs(len(kept) - 1500 * 0.7) < 120
    np.testing.assert_array_equal(kept.sum(axis=0), used.sum(axis=0))


def test_few_silent_samples_too_many_are_left_and_so_are_those_of_rare_atoms():
    used = uses(1500, 6, 0)
    used[:40] = False
    assert len(with_fewer_silent(used)) == 1500
    rare = uses(1500, 6, 1, density=0.03)
    rare[:400] = False
    assert len(with_fewer_silent(rare)) == 1500
    assert with_fewer_silent(uses(0, 3, 0)).shape == (0, 3)


def test_an_atom_that_comes_with_another_one_alone_is_a_pair_and_no_three():
    used = uses(2000, 6, 5)
    used[:, 1] &= used[:, 0]
    assert used[:, 1].sum() > 20
    assert threes(used).max() < 0.9
