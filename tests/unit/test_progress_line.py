"""The line of progress: what it says, how often, and where it stays silent."""

import io
import sys

import numpy as np
import pytest

from altmin import AND, datasets, images
from altmin.engine import progress
from altmin.engine.progress import Line, Silent, make_progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(progress.shutil, "get_terminal_size", lambda: type("Size", (), {"columns": 60})())
    return now


def shown(out):
    return [line.rstrip() for line in out.getvalue().split("\r")[1:]]


def test_lines_are_shown_now_and_then_and_cut_to_the_width(clock):
    out = Terminal()
    line = Line(out, every=0.1)
    line.begin("a plan", 40)
    line.round("pass", 0.5)  # at once: too early
    clock[0] += 0.05
    line.round("pass", 0.6)
    assert shown(out) == ["a plan"]
    clock[0] += 0.06
    line.round("pass", 0.75)
    assert shown(out)[-1] == "pass 75%"
    clock[0] += 0.05
    assert line.iteration(1, {"change": 0.5}) is False
    assert len(shown(out)) == 2
    clock[0] += 0.95
    line.iteration(2, {"change": 0.25, "count": 3})
    assert shown(out)[-1].startswith("iteration 2/40  1 s")
    assert shown(out)[-1].endswith("change 0.25")
    clock[0] += 200
    line.iteration(20, {"change": 0.125})
    assert "3 min 21 s, at most 3 min 21 s left" in shown(out)[-1]
    line.iteration(21, {"a very long name of a measure that does not fit": 1.0})
    clock[0] += 1
    line.round("pass", 0.1)
    assert max(len(text) for text in out.getvalue().split("\r")) == 59
    line.end("converged")
    assert out.getvalue().endswith("\raltmin: converged\n")


def test_files_are_told_of_plan_and_end_alone(clock):
    out = io.StringIO()
    line = Line(out)
    line.begin("a plan", None)
    clock[0] += 5
    line.round("pass", 0.5)
    line.iteration(1, {"change": 0.5})
    line.end("converged")
    assert out.getvalue() == "altmin: a plan\naltmin: converged\n"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.6, "1 min 00 s"), (61, "1 min 01 s"), (3600, "1 h 00 min"), (7384, "2 h 03 min")],
)
def test_durations(seconds, text):
    assert progress._duration(seconds) == text


def test_silence_is_the_default():
    assert isinstance(make_progress(0), Silent)
    assert isinstance(make_progress(1), Line)
    assert make_progress(False).iteration(1, {}) is False


class Told:
    """A progress that writes down what it is told."""

    def __init__(self):
        self.events = []

    def begin(self, plan, max_iter):
        self.events.append(("begin", plan, max_iter))

    def round(self, name, share):
        self.events.append(("round", name, share))

    def iteration(self, n_iter, measures):
        self.events.append(("iteration", n_iter))
        return False

    def end(self, outcome):
        self.events.append(("end", outcome))


def _picture():
    x = np.linspace(0, 3, 40)
    return 100 * np.sin(x) * np.cos(x)[:, None] + 10 * np.random.default_rng(0).standard_normal((40, 40))


def test_denoising_tells_of_both_passes_in_order(monkeypatch):
    told = Told()
    monkeypatch.setattr(sys.modules["altmin.images.denoise"], "make_progress", lambda verbose: told)
    images.denoise(_picture(), 10.0, n_jobs=1)
    kinds = [event[0] for event in told.events]
    assert told.events[0][0] == "begin"
    assert "denoising 40 x 40 pixels" in told.events[0][1]
    assert told.events[0][2] == 2
    assert told.events[-1] == ("end", "done")
    middle = kinds.index("iteration")
    assert kinds.count("iteration") == 1
    for part in (told.events[1:middle], told.events[middle + 1 : -1]):
        shares = [share for _, _, share in part]
        assert shares == sorted(shares)
        assert shares[-1] == 1.0


def test_filling_in_tells_of_every_pass(monkeypatch):
    told = Told()
    monkeypatch.setattr(sys.modules["altmin.images.inpaint"], "make_progress", lambda verbose: told)
    images.inpaint(_picture(), np.random.default_rng(1).random((40, 40)) < 0.7, n_jobs=1)
    assert "filling in 70%" in told.events[0][1]
    assert "% of 40 x 40 pixels" in told.events[0][1]
    numbers = [event[1] for event in told.events if event[0] == "iteration"]
    assert numbers == list(range(1, told.events[0][2] + 1))
    assert told.events[-1] == ("end", "done")


def test_a_fit_tells_how_far_each_round_is(monkeypatch):
    told = Told()
    monkeypatch.setattr("altmin.estimators.base.make_progress", lambda verbose: told)
    X = datasets.make_dir(9000, 300, 3, random_state=0).X  # several blocks
    AND(3, max_iter=3, n_jobs=1).fit(X)
    shares = [share for kind, *_, share in told.events if kind == "round"]
    assert min(shares) < 1.0
    assert all(0 < share <= 1 for share in shares)
    ends = [i for i, share in enumerate(shares) if share == 1.0]
    assert ends[-1] == len(shares) - 1
    for begin, end in zip([-1, *ends], ends, strict=False):
        part = shares[begin + 1 : end + 1]
        assert part == sorted(part)
    assert told.events[0][2] == 3
