"""The guarantee report: never green by default, readable in text, HTML and JSON."""

import io
import json
import math

import pytest

from altmin.guarantees import GuaranteeReport, check
from altmin.guarantees.report import unchecked


def row(measured, **bounds):
    return check("span <b>", "s", "evidence", measured, meaning="what it means", **bounds)


@pytest.mark.parametrize(
    "measured, bounds, status",
    [
        (1.0, {"at_most": 2.0}, "holds"),
        (3.0, {"at_most": 2.0}, "violated"),
        (3.0, {"at_least": 2.0, "at_most": 4.0}, "holds"),
        (1.0, {"at_least": 2.0}, "violated"),
        (None, {"at_most": 2.0}, "cannot be checked"),
        (math.nan, {"at_most": 2.0}, "cannot be checked"),
        (1.0, {}, "cannot be checked"),
    ],
)
def test_status_follows_from_measurement_and_bound(measured, bounds, status):
    assert row(measured, **bounds).status == status


def test_a_report_prints_renders_and_serialises():
    report = GuaranteeReport(
        "plausible", (row(1.0, at_most=2.0), row(None)), advice="more samples", estimated_error=math.inf
    )
    text = str(report)
    assert "plausible" in text
    assert "more samples" in text
    assert "2 rows for information" in text
    page = report._repr_html_()
    assert "span &lt;b&gt;" in page
    assert "<b>span" not in page
    assert json.loads(json.dumps(report.to_dict()))["verdict"] == "plausible"
    assert report["s"].measured == 1.0
    with pytest.raises(KeyError, match="no condition"):
        report["nothing"]


def test_what_decides_comes_first_and_the_rest_is_folded():
    rows = (
        row(1.0, at_most=2.0),
        check(
            "decides", "d", "evidence", 3.0, at_most=2.0, meaning="m", decisive=True, otherwise="contradicted"
        ),
    )
    report = GuaranteeReport("contradicted", rows, advice="try <more>")
    page = report._repr_html_()
    assert page.index("decides") < page.index("<details>") < page.index("span &lt;b&gt;")
    assert "What to do next</b></p><ul><li>try &lt;more&gt;</li>" in page
    assert [each.symbol for each in report.decisive] == [each.symbol for each in report.violated] == ["d"]


def test_rich_draws_the_report_as_a_table():
    console = pytest.importorskip("rich.console").Console(width=120, file=io.StringIO())
    console.print(GuaranteeReport("plausible", (row(1.0, at_most=2.0),), advice="more samples"))
    text = console.file.getvalue()
    assert "plausible" in text
    assert "What to do next:\n  - more samples" in text


def test_json_holds_bounds_as_numbers():
    report = GuaranteeReport("plausible", (row(1.0, at_most=math.inf), row(2.0, at_least=1.5)))
    bounds = [(each["at_most"], each["at_least"]) for each in json.loads(report.to_json())["conditions"]]
    assert bounds == [(None, None), (None, 1.5)]


def test_what_cannot_be_checked_has_a_reason_and_is_never_green():
    assumed = unchecked("floor", "min x", "paper", "nobody can know")
    assert assumed.status == "cannot be checked"
    assert assumed.measured is None
    assert "nobody can know" in str(assumed)
