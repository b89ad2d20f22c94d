"""What lies outside of the components' span: noise of any size, or something of its own."""

import numpy as np
import pytest

from altmin.guarantees.chance import deviations, follows
from altmin.guarantees.cone_outside import Outside, look_outside
from altmin.guarantees.cone_rest import structure_left
from altmin.guarantees.curvature import lost_share

RNG = np.random.default_rng(3)
A = RNG.gamma(0.3, size=(5, 60))
Z = RNG.dirichlet(np.full(5, 0.5), 700)
T = np.linspace(0, 1, len(Z))[:, None]


def counted(mean, depth=1500, seed=0):
    rate = mean / mean.sum(axis=1, keepdims=True) * depth
    return np.random.default_rng(seed).poisson(rate).astype(float)


def noisy(mean, level=0.1, seed=0):
    return mean + level * mean.std() * np.random.default_rng(seed).standard_normal(mean.shape)


@pytest.mark.parametrize("depth", [200, 2000])
def test_counts_of_uneven_features_share_nothing_though_projecting_them_makes_it_look_so(depth):
    uneven = A * np.exp(1.5 * np.random.default_rng(0).standard_normal(A.shape[1]))
    found = []
    for seed in range(6):
        X = counted(Z @ uneven, depth, seed)
        found.append(look_outside(X, uneven, True))
    assert 0.95 < min(one.shared for one in found) <= max(one.shared for one in found) < 1.1
    assert max(one.drifting for one in found) < 4
    assert max(one.sloping for one in found) < 3.5
    codes = X @ np.linalg.pinv(uneven)
    fitted = np.maximum(codes, 0) @ uneven
    assert structure_left((X - codes @ uneven) / np.sqrt(np.maximum(fitted, 0.1 * fitted.mean()))) > 1.1


def test_noise_that_grows_with_its_entry_shares_nothing():
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = (Z @ A) * (1 + 0.2 * rng.standard_normal((len(Z), 60)))
        found.append(look_outside(X, A, False).shared)
    assert max(found) < 1.1


@pytest.mark.parametrize(("make", "counts"), [(counted, True), (noisy, False)])
def test_a_direction_that_samples_share_shows(make, counts):
    extra = np.random.default_rng(5).uniform(0, 0.3, (len(Z), 1)) * np.roll(A[0], 7)
    assert look_outside(make(Z @ A + extra), A, counts).shared > 1.2


@pytest.mark.parametrize(("make", "counts"), [(counted, True), (noisy, False)])
def test_a_component_that_changes_shows_in_the_order_of_samples_alone(make, counts):
    X = make(Z @ A + 0.3 * T * Z[:, :1] * (np.roll(A[0], 7) - A[0]))
    middle = A + np.outer(np.eye(5)[0], 0.15 * (np.roll(A[0], 7) - A[0]))
    assert look_outside(X, middle, counts).drifting > 6
    mixed = np.random.default_rng(0).permutation(len(X))
    assert look_outside(X[mixed], middle, counts).drifting < 4


def test_a_change_back_and_forth_shows():
    X = noisy(Z @ A + 0.1 * np.sin(2 * np.pi * T) * np.roll(A[0], 7))
    assert look_outside(X, A, False).drifting > 6


@pytest.mark.parametrize("wave", [np.ones(60), np.linspace(0, 1, 60), 1 + np.cos(np.linspace(0, 6, 60))])
@pytest.mark.parametrize(("make", "counts"), [(counted, True), (noisy, False)])
def test_a_background_of_each_sample_shows(make, counts, wave):
    size = np.random.default_rng(1).uniform(0, 0.5, (len(Z), 1))
    assert look_outside(make(Z @ A + size * A.mean() * wave), A, counts).sloping > 3.5


def test_noise_is_as_large_as_chance_where_the_span_takes_half_of_it():
    rng = np.random.default_rng(0)
    many, codes = rng.gamma(0.3, size=(20, 40)), rng.dirichlet(np.full(20, 0.2), 700)
    assert 0.95 < look_outside(noisy(codes @ many), many, False).shared < 1.1


def test_a_slope_shows_that_is_no_constant():
    size = np.random.default_rng(1).uniform(-0.3, 0.3, (len(Z), 1))
    X = noisy(Z @ A + size * A.mean() * np.linspace(-1, 1, 60))
    assert look_outside(X, A, False).sloping > 3.5


def test_of_many_features_a_part_is_looked_at():
    wide = np.tile(A, 9) * np.random.default_rng(0).uniform(0.5, 2, (5, 540))
    assert look_outside(noisy(Z @ wide), wide, False).shared < 1.1
    extra = np.random.default_rng(5).uniform(0, 0.3, (len(Z), 1)) * np.roll(wide[0], 7)
    assert look_outside(noisy(Z @ wide + extra), wide, False).shared > 1.2


def test_where_nothing_lies_outside_nothing_is_said():
    nothing = Outside(1.0, 0.0, 0.0)
    assert look_outside(Z @ A, A, False) == nothing
    assert look_outside(noisy(Z @ A[:, :5]), A[:, :5], False) == nothing
    assert look_outside(np.zeros((20, 60)), A, True) == nothing
    assert look_outside(noisy(Z @ A)[:1], A, False) == nothing


def test_scales_do_not_matter():
    X = noisy(Z @ A)
    found = look_outside(1e150 * X, 1e-150 * A, False)
    np.testing.assert_allclose(found, look_outside(X, A, False), rtol=1e-6)


def test_sums_of_squares_count_in_deviations_of_a_normal_law():
    drawn = np.random.default_rng(0).chisquare(20, (4000, 1))
    found = deviations(drawn, drawn)
    assert abs(np.mean(found)) < 0.1
    assert np.std(found) == pytest.approx(1, abs=0.1)
    rest = np.random.default_rng(1).standard_normal((300, 20))
    function = np.linspace(-1, 1, 300)[:, None]
    assert follows((function, rest)) < 3
    assert follows((np.hstack([function**2, function]), rest + 0.5 * function)) > 5


def test_zeros_among_counts_that_lost_something_were_put_in():
    X = counted(Z @ A, 300)
    assert lost_share(X, Z @ A * 300) == 0.0
    less = np.maximum(X - 2.4, 0.0)
    assert lost_share(less, less) == pytest.approx(np.mean(less == 0))
    assert lost_share(np.maximum(X - 2.0, 0.0), less) == 0.0  # whole numbers all the same
