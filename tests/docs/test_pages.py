"""Pages: code in them runs, links between sources lead somewhere, the link checker finds what is broken."""

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_start_page_runs_as_it_stands(tmp_path, monkeypatch):
    import numpy as np

    from altmin.datasets import make_dir

    monkeypatch.chdir(tmp_path)
    np.save("documents.npy", make_dir(300, 40, 30, random_state=0).X)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "start.md").read_text(encoding="utf-8"), re.DOTALL)
    text = "\n".join(blocks).replace("n_samples=3000, n_features=400", "n_samples=400, n_features=60")
    scope = {}
    exec(compile(text, "start.md", "exec"), scope)
    assert scope["model"].components_.shape == (30, 40)


def test_the_twenty_tasks_run_as_they_stand(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "how-to.md").read_text(encoding="utf-8")
    assert text.count("\n**... ") == 20
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile("\n".join(blocks), "how-to.md", "exec"), {})


@pytest.mark.parametrize("page", ["signatures.md", "mixtures.md"])
def test_the_pages_of_applications_run_as_they_stand(page):
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    scope = {}
    exec(compile("\n".join(blocks), page, "exec"), scope)
    if page == "signatures.md":
        assert len(scope["model"].signatures_) == 4 and scope["matching"].names()
    else:
        assert scope["bands"].shares.shape == (2, 3)


@pytest.mark.parametrize("page", PAGES, ids=[str(path.relative_to(DOCS)) for path in PAGES])
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+\.(?:md|rst|py))[^)]*\)", page.read_text(encoding="utf-8")):
        path = (page.parent / target).resolve()
        if "gallery" in path.parts:  # made from the examples when the pages are built
            name = path.relative_to(DOCS / "gallery").with_suffix(".py")
            path = DOCS.parent / "examples" / name
            if name.name == "index.py":
                continue
        assert path.exists(), target


@pytest.mark.parametrize("page", PAGES, ids=[str(path.relative_to(DOCS)) for path in PAGES])
def test_papers_that_pages_cite_are_in_the_bibliography(page):
    keys = set(re.findall(r"@\w+\{(\w+),", (DOCS / "references.bib").read_text(encoding="utf-8")))
    cited = re.findall(r"\{cite:\w+\}`([^`]+)`", page.read_text(encoding="utf-8"))
    assert {key.strip() for group in cited for key in group.split(",")} <= keys


def test_the_link_checker_finds_missing_files_and_anchors(tmp_path):
    checker = load(DOCS / "check_links.py")
    (tmp_path / "a.html").write_text('<h1 id="top"></h1><a href="b.html#here">x</a><a href="#top">y</a>')
    (tmp_path / "b.html").write_text('<p id="here"></p><img src="none.png"><a href="a.html#gone">z</a>')
    assert checker.broken_links(tmp_path) == [
        "b.html: a.html#gone (no such anchor)",
        "b.html: none.png (no such file)",
    ]
    (tmp_path / "b.html").write_text('<p id="here"></p><script src="https://cdn.example/x.js"></script>')
    assert checker.broken_links(tmp_path) == []
    assert checker.other_hosts(tmp_path) == ["b.html: https://cdn.example/x.js"]
