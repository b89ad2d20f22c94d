"""The coders of dictionary estimators: thresholds, a fixed number of nonzeros, pursuits."""

import numpy as np
import pytest

from altmin import CompleteDictionaryLearning, OnlineDictionaryLearning, OrthogonalDictionaryLearning
from altmin.datasets import make_sparse_dictionary

PROBLEM = make_sparse_dictionary(1500, 10, density=0.2, orthogonal=True, random_state=0)


@pytest.mark.parametrize("algorithm", ["threshold", "omp", "ormp"])
@pytest.mark.parametrize(
    "estimator", [OrthogonalDictionaryLearning, CompleteDictionaryLearning, OnlineDictionaryLearning]
)
def test_a_number_of_nonzeros_is_kept(estimator, algorithm):
    model = estimator(transform_algorithm=algorithm, transform_n_nonzero_coefs=3, random_state=0)
    codes = model.fit(PROBLEM.X).transform(PROBLEM.X)
    assert codes.shape == (1500, 10)
    assert np.count_nonzero(codes, axis=1).max() <= 3
    few = np.count_nonzero(PROBLEM.codes, axis=1) <= 3
    np.testing.assert_allclose(model.inverse_transform(codes)[few], PROBLEM.X[few], atol=1e-10)


def test_fit_transform_and_transform_share_one_coder():
    model = CompleteDictionaryLearning(random_state=0)
    np.testing.assert_array_equal(model.fit_transform(PROBLEM.X), model.transform(PROBLEM.X))


def test_the_residual_is_that_of_the_codes():
    noisy = make_sparse_dictionary(2000, 8, density=0.2, condition=3, snr_db=20, random_state=1)
    model = CompleteDictionaryLearning(random_state=0).fit(noisy.X)
    left = noisy.X - model.inverse_transform(model.transform(noisy.X))
    assert model.reconstruction_err_ == pytest.approx(np.linalg.norm(left), rel=1e-6)
    tracked = OnlineDictionaryLearning(batch_size=500, start_size=1000, random_state=0).fit(noisy.X)
    share = tracked.reconstruction_err_ / np.linalg.norm(noisy.X[-500:])
    assert 0.05 < share < 0.2
