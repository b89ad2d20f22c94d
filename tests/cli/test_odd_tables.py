"""Tables as other programs leave them: encodings, comments, blanks, units; read, or told what to mend."""

import numpy as np
import pytest

pytest.importorskip("typer", reason="the extra 'cli' is not installed")
pytest.importorskip("pyarrow", reason="the extra 'cli' is not installed")
pytest.importorskip("pandas", reason="the extra 'dev' is not installed")

import pandas as pd

from altmin.cli.tables import read_table
from altmin.cli.text_files import FileError

X = np.round(np.random.default_rng(0).random((30, 4)) * 10, 6)
FRAME = pd.DataFrame(X, columns=list("abcd"))
CSV = FRAME.to_csv(index=False)


@pytest.mark.parametrize(
    "name, content",
    [
        ("mark.csv", b"\xef\xbb\xbf" + CSV.encode()),
        ("sixteen.csv", CSV.encode("utf-16")),
        ("latin.csv", CSV.replace("a", "größe", 1).encode("latin-1")),
        ("comment.csv", b"# made in May\n" + CSV.encode()),
        ("commented-header.csv", b"# a,b,c,d\n" + CSV.split("\n", 1)[1].encode()),
        ("blank.csv", b"\n\n" + CSV.encode() + b"\n\n"),
        ("windows.csv", CSV.replace("\n", "\r\n").encode()),
        ("blanks.txt", "\n".join("  ".join(f"{v:12.6f}" for v in row) for row in X).encode()),
        ("UPPER.CSV", CSV.encode()),
        ("trailing.csv", CSV.replace("\n", ",\n").encode()),
        ("empty-column.csv", FRAME.assign(nothing=np.nan).to_csv(index=False).encode()),
        ("breaks.csv", FRAME.assign(note="two\nlines; one,comma").to_csv(index=False).encode()),
        ("late.csv", FRAME.assign(note=["x" * 3000] * 29 + ["é"]).to_csv(index=False).encode("latin-1")),
        ("date.csv", FRAME.assign(day=pd.date_range("2020", periods=30)).to_csv(index=False).encode()),
    ],
)  # fmt: skip
def test_it_is_read(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    np.testing.assert_allclose(read_table(str(tmp_path / name)).X, X)


def test_a_table_of_many_columns_is_read(tmp_path):
    """Its header alone is longer than what is looked at first."""
    wide = pd.DataFrame(np.ones((3, 6000)), columns=[f"a gene with a number {i}" for i in range(6000)])
    wide.to_csv(tmp_path / "wide.csv", index=False)
    frame = read_table(str(tmp_path / "wide.csv"))
    assert frame.X.shape == (3, 6000) and frame.columns == list(wide.columns)


@pytest.mark.parametrize(
    "column, told",
    [
        (["3 %"] * 30, 'column "e" holds text such as "3 %", so it is not used as a feature'),
        (["1,200.5"] * 30, 'holds text such as "1,200.5"'),
        (["two\nlines"] * 30, 'holds text such as "two lines"'),
        (pd.date_range("2020", periods=30), 'holds text such as "2020-01-01"'),
        ([np.nan] * 30, 'column "e" is empty, so it is not used as a feature'),
    ],
)
def test_what_is_set_aside_is_shown(tmp_path, column, told):
    FRAME.assign(e=column).to_csv(tmp_path / "t.csv", index=False)
    frame = read_table(str(tmp_path / "t.csv"))
    assert told in frame.notes[0] and frame.columns == list("abcd")
    assert "output" not in frame.notes[0]  # a page has none


def test_dates_of_a_parquet_file_are_called_dates(tmp_path):
    FRAME.assign(e=pd.date_range("2020", periods=30)).to_parquet(tmp_path / "t.parquet")
    assert 'column "e" holds dates' in read_table(str(tmp_path / "t.parquet")).notes[0]


def test_another_encoding_is_told(tmp_path):
    (tmp_path / "t.csv").write_bytes(CSV.replace("a", "größe", 1).encode("latin-1"))
    frame = read_table(str(tmp_path / "t.csv"))
    assert frame.columns[0] == "größe" and "read as Windows-1252" in frame.notes[0]


def test_truth_values_are_numbers(tmp_path):
    FRAME.assign(e=X[:, 0] > 5).to_csv(tmp_path / "t.csv", index=False)
    assert read_table(str(tmp_path / "t.csv")).X[:, 4].tolist() == (X[:, 0] > 5).tolist()


@pytest.mark.parametrize(
    "name, content, told",
    [
        ("t.csv", "a,b\n", "has a header, but no rows below it"),
        ("t.csv", "\n\n", "is empty"),
        ("t.csv", "a,b\nx,y\nz,w\n", 'no column of numbers: "a" holds text such as "x", "b" holds'),
        (
            "t.csv",
            "a,b\n1,2\n3,?\n5,6\n",
            "line 3, column \"b\": '?' is not a number (where a value",
        ),
        ("t.csv", "# c\n\na,b\n1,2\n3,?\n5,6\n", 'line 5, column "b"'),
        (
            "t.csv",
            'a,b\n1,2\n3,"1,024"\n5,6\n',
            "'1,024' is not a number (write plain numbers",
        ),
        ("t.csv", "a,b\n1,2\n3,١\n5,6\n", "'١' is not a number"),
        ("t.csv", 'a,b\n1,"x\ny"\n2,z\nq,w\n3,v\n', "row 3, column \"a\": 'q' is not a number"),
        ("t.csv", "# c\n1,2\n1,2,3\n", "line 3: 3 cells where 2 are expected"),
        ("t.json", "[]", "write one record a line and call it .jsonl"),
        ("t.csv.zip", "", "unpack it first"),
        ("t.npy.gz", "", "unpack it first"),
    ],
)
def test_what_is_wrong_is_told(tmp_path, name, content, told):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(FileError) as error:
        read_table(str(tmp_path / name))
    assert told in str(error.value)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
@pytest.mark.parametrize(
    "value, told", [(np.nan, "is empty: --set missing=mask"), (np.inf, "is infinite: --drop c")]
)
def test_a_cell_without_a_number_is_told_by_its_name(shell, name, value, told):
    holes = FRAME.copy()
    holes.loc[4, "c"] = value
    holes.to_csv(name, index=False) if name == "t.csv" else holes.to_parquet(name)
    said = shell("fit", "and", name, "-n", 2, "-q", code=1)
    assert f'{name}, {"line 6" if name == "t.csv" else "row 5"}, column "c" {told}' in said


def test_a_column_that_became_empty_is_told(shell):
    FRAME.to_csv("t.csv", index=False)
    shell("fit", "and", "t.csv", "-n", 2, "-q", "--set", "max_iter=3")
    FRAME.assign(c=np.nan).to_csv("new.csv", index=False)
    said = shell("transform", "model.altmin", "new.csv", code=1)
    assert "lacks 1 column(s) of the model: c; c is there, but holds no numbers" in said


def test_info_shows_the_parameters_as_python_does(shell):
    FRAME.to_csv("t.csv", index=False)
    shell("fit", "and", "t.csv", "-n", 2, "-q", "--set", "max_iter=3")
    assert shell("info", "model.altmin").startswith("AND of 4 features (max_iter=3, n_components=2)")
