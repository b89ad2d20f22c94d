"""Every public estimator keeps scikit-learn's contract, with the checks that the decorator leaves out."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_param_validation,
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_set_output_transform_polars,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
    parametrize_with_checks,
)

from altmin import (
    AND,
    ApproximateDictionaryLearning,
    CompleteDictionaryLearning,
    FactorizationMachineClassifier,
    FactorizationMachineRegressor,
    OnlineDictionaryLearning,
    OrthogonalDictionaryLearning,
    PhaseRetrieval,
    RankOneSensing,
)

# InductiveMatrixCompletion is tested on its own: its fit takes R and two tables of features, not (X, y).
pytestmark = pytest.mark.filterwarnings("ignore:X (has|does not have)")

# few iterations: the contract is the same, and the checks are six hundred
ESTIMATORS = [
    AND(2, max_iter=6),
    AND(2, max_iter=6, missing="mask"),
    ApproximateDictionaryLearning(3, max_iter=2),
    OrthogonalDictionaryLearning(max_iter=6),
    CompleteDictionaryLearning(max_iter=5),
    OnlineDictionaryLearning(max_iter=5),
    FactorizationMachineRegressor(2, max_iter=8, random_state=0),
    FactorizationMachineClassifier(2, max_iter=4, random_state=0),
    RankOneSensing(2, max_iter=6, random_state=0),
    PhaseRetrieval(max_iter=12, random_state=0),
]

# name of the estimator -> {check: why it cannot hold}
EXPECTED_FAILURES: dict[str, dict[str, str]] = {}


def _expected_failures(estimator):
    known = EXPECTED_FAILURES.get(type(estimator).__name__, {})
    if not estimator.__sklearn_tags__().input_tags.sparse:  # later versions ask this themselves
        known = {**known, "check_sample_weight_equivalence_on_sparse_data": "1.6 gives sparse data to all"}
    return known


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=_expected_failures)
def test_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


LEFT_OUT = [
    check_dataframe_column_names_consistency,
    check_param_validation,
]
FOR_TRANSFORMERS = [
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_set_output_transform_polars,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("check", LEFT_OUT, ids=lambda c: c.__name__)
def test_names_and_parameters_are_checked(estimator, check):
    check(type(estimator).__name__, estimator)


@pytest.mark.parametrize(
    "estimator", [e for e in ESTIMATORS if hasattr(e, "transform")], ids=lambda e: type(e).__name__
)
@pytest.mark.parametrize("check", FOR_TRANSFORMERS, ids=lambda c: c.__name__)
def test_output_containers_are_respected(estimator, check):
    check(type(estimator).__name__, estimator)


def test_input_is_never_written_to():
    X = np.random.default_rng(0).random((60, 8))
    before = X.copy()
    X.flags.writeable = False
    for estimator in ESTIMATORS:
        if hasattr(estimator, "transform"):
            type(estimator)(**estimator.get_params()).fit_transform(X)
    np.testing.assert_array_equal(X, before)
