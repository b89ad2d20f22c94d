"""Tables as people have them: each kind gives the right features, carries its ids, or names the option."""

import gzip
import json

import numpy as np
import pytest

pytest.importorskip("typer", reason="the extra 'cli' is not installed")
pytest.importorskip("pyarrow", reason="the extra 'cli' is not installed")
pytest.importorskip("pandas", reason="the extra 'dev' is not installed")

import pandas as pd

from altmin.cli.tables import Wanted, read_table
from altmin.cli.text_files import FileError
from altmin.datasets import make_dir

X = make_dir(60, 6, 3, concentration=1.0, random_state=0).X
NAMES = [f"gene {i}" for i in range(6)]
FRAME = pd.DataFrame(X, columns=NAMES)
LABELS = [f"sample {chr(97 + i % 26)}{i}" for i in range(60)]


def plain(path):
    FRAME.to_csv(path / "t.csv", index=False)
    return "t.csv", None


def pandas_index(path):
    FRAME.to_csv(path / "t.csv")
    return "t.csv", ""


def id_column(path):
    FRAME.assign(patient_id=np.arange(100, 160))[["patient_id", *NAMES]].to_csv(path / "t.csv", index=False)
    return "t.csv", "patient_id"


def text_column(path):
    FRAME.assign(name=LABELS).to_csv(path / "t.csv", index=False)
    return "t.csv", "name"


def semicolons(path):
    FRAME.to_csv(path / "t.csv", sep=";", decimal=",", index=False)
    return "t.csv", None


def tabs(path):
    FRAME.to_csv(path / "t.tsv", sep="\t", index=False)
    return "t.tsv", None


def packed(path):
    with gzip.open(path / "t.csv.gz", "wt") as file:
        FRAME.to_csv(file, index=False)
    return "t.csv.gz", None


def feather(path):
    FRAME.to_feather(path / "t.feather")
    return "t.feather", None


def json_lines(path):
    rows = [{"name": label, **row} for label, row in zip(LABELS, FRAME.to_dict("records"), strict=True)]
    lines = [json.dumps(row) for row in rows]
    (path / "t.jsonl").write_text("\n".join(lines))
    return "t.jsonl", "name"


def parquet_with_text(path):
    FRAME.assign(name=LABELS).to_parquet(path / "t.parquet")
    return "t.parquet", "name"


def numbered_header(path):
    pd.DataFrame(X, columns=[400, 410.5, 420, 430, 440, 450]).to_csv(path / "t.csv", index=False)
    return "t.csv", None


