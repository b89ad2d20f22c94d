"""The steps of a machine for sparse rows: the level, what a stream's surprises do, where its stages end."""

from types import SimpleNamespace

import numpy as np
import pytest

from altmin.algorithms.sparse import machine
from altmin.algorithms.sparse.machine import SparseMachine
from altmin.contract import Info
from altmin.io.records import replace

SUMS = {
    "n": 50.0, "pull": 3.0, "kappa": 5.0, "loss": 40.0, "variance": 10.0, "held_loss": 0.0, "held_n": 0.0,
    "size": 4.0, "expected": 40.0,
}  # fmt: skip


def state(**changes):
    """A start's sums are known; two fields of two columns each."""
    made = SparseMachine(1).init(Info(4, np.dtype("f8"), 50), 0)
    made = replace(
        made, phase="sums", bounds=np.array([0, 2, 4]), ridge=np.ones((2, 2)), unit=np.ones(4), squares=9.0
    )
    return replace(made, **changes)


@pytest.fixture
def level(monkeypatch):
    """What the level makes of a state, its stages left alone."""
    monkeypatch.setattr(SparseMachine, "_ended", lambda self, state, stats: state)
    monkeypatch.setattr(SparseMachine, "_ridge", lambda self, state: state.ridge)

    def run(state, logistic=False, **sums):
        return SparseMachine(1, logistic=logistic)._level(state, {**SUMS, **sums})

    return run


@pytest.mark.parametrize("logistic", [False, True])
@pytest.mark.parametrize("sweep", [0, 2])
def test_intercept_noise_and_change_of_a_sweep(level, sweep, logistic):
    after = level(state(b=1.0, b_precision=1.0, noise=7.0, sweep=sweep), logistic, held_loss=6.0, held_n=3.0)
    assert after.b == pytest.approx(1.0 + 3.0 / 6.0)
    assert after.noise == (7.0 if logistic else 1.0)
    assert after.held == (2.0 if sweep else np.inf)
    assert after.loss == pytest.approx(0.8)
    assert after.change == (1.5 if sweep else np.inf)
    assert (after.phase, after.field, after.sweep, after.squares) == ("field", 0, sweep + 1, 0.0)
    least = level(state(), loss=0.0, variance=0.0)
    assert least.noise == machine._LEAST_NOISE
    assert level(state(sweep=1)).held == np.inf


@pytest.mark.parametrize("sweep", [0, 1])
@pytest.mark.parametrize("stream", [False, True])
def test_surprises_count_once_at_the_first_sweep_of_a_streams_rows(level, sweep, stream, monkeypatch):
    asked = []
    monkeypatch.setattr(SparseMachine, "_follow", lambda self, state, stats: asked.append(1) or state)
    prior = (np.zeros((4, 2)), np.ones((4, 2))) if stream else None
    level(state(sweep=sweep, prior=prior))
    assert bool(asked) == (stream and sweep == 0)


@pytest.mark.parametrize("batches", [3, 4])
@pytest.mark.parametrize("gap", [1.0, 1.5, 1.6, 4.0])
def test_a_stream_that_is_surprised_becomes_less_sure(gap, batches):
    mean, precision = np.full((4, 2), 6.0), np.full((4, 2), 32.0)
    before = state(prior=(mean, precision), b_precision=8.0, batches=batches, nothing=0.5)
    stats = {**SUMS, "loss": gap * 40.0}
    after = SparseMachine(1)._follow(before, stats)
    if gap <= 1.5 or batches <= 3:
        assert after.prior is before.prior and after.b_precision == 8.0
    else:
        np.testing.assert_allclose(after.prior[0], mean / min(gap, 2.0))
        np.testing.assert_allclose(after.prior[1], np.maximum(32.0 / gap**2, before.column_ridge))
        assert after.b_precision == pytest.approx(8.0 / gap**2)
    assert after.lost == (gap > 1.5)
    assert not SparseMachine(1)._follow(replace(before, nothing=9.0), stats).lost


