"""Scale, order and cut of the data leave the dictionary as it is."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from altmin import OrthogonalDictionaryLearning
from altmin.datasets import make_sparse_dictionary
from altmin.metrics import atom_error

PROBLEM = make_sparse_dictionary(600, 8, density=0.2, orthogonal=True, random_state=3)


@given(exponent=st.integers(-480, 480))
@settings(max_examples=8, deadline=None)
def test_atoms_do_not_depend_on_a_scale_that_is_a_power_of_two(exponent):
    model = OrthogonalDictionaryLearning().fit(PROBLEM.X)
    scaled = OrthogonalDictionaryLearning().fit(PROBLEM.X * 2.0**exponent)
    np.testing.assert_array_equal(model.components_, scaled.components_)
    np.testing.assert_allclose(scaled.thresholds_, model.thresholds_ * 2.0**exponent)


@given(cuts=st.lists(st.integers(1, 599), max_size=4, unique=True))
@settings(max_examples=8, deadline=None)
def test_the_cut_of_the_input_leaves_no_trace(cuts):
    whole = OrthogonalDictionaryLearning().fit(PROBLEM.X)
    parts = OrthogonalDictionaryLearning().fit(list(np.split(PROBLEM.X, sorted(cuts))))
    np.testing.assert_array_equal(whole.components_, parts.components_)


def test_float32_is_kept_and_converges():
    X = PROBLEM.X.astype(np.float32)
    model = OrthogonalDictionaryLearning().fit(X)
    assert model.components_.dtype == model.transform(X).dtype == np.float32
    assert atom_error(model.components_, PROBLEM.components) < 1e-5


def test_sparse_data_give_the_atoms_of_dense_data():
    rotation = np.kron(np.eye(4), [[0.6, 0.8], [-0.8, 0.6]])  # so half of the data are zero
    X = PROBLEM.codes @ rotation
    dense = OrthogonalDictionaryLearning().fit(X)
    for container in (sp.csr_array, sp.csr_matrix):
        model = OrthogonalDictionaryLearning().fit(container(X))
        np.testing.assert_allclose(model.components_, dense.components_, atol=1e-12)


def test_an_init_array_keeps_order_and_sign():
    start = -PROBLEM.components[::-1]
    model = OrthogonalDictionaryLearning(init=start).fit(PROBLEM.X)
    np.testing.assert_allclose(model.components_, start, atol=1e-12)


def test_clear_errors_for_what_cannot_be_fitted():
    with pytest.raises(ValueError, match="only zeros"):
        OrthogonalDictionaryLearning().fit(np.zeros((20, 4)))
    with pytest.raises(ValueError, match="init has shape"):
        OrthogonalDictionaryLearning(init=np.eye(3)).fit(PROBLEM.X)
    with pytest.raises(ValueError, match="full rank"):
        OrthogonalDictionaryLearning(init=np.ones((8, 8))).fit(PROBLEM.X)
    with pytest.raises(ValueError, match="keep"):
        OrthogonalDictionaryLearning(keep=0.1, threshold=0.5).fit(PROBLEM.X)
