"""Progress: the line of ``verbose``, and scikit-learn's callbacks where its version has them."""

import numpy as np
import pytest

from altmin import AND, FactorizationMachineRegressor
from altmin.datasets import make_dir

X = make_dir(400, 40, 4, random_state=0).X


def test_silent_by_default(capsys):
    AND(4, max_iter=3).fit(X)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_verbose_prints_plan_and_outcome(capsys):
    AND(4, max_iter=3, verbose=1).fit(X)
    text = capsys.readouterr().err
    assert "400 rows x 40 features, float64: blocks of" in text
    assert "MiB besides the data" in text
    assert "altmin: max_iter" in text


class Recorder:
    def __init__(self, stop_after=None):
        self.events, self.stop_after = [], stop_after

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        if context.task_name == "iteration":
            self.events.append(metadata["change"])
            return len(self.events) - 1 == self.stop_after
        return False


def test_callbacks_of_scikit_learn_hear_every_iteration():
    pytest.importorskip("sklearn.callback", reason="this scikit-learn has no callbacks")
    recorder = Recorder()
    model = AND(4, max_iter=5, nonnegative_components=False).set_callbacks(recorder).fit(X)
    assert recorder.events[0] == "setup"
    assert recorder.events[-1] == "teardown"
    assert recorder.events[1:-1] == [row["change"] for row in model.history_]


def test_a_callback_can_end_the_fit():
    pytest.importorskip("sklearn.callback", reason="this scikit-learn has no callbacks")
    model = AND(4, max_iter=50).set_callbacks(Recorder(stop_after=3)).fit(X)
    assert model.n_iter_ == 3
    assert model.outcome_.kind == "interrupted"
    as_long = AND(4, max_iter=3, nonnegative_components=False).fit(X)  # a fit that was ended is not polished
    np.testing.assert_array_equal(model.components_, as_long.components_)


def test_callbacks_are_taken_down_after_an_error():
    pytest.importorskip("sklearn.callback", reason="this scikit-learn has no callbacks")
    recorder = Recorder()
    bad = X.copy()
    bad[3, 2] = np.nan
    with pytest.raises(ValueError, match="row 3"):
        AND(4).set_callbacks(recorder).fit(bad)
    assert recorder.events == ["setup", "teardown"]


def test_a_partial_fit_does_not_guess_how_long_it_will_take(capsys):
    """Nobody knows how many batches will come, so the line names no end."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 4)), rng.standard_normal(3000)
    FactorizationMachineRegressor(1, batch_size=500, verbose=1, random_state=0).partial_fit(X, y)
    said = capsys.readouterr().err
    assert "end_of_stream" in said
    assert "left" not in said
    assert "None" not in said
