"""What comes with an atom, and doubts of all sorts."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from altmin.guarantees.dictionary_atoms import atom_facts
from altmin.guarantees.dictionary_doubts import doubts
from altmin.guarantees.dictionary_shadow import _largest, shadows

sys.path.insert(0, str(Path(__file__).parent))
from noisy_codes import K, problem


def seen(rng, A, S, level, clean):
    X = clean + level * rng.standard_normal(clean.shape)
    return shadows(S, X, A, np.full(len(A), level))


@pytest.mark.parametrize(("k", "d"), [(6, 6), (6, 12), (40, 40), (30, 60)])
def test_nothing_follows_atoms_that_made_the_samples(k, d):
    for seed in range(3):
        rng, A, S, level = problem(seed, k, d)
        assert np.nanmax(seen(rng, A, S, level, S @ A)) < 1.0


@pytest.mark.parametrize(("k", "d"), [(6, 6), (40, 40)])
def test_an_atom_that_looks_another_way_where_it_is_negative_has_a_shadow(k, d):
    rng, A, S, level = problem(1, k, d)
    other = rng.standard_normal(d) / np.sqrt(d)
    X = S @ A + 0.5 * np.outer(np.sign(S[:, 0]) * S[:, 0], other)
    found = seen(rng, A, S, level, X)
    assert found[0] > 1.0 and np.nanmax(found[1:]) < 1.0


def test_small_codes_that_a_pursuit_gives_a_shadow_do_not_hide_it():
    rng, A, S, level = problem(2)
    with_it = S.copy()
    with_it[:, 1] += 0.25 * np.abs(S[:, 0])  # of a sixth of its own size at most, so that no code is large
    small = np.abs(with_it) <= 4 * level
    codes = np.where(small, with_it, S)
    assert seen(rng, A, codes, level, with_it @ A)[0] > 1.0


def test_a_few_samples_tell_nothing():
    rng, A, S, level = problem(3)
    S[np.flatnonzero(S[:, 2])[5:], 2] = 0.0
    S[:, 4] = 2.0  # nor does an atom that is always there
    found = seen(rng, A, S, level, S @ A)
    assert np.isnan(found[[2, 4]]).all() and not np.isnan(found[[0, 1, 3, 5]]).any()
    assert np.isnan(shadows(np.zeros((0, K)), np.zeros((0, K)), A, np.ones(K))).all()
    assert np.isnan(shadows(S, S @ A, A, np.full(K, 1e-9))).all()  # nothing is left over


def test_steps_lead_to_the_largest_eigenvalue():
    rng = np.random.default_rng(4)
    R, weight = rng.standard_normal((200, 50)).astype(np.float32), rng.random(200).astype(np.float32)
    R += 0.5 * rng.standard_normal((200, 1)).astype(np.float32)
    base = np.eye(50)
    exact = np.linalg.eigvalsh((R.T * weight) @ R - weight.sum() * base)[-1]
    assert _largest(R, weight, base) == pytest.approx(exact, rel=0.02)


def test_loud_samples_count_as_others_do():
    rng, A, S, level = problem(5)
    X = S @ A
    X[np.flatnonzero(S[:, 0])[:3]] += 30 * level * rng.standard_normal((3, K))
    assert np.nanmax(seen(rng, A, S, level, X)) < 1.0


def test_doubts_of_one_atom_are_its_own_and_one_number_alone_never_objects():
    rng, A, S, level = problem(6)
    facts = atom_facts(S @ A + level * rng.standard_normal(S.shape), A)
    calm = doubts(facts, np.zeros(K), K)
    assert calm.max() < 2.0
    alone = doubts(facts, np.where(np.arange(K) == 2, 50.0, 0.0), K)
    assert alone - calm == pytest.approx(np.where(np.arange(K) == 2, 2.6, 0.0))


def test_doubts_about_all_count_for_each():
    rng, A, S, level = problem(7)
    facts = atom_facts(S @ A + level * rng.standard_normal(S.shape), A)
    more = replace(facts, curved=2.5, tied=3.0, lean=0.0, multiplied=0.0)
    none = replace(facts, curved=0.0, tied=-3.0, lean=0.0, multiplied=0.0)
    assert doubts(more, np.zeros(K), K) - doubts(none, np.zeros(K), K) == pytest.approx(np.full(K, 2.0))
    unknown = replace(none, curved=np.nan)
    assert doubts(unknown, np.zeros(K), K) == pytest.approx(doubts(none, np.zeros(K), K))
