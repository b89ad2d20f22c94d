"""Where each stage of the search for factors leads, and what is gone back to, without any rows."""

from dataclasses import replace

import numpy as np
import pytest

from altmin.algorithms.quadratic import grow_cut
from altmin.algorithms.quadratic.grow_cut import Descent, GrowCut
from altmin.algorithms.quadratic.least_squares import LeastSquares
from altmin.contract import Info, record

SIGNS = np.ones(2)
POINT = np.arange(7.0)


@record
class Search(GrowCut):
    """Tells what was asked for: the last step stands in the state's stage or phase."""

    minimum_loss: float = 1e-20
    with_moments: bool = True
    shrinking: bool = True
    free: bool = False
    thoughts: int = 0

    def forms_moments(self, state):
        return self.with_moments

    def shrinks(self, state):
        return self.shrinking

    def may_free(self, state):
        return self.free

    def second_thoughts(self, state):
        return self.thoughts

    def freedom(self, state):
        return 10

    def cut(self, state):
        return np.full(4, -1.0), np.array([1.0])

    def freed_point(self, state):
        return np.full(9, -2.0), np.zeros(0)

    def random_point(self, state, about):
        return np.full(11, -3.0 - about), np.ones(4)


def at(stage, **changes):
    """A stage that has come to its end, with plenty of rows."""
    descent = Descent(trial=POINT + 1, point=POINT, slope=np.ones(7))
    made = LeastSquares(2).init(Info(3, np.dtype("f8"), 50), 0)
    made = replace(made, descent=descent, signs=SIGNS, stage=stage, n=1e4, loss=0.5, phase="step")
    return replace(made, **changes)


@pytest.fixture(autouse=True)
def what_a_step_proposes_is_not_looked_at(monkeypatch):
    monkeypatch.setattr(grow_cut, "proposed", lambda descent: replace(descent, again=True))


def told(state):
    """(stage, phase, first number of the point that is tried next)."""
    return state.stage, state.phase, float(state.descent.trial[0])


BEFORE = (np.full(5, -9.0), np.ones(1), 0.4, False)


@pytest.mark.parametrize(
    ("stage", "changes", "expected"),
    [
        ("wide", {"ridge": 0.3}, ("wide", "step", 0.0)), ("wide", {"ridge": 0.03}, ("cut", "step", -1.0)),
        ("wide", {"ridge": 0.0}, ("cut", "step", -1.0)), ("grown", {"ridge": 0.3}, ("cut", "step", -1.0)),
        ("cut", {}, ("first", "moments", 1.0)), ("cut", {"before": BEFORE}, ("last", "step", -9.0)),
        ("cut", {"before": BEFORE, "loss": 0.395}, ("first", "moments", 1.0)),
        ("cut", {"before": BEFORE, "loss": 0.397}, ("last", "step", -9.0)),
        ("shrunk", {}, ("shrunk", "done", 1.0)), ("first", {}, ("first", "moments", 1.0)),
        ("first", {"loss": 1e-21}, ("last", "done", 1.0)),
        ("first", {"loss": 1e-21, "signs": np.zeros(0)}, ("first", "moments", 1.0)),
        ("freed", {"signs": np.zeros(0), "before": BEFORE}, ("freed", "moments", 1.0)),
        ("freed", {"before": BEFORE, "loss": 0.1, "grown": 4}, ("first", "moments", 1.0)),
        ("freed", {"before": BEFORE, "loss": 0.39999, "n": 100.0}, ("last", "step", -9.0)),
        ("last", {}, ("last", "done", 1.0)),
    ],
)  # fmt: skip
def test_where_a_stage_leads(stage, changes, expected):
    after = Search()._staged(at(stage, **changes))
    assert told(after) == expected
    assert after.ridge == (0.03 if stage == "wide" and changes["ridge"] == 0.3 else 0.0)
    if expected[2] == -9.0:
        assert after.loss == 0.4 and after.before is None
    if stage == "freed" and expected[0] == "first":
        assert after.grown == 0
    if stage == "freed" and expected[0] == "last":
        assert not after.bent


