"""Ctrl-C: a model bit-equal to a fit that was asked for that many iterations."""

import os
import signal
import threading
import time
from unittest import mock

import numpy as np
import pytest

from altmin import AND
from altmin.datasets import make_dir
from altmin.engine.progress import Silent

PROBLEM = make_dir(3000, 200, 10, random_state=0)


class Begun(Silent):
    """Tells when the first iteration has ended: Ctrl-C before that is a KeyboardInterrupt, by promise."""

    def __init__(self):
        self.event = threading.Event()

    def iteration(self, n_iter, measures):
        self.event.set()
        return False


def interrupted_fit(delay, **options):
    """Fit, and press Ctrl-C ``delay`` seconds after the first iteration."""
    model = AND(10, init=PROBLEM.start, max_iter=100_000, tol=0.0, threshold=(0.1, 1.001), **options)
    begun = Begun()

    def press():
        begun.event.wait()
        time.sleep(delay)
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    with mock.patch("altmin.estimators.base.make_progress", lambda verbose: begun):
        model.fit(PROBLEM.X)
    presser.join()
    return model


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_model_is_that_of_the_last_finished_iteration(seed, n_jobs):
    delay = float(np.random.default_rng(seed).uniform(0.0, 0.4))
    model = interrupted_fit(delay, n_jobs=n_jobs)
    assert model.outcome_.kind == "interrupted"
    again = AND(10, init=PROBLEM.start, max_iter=model.n_iter_, tol=0.0, threshold=(0.1, 1.001))
    again.fit(PROBLEM.X)
    assert again.outcome_.kind == "max_iter"
    np.testing.assert_array_equal(model.components_, again.components_)
    assert model.reconstruction_err_ == again.reconstruction_err_
    assert len(model.history_) == model.n_iter_


def test_before_the_first_iteration_it_is_a_keyboard_interrupt_and_the_model_is_as_it_was(monkeypatch):
    from altmin.engine.interrupt import InterruptFlag

    enter = InterruptFlag.__enter__

    def press_at_once(self):
        flag = enter(self)
        os.kill(os.getpid(), signal.SIGINT)
        return flag

    monkeypatch.setattr(InterruptFlag, "__enter__", press_at_once)
    model = AND(10, init=PROBLEM.start)
    with pytest.raises(KeyboardInterrupt):
        model.fit(PROBLEM.X)
    assert not hasattr(model, "components_")


def test_the_handler_of_the_caller_is_put_back():
    before = signal.getsignal(signal.SIGINT)
    interrupted_fit(0.2)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_fit_in_another_thread_leaves_signals_alone():
    before = signal.getsignal(signal.SIGINT)
    models = []
    thread = threading.Thread(
        target=lambda: models.append(AND(10, max_iter=2, nonnegative_components=False).fit(PROBLEM.X))
    )
    thread.start()
    thread.join()
    assert models[0].n_iter_ == 2
    assert signal.getsignal(signal.SIGINT) is before
