"""What guarantees measure, held against the formulas in their docstrings, written out in the slowest way."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import nnls

from altmin.algorithms.quadratic.low_rank import UserModel
from altmin.engine import open_source
from altmin.guarantees import dictionary_pairs, machine_rows, measurements, refits, residuals
from altmin.guarantees.cone_rest import code_noise, negative_excess, start_quality, structure_left
from altmin.guarantees.cone_shape import shape
from altmin.guarantees.curvature import curved, piled_share
from altmin.guarantees.misfit import bends, shapes
from altmin.guarantees.quadratic_rules import prequential_ratio
from altmin.guarantees.residuals import (
    attenuation,
    drift,
    gradient_t,
    half_grams,
    influence,
    robust_error,
    robustness,
    singular_ratio,
    white_ratio,
)

RNG = np.random.default_rng(0)
J = RNG.standard_normal((60, 4))
R = RNG.standard_normal(60)


def test_singular_ratio():
    values = np.linalg.svd(J, compute_uv=False)
    assert singular_ratio(J.T @ J) == pytest.approx(values[-1] / values[0])
    assert singular_ratio(np.full((2, 2), 5.0)) == pytest.approx(0.0, abs=1e-7)


def test_gradient_t_is_that_of_a_correlation():
    g = np.abs(RNG.standard_normal(60)) + R**2
    assert gradient_t(R, g) == pytest.approx(abs(stats.pearsonr(R**2, g)[0]) * 60**0.5)
    assert gradient_t(np.zeros(60), g) == gradient_t(R, np.ones(60)) == 0.0


def test_white_ratio_is_large_where_noise_depends_on_features():
    X = RNG.standard_normal((400, 3))
    even = RNG.standard_normal(400)
    assert white_ratio(even, X, X) < 1.5
    assert white_ratio(even * (1 + np.abs(X[:, 0])), X, X) > 2.5
    centred = even**2 - np.mean(even**2)
    drawn = np.random.default_rng(7)
    norms = [np.linalg.norm(X.T @ np.diag(drawn.permutation(centred)) @ X, 2) for _ in range(8)]
    assert white_ratio(even, X, X, seed=7) == pytest.approx(
        np.linalg.norm(X.T @ np.diag(centred) @ X, 2) / max(norms)
    )


@pytest.mark.parametrize("uneven", [False, True])
def test_robust_error_is_the_larger_of_two_standard_errors(uneven):
    r = R * (np.abs(J[:, 0]) ** 3 if uneven else 1.0)
    inverse = np.linalg.inv(J.T @ J)
    plain = np.sum(r**2) / 56 * np.trace(inverse)
    each = sum(r[i] ** 2 * np.sum((inverse @ J[i]) ** 2) for i in range(60)) * 60 / 56
    assert (each > plain) == uneven
    influences = influence(J, inverse)
    assert robust_error(influences, inverse, r, exact=False)[0] == pytest.approx(max(plain, each) ** 0.5)
    assert robust_error(influences, inverse, r, exact=True) == (pytest.approx(plain**0.5), 0.0)


def test_drift_compares_the_steps_of_early_and_late_rows():
    early, late = (np.linalg.lstsq(J[part], R[part], rcond=None)[0] for part in (slice(30), slice(30, None)))
    apart = np.linalg.norm((early - late)[1:])  # the intercept may move
    whole, first, second = (np.trace(np.linalg.inv(part.T @ part)) for part in (J, J[:30], J[30:]))
    more = (first + second) / whole
    assert more > 4  # halves of few rows are worse than their number
    inverse = np.linalg.inv(J.T @ J)
    far = drift(J, half_grams(J), inverse, R, noise=0.1, size=2.0)
    assert far == pytest.approx(apart / 2 / (0.15 * more**0.5))
    assert drift(J, half_grams(J), inverse, R, 0.001, 2.0) == pytest.approx(apart / 2 / 0.01)
    assert drift(J, half_grams(J), 100 * inverse, R, 0.1, 2.0) == pytest.approx(apart / 2 / 0.3)
    assert math.isnan(drift(J[:7], half_grams(J[:7]), inverse, R[:7], 0.1, 1.0))
    assert math.isfinite(drift(J[:8], half_grams(J[:8]), inverse, R[:8], 0.1, 1.0))


def test_attenuation_is_bounded_by_slope_and_size():
    nearly = 1 + 1e-7 * np.random.default_rng(3).standard_normal(4000)
    g = np.column_stack([nearly, 1 + np.abs(np.random.default_rng(1).standard_normal(4000))])
    rng = np.random.default_rng(2)
    r = 0.1 * rng.standard_normal(4000)

    def hidden(r, column, size=1.0, even=True):
        return attenuation(r, g[:, [column]], np.ones((len(r), 1)), size, even)

    # a derivative that hardly varies: only the size of the residual bounds the noise of that feature
    assert hidden(r, 0) == pytest.approx(np.mean(r**2), rel=1e-6)
    assert hidden(r, 0, size=4.0) == pytest.approx(np.mean(r**2) / 4, rel=1e-6)
    # one that does: the slope of squared residuals bounds it further, where noise is even
    assert hidden(r, 1) < 0.6 * hidden(r, 1, even=False)
    noisy = r + 0.1 * rng.standard_normal(4000) * g[:, 1]
    root = np.sqrt(np.mean(g[:, 1] ** 2))
    assert hidden(noisy, 1) == pytest.approx(root * 0.01, rel=0.35)
    assert hidden(noisy, 1) > root * 0.01
    # half of a feature at most
    assert hidden(100 * r, 0) == pytest.approx(1.0, rel=1e-6)


def test_attenuation_is_bounded_by_rows_in_which_other_noise_is_small():
    rng = np.random.default_rng(4)
    x, g = rng.standard_normal(4000), rng.standard_normal((4000, 1))
    r = 0.3 * x * rng.standard_normal(4000)
    plain = np.mean(r**2) / np.sqrt(np.mean(g**2))
    found = attenuation(r, g, x[:, None] ** 2, 1.0, even=False)
    assert found < 0.2 * plain
    # the noise of the feature itself is never bounded away, whatever else there is
    both = r + 0.2 * g[:, 0] * rng.standard_normal(4000)
    assert attenuation(both, g, x[:, None] ** 2, 1.0, even=False) > 0.04 * np.sqrt(np.mean(g**2))


def test_a_hidden_cause_has_to_explain_this_share_of_noise_and_feature():
    share = robustness(size=2.0, sigma=0.5)
    assert share**2 / (1 - share) == pytest.approx((0.1 * 2 / 0.5) ** 2)
    assert robustness(1.0, 1e-9) == pytest.approx(1.0, abs=1e-6)
    assert robustness(1.0, 100.0) == pytest.approx(0.001, rel=0.01)


def test_curved_is_the_t_of_squares_or_cubes():
    codes = RNG.standard_normal((80, 2))
    X = codes @ RNG.standard_normal((2, 3)) + 0.1 * RNG.standard_normal((80, 3))
    fitted = codes @ np.linalg.lstsq(codes, X, rcond=None)[0]
    found = []
    for power in (2, 3):
        term = np.clip(fitted / np.sqrt(np.mean(fitted**2)), -5, 5) ** power
        term = term - codes @ np.linalg.lstsq(codes, term, rcond=None)[0]
        rows = ((X - fitted) * term).sum(axis=1)
        found.append(abs(rows.sum()) / np.sqrt((rows**2).sum()))
    assert curved(X, codes) == pytest.approx(max(found))


@pytest.mark.parametrize(
    ("at_top", "below", "share"),
    [(12, 0, 0.12), (10, 5, 0.1), (9, 0, 0.0), (11, 6, 0.0), (12, 6, 0.12)],
)
def test_a_pile_at_the_top_is_a_cut(at_top, below, share):
    X = np.linspace(0.1, 0.5, 100)
    X[:at_top] = 2.0
    X[at_top : at_top + below] = np.linspace(1.995, 1.999, below)  # less than three thousandths below
    assert piled_share(X.reshape(10, 10)) == share
    assert piled_share(-X.reshape(10, 10)) == share


@pytest.mark.parametrize(("others", "share"), [([6.0], 0.0), ([4.0, 3.0, 2.0, 1.0], 12 / 200)])
def test_steps_of_one_are_near_the_top_of_whole_numbers(others, share):
    X = np.zeros((20, 10))
    X[:12, 0], X[12:, 0] = 7.0, np.resize(others, 8)
    assert piled_share(X) == share  # of the values of its own feature; three steps below is far below


def cone():
    """Codes of three components with an empty fourth: pure samples, pairs, copies, small negative ones."""
    rng = np.random.default_rng(3)
    Z = rng.dirichlet([0.4, 0.4, 0.4], 60)
    Z[:6] = np.repeat(np.eye(3), 2, axis=0) * rng.uniform(0.5, 1, (6, 1))
    Z[10:30, 0] = Z[20:40, 1] = Z[35:55, 2] = 0.0
    Z[:, 2] *= 3.0
    Z[40, 0] = -0.01
    Z = np.vstack([Z, Z[:10], np.zeros((1, 3))])
    components = np.vstack([rng.random((3, 8)), np.zeros(8)])
    components[0, 0] = -0.2
    return np.insert(Z, 3, 0.0, axis=1), components


def test_shape_of_a_cone():
    codes, components = cone()
    found = shape(codes, components)
    Z = codes[:, :3] / np.quantile(codes[:, :3], 0.999, axis=0)
    A = components[:3] / np.linalg.norm(components[:3], axis=1, keepdims=True)
    assert found.empty == 1
    assert found.negative == pytest.approx(-Z.min())
    assert found.condition == pytest.approx(np.linalg.cond(A))
    assert found.smallest == pytest.approx(np.linalg.svd(A)[1][-1])
    assert found.negative_mass == pytest.approx(-A[A < 0].sum() / np.abs(A).sum())
    energy = [np.sum(Z[:, i][Z[:, i] < 0] ** 2) / np.sum(Z[:, i] ** 2) for i in range(3)]
    assert found.negative_share == pytest.approx(max(energy))
    assert found.distinct == refits.distinct(Z).sum() < len(Z) - 10  # neither copies nor the zero row
    zero = max(3 * found.negative, 1e-3)
    kept = Z[refits.distinct(Z)]
    pairs = [
        np.sum((np.abs(kept[:, i]) <= zero) & (kept[:, j] > 0.1))
        for i in range(3)
        for j in range(3)
        if i != j
    ]
    assert found.pairs == min(pairs)
    U = kept / np.linalg.norm(kept, axis=1, keepdims=True)
    spans = []
    for i in range(3):
        on = np.delete(U[np.abs(kept[:, i]) <= zero], i, axis=1)
        spans.append(np.linalg.svd(on, compute_uv=False)[-1] / np.sqrt(len(on)))
    assert found.span == pytest.approx(min(spans))
    positive = np.maximum(Z, 0)
    share = positive / np.maximum(positive.sum(axis=1, keepdims=True), 1e-300)
    np.testing.assert_array_equal(found.pure, [*np.sum(share >= 0.95, axis=0), 0])
    np.testing.assert_array_equal(found.carried, [*np.bincount(share.argmax(axis=1), minlength=3), 0])
    assert not found.piled


def test_level_and_blur_let_small_codes_pass_for_zero():
    codes, components = cone()
    codes = np.maximum(codes, 0.0)
    codes[codes == 0] = 0.01  # as large as an error of the components may leave it
    sharp, loose = shape(codes, components), shape(codes, components, level=0.015)
    assert loose.pairs > sharp.pairs
    assert shape(codes, components, level=0.5).pairs == shape(codes, components, level=0.02).pairs
    blurred = shape(codes, components, blur=np.full(4, 0.03))
    assert blurred.pure.sum() > sharp.pure.sum()
    assert blurred.distinct < sharp.distinct


def test_facets_with_too_few_samples_span_nothing():
    assert shape(np.ones((30, 2)), np.eye(2)).span == 0.0
    assert shape(np.ones((30, 1)), np.ones((1, 3))).span == 1.0
    nothing = shape(np.ones((30, 2)), np.zeros((2, 3)))
    assert (nothing.empty, nothing.span, nothing.condition) == (2, 0.0, np.inf)


def test_a_pile_short_of_a_corner():
    top = np.array([[0.6, 0.4]] * 6 + [[0.1, 0.9], [0.0, 1.0]] * 20)
    assert shape(top, np.eye(2)).piled
    assert not shape(np.vstack([top, [[0.6, 0.0]]]), np.eye(2)).piled  # one that is nearly pure


def test_structure_left_is_one_for_noise():
    noise = RNG.standard_normal((60, 40))
    assert structure_left(noise) == pytest.approx(1.0, abs=0.15)
    assert structure_left(noise + np.outer(np.ones(60), np.ones(40))) > 2
    assert structure_left(noise.T) == pytest.approx(structure_left(noise), rel=0.1)
    rng = np.random.default_rng(0)
    signs = [np.linalg.norm(noise * rng.choice([-1.0, 1.0], noise.shape), 2) for _ in range(3)]
    assert structure_left(noise) == pytest.approx(np.linalg.norm(noise, 2) / np.median(signs))


def test_noise_of_codes_follows_from_that_of_features():
    rng = np.random.default_rng(4)
    components, sizes = rng.random((2, 6)), np.array([0.1, 0.2, 0.3, 0.1, 0.2, 0.3])
    noise = sizes * rng.standard_normal((20_000, 6))
    decoder = np.linalg.pinv(components)
    rest = noise - noise @ decoder @ components
    spread = (noise @ decoder).std(axis=0)
    np.testing.assert_allclose(code_noise(rest, components), spread, rtol=0.35)
    by_hand = np.sqrt((decoder**2).T @ (np.mean(rest**2, axis=0) * 6 / 4))
    np.testing.assert_allclose(code_noise(rest, components), by_hand)
    assert code_noise(np.zeros((5, 6)), components) is None
    assert code_noise(np.ones((5, 2)), np.eye(2)) is None


def test_negative_codes_beyond_noise():
    codes = np.array([[1.0, 1.0], [-0.3, 0.5], [-0.4, -0.1], [0.5, 0.2]])
    noise = np.array([0.2, 0.2])
    size = np.sqrt((0.09 + 0.16) / 2)
    excess = np.sqrt(size**2 - 0.04)
    assert negative_excess(codes, noise, 0.0) == pytest.approx(excess / 0.22)
    unit = np.quantile(codes[:, 0], 0.999)
    assert negative_excess(codes, noise, 0.5) == pytest.approx(excess / (0.5 * unit))
    assert negative_excess(codes, np.zeros(2), 0.0) == pytest.approx(size / (0.005 * unit))


def test_quality_of_a_start():
    A = np.array([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    assert start_quality(A, 5 * A) == pytest.approx((0.0, 0.0))
    mixed, outside = start_quality(np.array([[3.0, 0.6, 0.0], [0.0, 0.6, 0.8]]), A)
    assert mixed == pytest.approx(0.2)
    assert outside == pytest.approx(0.8)


@pytest.mark.parametrize("by_size", [False, True])
def test_distinct_rows_are_those_of_all_pairs(by_size):
    rng = np.random.default_rng(5)
    Z = rng.standard_normal((50, 3))
    Z = np.vstack([Z, Z[:10] * rng.uniform(1.5, 3, (10, 1)), -Z[10:20], Z[20:30] + 1e-5, np.zeros((2, 3))])
    kept = []
    for row in Z:
        size = np.linalg.norm(row)

        def same(other, row=row, size=size):
            near = min(np.linalg.norm(row / size - s * other / np.linalg.norm(other)) for s in (1, -1))
            apart = abs(np.log(size / np.linalg.norm(other))) if by_size else 0.0
            return np.hypot(near, apart) < 1e-3

        kept.append(bool(size > 0 and not any(same(Z[i]) for i in np.flatnonzero(kept))))
    np.testing.assert_array_equal(refits.distinct(Z, by_size=by_size), kept)


def test_distinct_rows_of_a_design_are_counted():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((300, 4))
    assert refits.count_distinct(open_source(np.vstack([X, X[:100]]))) == 300
    units = X.std(axis=0)
    assert refits.count_distinct(open_source(np.vstack([X, X])), X.mean(axis=0), units) == 300
    U, V = np.repeat(X[:20], 2, axis=0), np.vstack([X[:20], X[20:40]])
    assert refits.count_distinct(open_source(U, None, None, V)) == 40  # designs that differ to the right
    many = rng.standard_normal((9000, 2))
    assert refits.count_distinct(open_source(many)) == pytest.approx(9000, rel=0.01)
    half = refits.count_distinct(open_source(rng.permutation(np.repeat(many[:4500], 2, axis=0))))
    assert half == pytest.approx(4500, rel=0.01)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_rows_are_distinct_by_what_the_units_of_their_columns_say(size):
    """A cell is a thousandth of a unit: steps of a tenth of it are one row, steps of a hundred are many."""
    rng = np.random.default_rng(7)
    units = size * np.array([1.0, 1e3, 1e-3, 1.0])
    base = rng.standard_normal(4)
    for step, n in ((1e-5, 1), (0.1, 200)):
        X = (base + step * np.arange(200)[:, None]) * units
        found = refits.count_distinct(open_source(X), base * units, units)
        assert (found == n) if n > 1 else (found <= 6)
    steps = 3e-5 * np.arange(200)[:, None] * np.repeat(units, 100)  # cells are no finer for many columns
    assert refits.count_distinct(open_source(steps), None, np.repeat(units, 100)) <= 40


def test_worst_sines_are_those_of_the_worst_refit():
    A = np.eye(3)
    turned = A.copy()
    turned[0] = [np.cos(0.1), np.sin(0.1), 0.0]
    np.testing.assert_allclose(refits.worst_sines([A, turned], A), [np.sin(0.1), 0, 0], atol=1e-12)
    np.testing.assert_array_equal(refits.worst_sines([A, A[:2]], A), np.ones(3))


def test_a_surrogate_has_the_second_moments_and_nothing_else():
    X = RNG.laplace(size=(4000, 3)) @ RNG.standard_normal((3, 3))
    drawn = refits.gaussian_surrogate(open_source(X))
    assert drawn.shape == X.shape
    np.testing.assert_allclose(drawn.T @ drawn / 4000, X.T @ X / 4000, rtol=0.15, atol=0.2)
    assert stats.kurtosis(drawn).max() < 0.5


def test_further_functions():
    u = np.array([[0.5, -2.0], [7.0, -9.0]])
    c = np.array([[0.5, -2.0], [5.0, -5.0]])
    np.testing.assert_allclose(shapes(u), np.hstack([c**3, c**4, np.abs(c), np.tanh(c)]))
    fitted = np.arange(101.0)
    found, f = bends(fitted), (fitted - 50) / fitted.std()
    np.testing.assert_allclose(found[:, :2], np.column_stack([f**2, f**3]))
    levels = [0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98]
    np.testing.assert_allclose(found[:, 2:], np.maximum(f[:, None] - np.quantile(f, levels), 0.0))


def test_the_fall_of_errors_is_seen_until_the_floor():
    assert prequential_ratio([1.0, 0.25, 0.0625, 0.01, 0.02, 0.03], 6) == pytest.approx(0.5)
    assert prequential_ratio([1.0, 0.25, 0.0625, 0.01], 3) == pytest.approx(0.5)
    assert math.isnan(prequential_ratio([1.0, 0.25], 2))
    assert math.isnan(prequential_ratio([1.0, 2.0, 3.0, 4.0], 4))
    assert math.isnan(prequential_ratio([], 0))


def model(rng, k):
    factors = np.linalg.qr(rng.standard_normal((5, k)))[0].T
    return UserModel(np.zeros(5), 1.0, rng.standard_normal(5), factors, rng.uniform(1, 2, k))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_jacobian_spans_what_a_machine_can_do(k):
    rng = np.random.default_rng(7)
    X, one = rng.standard_normal((200, 5)), model(rng, k)
    found = machine_rows.jacobian(X, one.factors)
    assert found.shape[1] == machine_rows.n_parameters(5, k) == np.linalg.matrix_rank(found)
    for _ in range(5):  # a change of factors of any kind is a change along its columns, to first order
        move = 1e-6 * rng.standard_normal(one.factors.shape)
        moved = np.square(X @ (one.factors + move).T) @ one.eigenvalues
        change = (moved - np.square(X @ one.factors.T) @ one.eigenvalues) / 1e-6
        left = change - found @ np.linalg.lstsq(found, change, rcond=None)[0]
        assert np.linalg.norm(left) < 1e-4 * np.linalg.norm(change)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("pair", [False, True])
def test_tangents_have_as_many_columns_as_parameters(k, pair):
    rng = np.random.default_rng(8)
    L, right = rng.standard_normal((k, 5)), rng.standard_normal((k, 4))
    S, T = rng.standard_normal((300, 5)), rng.standard_normal((300, 4)) if pair else None
    found = measurements.tangent(S, L, T, right if pair else L)
    p = measurements.n_parameters(k, 5, 4 if pair else 0)
    assert found.shape[1] == p == np.linalg.matrix_rank(found)


def test_difference_of_machines():
    rng = np.random.default_rng(9)
    one, other, unit = model(rng, 2), model(rng, 2), rng.uniform(0.5, 2, 5)

    def matrix(m):
        return (m.factors.T * m.eigenvalues) @ m.factors

    scale = np.outer(unit, unit)
    gap = np.hypot(
        np.linalg.norm((matrix(one) - matrix(other)) * scale),
        np.linalg.norm((one.slope - other.slope) * unit),
    )
    size = np.hypot(np.linalg.norm(matrix(one) * scale), np.linalg.norm(one.slope * unit))
    assert machine_rows.difference(one, other, unit) == pytest.approx(gap / size)
    assert machine_rows.difference(one, one, unit) == pytest.approx(0.0, abs=1e-12)


def test_rows_to_look_at_are_at_least_six_a_parameter_and_not_too_many():
    assert machine_rows.rows_to_look_at(10) == 50_000
    assert machine_rows.rows_to_look_at(100) == 10_000
    assert machine_rows.rows_to_look_at(100, full=True) == 40_000
    assert machine_rows.rows_to_look_at(1000) == 6000


def test_directions_in_which_a_machine_may_miss_something():
    """Along the slope, along each factor, and each feature; all of spread 1, but for constant ones."""
    S, unit = RNG.standard_normal((50, 3)) * [1.0, 2.0, 0.0], np.array([1.0, 0.5, 2.0])
    model = UserModel(np.zeros(3), 0.0, np.array([1.0, -1.0, 0.3]), np.eye(3)[:2] + 0.1, np.ones(2))
    found = machine_rows._directions(S, model, unit)
    across = np.column_stack([(S * unit) @ model.slope, (S * unit) @ model.factors.T, S])
    assert found.shape == (50, 6)
    np.testing.assert_allclose(found[:, :5], across[:, :5] / across[:, :5].std(axis=0))
    assert not found[:, 5].any()


def test_the_size_of_noise_is_the_best_sum_of_an_even_part_and_functions():
    """None of them negative; functions of any size say the same."""
    rng = np.random.default_rng(3)
    spread = rng.random((80, 3)) * [1.0, 100.0, 1e-3]
    squares = (0.3 + 0.02 * spread[:, 1]) * rng.chisquare(1, 80)
    terms = np.column_stack([np.ones(80), spread])
    expected = terms @ nnls(terms, squares)[0]
    np.testing.assert_allclose(residuals._variance(squares, spread), expected, rtol=1e-6)
    np.testing.assert_allclose(residuals._variance(squares, 7 * spread), expected, rtol=1e-6)
    assert np.ptp(expected) > 0.1


@pytest.mark.parametrize("together", [3, 4, 5])
@pytest.mark.parametrize("alone", [3, 4, 5])
def test_sizes_are_compared_where_a_few_samples_have_both_atoms_and_a_few_have_one(together, alone):
    rng = np.random.default_rng(0)
    U = np.zeros((40, 2))
    U[: together + alone, 0] = 1.0 + 0.1 * rng.random(together + alone)
    U[:together, 1] = 2.0
    U[:together, 0] *= 5.0
    used = U != 0
    both = used.T.astype(float) @ used
    t = dictionary_pairs._sizes(U, used, both)
    assert (t[0, 1] != 0) == (together >= 4 and alone >= 4)
    if t[0, 1]:
        logs = np.log(U[: together + alone, 0])
        on, off = logs[:together], logs[together:]
        within = max((on.var() * together + off.var() * alone) / (together + alone), 1e-4)
        expected = (on.mean() - off.mean()) / np.sqrt(within * (1 / together + 1 / alone))
        assert t[0, 1] == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize("unit", [1e-14, 1.0, 1e14])
def test_a_matrix_is_singular_by_the_spread_of_its_values_not_by_their_size(unit):
    G = np.diag([1.0, 4.0, 9.0]) + 0.5
    lower = np.tril(dictionary_pairs._inverse(unit * G))
    np.testing.assert_allclose(lower, np.tril(np.linalg.inv(G)) / unit, rtol=1e-9)
    assert dictionary_pairs._inverse(unit * np.diag([1.0, 1.0, 0.5e-12])) is None
    assert dictionary_pairs._inverse(unit * np.diag([1.0, 1.0, 2e-12])) is not None
    assert dictionary_pairs._inverse(-unit * G) is None
