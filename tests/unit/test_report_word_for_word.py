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
        row("pairs", 12345.678, at_most=2e-7, decisive=True, otherwise="plausible"),
        row("halves", None, at_least=1.0, decisive=True, otherwise="plausible"),
        row("theorem", 3e-9, at_least=1.0, at_most=4.0, reference="Paper 2020, Theorem 1"),
        row("inside", 2.0, at_least=1.0, at_most=2.0),
        unchecked("floor", "min x", "Paper 2020", "nobody can know"),
    ),
    effort="full",
    estimated_error=0.01234,
    advice="more samples <now>; fewer atoms",
    claim="The columns of A.",
    factors=(
        Factor(0, "recovered", 0.001, 0.0025, 300, ""),
        Factor(1, "plausible", math.nan, None, 7, "a mixture"),
        *(Factor(i, "unknown", 1e-12, 2e6, 1, "too few") for i in range(2, 12)),
    ),
    assumptions=("codes are independent", "noise is even"),
)
FEW = "\n".join(f"{i:>8}  unknown              -        -        1" for i in range(2, 12))
TEXT = f"""\
guarantee: plausible (full effort, largest estimated error 0.0123)
  It fits, but something else may be true: what that is stands below.
  Claimed only if that is ruled out: The columns of A.
  Assumed: codes are independent
  Assumed: noise is even

  What to do next:
  - more samples <now>
  - fewer atoms

  12 factors: 1 recovered, 1 plausible, 10 unknown
  factor  verdict          error  at most  samples
       0  recovered        0.001   0.0025      300
       1  plausible            -        -        7
{FEW}
  error: estimated angle to the true factor, in radians; at most: what it stays
  below nine times in ten.
  Recovered factors are claimed by themselves, whatever stands against the
  whole.
  against 1: a mixture
  against 2, 3, 4, 5, 6, 7, 8, 9 and 2 more: too few

  Why it is only plausible:
  - fails: pairs (12346; must be at most 2e-7)
    what pairs means <&>
  - not checked: halves (not measured; must be at least 1)
    what halves means <&>
  1 of 3 tests hold: report.decisive has their numbers. list(report) also has 3
  rows for information, such as theorems' conditions."""
CARD = [
    "≈ plausible|It fits, but something else may be true: what that is stands below.",
    "full effort, largest estimated error 0.0123",
    "Claimed only if that is ruled out: The columns of A.|Assumed: codes are independent"
    "|Assumed: noise is even",
    "What to do next|more samples &lt;now&gt;|fewer atoms",
    "12 factors: 1 recovered, 1 plausible, 10 unknown",
    "error: estimated angle to the true factor, in radians; at most: what it stays below nine times in ten.",
    "Recovered factors are claimed by themselves, whatever stands against the whole.",
    "Factor|Verdict|Error|At most|Samples|What stands against it",
    "0|recovered|0.001|0.0025|300",
    "1|plausible|-|-|7|a mixture",
    *(f"{i}|unknown|-|-|1|too few" for i in range(2, 12)),
    "Why it is only plausible",
    "fails|pairs|12346 |required ≤ 2e-7|what pairs means &lt;&amp;&gt;",
    "not checked|halves|not measured |required ≥ 1|what halves means &lt;&amp;&gt;",
    "Tests that hold: 1",
    "holds|span|0.5 |required ≤ 2|what span means &lt;&amp;&gt;",
    "Rows for information, such as theorems' conditions: 3",
    "fails|theorem|t, Paper 2020, Theorem 1|3e-9 |required ≤ 4 and ≥ 1|what theorem means &lt;&amp;&gt;",
    "holds|inside|2 |required ≤ 2 and ≥ 1|what inside means &lt;&amp;&gt;",
    "not checked|floor|min x, Paper 2020|not measured |required assumed|nobody can know",
]
GREEN, AMBER, GREY, RED = "#1a7f37", "#8a6100", "#656d76", "#b42318"


def test_the_text():
    assert str(REPORT) == TEXT


def words_of(page):
    """The texts of a card, without its style."""
    return "|".join(part for part in re.split(r"<[^>]*>", page.partition("</style>")[2]) if part)


def test_the_card():
    card = REPORT._repr_html_().partition("</style>")[2]
    assert words_of(REPORT._repr_html_()) == "|".join(CARD)
    shown, holding, others = card.split("<details>")
    assert card.count("<table") == card.count("</table>") == 4
    assert re.findall(r"background:(#\w+)", shown) == [GREEN, AMBER, *[GREY] * 10, AMBER, AMBER]
    assert re.findall(r"background:(#\w+)", holding) == [GREEN]
    assert re.findall(r"background:(#\w+)", others) == [GREY, GREEN, GREY]
    assert re.findall(r"color:(#\w+)", card)[:2] == [AMBER, AMBER]


def many(n):
    """Factors of which every third is worse than its neighbours, and later ones have larger bounds."""
    return tuple(Factor(i, "plausible" if i % 3 == 0 else "recovered", 1e-3, 1e-3 * i, 9) for i in range(n))


def rows_of(text):
    return [int(line.split()[0]) for line in text.split("\n") if re.match(r" +\d+  (plaus|recov)", line)]


