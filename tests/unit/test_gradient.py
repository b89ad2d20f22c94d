"""The closed form of many gradient steps equals taking them."""

import numpy as np
import pytest

from altmin.kernels.gradient import gradient_steps


def explicit_steps(A, G, B, n_steps, step):
    for _ in range(n_steps):
        A = A + step * (B - G @ A)
    return A


def problem(seed, singular):
    rng = np.random.default_rng(seed)
    Z = rng.random((50, 8)) * (rng.random((50, 8)) < 0.4)
    if singular:
        Z[:, 2] = 0.0  # a dead component
        Z[:, 5] = Z[:, 6]  # a duplicated one
    Y = rng.standard_normal((50, 12))
    return rng.standard_normal((8, 12)), Z.T @ Z, Z.T @ Y


@pytest.mark.parametrize("singular", [False, True])
@pytest.mark.parametrize("n_steps", [1, 7, 50])
@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_closed_form_equals_explicit_steps(seed, n_steps, singular, share):
    A, G, B = problem(seed, singular)
    step = share / np.linalg.eigvalsh(G)[-1]
    expected = explicit_steps(A, G, B, n_steps, step)
    np.testing.assert_allclose(gradient_steps(A, G, B, n_steps, step), expected, rtol=0, atol=1e-12)


def test_the_automatic_step_is_one_over_the_largest_eigenvalue():
    A, G, B = problem(0, False)
    expected = explicit_steps(A, G, B, 50, 1 / np.linalg.eigvalsh(G)[-1])
    np.testing.assert_allclose(gradient_steps(A, G, B, 50), expected, rtol=0, atol=1e-12)


def test_infinitely_many_steps_are_least_squares():
    A, G, B = problem(1, False)
    np.testing.assert_allclose(gradient_steps(A, G, B, None), np.linalg.solve(G, B), atol=1e-10)


def test_a_dead_component_stays_as_it_was():
    A, G, B = problem(2, True)
    np.testing.assert_allclose(gradient_steps(A, G, B, None)[2], A[2], atol=1e-14)


def test_no_codes_at_all_change_nothing():
    A = np.ones((2, 3), np.float32)
    after = gradient_steps(A, np.zeros((2, 2)), np.zeros((2, 3)), 50)
    np.testing.assert_array_equal(after, A)
    assert after.dtype == np.float32
