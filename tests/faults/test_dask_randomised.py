"""An algorithm that draws at random from each block gives the same bits on a cluster as in memory."""

import numpy as np
import pytest

from altmin import AND
from altmin.datasets import make_dir

da = pytest.importorskip("dask.array", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")


def test_draws_depend_on_the_block_and_not_on_where_it_lies():
    X = make_dir(4300, 60, 4, random_state=0).X
    settings = {"init": "random", "max_iter": 2, "nonnegative_components": False}
    here, another = (AND(4, **settings, random_state=seed).fit(X).components_ for seed in (3, 4))
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        there = AND(4, **settings, random_state=3).fit(da.from_array(X, chunks=(1300, 60))).components_
    np.testing.assert_array_equal(there, here)
    assert not np.array_equal(another, here)
