"""What the shell refuses, in one line; and the commands that look at data and models, in this process."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from altmin.cli.pictures import Picture, write_picture
from altmin.cli.tables import Wanted, read_table
from altmin.cli.text_files import FileError
from altmin.datasets import make_dir
from altmin.signatures import read_reference


@pytest.fixture
def table(tmp_path):
    np.save(tmp_path / "x.npy", make_dir(120, 8, 2, random_state=0).X)


@pytest.fixture
def fitted(shell, table):
    shell("fit", "AND", "x.npy", "--n-components", 2, "--out", "m.altmin")


def test_how_many_is_said_and_drawn(shell, table, tmp_path):
    said = shell("select", "AND", "x.npy", "--from", 1, "--to", 3, "--out", "curve.png")
    assert "2" in said
    assert "picture: curve.png" in said
    assert (tmp_path / "curve.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("AND", "--from", 3, "--to", 2), "--from 3 --to 2: at least 1, and not falling"),
        (("AND", "--from", 0, "--to", 2), "at least 1"),
        (("FactorizationMachineRegressor", "--from", 1, "--to", 2), "has no number of components to choose"),
    ],
)
def test_numbers_that_cannot_be_tried_are_refused(shell, table, words, message):
    model, *ends = words
    assert message in shell("select", model, "x.npy", *ends, code=1)


def test_a_model_is_judged_on_other_data(shell, fitted):
    said = shell("guarantee", "m.altmin", "x.npy", "--effort", "cheap")
    assert "guarantee: " in said
    assert "cheap effort" in said


def test_what_data_cannot_show_may_be_declared(shell, fitted):
    said = shell("guarantee", "m.altmin", "x.npy", "--effort", "cheap", "--assume", "pure")
    assert "Assumed: Each feature occurs nearly alone in some samples (declared)." in said
    assert "knows the assumptions 'pure'" in shell(
        "guarantee", "m.altmin", "x.npy", "--assume", "mixed", code=1
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--vocabulary", "none.txt"), "there is no file none.txt"),
        (("--vocabulary", "words.txt"), "words.txt has 2 words, the model 8 features"),
        (("--image-shape", "8"), "--image-shape '8': write it as height x width"),
    ],
)
def test_pages_that_cannot_be_made_are_refused(shell, fitted, tmp_path, words, message):
    (tmp_path / "words.txt").write_text("one\ntwo\n")
    assert message in shell("report", "m.altmin", "--out", "page.html", *words, code=1)


def test_a_package_that_reads_a_table_is_named(monkeypatch, tmp_path):
    (tmp_path / "x.feather").write_text("")
    monkeypatch.setitem(sys.modules, "pyarrow.feather", None)
    with pytest.raises(FileError, match=r"reading it needs pyarrow\.feather: pip install"):
        read_table(str(tmp_path / "x.feather"))


def test_tables_without_names_or_rows_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((3, 2)))
    with pytest.raises(FileError, match="has no named columns"):
        read_table(str(tmp_path / "x.npy"), Wanted(drop=("a",)))


@pytest.mark.parametrize("ending", [".feather", ".parquet", ".jsonl"])
def test_a_damaged_table_is_named(tmp_path, ending):
    (tmp_path / f"x{ending}").write_text("no")
    with pytest.raises(FileError, match=rf"x\{ending} is not a readable \{ending} file"):
        read_table(str(tmp_path / f"x{ending}"))


def test_pictures_that_a_file_cannot_hold_are_refused(tmp_path):
    pixels = np.zeros((4, 4, 3), np.uint8)
    with pytest.raises(FileError, match="jpg keeps no transparency"):
        write_picture(Picture(pixels, pixels[:, :, 0]), tmp_path / "a.jpg")
    with pytest.raises(FileError, match="can't hold this picture"):
        write_picture(Picture(np.zeros((4, 4)), None), tmp_path / "a.png")


@pytest.mark.parametrize("spec", [None, SimpleNamespace(origin=None)])
def test_without_a_reference_it_is_said_where_one_comes_from(monkeypatch, spec):
    monkeypatch.setattr("altmin.signatures.tables.find_spec", lambda name: spec)
    with pytest.raises(ValueError, match="no reference: give a file"):
        read_reference()


def test_the_newest_installed_reference_is_taken(monkeypatch, tmp_path):
    spec = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr("altmin.signatures.tables.find_spec", lambda name: spec)
    with pytest.raises(ValueError, match="has no COSMIC"):
        read_reference()
    from altmin.signatures.channels import CHANNELS

    for version in ("3.4", "3.10", "3.9"):
        rows = [f"Type\tSBS of {version}", *(f"{channel}\t1" for channel in CHANNELS["SBS96"])]
        (tmp_path / f"COSMIC_v{version}_SBS_GRCh37.txt").write_text("\n".join(rows))
    assert read_reference().names == ("SBS of 3.10",)
