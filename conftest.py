"""Seeds of recovery tests; a real browser: the Chromium of this machine, with every request written down."""

import importlib.util
import os
import shutil
import signal
import sys
from dataclasses import dataclass, field

import pytest

# A shell starts background jobs deaf to Ctrl-C; the tests that press it need ears, and so do their processes.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The laboratory's tests need the laboratory: pip install -e lab.
collect_ignore_glob = [] if importlib.util.find_spec("altmin_lab") else ["lab/*"]

CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


def pytest_addoption(parser):
    parser.addoption("--seeds", type=int, default=0, help="seeds for each test that is marked so")
    parser.addoption("--first-seed", type=int, default=0, help="the first of them")


def pytest_generate_tests(metafunc):
    """A test marked with ``seeds`` (how many in the fast suite, by default one) holds for any ``seed``."""
    marker = metafunc.definition.get_closest_marker("seeds")
    if marker is not None:
        first, asked = (metafunc.config.getoption(name) for name in ("--first-seed", "--seeds"))
        metafunc.parametrize("seed", range(first, first + (asked or (*marker.args, 1)[0])))


@pytest.fixture(autouse=True)
def no_figure_is_left_open():
    """Pictures of one test, or of one docstring's example, end with it."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


# Words whose letters stand on more than one line; those of more than 40 letters may.
BROKEN_WORDS = """() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), broken = [];
    while (walker.nextNode()) {
        const node = walker.currentNode;
        if (!node.parentElement.checkVisibility()) continue;
        for (const word of node.data.matchAll(/[\\p{L}\\d]{2,}/gu)) {
            const range = document.createRange();
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top)));
            if (lines.size > 1 && word[0].length <= 40) broken.push(word[0]);
        }
    }
    return broken;
}"""


@dataclass
class Visit:
    """An open page and what it said and asked for; alone: it has to be one file."""

    page: object
    alone: bool = True
    trouble: list = field(default_factory=list)
    asked: list = field(default_factory=list)

    def overflow(self):
        """Pixels that stick out to the right."""
        return self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )

    def broken_words(self):
        """Words that go over the end of a line."""
        return self.page.evaluate(BROKEN_WORDS)


@pytest.fixture(scope="session")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine (set CHROMIUM to its path)")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser):
    """Open a file as a user does by a double click; every test ends by checking what it asked for."""
    contexts, visits = [], []

    def go(path, width=1200, scheme="light", alone=True):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        seen = Visit(context.new_page(), alone)
        seen.page.on("console", lambda message: seen.trouble.append(message.text))
        seen.page.on("pageerror", lambda error: seen.trouble.append(str(error)))
        seen.page.on("dialog", lambda dialog: (seen.trouble.append("a dialog"), dialog.dismiss()))
        seen.page.on("request", lambda request: seen.asked.append(request.url))
        seen.page.goto(path.resolve().as_uri())
        visits.append(seen)
        return seen

    yield go
    for seen in visits:
        assert seen.trouble == []
        assert [url for url in seen.asked if not url.startswith(("file:", "data:"))] == []
        assert not seen.alone or len([url for url in seen.asked if url.startswith("file:")]) == 1
    for context in contexts:
        context.close()
