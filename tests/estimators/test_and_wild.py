"""AND on data without pure samples, with non-negative features, and on counts."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from altmin import AND
from altmin.datasets import make_dir
from altmin.metrics import match_components


def angles(found, truth):
    return np.degrees(np.arccos(np.clip(match_components(found, truth, signed=True)[1], -1.0, 1.0)))


def capped(n, D, cap, rng):
    """Dirichlet weights whose largest share stays below a cap: no sample is pure."""
    drawn = rng.dirichlet(np.ones(D), 20 * n)
    return drawn[drawn.max(axis=1) < cap][:n]


@pytest.mark.parametrize("decibel", [30, 50])
def test_a_hard_edge_is_found_without_pure_samples(decibel):
    rng = np.random.default_rng(5)
    A = 0.1 + rng.gamma(2.0, 1.0, (4, 60))
    clean = capped(1500, 4, 0.75, rng) @ A
    X = clean + np.sqrt(np.mean(clean**2)) * 10 ** (-decibel / 20) * rng.standard_normal(clean.shape)
    fixed, model = AND(4, noise_factor=2.0).fit(X), AND(4).fit(X)
    assert angles(model.components_, A).max() < 0.35 * angles(fixed.components_, A).max()
    assert "hard edge" in model.outcome_.message


def test_outliers_are_no_hard_edge():
    rng = np.random.default_rng(6)
    A = 0.1 + rng.gamma(2.0, 1.0, (4, 60))
    Z = rng.dirichlet(np.full(4, 0.4), 1500)
    Z += 0.05 * rng.standard_t(2.5, Z.shape) * (rng.random((1500, 1)) < 0.2)  # some contradict the model
    X = Z @ A + 0.001 * rng.standard_normal((1500, 60))
    fixed, model = AND(4, noise_factor=2.0).fit(X), AND(4).fit(X)
    assert angles(model.components_, A).mean() < 1.2 * angles(fixed.components_, A).mean()


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_zeros_of_non_negative_features_pin_them_down(noise):
    rng = np.random.default_rng(7)
    A = rng.gamma(1.0, 1.0, (6, 80)) * (rng.random((6, 80)) > 0.6)
    X = rng.random((1500, 6)) @ A + noise * rng.standard_normal((1500, 80))
    signed, model = AND(6, nonnegative_components=False).fit(X), AND(6).fit(X)
    assert angles(model.components_, A).max() < 0.5 * angles(signed.components_, A).max()
    assert angles(model.components_, A).max() < 1.0
    assert model.components_.min() >= 0
    assert [row["iteration"] for row in model.history_] == list(range(1, model.n_iter_ + 1))


@pytest.mark.parametrize("most", [3, 7, 40])
def test_max_iter_counts_the_stages_and_what_finishes_the_fit(most):
    rng = np.random.default_rng(12)
    counts, _ = signatures(rng, n=60)
    many = rng.poisson(np.repeat(counts, 600, axis=0)).astype(float)  # too many to prune codes
    for X in (counts, many):
        model = AND(6, max_iter=most).fit(X)
        assert "Poisson" in model.outcome_.message
        assert model.n_iter_ <= most
        assert [row["iteration"] for row in model.history_] == list(range(1, model.n_iter_ + 1))
    parts = rng.gamma(1.0, 1.0, (4, 50)) * (rng.random((4, 50)) > 0.6)
    X = rng.random((300, 4)) @ parts + 0.01 * rng.standard_normal((300, 50))
    assert AND(4, max_iter=most).fit(X).n_iter_ <= 2 * most


def test_components_that_miss_the_data_are_polished_though_they_have_no_zeros():
    rng = np.random.default_rng([0, 800, 12, 80])
    A = rng.gamma(1.0, 1.0, (12, 80)) * (rng.random((12, 80)) > 0.6)
    X = rng.random((800, 12)) @ A
    X += 0.03 * np.sqrt(np.mean(X**2)) * rng.standard_normal(X.shape)
    assert angles(AND(12).fit(X).components_, A).max() < 3


def test_features_without_zeros_are_not_polished():
    rng = np.random.default_rng(1)
    A = 0.3 + rng.random((6, 40))
    X = rng.dirichlet(np.full(6, 0.3), 600) @ A
    X += 0.02 * np.sqrt(np.mean(X**2)) * rng.standard_normal(X.shape)
    assert "pin them down" not in AND(6).fit(X).outcome_.message


def signatures(rng, D=6, W=96, n=200, depth=2000):
    A = rng.dirichlet(np.full(W, 0.15), D)
    Z = rng.dirichlet(np.full(D, 0.3), n) * depth * np.exp(0.8 * rng.standard_normal((n, 1)))
    return rng.poisson(Z @ A).astype(float), A


def test_counts_are_recognised_and_fitted_by_their_likelihood():
    X, A = signatures(np.random.default_rng(8))
    model = AND(6).fit(X)
    assert model.noise_ == "poisson" and 0.8 < model.dispersion_ < 1.3
    assert angles(model.components_, A).max() < 5
    Z = model.transform(X)
    mean = Z @ model.components_
    deviance = 2 * np.sum(np.where(X > 0, X * np.log(np.maximum(X, 1) / mean), 0.0) - X + mean)
    assert Z.min() >= 0 and deviance < model.reconstruction_err_  # whose codes are sparse
    gaussian = AND(6, noise="gaussian").fit(X)
    assert gaussian.noise_ == "gaussian" and gaussian.dispersion_ is None


def test_a_few_large_samples_that_carry_a_component_are_kept():
    rng = np.random.default_rng(9)
    X, A = signatures(rng)
    X[:12] += rng.poisson(40_000 * A[0], (12, 96))
    assert angles(AND(6).fit(X).components_, A).max() < 8


def test_whole_numbers_that_are_no_counts_are_fitted_by_least_squares():
    rng = np.random.default_rng(10)
    X = np.round(1000 * rng.dirichlet(np.full(4, 0.3), 500) @ (5 + rng.random((4, 30))))
    assert AND(4).fit(X).noise_ == "gaussian"


def test_large_whole_numbers_are_no_counts():
    rng = np.random.default_rng(14)
    A = 0.2 + rng.random((3, 50))
    X = rng.dirichlet(np.full(3, 0.5), 400) @ A * 1000
    model = AND(3).fit(np.round(X + np.sqrt(X) * rng.standard_normal(X.shape)))
    assert model.noise_ == "gaussian"
    assert angles(model.components_, A).max() < 3


def test_sparse_dense_and_stored_counts_give_the_same_factors(tmp_path):
    X, _ = signatures(np.random.default_rng(11))
    np.save(tmp_path / "counts.npy", X)
    model = AND(6).fit(X)
    blocks = [X[:70], X[70:]]
    for other in (sp.csr_array(X), str(tmp_path / "counts.npy"), blocks):
        found = AND(6).fit(other)
        assert found.noise_ == "poisson"
        assert angles(found.components_, model.components_).max() < 1e-3


def test_a_stream_of_counts_ends_near_the_same_factors():
    X, A = signatures(np.random.default_rng(12), n=3000)
    stream = (X[low % 3000 : low % 3000 + 250] for low in range(0, 40_000, 250))
    model = AND(6, noise="poisson", batch_size=1000).fit(stream)
    assert model.noise_ == "poisson" and model.components_.min() >= 0
    assert angles(model.components_, A).max() < 8


def test_the_polish_goes_on_from_its_checkpoint_to_the_same_bits(tmp_path):
    X, _ = signatures(np.random.default_rng(13))
    plain = AND(6, random_state=0).fit(X)
    first = AND(6, random_state=0, checkpoint=tmp_path).fit(X)
    again = AND(6, random_state=0, checkpoint=tmp_path).fit(X)
    np.testing.assert_array_equal(first.components_, plain.components_)
    np.testing.assert_array_equal(again.components_, plain.components_)


@pytest.mark.parametrize("seed", [0, 1])
def test_easy_counts_lose_nothing_to_the_fit_of_their_likelihood(seed):
    rng = np.random.default_rng([seed, 41])
    A, Z = rng.dirichlet(np.full(96, 0.4), 5), np.zeros((100, 5))
    for row in Z:
        on = rng.choice(5, int(rng.integers(2, 6)), replace=False)
        row[on] = rng.dirichlet(np.ones(len(on))) * 1500 * np.exp(0.7 * rng.standard_normal())
    X = rng.poisson(Z @ A).astype(float)
    rows, columns = (np.sqrt(np.maximum(X.sum(axis=axis), 1.0)) for axis in (1, 0))
    even = AND(5, noise="gaussian").fit(X / rows[:, None] / columns).components_ * columns
    assert angles(AND(5).fit(X).components_, A).mean() <= angles(even, A).mean()


def test_negative_entries_are_refused_as_counts_and_otherwise_fitted():
    X = np.random.default_rng(0).poisson(3.0, (900, 20)).astype(float)
    X[7, 3] = -2.0
    for data in (X, sp.csr_array(X), [X[:5], X[5:]]):
        with pytest.raises(ValueError, match=r"row 7, column 3.*noise='gaussian'"):
            AND(3, noise="poisson").fit(data)
    assert AND(3).fit(X).noise_ == "gaussian"  # the look at a few rows didn't see it


@pytest.mark.parametrize("noise", [0.0, 1e-3, 1e-2])
def test_a_polish_that_settles_ends_the_fit_without_a_warning(noise):
    problem = make_dir(500, 60, 5, noise=noise, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = AND(5).fit(problem.X)
    assert model.outcome_ == "converged"
    assert model.n_iter_ > 300  # the stages alone hadn't settled
    with pytest.warns(ConvergenceWarning):
        assert AND(5, max_iter=20).fit(problem.X).outcome_ == "max_iter"
