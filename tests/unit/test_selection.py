"""The number of components: the true one is suggested, and the curve says why."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from altmin import (
    AND,
    CompleteDictionaryLearning,
    align_components,
    bootstrap_components,
    select_n_components,
)
from altmin.datasets import make_dir, make_neg, make_scene, make_sparse_dictionary
from altmin.selection.spectrum import spectrum


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", [make_dir, make_neg])
def test_the_true_number_is_found_without_noise(make, seed):
    X = make(600, 40, 5, random_state=seed).X
    result = select_n_components(AND(2, max_iter=60), X, range(4, 8))
    assert result.n_components == 5 and result.confidence in ("high", "moderate")
    assert result.guarantee is not None and result.spectrum.rank == 5
    assert [row["n_components"] for row in result.curve] == [4, 5, 6, 7]


@pytest.mark.parametrize("seed", range(2))
def test_the_true_number_is_found_under_noise(seed):
    cube = make_scene(40, 40, 40, 4, snr=30, random_state=seed).cube
    result = select_n_components(AND(2), cube.reshape(-1, 40), range(3, 7))
    assert result.n_components == 4
    assert result.spectrum.above_noise >= 4


@pytest.mark.slow
def test_the_true_number_of_atoms_is_found():
    problem = make_sparse_dictionary(1500, 8, 8, random_state=0)
    X = problem.X @ np.linalg.qr(np.random.default_rng(1).standard_normal((20, 8)))[0].T
    result = select_n_components(CompleteDictionaryLearning(random_state=0), X, range(2, 17))
    assert result.n_components == 8


def test_a_search_downwards_fits_few_and_finds_the_same():
    X = make_neg(600, 40, 5, random_state=0).X
    full = select_n_components(AND(2, max_iter=50), X, range(2, 9), n_splits=1, search="all")
    down = select_n_components(AND(2, max_iter=50), X, range(2, 9), n_splits=1, search="down")
    assert down.n_components == full.n_components == 5


def test_nothing_stable_is_said_with_low_confidence():
    X = np.random.default_rng(0).standard_normal((300, 12))
    result = select_n_components(AND(2, max_iter=20), X, [3, 6, 9])
    assert result.confidence == "low"


def test_a_stable_largest_candidate_leaves_the_question_open():
    X = make_neg(500, 30, 6, random_state=0).X
    result = select_n_components(AND(2, max_iter=60), X, [6])
    assert result.n_components == 6 and result.confidence == "low"
    assert "there may be more" in result.reason and "6 components" in str(result)


def test_holes_and_sparse_tables_are_accepted():
    X = make_dir(500, 30, 4, concentration=1.0, random_state=0).X
    few = {"candidates": [3, 4, 5], "n_splits": 1}
    assert select_n_components(AND(2, max_iter=50), sp.csr_array(X), **few).n_components == 4
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    result = select_n_components(AND(2, missing="mask", max_iter=50), X, **few)
    assert result.n_components == 4 and result.spectrum is None


def test_the_noise_edge_separates_signal_from_white_noise():
    rng = np.random.default_rng(0)
    signal = 30 * rng.standard_normal((400, 3)) @ np.linalg.qr(rng.standard_normal((60, 3)))[0].T
    assert spectrum(signal + rng.standard_normal((400, 60)), 10).above_noise == 3
    assert spectrum(rng.standard_normal((400, 60)), 10).above_noise <= 1
    assert spectrum(signal, 10).rank == 3


def test_aligned_components_have_the_order_and_signs_of_the_reference():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((6, 10))
    order, signs = rng.permutation(6), rng.choice([-1.0, 1.0], 6)
    aligned = align_components((A * signs[:, None])[order], A)
    np.testing.assert_allclose(aligned.components, A)
    assert aligned.worst < 1e-12
    np.testing.assert_array_equal(order[aligned.order], np.arange(6))
    assert align_components(np.vstack([A, A[:1] + 1]), A).order.shape == (6,)


def test_a_component_that_is_zero_is_at_a_right_angle():
    A = np.eye(3)
    B = A.copy()
    B[2] = 0
    assert align_components(B, A).worst == pytest.approx(np.pi / 2)


def test_bootstrap_shows_which_component_is_loose():
    rng = np.random.default_rng(0)
    problem = make_dir(400, 30, 3, concentration=1.0, random_state=0)
    tight = bootstrap_components(AND(3), problem.X, n_resamples=4)
    noisy = problem.X + 0.02 * rng.standard_normal(problem.X.shape)
    loose = bootstrap_components(AND(3), noisy, n_resamples=4)
    assert tight.angles.max() < 1e-3 < loose.angles.max()
    assert loose.spread.shape == (3, 30) and loose.angle().shape == (3,)
    low, high = loose.interval()
    assert np.all(low <= high)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"candidates": []}, "candidates="),
        ({"candidates": [0, 2]}, "candidates="),
        ({"search": "up"}, "search='up'"),
        ({"X": np.ones((2, 3))}, "2 sample"),
        ({"X": [["a", "b"]]}, "table of numbers"),
    ],
)
def test_errors_name_what_is_wrong(change, message):
    arguments = {"estimator": AND(2), "X": np.ones((20, 5)), "candidates": [2], **change}
    with pytest.raises(ValueError, match=message):
        select_n_components(**arguments)
    with pytest.raises(ValueError, match="n_resamples=1"):
        bootstrap_components(AND(2), np.ones((20, 5)), n_resamples=1)


def test_counts_say_how_many_components_by_what_was_held_out():
    rng = np.random.default_rng(3)
    A = rng.dirichlet(np.full(60, 0.1), 4)
    X = rng.poisson(rng.dirichlet(np.full(4, 0.3), 120) @ A * 1500).astype(float)
    result = select_n_components(AND(2), X, [2, 3, 4, 5], n_splits=1)
    assert result.n_components == 4
    assert all(np.isfinite(row["held_out"]) for row in result.curve)
    few = rng.poisson(rng.dirichlet(np.full(4, 0.3), 40) @ A * 12).astype(float)
    weak = select_n_components(AND(2, noise="poisson"), few, [2, 3, 4, 5], n_splits=1)
    assert weak.confidence == "low" and "cannot tell" in weak.reason
