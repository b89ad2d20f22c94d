"""What is wrong with the last rows is found too, wherever they come from, and the model stays as it was."""

import numpy as np
import pytest

from altmin import (
    AND,
    ApproximateDictionaryLearning,
    CompleteDictionaryLearning,
    FactorizationMachineRegressor,
    OnlineDictionaryLearning,
    OrthogonalDictionaryLearning,
)
from altmin.datasets import make_sparse_dictionary

X = make_sparse_dictionary(20_000, 6, density=0.2, orthogonal=True, random_state=0).X
BAD = X.copy()
BAD[-1, 3] = np.nan
TARGET = X[:, 0] ** 2
MODELS = [
    AND(3, max_iter=3),
    OrthogonalDictionaryLearning(max_iter=3),
    CompleteDictionaryLearning(random_state=0, max_iter=3),
    OnlineDictionaryLearning(batch_size=500, start_size=1000, random_state=0),
    ApproximateDictionaryLearning(6, n_nonzero_coefs=2, peeling="sampled", random_state=0, max_iter=3),
    FactorizationMachineRegressor(1, random_state=0, max_iter=3),
    FactorizationMachineRegressor(1, batch_size=4000, random_state=0, max_iter=8),
]


def on_disk(rows, folder):
    np.save(folder / "x.npy", rows)
    return folder / "x.npy"


def in_blocks(rows, folder):
    return [rows[:7000], rows[7000:]]


def on_dask(rows, folder):
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    return da.from_array(rows, chunks=(6000, 6))


@pytest.mark.parametrize("given", [on_disk, in_blocks, on_dask], ids=lambda f: f.__name__)
@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_a_nan_in_the_last_row_is_named_and_the_model_unchanged(model, given, tmp_path):
    target = (TARGET,) if isinstance(model, FactorizationMachineRegressor) else ()
    with pytest.raises(ValueError, match="NaN at row 19999, column 3"):
        model.fit(given(BAD, tmp_path), *target)
    assert not any(name.endswith("_") for name in vars(model))