def test_without_moments_nothing_can_grow():
    assert told(Search(with_moments=False)._staged(at("first"))) == ("last", "step", 1.0)


@pytest.mark.parametrize(
    ("fresh", "n", "options", "expected"),
    [
        (0, 1e4, {}, ("last", "step", 1.0)), (0, 1e4, {"free": True}, ("freed", "step", -2.0)),
        (0, 1e4, {"thoughts": 1}, ("wide", "step", -3.0)), (1, 1e4, {"thoughts": 1}, ("last", "step", 1.0)),
        (0, 29.0, {}, ("wide", "step", -4.0)), (1, 29.0, {}, ("wide", "step", -3.0)),
        (7, 29.0, {}, ("wide", "step", -3.0)), (8, 29.0, {}, ("last", "step", 1.0)),
        (8, 29.0, {"free": True}, ("freed", "step", -2.0)), (0, 30.0, {}, ("last", "step", 1.0)),
    ],
)  # fmt: skip
def test_what_is_tried_where_nothing_is_left_to_grow(fresh, n, options, expected):
    """Few rows: eight fresh starts, every other one about what is known; then free squares; the end."""
    after = Search(**options).nothing_to_grow(at("first", fresh=fresh, n=n))
    assert told(after) == expected
    if expected[0] == "wide":
        assert after.fresh == fresh + 1
        np.testing.assert_array_equal(after.before[0], POINT)
        assert after.ridge == (0.03 if expected[2] == -4.0 else 0.3)
    if expected[0] == "freed":
        assert after.squares and after.before[3] is False


@pytest.mark.parametrize("slope", [None, np.ones(7)])
@pytest.mark.parametrize("sampled", [False, True])
def test_a_search_on_a_sample_is_confirmed_by_all_rows(sampled, slope):
    before = at("cut", sampled=sampled, grown=3, fresh=2)
    before = replace(before, descent=replace(before.descent, slope=slope, tried=5))
    after = Search().confirm(before)
    if sampled:
        assert (after.stage, after.sampled, after.grown, after.fresh) == ("first", False, 0, 0)
        np.testing.assert_array_equal(after.descent.trial, POINT)
    else:
        assert (after.stage, after.phase) == ("last", "step")
        again = slope is not None  # steps go on from what is known at the point
        assert after.descent.again == again
        assert after.descent.tried == 0
        np.testing.assert_array_equal(after.descent.trial, POINT + again)


@pytest.mark.parametrize(
    ("grown", "n", "may"), [(0, 1e4, True), (5, 30.0, True), (6, 1e4, False), (0, 29.0, False)]
)
def test_directions_are_added_six_times_and_not_where_rows_are_few(grown, n, may):
    assert Search().may_grow(at("first", grown=grown, n=n)) is may


@pytest.mark.parametrize(
    ("stage", "before", "loss", "expected"),
    [
        ("wide", None, 0.5, -1.0), ("first", None, 0.5, 0.0), ("grown", BEFORE, 0.1, -9.0),
        ("wide", BEFORE, 0.1, -9.0),
        ("freed", BEFORE, 0.1, 0.0), ("freed", BEFORE, 0.3997, -9.0),
        ("ridge", BEFORE, 0.1, -9.0), ("cut", BEFORE, 0.1, 0.0),
        ("cut", BEFORE, 0.4, -9.0), ("shrunk", BEFORE, 0.9, 0.0), ("last", BEFORE, 0.9, -9.0),
    ],
)  # fmt: skip
def test_a_search_that_is_stopped_keeps_the_best_point(stage, before, loss, expected):
    after = Search().settle(at(stage, before=before, loss=loss))
    assert float(grow_cut.point_of(after)[0]) == expected


