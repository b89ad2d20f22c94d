"""Every rule of every verdict, just inside and just outside its bound, with all else good."""

import importlib.util
import io
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from altmin.guarantees import nonnegative
from altmin.guarantees.classifier import CLASSIFIER, ClassifierEvidence
from altmin.guarantees.contract import judge
from altmin.guarantees.dictionary import DICTIONARY
from altmin.guarantees.machine import MACHINE, SWEPT
from altmin.guarantees.nonnegative import NONNEGATIVE
from altmin.guarantees.overcomplete import OVERCOMPLETE
from altmin.guarantees.sensing import SENSING

_spec = importlib.util.spec_from_file_location("limits", Path(__file__).with_name("limits.py"))
limits = importlib.util.module_from_spec(_spec)
sys.modules["limits"] = limits  # dataclasses look their module up
_spec.loader.exec_module(limits)

# Decide, and have no number to move: 'judged' follows from the other tests, the others are never known.
WITHOUT_NUMBER = {"judged", "seen_again", "link", "alternatives"}
COUNTED = {"on", "use", "columns"}  # always known
CASES = [
    pytest.param(name, limit, id=f"{name}: {limit.id}")
    for name, (*_, rows) in limits.LIMITS.items()
    for limit in rows
]
ORDER = ("recovered", "plausible", "unknown", "contradicted")


def _least(*verdicts: str) -> str:
    return max(verdicts, key=ORDER.index)


@pytest.mark.parametrize("name", limits.LIMITS)
def test_the_table_holds_every_deciding_row_with_its_bound(name):
    family, evidence, verdict, rows = limits.LIMITS[name]
    report = judge(family, evidence)
    assert report.verdict == verdict
    deciding = {row.id: row for row in report.decisive if row.id not in WITHOUT_NUMBER}
    assert set(deciding) == {limit.id for limit in rows}
    for limit in rows:
        bound = deciding[limit.id].at_most if limit.sense == "<=" else deciding[limit.id].at_least
        assert bound == pytest.approx(limit.bound, rel=1e-9), limit.id
        assert (deciding[limit.id].at_most is None) == (limit.sense == ">="), limit.id


@pytest.mark.parametrize(("name", "limit"), CASES)
def test_just_inside_holds(name, limit):
    family, evidence, verdict, rows = limits.LIMITS[name]
    report = judge(family, limit.at(evidence, limit.beyond(-1e-9)))
    assert report[limit.id].status == "holds"
    others = [row.id for row in report.decisive if row.status == "violated" and row.id != limit.id]
    gone = ["seen_again"] if "stream" in name else []  # nobody can look at its rows again: plausible at best
    assert others == gone + ([limit.also] if limit.also else [])
    assert report.verdict == _least(verdict, *(row.fails for row in rows if row.id in others))


@pytest.mark.parametrize(("name", "limit"), CASES)
def test_just_outside_is_violated_and_lowers_the_verdict(name, limit):
    family, evidence, verdict, _ = limits.LIMITS[name]
    report = judge(family, limit.at(evidence, limit.beyond(1e-6)))
    assert report[limit.id].status == limit.outside
    assert report.verdict == _least(verdict, limit.fails)
    n = len(report.factors)
    hit = {"one": {1}, "all": set(range(n)), "others": set(range(n)) - {1}, "none": set()}[limit.speaks_of]
    for factor in report.factors:
        expected = _least(verdict, limit.fails) if factor.number in hit else limit.rest or verdict
        assert factor.verdict == expected
        assert (factor.against == "") == (expected == "recovered")
    assert report.advice != ""


@pytest.mark.parametrize("name", limits.LIMITS)
def test_what_cannot_be_measured_is_not_recovered(name):
    family, evidence, _, rows = limits.LIMITS[name]
    for limit in rows:
        if limit.id in COUNTED:
            continue
        report = judge(family, limit.at(evidence, np.nan))
        assert report[limit.id].status == "cannot be checked", limit.id
        touched = {other.fails for other in rows if other.where == limit.where}
        usual = "plausible" if touched == {"plausible"} else "unknown"
        assert report.verdict == (limit.blank or usual), limit.id


