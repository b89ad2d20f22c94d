"""The demo's stories: every algorithm has one, each answers in a sentence or two."""

import sys
import warnings
from importlib import import_module
from types import SimpleNamespace

import pytest

pytest.importorskip("typer", reason="the extra 'cli' is not installed")

from altmin.cli.app import model_names
from altmin.demo.story import _MEANING, STORIES, Story
from altmin.demo.tell import CHAPTERS, tell_stories
from altmin.guarantees import GuaranteeReport

FAST = ("computed", "news", "law", "parity", "half_a_table", "parts_of_digits")
for chapter in CHAPTERS:
    import_module(f"altmin.demo.{chapter}")
NAMES = {story.__name__: story for story in STORIES}


@pytest.mark.parametrize(
    "name", [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]
)
def test_a_story_is_told(name):
    for package in ("skimage", "tensorly", "lda"):
        pytest.importorskip(package, reason="the extra 'demo' is not installed")
    plt = pytest.importorskip("matplotlib.pyplot", reason="the extra 'plot' is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = NAMES[name]()
        for draw in told.figures.values():
            assert isinstance(draw(), plt.Figure)
    plt.close("all")
    assert told.title.endswith("?")
    assert 40 < len(told.answer) < 500
    assert "nan" not in told.answer.split()
    assert told.code.startswith(("altmin.", "model = altmin.", "cross_val_score(altmin."))
    used = [word for word in told.uses.split(", ") if word[0].isupper()]
    assert set(used) <= set(model_names())


@pytest.mark.parametrize(
    ("verdict", "doubt", "said"),
    [
        ("recovered", "it can't tell.", ""),
        ("unknown", "it can't tell.", " it can't tell."),
        ("unknown", "", " What to try: more samples."),
    ],
)
def test_a_story_says_what_its_report_doubts_or_what_to_try(verdict, doubt, said):
    model = SimpleNamespace(guarantee_=GuaranteeReport(verdict, (), advice="more samples; less noise"))
    told = Story("?", "answer", "AND", "data", "code", model=model, doubt=doubt)
    assert told.verdict == f"Is it the truth? Verdict: {verdict}. {_MEANING[verdict]}{said}"


def test_every_estimator_has_a_story():
    import inspect

    sources = "".join(inspect.getsource(import_module(f"altmin.demo.{c}")) for c in CHAPTERS)
    missing = [name for name in model_names() if name not in sources]
    assert missing == ["SparseCoder"]  # omp does its work, in the story of the flower


def test_stories_whose_packages_are_missing_are_skipped_and_named(tmp_path, monkeypatch, capsys):
    """As after ``pip install altmin[cli]``: no scikit-image, tensorly, lda or matplotlib."""
    for name in ("skimage", "tensorly", "tensorly.datasets", "lda", "matplotlib"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr("altmin.report.page.find_spec", lambda name: None)
    wanted = ("news", "materials", "law", "parts_of_digits")
    monkeypatch.setattr("altmin.demo.tell.STORIES", [NAMES[name] for name in wanted])
    with warnings.catch_warnings():
        tell_stories(tmp_path)
    said = capsys.readouterr().out
    assert "news: skipped, it needs lda" in said and "materials: skipped, it needs tensorly" in said
    assert "Which formula links these columns?" in said and "no pictures, because matplotlib" in said
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Which formula links" in page and "<img" not in page