def test_twenty_factors_are_shown_in_their_order():
    report = GuaranteeReport("plausible", (), factors=many(20))
    assert rows_of(str(report)) == list(range(20))
    assert "  20 factors: 13 recovered, 7 plausible\n" in str(report)
    assert "<details>" not in report._repr_html_()


def test_of_more_the_worst_are_shown_and_said_where_all_are():
    report = GuaranteeReport("plausible", (), factors=many(21))
    worst = [18, 15, 12, 9, 6, 3, 0, 20, 19, 17]
    assert rows_of(str(report)) == worst
    assert "  21 factors: 14 recovered, 7 plausible; the worst of them:\n" in str(report)
    assert "  11 more: pandas.DataFrame(report.factors) has all.\n" in str(report)
    few, every = report._repr_html_().split("<details>")
    assert [int(number) for number in re.findall(r"<tr><td>(\d+)", few)] == worst
    assert every.startswith("<summary>All 21 of them, in order</summary>")
    assert [int(number) for number in re.findall(r"<tr><td>(\d+)", every)] == list(range(21))


def test_an_error_is_said_only_of_what_may_be_right():
    for verdict, said in {"recovered": 1, "plausible": 1, "unknown": 0, "contradicted": 0}.items():
        report = GuaranteeReport(
            verdict, (), estimated_error=0.0123, factors=(Factor(0, verdict, 0.0123, 1),)
        )
        assert str(report).count("0.0123") == report._repr_html_().count("0.0123") == 2 * said


def test_what_makes_the_verdict_is_explained_and_the_rest_named():
    rows = (
        row("doubt", 2.0, at_most=1.0, decisive=True, otherwise="plausible"),
        row("power", None, at_most=1.0, decisive=True),
        row("reject", 2.0, at_most=1.0, decisive=True, otherwise="contradicted"),
        *(row(f"r{i}", 2.0, at_most=1.0, decisive=True, otherwise="contradicted") for i in range(5)),
    )
    text = str(GuaranteeReport("contradicted", rows))
    assert "What contradicts it:\n  - fails: reject (2; must be at most 1)\n" in text
    assert [f"what {name} means" in text for name in ("reject", "r3", "r4", "power")] == [
        True,
        True,
        False,
        False,
    ]
    assert "Also not met: r4; power; doubt." in text
    card = GuaranteeReport("contradicted", rows)._repr_html_()
    assert re.findall(r"background:(#\w+)", card) == [*[RED] * 6, GREY, AMBER]
    assert card.index("<summary>Also not met: 2</summary>") < card.index("what power means")


def test_a_verdict_that_no_test_made_says_so():
    rows = (row("doubt", 2.0, at_most=1.0, decisive=True, otherwise="plausible"),)
    for report in (GuaranteeReport("unknown", ()), GuaranteeReport("unknown", rows)):
        assert "What would decide it wasn't measured." in str(report)
        assert "What would decide it wasn't measured." in report._repr_html_()
    assert "Also not met: doubt." in str(report)


def test_a_report_of_nothing_says_nothing_more():
    said = "It is the truth up to the printed error, if what is assumed holds."
    report = GuaranteeReport("recovered", ())
    assert str(report) == f"guarantee: recovered (cheap effort)\n  {said}"
    assert words_of(report._repr_html_()) == f"✓ recovered|{said}|cheap effort"


def test_all_factors_alike_are_counted_as_one_sort():
    for n, words in {1: "1 factor, recovered", 3: "3 factors, all recovered"}.items():
        report = GuaranteeReport("recovered", (), factors=tuple(Factor(i, "recovered") for i in range(n)))
        assert f"\n\n  {words}\n" in str(report)
        assert "by themselves" not in str(report)
    few = tuple(Factor(i, "unknown", against="too few") for i in range(2))
    assert "  against all: too few" in str(GuaranteeReport("unknown", (), factors=few))


def test_the_terminal():
    console = pytest.importorskip("rich.console").Console(
        width=110, file=io.StringIO(), force_terminal=True, color_system="standard"
    )
    console.print(REPORT)
    drawn = console.file.getvalue()
    assert re.sub(r"\x1b\[[\d;]*m", "", drawn) == f"≈ {TEXT}\n"
    coloured = re.findall(r"\x1b\[[\d;]+m(\S+)\x1b\[0m", drawn)
    assert coloured == [factor.verdict for factor in REPORT.factors]


def test_the_dictionary_holds_everything():
    found = json.loads(REPORT.to_json())
    assert (found["verdict"], found["effort"], found["estimated_error"]) == ("plausible", "full", 0.01234)
    assert (found["advice"], found["claim"]) == ("more samples <now>; fewer atoms", "The columns of A.")
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
        ("recovered", "Claimed: The columns of A."),
        ("unknown", "Not claimed: The columns of A."),
        ("contradicted", "Not claimed: The columns of A."),
    ],
)
def test_what_the_verdict_does_not_bear_out_is_not_called_a_claim(verdict, words):
    report = replace(REPORT, verdict=verdict)
    assert words in str(report)
    assert html.escape(words) in report._repr_html_()
