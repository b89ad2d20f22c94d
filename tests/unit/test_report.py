"""The guarantee report: never green by default, readable in text, HTML and JSON."""

import json
import math

import pytest

from altmin.guarantees import GuaranteeReport, check


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
    assert "cannot be checked" in text
    page = report._repr_html_()
    assert "span &lt;b&gt;" in page
    assert "<b>span" not in page
    assert json.loads(json.dumps(report.to_dict()))["verdict"] == "plausible"
    assert report["s"].measured == 1.0
    with pytest.raises(KeyError, match="no condition"):
        report["nothing"]
