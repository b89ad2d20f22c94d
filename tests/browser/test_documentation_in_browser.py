"""The documentation in Chromium, light and dark, wide and narrow: nothing sticks out, breaks or complains."""

from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "_build" / "html"
NAMES = [
    "index",
    "gallery/index",
    "gallery/recover/plot_topics",
    "api/index",
    "theory/and-nmf",
    "benchmarks",
    "which",
]
LOOKS = [(1400, "light"), (1400, "dark"), (400, "light"), (400, "dark")]
LIGHT = """() => [...document.querySelectorAll(".bd-content img")]
    .map(image => [image.src, getComputedStyle(image)])
    .filter(([src, style]) => !/inpaint|denoise|unmix/.test(src) && !style.filter.includes("invert"))
    .map(([src]) => src)"""
MATHEMATICS = "window.MathJax?.startup?.promise?.then(() => true)"

pytestmark = pytest.mark.skipif(
    not (PAGES / "index.html").exists(), reason="the documentation isn't built (make docs)"
)


@pytest.mark.parametrize("width, scheme", LOOKS)
@pytest.mark.parametrize("name", NAMES)
def test_a_page_fits_and_is_quiet(name, width, scheme, visit):
    seen = visit(PAGES / f"{name}.html", width, scheme, alone=False)
    seen.page.evaluate(MATHEMATICS)
    assert seen.overflow() <= 0
    assert seen.broken_words() == []
    if scheme == "dark":
        assert seen.page.evaluate(LIGHT) == []


def test_the_benchmarks_begin_with_a_picture_and_long_tables_are_folded(visit):
    seen = visit(PAGES / "benchmarks.html", 1400, alone=False)
    assert seen.page.locator("img.plot-directive").count() == 1
    long = "[...document.querySelectorAll('table')].filter(t => t.rows.length > 9)"
    assert seen.page.evaluate(f"{long}.length") >= 1
    assert seen.page.evaluate(f"{long}.filter(t => t.checkVisibility()).length") == 0


def test_thumbnails_can_be_read(visit):
    seen = visit(PAGES / "gallery/index.html", 1400, alone=False)
    widths = seen.page.evaluate(
        "[...document.querySelectorAll('.sphx-glr-thumbcontainer img')].map(i => i.width)"
    )
    assert min(widths) >= 220
