"""SparseCoder takes the place of scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import decomposition
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from altmin import SparseCoder

rng = np.random.default_rng(0)
D = rng.standard_normal((20, 12))
D /= np.linalg.norm(D, axis=1, keepdims=True)
X = rng.standard_normal((40, 12))


@pytest.mark.parametrize("split_sign", [False, True])
@pytest.mark.parametrize("options", [{"transform_n_nonzero_coefs": 4}, {}])
def test_gives_the_codes_of_scikit_learn(options, split_sign):
    theirs = decomposition.SparseCoder(D, transform_algorithm="omp", split_sign=split_sign, **options)
    ours = SparseCoder(D, split_sign=split_sign, **options)
    codes = ours.fit_transform(X)
    np.testing.assert_allclose(codes, theirs.transform(X), rtol=1e-8, atol=1e-10)
    signed = codes[:, :20] - codes[:, 20:] if split_sign else codes
    back = signed @ D
    np.testing.assert_allclose(ours.inverse_transform(codes), back, atol=1e-9)


def test_works_in_a_pipeline_under_a_grid_search():
    pipeline = make_pipeline(StandardScaler(), SparseCoder(D, transform_n_nonzero_coefs=2), Ridge())
    grid = {"transform_n_nonzero_coefs": [2, 6], "transform_algorithm": ["omp", "ormp"]}
    grid = {f"sparsecoder__{name}": values for name, values in grid.items()}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, X @ rng.standard_normal(12))
    assert search.best_params_["sparsecoder__transform_n_nonzero_coefs"] == 6


def test_clones_names_its_columns_and_gives_frames():
    coder = clone(SparseCoder(D)).set_output(transform="pandas")
    frame = coder.fit_transform(X)
    assert list(frame.columns[:2]) == ["sparsecoder0", "sparsecoder1"] and frame.shape == (40, 20)


def test_wrong_width_is_refused():
    with pytest.raises(ValueError, match="5 features"):
        SparseCoder(D).transform(X[:, :5])


def test_stops_at_the_tolerance():
    coder = SparseCoder(D, transform_tol=2.0)
    assert ((X - coder.inverse_transform(coder.transform(X))) ** 2).sum(axis=1).max() <= 2.0


def test_fit_compares_the_columns_with_the_dictionary():
    coder = SparseCoder(np.eye(4))
    assert coder.fit() is coder.fit(np.ones((2, 4))) is coder
    with pytest.raises(ValueError, match="features"):
        coder.fit(np.ones((2, 3)))
