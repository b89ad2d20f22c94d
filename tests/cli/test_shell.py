"""The command line as a new user meets it: names are kept, errors are one line, the shell completes.

The session from a csv file to a model, a page and codes is in the README, and tested with it.
"""

import os
import re
import resource
import subprocess
import sys

import numpy as np
import pytest

import altmin

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


@pytest.fixture
def folder(tmp_path):
    header = ",".join(f"word {i}" for i in range(16))
    np.savetxt(tmp_path / "counts.csv", PROBLEM.X, delimiter=",", header=header, comments="")
    np.save(tmp_path / "counts.npy", PROBLEM.X)
    return tmp_path


def test_a_fit_can_be_checkpointed_and_goes_on(here, folder):
    words = ["fit", "AND", "counts.npy", "-n", 3, "-q", "--checkpoint", "state"]
    here(*words, "--set", "max_iter=3")
    assert list((folder / "state").iterdir()) != []
    text = here(*words, "--set", "max_iter=5")
    assert "max_iter" in text
    np.save(folder / "counts.npy", PROBLEM.X[::-1])
    assert "checkpoint" in here(*words, "--set", "max_iter=7", code=1)


def test_the_target_may_stay_in_the_file(here, folder):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    table = np.column_stack([X[:, 0], X[:, 0] * X[:, 1] + 1, X[:, 1:]])
    np.savetxt(folder / "law.csv", table, delimiter=",", header="a,y,b,c", comments="")
    here(
        "fit", "FactorizationMachineRegressor", "law.csv", "-n", 2, "--target", "y", "-q", "--out", "l.altmin"
    )
    said = here("transform", "l.altmin", "law.csv", "--out", "p.csv")
    assert "warning" not in said
    found = np.loadtxt(folder / "p.csv", skiprows=1)
    assert np.corrcoef(found, table[:, 1])[0, 1] > 0.99
    shuffled = table[:, [3, 2, 1, 0]]  # columns are found by their names
    np.savetxt(folder / "other.csv", shuffled, delimiter=",", header="c,b,y,a", comments="")
    here("transform", "l.altmin", "other.csv", "--out", "q.csv")
    assert np.array_equal(np.loadtxt(folder / "q.csv", skiprows=1), found)
    np.savetxt(folder / "less.csv", table[:, :2], delimiter=",", header="a,y", comments="")
    assert "lacks 2 column(s) of the model: b, c" in here("transform", "l.altmin", "less.csv", code=1)


def test_names_of_a_csv_come_back_in_the_report(here, folder):
    pytest.importorskip("matplotlib")
    here("fit", "AND", "counts.csv", "-n", 3, "-q", "--out", "m.altmin", "--set", "max_iter=5")
    here("report", "m.altmin", "counts.csv", "--out", "page.html")
    page = (folder / "page.html").read_text()
    assert re.search(r"word \d+, word \d+", page)
    assert page.count("data:image/png;base64") == 2


FM = "FactorizationMachineRegressor"
FILES = {
    "text.txt": b"hello",
    "sheet.xlsx": b"PK",
    "words.csv": b"1,2\n3,4\n5,b\n",
    "ragged.csv": b"1,2\n1,2,3\n",
    "holes.csv": b"1,2\n3,\n",
    "empty.csv": b"",
    "binary.csv": b"\xff\xfe\x00",
    "broken.npy": b"garbage",
    "broken.npz": b"PKgarbage",
    "broken.mtx": b"garbage",
    "broken.altmin": b"\x80\x04pickle",
    "torn.altmin": b"PK\x03\x04torn",
}


