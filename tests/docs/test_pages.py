"""Pages: code in them runs, links between sources lead somewhere, the link checker finds what is broken."""

import importlib.util
import queue
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import altmin
from altmin.datasets import make_dir, make_quadratic, make_scene, make_sparse_dictionary

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def blocks(page, language="python"):
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


def documents(n_components):
    return make_dir(400, 60, n_components, concentration=1.0, random_state=0).X


def picture():
    rng = np.random.default_rng(0)
    ramp = 40 + 100 * np.add.outer(np.linspace(0, 1, 64), np.linspace(0, 1, 64) ** 2)
    return np.clip(ramp + 10 * rng.standard_normal((64, 64)), 0, 255).astype(np.uint8)


def of_pictures():
    names = {"picture": picture(), "colours": np.dstack([picture()] * 3)}
    return {**names, "missing": np.random.default_rng(1).random((64, 64)) < 0.3}


def of_real_data():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(90, 0.1), size=20)
    chances = rng.dirichlet(np.full(20, 0.1), size=400) @ topics
    texts = [" ".join(f"word{i:02d}" for i in rng.choice(90, 60, p=row)) for row in chances]
    return {"cube": make_scene(20, 20, 30, 4, random_state=0).cube, "texts": texts}


def of_scale():
    X, waiting = documents(20), queue.Queue()
    np.save("counts.npy", X)
    for block in (*np.array_split(make_sparse_dictionary(3000, 8, random_state=0).X, 5), None):
        waiting.put(block)
    law = make_quadratic(400, 9, 1, random_state=0)
    streams = {"blocks": iter(np.array_split(X, 4)), "queue": waiting, "X": law.X, "y": law.y}
    return {name: getattr(altmin, name) for name in altmin.__all__ if name[0].isupper()} | streams


def of_new_algorithm():
    path = DOCS.parent / "examples" / "extend" / "plot_kmeans.py"
    written = path.read_text(encoding="utf-8").split("# end maps")[0]
    module = sys.modules["plot_kmeans"] = types.ModuleType("plot_kmeans")  # records are found by their module
    exec(compile(written, str(path), "exec"), vars(module))
    X = np.random.default_rng(0).standard_normal((300, 4))
    np.save("rows.npy", X)
    return {**vars(module), "X": X}


def of_start():
    np.save("documents.npy", documents(20))
    return {}


# What a page takes for granted: names, and files in the current folder.
PREPARED = {
    "coming-from.md": dict, "how-to.md": dict, "index.md": lambda: {"X": documents(20)},
    "new-algorithm.md": of_new_algorithm, "pictures.md": of_pictures, "reading.md": dict,
    "real-data.md": of_real_data, "scale.md": of_scale, "start.md": of_start,
}  # fmt: skip
APPLICATIONS = ("signatures.md", "mixtures.md")  # they need nothing, and say more below
# Blocks that no test can run, by a word in them, and why. They are compiled.
NOT_RUN = {
    "tcp://scheduler": "needs a cluster; tests/faults/test_dask.py runs the same on a local one",
    "SLURMCluster": "needs SLURM",
}


def test_every_page_with_code_is_prepared_for():
    assert {str(page.relative_to(DOCS)) for page in PAGES if blocks(page)} == {*PREPARED, *APPLICATIONS}


@pytest.mark.parametrize("page", sorted(PREPARED))
def test_python_blocks_run_as_they_stand(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    for extra in ("pandas", "skimage"):
        pytest.importorskip(extra)
    monkeypatch.chdir(tmp_path)
    scope = PREPARED[page]()
    found = blocks(page)
    assert found
    for number, text in enumerate(found):
        code = compile(text, f"{page}, block {number}", "exec")
        if not any(word in text for word in NOT_RUN):
            exec(code, scope)


def test_what_is_not_run_is_there():
    everything = "".join(text for page in PREPARED for text in blocks(page))
    assert all(word in everything for word in NOT_RUN)


def test_the_start_page_shows_what_is_printed(capsys):
    scope = {}
    said = []
    for text in blocks("start.md")[:3]:
        exec(compile(text, "start.md", "exec"), scope)
        said.append(capsys.readouterr().out.strip())
    page = (DOCS / "start.md").read_text(encoding="utf-8")
    for line in filter(None, said):
        assert f"\n    {line}\n" in page


NUMBER = re.compile(r"\d[\d.e-]*")


def test_reports_on_the_page_are_those_that_its_code_prints(capsys):
    """Word for word; numbers within a tenth, as kernels of other machines round otherwise."""
    pytest.importorskip("pandas")
    scope = {}
    for code, shown in zip(blocks("reading.md"), blocks("reading.md", "text"), strict=True):
        exec(compile(code, "reading.md", "exec"), scope)
        said = capsys.readouterr().out
        words = [" ".join(NUMBER.sub("#", text).split()) for text in (said, shown)]
        numbers = [[float(number.rstrip(".")) for number in NUMBER.findall(text)] for text in (said, shown)]
        assert words[0] == words[1]
        assert numbers[0] == pytest.approx(numbers[1], rel=0.1)


def test_there_are_twenty_one_tasks():
    assert (DOCS / "how-to.md").read_text(encoding="utf-8").count("\n**... ") == 21


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a shell")
@pytest.mark.parametrize("page", ["start.md", "pictures.md"])
def test_shell_blocks_run_as_they_stand(page, tmp_path):
    for extra in ("typer", "matplotlib", "PIL"):
        pytest.importorskip(extra)
    from PIL import Image

    np.savetxt(tmp_path / "counts.csv", documents(20), delimiter=",")
    Image.fromarray(picture()).save(tmp_path / "picture.png")
    Image.fromarray(255 * (picture() > 120).astype(np.uint8)).save(tmp_path / "mask.png")
    commands = re.findall(r"^\$ (.*)$", "".join(blocks(page, "console")), re.MULTILINE)
    lines = [line for line in commands if not line.startswith("pip install")]
    assert len(lines) >= 2
    ours = f'altmin() {{ "{sys.executable}" -m altmin "$@"; }}\n'
    done = subprocess.run(
        ["sh", "-e"], input=ours + "\n".join(lines), cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for name in re.findall(r"--out (\S+)", "\n".join(lines)):
        assert (tmp_path / name).stat().st_size > 0


def test_names_of_the_reference_exist():
    module, found_names = "", []
    for line in (DOCS / "api" / "index.rst").read_text(encoding="utf-8").splitlines():
        if found := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = found[1]
        elif found := re.match(r"   ([A-Za-z_][\w.]*)$", line):
            found_names.append(import_by_name(f"{module}.{found[1]}"))
    assert len(found_names) > 60


def import_by_name(name):
    home, _, last = name.rpartition(".")
    return getattr(importlib.import_module(home), last)


@pytest.mark.parametrize("page", APPLICATIONS)
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
