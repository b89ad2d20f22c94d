"""Missing entries: the same components as from complete data, and a report that claims less."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from altmin import AND
from altmin.datasets import make_dir, make_neg, make_scene
from altmin.hyperspectral import unmix
from altmin.kernels.masked import masked_codes
from altmin.metrics import sine_errors, spectral_angle, total_correlation_error


def holed(X, share, seed=0):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


@pytest.fixture(scope="module")
def problem():
    return make_neg(600, 60, 5, random_state=0)


@pytest.mark.parametrize(("share", "seed"), [(0.2, 0), (0.5, 1), (0.5, 2)])
def test_holes_at_random_leave_the_recovery_as_it_is(share, seed):
    problem = make_dir(1000, 80, 6, concentration=1.0, random_state=seed)
    model = AND(6, missing="mask").fit(holed(problem.X, share, seed))
    assert total_correlation_error(model.components_, problem.components) < 1e-4
    filled = AND(6).fit(np.nan_to_num(holed(problem.X, share, seed)))
    assert total_correlation_error(filled.components_, problem.components) > 0.1


def test_without_holes_the_mask_changes_nothing(problem):
    plain, masked = AND(5).fit(problem.X), AND(5, missing="mask").fit(problem.X)
    assert sine_errors(masked.components_, plain.components_).max() < 1e-6


def test_noise_and_holes_together_are_close_to_noise_alone():
    problem = make_dir(1500, 80, 5, concentration=1.0, noise=0.02, random_state=0)
    plain = AND(5, nonnegative_components=False).fit(problem.X)  # holes leave the sign of the features open
    masked = AND(5, missing="mask").fit(holed(problem.X, 0.3))
    error = total_correlation_error(masked.components_, problem.components)
    assert error < 3 * total_correlation_error(plain.components_, problem.components)


def test_nan_mask_and_masked_array_say_the_same(problem):
    X = holed(problem.X, 0.3)
    seen = ~np.isnan(X)
    by_nan = AND(5, missing="mask").fit(X)
    by_mask = AND(5, missing="mask").fit(problem.X, mask=seen)
    by_array = AND(5, missing="mask").fit(np.ma.masked_array(problem.X, ~seen))
    np.testing.assert_array_equal(by_nan.components_, by_mask.components_)
    np.testing.assert_array_equal(by_nan.components_, by_array.components_)
    np.testing.assert_array_equal(by_nan.transform(X), by_mask.transform(problem.X, mask=seen))


def test_stored_entries_of_a_sparse_table_are_the_observed_ones(problem):
    X = holed(problem.X, 0.4)
    rows, columns = np.nonzero(~np.isnan(X))
    stored = sp.csr_array((X[rows, columns], (rows, columns)), shape=X.shape)
    dense, sparse = AND(5, missing="mask").fit(X), AND(5, missing="unstored").fit(stored)
    np.testing.assert_allclose(np.abs(sparse.components_), np.abs(dense.components_), atol=1e-6)
    np.testing.assert_allclose(sparse.transform(stored), dense.transform(X), atol=1e-6)


def test_codes_fill_in_what_is_missing(problem):
    X = holed(problem.X, 0.3)
    for decoder in ("threshold", "nnls"):
        model = AND(5, missing="mask", decoder=decoder).fit(X)
        filled = model.inverse_transform(model.transform(X))
        np.testing.assert_allclose(filled, problem.X, atol=1e-4 * np.abs(problem.X).max())


def test_nonnegative_components_are_refitted_on_the_observed_entries():
    problem = make_dir(800, 60, 4, concentration=1.0, random_state=3)
    model = AND(4, missing="mask", nonnegative_components=True, decoder="nnls").fit(holed(problem.X, 0.3))
    assert model.components_.min() >= 0
    assert total_correlation_error(model.components_, problem.components) < 1e-3


def test_weights_count_samples_with_holes_too(problem):
    X = holed(problem.X, 0.3)
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    by_weight = AND(5, missing="mask").fit(X, sample_weight=weight)
    repeated = AND(5, missing="mask").fit(np.repeat(X, weight, axis=0))
    assert sine_errors(by_weight.components_, repeated.components_).max() < 1e-6


def test_the_report_is_never_greener_than_plausible(problem):
    model = AND(5, missing="mask").fit(holed(problem.X, 0.2))
    assert model.guarantee_.verdict == "plausible"
    assert model.guarantee(holed(problem.X, 0.2), effort="full").verdict == "plausible"
    words = make_dir(800, 60, 5, concentration=1.0, random_state=0).X
    assert AND(5).fit(words).guarantee_.verdict == "recovered"
    assert AND(5, missing="mask").fit(holed(words, 0.2)).guarantee_.verdict == "plausible"


def test_too_few_observed_entries_are_not_supported(problem):
    model = AND(5, missing="mask").fit(holed(problem.X, 0.93))
    assert model.guarantee_.verdict == "unknown"
    assert np.isfinite(model.components_).all()


def test_entries_that_are_missing_are_no_objection(problem):
    X = problem.X + 0.02 * problem.X.std() * np.abs(np.random.default_rng(2).standard_normal(problem.X.shape))
    model = AND(5, missing="mask").fit(holed(X, 0.8, 2))
    assert sine_errors(model.components_, problem.components).max() < 0.03
    assert model.guarantee_["none_multiply"].status == "violated"  # what is filled in follows the shares
    assert model.guarantee_.verdict == "unknown"


def test_a_feature_that_was_never_observed_gets_no_claim(problem):
    X = problem.X.copy()
    X[:, 7] = np.nan
    X[3] = np.nan
    model = AND(5, missing="mask").fit(X)
    assert np.all(model.components_[:, 7] == 0)
    assert model.guarantee_["n_w"].status == "violated"
    assert model.guarantee_.verdict == "unknown"
    assert np.all(model.transform(X)[3] == 0)


def test_the_input_is_not_written_to_and_float32_stays(problem):
    X = holed(problem.X, 0.2).astype(np.float32)
    before = X.copy()
    model = AND(5, missing="mask").fit(X)
    np.testing.assert_array_equal(X, before)
    assert model.components_.dtype == model.transform(X).dtype == np.float32
    assert total_correlation_error(model.components_, problem.components) < 1e-2


def test_scattered_holes_of_a_cube_are_no_obstacle():
    scene = make_scene(40, 40, 50, 3, random_state=0)
    result = unmix(holed(scene.cube, 0.1), 3)
    assert spectral_angle(result.endmembers, scene.endmembers).max() < 0.02
    np.testing.assert_allclose(result.abundances.sum(axis=2), 1.0)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_masked_codes_are_least_squares_on_the_observed_entries(nonnegative):
    from scipy.optimize import nnls

    rng = np.random.default_rng(0)
    A, X = rng.standard_normal((4, 20)), holed(rng.standard_normal((30, 20)), 0.4)
    for x, z in zip(X, masked_codes(X, A, nonnegative=nonnegative), strict=True):
        seen = ~np.isnan(x)
        part = A[:, seen].T
        wanted = nnls(part, x[seen])[0] if nonnegative else np.linalg.lstsq(part, x[seen], rcond=None)[0]
        np.testing.assert_allclose(z, wanted, atol=1e-8)


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({}, {"X": np.array([[np.nan, 1.0], [1.0, 2.0]])}, "NaN"),
        ({}, {"X": np.ones((4, 3)), "mask": np.ones((4, 3), bool)}, "missing='raise'"),
        ({}, {"X": np.ma.masked_array(np.ones((4, 3)), True)}, "masked array"),
        ({"missing": "mask"}, {"X": np.ones((4, 3)), "mask": np.ones((2, 3), bool)}, "mask has shape"),
        ({"missing": "mask"}, {"X": sp.csr_array(np.ones((4, 3)))}, "missing='unstored'"),
        ({"missing": "unstored"}, {"X": np.ones((4, 3))}, "needs a sparse X"),
        ({"missing": "mask"}, {"X": np.full((4, 3), np.inf)}, "infinity"),
        ({"missing": "mask", "batch_size": 2}, {"X": iter([np.ones((4, 3))])}, "one-way stream"),
        ({"missing": "mask", "init": "kmeans"}, {"X": np.ones((4, 3))}, "complete samples"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(options, arguments, message):
    with pytest.raises(ValueError, match=message):
        AND(2, **options).fit(**arguments)


def test_a_model_with_holes_is_saved_and_a_fit_goes_on_from_its_checkpoint(problem, tmp_path):
    import altmin

    X = holed(problem.X, 0.3)
    whole = AND(5, missing="mask").fit(X)
    altmin.save(whole, tmp_path / "model.altmin")
    again = altmin.load(tmp_path / "model.altmin")
    np.testing.assert_array_equal(again.transform(X), whole.transform(X))
    AND(5, missing="mask", max_iter=3, checkpoint=tmp_path / "fit").fit(X)
    resumed = AND(5, missing="mask", checkpoint=tmp_path / "fit").fit(X)
    np.testing.assert_array_equal(resumed.components_, whole.components_)


def test_holes_in_a_file_or_a_list_of_blocks_are_read_as_in_memory(problem, tmp_path):
    X = holed(problem.X, 0.3)
    np.save(tmp_path / "holes.npy", X)
    memory = AND(5, missing="mask").fit(X)
    for source in (tmp_path / "holes.npy", [X[:111], X[111:]]):
        np.testing.assert_array_equal(AND(5, missing="mask").fit(source).components_, memory.components_)
