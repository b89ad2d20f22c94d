"""What guarantees measure where there is next to nothing: no samples, one component, bounds met."""

import numpy as np
import pytest
import scipy.sparse as sp

from altmin.coding import omp
from altmin.datasets import make_sparse_dictionary
from altmin.engine import SourceError, open_source
from altmin.guarantees import (
    cone_rest,
    cone_shape,
    contract,
    dictionary_atoms,
    dictionary_pairs,
    misfit,
    rendering,
)
from altmin.guarantees.cone_shape import shape


def test_the_least_of_verdicts():
    assert contract.least([]) == "recovered"
    for i, worse in enumerate(contract.VERDICTS):
        for better in contract.VERDICTS[: i + 1]:
            assert contract.least([better, worse]) == contract.least([worse, better]) == worse


@pytest.mark.parametrize("n", [1, 8, 9, 10, 30])
def test_many_numbers_are_cut_after_eight(n):
    told = rendering._some(list(range(n)))
    assert told.startswith(", ".join(map(str, range(min(n, 8)))))
    assert told.endswith(f"7 and {n - 8} more" if n > 8 else str(n - 1))


@pytest.mark.parametrize("k", [1, 3])
def test_no_samples_relate_nothing(k):
    size, sign, tied = dictionary_pairs.related(np.zeros((0, k)))
    assert (size.tolist(), sign.tolist(), tied) == ([0.0] * k, [0.0] * k, 0.0)
    assert dictionary_pairs.related(np.ones((5, 1)))[2] == 0.0


@pytest.mark.parametrize(
    ("n", "rarest", "every"),
    [(4999, 4999, 1), (10_000, 10_000, 2), (10_000, 199, 1), (10_000, 200, 2), (50_000, 500, 5), (0, 0, 1)],
)
def test_samples_are_thinned_as_far_as_the_rarest_atom_allows(n, rarest, every):
    U = np.ones((n, 3))
    U[rarest:, 1] = 0.0
    assert dictionary_atoms._thinned(U) == every


def test_the_slack_of_a_component_is_that_of_its_nearly_pure_samples():
    own = np.array([1.0, 0.97, 0.95, 0.89, 0.5, 0.2])
    Z = np.column_stack([own, 1 - own])
    assert cone_shape._slack(Z) == pytest.approx([0.03, 0.0])
    assert cone_shape._slack(Z[3:5]).tolist() == [0.0, 0.0]


def test_the_span_of_facets_by_hand():
    """Of each facet the smallest singular value of its unit samples, over the root of their number."""
    rng = np.random.default_rng(0)
    for share in (0.2, 0.8):  # few zeros, and many: the sums are formed in two ways
        Z = rng.random((400, 4)) * (rng.random((400, 4)) > share)
        Z = Z[Z.sum(axis=1) > 0]
        U = Z / np.linalg.norm(Z, axis=1)[:, None]
        found = []
        for i in range(4):
            on = np.delete(U[Z[:, i] == 0], i, axis=1)
            found.append(np.linalg.svd(on, compute_uv=False)[-1] / len(on) ** 0.5)
        assert cone_shape._span(Z, 0.0) == pytest.approx(min(found))
    assert cone_shape._span(np.ones((5, 1)), 0.0) == 1.0
    assert cone_shape._span(np.ones((50, 3)), 0.0) == 0.0


def test_pairs_are_counted_by_hand():
    Z = np.array([[1.0, 0, 0.5], [0, 0.2, 0], [0.05, 0.3, 0], [0.6, 0, 0], [0, 1, 1]])
    counts = [
        sum(abs(row[i]) <= 0.01 and row[j] > 0.1 for row in Z) for i in range(3) for j in range(3) if i != j
    ]
    assert cone_shape._pairs(Z, 0.01) == min(counts)
    assert cone_shape._pairs(np.ones((4, 1)), 0.1) == np.inf


def test_a_cone_without_a_component_or_without_a_sample():
    none = shape(np.zeros((3, 2)), np.zeros((2, 5)))
    assert none.empty == 2
    assert none.condition == np.inf
    assert none.span == none.pairs == none.distinct == 0.0
    one = shape(np.array([[1.0, 0.0], [2.0, 0.0]]), np.array([[1.0, 1.0], [0.0, 0.0]]))
    assert one.empty == 1
    assert one.span == 1.0


def test_a_sparse_file_whose_parts_have_another_shape_is_refused(tmp_path):
    path = tmp_path / "x.npz"
    sp.save_npz(path, sp.csr_array(np.eye(4)), compressed=False)
    source = open_source(path)
    sp.save_npz(path, sp.csr_array(np.eye(5)), compressed=False)
    with pytest.raises((SourceError, ValueError), match=r"shape \(5, 5\), it announces \(4, 4\)"):
        source.read(0, 4)


