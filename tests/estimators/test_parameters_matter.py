"""Every parameter of every estimator changes the fit, or what is made of it: none is taken and ignored."""

import importlib
import inspect
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls

import altmin
from altmin.datasets import make_quadratic

sys.path.insert(0, str(Path(__file__).parents[1] / "golden"))
parameters, renew = map(importlib.import_module, ("parameters", "renew"))
CHANGES, CONE, KEPT = parameters.CHANGES, parameters.CONE, renew.read()
# What changes nothing but speed, screens or files is tested elsewhere; some need a setting beside them.
ELSEWHERE = {
    "verbose", "checkpoint", "n_jobs", "random_state", "missing", "warm_start",
    "transform_n_nonzero_coefs", "tol",
}  # fmt: skip
BESIDE = {
    "AND": {"step"},
    "CompleteDictionaryLearning": {"n_components", "n_restarts"},
    "InductiveMatrixCompletion": {"step", "whiten"},
    "TopicModel": {"noise_factor"},
}


def look(name):
    """All numbers that a fit leaves behind, and what it makes of its data."""
    needed, data, _ = CHANGES[name]
    model = getattr(altmin, name.partition(" ")[0])(**needed)
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
def test_the_same_values_are_the_same_fit(name):
    assert not differ(look(name), look(name))


@pytest.mark.parametrize("name", CHANGES)
def test_another_value_is_another_fit(name):
    """As the golden fits say, which are run and compared elsewhere."""
    kept: dict[str, dict[str, str]] = {}
    for line, text in KEPT[f"parameters of {name}"].items():
        key, _, rest = line.partition(".")
        kept.setdefault(key, {})[rest] = text
    usual = kept.pop("usual")
    assert {key for key in kept if not key.startswith("of ")} == set(CHANGES[name][2])
    assert [key for key, fit in kept.items() if fit == usual] == []


def test_no_parameter_is_forgotten():
    tried = {}
    for name, (needed, _, changes) in CHANGES.items():
        known = {*needed, *changes, *ELSEWHERE, *BESIDE.get(name, ())}
        tried.setdefault(name.partition(" ")[0], set()).update(known)
    for name, known in tried.items():
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
