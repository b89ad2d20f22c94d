"""The guarantee's contract: rules speak of ids, one function turns them into a report."""

from dataclasses import replace

import pytest

from altmin.guarantees import check
from altmin.guarantees.contract import Family, Rule, judge

GOOD = {"a": 1.0, "b": 1.0}


def conditions(evidence):
    return [
        check(f"about {name}", f"sym {name}", "evidence", value, at_most=2.0, meaning="m", id=name)
        for name, value in evidence.items()
    ]


FAMILY = Family(
    claim="everything",
    conditions=conditions,
    rules=lambda e: [
        Rule("recovered", "strict", ("a", "b")),
        Rule("plausible", "weak", ("a",), {"b": 5.0}),
    ],
    error=lambda e, rule: None if rule is None else 0.1,
    advice={"a": "do a", "b": "do b"},
    closer="look closer",
)


@pytest.mark.parametrize(
    ("evidence", "verdict", "advice"),
    [
        (GOOD, "recovered", ""),
        ({"a": 1.0, "b": 4.0}, "plausible", "do b; look closer"),
        ({"a": 1.0, "b": 6.0}, "not supported", "do b; look closer"),
        ({"a": 3.0, "b": 1.0}, "not supported", "do a; look closer"),
        ({"a": 1.0, "b": None}, "not supported", "do b; look closer"),
        ({"a": 1.0}, "plausible", "look closer"),
    ],
)
def test_the_first_rule_that_holds_gives_the_verdict(evidence, verdict, advice):
    report = judge(FAMILY, evidence)
    assert (report.verdict, report.advice, report.claim) == (verdict, advice, "everything")
    assert report.estimated_error == (None if verdict == "not supported" else 0.1)


def test_what_a_rule_needs_is_decisive_and_nothing_else():
    report = judge(FAMILY, {**GOOD, "c": 9.0})
    assert [row.id for row in report.decisive] == ["a", "b"]
    assert [row.id for row in report.violated] == ["c"]
    assert report["c"] is report["sym c"] is report["about c"]


def test_full_effort_isn_t_told_to_look_closer():
    assert judge(FAMILY, {"a": 1.0, "b": 4.0}, effort="full").advice == "do b"


def test_ids_are_unique():
    twice = replace(FAMILY, conditions=lambda e: [*conditions(e), *conditions(e)])
    with pytest.raises(ValueError, match="share an id"):
        judge(twice, GOOD)