def test_codes_with_noise_end_where_only_noise_is_left():
    """As many atoms as there are dimensions explain anything: the search has to stop before."""
    rng, noise = np.random.default_rng(0), 0.04
    A = np.linalg.qr(rng.standard_normal((20, 20)))[0]
    S = np.where(rng.random((300, 20)) < 0.2, 3.0 + rng.random((300, 20)), 0.0)
    X = S @ A + noise * rng.standard_normal((300, 20))
    found = dictionary_atoms._codes(X, X @ A.T, A, noise, 0.0)
    assert np.count_nonzero((found != 0) != (S != 0)) <= 6  # in a thousand noise is that large
    np.testing.assert_allclose(found, S, atol=5 * noise)
    assert np.count_nonzero(found) < np.count_nonzero(np.abs(X @ A.T) > 2.5 * noise) - 10
    exact = dictionary_atoms._codes(X, S, A, 0.0, 0.1)
    np.testing.assert_array_equal(exact != 0, np.abs(S) > 0.1 * np.sqrt(np.mean(S**2)))


def test_codes_of_close_atoms_are_neither_missed_nor_made_up():
    """Random directions, 25 dB: a pursuit down to the noise makes up a third of its codes there."""
    truth = make_sparse_dictionary(2000, 8, snr_db=25, random_state=10)
    A, size = truth.components, np.sqrt(np.mean(truth.X**2))
    assert np.linalg.cond(A) > 20
    X, noise = truth.X / size, truth.noise_std / size
    found = dictionary_atoms._codes(X, X @ np.linalg.pinv(A), A, noise, 1e-6) != 0
    used = truth.codes != 0
    pursuit = omp(X, A, 8, tol=noise**2 * 8 * np.ones(2000), selection="ormp")
    made_up = np.count_nonzero((np.abs(pursuit) > 2.5 * noise) & ~used) / np.count_nonzero(used)
    assert made_up > 0.2
    assert np.count_nonzero(found & ~used) < 0.05 * np.count_nonzero(used)
    assert np.count_nonzero(used & ~found) < 0.05 * np.count_nonzero(used)


@pytest.mark.parametrize(("ratio", "known"), [(2e7, True), (9e7, True), (1.1e8, False)])
def test_features_that_are_nearly_in_proportion_bound_no_room(ratio, known):
    B = np.array([[1.0, 1.0], [1.0, 1.0 + 4.0 / ratio]])
    assert np.linalg.cond(B) == pytest.approx(ratio, rel=1e-3)
    found = cone_rest._anchored(B, np.array([[0, 1]]))
    bounded = np.linalg.inv(B).sum(axis=1).min() > 1e-6
    assert np.isfinite(found).all() == (known and bounded)
    assert np.isfinite(cone_rest._anchored(np.diag([1.0, 0.5 / 9e6]) + 1e-12, np.array([[0, 1]]))).all()


def test_where_nothing_is_left_over_nothing_is_constant():
    components = np.random.default_rng(0).random((2, 6))
    assert cone_rest.constant_left(np.zeros((5, 6)), components) == 0.0


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (400, 410), (0, 5)])
def test_where_nothing_is_left_over_there_is_no_structure(shape):
    assert cone_rest.structure_left(np.zeros(shape)) == 0.0


@pytest.mark.parametrize("shape", [(cone_rest._NARROW + 5, cone_rest._NARROW + 9), (500, 12), (12, 500)])
def test_structure_of_wide_and_of_narrow_residuals_is_the_same_number(shape):
    rest = np.random.default_rng(0).standard_normal(shape)
    rng = np.random.default_rng(0)
    flipped = [np.linalg.norm(rest * rng.choice([-1.0, 1.0], shape), 2) for _ in range(3)]
    expected = np.linalg.norm(rest, 2) / np.median(flipped)
    assert cone_rest.structure_left(1e-200 * rest) == pytest.approx(expected, rel=1e-3)


def test_atoms_of_one_feature_and_one_sign_are_bare():
    A = np.array([[0.0, 5.0, 0.0], [0.03, 0.9995, 0.0], [0.1, 0.995, 0.0], [0.0, 0.0, -0.2]])
    S = np.array([[1.0, -1.0, 1.0, 1.0], [2.0, 0.0, 0.0, -1.0]])
    assert dictionary_atoms._bare(S, A).tolist() == [1.0, 1.0, 0.0, 0.0]
    assert dictionary_atoms._bare(np.abs(S), A).tolist() == [1.0, 1.0, 0.0, 1.0]


def test_dense_samples_are_counted_where_independent_uses_hardly_reach():
    """Three of four atoms or more: a hundredth of independent samples has them."""
    rng = np.random.default_rng(0)
    used = rng.random((4000, 4)) < 0.15
    assert dictionary_atoms._counts(used, True)[1] == 0.0
    spread, dense = dictionary_atoms._counts(np.vstack([used, np.ones((400, 4), bool)]), True)
    assert dense == pytest.approx(400 / 4400, abs=0.02)
    assert spread > 1.5
    twos = used.copy()
    twos[:1200] = [True, True, False, False]  # two atoms are what one independent sample in nine has
    assert dictionary_atoms._counts(twos, True)[1] == pytest.approx(0.0, abs=0.02)
    assert dictionary_atoms._counts(twos[:, :2], True) == (0.0, 0.0)


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_white_columns_are_those_that_vary_whatever_their_unit(unit):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 3)) @ np.array([[1.0, 0.5, 0, 0], [0, 1.0, 0.3, 0], [0, 0, 1.0, 0]])
    found = misfit._whitened(unit * X + 7.0)
    np.testing.assert_allclose(found[:, :3].T @ found[:, :3] / 500, np.eye(3), atol=0.05)
    assert np.abs(found[:, 3]).max() < 1e-3
    assert np.abs(found).max() <= 5.0
