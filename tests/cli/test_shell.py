"""The command line as a new user meets it: a session from csv to a page, and errors without tracebacks."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("typer", reason="the extra 'cli' is not installed")

from altmin.datasets import make_dir

PROBLEM = make_dir(300, 16, 3, random_state=0)


@pytest.fixture
def here(folder, monkeypatch, capsys):
    """The command line without a new process."""
    from altmin.cli.app import main

    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words, code=0):
        monkeypatch.setattr(sys, "argv", ["altmin", *map(str, words)])
        stopped = 0
        try:
            main()
        except SystemExit as stop:
            stopped = stop.code or 0
        text = "".join(capsys.readouterr())
        assert stopped == code, text
        return text

    return call


def altmin(folder, *words, code=0):
    done = subprocess.run(
        [sys.executable, "-m", "altmin.cli.app", *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path):
    header = ",".join(f"word {i}" for i in range(16))
    np.savetxt(tmp_path / "counts.csv", PROBLEM.X, delimiter=",", header=header, comments="")
    np.save(tmp_path / "counts.npy", PROBLEM.X)
    return tmp_path


def test_from_csv_to_model_to_page_to_codes(folder):
    pytest.importorskip("matplotlib")
    text = altmin(folder, "fit", "AND", "counts.csv", "-n", 3, "--out", "m.altmin", "--set", "max_iter=20")
    assert "model: m.altmin" in text
    altmin(folder, "transform", "m.altmin", "counts.csv", "--out", "codes.csv")
    lines = (folder / "codes.csv").read_text().splitlines()
    assert len(lines) == 301
    assert lines[0] == "and0,and1,and2"
    altmin(folder, "report", "m.altmin", "counts.npy", "--out", "page.html", "--image-shape", "4x4")
    page = (folder / "page.html").read_text()
    assert page.count("data:image/png;base64") == 3
    assert re.search(r"(src|href)=.https?:", page) is None


def test_a_fit_can_be_checkpointed_and_goes_on(here):
    words = ["fit", "AND", "counts.npy", "-n", 3, "-q", "--checkpoint", "state"]
    here(*words, "--set", "max_iter=3")
    text = here(*words, "--set", "max_iter=5")
    assert "max_iter" in text


@pytest.mark.parametrize(
    "words, expected",
    [
        (["fit", "AND", "missing.csv", "-n", 2], "there is no file missing.csv"),
        (["fit", "ANND", "counts.csv", "-n", 2], "did you mean AND?"),
        (["fit", "AND", "text.txt", "-n", 2], "ends in none of"),
        (["fit", "AND", "words.csv", "-n", 2], "line 3, cell 2: 'b' is not a number"),
        (["fit", "AND", "ragged.csv", "-n", 2], "line 2: 3 cells where 2 are expected"),
        (["fit", "AND", "holes.csv", "-n", 1], "NaN at row 1, column 1"),
        (["fit", "AND", "counts.csv", "-n", 2, "--out", "no/where.altmin"], "no folder no"),
        (["fit", "AND", "counts.csv", "-n", 2, "--set", "max_iter"], "name=value"),
        (["fit", "AND", "counts.csv", "-n", 2, "--set", "max_itre=3"], "max_itre"),
        (["fit", "AND", "counts.csv"], "n_components"),
        (["transform", "broken.altmin", "counts.csv"], "broken.altmin"),
        (["report", "missing.altmin"], "missing.altmin"),
    ],
)
def test_errors_are_one_line(here, folder, words, expected):
    (folder / "text.txt").write_text("hello")
    (folder / "words.csv").write_text("1,2\n3,4\n5,b\n")
    (folder / "ragged.csv").write_text("1,2\n1,2,3\n")
    (folder / "holes.csv").write_text("1,2\n3,\n")
    (folder / "broken.altmin").write_bytes(b"\x80\x04pickle")
    assert expected in here(*words, code=1)


def test_wrong_usage_has_its_own_exit_code(here):
    assert "No such command" in here("fti", code=2)
    here("fit", code=2)


def test_help_needs_no_numpy(tmp_path):
    code = (
        "import sys; sys.argv = ['altmin', '--help']\n"
        "from altmin.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "assert 'numpy' not in sys.modules, 'numpy was imported'"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
