"""Steps of second order and the residuals of quadratics, against their definitions."""

import numpy as np
import pytest

from altmin.kernels.quadratic_rows import residual_rows, sweep_rows
from altmin.kernels.second_order import lbfgs_direction, lbfgs_remember, marquardt_step

RNG = np.random.default_rng(0)


def inverse_hessian(pairs, p):
    """BFGS as it is printed: the inverse Hessian, updated pair by pair."""
    s, y = pairs[-1]
    H = np.eye(p) * (s @ y) / (y @ y)
    for s, y in pairs:
        rho = 1 / (s @ y)
        left = np.eye(p) - rho * np.outer(s, y)
        H = left @ H @ left.T + rho * np.outer(s, s)
    return H


@pytest.mark.parametrize("m", [1, 2, 5])
def test_directions_are_those_of_bfgs(m):
    A = RNG.standard_normal((6, 6))
    steps = RNG.standard_normal((m, 6))
    pairs = np.stack([steps, steps @ (A @ A.T + np.eye(6))], axis=1)
    gradient = RNG.standard_normal(6)
    np.testing.assert_allclose(lbfgs_direction(gradient, pairs), -inverse_hessian(pairs, 6) @ gradient)


def test_without_pairs_descent_is_steepest():
    gradient = RNG.standard_normal(4)
    np.testing.assert_array_equal(lbfgs_direction(gradient, None), -gradient)
    np.testing.assert_array_equal(lbfgs_direction(gradient, np.empty((0, 2, 4))), -gradient)


def test_pairs_of_positive_curvature_are_kept_up_to_the_memory():
    one = lbfgs_remember(None, np.array([1.0, 0]), np.array([2.0, 1.0]))
    np.testing.assert_array_equal(one, [[[1.0, 0.0], [2.0, 1.0]]])
    bent = lbfgs_remember(one, np.array([0.0, 1.0]), np.array([0.0, -1.0]))
    np.testing.assert_array_equal(bent, one)
    pairs = one
    for number in range(2, 6):
        pairs = lbfgs_remember(pairs, np.full(2, float(number)), np.full(2, 1.0), memory=3)
    np.testing.assert_array_equal(pairs[:, 0, 0], [3.0, 4.0, 5.0])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rule", ["start", "step"])
@pytest.mark.parametrize("height", [4, 7, 50])
def test_residuals_and_what_they_are_multiplied_back_with(weighted, rule, height):
    n, d, k = 20, 5, 2
    first = 0 if rule == "start" else 2 * k + 1
    X, factors = RNG.standard_normal((n, d)), RNG.standard_normal((d, 2 * k + 2 if first == 0 else 3 * k + 1))
    offset, target = RNG.standard_normal(factors.shape[1]), RNG.standard_normal(n)
    weight = RNG.random(n) if weighted else np.empty(0)
    P = X @ factors - offset
    r = target - 0.5 - P[:, 2 * k] - np.sum(P[:, :k] * P[:, k : 2 * k], axis=1)
    w = weight if weighted else np.ones(n)
    B = (w * r)[:, None] * P[:, first : first + k]
    if first == 0:
        B = np.column_stack([B, w * r])
    found, linear, sums = np.empty(n), np.zeros(n), np.ones(B.shape[1])
    back = np.ones((B.shape[1], d))
    sweep_rows(X, factors, offset, target, weight, k, first, 0.5, height, found, linear, back, sums)
    np.testing.assert_allclose(found, r)
    np.testing.assert_allclose(sums, 1 + B.sum(axis=0))
    np.testing.assert_allclose(back, 1 + B.T @ X)
    np.testing.assert_allclose(linear, target - P[:, 2 * k + 1] if first == 0 else 0.0)
    alone = np.empty_like(B)
    residual_rows(X @ factors, offset, target, weight, k, first, 0.5, found, linear, alone, sums)
    np.testing.assert_allclose(alone, B)


@pytest.mark.parametrize("mu", [0.0, 0.1, 10.0])
def test_damped_steps_and_the_fall_that_they_predict(mu):
    J, r = RNG.standard_normal((20, 4)), RNG.standard_normal(20)
    step, fall = marquardt_step(J.T @ J, J.T @ r, mu)
    damped = J.T @ J + mu * np.diag(np.diag(J.T @ J))
    np.testing.assert_allclose(step, np.linalg.solve(damped, J.T @ r), rtol=1e-6)
    assert fall == pytest.approx(r @ r - np.sum((r - J @ step) ** 2))


def test_pairs_correct_second_derivatives_of_elsewhere():
    A = RNG.standard_normal((20, 6))
    J, Jr = RNG.standard_normal((9, 6)), RNG.standard_normal(6)
    pairs = np.stack([s := RNG.standard_normal((3, 6)), s @ (A.T @ A)], axis=1)
    H = np.linalg.inv(J.T @ J + 0.1 * np.diag(np.diag(J.T @ J)))
    for one, change in pairs:
        rho = 1 / (one @ change)
        left = np.eye(6) - rho * np.outer(one, change)
        H = left @ H @ left.T + rho * np.outer(one, one)
    step, fall = marquardt_step(J.T @ J, Jr, 0.1, pairs)
    np.testing.assert_allclose(step, H @ Jr, rtol=1e-6)
    assert fall == pytest.approx(Jr @ H @ Jr, rel=1e-6)


@pytest.mark.parametrize(("rounding", "off"), [(1e-8, 1e-3), (1e-5, 1e-2), (1e-2, 1.0)])
def test_rounding_along_collinear_columns_spoils_no_step(rounding, off):
    """What is 0 but for rounding may come out below it, and further than the damping reaches."""
    rng = np.random.default_rng(0)
    J, r = rng.standard_normal((20, 4)), rng.standard_normal(20)
    v = np.array([0.5, 0.5, 0.5, -0.5])
    J -= np.outer(J @ v, v)
    JJ, Jr = J.T @ J, J.T @ r
    step, fall = marquardt_step(JJ - rounding * np.linalg.norm(JJ, 2) * np.outer(v, v), Jr, 1e-9)
    exact = np.linalg.pinv(JJ, rcond=1e-9) @ Jr
    assert 0 < fall <= Jr @ exact * (1 + 1e-9)
    assert np.linalg.norm(step - exact) < off * np.linalg.norm(exact)


def test_no_damping_makes_a_hill_a_valley():
    with pytest.raises(np.linalg.LinAlgError, match="positive"):
        marquardt_step(-np.eye(2), np.ones(2), 1.0)
