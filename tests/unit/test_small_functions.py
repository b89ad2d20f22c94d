"""Small public functions by hand, and what they refuse."""

import inspect
from typing import Annotated, Literal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.utils._param_validation import InvalidParameterError, validate_parameter_constraints

from altmin import discover
from altmin.algorithms.correlation.hypercontractive import hypercontractive_norm
from altmin.algorithms.correlation.threshold_correlation import threshold_correlation
from altmin.algorithms.dictionary.block_sums import bin_edges, relative_threshold
from altmin.coding import omp
from altmin.datasets import (
    add_outliers,
    make_binary,
    make_dir,
    make_neg,
    make_planted_sparse,
    make_quadratic,
    make_sparse_dictionary,
    make_star,
    real,
)
from altmin.estimators import base, parameters
from altmin.estimators.dictionary.shared import checked_start
from altmin.estimators.parameters import Parameters, field
from altmin.estimators.quadratic import categories
from altmin.hyperspectral import abundances
from altmin.metrics import abundance_rmse, crosstalk, match_components, psnr, recall_at_k, sine_errors, ssim
from altmin.selection import align_components
from altmin.selection.bootstrap import Bootstrap
from altmin.text import top_words

ONES = np.ones((3, 4))
SQUARE = np.eye(4)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: crosstalk(ONES, SQUARE), "they must agree"),
        (lambda: psnr(ONES, ONES, data_range=0), "data_range is 0; a number > 0"),
        (lambda: psnr(np.ones((0, 3)), np.ones((0, 3))), "not be empty"),
        (lambda: ssim(np.ones((12, 10)), np.ones((12, 10))), "11 x 11"),
        (lambda: ssim(np.ones(200), np.ones(200)), "11 x 11"),
        (lambda: abundance_rmse(ONES, SQUARE), "abundances have shape"),
        (lambda: recall_at_k(np.ones(4), np.ones((1, 4)), 1), "dimension"),
        (lambda: make_sparse_dictionary(10, 3, 4), "n_components=4 must be between 1 and n_features=3"),
        (lambda: make_sparse_dictionary(10, 3, density=0.0), "density=0.0 must be above 0"),
        (lambda: make_sparse_dictionary(10, 3, density=1.5), "at most 1"),
        (lambda: make_sparse_dictionary(10, 3, kind="odd"), "kind='odd'"),
        (lambda: make_planted_sparse(10, 3, 4, 2, kind="odd"), "kind='odd'"),
        (lambda: make_neg(10, 5, 2, weights="odd"), "weights='odd': allowed are 'ctm' and 'dir'"),
        (lambda: make_quadratic(10, 3, 2, features="odd"), "features='odd'"),
        (lambda: make_quadratic(10, 3, 4), "rank=4: between 1 and n_features=3"),
        (lambda: make_quadratic(10, 3, 0), "rank=0"),
        (lambda: omp(ONES, SQUARE, 1, selection="odd"), "selection is 'odd'"),
        (lambda: omp(ONES, np.eye(3), 1), "X has 4 features, the dictionary's atoms have 3"),
        (lambda: omp(ONES, SQUARE, 0), "n_nonzero_coefs is 0"),
        (lambda: omp(ONES, SQUARE, 5), "n_nonzero_coefs is 5"),
        (lambda: omp(ONES, SQUARE, 1.5), "n_nonzero_coefs is 1.5"),
        (lambda: omp(ONES, SQUARE, 1, tol=-1.0), "tol has shape"),
        (lambda: omp(ONES, SQUARE, 1, tol=np.ones(2)), "tol has shape"),
        (lambda: omp(ONES, SQUARE, 1, mask=ONES[:2] > 0), "mask has shape"),
        (lambda: omp(ONES, SQUARE, 1, mask=2 * ONES), "mask has shape"),
        (lambda: top_words(np.ones(4), None, 1), "topics have shape"),
        (lambda: align_components(ONES, np.ones((3, 5))), "must have the same features"),
        (lambda: abundances(ONES, np.ones((2, 5))), "the bands must agree"),
        (lambda: abundances(ONES, ONES, scaling="odd"), "scaling='odd'"),
        (lambda: discover(np.ones((30, 3)), np.ones(29)), "number for each of the 30"),
        (lambda: discover(np.ones((30, 3)), np.full(30, np.nan)), "one finite number"),
        (lambda: threshold_correlation(np.ones((0, 3)), 0.1), "at least one row and one column"),
        (lambda: threshold_correlation(np.ones((3, 0)), 0.1), "at least one row and one column"),
        (lambda: threshold_correlation(np.ones(3), 0.1), "V has shape"),
        (lambda: threshold_correlation(ONES, -0.1), "tau=-0.1"),
        (lambda: hypercontractive_norm(ONES, 1.5), "p=1.5: a number of at least 2"),
        (lambda: hypercontractive_norm(np.ones(3), 4), "finite matrix"),
    ],
)
def test_what_means_nothing_is_refused(call, reason):
    with pytest.raises(ValueError, match=reason):
        call()


