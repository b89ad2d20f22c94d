"""The claims ledger in Chromium: opens from the file, filters, fits a phone, is readable in the dark."""

import pytest

pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")

from altmin.report.page import figure_style, png_of
from altmin_lab.finding import Finding
from altmin_lab.ledger_page import write_ledger

EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script>"


def finding(name, paper, verdict, figures=(), **more):
    text = {"says": f"{name} says {EVIL}", "summary": "a value of 3.2e-15 " * 8, "setting": "n=5"}
    tables = {"runs": [{"method": f"{EVIL}{i}", "a very long column name": 0.1 * i} for i in range(12)]}
    return Finding(
        name, paper, f"Theorem {name}", verdict=verdict, figures=dict(figures), tables=tables, **text, **more
    )


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    import matplotlib.pyplot as plt

    out = tmp_path_factory.mktemp("ledger")
    with figure_style():
        figure, ax = plt.subplots(figsize=(13, 3))
        ax.plot([1, 2, 3])
        (out / "one.png").write_bytes(png_of(figure))
    findings = [
        finding("first", "and-nmf", "holds", {"curve": "one.png"}, measured={"error" * 9: 0.5}),
        finding("second", "and-nmf", "holds partly"),
        finding("third", "one-pass-gfm", "does not hold"),
        finding("fourth", "one-pass-gfm", "holds", cpu=3.0),
    ]
    return write_ledger(findings, out, out, quick=True)


def names(seen):
    """Cards that can be seen."""
    return [card.get_attribute("id") for card in seen.page.query_selector_all("article") if card.is_visible()]


def test_filters_by_paper_verdict_and_words(ledger, visit):
    seen = visit(ledger)
    assert names(seen) == ["first", "second", "third", "fourth"]
    seen.page.select_option("#paper", "and-nmf")
    assert names(seen) == ["first", "second"]
    seen.page.select_option("#verdict", "holds")
    assert names(seen) == ["first"]
    assert seen.page.locator("#shown").inner_text() == "1 of 4 claims"
    seen.page.select_option("#paper", "")
    assert set(names(seen)) == {"first", "fourth"}
    seen.page.fill("#search", "FOURTH says")
    assert names(seen) == ["fourth"]
    assert not seen.page.get_by_role("heading", name="Li and Liang 2017").first.is_visible()


def test_a_tile_filters_and_is_pressed_again_to_undo(ledger, visit):
    seen = visit(ledger)
    tile = seen.page.locator("button.tile", has_text="does not hold")
    tile.click()
    assert names(seen) == ["third"]
    assert tile.get_attribute("aria-pressed") == "true"
    tile.click()
    assert len(names(seen)) == 4


def test_links_of_the_overview_lead_to_the_cards(ledger, visit):
    seen = visit(ledger)
    seen.page.click("a[href='#third']")
    assert seen.page.url.endswith("#third")
    assert seen.page.locator("article#third").is_visible()


def test_markup_in_claims_is_shown_not_run(ledger, visit):
    seen = visit(ledger)
    assert EVIL in seen.page.locator("article#first blockquote").inner_text()
    assert seen.page.locator("main script, img[src=x]").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1200])
def test_nothing_sticks_out_and_text_stands_out(ledger, visit, width, scheme):
    seen = visit(ledger, width, scheme)
    assert seen.overflow() <= 0
    for details in seen.page.query_selector_all("details"):
        details.evaluate("element => { element.open = true }")
    assert seen.overflow() <= 0
    assert contrast(seen, "body") >= 7
    for kind in ("good", "part", "bad"):
        assert contrast(seen, f".verdict.{kind}") >= 4.5


def test_pictures_are_there(ledger, visit):
    image = visit(ledger).page.locator("article#first img")
    assert image.evaluate("element => element.complete && element.naturalWidth") > 1000


def contrast(seen, selector):
    """WCAG contrast of an element's text against its own background."""
    colours = seen.page.locator(selector).first.evaluate(
        "e => { const s = getComputedStyle(e); return [s.color, s.backgroundColor] }"
    )
    light, dark = sorted(map(_luminance, colours), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour):
    channels = [int(part) / 255 for part in colour.split("(")[1].rstrip(")").split(",")[:3]]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