KINDS = [
    plain, pandas_index, id_column, text_column, semicolons, tabs, packed, feather, json_lines,
    parquet_with_text, numbered_header,
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_fit_transform_and_report_find_the_features_and_carry_the_ids(shell, tmp_path, kind):
    name, aside = kind(tmp_path)
    said = shell("fit", "and", name, "-n", 3, "-q", "--set", "max_iter=5")
    assert ("not used as a feature" in said) == (aside is not None)
    assert "of 6 features" in shell("info", "model.altmin")
    shell("transform", "model.altmin", name, "--out", "codes.parquet")
    codes = pd.read_parquet("codes.parquet")
    assert list(codes.columns) == [*([aside] if aside is not None else []), "and0", "and1", "and2"]
    assert len(codes) == 60
    if aside == "name":
        assert codes["name"].tolist() == LABELS
    shell("transform", "model.altmin", name, "--out", "codes.csv")
    again = pd.read_csv("codes.csv")
    np.testing.assert_allclose(again.iloc[:, -3:], codes.iloc[:, -3:])
    shell("report", "model.altmin", name)
    assert (tmp_path / "page.html").stat().st_size > 1000


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_numbers_are_those_of_the_table(tmp_path, kind):
    frame = read_table(str(tmp_path / kind(tmp_path)[0]))
    np.testing.assert_allclose(frame.X, X, rtol=1e-12)


def test_a_plain_parquet_file_is_read_piece_by_piece(tmp_path):
    FRAME.to_parquet(tmp_path / "t.parquet")
    frame = read_table(str(tmp_path / "t.parquet"))
    assert frame.X == str(tmp_path / "t.parquet") and frame.columns == NAMES


def test_duplicated_headers_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,a\n1,2,3\n")
    with pytest.raises(FileError, match='names "a" 2 times'):
        read_table(str(tmp_path / "t.csv"))


@pytest.mark.parametrize("name", ["patient_id", "Patient ID", "patientId", "ID"])
def test_ids_may_repeat_and_have_many_names(tmp_path, name):
    FRAME.assign(**{name: np.arange(60) // 2}).to_csv(tmp_path / "t.csv", index=False)
    frame = read_table(str(tmp_path / "t.csv"))
    assert frame.columns == NAMES and list(frame.aside) == [name]


@pytest.mark.parametrize("name", ["acid", "humid", "grid", "VOID"])
def test_words_that_end_in_id_are_features(tmp_path, name):
    FRAME.assign(**{name: np.arange(60)}).to_csv(tmp_path / "t.csv", index=False)
    assert read_table(str(tmp_path / "t.csv")).columns == [*NAMES, name]


def test_columns_drop_and_target_say_which_is_which(shell, tmp_path):
    FRAME.assign(price=X[:, 0] * X[:, 1], note=LABELS).to_csv("t.csv", index=False)
    wanted = Wanted(columns=("gene 0", "gene 3"), target="price", id_column="note")
    frame = read_table("t.csv", wanted)
    assert frame.X.shape == (60, 2) and frame.y.shape == (60,) and frame.aside["note"].tolist() == LABELS
    dropped = read_table("t.csv", Wanted(drop=("gene 5", "price")))
    assert dropped.columns == NAMES[:5]
    with pytest.raises(FileError, match="--drop names gene 9; the columns are gene 0"):
        read_table("t.csv", Wanted(drop=("gene 9",)))
    with pytest.raises(FileError, match='--columns names "note", which holds text'):
        read_table("t.csv", Wanted(columns=("note",)))


def test_an_empty_cell_is_told_by_line_name_and_the_option_that_helps(shell, tmp_path):
    holes = FRAME.copy()
    holes.iloc[17, 3] = np.nan
    holes.to_csv("t.csv", index=False)
    said = shell("fit", "AND", "t.csv", "-n", 2, "-q", code=1)
    assert 'line 19, column "gene 3" is empty: --set missing=mask' in said
    shell("fit", "AND", "t.csv", "-n", 2, "-q", "--set", "missing=mask", "--set", "max_iter=3")
    said = shell("fit", "OrthogonalDictionaryLearning", "t.csv", "-q", code=1)
    assert "--drop gene 3 leaves the column out" in said and "missing" not in said


def test_a_word_among_numbers_is_an_error_and_no_text_column(tmp_path):
    lines = FRAME.to_csv(index=False).splitlines()
    lines[7] = "1,2,3,4,lots,6"
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with pytest.raises(FileError, match="line 8, column \"gene 4\": 'lots' is not a number"):
        read_table(str(tmp_path / "t.csv"))
    long = [lines[1], *FRAME.to_csv(index=False, header=False).splitlines() * 200]
    long[9000] = "1,2,3,4,lots,6"  # beyond what is looked at first
    (tmp_path / "t.csv").write_text("\n".join(long))
    with pytest.raises(FileError, match=r"line 9001, column 5: 'lots' is not a number"):
        read_table(str(tmp_path / "t.csv"))


def test_whole_numbers_may_turn_into_fractions_further_down(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 200_000 + "1.5,2\n")
    assert read_table(str(tmp_path / "t.csv")).X[-1].tolist() == [1.5, 2.0]


def test_a_first_column_that_counts_is_pointed_at_where_nothing_has_a_name(tmp_path):
    pd.DataFrame(X).to_csv(tmp_path / "t.csv", header=False)
    frame = read_table(str(tmp_path / "t.csv"))
    assert frame.X.shape == (60, 7) and "--id-column 1" in frame.notes[0]
    assert read_table(str(tmp_path / "t.csv"), Wanted(id_column="1")).X.shape == (60, 6)
