"""Every parameter of every estimator changes the fit, or what is made of it: none is taken and ignored."""

import inspect
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls

import altmin
from altmin.datasets import make_dir, make_planted_sparse, make_quadratic, make_sparse_dictionary

CONE = make_dir(300, 20, 3, concentration=1.0, noise=1e-2, random_state=0)
SPARSE = make_sparse_dictionary(800, 6, density=0.2, snr_db=20, random_state=0).X
ORTHOGONAL = make_sparse_dictionary(800, 6, density=0.2, snr_db=20, orthogonal=True, random_state=0).X
PLANTED = make_planted_sparse(200, 8, 12, 2, 0.05, outliers=0.1, random_state=0).X
LAW = make_quadratic(
    1200, 5, 2, features="exponential", correlation=0.4, noise=0.1, intercept=1.0, random_state=0
)
RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(20 * make_dir(120, 30, 3, concentration=0.5, random_state=1).X).astype(float)
ENTRIES = sp.coo_array((RNG.random((30, 25)) < 0.5) * (RNG.standard_normal((30, 25)) + 2))
SIGNAL = RNG.standard_normal(6)
DESIGNS = RNG.standard_normal((90, 6))

# estimator: what is needed, the data, and another value of each parameter
CHANGES = {
    "AND": ({"n_components": 3, "max_iter": 12, "random_state": 0}, (np.abs(CONE.X),), {
        "init": CONE.start, "threshold": (0.1, 1.1), "noise_factor": 9.0, "trim": 0.5, "inner_steps": 1,
        "batch_size": 100, "decoder": "nnls", "nonnegative_components": True, "noise": "poisson",
        "max_iter": 3, "tol": 0.5,
    }),
    "ApproximateDictionaryLearning": (
        {"n_components": 12, "n_nonzero_coefs": 2, "max_iter": 4, "random_state": 0}, (PLANTED,), {
            "n_components": 9, "n_nonzero_coefs": 3, "contamination": 0.1, "target_error": 0.5,
            "mode": "theory", "peeling": "sampled", "init": PLANTED[:12], "max_iter": 1,
        },
    ),
    "CompleteDictionaryLearning": ({"max_iter": 60, "random_state": 0}, (SPARSE,), {
        "n_components": 4, "init": np.eye(6), "threshold": 0.4, "batch_size": 200, "fit_intercept": True,
        "transform_algorithm": "omp", "max_iter": 25, "tol": 0.5, "random_state": 1,
    }),
    "FactorizationMachineClassifier": ({"rank": 2, "random_state": 0}, (LAW.X, LAW.y > np.median(LAW.y)), {
        "rank": 1, "C": 1e-3, "moments": "gaussian", "whiten": False, "max_iter": 1,
    }),
    "FactorizationMachineRegressor": ({"rank": 2, "random_state": 0}, (LAW.X, LAW.y), {
        "rank": 1, "batch_size": 100, "step": 0.3, "fit_intercept": False, "max_iter": 1,
    }),
    "FactorizationMachineRegressor on batches": (
        {"rank": 2, "batch_size": 300, "step": 0.5, "max_iter": 12, "random_state": 0}, (LAW.X, LAW.y), {
            "moments": "gaussian", "whiten": False, "step": 0.25, "batch_size": 200, "tol": 0.9,
        },
    ),
    "InductiveMatrixCompletion": ({"rank": 2, "max_iter": 20, "random_state": 0}, (ENTRIES,), {
        "rank": 1, "feedback": "implicit", "max_iter": 2, "tol": 0.5,
    }),
    "OnlineDictionaryLearning": ({"batch_size": 200, "random_state": 0}, (SPARSE,), {
        "n_components": 4, "batch_size": 300, "start_size": 500, "memory": 100, "transform_algorithm": "omp",
        "max_iter": 1,
    }),
    "OrthogonalDictionaryLearning": ({"max_iter": 40}, (ORTHOGONAL,), {
        "init": "identity", "threshold": 0.4, "keep": 0.05, "transform_algorithm": "omp", "max_iter": 2,
        "tol": 0.5,
    }),
    "PhaseRetrieval": ({"max_iter": 300, "random_state": 0}, (DESIGNS, (DESIGNS @ SIGNAL) ** 2), {
        "batch_size": 45, "polish": False, "max_iter": 3, "tol": 0.5,
    }),
    "RankOneSensing": ({"rank": 1, "random_state": 0}, (DESIGNS, (DESIGNS @ SIGNAL) ** 2), {
        "rank": 2, "batch_size": 30, "step": 0.5, "max_iter": 1,
    }),
    "TopicModel": ({"n_components": 3, "max_iter": 10}, (COUNTS,), {
        "n_components": 2, "weighting": None, "start_quantile": 0.8, "max_iter": 2,
    }),
}  # fmt: skip
# What changes nothing but speed, screens or files is tested elsewhere; some need a setting beside them.
ELSEWHERE = {
    "verbose", "checkpoint", "n_jobs", "random_state", "missing", "warm_start", "coefficient_bound",
    "warm_up", "transform_n_nonzero_coefs", "tol",
}  # fmt: skip
BESIDE = {
    "AND": {"step"},
    "CompleteDictionaryLearning": {"n_restarts"},
    "FactorizationMachineRegressor": {"moments", "whiten"},
    "RankOneSensing": {"moments", "whiten"},
    "InductiveMatrixCompletion": {"step", "whiten"},
    "PhaseRetrieval": {"step"},
    "TopicModel": {"noise_factor"},
}


