"""Tests of residuals see a further law, and don't see one in noise, however uneven."""

import numpy as np
import pytest

from altmin.guarantees.cone_rest import constant_left, noise_error
from altmin.guarantees.curvature import curved, leaning, lost_share, piled_share
from altmin.guarantees.machine_rows import jacobian
from altmin.guarantees.misfit import _over_draws, _thirds, first_of_copies, misfit

LAWS = {
    "cubic": lambda X: X[:, 0] ** 3,
    "kink": lambda X: np.abs(X[:, 1]),
    "wave": lambda X: np.sin(2 * X[:, 0]),
    "three": lambda X: X[:, 0] * X[:, 1] * X[:, 2],
    "jump": lambda X: 3.0 * (X @ np.ones(6) / np.sqrt(6) > 0.5),
    "square": lambda X: X[:, 2] * X[:, 3],
}


def left_over(law, seed, uneven=False):
    """Residual of least squares of a quadratic of rank 1 with a further term, in six features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((1500, 6))
    J = jacobian(X, np.eye(6)[:1])
    noise = rng.standard_normal(1500) * (np.abs(X[:, 0]) if uneven else 1.0)
    y = X[:, 0] ** 2 + 0.5 * X[:, 1] + 0.1 * noise + (0.0 if law is None else 0.1 * LAWS[law](X))
    fitted = J @ np.linalg.lstsq(J, y, rcond=None)[0]
    return misfit(y - fitted, J, (X,), X, fitted)


@pytest.mark.parametrize("law", LAWS)
def test_a_further_term_as_large_as_the_noise_is_seen(law):
    found = left_over(law, 1)
    third = max(found.product, found.ridge)
    assert max(found.shape / 1.2, found.pattern / 5, third / 1.45, found.rank / 1.5) > 1


@pytest.mark.parametrize("uneven", [False, True])
def test_noise_is_taken_for_noise(uneven):
    found = [left_over(None, seed, uneven) for seed in range(8)]
    assert max(one.shape for one in found) <= 1.2
    assert max(one.pattern for one in found) <= 5
    assert max(max(one.product, one.ridge) for one in found) <= 1.45
    assert max(one.rank for one in found) <= 1.5
    assert max(one.steps for one in found) <= 3.7
    assert max(one.neighbour for one in found) <= 4.5
    assert max(one.middle for one in found) <= 4


def test_a_jump_along_any_direction_is_seen_by_half_spaces_in_few_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((250, 4))
    v = rng.standard_normal(4)
    J = jacobian(X, np.eye(4)[:1])
    y = X[:, 0] ** 2 + 1.0 * (X @ v / np.linalg.norm(v) > 0.8) + 0.1 * rng.standard_normal(250)
    fitted = J @ np.linalg.lstsq(J, y, rcond=None)[0]
    found = misfit(y - fitted, J, (X,), X, fitted)
    assert found.steps > 5


def test_the_sizes_of_two_features_that_multiply_are_seen():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((400, 5))
    J = jacobian(X, np.eye(5)[:1])
    sizes = np.abs(X[:, [2, 4]])
    y = X[:, 0] ** 2 + 0.05 * (sizes.prod(axis=1) - 0.3 * sizes.sum(axis=1)) + 0.1 * rng.standard_normal(400)
    fitted = J @ np.linalg.lstsq(J, y, rcond=None)[0]
    found = [misfit(y - fitted, J, (X,), X, fitted, seed=seed) for seed in range(9)]
    assert np.median([one.shape for one in found]) > 1.4  # of any functions that were drawn
    assert np.median([one.steps for one in found]) > 4


@pytest.mark.parametrize("later", [-1, 1])
def test_targets_that_hold_a_part_of_the_next_row_are_seen(later):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 3))
    J = jacobian(X, np.eye(3)[:1])
    f = X[:, 0] ** 2 + X[:, 1]
    y = 0.8 * f + 0.2 * np.roll(f, later) + 0.2 * rng.standard_normal(400)
    fitted = J @ np.linalg.lstsq(J, y, rcond=None)[0]
    assert misfit(y - fitted, J, (X,), X, fitted).neighbour > 6


def test_what_noise_leaves_of_components_follows_least_squares_and_the_noise_of_codes():
    rng = np.random.default_rng(0)
    A = rng.gamma(2.0, size=(3, 30))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    Z = rng.dirichlet(np.full(3, 0.3), 2000)
    X = Z @ A + 0.02 * rng.standard_normal((2000, 30))
    codes = X @ np.linalg.pinv(A)
    found = noise_error(codes, X - codes @ A, A, 2000)
    least = 0.02 * np.sqrt(30 * np.diag(np.linalg.inv(np.maximum(codes, 0).T @ np.maximum(codes, 0))))
    blur = 0.02 * np.linalg.norm(np.linalg.pinv(A), axis=0)
    largest = np.quantile(codes, 0.999, axis=0)
    moved = [
        np.delete(blur, i) @ np.delete(A, i, axis=0) for i in range(3)
    ]  # all facets that meet in a corner
    lean = [np.linalg.norm(v - (v @ a) * a) / size for v, a, size in zip(moved, A, largest, strict=True)]
    np.testing.assert_allclose(found, 0.8 * (least + 0.6 * np.array(lean)), rtol=0.1)
    more = noise_error(codes, X - codes @ A, A, 8000)  # of which these are a sample
    np.testing.assert_allclose(more, 0.8 * (least / 2 + 0.6 * np.array(lean)), rtol=0.1)
    assert np.isinf(noise_error(codes[:, :3], np.zeros((2000, 30)), A, 2000)).all()


def test_nothing_left_over_is_no_evidence():
    found = misfit(np.zeros(50), np.ones((50, 1)), (np.ones((50, 2)),), np.ones((50, 2)), np.zeros(50))
    assert np.isnan(found.shape) and found.unseen == 0


def test_copies_are_found_and_other_rows_kept():
    X = np.random.default_rng(0).standard_normal((40, 3))
    np.testing.assert_array_equal(first_of_copies(np.vstack([X, X, X])), np.arange(40))


@pytest.mark.parametrize("distort", [np.tanh, lambda X: X + 0.1 * X**2])
def test_distorted_sums_are_curved(distort):
    rng = np.random.default_rng(2)
    codes = rng.standard_normal((800, 4)) * (rng.random((800, 4)) < 0.3)
    X = codes @ rng.standard_normal((4, 6))
    noisy = X + 0.05 * rng.standard_normal(X.shape) * rng.exponential(size=(800, 1))
    assert curved(noisy, codes) <= 4
    assert curved(distort(noisy), codes) > 4


def test_values_that_were_cut_pile_up_and_counts_do_not():
    rng = np.random.default_rng(3)
    counts = rng.poisson(rng.gamma(0.5, 10.0, (300, 20))).astype(float)
    assert piled_share(counts) == piled_share(rng.poisson(0.3, (300, 20))) == 0
    assert piled_share(np.minimum(counts, np.quantile(counts, 0.97))) >= 0.01


def test_what_was_filled_in_by_a_mean_and_what_was_cut_in_its_feature_piles_up():
    rng = np.random.default_rng(5)
    for X in (rng.gamma(2.0, size=(500, 20)), rng.poisson(rng.gamma(2.0, 60.0, (500, 20))).astype(float)):
        assert piled_share(X) == 0.0
        filled = np.where(rng.random(X.shape) < 0.1, X.mean(axis=0), X)
        assert 0.05 < piled_share(filled) < 0.15
        assert piled_share(np.clip(X, *np.quantile(X, (0.1, 0.9), axis=0))) > 0.05


def test_values_that_were_lost_are_told_from_zeros_that_noise_and_counting_leave():
    rng = np.random.default_rng(4)
    Z, A = rng.dirichlet(np.full(4, 0.4), 500), rng.gamma(0.3, size=(4, 30))
    noisy = Z @ A + 0.02 * rng.standard_normal((500, 30))
    lost = np.where(rng.random(noisy.shape) < 0.02, 0.0, noisy)
    assert lost_share(np.where(noisy < 0.05, 0.0, noisy), Z @ A) == 0.0
    assert 0.002 < lost_share(lost, Z @ A) < 0.02
    rates = 40 * (Z @ A) * rng.gamma(5.0, 0.2, (500, 30))
    assert lost_share(rng.poisson(rates).astype(float), 40 * Z @ A) <= 0.001
    assert lost_share(np.where(rng.random(rates.shape) < 0.1, 0.0, np.rint(rates)), 40 * Z @ A) > 0.002


@pytest.mark.parametrize("term, within", [(0.0, 0.15), (2.0, 0.01)])
def test_the_largest_product_of_many_features_is_found_without_its_slices(term, within):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((600, 70))
    r = rng.standard_normal(600) + term * X[:, 3] * X[:, 66] * X[:, 68]
    exact = max(np.linalg.norm(X.T @ ((r * X[:, j])[:, None] * X), 2) for j in range(64))
    found, _ = _thirds([X], r)
    assert exact * (1 - within) < found <= exact * (1 + 1e-9)


@pytest.mark.parametrize("lost", [0.0, 0.2])
def test_values_that_were_moved_towards_zero_leave_a_step(lost):
    rng = np.random.default_rng(0)
    codes = rng.standard_normal((1500, 5)) * (rng.random((1500, 5)) < 0.2)
    X = codes @ np.linalg.qr(rng.standard_normal((5, 5)))[0]
    X = np.sign(X) * np.maximum(np.abs(X) - lost, 0.0) + 0.02 * rng.standard_normal(X.shape)
    assert (curved(X, codes) > 4.0) == (lost > 0)


@pytest.mark.parametrize("level", [0.0, 0.02])
def test_a_constant_of_its_own_in_each_sample_is_seen_below_the_noise(level):
    rng = np.random.default_rng(1)
    components = rng.gamma(0.3, size=(4, 40))
    basis = np.linalg.qr(components.T)[0]
    noise = rng.standard_normal((800, 40)) * rng.uniform(0.02, 0.06, 40)
    X = noise + level * rng.uniform(0, 2, (800, 1))
    rest = X - X @ basis @ basis.T
    assert (constant_left(rest, components) > 4.0) == (level > 0)


def test_of_a_constant_among_the_components_nothing_is_said():
    components = np.vstack([np.ones(20), np.eye(20)[:2]])
    assert constant_left(np.random.default_rng(2).standard_normal((50, 20)), components) == 0.0


def test_what_is_left_over_leans_where_a_feature_is_the_larger_of_two():
    rng = np.random.default_rng(0)
    A = np.linalg.qr(rng.standard_normal((9, 9)))[0][:6]
    codes = rng.standard_normal((1500, 6)) * (rng.random((1500, 6)) < 0.2)
    X = codes @ A + 0.05 * rng.standard_normal((1500, 9))
    larger = X.copy()
    larger[:, 0] = np.maximum(X[:, 0], X[:, 1])
    rests = [data - codes @ np.linalg.lstsq(codes, data, rcond=None)[0] for data in (X, larger)]
    assert leaning(rests[0], codes, A) <= 3.5 < leaning(rests[1], codes, A)


def test_missed_codes_of_one_sign_are_no_lean():
    rng = np.random.default_rng(0)
    A = np.linalg.qr(rng.standard_normal((9, 9)))[0][:6]
    codes = rng.exponential(size=(3000, 6)) * (rng.random((3000, 6)) < 0.2)
    X = codes @ A + 0.05 * rng.standard_normal((3000, 9))
    seen = np.where(codes > 1.0, codes, 0.0)
    rest = X - seen @ np.linalg.lstsq(seen, X, rcond=None)[0]
    assert leaning(rest, seen, A) <= 3.5 < leaning(rest, seen * rng.choice([-1, 1], seen.shape), A)


def test_draws_of_chance_end_where_more_decide_nothing():
    asked = []

    def measure(one):
        asked.append(1)
        return (float(one), 0.0)

    assert _over_draws(np.array([2.0, 2.0, 9.0]), measure)[0] == 1.0 and len(asked) == 2
    assert _over_draws(np.array([2.0, 1.0, 0.5, 1.25]), measure)[0] == 1.6  # no draw comes close: all count