@pytest.mark.parametrize("name", limits.LIMITS)
def test_every_id_of_a_rule_is_needed(name):
    family, evidence, *_ = limits.LIMITS[name]
    for id in family.rule(evidence).needs:
        without = replace(family, tests=lambda e, id=id: [t for t in family.tests(e) if t.row.id != id])
        report = judge(without, evidence)
        assert report.verdict == "unknown", id
        assert all(factor.verdict == "unknown" for factor in report.factors), id


@pytest.mark.parametrize(
    ("where", "value", "verdict"),
    [
        ("atoms.spread", 3.0, "plausible"),
        ("atoms.spread", 3.001, "contradicted"),
        ("atoms.dense", 0.05, "plausible"),
        ("atoms.dense", 0.0501, "contradicted"),
    ],
)
def test_far_outside_what_is_missing_contradicts(where, value, verdict):
    noisy = limits.dictionary(atoms=limits.atoms(0.1))
    assert judge(DICTIONARY, limits.put(noisy, where.split("."), value)).verdict == verdict


def test_without_noise_the_number_of_atoms_in_a_sample_proves_nothing():
    report = judge(DICTIONARY, limits.dictionary(atoms=limits.atoms(spread=9.0, tied=99.0)))
    assert report.verdict == "recovered"


@pytest.mark.parametrize(("value", "verdict"), [(6.0, "plausible"), (6.001, "contradicted")])
@pytest.mark.parametrize("name", ["multiplied", "drifting"])
def test_far_above_chance_features_that_multiply_or_change_contradict(name, value, verdict):
    assert judge(NONNEGATIVE, limits.cone(**(limits.NOISY_CONE | {name: value}))).verdict == verdict


@pytest.mark.parametrize(("value", "verdict"), [(1.2, "plausible"), (1.201, "contradicted")])
def test_far_above_chance_a_direction_in_what_is_left_over_contradicts(value, verdict):
    assert judge(NONNEGATIVE, limits.cone(**(limits.NOISY_CONE | {"structured": value}))).verdict == verdict


def test_fewer_samples_than_components_have_no_power_against_an_empty_one():
    lonely = replace(limits.cone_shape(), empty=2, distinct=limits.D - 1.0)
    assert judge(NONNEGATIVE, limits.cone(shape=lonely)).verdict == "unknown"
    enough = replace(lonely, distinct=float(limits.D))
    assert judge(NONNEGATIVE, limits.cone(shape=enough)).verdict == "contradicted"


@pytest.mark.parametrize(
    ("doubtful", "unknown", "status"),
    [(1, 0, "holds"), (2, 0, "violated"), (0, 1, "holds"), (0, 2, "violated"), (1, 1, "violated")],
)
def test_where_most_atoms_are_doubtful_the_others_are_unknown(doubtful, unknown, status):
    """One that can't be judged counts half as much again as one against which something stands."""
    line = np.where(np.arange(limits.K) < doubtful, 2.0, 0.1)
    span = np.where(np.arange(limits.K) >= limits.K - unknown, 0.1, 0.9)
    report = judge(DICTIONARY, limits.dictionary(atoms=limits.atoms(line=line, span=span)))
    assert report["judged"].status == status
    for i, factor in enumerate(report.factors):
        own = "plausible" if i < doubtful else "unknown" if i >= limits.K - unknown else "recovered"
        assert factor.verdict == (own if status == "holds" else "unknown")


