"""Codes of largest evidence and lasso codes, against brute force and scikit-learn."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.decomposition import sparse_encode

from altmin import SparseCoder
from altmin.kernels.bernoulli_gauss import sparse_posterior


def unit(A):
    return A / np.linalg.norm(A, axis=1, keepdims=True)


def evidence(y, A, used, variance, sizes, density):
    """log p(y, S) - log p(y, nothing), from the covariance of the Gaussian itself."""
    n = len(y)
    S = list(used)
    C = variance * np.eye(n) + (A[S].T * sizes[S]) @ A[S]
    log = -0.5 * (np.linalg.slogdet(C)[1] + y @ np.linalg.solve(C, y))
    empty = -0.5 * (n * np.log(variance) + y @ y / variance)
    return log - empty + np.sum(np.log(density[S] / (1 - density[S])))


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    A = unit(rng.standard_normal((6, 6)))
    sizes, density = rng.uniform(0.5, 2, 6), rng.uniform(0.1, 0.4, 6)
    codes = (rng.random((40, 6)) < density) * rng.standard_normal((40, 6)) * np.sqrt(sizes)
    return codes @ A + 0.1 * rng.standard_normal((40, 6)), A, 0.01, sizes, density


@pytest.mark.parametrize("first", ["nothing", "all", "dense codes", "odd atoms"])
def test_the_evidence_is_that_of_the_gaussian(first, problem):
    """From any first support: atoms that are given count as those that are chosen."""
    X, A, variance, sizes, density = problem
    dense = X @ np.linalg.inv(A)
    given = {"nothing": None, "all": np.ones_like(dense), "dense codes": dense,
             "odd atoms": np.arange(6) % 2 * np.ones_like(dense)}[first]  # fmt: skip
    codes, found = sparse_posterior(X, A, variance, sizes, density, given)
    for y, code, value in zip(X, codes, found, strict=True):
        exact = evidence(y, A, np.flatnonzero(code), variance, sizes, density)
        assert value == pytest.approx(exact, abs=1e-8)


def test_no_single_addition_or_removal_would_be_better(problem):
    X, A, variance, sizes, density = problem
    codes, found = sparse_posterior(X, A, variance, sizes, density)
    for y, code, value in zip(X, codes, found, strict=True):
        used = set(np.flatnonzero(code))
        for k in range(6):
            assert evidence(y, A, used ^ {k}, variance, sizes, density) <= value + 1e-8


def test_most_supports_are_the_best_of_all(problem):
    X, A, variance, sizes, density = problem
    _, found = sparse_posterior(X, A, variance, sizes, density, X @ np.linalg.inv(A))
    every = [S for size in range(7) for S in combinations(range(6), size)]
    best = np.array([max(evidence(y, A, S, variance, sizes, density) for S in every) for y in X])
    assert np.mean(found >= best - 1e-8) >= 0.9


def test_supports_that_are_given_count_where_the_search_leaves_more_than_noise():
    rng = np.random.default_rng(39)
    A = unit(rng.standard_normal((8, 8)) + 1.5 * rng.standard_normal(8))  # alike, so the search errs
    true = (rng.random((300, 8)) < 0.4) * rng.standard_normal((300, 8))
    X, facts = true @ A + 0.1 * rng.standard_normal((300, 8)), (0.01, np.ones(8), np.full(8, 0.4))
    codes, found = sparse_posterior(X, A, *facts)
    both, better = sparse_posterior(X, A, *facts, true)
    used = codes != 0
    explained = np.array([  # by the search, under the prior
        alpha @ np.linalg.solve(A[on] @ A[on].T + 0.01 * np.eye(on.sum()), alpha)
        for on, alpha in zip(used, [A[on] @ x for on, x in zip(used, X, strict=True)], strict=True)
    ])  # fmt: skip
    left = np.sum(X**2, axis=1) - explained > 0.01 * (8 + 3 * np.sqrt(16))
    at_truth = np.array(
        [evidence(x, A, np.flatnonzero(z), *facts) if z.any() else 0.0 for x, z in zip(X, true, strict=True)]
    )
    assert np.all(better[left] >= at_truth[left] - 1e-9) and np.sum(better > found + 1) >= 3
    # a row of which the search leaves no more than noise stays as it is, though its true codes are likelier
    np.testing.assert_array_equal(both[~left], codes[~left])
    assert np.sum(at_truth[~left] > found[~left] + 1) >= 3


def test_codes_are_posterior_means(problem):
    X, A, variance, sizes, density = problem
    codes, _ = sparse_posterior(X, A, variance, sizes, density)
    for y, code in zip(X, codes, strict=True):
        S = np.flatnonzero(code)
        ridge = A[S] @ A[S].T + np.diag(variance / sizes[S])
        np.testing.assert_allclose(code[S], np.linalg.solve(ridge, A[S] @ y), atol=1e-10)


@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_the_lasso_is_that_of_scikit_learn(alpha):
    rng = np.random.default_rng(1)
    D, X = unit(rng.standard_normal((12, 8))), rng.standard_normal((30, 8))
    ours = SparseCoder(D, transform_algorithm="lasso", transform_alpha=alpha).transform(X)
    theirs = sparse_encode(X, D, algorithm="lasso_cd", alpha=alpha, max_iter=100_000)

    def objective(codes):
        return 0.5 * np.sum((X - codes @ D) ** 2, axis=1) + alpha * np.abs(codes).sum(axis=1)

    assert np.all(objective(ours) <= objective(theirs) + 1e-6)
    np.testing.assert_array_equal(
        SparseCoder(D, transform_algorithm="lasso").transform(10 * X).dtype, X.dtype
    )
