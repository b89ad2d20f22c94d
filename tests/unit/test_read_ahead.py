"""Rows of files are fetched before rounds ask for them, once, and what is fetched changes no bit."""

import os
from contextlib import ExitStack

import numpy as np
import pytest

from altmin import AND, FactorizationMachineRegressor, OnlineDictionaryLearning
from altmin.datasets import make_dir, make_quadratic, make_sparse_dictionary
from altmin.engine.plan import AHEAD_BYTES
from altmin.engine.read_ahead import ReadAhead, spans
from altmin.engine.sources import SourceError, open_source
from altmin.io import tables


@pytest.fixture
def reads(monkeypatch):
    """All reads of .npy tables, in order."""
    seen, rows = [], tables.NpyRows.rows

    def recorded(self, start, stop):
        seen.append((start, stop))
        return rows(self, start, stop)

    monkeypatch.setattr(tables.NpyRows, "rows", recorded)
    return seen


def _file(tmp_path, X):
    np.save(tmp_path / "x.npy", X)
    return tmp_path / "x.npy"


def test_reads_are_those_that_were_expected(tmp_path, reads):
    X = np.arange(40_000.0).reshape(10_000, 4)
    source = open_source(_file(tmp_path, X))
    grid = list(spans(0, 10_000, 1000))
    with ExitStack() as stack:
        reader = ReadAhead(source, AHEAD_BYTES // 3, stack)
        for number, (low, high) in enumerate(grid):
            got = reader.read((low, high), iter(grid[number + 1 :]))
            assert np.array_equal(got.X, X[low:high])
    assert reads == grid


def test_a_wrong_guess_costs_nothing_but_time(tmp_path):
    X = np.arange(40_000.0).reshape(10_000, 4)
    source = open_source(_file(tmp_path, X))
    with ExitStack() as stack:
        reader = ReadAhead(source, 1, stack)
        for low in (0, 7000, 3000, 9990):
            got = reader.read((low, low + 10), spans(low + 10, 10_000, 10))
            assert np.array_equal(got.X, X[low : low + 10])


def test_an_error_of_a_read_reaches_the_one_who_asks(tmp_path, monkeypatch):
    source = open_source(_file(tmp_path, np.ones((1000, 4))))

    def torn(self, start, stop):
        raise tables.TableError("the file ends too early")

    monkeypatch.setattr(tables.NpyRows, "rows", torn)
    with ExitStack() as stack, pytest.raises(tables.TableError, match="too early"):
        ReadAhead(source, 1, stack).read((0, 10), iter([(10, 20)]))


def test_batches_are_read_once_though_rounds_look_again(tmp_path, reads):
    problem = make_quadratic(30_000, 12, 2, random_state=0)
    path = _file(tmp_path, problem.X)
    model = FactorizationMachineRegressor(2, batch_size=5000, max_iter=6, tol=0.0, random_state=0)
    model.fit(path, problem.y)
    assert model.n_iter_ == 6
    counts = np.zeros(30_000, int)
    for start, stop in reads:
        counts[start:stop] += stop - start > 100  # single rows are samples
    assert counts.min() >= 1
    # a pass, the look of the report, and what was fetched for a batch that did not come
    assert counts.mean() <= 2.5


@pytest.mark.parametrize(
    ("model", "make"),
    [
        (AND(8, max_iter=4, random_state=0), lambda: make_dir(9000, 40, 8, random_state=0).X),
        (
            OnlineDictionaryLearning(batch_size=900, random_state=0),
            lambda: make_sparse_dictionary(9000, 12, density=0.2, random_state=0).X,
        ),
    ],
)
def test_a_file_gives_the_bits_of_the_array(tmp_path, model, make):
    X = make()
    here = model.fit(X).components_
    assert np.array_equal(model.fit(_file(tmp_path, X)).components_, here)


def test_pages_go_back_only_for_files_beyond_memory(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(os, "posix_fadvise", lambda *call: asked.append(call), raising=False)
    monkeypatch.setattr(os, "POSIX_FADV_DONTNEED", 4, raising=False)
    path = _file(tmp_path, np.ones((20_000, 300)))  # 48 MB
    open_source(path).read(0, 20_000)
    assert not asked
    monkeypatch.setattr(tables, "_memory_bytes", lambda: 1e6)
    assert np.all(open_source(path).read(0, 20_000).X == 1.0)
    assert asked


def test_transform_of_a_file_is_that_of_the_array(tmp_path):
    X = make_dir(9000, 40, 8, random_state=0).X
    model = AND(8, max_iter=4, random_state=0).fit(X)
    assert np.array_equal(model.transform(_file(tmp_path, X)), model.transform(X))


def test_a_hole_in_rows_fetched_ahead_is_still_refused(tmp_path):
    X = make_dir(9000, 40, 8, random_state=0).X
    X[-1, 3] = np.nan
    with pytest.raises(SourceError, match="row 8999"):
        AND(8, max_iter=4, random_state=0).fit(_file(tmp_path, X))


@pytest.mark.parametrize(("memory", "returned"), [(1.9, True), (2.1, False)])
def test_a_file_of_more_than_half_of_the_memory_is_not_kept_there(memory, returned, tmp_path, monkeypatch):
    """Its pages go back as a whole, each time that 32 MiB were read."""
    asked = []
    monkeypatch.setattr(os, "posix_fadvise", lambda *call: asked.append(call[1:]), raising=False)
    monkeypatch.setattr(os, "POSIX_FADV_DONTNEED", 4, raising=False)
    monkeypatch.setattr(tables, "_CACHED_BYTES", 1000)
    path = _file(tmp_path, np.ones((50, 5)))
    size = path.stat().st_size
    monkeypatch.setattr(tables, "_memory_bytes", lambda: memory * size)
    rows = open_source(path).pieces[0].X
    for low in range(0, 50, 10):  # 400 bytes each
        rows.rows(low, low + 10)
    assert asked == ([(0, 0, 4)] if returned else [])
