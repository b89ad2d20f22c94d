"""One ``guarantee`` for every estimator: same arguments, always looks at the data that it is given."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp

import altmin
from altmin import (
    AND,
    ApproximateDictionaryLearning,
    CompleteDictionaryLearning,
    FactorizationMachineClassifier,
    FactorizationMachineRegressor,
    InductiveMatrixCompletion,
    OnlineDictionaryLearning,
    OrthogonalDictionaryLearning,
    PhaseRetrieval,
    RankOneSensing,
    TopicModel,
)
from altmin.datasets import make_dir, make_planted_sparse, make_quadratic, make_sparse_dictionary
from altmin.estimators.base import Estimator
from altmin.guarantees.report import VERDICTS

RNG = np.random.default_rng(0)
LAW = make_quadratic(600, 5, 1, noise=0.05, random_state=0)
SPARSE = make_sparse_dictionary(600, 5, density=0.2, orthogonal=True, random_state=0).X
INTENSITIES = np.square(LAW.X @ np.arange(5.0))
RATINGS = sp.csr_array(np.where(RNG.random((30, 20)) < 0.5, np.outer(RNG.normal(size=30), np.ones(20)), 0))
FITS = {
    AND(4): (make_dir(300, 20, 4, concentration=1.0, random_state=0).X,),
    TopicModel(4): (make_dir(300, 20, 4, concentration=1.0, random_state=0).X,),
    OrthogonalDictionaryLearning(): (SPARSE,),
    CompleteDictionaryLearning(random_state=0): (SPARSE,),
    OnlineDictionaryLearning(batch_size=300, random_state=0): (SPARSE,),
    ApproximateDictionaryLearning(10, n_nonzero_coefs=2, random_state=0, max_iter=3): (
        make_planted_sparse(200, 12, 10, 2, 0.02, random_state=0).X,
    ),
    FactorizationMachineRegressor(1, random_state=0): (LAW.X, LAW.y),
    FactorizationMachineClassifier(1, random_state=0): (LAW.X, LAW.y > 0),
    RankOneSensing(1, random_state=0): (LAW.X, INTENSITIES),
    PhaseRetrieval(random_state=0): (LAW.X, INTENSITIES),
    InductiveMatrixCompletion(1, random_state=0): (RATINGS,),
}


@pytest.fixture(scope="module", params=FITS, ids=lambda model: type(model).__name__)
def fitted(request):
    return request.param.fit(*FITS[request.param]), FITS[request.param]


def test_there_is_one_method(fitted):
    model, _ = fitted
    assert type(model).guarantee is Estimator.guarantee
    names = list(inspect.signature(type(model).guarantee).parameters)
    assert names == ["self", "X", "y", "effort", "sample_weight", "assume"]


def test_all_estimators_are_among_them():
    found = {name for name in altmin.__all__ if inspect.isclass(getattr(altmin, name))}
    found = {name for name in found if issubclass(getattr(altmin, name), Estimator)}
    assert found == {type(model).__name__ for model in FITS}


@pytest.mark.parametrize("effort", ["cheap", "full"])
def test_a_report_speaks_of_the_effort_that_was_asked_for(fitted, effort):
    model, data = fitted
    report = model.guarantee(*data, effort=effort)
    assert report.effort == effort
    assert report.verdict in VERDICTS
    assert report.claim


def test_cheap_looks_at_the_data(fitted):
    model, data = fitted
    with pytest.raises((ValueError, TypeError), match=r"R is a|no file|X|banana"):
        model.guarantee("banana", *data[1:], effort="cheap")
    with pytest.raises(ValueError, match="allowed are 'cheap' and 'full'"):
        model.guarantee(*data, effort="huge")
    with pytest.raises(ValueError, match="assume='magic'"):
        model.guarantee(*data, effort="cheap", assume="magic")


@pytest.mark.parametrize(
    "model", [CompleteDictionaryLearning(random_state=0), OrthogonalDictionaryLearning()]
)
def test_other_data_get_another_report(model):
    noise = np.random.default_rng(1).standard_normal(SPARSE.shape)
    model.set_params(random_state=0).fit(SPARSE)
    assert model.guarantee(SPARSE, effort="cheap").verdict == "recovered"
    assert model.guarantee(noise, effort="cheap").verdict in ("unknown", "contradicted")


def test_rows_without_weight_are_left_out():
    X = np.vstack([SPARSE, np.random.default_rng(1).standard_normal(SPARSE.shape)])
    model = CompleteDictionaryLearning(random_state=0).fit(SPARSE)
    weight = np.repeat([1.0, 0.0], len(SPARSE))
    weighted = model.guarantee(X, effort="cheap", sample_weight=weight)
    assert weighted.verdict == "recovered"
    assert weighted["theta"].measured < 0.3 < model.guarantee(X, effort="cheap")["theta"].measured


def test_streams_are_refused_by_name():
    model = OrthogonalDictionaryLearning().fit(SPARSE)
    with pytest.raises(ValueError, match="one-way stream"):
        model.guarantee(iter([SPARSE]))
