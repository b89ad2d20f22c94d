"""The plan of a fit's memory, and what a model says that it holds; measured in lab/acceptance."""

import numpy as np
import scipy.sparse as sp

import altmin
from altmin.contract import Info
from altmin.engine import open_source
from altmin.engine.plan import make_plan

MIB = 2**20


def test_rows_of_an_array_are_views_and_those_of_a_file_are_not():
    info = Info(1000, np.dtype("f8"), n_rows=100_000)
    here, there = (make_plan(info, 2, on_disk).peak_bytes for on_disk in (False, True))
    assert here < 24 * MIB
    assert there - here == 64 * MIB + 16 * 256 * 8000  # read ahead, and in flight


def test_sparse_rows_count_their_entries():
    columns = np.random.default_rng(0).integers(0, 50_000, 100_000)  # sp.random would draw from all cells
    X = sp.csr_array((np.ones(100_000), columns, np.arange(0, 100_001, 5)), shape=(20_000, 50_000))
    X.sum_duplicates()
    info = open_source(X).info
    assert info.row_entries == X.nnz / 20_000
    assert make_plan(info, 1).peak_bytes < 10 * MIB
    assert "row_entries" not in repr(info)  # which is part of what a checkpoint belongs to


def test_what_a_model_holds_is_part_of_the_plan():
    wide = Info(50_000, np.dtype("f4"), n_rows=2000)
    for model in (altmin.AND(10), altmin.FactorizationMachineRegressor(2)):
        held = model._held_bytes(wide)
        assert held > 2000 * 50_000 * 4
        assert make_plan(wide, 1, held=held).peak_bytes > held
    sparse = Info(50_000, np.dtype("f8"), n_rows=100_000, sparse=True, row_entries=20)
    assert altmin.FactorizationMachineRegressor(2)._held_bytes(sparse) < 30 * MIB


def test_supports_between_a_sweep_and_its_refit_are_counted():
    info = Info(50, np.dtype("f8"), n_rows=1000)
    few, many = (altmin.ApproximateDictionaryLearning(9, n_nonzero_coefs=k)._held_bytes(info) for k in (1, 5))
    assert many - few == 2 * 4 * 4 * 1000  # two versions of four more numbers of atoms a row