@pytest.mark.parametrize(
    ("changes", "bound"),
    [
        ({"residual": 0.002}, 0.015),  # never below the accuracy that is claimed
        ({"residual": 0.03}, 0.03),
        ({"residual": 0.5}, 0.035),
    ],
)
def test_halves_of_a_cone_may_differ_by_what_noise_explains(changes, bound):
    report = judge(NONNEGATIVE, limits.cone(**(limits.NOISY_CONE | changes)))
    assert report["halves"].at_most == pytest.approx(bound)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"residual": 0.001}, "exact"),
        ({"residual": 0.00101}, "exact"),  # nothing was refitted, and no weight is negative
        ({"residual": 0.01001}, "noisy"),
        ({"residual": 0.009, "shape": replace(limits.cone_shape(), negative=0.0016)}, "exact"),
        ({"residual": 0.009, "shape": replace(limits.cone_shape(), negative=0.0017)}, "noisy"),
        ({"residual": 0.00101, "halves": np.zeros(limits.D)}, "noisy"),
        ({"residual": 0.001, "halves": np.zeros(limits.D)}, "exact"),
        ({"shape": None, "residual": 0.5}, "exact"),
    ],
)
def test_which_rule_applies_to_a_cone(changes, name):
    assert NONNEGATIVE.rule(limits.cone(**changes)).name == name


@pytest.mark.parametrize(
    ("left", "step", "name"),
    [(1e-6, 0.0, "exact"), (1.1e-6, 0.0, "noisy"), (3.9e-4, 0.01, "exact"), (4.1e-4, 0.01, "noisy")],
)
def test_which_rule_applies_to_rows(left, step, name):
    """What a step of Gauss and Newton would still remove is no noise."""
    assert MACHINE.rule(limits.machine(replace(limits.looked_at(left), step=step))).name == name
    assert SENSING.rule(limits.sensing(replace(limits.measurements(left), step=step))).name == name


def test_streams_without_error_need_not_fall():
    assert judge(MACHINE, limits.machine(None, ratio=np.nan, loss=1e-10)).verdict == "plausible"
    assert judge(MACHINE, limits.machine(None, ratio=np.nan, loss=1.1e-10)).verdict == "unknown"


