"""Our algorithms step by step beside the papers' own lines: a wrong step shows at once, long before the end.

A fit that ends in the right place can hide a step that is half wrong: it only takes longer. Here the states
after one, two and more steps are compared.
"""

import numpy as np
import pytest

from altmin import AND, FactorizationMachineRegressor, OrthogonalDictionaryLearning
from altmin.datasets import make_dir, make_sparse_dictionary
from altmin.metrics import sine_errors
from altmin_lab.literal_and import algorithm_and, schedule
from altmin_lab.literal_dictionaries import algorithm_1
from altmin_lab.literal_machine import gaussian_batches, law_of, one_pass

MIXTURE = make_dir(800, 40, 5, random_state=3)


@pytest.mark.parametrize("n_stages", [1, 2, 5, 12])
@pytest.mark.parametrize("n_steps", [1, 50])
def test_stages_of_and(n_stages, n_steps):
    *_, literal = algorithm_and(MIXTURE.X, MIXTURE.start, schedule(n_stages), n_steps)
    ours = AND(
        5, init=MIXTURE.start, threshold=(0.1, 1.1), inner_steps=n_steps, max_iter=n_stages, tol=0.0,
        nonnegative_components=False, noise="gaussian",
    )  # fmt: skip
    ours.fit(MIXTURE.X)
    assert ours.n_iter_ == n_stages
    assert sine_errors(ours.components_, literal).max() < 1e-7
    assert sine_errors(literal, MIXTURE.components).max() > 1e-6  # it is still on its way


SPARSE = make_sparse_dictionary(600, 12, density=0.1, kind="rad", orthogonal=True, random_state=0)


@pytest.mark.parametrize("n_passes", [1, 2, 3])
def test_passes_of_algorithm_1(n_passes):
    rng = np.random.default_rng(1)
    start = np.linalg.qr(SPARSE.components + 0.25 * rng.standard_normal(SPARSE.components.shape))[0]
    literal = [D for D, _ in algorithm_1(SPARSE.X, start, 0.5, n_passes + 1)][-1]
    ours = OrthogonalDictionaryLearning(init=start, threshold=0.5, warm_up=None, max_iter=n_passes, tol=0.0)
    ours.fit(SPARSE.X)
    np.testing.assert_allclose(ours.components_, literal, atol=1e-9)
    assert np.abs(literal - start).max() > 0.1


@pytest.mark.parametrize("n_batches", [1, 2, 3])
def test_batches_of_the_one_pass_machine(n_batches):
    """With Gaussian moments, no whitening and full steps it is Algorithm 1, batch by batch."""
    w, M, _ = law_of(12, np.array([2.0, -1.0]), 0)
    n = 4000
    *_, literal = one_pass(gaussian_batches(n, n_batches, w, M, seed=5), 2)
    X, y = (
        np.concatenate(parts) for parts in zip(*gaussian_batches(n, n_batches, w, M, seed=5), strict=True)
    )
    ours = FactorizationMachineRegressor(
        2, batch_size=n, moments="gaussian", whiten=False, step=1.0, fit_intercept=False, max_iter=n_batches
    )
    ours.fit(iter([(X[i : i + n], y[i : i + n]) for i in range(0, len(X), n)]))
    np.testing.assert_allclose(ours.matrix(), literal.M, atol=2e-6)
    np.testing.assert_allclose(ours.coef_, literal.w, atol=2e-6)
    assert np.abs(literal.M - M).max() > 1e-4  # it is still on its way
