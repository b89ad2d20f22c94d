"""Same grid, same bits: whatever the number of threads and however the input was cut."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from altmin import AND
from altmin.datasets import make_dir

PROBLEM = make_dir(3000, 200, 10, random_state=0)


def fit(X, n_jobs=1, **options):
    return AND(10, max_iter=15, n_jobs=n_jobs, **options).fit(X)


def same_model(a, b):
    np.testing.assert_array_equal(a.components_, b.components_)
    np.testing.assert_array_equal(a.component_scales_, b.component_scales_)
    assert a.reconstruction_err_ == b.reconstruction_err_


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_jobs", [2, 4])
def test_any_number_of_threads(n_jobs, dtype):
    X = PROBLEM.X.astype(dtype)
    same_model(fit(X, 1), fit(X, n_jobs))


def test_any_cut_of_the_input(tmp_path):
    X = PROBLEM.X
    np.save(tmp_path / "x.npy", X)
    whole = fit(X)
    cuts = [0, 1, 700, 701, 2500, 3000]
    for given in (
        [X[a:b] for a, b in itertools.pairwise(cuts)],
        np.load(tmp_path / "x.npy", mmap_mode="r"),
        tmp_path / "x.npy",
        np.asfortranarray(X),
        np.concatenate([X, X])[:3000],
    ):
        same_model(whole, fit(given))


def test_sparse_equals_dense_to_rounding():
    X = np.where(PROBLEM.X > np.quantile(PROBLEM.X, 0.7), PROBLEM.X, 0.0)
    start = PROBLEM.start
    dense = fit(X, init=start)
    sparse = fit(sp.csr_array(X), init=start)
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-9)
    np.testing.assert_allclose(sparse.transform(sp.csr_array(X)), dense.transform(X), atol=1e-9)


def test_the_environment_of_the_caller_is_left_as_it_was():
    from threadpoolctl import threadpool_info, threadpool_limits

    with threadpool_limits(2):
        before = [pool["num_threads"] for pool in threadpool_info()]
        fit(PROBLEM.X)
        assert [pool["num_threads"] for pool in threadpool_info()] == before


def test_reports_don_t_depend_on_the_number_of_threads():
    from altmin import CompleteDictionaryLearning, FactorizationMachineRegressor
    from altmin.datasets import make_quadratic, make_sparse_dictionary

    sparse = make_sparse_dictionary(3000, 12, random_state=0)
    noisy = sparse.X + 0.01 * np.random.default_rng(0).standard_normal(sparse.X.shape)
    for X in (sparse.X, noisy):
        one, three = (
            CompleteDictionaryLearning(random_state=0, n_jobs=n_jobs).fit(X).guarantee_ for n_jobs in (1, 3)
        )
        assert [(row.name, repr(row.measured)) for row in one] == [
            (row.name, repr(row.measured)) for row in three
        ]
    law = make_quadratic(3000, 12, 2, noise=0.1, random_state=0)
    one, three = (
        FactorizationMachineRegressor(2, random_state=0, n_jobs=n_jobs).fit(law.X, law.y).guarantee_
        for n_jobs in (1, 3)
    )
    assert [(row.name, repr(row.measured)) for row in one] == [
        (row.name, repr(row.measured)) for row in three
    ]