@pytest.mark.parametrize(
    ("n", "loss", "options", "tried"),
    [
        (200.0, 0.5, {}, True), (9.0, 0.5, {}, False), (350.0, 0.5, {}, True), (351.0, 0.5, {}, False),
        (200.0, 1e-7, {}, False), (6.5, 1e-7, {}, False), (200.0, 0.5, {"shrinking": False}, False),
    ],
)  # fmt: skip
def test_ridges_are_tried_where_rows_are_noisy_and_not_plenty(n, loss, options, tried):
    after = Search(**options)._shrink(at("last", n=n, loss=loss))
    assert (after.stage == "ridge") == tried
    if tried:
        assert (after.fold, after.held.tolist()) == (0, [0.0] * len(grow_cut.RIDGES))
        assert after.before[2] == loss
    else:
        assert after.phase == "done"


def ridge(place, held_now, **changes):
    """A ridge was judged on the rows left out of a fold."""
    held = np.zeros(len(grow_cut.RIDGES))
    options = {"n": 200.0, "place": place, "held_now": held_now, "held": held, "fold": 0, "before": BEFORE}
    return at("ridge", **{**options, **changes})


def test_ridges_are_judged_one_after_the_other_in_each_fold():
    last = len(grow_cut.RIDGES) - 1
    after = Search()._shrink(ridge(0, 3.0))
    assert (after.place, after.ridge, after.held[0], after.held_least) == (1, grow_cut.RIDGES[1], 3.0, 3.0)
    after = Search()._shrink(ridge(2, 5.0, held_least=3.0))
    assert (after.place, after.held[2], after.held_least) == (3, 5.0, 3.0)  # folds may differ: no short way
    many = Search()._shrink(ridge(2, 3.7, held_least=3.0, n=9000.0))
    assert (many.phase, many.fold, many.ridge) == ("done", -1, 0.0)
    assert not np.isfinite(many.held[3:]).any() and many.held[2] == 3.7
    assert Search()._shrink(ridge(2, 3.5, held_least=3.0, n=9000.0)).place == 3
    folded = Search()._shrink(ridge(last, 3.0))
    assert (folded.fold, folded.place, folded.ridge, folded.held_least) == (1, 0, 0.0, np.inf)
    assert told(folded) == ("ridge", "step", -9.0)


@pytest.mark.parametrize(("gain", "shrunk"), [(0.997, True), (0.999, False)])
def test_a_ridge_is_kept_where_rows_left_out_are_predicted_better(gain, shrunk):
    held = np.full(len(grow_cut.RIDGES), 10.0)
    held[3] = 10.0 * gain
    after = Search()._shrink(ridge(len(held) - 1, 5.0, held=held, fold=4))
    assert after.fold == -1
    if shrunk:
        assert (told(after), after.ridge) == (("shrunk", "step", -9.0), grow_cut.RIDGES[3])
    else:
        assert (after.phase, after.ridge, after.before) == ("done", 0.0, None)


def test_few_rows_flatter_the_strongest_ridge():
    held = np.full(len(grow_cut.RIDGES), 10.0)
    after = Search()._shrink(ridge(len(held) - 1, -0.1, held=held, fold=4, n=100.0))
    assert after.ridge == grow_cut.RIDGES[-1]  # 9.9 less 5 rows of 100
    assert Search()._shrink(ridge(len(held) - 1, 0.6, held=held, fold=4, n=100.0)).phase == "done"
    after = Search()._shrink(ridge(len(held) - 1, 0.0, held=held, fold=4, n=1.0))
    assert after.ridge == grow_cut.RIDGES[-1]


@pytest.mark.parametrize(("n", "first"), [(29.0, -3.0), (30.0, 0.0)])
def test_a_fold_of_few_rows_begins_from_chance(n, first):
    assert float(Search()._fold_begins(at("ridge", n=n)).descent.trial[0]) == first


@pytest.mark.parametrize("more", [1, 4])
def test_more_parameters_are_worth_it_by_schwarz(more):
    bound = 0.4 * np.exp(-more * np.log(50.0) / 50.0)
    for share, worth in ((0.999, True), (1.001, False)):
        assert grow_cut._worth_it(at("freed", before=BEFORE, loss=share * bound, n=50.0), more) is worth
