"""The guarantee's contract: tests have ids, no test outvotes another, one function makes the report."""

from dataclasses import replace

import numpy as np
import pytest

from altmin.guarantees.contract import Family, Rule, Table, each, judge, whole


def make(evidence):
    found = [
        each("about a", "sym a", np.array(evidence["a"]), at_most=2.0, against="a fails", meaning="m", id="a",
             otherwise="contradicted"),
        whole("about b", "sym b", evidence["b"], at_most=2.0, meaning="m", id="b"),
        whole("nothing is missing", "c", evidence["c"], at_most=2.0, meaning="m", id="c", everywhere=False,
              otherwise="plausible"),
        whole("for information", "d", 9.0, at_most=2.0, meaning="m", id="d"),
    ]  # fmt: skip
    return [test for test in found if test.row.id not in evidence.get("without", ())]


FAMILY = Family(
    claim=lambda e: "Everything.",
    tests=make,
    rule=lambda e: Rule("all", ("a", "b", "c")),
    error=lambda e: 0.1,
    advice={"a": "do a", "b": "do b", "c": "do c"},
    closer="look closer",
    table=lambda e: Table(np.full(2, 0.1), np.full(2, 0.2), np.array([5, 6])),
)
GOOD = {"a": [1.0, 1.0], "b": 1.0, "c": 1.0}


@pytest.mark.parametrize(
    ("changes", "verdict", "factors", "advice"),
    [
        ({}, "recovered", ("recovered", "recovered"), ""),
        ({"a": [1.0, 3.0]}, "contradicted", ("recovered", "contradicted"), "do a"),
        ({"a": [np.nan, 1.0]}, "unknown", ("unknown", "recovered"), "do a; look closer"),
        ({"b": 3.0}, "unknown", ("unknown", "unknown"), "do b; look closer"),
        ({"b": None}, "unknown", ("unknown", "unknown"), "look closer"),  # nothing says that b fails
        ({"c": 3.0}, "plausible", ("recovered", "recovered"), "do c; look closer"),
        (
            {"c": 3.0, "a": [3.0, 1.0]},
            "contradicted",
            ("contradicted", "recovered"),
            "do a",  # what contradicts comes first; no closer look mends it
        ),
        ({"without": ("b",)}, "unknown", ("unknown", "unknown"), "look closer"),
    ],
)
def test_the_whole_is_the_least_of_its_factors_and_tests(changes, verdict, factors, advice):
    report = judge(FAMILY, {**GOOD, **changes})
    assert report.verdict == verdict
    assert tuple(factor.verdict for factor in report.factors) == factors
    assert (report.advice, report.claim) == (advice, "Everything.")
    assert [factor.samples for factor in report.factors] == [5, 6]


def test_what_a_rule_needs_is_decisive_and_nothing_else():
    report = judge(FAMILY, GOOD)
    assert [row.id for row in report.decisive] == ["a", "b", "c"]
    assert [row.id for row in report.violated] == ["d"]
    assert report["a"] is report["sym a"] is report["about a"]


def test_a_factor_says_what_stands_against_it():
    report = judge(FAMILY, {**GOOD, "a": [1.0, 3.0]}, effort="full")
    assert [factor.against for factor in report.factors] == ["", "a fails"]
    assert report["a"].measured == 3.0  # that of the worst factor
    assert report.advice == "do a"  # full effort isn't told to look closer


@pytest.mark.parametrize(("b", "words"), [(3.0, "'about b' fails"), (None, "'about b' could not be checked")])
def test_what_was_not_measured_is_not_said_to_fail(b, words):
    report = judge(FAMILY, {**GOOD, "b": b}, effort="full")
    assert [factor.against for factor in report.factors] == [words, words]
    assert report.advice == "do b"


def test_ids_are_unique():
    twice = replace(FAMILY, tests=lambda e: [*make(e), *make(e)])
    with pytest.raises(ValueError, match="share an id"):
        judge(twice, GOOD)