@pytest.mark.parametrize(
    "words, expected",
    [
        (["fit", "AND", "missing.csv", "-n", 2], "there is no file missing.csv"),
        (["fit", "ANND", "counts.csv", "-n", 2], "did you mean AND?"),
        (["fit", "orthogonal", "counts.csv"], "did you mean OrthogonalDictionaryLearning?"),
        (["fit", "AND", "text.txt", "-n", 2], "has a header, but no rows"),
        (["fit", "AND", "sheet.xlsx", "-n", 2], "save the sheet as CSV or parquet"),
        (["fit", "AND", "words.csv", "-n", 2], "line 3, column 2: 'b' is not a number"),
        (["fit", "AND", "ragged.csv", "-n", 2], "line 2: 3 cells where 2 are expected"),
        (["fit", "AND", "holes.csv", "-n", 1], "line 2, column 2 is empty: --set missing=mask"),
        (["fit", "AND", "empty.csv", "-n", 1], "empty.csv is empty"),
        (["fit", "AND", "binary.csv", "-n", 1], "is not a text file"),
        (["fit", "AND", "broken.npy", "-n", 1], "broken.npy is not a readable .npy file"),
        (["fit", "AND", "broken.npz", "-n", 1], "broken.npz is not a readable .npz file"),
        (["fit", "AND", "broken.mtx", "-n", 1], "broken.mtx is not a readable Matrix Market file"),
        (["fit", "AND", "counts.csv", "-n", 2, "--out", "no/where.altmin"], "no folder no"),
        (["fit", "AND", "counts.csv", "-n", 2, "--out", "."], "is a folder: name a file in it"),
        (["fit", "AND", "counts.csv", "-n", 2, "--set", "max_iter"], "name=value"),
        (["fit", "AND", "counts.csv", "-n", 2, "--set", "max_itre=3"], "did you mean max_iter?"),
        (["fit", "AND", "counts.csv", "-n", 2, "--set", "max_iter=many"], "max_iter"),
        (["fit", "AND", "counts.csv"], "n_components"),
        (["fit", "PhaseRetrieval", "counts.csv", "-n", 2], "takes no number of components"),
        (["fit", FM, "counts.csv", "-n", 1], "requires y"),
        (["fit", FM, "counts.csv", "-n", 1, "--target", "w"], "neither a column"),
        (["transform", "broken.altmin", "counts.csv"], "broken.altmin"),
        (["transform", "torn.altmin", "counts.csv"], "torn.altmin"),
        (["transform", "missing.altmin", "counts.csv"], "there is no file missing.altmin"),
        (["transform", "missing.altmin", "counts.csv", "--out", "codes.xlsx"], "none of .npy, .npz, .csv"),
        (["report", "missing.altmin"], "there is no file missing.altmin"),
        (["report", "missing.altmin", "--out", "page.pdf"], "ends in none of .html"),
    ],
)  # fmt: skip
def test_errors_are_one_line(here, folder, words, expected):
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    said = here(*words, code=1)
    assert expected in said
    assert "Traceback" not in said


