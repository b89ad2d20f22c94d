"""Bad values: an error that names the place, and the model as it was."""

import numpy as np
import pytest
import scipy.sparse as sp

from altmin import AND
from altmin.datasets import make_dir
from altmin.engine.plan import block_rows
from altmin.engine.sources import open_source

X = make_dir(5000, 300, 5, random_state=0).X
ROWS = block_rows(open_source(X).info)


def broken(value, row=7 * ROWS + 45, column=3):
    bad = X.copy()
    bad[row, column] = value
    return bad, row


@pytest.mark.parametrize("value, name", [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_block_and_row_are_named_and_the_model_is_unchanged(value, name, n_jobs):
    bad, row = broken(value)
    model = AND(5, max_iter=3, n_jobs=n_jobs).fit(X)
    before = {key: np.copy(v) if isinstance(v, np.ndarray) else v for key, v in vars(model).items()}
    with pytest.raises(ValueError, match=rf"{name}.* at row {row}, column 3 \(row 45 of block 7\)"):
        model.fit(bad)
    assert vars(model).keys() == before.keys()
    for key, value_before in before.items():
        np.testing.assert_array_equal(vars(model)[key], value_before)


def test_a_failed_fit_on_wider_data_leaves_the_old_width():
    model = AND(5, max_iter=3).fit(X)
    wider = np.hstack([X, X])
    wider[10, 3] = np.nan
    with pytest.raises(ValueError, match="row 10"):
        model.fit(wider)
    assert model.n_features_in_ == X.shape[1]
    assert model.transform(X).shape == (len(X), 5)
    fresh = AND(5)
    with pytest.raises(ValueError, match="row 10"):
        fresh.fit(wider)
    assert vars(fresh).keys() == fresh.get_params().keys()


def test_the_same_in_sparse_lists_and_transform():
    bad, row = broken(np.nan)
    with pytest.raises(ValueError, match=rf"at row {row}"):
        AND(5, max_iter=3, init=X[:5]).fit(sp.csr_array(bad))
    with pytest.raises(ValueError, match=rf"at row {row}"):
        AND(5, max_iter=3).fit([bad[:100], bad[100:]])
    with pytest.raises(ValueError, match=rf"at row {row}"):
        AND(5, max_iter=3).fit(X).transform(bad)


def test_large_finite_values_are_not_taken_for_infinity():
    from altmin.contract import Block
    from altmin.engine.checks import check_values

    check_values(Block(0, 0, np.full((3, 2), 1e200)))


def test_no_rows_one_row_and_too_many_components_have_clear_errors():
    with pytest.raises(ValueError, match="0 sample"):
        AND(2).fit(np.empty((0, 4)))
    with pytest.warns(UserWarning, match="n_components=5: the samples span only 1 dimension"):
        model = AND(5).fit(np.outer(np.arange(1.0, 9.0), np.ones(6)))
    assert np.isfinite(model.components_).all() and not model.components_[1:].any()
    with pytest.raises(ValueError, match=r"init has shape \(3, 2\)"):
        AND(3, init=np.ones((3, 2))).fit(X)
    with pytest.raises(ValueError, match="'n_components' parameter of AND"):
        AND(0).fit(X)
