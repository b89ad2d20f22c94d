"""Planted complete dictionaries come back exactly; what cannot be recovered is refused in words."""

import numpy as np
import pytest

from altmin import CompleteDictionaryLearning
from altmin.datasets import make_sparse_dictionary
from altmin.metrics import atom_error, crosstalk, sine_errors, support_recovery


def fit(seed=0, n_samples=2000, n_features=20, n_components=None, **model):
    problem = make_sparse_dictionary(n_samples, n_features, n_components, random_state=seed, **model)
    return CompleteDictionaryLearning(n_components, random_state=seed).fit(problem.X), problem


@pytest.mark.seeds
@pytest.mark.parametrize("kind", ["rad", "gap", "gauss"])
@pytest.mark.parametrize("density", [0.05, 0.2])
def test_recovers_atoms_and_support_exactly(kind, density, seed):
    model, problem = fit(seed, kind=kind, density=density)
    assert atom_error(model.components_, problem.components) < 1e-12
    codes = model.transform(problem.X)
    assert support_recovery(codes, problem.codes, model.components_, problem.components) == 1.0
    np.testing.assert_allclose(model.inverse_transform(codes), problem.X, atol=1e-10)
    np.testing.assert_allclose(np.sort(model.density_), np.sort((codes != 0).mean(axis=0)))
    assert model.outcome_.kind == "converged"


def test_dense_signs_are_found_by_the_contrasts_that_see_them():
    """+-1 codes of density 1/2 have negative excess kurtosis."""
    model, problem = fit(n_samples=5000, kind="rad", density=0.5)
    assert atom_error(model.components_, problem.components) < 1e-12


@pytest.mark.seeds
def test_condition_of_a_million(seed):
    model, problem = fit(seed, n_samples=3000, n_features=30, condition=1e6)
    assert crosstalk(model.components_, problem.components) < 1e-10


@pytest.mark.seeds
def test_fewer_atoms_than_features(seed):
    model, problem = fit(seed, n_samples=3000, n_features=60, n_components=15)
    assert model.components_.shape == (15, 60)
    assert atom_error(model.components_, problem.components) < 1e-12


@pytest.mark.seeds
@pytest.mark.parametrize(("condition", "snr_db"), [(1, 20), (100, 20)])
def test_noise_is_known_to_threshold_and_polish(condition, snr_db, seed):
    model, problem = fit(seed, n_samples=6000, n_features=20, density=0.1, condition=condition, snr_db=snr_db)
    oracle = np.linalg.lstsq(problem.codes, problem.X, rcond=None)[0]
    ours = np.median(sine_errors(model.components_, problem.components))
    assert ours <= 2 * np.median(sine_errors(oracle, problem.components))
    assert abs(model.noise_std_ / problem.noise_std - 1) < 0.15


@pytest.mark.seeds
def test_mini_batches_are_exact_too(seed):
    problem = make_sparse_dictionary(4000, 15, density=0.1, random_state=seed)
    model = CompleteDictionaryLearning(batch_size=1000, random_state=0).fit(problem.X)
    assert atom_error(model.components_, problem.components) < 1e-12


def test_an_array_as_start_is_polished_in_its_own_order():
    problem = make_sparse_dictionary(2000, 12, density=0.15, random_state=2)
    nudge = np.random.default_rng(0).standard_normal((12, 12))
    start = problem.components + 0.02 * nudge / np.linalg.norm(nudge)
    model = CompleteDictionaryLearning(init=start).fit(problem.X)
    np.testing.assert_allclose(model.components_, problem.components, atol=1e-12)
    assert {row["phase"] for row in model.history_} == {"polish"}


def test_the_polish_contracts_by_about_the_density():
    problem = make_sparse_dictionary(8000, 20, density=0.1, kind="rad", random_state=3)
    nudge = np.random.default_rng(0).standard_normal((20, 20))
    start = problem.components + 0.05 * nudge / np.linalg.norm(nudge)
    model = CompleteDictionaryLearning(init=start).fit(problem.X)
    moves = np.array([row["change"] for row in model.history_ if 1e-12 < row["change"]])
    rates = moves[1:] / moves[:-1]
    assert np.median(rates) < 0.2


def test_unused_atoms_and_too_many_are_refused_by_name():
    problem = make_sparse_dictionary(500, 8, density=0.3, random_state=0)
    flat = np.hstack([problem.X, problem.X[:, :2]])
    with pytest.raises(ValueError, match="span only 8 dimension"):
        CompleteDictionaryLearning(10).fit(flat)
    with pytest.raises(ValueError, match="ApproximateDictionaryLearning"):
        CompleteDictionaryLearning(9).fit(problem.X)
    with pytest.raises(ValueError, match="only zeros"):
        CompleteDictionaryLearning().fit(np.zeros((30, 3)))


def test_gaussian_data_without_structure_end_without_a_claim():
    X = np.random.default_rng(0).standard_normal((400, 4))
    model = CompleteDictionaryLearning(random_state=0).fit(X)
    assert np.isfinite(model.components_).all()
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1.0)


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_atoms_do_not_depend_on_the_scale(scale):
    problem = make_sparse_dictionary(800, 8, density=0.2, random_state=5)
    model = CompleteDictionaryLearning(random_state=0).fit(scale * problem.X)
    assert atom_error(model.components_, problem.components) < 1e-12
    codes = model.transform(scale * problem.X)
    assert support_recovery(codes, problem.codes, model.components_, problem.components) == 1.0


def test_float32_is_kept():
    problem = make_sparse_dictionary(2000, 10, density=0.2, random_state=6)
    X = problem.X.astype(np.float32)
    model = CompleteDictionaryLearning(random_state=0).fit(X)
    assert model.components_.dtype == model.transform(X).dtype == np.float32
    assert atom_error(model.components_, problem.components) < 1e-4
