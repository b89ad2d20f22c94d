"""The adversary composes its kinds, splits them once, and counts honestly."""

import numpy as np
import pytest

from altmin_lab.adversary.compose import sines
from altmin_lab.adversary.kinds import FAMILIES, kinds
from altmin_lab.adversary.tally import coverage, false_claim, false_factors, tally, true_fit


def test_there_are_many_kinds_and_none_is_on_both_sides():
    tuned, judged = ({(each.family, each.name) for each in kinds(side)} for side in (False, True))
    assert len(tuned) >= 150 and len(judged) >= 150
    assert not tuned & judged
    assert not {each.perturbation.name for each in kinds(False, ("and",))} & {
        each.perturbation.name for each in kinds(True, ("and",))
    }


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("held_out", [False, True])
def test_every_kind_draws_finite_data_and_the_same_again(family, held_out):
    for each in kinds(held_out, (family,)):
        first, again = each.trial(3, 0), each.trial(3, 0)
        for a, b in zip(first.data, again.data, strict=True):
            assert np.isfinite(a).all(), each.name
            np.testing.assert_array_equal(a, b)


def row(error, errors, verdict, factors, group="noisy"):
    said = {"verdict": verdict, "estimate": 0.01, "factors": factors}
    return {"family": "and", "group": group, "error": error, "errors": errors, "cheap": said, "full": said}


def test_the_whole_and_its_factors_are_counted_apart():
    half = row(1.0, [0.001, 0.3], "plausible", [["recovered", 0.01, 0.02], ["unknown", 0.01, 0.02]])
    lie = row(1.0, [0.001, 0.3], "recovered", [["recovered", 0.01, 0.02], ["recovered", 0.01, 0.02]])
    assert not false_claim(half, "full") and false_factors(half, "full") == 0
    assert false_claim(lie, "full") and false_factors(lie, "full") == 1
    assert not true_fit(half)
    counts = tally([half, lie], "and")
    assert (counts["wrong"], counts["false full"], counts["factors said full"]) == (2, 1, 3)
    assert coverage([half, lie]) == (2, 3)


def test_sines_are_those_of_the_nearest_factor():
    assert sines(np.array([[1.0, 0.0], [1.0, 1.0]]), np.eye(2)) == pytest.approx([0.0, np.sqrt(0.5)])