@pytest.mark.parametrize(("stage", "wanted"), [("falling", (4, 0)), ("learned", (2, 4))])
@pytest.mark.parametrize(("held", "kept"), [(0.9, True), (0.9995, False), (1.1, False)])
def test_the_model_that_does_best_on_rows_left_out_is_kept(stage, wanted, held, kept):
    before = state(stage=stage, sweep=4, wanted=(2, 0), held=held, best=(1.0, "m"), noise=0.25)
    after = SparseMachine(1)._remember(before)
    if kept:
        assert after.wanted == wanted
        assert (after.best[0], after.best[4]) == (held, 0.25)
        assert after.best[1] is before.m and after.best[5] is before.ridge
    else:
        assert after is before
    assert SparseMachine(1)._remember(replace(before, best=None)).best[0] == held


PATIENT = max(machine._LEAST_SWEEPS, 20 + machine._PATIENCE)
ENDS = [
    ({"stage": "all", "sweep": 4, "wanted": (2, 3)}, 9.0, "same"),
    ({"stage": "all", "sweep": 5, "wanted": (2, 3)}, 9.0, "done"),
    ({"prior": (0, 0), "sweep": machine._STREAM_SWEEPS - 1, "wanted": (9, 9)}, 9.0, "same"),
    ({"prior": (0, 0), "sweep": machine._STREAM_SWEEPS, "wanted": (9, 9)}, 0.0, "done"),
    ({"sweep": 1}, 0.0, "usual"),
    ({"sweep": 1}, 9.0, "same"),
    ({"sweep": 1, "held": 0.0}, 9.0, "learned"),
    ({"sweep": machine._SWEEPS * len(machine._RIDGES), "wanted": (99, 0)}, 9.0, "learned"),
    ({"sweep": PATIENT - 1, "wanted": (20, 0)}, 9.0, "same"),
    ({"sweep": PATIENT, "wanted": (20, 0)}, 9.0, "learned"),
    ({"stage": "learned", "sweep": 1, "wanted": (2, 1)}, 9.0, "same"),
    ({"stage": "learned", "sweep": 1 + machine._LEARNED_PATIENCE, "wanted": (2, 1)}, 9.0, "all"),
    ({"stage": "learned", "sweep": machine._LEARNED_SWEEPS, "wanted": (2, 999)}, 9.0, "all"),
]


@pytest.mark.parametrize(("changes", "held_n", "ends"), ENDS)
def test_stages_end_where_sweeps_gain_nothing(changes, held_n, ends, monkeypatch):
    monkeypatch.setattr(SparseMachine, "_start", lambda self, state, stage: SimpleNamespace(
        told=(stage, state.wanted, state.best, state.held)))  # fmt: skip
    monkeypatch.setattr(SparseMachine, "_adopt", lambda self, state: replace(state, seed=99))
    before = state(b_precision=2.0, best=(0.5,), **{"held": 1.0, **changes})
    after = SparseMachine(1)._ended(before, {**SUMS, "held_n": held_n})
    if ends == "same":
        assert after is before
    elif ends == "done":
        assert (after.phase, after.b_precision) == ("done", 7.0)
    elif ends == "usual":
        assert after.told == ("all", machine._USUAL_SWEEPS, (0.5,), 1.0)
    elif ends == "all":
        assert after.told == ("all", before.wanted, None, np.inf)
    else:
        assert (after.stage, after.phase, after.sweep, after.seed) == ("learned", "sums", 0, 99)


def test_columns_that_come_later_begin_small_and_others_stay():
    m = np.arange(8.0).reshape(4, 2)
    new = np.array([False, True, False, True])
    before = state(m=m, batches=3, ridge=np.array([[1.0, 4.0], [1.0, 16.0]]))
    after = SparseMachine(1)._new_columns(before, new)
    np.testing.assert_array_equal(after.m[~new], m[~new])
    np.testing.assert_array_equal(after.m[:, 0], m[:, 0])
    draws = np.random.default_rng([0, 5]).standard_normal((2, 1))
    np.testing.assert_allclose(after.m[new, 1:], draws * machine._SPREAD / np.sqrt([[4.0], [16.0]]))
