"""Bad rows, streams, interrupted fits: an error that names the place, or the same bits as without."""

import numpy as np
import pytest

from altmin import ApproximateDictionaryLearning
from altmin.datasets import make_planted_sparse

X = make_planted_sparse(900, 16, 24, 2, 0.05, random_state=0).X


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_value_is_named_and_the_model_stays(bad):
    model = ApproximateDictionaryLearning(24, n_nonzero_coefs=2, random_state=0).fit(X)
    before = model.components_.copy()
    broken = X.copy()
    broken[417, 3] = bad
    with pytest.raises(ValueError, match="417"):
        model.fit(broken)
    np.testing.assert_array_equal(model.components_, before)


def test_a_one_way_stream_is_refused_with_a_reason():
    with pytest.raises(ValueError, match="stream"):
        ApproximateDictionaryLearning(4).fit(block for block in (X[:100], X[100:]))


@pytest.mark.parametrize("changes", [{}, {"mode": "theory", "peeling": "sampled", "target_error": 0.2}])
def test_a_fit_resumed_from_a_checkpoint_has_the_same_bits(tmp_path, changes):
    settings = {"n_nonzero_coefs": 2, "random_state": 0, "tol": 0.0, **changes}
    whole = ApproximateDictionaryLearning(24, max_iter=7, **settings).fit(X)
    path = tmp_path / "state"
    ApproximateDictionaryLearning(24, max_iter=3, checkpoint=path, **settings).fit(X)
    resumed = ApproximateDictionaryLearning(24, max_iter=7, checkpoint=path, **settings).fit(X)
    np.testing.assert_array_equal(resumed.components_, whole.components_)
    assert resumed.n_iter_ == whole.n_iter_


def test_blocks_on_disk_give_the_same_bits(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    settings = {"n_nonzero_coefs": 2, "random_state": 0}
    memory = ApproximateDictionaryLearning(24, **settings).fit(X)
    disk = ApproximateDictionaryLearning(24, **settings).fit(tmp_path / "rows.npy")
    np.testing.assert_array_equal(disk.components_, memory.components_)
    assert (disk.codes_ != memory.codes_).nnz == 0
