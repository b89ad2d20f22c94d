"""A report with all that a report can hold, as text, as a card and in a terminal: every row, every number."""

import html
import io
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from altmin.guarantees import GuaranteeReport, check
from altmin.guarantees.contract import each, whole
from altmin.guarantees.curvature import cut_off
from altmin.guarantees.rendering import number
from altmin.guarantees.report import Factor, unchecked


def row(name, measured, **more):
    reference = more.pop("reference", "evidence")
    return check(name, name[0], reference, measured, meaning=f"what {name} means <&>", **more)


REPORT = GuaranteeReport(
    "plausible",
    (
        row("span", 0.5, at_most=2.0, decisive=True),
        row("pairs", 12345.678, at_most=2e-7, decisive=True),
        row("halves", None, at_least=1.0, decisive=True),
        row("theorem", 3e-9, at_least=1.0, at_most=4.0, reference="Paper 2020, Theorem 1"),
        row("inside", 2.0, at_least=1.0, at_most=2.0),
        unchecked("floor", "min x", "Paper 2020", "nobody can know"),
    ),
    effort="full",
    estimated_error=0.01234,
    advice="more samples <now>",
    claim="The columns of A.",
    factors=(
        Factor(0, "recovered", 0.001, 0.0025, 300, ""),
        Factor(1, "plausible", math.nan, None, 7, "a mixture"),
        *(Factor(i, "unknown", 1e-12, 2e6, 1, "too few") for i in range(2, 12)),
    ),
    assumptions=("codes are independent", "noise is even"),
)
FEW = "\n".join(f"{i:>8}  unknown          1e-12      2e6        1" for i in range(2, 12))
TEXT = f"""\
guarantee: plausible (full effort, estimated error 0.0123)
  The claim, if the alternative below is ruled out: The columns of A.
  It assumes: codes are independent
  It assumes: noise is even
  factor  verdict          error  at most  samples
       0  recovered        0.001   0.0025      300
       1  plausible            -        -        7
{FEW}
  against 1: a mixture
  against 2, 3, 4, 5, 6, 7, 8, 9 and 2 more: too few
  [-] pairs: 12346, required <= 2e-7 (violated)
      what pairs means <&>
  [?] halves: not measured, required >= 1 (cannot be checked)
      what halves means <&>
  [+] span: 0.5, required <= 2 (holds)
  3 more rows are for information, the theorems' conditions among them (1
  holds, 1 violated, 1 cannot be checked); list(report) holds them all.
  next: more samples <now>"""
CARD = [
    "≈ plausible|It fits, but the data can't rule out the alternative named below.",
    "full effort, estimated error 0.0123",
    "The claim, if the alternative below is ruled out: The columns of A.|It assumes: codes are independent"
    "|It assumes: noise is even",
    "What to do next:| more samples &lt;now&gt;",
    "Factor|Verdict|Error|At most (90 %)|Samples|What stands against it",
    "0|recovered|0.001|0.0025|300",
    "1|plausible|not measured|not measured|7|a mixture",
    *(f"{i}|unknown|1e-12|2e6|1|too few" for i in range(2, 12)),
    "What the verdict rests on",
    "violated|pairs|p|12346 |required ≤ 2e-7|what pairs means &lt;&amp;&gt;",
    "cannot be checked|halves|h|not measured |required ≥ 1|what halves means &lt;&amp;&gt;",
    "holds|span|s|0.5 |required ≤ 2|what span means &lt;&amp;&gt;",
    "For information, the theorems' conditions among them: 3 rows, 1 hold, 1 violated, 1 cannot be checked",
    "violated|theorem|t, Paper 2020, Theorem 1|3e-9 |required ≤ 4 and ≥ 1|what theorem means &lt;&amp;&gt;",
    "holds|inside|i|2 |required ≤ 2 and ≥ 1|what inside means &lt;&amp;&gt;",
    "cannot be checked|floor|min x, Paper 2020|not measured |required assumed|nobody can know",
]
TERMINAL = """\
≈ plausible (full effort, estimated error 0.0123)
It fits, but the data can't rule out the alternative named below.
The claim, if the alternative below is ruled out: The columns of A.
It assumes: codes are independent
It assumes: noise is even
factor verdict error at most samples against
0 recovered 0.001 0.0025 300
1 plausible not measured not measured 7 a mixture"""
DECIDES = """\
what decides measured required
✗ pairs 12346 <= 2e-7
what pairs means <&>
? halves not measured >= 1
what halves means <&>
✓ span 0.5 <= 2
3 more rows are for information, the theorems' conditions among them (1 holds, 1 violated, 1 cannot be
checked); list(report) holds them all.
next: more samples <now>"""
GREEN, AMBER, GREY, RED = "#1a7f37", "#8a6100", "#656d76", "#b42318"


