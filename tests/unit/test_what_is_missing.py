"""What stands against "nothing is missing", and what doesn't: dense samples, tied signs, drift, products."""

import numpy as np
import pytest

from altmin import (
    AND,
    CompleteDictionaryLearning,
    FactorizationMachineRegressor,
    OrthogonalDictionaryLearning,
    RankOneSensing,
)
from altmin.guarantees.chance import multiplied
from altmin.guarantees.dictionary_atoms import atom_facts

K, N = 6, 1200


def atoms(rng, k=K):
    return np.linalg.qr(rng.standard_normal((k, k)))[0]


def codes(rng, density=0.15, k=K, n=N):
    x = rng.standard_normal((n, k))
    return np.sign(x) * (0.5 + np.abs(x)) * (rng.random((n, k)) < density)


def noisy(rng, X, level):
    return X + level * np.sqrt(np.mean(X**2)) * rng.standard_normal(X.shape)


def test_samples_of_very_different_density_are_made_of_the_same_atoms():
    """As blocks of a photograph are: their zeros are exact, so none of them needs another atom."""
    rng = np.random.default_rng(0)
    A, busy = atoms(rng, 12), np.minimum(rng.lognormal(-2.2, 1.0, (N, 1)), 0.6)
    Z = codes(rng, busy, 12)
    facts = atom_facts(Z @ A, A)
    assert facts.spread > 2
    assert facts.dense <= 0.003
    Z[:60] = rng.standard_normal((60, 12))  # another atom would leave such samples
    assert atom_facts(Z @ A, A).dense > 0.05


@pytest.mark.parametrize("level", [0.03, 0.1])
def test_a_missing_atom_ties_the_signs_of_codes(level):
    rng = np.random.default_rng(1)
    A, v = atoms(rng), rng.standard_normal(K)
    X = codes(rng) @ A
    assert abs(atom_facts(noisy(rng, X, level), A).tied) < 4
    extra = np.where(rng.random(N) < 0.05, 1.5 * rng.standard_normal(N), 0.0)
    assert atom_facts(noisy(rng, X + np.outer(extra, v / np.linalg.norm(v)), level), A).tied > 5


def test_signs_that_hardly_occur_say_nothing():
    rng = np.random.default_rng(2)
    A, Z = atoms(rng), np.abs(codes(rng, 0.2))
    Z[0] = -1.0
    assert abs(atom_facts(noisy(rng, Z @ A, 0.02), A).tied) < 4


def test_atoms_that_all_turn_a_little_drift_together():
    rng = np.random.default_rng(3)
    A, Z, t = atoms(rng), codes(rng), np.linspace(-1, 1, N)[:, None]
    turned = 0.1 * rng.standard_normal(A.shape)
    still = atom_facts(noisy(rng, Z @ A, 0.15), A).drift
    moved = atom_facts(noisy(rng, Z @ A + t * (Z @ turned), 0.15), A).drift
    assert np.all(still < 0.7)
    assert np.all(moved > 1)


def test_pursuit_goes_on_until_noise_is_left():
    rng = np.random.default_rng(4)
    A, Z = atoms(rng), codes(rng)
    Z[:100] = 1.0 + rng.random((100, K))
    facts = atom_facts(noisy(rng, Z @ A, 0.01), A)
    assert facts.dense > 0.05


def test_noise_is_looked_for_where_it_is_even():
    """Samples of very different size were scaled to one size for the fit; their noise was added before."""
    rng = np.random.default_rng(5)
    A, Z = atoms(rng), codes(rng) * rng.lognormal(0, 1.5, (N, 1))
    X = noisy(rng, Z @ A, 0.01)
    sizes = np.linalg.norm(X, axis=1)
    level = atom_facts(X / sizes[:, None], A, sizes=sizes)
    assert level.theta.mean() == pytest.approx(0.15, abs=0.03)
    assert level.dense <= 0.01
    assert atom_facts(X / sizes[:, None], A).dense > 0.05  # what happens where sizes aren't known


@pytest.mark.parametrize("counts", [False, True])
def test_features_that_multiply_leave_something_where_they_occur_together(counts):
    rng = np.random.default_rng(6)
    A, Z = rng.gamma(0.5, size=(4, 40)), rng.dirichlet(np.full(4, 0.5), 800)
    found = []
    for level in (0.0, 2.0):
        X = Z @ A + level * Z[:, :1] * Z[:, 1:2] * (A[0] * A[1])
        X = rng.poisson(100 * X) / 100 if counts else noisy(rng, X, 0.05)
        W = X @ np.linalg.pinv(A)
        found.append(multiplied((W, X - W @ A)))
    assert found[0] <= 3.5
    assert found[1] > 6


def test_squares_of_one_component_count_and_products_of_nothing_do_not():
    rng = np.random.default_rng(7)
    z, rest = rng.uniform(size=(500, 1)), rng.standard_normal((500, 12))
    assert multiplied((z, rest)) < 4
    assert multiplied((z, rest + (z**2 - 0.8 * z) * rng.standard_normal(12))) > 4
    assert multiplied((np.ones((5, 2)), np.zeros((5, 3)))) == 0.0


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(
    "model",
    [
        AND(2),
        CompleteDictionaryLearning(random_state=0),
        OrthogonalDictionaryLearning(),
        FactorizationMachineRegressor(1, random_state=0),
        RankOneSensing(1, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_table_of_a_few_rows_says_nothing(model, rows):
    X = np.abs(np.random.default_rng(0).standard_normal((rows, 6)))
    target = (np.ones(rows),) if hasattr(model, "predict") else ()
    assert model.fit(X, *target).guarantee_.verdict == "unknown"
