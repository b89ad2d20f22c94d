"""The README's examples run as they stand, in Python and in a shell."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
TEXT = README.read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
VERDICTS = ("recovered", "plausible", "unknown", "contradicted")
SESSIONS = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_example_runs(number, tmp_path, monkeypatch):
    if "altmin.plots" in BLOCKS[number]:
        pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(BLOCKS[number], f"README example {number}", "exec"), names)
    assert len(names) > 1  # it made something


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a shell")
def test_the_shell_session_runs_and_says_what_it_shows(tmp_path):
    """The lines after a command are its output, '...' standing for anything."""
    for extra in ("typer", "matplotlib"):
        pytest.importorskip(extra)
    (session,) = SESSIONS
    commands = re.findall(r"^\$ (.*)$", session, re.MULTILINE)
    shown = [line for line in session.splitlines() if not line.startswith("$ ")]
    assert len(commands) == 5
    done = subprocess.run(
        ["sh", "-e"],
        input=f'altmin() {{ "{sys.executable}" -m altmin.cli.app "$@"; }}\n'
        f'python() {{ "{sys.executable}" "$@"; }}\n' + "\n".join(commands),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert done.returncode == 0, done.stderr
    said = (done.stdout + done.stderr).splitlines()
    for line in shown:
        pattern = re.escape(line).replace(r"\.\.\.", ".*")
        assert any(re.fullmatch(pattern, one) for one in said), line
    page = (tmp_path / "digits.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64") == 3  # components, convergence, codes
    assert re.search(r"(src|href)=.https?:", page) is None
    codes = (tmp_path / "codes.csv").read_text().splitlines()
    assert len(codes) == 1798
    assert all(float(cell) >= 0 for cell in codes[1].split(","))
    assert codes[0] == '"",' + ",".join(f'"and{i}"' for i in range(16))  # the index is carried along


def test_files_that_are_named_are_there_and_no_link_is_relative():
    """An index of packages shows the README without the files beside it."""
    assert re.findall(r"\]\((?!https?:)[^)]+\)", TEXT) == []
    for target in re.findall(r"`((?:docs|lab)/[\w./-]+|[A-Z]+\.(?:md|cff))`", TEXT):
        assert (README.parent / target).exists(), target


def test_what_the_examples_need_is_in_the_line_that_installs():
    line = next(line for line in TEXT.splitlines() if line.startswith("    pip install"))
    assert "altmin[all]" in line
    needs_pandas = [text for text in (*BLOCKS, *SESSIONS) if "as_frame" in text or "pandas" in text]
    assert not needs_pandas or " pandas " in line


def test_numbers_of_the_comparison_are_those_of_the_script():
    found = json.loads((README.parent / "docs" / "images" / "topics.json").read_text())
    for name in ("AND", "NMF"):
        line = next(line for line in TEXT.splitlines() if line.startswith(f"| `{name}`"))
        assert f"{found[name]['seconds']:.1f} s" in line and f"{found[name]['error']:.0e}" in line


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_first_examples_print_what_they_say(number, capsys, tmp_path, monkeypatch):
    """A comment beside print() begins with what is printed: a number, rounded, or a word."""
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS[number], f"README example {number}", "exec"), {})
    said = capsys.readouterr().out.splitlines()
    told = re.findall(r"^print\(.*\)  # (.*)$", BLOCKS[number], re.MULTILINE)
    assert len(said) == len(told) >= 2
    for text, comment in zip(said, told, strict=True):
        if decimals := re.match(r"\d+\.(\d+)", comment):
            assert comment.startswith(f"{float(text):.{len(decimals[1])}f}"), (text, comment)
        elif comment in VERDICTS or number == 0:
            assert text == comment
