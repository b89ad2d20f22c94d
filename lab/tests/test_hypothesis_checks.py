"""The checks of hypotheses see what breaks them, and the counts stand for the samples that they count."""

from dataclasses import replace

import numpy as np
import pytest

from altmin.datasets import make_planted_sparse, make_sparse_dictionary
from altmin_lab.checks import bounded_codes, gaussian_rows
from altmin_lab.claims.approximate_theorems import planted_check
from altmin_lab.claims.dictionary_complete import BATCH, MANY, NEAR, SPARSE, hypotheses, samples_of
from altmin_lab.literal_dictionaries import algorithm_2, algorithm_3_in_jumps, code_patterns, preconditioner
from altmin_lab.literal_machine import law_of
from altmin_lab.literal_peeling import peel

ROWS = np.random.default_rng(0).standard_normal((4000, 6))
M = law_of(6, np.array([1.0, -1.0]), 0)[1]


def test_gaussian_rows_pass():
    assert gaussian_rows(ROWS, M, 2).met


@pytest.mark.parametrize(
    ("rows", "matrix", "rank"),
    [
        (ROWS + 0.15, M, 2),
        (1.1 * ROWS, M, 2),
        (ROWS @ (np.eye(6) + 0.2 * np.eye(6, k=1)), M, 2),
        (np.sign(ROWS), M, 2),
        (ROWS, M, 1),
        (ROWS, M + np.eye(6, k=1), 6),
    ],
    ids=["mean", "scale", "correlated", "two values", "rank", "not symmetric"],
)
def test_rows_or_laws_that_are_not_as_assumed(rows, matrix, rank):
    assert not gaussian_rows(rows, matrix, rank).met


def test_codes_that_are_too_small_or_have_a_mean():
    codes = make_sparse_dictionary(500, 8, density=0.2, random_state=0).codes
    assert bounded_codes(codes, 0.5).met
    assert not bounded_codes(codes, 0.6).met
    assert not bounded_codes(np.abs(codes), 0.5).met


def test_codes_with_more_nonzeros_than_allowed_or_atoms_of_another_length():
    problem = make_planted_sparse(50, 10, 12, 3, 0.05, random_state=0)
    assert planted_check(problem, 3).met
    assert not planted_check(problem, 2).met
    assert not planted_check(replace(problem, components=2 * problem.components), 3).met


def test_theorem_2_asks_for_samples_sparsity_and_a_start():
    samples = samples_of(4e12, 4, 1 / 5600, 2.0, 0)
    assert all(check.met for check in hypotheses(samples).values())
    assert samples.batch >= 4 * 5600**2
    broken = {
        SPARSE: samples_of(4e12, 4, 1 / 2800, 1.5, 0),
        MANY: samples_of(1e12, 4, 1 / 5600, 2.0, 0),
        NEAR: replace(samples, start=samples.truth + 2 * (samples.start - samples.truth)),
    }
    for name, other in broken.items():
        assert [key for key, check in hypotheses(other).items() if not check.met] == [name]
    assert hypotheses(samples)[BATCH].met


def test_patterns_are_all_codes_with_their_probability():
    codes, likely = code_patterns(3, 0.2)
    assert len(np.unique(codes, axis=0)) == 27
    assert not codes[-1].any()
    assert likely.sum() == pytest.approx(1)
    assert likely @ (codes != 0).mean(axis=1) == pytest.approx(0.2)


def test_counts_stand_for_repeated_samples():
    rng = np.random.default_rng(0)
    Y = code_patterns(3, 0.3)[0] @ rng.standard_normal((3, 3))
    counts = rng.integers(1, 5, len(Y))
    np.testing.assert_allclose(
        preconditioner(Y, 0.3, counts.astype(float)), preconditioner(np.repeat(Y, counts, axis=0), 0.3)
    )


def test_both_algorithms_whiten_and_come_nearer():
    samples = samples_of(4e12, 4, 1 / 5600, 1.5, 0)
    Y, likely = samples.codes @ samples.truth, code_patterns(4, 1 / 5600)[1]
    begin = np.linalg.norm(samples.start - samples.truth)
    how = (samples.start, 0.5, samples.theta)
    *_, batches = algorithm_2(Y, samples.counts, *how, batch=samples.batch, n_passes=3)
    jumps = [4 * samples.batch] * 3
    *_, stream = algorithm_3_in_jumps(Y, likely, *how, int(4e12), samples.batch, jumps)
    for atoms in (batches, stream):
        assert np.linalg.norm(atoms - samples.truth) < 0.01 * begin


def test_the_printed_peeling_takes_one_atom_off_and_the_mended_one_projects():
    X = make_planted_sparse(60, 8, 10, 3, 0.05, coherence=0.5, random_state=0).X
    first, second = (list(peel(X, 0.2, 0.5, 6, printed=printed)) for printed in (True, False))
    before = X
    for r in first:
        taken = before[r.rows]
        np.testing.assert_allclose(r.left[r.rows], taken - np.outer(taken @ r.atom, r.atom), atol=1e-12)
        before = r.left
    used = [r.atom for r in second if 0 in r.rows]
    assert len(used) > 1
    np.testing.assert_allclose(
        np.array(used) @ second[-1].left[0], 0, atol=1e-12
    )  # orthogonal to all its atoms
    used = [r.atom for r in first if 0 in r.rows]
    assert np.abs(np.array(used) @ first[-1].left[0]).max() > 1e-3


def test_the_printed_threshold_depends_on_the_size_of_the_data():
    X = make_planted_sparse(60, 8, 10, 3, 0.05, random_state=0).X
    rows = [[len(next(peel(c * X, 0.2, 0.5, 1, printed=p)).rows) for c in (1, 3)] for p in (False, True)]
    assert rows[0][0] == rows[0][1]
    assert rows[1][0] < rows[1][1]
