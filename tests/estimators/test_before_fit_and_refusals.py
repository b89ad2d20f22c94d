"""What every estimator refuses: methods before fit, reports that aren't there, arguments without meaning."""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

import altmin
from altmin import AND, FactorizationMachineRegressor, OnlineDictionaryLearning, OrthogonalDictionaryLearning
from altmin.datasets import make_sparse_dictionary

X = make_sparse_dictionary(200, 4, density=0.3, orthogonal=True, random_state=0).X
Y = X[:, 0] ** 2
GIVEN = {
    "transform": (X,), "inverse_transform": (X,), "predict": (X,), "decision_function": (X,),
    "predict_proba": (X,), "score": (X, Y), "guarantee": (X, Y), "outlier_scores": (X,), "matrix": (),
    "interaction": (0, 1), "complete": (X, X), "recommend": (X, X), "plausible_components": (X,),
    "top_words": (), "get_feature_names_out": (),
}  # fmt: skip
PAIRS = {("InductiveMatrixCompletion", "predict"): (np.arange(3), np.arange(3))}
CLASSES = [
    found
    for name in altmin.__all__
    if inspect.isclass(found := getattr(altmin, name))
    and issubclass(found, BaseEstimator)
    and name != "SparseCoder"
]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_nothing_is_said_before_fit(kind):
    needed = "n_components" if "n_components" in inspect.signature(kind).parameters else "rank"
    asked = inspect.signature(kind).parameters.get(needed)
    model = kind(2) if asked is not None and asked.default is inspect.Parameter.empty else kind()
    public = [name for name in GIVEN if callable(getattr(kind, name, None))]
    assert "guarantee" in public
    for name in public:
        with pytest.raises(NotFittedError):
            getattr(model, name)(*PAIRS.get((kind.__name__, name), GIVEN[name]))
    assert not hasattr(model, "guarantee_")


@pytest.fixture(scope="module")
def model():
    return OrthogonalDictionaryLearning().fit(X)


@pytest.mark.parametrize("codes", [np.ones((3, 3)), np.ones(4), np.ones((2, 2, 4))])
def test_codes_of_another_width_are_refused(model, codes):
    assert model.inverse_transform(np.ones((3, 4))).shape == (3, 4)
    with pytest.raises(ValueError, match="4"):
        model.inverse_transform(codes)


def test_reports_take_what_they_say_and_nothing_else(model):
    with pytest.raises(ValueError, match=r"effort='some': allowed are 'cheap' and 'full'"):
        model.guarantee(X, effort="some")
    with pytest.raises(ValueError, match="none"):
        model.guarantee(X, assume="luck")
    with pytest.raises(ValueError, match="pure"):
        AND(2).fit(np.abs(X)).guarantee(np.abs(X), assume="luck")
    with pytest.raises(ValueError, match="exogenous"):
        FactorizationMachineRegressor(1, random_state=0).fit(X, Y).guarantee(X, Y, assume="pure")
    with pytest.raises(ValueError, match="features"):
        model.guarantee(X[:, :3])
    with pytest.raises(ValueError, match="features"):
        model.transform(X[:, :3])


def test_weights_of_zero_leave_rows_out_of_a_report(model):
    weight = np.repeat([1.0, 0.0], 100)
    found = model.guarantee(
        np.vstack([X[:100], 1 + np.random.default_rng(0).random((100, 4))]), sample_weight=weight
    )
    assert found.to_dict() == model.guarantee(X[:100]).to_dict()


@pytest.mark.parametrize(
    ("init", "reason"),
    [
        (np.ones((3, 4)), r"init has shape \(3, 4\); \(n_components, n_features\) = \(2, 4\)"),
        (np.array([[1.0, 0, 0, 0], [0, 0, 0, 0]]), "a component that is 0"),
        (np.array([[1.0, 0, 0, 0], [0, np.nan, 0, 0]]), "NaN"),
        (np.array([[1.0, 0, 0, 0], [0, np.inf, 0, 0]]), "infinity"),
    ],
)
def test_a_start_that_is_none_is_refused(init, reason):
    with pytest.raises(ValueError, match=reason):
        AND(2, init=init).fit(np.abs(X))


def test_more_components_than_features_are_refused():
    with pytest.raises(ValueError, match="n_components=5 is more than the 4"):
        AND(5).fit(np.abs(X))
    with pytest.raises(ValueError, match="negative entries"):
        AND(2, init="nmf").fit(X)


def test_a_stream_that_has_found_nothing_has_no_report():
    waiting = OnlineDictionaryLearning(batch_size=500, random_state=0).partial_fit(X)
    with pytest.raises(AttributeError, match="not fitted yet"):
        waiting.guarantee_  # noqa: B018
