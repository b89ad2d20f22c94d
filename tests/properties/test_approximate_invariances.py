"""Scale, sparse input, blocks, float32, threads and bad rows leave the result where it should be."""

import numpy as np
import pytest
import scipy.sparse as sp

from altmin import ApproximateDictionaryLearning
from altmin.datasets import make_planted_sparse

X = make_planted_sparse(700, 16, 24, 2, 0.05, random_state=0).X


def fit(data, **changes):
    return ApproximateDictionaryLearning(24, n_nonzero_coefs=2, random_state=0, **changes).fit(data)


@pytest.mark.parametrize("scale", [1e3, 1e-3, 1e-140, 1e140])
def test_scale_changes_neither_supports_nor_rounds(scale):
    one, other = fit(X), fit(scale * X)
    assert (one.codes_.astype(bool) != other.codes_.astype(bool)).nnz == 0
    assert one.n_iter_ == other.n_iter_
    np.testing.assert_allclose(one.components_, other.components_, atol=1e-9)


def test_sparse_input_gives_the_same_fit():
    data = np.where(np.abs(X) > 0.5, X, 0.0)
    np.testing.assert_allclose(fit(data).components_, fit(sp.csr_array(data)).components_, atol=1e-10)


def test_the_cut_of_the_input_leaves_no_trace():
    np.testing.assert_array_equal(fit(X).components_, fit([X[:100], X[100:], X[:0]]).components_)


def test_threads_leave_no_trace():
    np.testing.assert_array_equal(fit(X, n_jobs=1).components_, fit(X, n_jobs=3).components_)


def test_float32_stays_and_is_close():
    single = fit(X.astype(np.float32))
    assert single.components_.dtype == single.codes_.dtype == np.float32
    assert single.relative_error_ == pytest.approx(fit(X).relative_error_, rel=0.2)


def test_peeling_a_sample_of_many_rows_finds_the_same_atoms():
    many = make_planted_sparse(9000, 24, 24, 2, 0.05, random_state=0)
    model = fit(many.X)
    assert np.mean(np.abs(many.components @ model.components_.T).max(axis=1) > 0.99) >= 0.9


@pytest.mark.parametrize("rows", [np.zeros((30, 5)), np.ones((30, 5)), np.eye(5)[:1], np.eye(5)])
def test_degenerate_data_give_a_defined_result(rows):
    model = ApproximateDictionaryLearning(4, n_nonzero_coefs=2, contamination=0.1, random_state=0).fit(rows)
    assert np.isfinite(model.components_).all()
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)
    assert np.isfinite(model.outlier_scores_).all()
    assert np.isfinite(model.codes_.data).all()


def test_zero_rows_among_others_are_coded_by_nothing():
    data = X.copy()
    data[::7] = 0
    model = fit(data, contamination=0.05)
    assert model.codes_[::7].nnz == 0
    assert (model.outlier_scores_[::7] == 0).all()


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="init has shape"):
        fit(X, init=np.eye(3))
    with pytest.raises(ValueError, match="contamination"):
        fit(X, contamination=0.7)
    with pytest.raises(ValueError, match="effort"):
        fit(X).guarantee(X, effort="huge")