def test_the_text():
    assert str(REPORT) == TEXT


def test_the_card():
    card = REPORT._repr_html_().partition("</style>")[2]
    words = "|".join(part for part in re.split(r"<[^>]*>", card) if part)
    assert words == "|".join(CARD)
    rows, folded = card.split("<details>")
    assert card.count("<table>") == card.count("</table>") == 3
    assert re.findall(r"background:(#\w+)", rows) == [GREEN, AMBER, *[GREY] * 10, RED, GREY, GREEN]
    assert re.findall(r"background:(#\w+)", folded) == [RED, GREEN, GREY]
    assert re.findall(r"color:(#\w+)", card)[:2] == [AMBER, AMBER]


@pytest.mark.parametrize(("n", "folds"), [(20, False), (21, True)])
def test_many_factors_are_folded(n, folds):
    report = GuaranteeReport("unknown", (), factors=tuple(Factor(i, "unknown") for i in range(n)))
    assert (f"<details open><summary>{n} factors</summary>" in report._repr_html_()) is folds


def test_a_report_of_nothing_says_nothing_more():
    assert str(GuaranteeReport("recovered", ())) == "guarantee: recovered (cheap effort)"
    card = GuaranteeReport("recovered", ())._repr_html_().partition("</style>")[2]
    said = "✓ recovered|The truth up to the printed error, if the printed assumptions hold.|cheap effort"
    assert "|".join(part for part in re.split(r"<[^>]*>", card) if part) == said


def test_the_terminal():
    console = pytest.importorskip("rich.console").Console(width=110, file=io.StringIO())
    console.print(REPORT)
    lines = [" ".join(line.split()) for line in console.file.getvalue().strip().splitlines()]
    assert lines[:8] == TERMINAL.splitlines()
    assert lines[8:18] == [f"{i} unknown 1e-12 2e6 1 too few" for i in range(2, 12)]
    assert lines[18:] == DECIDES.splitlines()


def test_the_dictionary_holds_everything():
    found = json.loads(REPORT.to_json())
    assert (found["verdict"], found["effort"], found["estimated_error"]) == ("plausible", "full", 0.01234)
    assert (found["advice"], found["claim"]) == ("more samples <now>", "The columns of A.")
    assert found["assumptions"] == ["codes are independent", "noise is even"]
    assert found["factors"][:2] == [
        {"number": 0, "verdict": "recovered", "error": 0.001, "bound": 0.0025, "samples": 300, "against": ""},
        {
            "number": 1,
            "verdict": "plausible",
            "error": None,
            "bound": None,
            "samples": 7,
            "against": "a mixture",
        },
    ]
    assert found["conditions"][3] == {
        "name": "theorem", "symbol": "t", "reference": "Paper 2020, Theorem 1", "measured": 3e-9,
        "required": "<= 4 and >= 1", "status": "violated",
        "meaning": "what theorem means <&>", "decisive": False,
        "at_most": 4.0, "at_least": 1.0, "id": "theorem", "otherwise": "unknown",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "not measured"), (math.nan, "not measured"), (0.0, "0"), (999.4, "999"), (999.6, "1e3"),
        (1000.0, "1000"), (-1234.6, "-1235"), (999999.0, "999999"), (1e6, "1e6"), (1.234e-5, "1.23e-5"),
        (1e-12, "1e-12"), (2.5e17, "2.5e17"), (math.inf, "inf"), (0.12345, "0.123"),
    ],
)  # fmt: skip
def test_numbers(value, text):
    assert number(value) == text


