"""What the shell makes of files, and what it says: texts of every make, options, pictures."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from cases import CLASSIFIER, case
from data import law, noisy_cone

import altmin
from altmin.cli import pictures
from altmin.cli.fit import Order, fit_file, make_model, transform_file
from altmin.cli.look import describe_model
from altmin.cli.report import image_shape_of
from altmin.cli.tables import Wanted, check_target, read_table, write_table
from altmin.cli.text_files import _decimal_comma, _is_header, _rises, _rows, _separator, _width, is_number

NUMBERED = "".join(f"{i},{i * 0.5},{i % 3}\n" for i in range(1, 13))
RISING = "400,410,420,430,440\n1,5,2,4,3\n2,1,7,7,9\n"
FILES: dict[str, bytes | str] = {
    "plain.csv": "a,b\n1,2\n3,4.5\n",
    "bare.csv": "1,2\n3,4.5\n",
    "numbered.csv": NUMBERED,
    "few numbered.csv": NUMBERED[:30],
    "counted.csv": "0,1,2\n5,6,7\n1,2,3\n",
    "two counted.csv": "0,1\n5,6\n1,2\n",
    "rising.csv": RISING,
    "rising rows.csv": RISING.replace("1,5,2,4,3", "1,2,3,4,5"),
    "four rising.csv": "400,410,420,430\n1,5,2,4\n",
    "pandas.csv": ",a,b\n0,1.5,2\n1,3,4\n",
    "ids.csv": "patient_id,a,paid\n7,1,2\n7,3,4\n",
    "no ids.csv": "patient_id,a\n7.5,1\n7,3\n",
    "row.csv": "row,a\n1,1\n2,3\n",
    "row again.csv": "row,a\n1,1\n1,3\n",
    "semicolons.csv": "a;b\n1,5;2\n3;4,25\n",
    "no commas.csv": "a;b\n1,5;2.5\n3;4\n",
    "tabs.tsv": "a\tb\n1\t2\n3\t4\n",
    "bars.txt": "a|b\n1|2\n3|4\n",
    "blanks.txt": "  1.0   2\n 3  4\n",
    "savetxt.txt": "# a b\n1 2\n3 4\n",
    "title.txt": "# a long title\n1 2\n3 4\n",
    "comment.csv": "# from a machine\n\na,b\n1,2\n",
    "quoted.csv": 'a,b\n1,"x,\ny"\n2,z\n',
    "unicode.csv": "\ufeffa,b\n1,2\n".encode(),
    "wide.csv": "a,b\n1,2\n".encode("utf-16"),
    "western.csv": "größe,b\n1,2\n".encode("cp1252"),
    "packed.csv.gz": gzip.compress(b"a,b\n1,2\n3,4\n", mtime=0),
    "lines.jsonl": '{"a": 1, "t": "x"}\n{"a": 2.5, "t": "y"}\n',
    "flags.csv": "a,b\n1,true\n2,FALSE\n",
    "missing.csv": "a,b\n1,NA\n,3\n5,n/a\n",
    "empty column.csv": "a,b\n1,\n2,\n",
    "dates.csv": "a,day\n1,2020-01-01\n2,2020-01-02\n",
    "words.csv": "a,b\nx,1\ny,2\n",
    "only words.csv": "a,b\nx,y\nz,w\n",
    "unit.csv": "a,b\n1,2\n3,4 mm\n5,6\n",
    "ragged.csv": "a,b\n1,2\n3,4,5\n",
    "twice.csv": "a,a\n1,2\n",
    "only names.csv": "a,b\n",
    "nothing.csv": "",
    "binary.csv": b"\0\1\2\xff" * 20,
    "sheet.xlsx": "",
    "packed.npy.gz": "",
    "other.abc": "",
}
MANY = ",".join(f"c{i}" for i in range(9)) + "\n" + ",".join("123456789") + "\n"
WANTED: dict[str, tuple[str, Wanted]] = {
    "columns": ("a,b,c\n1,2,3\n4,5,6\n", Wanted(columns=("c", "a"))),
    "of a column of ids": ("id,b\n1,2\n2,5\n", Wanted(columns=("id",))),
    "dropped": ("a,b,c\n1,x,3\n4,5,6\n", Wanted(drop=("b",))),
    "names of rows": ("a,b,c\n1,x,3\n4,y,6\n", Wanted(id_column="b")),
    "target": ("a,b,c\n1,x,3\n4,y,6\n", Wanted(target="b")),
    "number": ("a,b,c\n1,2,3\n4,5,6\n", Wanted(target="c")),
    "no target": ("a,b\n1,2\n", Wanted(target="d")),
    "text": ("a,b\n1,x\n4,y\n", Wanted(text=True)),
    "text of columns": ("a,b\n1,x\n4,y\n", Wanted(columns=("b",), text=True)),
    "text where numbers are needed": ("a,b\n1,x\n4,y\n", Wanted(columns=("b",))),
    "header": ("1,2\n3,4\n", Wanted(header=True)),
    "no header": ("0,1,2\n3,4,5\n", Wanted(header=False)),
    "number of a column": ("1,2\n3,4\n", Wanted(drop=("1",))),
    "unknown": ("a,b\n1,2\n", Wanted(columns=("d", "a", "e"))),
    "unknown of many": (MANY, Wanted(drop=("d",))),
    "unknown of eight": (MANY.replace(",c8", "").replace(",9", ""), Wanted(id_column="d")),
    "all dropped": ("a,b\n1,2\n", Wanted(drop=("a", "b"))),
}


def outcome(call: Callable[[], Any]) -> Any:
    """What comes of it, or what it is refused with."""
    try:
        return call()
    except (ValueError, OSError) as error:
        return f"{type(error).__name__}: {error}"


def at_home(call: Callable[[], Any]) -> Any:
    """In a folder of its own."""
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return call()
        finally:
            os.chdir(before)


@case
def files_that_are_read() -> Any:
    def read() -> Any:
        found = {}
        for name, content in FILES.items():
            Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
            found[name] = outcome(lambda name=name: read_table(name))
        for name, (text, wanted) in WANTED.items():
            Path("t.csv").write_text(text)
            found[name] = outcome(lambda wanted=wanted: read_table("t.csv", wanted))
        np.save("y.npy", np.arange(2.0))
        np.save("x.npy", np.ones((2, 2)))
        Path("y.csv").write_text("y\n3\n4\n")
        for target in ("y.npy", "y.csv"):
            found[f"target of {target}"] = read_table("x.npy", Wanted(target=target))
        found["x.npy with names"] = outcome(lambda: read_table("x.npy", Wanted(drop=("a",))))
        found["no file"] = outcome(lambda: read_table("none.csv"))
        frames = [read_table(name) for name in ("plain.csv", "bare.csv", "x.npy")]
        return found | {"places": [frame.place(3, 1) for frame in frames]}

    return at_home(read)


@case
def pieces_of_text_files() -> Any:
    cells = ["1", "-1.5e3", ".5", "5.", " 7 ", "nan", "-Inf", "1,5", "1_000", "", "0x1", "e5", "1e"]
    return {
        "numbers": [cell for cell in cells if is_number(cell)],
        "separators": [
            _separator(lines)
            for lines in (
                ["a,b", "c,d"], ["a, b", "c, d"], ["1,5;2", "3;4"], ["a b", "c  d"], ["a,b c", "d,e f"],
                ["a|b,c", "d|e"], ["abc"], ["a;b;c", "a;b"], ["a\tb,c", "d\te,f"],
            )
        ],
        "decimal commas": [
            _decimal_comma(rows)
            for rows in ([["a"], ["1,5"]], [["1,5"]], [["a"], ["1,5", "2.5"]], [["a"], ["x,5"]])
        ],
        "headers": [
            _is_header(rows)
            for rows in (
                [["a", "1"]], [["1", "2"]], [["", "2"], ["1", "2"]], [["1", ""]], [[""]], [["0", "1", "2"]],
                [["0", "1"]], [["1", "2", "3", "4", "5"], ["5", "1", "2", "3", "4"]],
                [["1", "2", "3", "4", "5"], ["1", "2", "3", "4", "6"]],
                [["1", "2", "3", "4"], ["5", "1", "2", "3"]],
            )
        ],
        "rises": [_rises(row) for row in (["1", "2"], ["1", "1"], ["2", "1"], ["1", "a"], ["7"])],
        "widths": [
            _width(line, sign) for line, sign in (("a,b", ","), (" a  b ", " "), ("", ","), ('"a,b",c', ","))
        ],
        "rows": [
            _rows(text, sign, whole)
            for text, sign, whole in (
                ("a,b\n1,2\n3", ",", False), ("a,b\n1,2\n3", ",", True), ("# a b\n1 2\n", " ", True),
                ("# a\n1,2\n", ",", True), ("\n\n1,2", ",", False), ("# only\n", ",", True),
            )
        ],
    }  # fmt: skip


@case
def models_by_name() -> Any:
    wishes = {
        "small letters": Order("and", "x", Path("m"), 3),
        "rank": Order("RankOneSensing", "x", Path("m"), 2),
        "set": Order("AND", "x", Path("m"), options=["n_components=2", "decoder=nnls", "max_iter = 7"]),
        "set twice": Order("AND", "x", Path("m"), 4, options=["n_components=2"]),
        "checkpoint": Order("AND", "x", Path("m"), 4, checkpoint=Path("folder")),
        "near": Order("AMD", "x", Path("m")),
        "far": Order("zzzzqqq", "x", Path("m")),
        "no parameter": Order("AND", "x", Path("m"), 2, options=["trims=0.1"]),
        "no sign": Order("AND", "x", Path("m"), 2, options=["trim"]),
        "no number": Order("PhaseRetrieval", "x", Path("m"), 2),
        "number needed": Order("AND", "x", Path("m")),
    }
    told = {name: outcome(lambda order=order: str(make_model(order))) for name, order in wishes.items()}
    return told | {
        "shapes": [image_shape_of(text) for text in (None, "8x9", "8X9")],
        "no shapes": [outcome(lambda text=text: image_shape_of(text)) for text in ("8", "8xa", "1x2x3")],
    }


def said(call: Callable[[], Any]) -> list[list[str]]:
    """Lines on the screen, and how it ended."""
    heard = io.StringIO()
    with contextlib.redirect_stdout(heard), contextlib.redirect_stderr(heard):
        end = outcome(call)
    return [[line] for line in [*heard.getvalue().splitlines(), str(end)]]


@case
def commands() -> Any:
    """A fit, codes and predictions of other tables, and what is said of the model."""

    def run() -> Any:
        names = [f"w{j}" for j in range(20)]
        table = "\n".join(
            [",".join(names), *(",".join(map(repr, map(float, row))) for row in noisy_cone()[:60])]
        )
        Path("t.csv").write_text(table)
        order = Order(
            "AND", "t.csv", Path("m.altmin"), 3, options=["max_iter=4", "random_state=0"], quiet=True
        )
        told = {"fit": said(lambda: fit_file(order)), "info": said(lambda: describe_model(Path("m.altmin")))}
        rows = table.splitlines()
        odd = [",".join(reversed(line.split(","))) for line in rows]
        others = {
            "other order": "\n".join(odd),
            "one more": "\n".join(f"{line},{k}" for k, line in enumerate(rows)),
            "one less": "\n".join(line.partition(",")[2] for line in rows),
            "words": "\n".join([rows[0], *(f"x{line[1:]}" for line in rows[1:])]),
        }
        for name, text in others.items():
            Path("n.csv").write_text(text)
            told[name] = said(lambda: transform_file(Path("m.altmin"), "n.csv", Path("c.npy"), Wanted()))
            told[f"codes of {name}"] = np.load("c.npy") if Path("c.npy").exists() else None
            Path("c.npy").unlink(missing_ok=True)
        for name, (row, value) in {"hole": (5, "nan"), "no end": (7, "inf")}.items():
            lines = list(rows)
            lines[row] = ",".join([value, *lines[row].split(",")[1:]])
            Path("h.csv").write_text("\n".join(lines))
            told[name] = said(lambda: fit_file(Order("AND", "h.csv", Path("h.altmin"), 3, quiet=True)))
        X, y = law(0.3).X[:200], law(0.3).y[:200]
        model = CLASSIFIER(1, max_iter=3, random_state=0).fit(X, y > np.median(y))
        altmin.save(model, "k.altmin")
        np.save("k.npy", X[:9])
        told["chances"] = said(lambda: transform_file(Path("k.altmin"), "k.npy", Path("k.csv"), Wanted()))
        told["table of chances"] = [
            [line] for line in Path("k.csv").read_text().replace(",", " ").splitlines()
        ]
        told["no model"] = said(lambda: transform_file(Path("z.altmin"), "k.npy", Path("k.csv"), Wanted()))
        for ending in ("csv", "tsv", "npy", "npz"):
            write_table(
                np.arange(4.0).reshape(2, 2), Path(f"w.{ending}"), ["p", "q"], {"id": np.array(["a", "b"])}
            )
        told["written"] = [[Path(f"w.{ending}").read_text().replace("\n", "/")] for ending in ("csv", "tsv")]
        told["arrays"] = [np.load("w.npy"), np.load("w.npz")["X"]]
        targets = [Path("a.csv"), Path("a.xyz"), Path("none") / "a.csv", Path()]
        told["targets"] = [[outcome(lambda out=out: check_target(out, (".csv",)))] for out in targets[:3]]
        told["a folder"] = [[outcome(lambda: check_target(targets[3]))]]
        return told

    return at_home(run)


@case
def pieces_of_pictures() -> Any:
    rng = np.random.default_rng(0)
    flat = np.zeros((400, 330))
    flat[200:300, 170:260] = rng.random((100, 90))
    grey, colour = (
        pictures.Picture(rng.random((4, 6)), None),
        pictures.Picture(np.zeros((4, 6, 3), "u1"), None),
    )
    clear = pictures.Picture(np.zeros((2, 2)), np.array([[0, 255], [9, 0]]))
    return {
        "busiest": [[str(pictures._busiest(part))] for part in (flat, flat[:100], flat[:3, :2])],
        "magnified": pictures._magnified(np.arange(4.0).reshape(2, 2, 1), 3),
        "facts": [list(pictures._facts(one, 1.25).values()) for one in (grey, colour)],
        "strengths": [pictures._strength(text) for text in (None, "auto", "2.5")],
        "no strength": outcome(lambda: pictures._strength("much")),
        "missing": pictures._missing(clear, None),
        "nothing missing": outcome(lambda: pictures._missing(grey, None)),
        "said": pictures._said(0.123456),
    }
