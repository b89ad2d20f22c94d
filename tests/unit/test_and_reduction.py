"""The reduction of AND: exact where it says so, to rank D otherwise, with outliers left out."""

import numpy as np
import pytest
import scipy.sparse as sp

from altmin.algorithms.nonnegative import starts
from altmin.algorithms.nonnegative.and_nmf import AndNmf, lift, restated
from altmin.datasets import add_outliers, make_dir
from altmin.engine import Settings, open_source, run


def state_of(X, **options):
    return run(AndNmf(6, **options), open_source(X), Settings(max_iter=3, seed=0)).state


def leading(X, k):
    return np.linalg.svd(X, full_matrices=False)[2][:k]


def same_span(basis, rows):
    return np.linalg.norm(rows - (rows @ basis) @ basis.T) <= 1e-9 * np.linalg.norm(rows)


@pytest.mark.parametrize("W", [40, 100, 400, 700])
def test_the_span_of_data_without_noise_is_found(W):
    problem = make_dir(500, W, 6, concentration=1.0, random_state=0)
    view = state_of(problem.X).view
    assert view.noiseless and view.basis.shape == (W, 6)
    assert same_span(view.basis, problem.X)


@pytest.mark.parametrize("W", [40, 100, 400, 700])
@pytest.mark.parametrize("sparse", [False, True])
def test_data_with_noise_are_projected_onto_their_leading_directions(W, sparse):
    X = make_dir(500, W, 6, concentration=1.0, noise=1e-3, random_state=0).X
    view = state_of(sp.csr_array(X) if sparse else X).view
    assert not view.noiseless and not view.exact
    assert same_span(view.basis, leading(X, 6))


def test_without_a_proof_the_printed_algorithm_runs_on_the_data():
    problem = make_dir(500, 100, 6, concentration=1.0, noise=1e-6, random_state=0)
    view = state_of(problem.X, start=problem.start, schedule=(0.1, 1.1)).view
    assert view.basis is None and not view.columns
    exact = state_of(problem.codes @ problem.components, start=problem.start, schedule=(0.1, 1.1)).view
    assert exact.exact and exact.columns


@pytest.mark.parametrize("W", [100, 400, 700])
def test_outliers_do_not_turn_the_leading_directions(W):
    problem = make_dir(500, W, 6, concentration=1.0, noise=1e-3, random_state=0)
    X, rows = add_outliers(problem.X, 0.02, scale=10.0, random_state=0)
    view = state_of(X).view
    np.testing.assert_array_equal(view.dropped, rows)
    assert same_span(view.basis, leading(np.delete(X, rows, axis=0), 6))


def test_a_screen_that_would_take_a_fifth_of_the_samples_takes_none():
    problem = make_dir(500, 100, 6, concentration=1.0, random_state=0)
    X, _ = add_outliers(problem.X, 0.4, scale=3.0, random_state=0)
    assert len(state_of(X).view.dropped) == 0


@pytest.mark.parametrize("n_large", [1, 3])
def test_large_samples_that_point_where_others_do_are_kept(n_large):
    problem = make_dir(500, 100, 6, concentration=1.0, noise=1e-3, random_state=0)
    X = problem.X.copy()
    X[:n_large] *= 100
    assert len(state_of(X).view.dropped) == 0


@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_samples_that_carry_a_component_are_kept_and_others_beside_enough_of_them_are_not(noise):
    rng = np.random.default_rng(0)
    problem = make_dir(500, 100, 6, concentration=1.0, random_state=0)
    Z = problem.codes.copy()
    Z[2:, 0] = 0.0  # two samples have the first component, and they are large
    Z[:2] = 30 * np.eye(6)[0] * np.abs(problem.codes).max()
    X = Z @ problem.components
    X = X + noise * np.sqrt(np.mean(X**2)) * rng.standard_normal(X.shape)
    assert len(state_of(X).view.dropped) == 0
    five = run(AndNmf(5), open_source(X), Settings(max_iter=3, seed=0)).state.view
    np.testing.assert_array_equal(five.dropped, [0, 1])
    assert five.lost > 0.5


def test_lifting_gives_the_same_matrix_in_the_coordinates_of_the_data():
    state = state_of(make_dir(500, 100, 6, concentration=1.0, random_state=0).X)
    whole = lift(state)
    np.testing.assert_allclose(whole, state.A @ state.view.basis.T, atol=1e-14)
    assert lift(restated(state, whole)) is whole


@pytest.mark.parametrize("n", [40, 700])
def test_a_pass_that_takes_several_purest_samples_takes_those_that_one_by_one_are_taken(monkeypatch, n):
    rng = np.random.default_rng(0)
    problem = make_dir(n, 60, 8, concentration=0.5, random_state=0)
    X = problem.X + 0.02 * problem.X.std() * rng.standard_normal(problem.X.shape)
    several = starts_of(X)
    monkeypatch.setattr(starts, "_AHEAD", 1)  # nothing is known beyond the first one
    one_by_one = starts_of(X)
    np.testing.assert_array_equal(several.picked, one_by_one.picked)
    assert several.known < one_by_one.known == 7


def starts_of(X):
    """The samples that a fit starts from."""
    found = []

    class Watched(AndNmf):
        def _begin(self, state, A):
            found.append(state.picks)
            return super()._begin(state, A)

    run(Watched(8), open_source(X), Settings(max_iter=1, seed=0))
    return found[0]
