"""Exact zeros end a search after one start, and what thresholds drop is all that a polish has to know."""

from types import SimpleNamespace

import numpy as np
import pytest

from altmin import CompleteDictionaryLearning
from altmin.algorithms.dictionary import polish as polish_module
from altmin.algorithms.dictionary.block_sums import least_squares_decoder
from altmin.algorithms.dictionary.mixed_pairs import fewest_zeros, support_map
from altmin.algorithms.dictionary.starts import nearest_rotation
from altmin.contract import Block
from altmin.datasets import make_sparse_dictionary
from altmin.estimators.dictionary.shared import look_rows
from altmin.kernels.polar import polar
from altmin.kernels.thresholds import split_large
from altmin.metrics import atom_error


def starts_of(model):
    """How many starts a fit has tried."""
    return max(row["start"] for row in model.history_)


def test_exact_zeros_need_no_second_start():
    problem = make_sparse_dictionary(1500, 20, density=0.1, random_state=0)
    model = CompleteDictionaryLearning(random_state=0).fit(problem.X)
    assert starts_of(model) == 1
    assert model.outcome_.kind == "converged"
    assert atom_error(model.components_, problem.components) < 1e-13


def test_noise_still_asks_for_starts_that_agree():
    problem = make_sparse_dictionary(1500, 10, density=0.1, snr_db=30, random_state=0)
    assert starts_of(CompleteDictionaryLearning(random_state=0).fit(problem.X)) >= 2


def test_a_given_threshold_makes_zeros_that_prove_nothing():
    problem = make_sparse_dictionary(1500, 10, density=0.1, random_state=0)
    assert starts_of(CompleteDictionaryLearning(threshold=0.2, random_state=0).fit(problem.X)) >= 2


def test_too_few_samples_ask_for_another_start():
    """Any direction is orthogonal to k - 1 samples: so few zeros say nothing."""
    problem = make_sparse_dictionary(14, 4, density=0.3, kind="gauss", random_state=3)
    assert starts_of(CompleteDictionaryLearning(random_state=0).fit(problem.X)) >= 2


def test_samples_without_any_atom_are_no_zeros():
    X = np.zeros((50, 3))
    X[:4] = [[1.0, 0, 0], [0, 1.0, 0], [2.0, 1.0, 0], [0, 0, 1.0]]
    state = SimpleNamespace(
        decoder=np.eye(3), thresholds=np.full(3, 1e-6), centre=None, levelled=False, scale=1.0
    )
    stats = support_map(None, state, Block(0, 0, X))
    assert stats["active"] == 4
    assert fewest_zeros(stats) == 2  # of the first two atoms; all 46 others use none


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_codes_are_split_into_kept_and_dropped_ones(dtype):
    Z = np.random.default_rng(0).standard_normal((40, 5)).astype(dtype)
    threshold = np.linspace(0.2, 1.5, 5)
    kept, rest, counts, squares = split_large(Z.copy(), threshold)
    large = np.abs(Z) >= threshold.astype(dtype)
    np.testing.assert_array_equal(kept, np.where(large, Z, 0).astype(np.float32))
    np.testing.assert_array_equal(rest, np.where(large, 0, Z).astype(np.float32))
    np.testing.assert_array_equal(counts, large.sum(axis=0))
    np.testing.assert_allclose(squares, np.sum(np.where(large, Z, 0.0) ** 2, axis=0), rtol=1e-6)


def test_least_squares_from_what_was_dropped_is_that_of_all_data():
    rng = np.random.default_rng(0)
    V, W = rng.standard_normal((200, 4)), polar(rng.standard_normal((4, 4)))
    codes = V @ W.T
    Z = np.where(np.abs(codes) > 0.8, codes, 0.0)
    atoms = np.linalg.lstsq(Z, V, rcond=None)[0]
    expected = np.linalg.inv(atoms / np.linalg.norm(atoms, axis=1, keepdims=True)).T
    found, moved = least_squares_decoder(W, Z.T @ Z, Z.T @ (codes - Z))
    np.testing.assert_allclose(found, expected, atol=1e-8)  # up to its ridge
    assert moved == pytest.approx(np.max(np.linalg.norm(expected - W, axis=1)), rel=1e-6)


def test_two_atoms_that_become_one_are_told():
    step = np.array([[0.0, 0.0], [1.0, -1.0]])  # the second atom becomes the first
    assert least_squares_decoder(np.eye(2), np.eye(2), step)[1] == np.inf


@pytest.mark.parametrize("mean", [0.0, 5.0])
def test_single_precision_is_for_passes_that_move_far(mean, monkeypatch):
    seen = []
    rough = polish_module._is_rough

    def noted(state):
        seen.append((state.progress.change if state.progress.passes else 1.0, rough(state)))
        return rough(state)

    monkeypatch.setattr(polish_module, "_is_rough", noted)
    problem = make_sparse_dictionary(2000, 10, density=0.1, random_state=0)
    model = CompleteDictionaryLearning(random_state=0).fit(problem.X + mean)
    assert atom_error(model.components_, problem.components) < 1e-13
    assert any(single for _, single in seen)
    assert all(change > 1e-3 for change, single in seen if single)


def test_single_precision_is_not_for_ill_conditioned_atoms():
    state = SimpleNamespace(
        progress=SimpleNamespace(passes=1, change=0.5),
        frame=SimpleNamespace(energy=1.0),
        noise_gain=np.array([1.0, 1e6]),
    )
    assert not polish_module._is_rough(state)
    state.noise_gain = np.ones(2)
    assert polish_module._is_rough(state)


@pytest.mark.parametrize("lost", [0, 3, 30])
def test_the_nearest_rotation_is_the_polar_factor(lost):
    M = np.random.default_rng(0).standard_normal((30, 30))
    M[:lost] = 0.0
    np.testing.assert_allclose(nearest_rotation(M, np.eye(30)), polar(M, toward=np.eye(30)), atol=1e-6)


def test_the_polish_ends_when_the_next_pass_would_move_by_rounding():
    problem = make_sparse_dictionary(2000, 20, density=0.1, random_state=4)
    history = CompleteDictionaryLearning(random_state=0).fit(problem.X).history_
    moves = np.array([row["change"] for row in history if row["phase"] == "polish"])
    ahead = moves[1:] ** 2 / np.maximum(moves[:-1], moves[1:])
    rounding = 6 * 20 * np.finfo(float).eps
    assert ahead[-1] <= rounding < ahead[:-1].min()


@pytest.mark.parametrize(
    ("n_features", "rows", "full"),
    [
        (20, 20_000, 20_000),
        (100, 4000, 20_000),
        (400, 6000, 6000),
        (1000, 10_000, 10_000),
        (20_000, 1000, 1000),
    ],
)
def test_reports_look_at_rows_that_memory_has_room_for(n_features, rows, full):
    assert (look_rows(n_features), look_rows(n_features, full=True)) == (rows, full)
