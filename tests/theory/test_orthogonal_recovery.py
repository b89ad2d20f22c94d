"""Planted orthogonal dictionaries come back exactly, whatever the kind of code."""

from itertools import pairwise

import numpy as np
import pytest

from altmin import OrthogonalDictionaryLearning, polar
from altmin.datasets import make_sparse_dictionary
from altmin.metrics import atom_error, support_recovery


@pytest.mark.parametrize("kind", ["rad", "gap", "gauss"])
@pytest.mark.seeds(3)
def test_recovers_atoms_and_support_exactly(kind, seed):
    problem = make_sparse_dictionary(2000, 20, density=0.15, kind=kind, orthogonal=True, random_state=seed)
    model = OrthogonalDictionaryLearning().fit(problem.X)
    assert atom_error(model.components_, problem.components) < 1e-12
    codes = model.transform(problem.X)
    assert support_recovery(codes, problem.codes, model.components_, problem.components) == 1.0
    assert model.outcome_.kind == "converged"
    assert model.reconstruction_err_ < 1e-9
    np.testing.assert_allclose(codes @ model.components_, problem.X, atol=1e-12)


def test_figure_2_of_the_paper():
    good = 0
    for seed in range(10):
        problem = make_sparse_dictionary(100, 5, density=0.3, kind="gap", orthogonal=True, random_state=seed)
        model = OrthogonalDictionaryLearning().fit(problem.X)
        good += atom_error(model.components_, problem.components) < 1e-10
    assert good >= 9


@pytest.mark.parametrize("density", [0.01, 0.1, 0.3])
def test_error_falls_linearly_from_near_the_truth(density):
    """Theorem 1: at least halved in each pass, at a constant threshold of Gamma/2."""
    problem = make_sparse_dictionary(6000, 20, density=density, kind="rad", orthogonal=True, random_state=0)
    nudge = np.random.default_rng(0).standard_normal((20, 20))
    start = polar(problem.components + 0.1 * nudge / np.linalg.norm(nudge))
    errors = [
        np.linalg.norm(
            OrthogonalDictionaryLearning(init=start, threshold=0.5, max_iter=k).fit(problem.X).components_
            - problem.components
        )
        for k in range(1, 5)
    ]
    assert all(after <= 0.5 * before for before, after in pairwise(errors))


def test_noise_is_estimated_and_kept_out_of_the_codes():
    problem = make_sparse_dictionary(4000, 20, density=0.1, orthogonal=True, snr_db=20, random_state=1)
    model = OrthogonalDictionaryLearning().fit(problem.X)
    assert abs(model.noise_std_ / problem.noise_std - 1) < 0.2
    assert atom_error(model.components_, problem.components) < 0.02
    codes = model.transform(problem.X)
    assert support_recovery(codes, problem.codes, model.components_, problem.components) > 0.98


def test_keep_leaves_that_share_of_the_codes():
    rng = np.random.default_rng(0)
    X = rng.laplace(size=(3000, 16)) @ polar(rng.standard_normal((16, 16)))
    model = OrthogonalDictionaryLearning(init="dct", keep=0.1).fit(X)
    assert abs(np.mean(model.transform(X) != 0) - 0.1) < 0.01
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(16), atol=1e-12)
