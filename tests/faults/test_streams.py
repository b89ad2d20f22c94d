"""Streams: where a stopped fit goes on, what a one-way stream can promise, and queues."""

import os
import queue
import signal
import threading

import numpy as np
import pytest

from altmin import AND, FactorizationMachineRegressor, OnlineDictionaryLearning
from altmin.datasets import make_dir, make_quadratic, make_sparse_dictionary
from altmin.engine.checkpoint import stream_position
from altmin.io.tables import NpyRows

X = make_dir(6000, 60, 4, random_state=0).X


class Feed:
    """Blocks of uneven heights that can be sought, and that may break off."""

    def __init__(self, X, y=None, stop=None):
        self.X, self.y, self.start, self.stop = X, y, 0, stop
        self.read = 0

    def seek(self, row):
        self.start = row

    def __iter__(self):
        low = self.start
        for height in (100, 700, 1, 333, 480) * 40:
            if low >= len(self.X):
                return
            if self.stop is not None and low > self.stop:
                raise ConnectionError("the line went dead")
            rows = slice(low, min(low + height, len(self.X)))
            self.read += rows.stop - rows.start
            yield self.X[rows] if self.y is None else (self.X[rows], self.y[rows])
            low = rows.stop


def and_model(folder=None):
    return AND(4, batch_size=500, init=np.abs(X[:4]) + 0.1, checkpoint=folder)


def test_a_stream_that_can_be_sought_resumes_to_the_same_bits(tmp_path):
    whole = and_model().fit(Feed(X))
    with pytest.raises(ConnectionError):
        and_model(tmp_path).fit(Feed(X, stop=3500))
    rest = Feed(X)
    resumed = and_model(tmp_path).fit(rest)
    assert 0 < rest.read < len(X)  # the rest alone (and the block that told the width)
    np.testing.assert_array_equal(resumed.components_, whole.components_)
    assert resumed.n_iter_ == whole.n_iter_


def test_a_one_way_stream_goes_on_with_what_comes_next_and_says_so(tmp_path):
    whole = and_model().fit(Feed(X))
    with pytest.raises(ConnectionError):
        and_model(tmp_path).fit(iter(Feed(X, stop=3500)))
    with pytest.warns(UserWarning, match=r"after row [\d,]+ of a one-way stream") as caught:
        after = stream_position(tmp_path)
        resumed = and_model(tmp_path).fit(iter([X[after:]]))
    assert f"{after:,}" in str(caught[0].message)
    np.testing.assert_array_equal(resumed.components_, whole.components_)


def test_the_second_look_at_rows_that_are_gone_is_never_asked_for(tmp_path):
    problem = make_quadratic(6000, 6, 1, noise=0.1, random_state=0)

    def model(folder=None):
        return FactorizationMachineRegressor(1, batch_size=600, random_state=0, tol=0.0, checkpoint=folder)

    whole = model().fit(Feed(problem.X, problem.y))
    for stop in (1300, 2500, 4000):
        with pytest.raises(ConnectionError):
            model(tmp_path / str(stop)).fit(Feed(problem.X, problem.y, stop=stop))
        resumed = model(tmp_path / str(stop)).fit(Feed(problem.X, problem.y))
        np.testing.assert_array_equal(resumed.coef_, whole.coef_)
        np.testing.assert_array_equal(resumed.eigenvalues_, whole.eigenvalues_)


@pytest.mark.parametrize("last_row", [2500, 8000, 14_000])
def test_an_online_fit_of_a_file_resumes_in_mid_file(tmp_path, monkeypatch, last_row):
    problem = make_sparse_dictionary(9000, 6, density=0.2, random_state=0)
    changed = make_sparse_dictionary(9000, 6, density=0.2, random_state=1)
    path = tmp_path / "x.npy"
    np.save(path, np.vstack([problem.X, changed.X]))  # another dictionary halfway: a second search
    settings = {"batch_size": 500, "start_size": 1000, "random_state": 0}
    whole = OnlineDictionaryLearning(**settings).fit(path)
    assert whole.n_searches_ == 2
    read = NpyRows.rows

    def read_up_to(self, start, stop):
        if last_row < start < 17_000 and stop - start == 500:
            raise ConnectionError("the disk went away")
        return read(self, start, stop)

    with monkeypatch.context() as patch:
        patch.setattr(NpyRows, "rows", read_up_to)
        with pytest.raises(ValueError, match="the disk went away"):
            OnlineDictionaryLearning(checkpoint=tmp_path / "state", **settings).fit(path)
    resumed = OnlineDictionaryLearning(checkpoint=tmp_path / "state", **settings).fit(path)
    np.testing.assert_array_equal(resumed.components_, whole.components_)
    assert resumed.n_samples_seen_ == whole.n_samples_seen_
    assert resumed.n_iter_ == whole.n_iter_
    assert [row["noise"] for row in resumed.history_] == [row["noise"] for row in whole.history_]


def test_an_online_fit_of_a_generator_refuses_a_checkpoint_with_advice(tmp_path):
    with pytest.raises(ValueError, match="partial_fit"):
        OnlineDictionaryLearning(checkpoint=tmp_path).fit(iter([X]))


def test_a_queue_is_read_until_none():
    blocks = queue.Queue(maxsize=2)

    def produce():
        for block in Feed(X):
            blocks.put(block)
        blocks.put(None)

    producer = threading.Thread(target=produce)
    producer.start()
    model = and_model().fit(blocks)
    producer.join()
    np.testing.assert_array_equal(model.components_, and_model().fit(Feed(X)).components_)


def test_ctrl_c_ends_a_fit_that_waits_for_an_empty_queue():
    waits = threading.Event()

    class Waiting(queue.Queue):
        def get(self, *arguments, **options):
            if self.empty():
                waits.set()
            return super().get(*arguments, **options)

    blocks = Waiting()
    blocks.put(X)

    def press():
        waits.wait()
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    model = and_model().fit(blocks)
    presser.join()
    assert model.outcome_.kind == "interrupted"
    assert model.n_iter_ == 12
