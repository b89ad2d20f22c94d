"""How far a cone can grow: 0 where features pin its corners, and known to be too much as soon as it is."""

import numpy as np
import pytest
from scipy.optimize import linprog

from altmin.guarantees import cone_rest
from altmin.guarantees.cone_rest import ROOM, room
from altmin.kernels.simplex import most_negative


def growth(components):
    found = room(components)
    return found.sum() - found


def test_features_of_one_component_alone_leave_no_room():
    rng = np.random.default_rng(0)
    components = np.hstack([np.eye(5), rng.random((5, 20))])
    np.testing.assert_allclose(room(components), 0.0, atol=1e-9)


@pytest.mark.parametrize("k", [2, 5, 12])
def test_dense_components_have_room(k):
    components = np.random.default_rng(k).random((k, 60)) + 0.5
    assert (growth(components) > ROOM).all()


def test_the_room_of_two_components_is_what_can_be_computed_by_hand():
    """(1, e) and (e, 1) with sum 1: z = (1 + e', -e') stays non-negative up to e' = e / (1 - e)."""
    e = 0.02
    np.testing.assert_allclose(room(np.array([[1, e], [e, 1]])), e / (1 - e), rtol=1e-6)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
def test_an_early_end_changes_no_decision(share, monkeypatch):
    rng = np.random.default_rng(3)
    components = np.hstack([np.eye(6), np.eye(6)]) + share * rng.random((6, 12))
    early = growth(components) > ROOM
    monkeypatch.setattr(cone_rest, "ROOM", np.inf)
    np.testing.assert_array_equal(growth(components) > ROOM, early)


def test_components_of_both_signs_have_no_end():
    assert np.isinf(room(np.random.default_rng(0).standard_normal((3, 9)))).all()


@pytest.mark.parametrize("seed", range(4))
def test_a_feature_of_each_component_bounds_the_room_from_above_and_closely(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    components = np.where(rng.random((8, 90)) < 0.8, 0.0, rng.gamma(0.5, size=(8, 90))) + 1e-4
    quick = room(components)
    monkeypatch.setattr(cone_rest, "_anchored", lambda B, sets: np.full(len(B), np.inf))
    exact = room(components)  # a linear program for each
    assert (quick >= exact - 1e-9).all()
    assert (quick - exact).sum() <= 0.2 * ROOM
    assert (quick > exact + 1e-12).any()  # some were never solved


@pytest.mark.parametrize(("k", "share", "seed"), [(6, 0.008, 0), (6, 0.01, 1), (12, 0.004, 2)])
def test_where_one_feature_of_each_is_not_enough_programs_are_solved(k, share, seed):
    """The bound alone would say that there is room, and there is none."""
    components = np.hstack([np.eye(k)] * 6) + share * np.random.default_rng(seed).exponential(size=(k, 6 * k))
    assert (growth(components) <= ROOM).all()


def solved_by_scipy(B, i):
    k, m = B.shape
    cost = np.where(np.arange(k) == i, 1.0, 0.0)
    bounds = {"A_ub": -B.T, "b_ub": np.zeros(m), "A_eq": np.ones((1, k)), "b_eq": [1.0]}
    return max(-linprog(cost, **bounds, bounds=(-10, None)).fun, 0.0)


@pytest.mark.parametrize("kind", ["sparse", "dense", "zeros and ones", "features twice", "one feature"])
@pytest.mark.parametrize("seed", range(3))
def test_the_room_beyond_a_facet_is_the_optimum_of_a_linear_program(kind, seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 12))
    B = {
        "sparse": rng.dirichlet(np.full(60, 0.2), k),
        "dense": rng.random((k, 60)),
        "zeros and ones": (rng.random((k, 40)) < 0.3).astype(float),
        "features twice": np.tile(rng.exponential(size=(k, 20)), 2),
        "one feature": rng.random((k, 1)),  # the weights' own bound ends it
    }[kind]
    found = [most_negative(B, i) for i in range(k)]
    np.testing.assert_allclose(found, [solved_by_scipy(B, i) for i in range(k)], rtol=1e-6, atol=1e-7)
    assert max(found) > 0