def look(name, **parameters):
    """All numbers that a fit leaves behind, and what it makes of its data."""
    needed, data, _ = CHANGES[name]
    model = getattr(altmin, name.partition(" ")[0])(**{**needed, **parameters})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*data)
        made = model.transform(data[0]) if hasattr(model, "transform") else np.zeros(1)
    found = {"made": np.asarray(made), "iterations": np.array(getattr(model, "n_iter_", 0))}
    for key, value in vars(model).items():
        if (
            key.endswith("_")
            and isinstance(value, np.ndarray | float)
            and np.asarray(value).dtype.kind == "f"
        ):
            found[key] = np.asarray(value)
    return found


def differ(one, other):
    return one.keys() != other.keys() or any(
        one[key].shape != other[key].shape or not np.array_equal(one[key], other[key], equal_nan=True)
        for key in one
    )


@pytest.mark.parametrize("name", CHANGES)
def test_another_value_is_another_fit(name):
    usual = look(name)
    assert not differ(usual, look(name))  # the same values give the same fit
    same = [key for key, value in CHANGES[name][2].items() if not differ(usual, look(name, **{key: value}))]
    assert same == []


def test_no_parameter_is_forgotten():
    for name, (needed, _, changes) in CHANGES.items():
        if " " in name:
            continue
        known = {*needed, *changes, *ELSEWHERE, *BESIDE.get(name, ())}
        assert set(inspect.signature(getattr(altmin, name)).parameters) <= known, name


def test_a_warm_start_goes_on_from_the_last_fit():
    options = {"max_iter": 3, "threshold": (0.1, 1.1), "nonnegative_components": False}
    cold = altmin.AND(3, **options).fit(CONE.X)
    model = altmin.AND(3, warm_start=True, **options).fit(CONE.X)
    np.testing.assert_array_equal(model.components_, cold.components_)
    start = model.components_ * model.component_scales_[:, None]
    given = altmin.AND(3, init=start, **options).fit(CONE.X)
    np.testing.assert_array_equal(model.fit(CONE.X).components_, given.components_)
    assert not np.array_equal(model.components_, cold.components_)


@pytest.mark.parametrize("decoder", ["nnls", "threshold"])
def test_codes_of_rows_with_holes_are_least_squares_on_what_is_seen(decoder):
    X = np.where(np.random.default_rng(1).random(CONE.X.shape) < 0.1, np.nan, CONE.X)
    model = altmin.AND(3, missing="mask", decoder=decoder, max_iter=10).fit(X)
    codes = model.transform(X)
    for row, found in zip(X[:30], codes[:30], strict=True):
        seen = ~np.isnan(row)
        A = model.components_[:, seen].T
        free = np.linalg.lstsq(A, row[seen], rcond=None)[0]
        expected = nnls(A, row[seen])[0] if decoder == "nnls" else np.maximum(free, 0.0)
        np.testing.assert_allclose(found, expected, atol=1e-5)
    assert (codes >= 0).all()


def test_clicks_may_be_counted_in_any_unit():
    clicks = sp.csr_array(np.random.default_rng(2).poisson(0.4, (40, 30)).astype(float))
    few, many = (
        altmin.InductiveMatrixCompletion(2, feedback="implicit", random_state=0).fit(scale * clicks)
        for scale in (1.0, 8.0)
    )
    np.testing.assert_array_equal(few.recommend(np.arange(40), 5), many.recommend(np.arange(40), 5))


@pytest.mark.parametrize(("features", "corrected"), [("exponential", True), ("gaussian", False)])
def test_moments_are_corrected_where_features_are_not_gaussian(features, corrected):
    law = make_quadratic(1500, 5, 2, features=features, random_state=0)
    options = {"batch_size": 500, "step": 0.5, "max_iter": 4, "whiten": False, "random_state": 0}
    auto, sample = (
        altmin.FactorizationMachineRegressor(2, moments=moments, **options).fit(law.X, law.y).coef_
        for moments in ("auto", "sample")
    )
    assert np.array_equal(auto, sample) == corrected
