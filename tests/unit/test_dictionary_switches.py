"""Atoms that are only on or off make few patterns, but more of them than copies of a few samples do."""

import sys
from pathlib import Path

import numpy as np
import pytest

from altmin import OnlineDictionaryLearning
from altmin.guarantees.dictionary_atoms import atom_facts
from altmin.guarantees.dictionary_follow import followed
from altmin.guarantees.dictionary_pairs import signs_beside, unmet

sys.path.insert(0, str(Path(__file__).parent))
from test_dictionary_pairs import K, N, atoms, noisy, report, unit


def switches(seed=0, density=0.2):
    return (np.random.default_rng(seed).random((N, K)) < density).astype(float)


@pytest.mark.parametrize("level", [0.02, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_atoms_that_are_on_or_off_are_recovered_in_noise(seed, level):
    A = unit(atoms(seed))
    found = report(noisy(switches(seed) @ A, level), A)
    assert found.verdict == "recovered", found.advice


def test_few_samples_many_times_are_no_patterns_of_independent_atoms():
    rng, A = np.random.default_rng(0), unit(atoms())
    again = rng.integers(3 * K, size=N)
    for S in (switches(1), switches(1) * rng.uniform(0.5, 2, (N, K))):
        X = noisy(S[again] @ A, 0.02)
        facts = atom_facts(X, A)
        assert facts.n_distinct < 0.5 * facts.by_chance
        assert report(X, A).verdict != "recovered"


def test_an_atom_and_its_sum_with_another_that_comes_only_with_it_never_meet():
    S = switches(3)
    S[:, 1] *= S[:, 0]
    mixed = S.copy()
    mixed[:, 0] -= S[:, 1]  # the second one's atom is the sum of the two
    found = unmet(mixed)
    assert (found[:2] > 1).all() and (found[2:] <= 1).all()
    assert (unmet(switches(3)) <= 1).all()
    signed = switches(3) * np.random.default_rng(1).choice([-1.0, 1.0], S.shape)
    assert (unmet(signed) == 0).all()  # of either sign: mixtures of these have two sizes


def test_a_sign_that_comes_with_another_atom_tells_of_their_sum():
    S = switches(4, 0.25)
    S[:, 1] *= (S[:, 0] > 0) | (np.random.default_rng(0).random(N) < 0.2)
    assert signs_beside(S).max() == 0
    mixed = S.copy()
    mixed[:, 0] -= S[:, 1]
    found = signs_beside(mixed)
    assert found[:2].min() > 8 and found[2:].max() < found[:2].min()
    signed = S[:, 2:] * np.random.default_rng(1).choice([-1.0, 1.0], (N, K - 2))
    assert signs_beside(signed).max() < 4.5


def test_the_noise_of_codes_of_one_size_is_nothing_to_follow():
    rng = np.random.default_rng(0)
    A, S, level = np.linalg.qr(rng.standard_normal((K, K)))[0], switches(), 0.12
    A = unit(A + 0.4 * np.roll(A, 1, axis=0))
    X = S @ A + level * rng.standard_normal(S.shape)
    Z = X @ np.linalg.pinv(A)
    Z[:, 0] += 0.2 * (X - S @ A)[:, 0]  # a code's mistake is found again in what it leaves
    each, of_all, _ = followed(np.where(S > 0, Z, 0.0), X, A, np.full(K, 0.2))
    assert each.max() < 1 and of_all < 1


def test_the_report_of_a_stream_counts_each_row_once():
    X = noisy(switches() @ unit(atoms()), 0.03)
    model = OnlineDictionaryLearning(K, batch_size=200, random_state=0)
    for start in range(0, N, 200):
        model.partial_fit(X[start : start + 200])
    rows = model._recent
    assert len(np.unique(rows, axis=0)) == len(rows) == N
    assert len(OnlineDictionaryLearning(K, batch_size=200, random_state=0).fit(X)._recent) <= N