NAN = math.nan


@pytest.mark.parametrize(
    ("values", "bounds", "worst", "status", "allows"),
    [
        ([0.1, 0.2], {"at_most": 0.2}, 0.2, "holds", "recovered recovered"),
        ([0.1, 0.3], {"at_most": 0.2}, 0.3, "violated", "recovered contradicted"),
        ([0.1, NAN], {"at_most": 0.2}, 0.1, "cannot be checked", "recovered unknown"),
        ([0.3, NAN], {"at_most": 0.2}, 0.3, "violated", "contradicted unknown"),
        ([NAN, NAN], {"at_most": 0.2}, None, "cannot be checked", "unknown unknown"),
        ([3.0, 2.0], {"at_least": 2.0}, 2.0, "holds", "recovered recovered"),
        ([3.0, 1.0], {"at_least": 2.0}, 1.0, "violated", "recovered contradicted"),
        ([3.0, NAN], {"at_least": 2.0}, 3.0, "cannot be checked", "recovered unknown"),
    ],
)
def test_a_test_of_each_factor(values, bounds, worst, status, allows):
    options = {"meaning": "m", "otherwise": "contradicted", "against": "words"}
    test = each("a test", "t", np.array(values), **bounds, **options)
    assert (test.row.measured, test.row.status, " ".join(test.allows)) == (worst, status, allows)
    assert (test.against, test.row.reference, test.row.id) == ("words", "evidence", "a_test")
    left = each("a test", "t", np.array([NAN]), at_most=1.0, meaning="m", otherwise="plausible", against="")
    assert left.allows == ("plausible",)


def test_a_test_of_the_whole():
    test = whole("a test", "t", 1.0, at_most=2.0, meaning="m")
    assert (test.row.status, test.row.reference, test.allows, test.everywhere) == (
        "holds",
        "evidence",
        None,
        True,
    )
    other = whole("a test", "t", 1.0, at_most=2.0, meaning="m", reference="Paper", everywhere=False)
    assert (other.row.reference, other.everywhere) == ("Paper", False)


def test_a_pile_at_either_end_of_all_values_or_of_one_feature():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    assert cut_off(X) == 0.0
    top, bottom, one = np.minimum(X, 0.8), np.maximum(X, -0.8), X.copy()
    one[:, 1] = np.minimum(one[:, 1], 0.5)
    assert cut_off(top) == pytest.approx(np.mean(X >= 0.8))
    assert cut_off(bottom) == pytest.approx(np.mean(X <= -0.8))
    assert cut_off(one) == pytest.approx(np.sum(X[:, 1] >= 0.5) / X.size)
    assert cut_off(np.zeros((0, 3))) == cut_off(np.zeros((5, 3))) == 0.0
    assert cut_off(np.repeat(-np.arange(1.0, 12.0)[:, None], 2, axis=1)) == 0.0
    assert cut_off(-np.ones((30, 2)) - np.arange(30.0)[:, None] // 20) > 0  # no positive value at all
    levels = np.round(top, 1)
    assert cut_off(levels, grid=0.1) > 0
    assert cut_off(levels, grid=1.0) == 0.0


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("recovered", "The claim: The columns of A."),
        ("unknown", "Not claimed, as the data can't decide: The columns of A."),
        ("contradicted", "Not claimed, as the data contradict it: The columns of A."),
    ],
)
def test_what_the_verdict_does_not_bear_out_is_not_called_a_claim(verdict, words):
    report = replace(REPORT, verdict=verdict)
    assert words in str(report)
    assert html.escape(words) in report._repr_html_()
