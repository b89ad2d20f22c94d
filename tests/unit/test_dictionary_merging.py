"""Candidates with noise: when they agree, and what one takes from another."""

from dataclasses import replace

import numpy as np
import pytest

from altmin.algorithms.dictionary.block_sums import whitening
from altmin.algorithms.dictionary.complete import Complete, CompleteState
from altmin.algorithms.dictionary.merging import is_wanted, merged, pool_map, pooled
from altmin.algorithms.dictionary.posterior import Prior
from altmin.algorithms.dictionary.starts import Candidate, Search, alike
from altmin.contract import Block
from altmin.datasets import make_sparse_dictionary


@pytest.fixture(scope="module")
def problem():
    return make_sparse_dictionary(3000, 10, density=0.15, kind="gauss", snr_db=30, random_state=5)


def candidate(problem, wrong, score=0.0):
    """The true atoms but for one, which is a mixture of two others."""
    atoms = problem.components.copy()
    atoms[wrong] = atoms[(wrong + 1) % 10] + atoms[(wrong + 2) % 10]
    atoms[wrong] /= np.linalg.norm(atoms[wrong])
    prior = Prior(problem.noise_std**2, np.ones(10), np.full(10, 0.15), score)
    return Candidate("l1", np.eye(10), atoms, None, np.ones(10), score, problem.noise_std, prior=prior)


def test_a_merged_dictionary_has_the_right_atoms_of_both(problem):
    frame = whitening(problem.X.T @ problem.X / len(problem.X), None)
    state = CompleteState("refine", np.zeros((10, 10)), 0, n_rows=len(problem.X), frame=frame)
    state = pooled(replace(state, search=Search()), candidate(problem, 3), candidate(problem, 7))
    assert len(state.atoms) == 12  # with the right one and the wrong one of the other
    after = merged(state, pool_map(Complete(), state, Block(0, 0, problem.X)))
    assert (after.phase, after.search.kind, after.progress.passes) == ("refine", "merged", 0)
    assert after.noise == pytest.approx(2 * problem.noise_std)
    assert after.prior.variance == pytest.approx(4 * problem.noise_std**2)
    cosine = np.abs(problem.components @ after.atoms.T).max(axis=1)
    assert cosine.min() > 1 - 1e-12


def test_nothing_is_merged_where_the_best_has_all(problem):
    frame = whitening(problem.X.T @ problem.X / len(problem.X), None)
    state = CompleteState("refine", np.zeros((10, 10)), 0, n_rows=len(problem.X), frame=frame)
    best = replace(candidate(problem, 3), atoms=problem.components)
    state = pooled(state, best, candidate(problem, 7))
    assert merged(state, pool_map(Complete(), state, Block(0, 0, problem.X))) is None


def test_candidates_that_differ_in_evidence_do_not_agree(problem):
    best = candidate(problem, 3, score=10.0)
    assert alike(replace(best, score=9.99), best)
    assert not alike(replace(best, score=9.0), best)
    assert not alike(candidate(problem, 7, score=10.0), best)


def test_banks_are_wanted_where_evidence_may_come_from_few_samples(problem):
    frame = whitening(np.eye(50), None)
    gaussian = -0.5 * 50 * (np.log(2 * np.pi) + 1)
    found = candidate(problem, 3)

    def wanted(gain, rows):
        prior = Prior(0.01, np.ones(50), np.full(50, 0.1), gaussian + gain, rows)
        search = Search(best=replace(found, prior=prior))
        return is_wanted(CompleteState("refine", None, 0, frame=frame, search=search), "bank 12")

    # atoms that are all wrong gain 3.4 nats a sample on 2500 samples of dense signs
    assert wanted(3.4, 2500) and not wanted(3.4, 10_000)
    assert wanted(0.5, 10**6) and not wanted(20.0, 2500)