def test_refits_count_where_there_is_noise_and_copies_make_errors_larger():
    quiet, noisy = limits.looked_at(0.0), replace(limits.looked_at(0.1), noise_error=0.01)
    assert judge(MACHINE, limits.machine(quiet, halves=0.5)).estimated_error == 0.0
    assert judge(MACHINE, limits.machine(noisy)).estimated_error == pytest.approx(0.01)
    assert judge(MACHINE, limits.machine(noisy, halves=0.1)).estimated_error == pytest.approx(0.05)
    assert judge(MACHINE, limits.machine(noisy, halves=0.001)).estimated_error == pytest.approx(0.01)
    fourth = judge(MACHINE, limits.machine(replace(noisy, distinct=limits.N / 4)))
    assert fourth.estimated_error == pytest.approx(0.02)
    assert fourth["error"].measured == pytest.approx(0.026)
    sampled = judge(
        MACHINE, limits.machine(replace(noisy, n_sample=limits.N // 4))
    )  # of rows that weren't looked at, too
    assert sampled.estimated_error == pytest.approx(0.005)
    assert judge(MACHINE, limits.machine(replace(noisy, step=0.02))).estimated_error == pytest.approx(
        np.hypot(0.01, 0.02)
    )


@pytest.mark.parametrize(
    ("changes", "status", "verdict"),
    [
        ({"gradient_t": 5.0}, "holds", "plausible"),
        ({"gradient_t": 5.001}, "violated", "contradicted"),
        ({"white": 1.5}, "holds", "plausible"),
        ({"white": 1.501}, "violated", "plausible"),
        ({"gradient_t": np.nan}, "cannot be checked", "contradicted"),
    ],
)
def test_where_noise_of_a_feature_could_hide_its_traces_decide(changes, status, verdict):
    id = "no_noise_in_features" if "gradient_t" in changes else "even_noise"
    rows = replace(limits.looked_at(0.1), attenuation=0.0501, **changes)
    report = judge(MACHINE, limits.machine(rows))
    assert report[id].decisive and report[id].status == status
    assert report.verdict == ("unknown" if status == "cannot be checked" else verdict)
    assert report["exact_features"].status == "violated"
    little = judge(MACHINE, limits.machine(replace(rows, attenuation=0.05)))
    assert not little[id].decisive and little["exact_features"].status == "holds"
    assert not judge(MACHINE, limits.machine(rows, exogenous=True))[id].decisive


@pytest.mark.parametrize("changes", [{"gradient_t": 5.001}, {"white": 1.501}])
def test_where_noise_follows_the_features_what_they_could_hide_is_an_error(changes):
    rows = replace(limits.looked_at(0.1), noise_error=0.01, attenuation=0.04)
    assert judge(MACHINE, limits.machine(rows)).estimated_error == pytest.approx(0.01)
    uneven = judge(MACHINE, limits.machine(replace(rows, **changes)))
    assert uneven.estimated_error == pytest.approx(np.hypot(0.01, 0.04))
    assert uneven["error"].measured == pytest.approx(0.013 + 0.04)
    declared = judge(MACHINE, limits.machine(replace(rows, **changes), exogenous=True))
    assert declared.estimated_error == pytest.approx(0.01)
    more = judge(MACHINE, limits.machine(replace(rows, attenuation=0.06, **changes)))
    assert more.estimated_error == pytest.approx(0.01)  # another test speaks of it


@pytest.mark.parametrize(("steps", "verdict"), [(4.5, "plausible"), (4.501, "contradicted")])
def test_far_above_chance_a_further_step_contradicts(steps, verdict):
    rows = limits.looked_at(0.1)
    report = judge(MACHINE, limits.machine(replace(rows, misfit=replace(rows.misfit, steps=steps))))
    assert report.verdict == verdict


def test_what_noise_leaves_of_a_cone_is_its_error_where_nothing_was_refitted():
    open_ = limits.INFORMED | {"informed": np.array([0.0, 0.02, 0.01])}
    report = judge(NONNEGATIVE, limits.cone(**open_))
    assert [factor.error for factor in report.factors] == pytest.approx([0.0, 0.02, 0.01])
    assert [factor.bound for factor in report.factors] == pytest.approx([0.0, 0.025, 0.0125])
    both = judge(NONNEGATIVE, limits.cone(**(open_ | limits.REFITS_OF_CONE)))
    assert "informed" not in [row.id for row in both.decisive]  # refits say more


def test_errors_of_atoms_and_what_they_stay_below():
    clean = judge(DICTIONARY, limits.dictionary(atoms=limits.atoms(step=np.array([0.0, 0.01, 0.0, 0.0]))))
    assert [factor.error for factor in clean.factors] == [1e-6, 0.01, 1e-6, 1e-6]
    assert clean.estimated_error == 0.01
    facts = limits.atoms(
        0.1, step=np.full(limits.K, 0.003), se=np.full(limits.K, 0.004), on=np.arange(100, 104)
    )
    noisy = judge(DICTIONARY, limits.dictionary(atoms=facts))
    assert noisy.estimated_error == pytest.approx(np.hypot(0.002, 0.00412))
    assert [factor.bound for factor in noisy.factors] == pytest.approx(
        [0.002 + 1.03 * 0.0057741] * limits.K, rel=1e-4
    )
    assert [factor.samples for factor in noisy.factors] == [100, 101, 102, 103]


@pytest.mark.parametrize(
    ("noise", "n_samples", "said"),
    [
        (0.0, 100_000, "fewer than 0.3 % of the samples would"),
        (0.0, 1000, "fewer than 1 % of the samples would"),  # ten of them
        (0.05, 100_000, "fewer than 2.5 % of the samples, and atoms closer than 0.1 rad, would"),
        (0.02, 500, "fewer than 3 % of the samples, and atoms closer than 0.08 rad, would"),  # fifteen
    ],
)
def test_what_a_dictionary_s_report_would_not_see_is_said_in_samples_too(noise, n_samples, said):
    facts = limits.atoms(noise, n_samples=n_samples)
    assert said in judge(DICTIONARY, limits.dictionary(atoms=facts)).claim


def test_errors_of_a_cone_come_from_weights_or_halves_and_the_room_that_is_left():
    weights = judge(NONNEGATIVE, limits.cone(shape=replace(limits.cone_shape(), negative=0.001)))
    assert weights.estimated_error == pytest.approx(0.006)
    room = judge(NONNEGATIVE, limits.cone(room=np.array([0.0, 0.01, 0.02])))
    assert [factor.error for factor in room.factors] == pytest.approx([0.03, 0.02, 0.01])
    refitted = {"halves": np.array([0.0, 0.02, 0.02]), "again": np.array([0.0, 0.0, 0.015])}
    halves = judge(NONNEGATIVE, limits.cone(**(limits.NOISY_CONE | refitted)))
    together = np.array([0.02 / 2**0.5, 0.02, 0.025])
    assert [factor.error for factor in halves.factors] == pytest.approx(0.7 * together)
    assert [factor.bound for factor in halves.factors] == pytest.approx(1.3 * together)
    lone = judge(NONNEGATIVE, limits.cone(**(limits.NOISY_CONE | refitted | {"again": None})))
    assert lone.factors[1].bound == pytest.approx(1.3 * 0.02 * 2**0.5)  # as large, at a guess
    assert judge(NONNEGATIVE, limits.cone(residual=0.04)).estimated_error is None


def test_purest_samples_that_hold_something_of_others_leave_their_component_open():
    impure = replace(limits.cone_shape(), slack=np.array([0.0, 0.04, 0.0]))
    facts = {"at_noise": impure, "halves": None, "again": None, "informed": np.full(3, 0.01), "pure": True}
    error, bound = nonnegative.errors(limits.cone(**(limits.NOISY_CONE | facts)))
    assert error == pytest.approx([0.01, 0.01 * 2**0.5, 0.01])
    assert bound == pytest.approx(1.25 * error)
    refitted = facts | {"halves": np.full(3, 0.01), "again": np.zeros(3)}  # halves see how far it is open
    assert nonnegative.errors(limits.cone(**(limits.NOISY_CONE | refitted)))[0] == pytest.approx(0.007)


@pytest.mark.parametrize(("residual", "verdict"), [(1e-9, "recovered"), (0.02, "plausible")])
def test_samples_that_were_left_out_count_for_each_component_where_there_is_noise(residual, verdict):
    facts = limits.NOISY_CONE if residual > 1e-3 else {}
    report = judge(NONNEGATIVE, limits.cone(**(facts | {"residual": residual, "dropped": 0.05})))
    assert {factor.verdict for factor in report.factors} == {verdict}
    assert report.verdict == "plausible"


def test_a_fit_by_sweeps_claims_nothing():
    report = judge(SWEPT, 0.1)
    assert (report.verdict, report.advice) == ("unknown", "compare predictions with rows that were held out")


def test_without_refits_or_samples_nothing_is_recovered():
    assert judge(DICTIONARY, limits.dictionary(atoms=None)).verdict == "unknown"
    assert judge(NONNEGATIVE, limits.cone(shape=None)).verdict == "unknown"
    assert judge(NONNEGATIVE, limits.cone(residual=0.04)).verdict == "unknown"
    assert judge(CLASSIFIER, ClassifierEvidence(limits.LENS, limits.N, limits.P, 50.0)).verdict == "unknown"
    assert judge(OVERCOMPLETE, replace(limits.stable_atoms(), sines=None)).verdict == "unknown"


def test_the_error_of_a_cone_is_that_of_its_worst_component():
    noisy = dict(limits.NOISY_CONE, halves=np.array([0.001, 0.03, 0.01]), room=np.zeros(3))
    evidence = limits.cone(**noisy)
    assert nonnegative.error(evidence) == np.max(nonnegative.errors(evidence)[0]) == pytest.approx(0.7 * 0.03)
    assert nonnegative.error(limits.cone(shape=None)) is None


def test_verdicts_of_factors_have_their_colours():
    console = pytest.importorskip("rich.console")

    said = io.StringIO()
    console = console.Console(file=said, color_system="standard", force_terminal=True, width=100)
    evidence = limits.cone(**dict(limits.NOISY_CONE, halves=np.array([0.001, 0.9, 0.01])))
    report = judge(NONNEGATIVE, evidence)
    console.print(report)
    lines = [line for line in said.getvalue().splitlines() if line[:8].strip().isdigit()]
    for factor, line in zip(report.factors, lines, strict=True):
        assert re.search(rf"\x1b\[\d+m{factor.verdict}\x1b\[0m", line)


@pytest.mark.parametrize(("residual", "asked"), [(0.9e-3, False), (1.1e-3, True)])
def test_what_is_left_over_is_looked_at_where_it_is_more_than_rounding(residual, asked):
    """An exact cone with a trace of something else: its constant decides from a residual of 1e-3 on."""
    evidence = limits.cone(residual=residual, **limits.NEARLY_EXACT)
    assert ("no_constant" in NONNEGATIVE.rule(evidence).needs) == asked
    bad = replace(evidence, constant=99.0, structured=99.0)
    rows = {row.id: row for row in judge(NONNEGATIVE, bad)}
    for id in ("no_constant", "noise_left"):
        assert rows[id].status == ("violated" if asked else "holds")


def test_other_features_are_ruled_out_where_no_component_has_room():
    """The component with most room speaks for all."""
    claims = [
        NONNEGATIVE.claim(limits.cone(room=np.array(room)))
        for room in ([0.0, 0.0, 0.0], [0.0, 0.0, 0.5], [0.5, 0.0, 0.0])
    ]
    assert "No other non-negative features explain the samples" in claims[0]
    assert all("assumes that each feature occurs nearly" in claim for claim in claims[1:])


@pytest.mark.parametrize(
    ("other", "bound", "decisive"), [(0.04, np.hypot(0.01, 0.04), True), (0.06, 0.013, False)]
)
def test_what_another_law_did_is_an_error_and_alone_decides_where_it_is_seen(other, bound, decisive):
    rows = replace(limits.looked_at(0.1), noise_error=0.01, other_law=other, hidden_law=0.11)
    report = judge(MACHINE, limits.machine(rows))
    assert report.estimated_error == pytest.approx(np.hypot(0.01, other))
    assert report["error"].measured == pytest.approx(bound)
    assert report["no_hidden_law"].decisive == decisive
    assert report.verdict == ("unknown" if decisive else "plausible")
    quiet = limits.looked_at(0.0)
    assert judge(MACHINE, limits.machine(replace(quiet, other_law=0.04))).estimated_error == 0.0


@pytest.mark.parametrize(
    ("other", "hidden", "verdict"),
    [(0.04, 0.0, "recovered"), (0.0, 0.09, "recovered"), (0.04, 0.09, "unknown"), (0.02, 0.09, "recovered")],
)
def test_another_law_that_shows_a_little_leaves_less_room_for_what_hides(other, hidden, verdict):
    rows = replace(limits.looked_at(0.1), noise_error=0.01, other_law=other, hidden_law=hidden)
    assert judge(MACHINE, limits.machine(rows, exogenous=True)).verdict == verdict


def test_standard_errors_of_few_rows_are_bounded_more_widely():
    rows = replace(limits.looked_at(0.1), noise_error=0.01, vagueness=0.5)
    report = judge(MACHINE, limits.machine(rows))
    assert report.estimated_error == pytest.approx(0.01)
    assert report["error"].measured == pytest.approx(0.018)
