"""Ctrl-C is never lost, wherever its exception is swallowed."""

import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("typer", reason="the extra 'cli' is not installed")
if sys.platform == "win32":
    pytest.skip("a process can't send itself Ctrl-C there", allow_module_level=True)

from altmin.datasets import make_dir

CODE = """
import os, signal, sys, time
from altmin.estimators.nonnegative.and_nmf import AND

class Left:
    def __del__(self):  # exceptions that are raised here are dropped
        press()

def press():
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000):
        pass

def swallowed():
    try:
        press()
    except BaseException:
        pass

def dropped():
    left = Left()
    del left
    end = time.monotonic() + 200
    while time.monotonic() < end:  # it comes again at once, not when a long fit has ended
        pass

original, way = AND.fit, globals()[sys.argv.pop(1)]

def fit(self, X):
    way()
    return original(self, X)

AND.fit = fit
from altmin.__main__ import main
main()
"""


@pytest.fixture
def stopped(tmp_path):
    np.save(tmp_path / "X.npy", make_dir(200, 10, 2, concentration=1.0, random_state=0).X)

    def run(way, *options):
        words = [sys.executable, "-c", CODE, way, "fit", "AND", "X.npy", "-n", "2", *options]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        return done.returncode, (tmp_path / "model.altmin").exists(), done.stdout + done.stderr

    return run


def test_one_that_is_swallowed_ends_in_130_without_a_model(stopped):
    code, model, said = stopped("swallowed")
    assert (code, model) == (130, False), said
    assert "no model was written" in said


def test_one_that_is_swallowed_leaves_a_model_where_one_was_asked_for(stopped):
    code, model, said = stopped("swallowed", "--keep-partial")
    assert (code, model) == (130, True), said
    assert "model of an interrupted fit" in said


def test_one_that_python_drops_is_raised_again(stopped):
    begin = time.monotonic()
    code, model, said = stopped("dropped")
    assert (code, model) == (130, False), said
    assert time.monotonic() - begin < 190
    assert "Exception ignored" not in said