def test_a_sparse_matrix_has_no_mask():
    with pytest.raises(TypeError, match="mask needs a dense X"):
        omp(sp.csr_array(ONES), SQUARE, 1, mask=ONES > 0)


def test_intervals_of_a_bootstrap_are_quantiles():
    samples = np.arange(101.0)[:, None, None] * np.array([[1.0, 2.0]])
    found = Bootstrap(np.ones((1, 2)), samples, np.arange(101.0)[:, None])
    low, high = found.interval(0.9)
    np.testing.assert_allclose((low, high), ([[5.0, 10.0]], [[95.0, 190.0]]))
    np.testing.assert_allclose(found.angle(0.8), [80.0])
    np.testing.assert_allclose(found.spread, samples.std(axis=0))


def test_the_largest_threshold_that_is_a_share_of_what_it_leaves():
    """By trying every bin."""
    rng = np.random.default_rng(0)
    low, high = bin_edges()
    for share in (0.2, 0.5, 0.9):
        magnitudes = np.zeros(len(low), int)
        middle = len(low) // 2
        magnitudes[rng.integers(middle, middle + 60, 30)] = rng.integers(1, 9, 30)
        best = 0.0
        for first in np.flatnonzero(magnitudes):
            kept = np.flatnonzero(magnitudes)[np.flatnonzero(magnitudes) >= first]
            rms = np.sqrt(np.average(((low[kept] + high[kept]) / 2) ** 2, weights=magnitudes[kept]))
            best = max(best, share * rms) if low[first] <= share * rms else best
        expected = best or low[np.flatnonzero(magnitudes)[0]]
        assert relative_threshold(magnitudes, share) == pytest.approx(expected)
    assert relative_threshold(np.zeros(len(low), int)) == 0.0
    alone = np.zeros(len(low), int)
    alone[len(low) // 2] = 7
    assert relative_threshold(alone, 0.5) == pytest.approx(low[len(low) // 2])


def test_matches_and_sines_do_not_depend_on_order_sign_or_scale():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((4, 6))
    order = np.array([2, 0, 3, 1])
    turned = (A * [[1], [-2], [3], [-4]])[order]
    index, cosine = match_components(turned, A)
    np.testing.assert_array_equal(order[index], np.arange(4))
    np.testing.assert_allclose(np.abs(cosine), 1.0)
    np.testing.assert_allclose(sine_errors(turned, A), 0.0, atol=1e-12)
    B = A + 0.3 * rng.standard_normal(A.shape)
    cosines = np.einsum("ij,ij->i", A, B) / np.linalg.norm(A, axis=1) / np.linalg.norm(B, axis=1)
    np.testing.assert_allclose(sine_errors(B, A), np.sqrt(1 - cosines**2))
    found = align_components(turned, A)
    np.testing.assert_allclose(found.angles, 0.0, atol=1e-7)
    T = crosstalk(B, A)
    mixing = (B / np.linalg.norm(B, axis=1, keepdims=True)) @ np.linalg.pinv(
        A / np.linalg.norm(A, axis=1, keepdims=True)
    )
    off = mixing / np.diag(mixing)[:, None] - np.eye(4)
    assert 0.2 * np.abs(off).max() < T < 5 * np.linalg.norm(off)
    assert crosstalk(turned, A) == pytest.approx(0.0, abs=1e-12)


def test_recall_at_k_by_hand():
    scores = np.array([[0.9, 0.8, 0.1, 0.0], [0.1, 0.2, 0.3, 0.4]])
    relevant = np.array([[1, 0, 1, 0], [1, 0, 0, 1]])
    assert recall_at_k(relevant, scores, 1) == pytest.approx(0.5)
    assert recall_at_k(relevant, scores, 3) == pytest.approx(0.75)
    assert recall_at_k(relevant, scores, 4) == 1.0
    assert recall_at_k(np.vstack([relevant, np.zeros(4)]), np.vstack([scores, scores[:1]]), 1) == 0.5
    assert np.isnan(recall_at_k(np.zeros((1, 4)), scores[:1], 2))
    assert abundance_rmse(np.array([[0.0, 2.0]]), np.array([[3.0, -2.0]])) == pytest.approx(np.sqrt(12.5))


def test_planted_data_are_what_they_say():
    made = make_sparse_dictionary(20_000, 8, density=0.2, condition=50, snr_db=20, random_state=0)
    clean = made.codes @ made.components
    assert np.linalg.cond(made.components) == pytest.approx(50, rel=0.5)
    assert np.mean(made.codes != 0) == pytest.approx(0.2, rel=0.05)
    assert 10 * np.log10(np.mean(clean**2) / np.mean((made.X - clean) ** 2)) == pytest.approx(20, abs=0.2)
    assert np.std(made.X - clean) == pytest.approx(made.noise_std, rel=0.02)
    np.testing.assert_allclose(np.linalg.norm(made.components, axis=1), 1.0)
    sparse = make_planted_sparse(300, 10, 14, 3, 0.1, random_state=0)
    clean = sparse.codes @ sparse.components
    assert np.linalg.norm(sparse.X - clean) / np.linalg.norm(clean) == pytest.approx(0.1, rel=1e-6)
    assert set(np.count_nonzero(sparse.codes, axis=1)) == {3}
    loose, tight = (
        make_planted_sparse(50, 10, 14, 3, coherence=c, random_state=0).components for c in (0.0, 0.9)
    )
    assert np.abs(tight @ tight.T - np.eye(14)).max() > np.abs(loose @ loose.T - np.eye(14)).max()
    spoiled = make_planted_sparse(300, 10, 14, 3, 0.1, outliers=0.2, random_state=0)
    assert spoiled.outliers.sum() == 60
    X, rows = add_outliers(np.ones((200, 3)), 0.05, random_state=0)
    assert len(np.unique(rows)) == 10
    np.testing.assert_array_equal(np.flatnonzero((X != 1).any(axis=1)), np.sort(rows))


def test_planted_mixtures_are_what_they_say():
    flat = make_dir(4000, 12, 3, concentration=3.0, random_state=0)
    np.testing.assert_allclose(flat.codes.sum(axis=1), 1.0)
    assert flat.codes.var(axis=0) == pytest.approx(np.full(3, (1 / 3) * (2 / 3) / 4), rel=0.1)
    np.testing.assert_allclose(flat.codes @ flat.components, flat.X, atol=1e-12)
    binary = make_binary(500, 12, 6, n_active=2, random_state=0)
    assert set(np.unique(binary.codes)) <= {0.0, 1.0}
    assert binary.codes.sum(axis=1).mean() == pytest.approx(2, rel=0.1)
    negative = make_neg(50, 8, 3, weights="dir", concentration=1.5, random_state=0)
    assert (negative.components < 0).any()


def test_planted_quadratics_are_what_they_say():
    made = make_quadratic(20_000, 5, 2, mixed_signs=True, intercept=3.0, noise=0.5, random_state=0)
    lengths = {"factors": made.factors.shape, "values": np.shape(made.eigenvalues)}
    assert lengths == {"factors": (2, 5), "values": (2,)}
    law = made.intercept + made.X @ made.coef + np.square(made.X @ made.factors.T) @ made.eigenvalues
    assert np.std(made.y - law) == pytest.approx(0.5, rel=0.05)
    assert made.intercept == 3.0
    assert np.sign(made.eigenvalues).prod() == -1
    star = make_star(6)
    assert np.ndim(getattr(star, "X", star)) == 2


def test_data_are_here_where_their_own_folder_is(tmp_path, monkeypatch):
    monkeypatch.setenv("ALTMIN_DATA", str(tmp_path))
    outside = [entry for entry in real.available() if "$ALTMIN_DATA" in entry.how]
    assert outside and not any(entry.here for entry in outside)
    (tmp_path / outside[0].name).mkdir(parents=True)
    here = [entry.name for entry in real.available() if "$ALTMIN_DATA" in entry.how and entry.here]
    assert here == [outside[0].name]
    monkeypatch.delenv("ALTMIN_DATA")
    assert not any(entry.here for entry in real.available() if "$ALTMIN_DATA" in entry.how)


def test_parameters_of_a_subclass_stand_where_those_of_its_base_do():
    class Base(Parameters):
        first: Annotated[int, field(kw_only=False)] = 1
        second: float = 2.0
        third: str = "three"

    class Other(Base):
        own: int = 5
        second: float = 9.0
        third = "settled"

    def named(cls):
        return {name: one.default for name, one in inspect.signature(cls).parameters.items()}

    assert list(named(Base)) == ["first", "second", "third"]
    assert named(Other) == {"own": 5, "first": 1, "second": 9.0}
    assert list(named(Other)) == ["own", "first", "second"]
    made = Other(own=6, second=3.0)
    assert (made.own, made.first, made.second, made.third) == (6, 1, 3.0, "settled")
    with pytest.raises(TypeError):
        Other(third="x")


@pytest.mark.parametrize("place", [(0, 0), (1, 2)])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_start_with_one_number_that_is_none_is_refused(place, bad):
    atoms = np.eye(3)
    assert checked_start(atoms, (3, 3)) is not None
    atoms[place] = bad
    with pytest.raises(ValueError, match="finite matrix of full rank"):
        checked_start(atoms, (3, 3))


@pytest.mark.parametrize(
    ("hint", "good", "bad"),
    [
        (int, [3, np.int64(3)], ["3", 3.5]), (float, [3, 0.5], ["3"]), (bool, [True], ["yes"]),
        (str, ["a"], [3]), (int | None, [3, None], ["3"]), (Literal["a", "b"], ["a"], ["c", 1]),
        (Literal["a"] | float, ["a", 0.5], ["b"]), (np.ndarray, [np.eye(2)], [3, "a"]),
        (list[int], [[1]], [3, (1,)]), (dict, [{}], [[]]),
    ],
)  # fmt: skip
def test_types_of_parameters_are_what_scikit_learn_asks_for(hint, good, bad):
    asked = {"p": parameters._constraints(hint)}
    for value in good:
        validate_parameter_constraints(asked, {"p": value}, "Model")
    for value in bad:
        with pytest.raises(InvalidParameterError):
            validate_parameter_constraints(asked, {"p": value}, "Model")


def test_only_frames_have_categories():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    assert categories.has_categories(frame)
    assert not categories.has_categories(frame[["a"]])
    for other in (
        np.eye(2),
        [["x"]],
        type("Odd", (), {"columns": ["a"]})(),
        type("Odd", (), {"dtypes": [1]})(),
    ):
        assert not categories.has_categories(other)
    assert categories.learn_categories(frame) == {"a": [], "b": ["x", "y"]}


@pytest.mark.parametrize("n", [2, 4])
def test_what_belongs_to_rows_is_refused_where_it_is_of_other_rows(n):
    assert base._aligned("y", [1, 2, 3], 3).tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match=f"y has {n} rows, X has 3: they must agree"):
        base._aligned("y", np.ones(n), 3)