def test_no_permission_to_write_is_told_before_the_fit(here, monkeypatch):
    def refuse(**options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("altmin.cli.tables.tempfile.TemporaryFile", refuse)
    said = here("fit", "AND", "counts.csv", "-n", 2, code=1)
    assert "no permission to write to . (Permission denied)" in said


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to(here, folder):
    (folder / "locked").mkdir(mode=0o500)
    said = here("fit", "AND", "counts.csv", "-n", 2, "--out", "locked/m.altmin", code=1)
    assert "no permission to write to locked" in said


def test_data_are_listed_whole(here, monkeypatch):
    monkeypatch.delenv("ALTMIN_DATA", raising=False)
    said = here("data")
    assert "pip install lda" in said
    assert "$ALTMIN_DATA/olivetti/olivetti.npz" in said


def test_debug_shows_the_traceback(folder):
    words = [sys.executable, "-m", "altmin.cli.app", "--debug", "fit", "AND", "none.csv"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert "Traceback" in done.stderr


def test_wrong_usage_has_its_own_exit_code(here):
    assert "No such command" in here("fti", code=2)
    here("fit", code=2)
    here("fit", "AND", "counts.csv", "-n", "two", code=2)


def test_help_tells_the_exit_codes_and_lists_the_commands(here):
    said = here("--help")
    for word in ("Exit codes", "fit", "transform", "report", "demo", "data", "--install-completion"):
        assert word in said


def test_the_shell_completes_names_of_models(tmp_path):
    words = {"_ALTMIN_COMPLETE": "complete_bash", "COMP_WORDS": "altmin fit Orth", "COMP_CWORD": "2"}
    code = "import sys; sys.argv = ['altmin']; from altmin.cli.app import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **words}, capture_output=True, text=True
    )
    assert done.stdout.split() == ["OrthogonalDictionaryLearning"]


def test_help_needs_no_numpy(tmp_path):
    code = (
        "import sys; sys.argv = ['altmin', '--help']\n"
        "from altmin.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "assert 'numpy' not in sys.modules, 'numpy was imported'"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_discover_answers_on_one_page(here, folder):
    made = make_dir(400, 30, 3, concentration=0.3, random_state=0)
    lines = ["sample," + ",".join(f"column {i}" for i in range(30))]
    lines += [f"s{i}," + ",".join(map(repr, row.tolist())) for i, row in enumerate(made.X)]
    (folder / "t.csv").write_text("\n".join(lines))
    text = here("discover", "t.csv", "--out", "found.html", "--budget", "quick", "-q")
    assert "a mixture of 3 features" in text
    assert "recovered" in text
    page = (folder / "found.html").read_text()
    assert "What was tried" in page
    assert "Columns of ids or text, which were set aside: sample." in page
    names = altmin.load(folder / "found.altmin").feature_names_in_
    assert list(names[:2]) == ["column 0", "column 1"]
    here("discover", "t.csv", "--out", "found.html", "--budget", "endless", code=1)


def test_columns_of_text_are_features_of_a_machine(here, folder):
    rng = np.random.default_rng(0)
    town, shop = rng.integers(0, 5, 600), rng.integers(0, 4, 600)
    clicked = rng.random(600) < np.where((town + shop) % 2, 0.9, 0.1)
    rows = [f"t{a},s{b},{rng.random():.3f},{int(c)}" for a, b, c in zip(town, shop, clicked, strict=True)]
    (folder / "clicks.csv").write_text("\n".join(["town,shop,age,click", *rows]))
    here(
        "fit",
        "FactorizationMachineClassifier",
        "clicks.csv",
        "-n",
        2,
        "--target",
        "click",
        "--out",
        "m.altmin",
    )
    (folder / "new.csv").write_text("shop,age,town\ns1,.5,t0\ns0,.5,t0\ns9,.1,t3\n")
    here("transform", "m.altmin", "new.csv", "--out", "found.csv")
    names, *found = (folder / "found.csv").read_text().replace('"', "").splitlines()
    assert names == "probability of 0,probability of 1,prediction"
    values = np.array([line.split(",") for line in found], dtype=float)
    np.testing.assert_allclose(values[:, :2].sum(axis=1), 1)
    assert values[:2, 2].tolist() == [1, 0] == (values[:2, 1] > 0.5).tolist()


def test_clicks_of_a_hundred_thousand_names_stay_in_bounded_memory(here, folder):
    rng = np.random.default_rng(1)
    names = rng.permutation(100_000)
    clicked = rng.random(100_000) < np.where(names % 5, 0.2, 0.8)
    rows = [f"d{a:x},s{a % 5},{int(c)}" for a, c in zip(names, clicked, strict=True)]
    (folder / "clicks.csv").write_text("\n".join(["device,site,click", *rows]))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    words = ("fit", "FactorizationMachineClassifier", "clicks.csv", "-n", 1, "--target", "click", "-q")
    here(*words, "--set", "max_iter=3", "--out", "m.altmin")
    (folder / "new.csv").write_text("device,site\nnever,s0\nnever,s3\n")
    here("transform", "m.altmin", "new.csv", "--out", "found.csv")
    found = [line.split(",") for line in (folder / "found.csv").read_text().splitlines()[1:]]
    assert float(found[0][1]) > 0.5 > float(found[1][1])
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 600  # MB; dense: 80 GB
