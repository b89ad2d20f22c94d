"""The page about a model and the demo's report in Chromium: nothing asked of a host, nothing run, all fit."""

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")

import altmin
from altmin.datasets import make_dir
from altmin.demo.page import write_demo
from altmin.demo.story import Story
from altmin.report.model_page import write_model_page

EVIL = "<img src=x onerror=alert(1)>"
SIZES = [(400, "light"), (400, "dark"), (1400, "light"), (1400, "dark")]


def open_all(seen):
    for details in seen.page.query_selector_all("details"):
        details.evaluate("element => { element.open = true }")


@pytest.fixture(scope="module")
def topics(tmp_path_factory):
    """A model whose features are named as badly as can be."""
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(make_dir(200, 12, 3, random_state=0).X, columns=[f"{EVIL}{i}" for i in range(12)])
    model = altmin.AND(3, max_iter=10).fit(X)
    return write_model_page(model, tmp_path_factory.mktemp("model") / "page.html", X)


@pytest.fixture(scope="module")
def robust(tmp_path_factory):
    X = np.random.default_rng(0).standard_normal((120, 9))
    model = altmin.ApproximateDictionaryLearning(
        9, n_nonzero_coefs=2, contamination=0.1, max_iter=3, random_state=0
    ).fit(X)
    return write_model_page(model, tmp_path_factory.mktemp("robust") / "page.html", X, image_shape=(3, 3))


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    import matplotlib.pyplot as plt

    out = tmp_path_factory.mktemp("demo")
    model = altmin.AND(3, max_iter=5).fit(make_dir(100, 8, 3, random_state=0).X)
    one = plt.figure(figsize=(12, 3))
    told = [
        Story(
            "What?",
            f"An answer {EVIL}",
            "AND",
            "made up",
            "x = 1",
            {"one": lambda: one},
            [{"a": 0.5}],
            model,
        ),
        Story("Why?", "For no reason. " * 30, "omp", "made up", "y = " + "2" * 200),
    ]
    return write_demo(told, out, 3.0)


def test_names_of_features_are_shown_not_run(topics, visit):
    seen = visit(topics)
    assert EVIL in seen.page.locator("main").inner_text()
    assert seen.page.locator("img[src=x]").count() == 0


@pytest.mark.parametrize("width, scheme", SIZES)
@pytest.mark.parametrize("name", ["topics", "robust", "demo"])
def test_pages_fit_with_everything_opened(name, width, scheme, visit, request):
    seen = visit(request.getfixturevalue(name), width, scheme)
    open_all(seen)
    assert seen.overflow() <= 0
    assert seen.broken_words() == []


def test_a_model_page_has_its_chapters(robust, visit):
    text = visit(robust).page.locator("main").inner_text()
    for chapter in ("Is it the truth?", "Components", "Convergence", "Codes", "Outlying samples", "Settings"):
        assert chapter in text


def test_a_line_of_the_demo_leads_to_its_story(demo, visit):
    seen = visit(demo)
    seen.page.get_by_role("link", name="Why?").click()
    assert seen.page.url.endswith("#story-1")
    assert EVIL in seen.page.locator("#story-0").inner_text()
    assert (demo.parent / "one.png").stat().st_size > 0


def test_a_word_that_is_broken_is_seen(tmp_path, visit):
    (tmp_path / "t.html").write_text("<p style='width: 2em; word-break: break-all'>recovered</p><p>a b</p>")
    assert visit(tmp_path / "t.html").broken_words() == ["recovered"]
