"""The kernels of AND equal their plain NumPy forms."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls as scipy_nnls

from altmin import spa, vca
from altmin.kernels.codes import sweep, upper_quantile
from altmin.kernels.counts import _code_covariance, _least_supported, _without, prune_rows, refuse_negative
from altmin.kernels.inverse import pseudo_inverse
from altmin.kernels.nnls import nnls


def plain_sweep(Z, w, alpha, cut, trimming):
    w = np.maximum(w, 0.0)
    low = (Z < cut).any(axis=1)
    use = (w > 0) & ~(low & trimming)
    kept = np.where((Z >= alpha) & use[:, None], Z, 0.0)
    negative = np.minimum(Z, 0.0)
    return kept, {
        "sums": np.array([w @ negative**2, w @ (Z < 0), w @ kept]),
        "largest": np.maximum(Z[w > 0].max(axis=0), 0.0),
        "smallest": negative[use].min(axis=0),
        "totals": np.array([w.sum(), w[low].sum()]),
    }


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("trimming", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_the_sweep_equals_its_plain_form(seed, trimming, dtype):
    rng = np.random.default_rng(seed)
    Z = (rng.standard_normal((300, 7)) * 0.3 + 0.2).astype(dtype)
    w = rng.integers(-1, 3, 300).astype(float)
    alpha, cut = rng.uniform(0.1, 0.4, 7), -rng.uniform(0.3, 0.6, 7)
    kept, expected = plain_sweep(Z, w, alpha, cut, trimming)
    found = sweep(Z, w, alpha, cut, trimming=trimming)
    np.testing.assert_allclose(Z, kept, rtol=1e-6 if dtype == np.float32 else 0)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5 if dtype == np.float32 else 1e-12)
    assert 0 < expected["totals"][1] < expected["totals"][0]


@pytest.mark.parametrize("seed", range(3))
def test_the_quantile_of_large_codes_is_right_to_its_bins(seed):
    rng = np.random.default_rng(seed)
    Z = rng.beta(0.5, 2.0, (5000, 4)) * 1.3
    exact = np.quantile(Z, 0.999, axis=0)
    stats = sweep(Z.copy(), np.ones(5000), np.zeros(4), np.full(4, -9.0))
    found = upper_quantile(stats["counts"], 5000, stats["largest"])
    np.testing.assert_allclose(found, exact, rtol=0.03)


def test_weights_of_two_count_twice_in_the_quantile_bit_for_bit():
    rng = np.random.default_rng(0)
    Z = rng.random((900, 3))
    args = (np.zeros(3), np.full(3, -9.0))
    one = sweep(Z.copy(), np.full(900, 2.0), *args)
    two = sweep(np.repeat(Z, 2, axis=0), np.ones(1800), *args)
    np.testing.assert_array_equal(one["counts"], two["counts"])
    np.testing.assert_array_equal(
        upper_quantile(one["counts"], 1800, one["largest"]),
        upper_quantile(two["counts"], 1800, two["largest"]),
    )


@pytest.mark.parametrize("shape", [(5, 5), (5, 30), (6, 4)])
@pytest.mark.parametrize("spoil", ["nothing", "zero", "twice"])
def test_the_decoder_is_the_pseudo_inverse(shape, spoil):
    A = np.random.default_rng(0).standard_normal(shape)
    if spoil == "zero":
        A[1] = 0.0
    if spoil == "twice":
        A[1] = A[2]
    np.testing.assert_allclose(pseudo_inverse(A), np.linalg.pinv(A, rcond=1e-10), atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_nonnegative_least_squares_is_that_of_scipy(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((12, 40)) * 10.0 ** rng.uniform(-2, 2, (12, 1))
    Y = rng.standard_normal((25, 40))
    found = nnls(A @ A.T, Y @ A.T)
    expected = np.array([scipy_nnls(A.T, y)[0] for y in Y])
    np.testing.assert_allclose(found @ A, expected @ A, atol=1e-6)
    assert (found >= 0).all()


def test_a_component_that_is_zero_gets_no_weight():
    assert not nnls(np.diag([1.0, 0.0]), np.array([[3.0, 4.0]]))[0, 1]


@pytest.mark.parametrize("seed", range(3))
def test_spa_and_vca_take_the_pure_samples(seed):
    rng = np.random.default_rng(seed)
    A = rng.random((6, 30))
    X = rng.dirichlet(np.full(6, 0.5), size=200) @ A
    pure = np.sort(rng.permutation(200)[:6])
    X[pure] = A
    for found in (spa(X, 6), spa(sp.csr_array(X), 6), spa(X, 6, project=False), vca(X, 6, random_state=seed)):
        np.testing.assert_array_equal(np.sort(found), pure)


def test_spa_takes_no_more_than_the_samples_span():
    assert len(spa(np.outer(np.arange(1.0, 5.0), np.ones(3)), 3, project=False)) == 1
    with pytest.raises(ValueError, match="n_components=0"):
        spa(np.ones((3, 2)), 0)


def _costs(z, variance, sizes, total):
    """Twice the negative logarithm of the density of an exponential code times its Gaussian spread."""
    density = np.exp(-z / (sizes * total)) / (sizes * total) * np.sqrt(2 * np.pi * variance)
    return -2 * np.log(density)


@pytest.mark.parametrize("seed", range(3))
def test_the_code_that_goes_first_is_the_one_that_lacks_most_evidence(seed):
    rng = np.random.default_rng(seed)
    A = rng.dirichlet(np.full(40, 0.5), 9)
    z, sizes, odds = 50 * rng.random(9), 0.1 + 0.2 * rng.random(9), 40 + 20 * rng.random(9)
    alive = np.flatnonzero(rng.random(9) < 0.8)
    mean = z[alive] @ A[alive] + 1e-9
    covariance = np.linalg.inv((A[alive] / mean) @ A[alive].T)
    variance, found = np.diag(covariance), np.full((9, 9), np.nan)
    _code_covariance(A, alive, mean, 2.0, found)
    np.testing.assert_allclose(found[: len(alive), : len(alive)], 2 * covariance, rtol=1e-6)
    total = z[alive].sum()
    costs = np.maximum(_costs(z[alive], variance, sizes[alive], total), 0.0)
    lacking = z[alive] ** 2 / variance - np.maximum(costs + odds[alive], 0.0)
    place, all_of_them = _least_supported(z, alive, covariance, odds, sizes, total)
    assert place == np.argmin(lacking) and lacking.min() < 0
    assert all_of_them == pytest.approx(costs.sum())
    assert _least_supported(z, alive, covariance, np.full(9, -1e3), sizes, total)[0] == -1


@pytest.mark.parametrize("gone", [0, 2, 5])
def test_codes_vary_less_when_another_is_known_to_be_0(gone):
    rng = np.random.default_rng(gone)
    A, left = rng.dirichlet(np.full(40, 0.5), 6), np.delete(np.arange(6), gone)
    mean, found, expected = rng.random(40), np.empty((7, 7)), np.empty((5, 5))
    _code_covariance(A, np.arange(6), mean, 1.0, found)
    _without(found, gone, 5)
    _code_covariance(A, left, mean, 1.0, expected)
    np.testing.assert_allclose(found[:5, :5], expected, rtol=1e-6)


def test_pruning_keeps_the_codes_that_made_the_counts_and_says_what_they_cost():
    rng = np.random.default_rng(3)
    A = rng.dirichlet(np.full(60, 0.2), 8)
    truth = 900 * rng.random((50, 8)) * (rng.random((50, 8)) < 0.4)
    truth[:, 0] += 100
    X = rng.poisson(truth @ A).astype(float)
    Z = np.repeat(X.sum(axis=1, keepdims=True) / 8, 8, axis=1)
    sizes = np.full(8, 0.25)
    costs, lost = prune_rows(X, A, Z, np.zeros(8), sizes, 1.0, 10, 3)
    clear = (truth == 0) | (truth > 60)
    assert np.mean((Z > 0)[clear] == (truth > 0)[clear]) > 0.98
    alive = np.flatnonzero(Z[0])
    variance = np.diag(np.linalg.inv((A[alive] / (Z[0] @ A)) @ A[alive].T))
    expected = np.maximum(_costs(Z[0, alive], variance, sizes[alive], X[0].sum()), 0.0).sum()
    assert costs[0] == pytest.approx(expected, rel=1e-4)
    # components that are absent: half of the codes are estimated at 0, the others have a chi-square of 1
    assert 0.2 < lost.sum() / np.sum(Z == 0) < 0.6


def test_counts_that_vary_more_need_more_support():
    rng = np.random.default_rng(5)
    A = rng.dirichlet(np.full(60, 0.2), 8)
    X = rng.poisson(600 * rng.random((40, 8)) ** 4 @ A).astype(float)
    used = []
    for dispersion in (1.0, 4.0):
        Z = np.repeat(X.sum(axis=1, keepdims=True) / 8, 8, axis=1)
        prune_rows(X, A, Z, np.zeros(8), np.full(8, 0.125), dispersion, 10, 3)
        used.append(np.sum(Z > 0))
    assert used[1] < 0.9 * used[0]


@pytest.mark.parametrize("sparse", [False, True])
def test_a_negative_count_is_named(sparse):
    X = np.ones((6, 4))
    X[4, 2] = -3.0
    X[0, 0] = 0.0
    refuse_negative(X[:4], 0)
    with pytest.raises(ValueError, match="X is -3 at row 104, column 2"):
        refuse_negative(sp.csr_array(X) if sparse else X, 100)
