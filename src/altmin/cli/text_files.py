"""Text tables: encoding, separator, header, and where a cell is that is no number."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from pathlib import Path
from typing import IO, Any

TEXT = (".csv", ".tsv", ".txt")
_SEPARATORS = "\t;|, "
_LOOKED_AT = 1 << 16  # bytes from which separator, header and kinds of columns are read off
_FEWEST_LINES = 20  # more bytes are looked at where lines are long
_FEWEST_NAMES = 5
_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*|[-+]?(nan|inf)", re.IGNORECASE | re.ASCII)
_QUOTED = re.compile(r'"[^"]*"')
_EMPTY = {"", "na", "n/a", "nan", "null", "none", "#n/a"}
_WESTERN = "cp1252"  # what programs write that don't write Unicode; Latin-1 is a part of it


class FileError(ValueError):
    """A file that cannot be used; the message says where in it and why."""


@dataclass(frozen=True)
class Text:
    """A text table.

    Parameters
    ----------
    table : pyarrow.Table
        The columns, as numbers where they are.
    first_line : int or None
        The line of the first row, counted from 1; None where rows and lines differ.
    named : bool
        Whether there was a header.
    notes : tuple of str
        What was recognised, for the user.
    """

    table: Any
    first_line: int | None
    named: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Layout:
    """What the beginning of a file tells about the rest."""

    path: Path
    encoding: str
    separator: str
    decimal_comma: bool
    skipped: int  # lines above the first row, the header among them
    named: bool
    names: list[str]
    kinds: dict[str, Any]
    broken: bool  # cells with line breaks between quotes

    def place(self, row: int, name: str) -> str:
        """Where a cell stands in the file."""
        column = f'column "{name}"' if self.named else f"column {name}"
        where = f"row {row + 1}" if self.broken else f"line {self.skipped + row + 1}"
        return f"{self.path}, {where}, {column}"


def is_number(cell: str) -> bool:
    """Whether the cell is a number as people write it."""
    return _NUMBER.fullmatch(cell) is not None


def read_text(path: Path, header: bool | None, anything: tuple[str, ...]) -> Text:
    """Read a CSV or TSV file, packed or not.

    Parameters
    ----------
    path : Path
        The file.
    header : bool, optional
        Whether its first line holds names; None looks at it.
    anything : tuple of str
        Columns that may hold text.

    Returns
    -------
    Text
        The columns, and where they begin.
    """
    from pyarrow import ArrowInvalid

    layout = _look_at(path, header, anything)
    try:
        table = _columns(layout, layout.kinds)
    except ArrowInvalid as error:
        if "invalid UTF8" not in str(error):
            raise _explained(layout, str(error)) from None
        layout = replace(layout, encoding=_WESTERN)  # further down than was looked at
        table = _columns(layout, layout.kinds)
    notes = ("it is not in UTF-8, and was read as Windows-1252",) if layout.encoding == _WESTERN else ()
    return Text(table, None if layout.broken else layout.skipped + 1, layout.named, notes)


def _look_at(path: Path, header: bool | None, anything: tuple[str, ...]) -> _Layout:
    text, encoding, whole = _beginning(path)
    bare = _QUOTED.sub("", text).splitlines()  # what stands between quotes separates nothing
    separator = _separator([line for line in bare if line.strip() and not line.startswith("#")])
    above, rows = _rows(text, separator, whole)
    if not rows:
        raise FileError(f"{path} is empty")
    comma = separator != "," and _decimal_comma(rows)
    if comma:
        rows = [[cell.replace(",", ".") for cell in row] for row in rows]
    named = _is_header(rows) if header is None else header
    names = _names(path, rows[0]) if named else [str(i + 1) for i in range(len(rows[0]))]
    if len(rows) == named:
        raise FileError(f"{path} has a header, but no rows below it")
    _check_widths(path, rows, len(names), above)
    broken = any("\n" in cell for row in rows for cell in row)
    kinds = _kinds(names, rows[named:], anything)
    return _Layout(path, encoding, separator, comma, above + named, named, names, kinds, broken)


def _columns(layout: _Layout, kinds: dict[str, Any], only: tuple[str, ...] = ()) -> Any:
    """The columns of the whole file, by pyarrow."""
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

    reading = ReadOptions(
        column_names=layout.names, skip_rows=layout.skipped, encoding=layout.encoding.replace("-sig", "")
    )
    parsing = ParseOptions(delimiter=layout.separator, newlines_in_values=layout.broken)
    mark = "," if layout.decimal_comma else "."
    converting = ConvertOptions(column_types=kinds, decimal_point=mark, include_columns=list(only))
    file = _with_single_blanks(layout) if layout.separator == " " else layout.path
    return read_csv(file, reading, parsing, converting)


def _with_single_blanks(layout: _Layout) -> IO[bytes]:
    """The file where cells are separated by any number of blanks, as numpy.savetxt writes them."""
    with _opened(layout.path) as file:
        lines = file.read().decode(layout.encoding).splitlines()
    return io.BytesIO("\n".join(" ".join(line.split()) for line in lines).encode(layout.encoding))


def _opened(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def _beginning(path: Path) -> tuple[str, str, bool]:
    """The first lines, their encoding, and whether that was all."""
    with _opened(path) as file:
        begun = file.read(_LOOKED_AT)
        while len(begun.splitlines()) < _FEWEST_LINES and (more := file.read(len(begun) or 1)):
            begun += more
        whole = not file.read(1)
    wide = begun.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding in ("utf-16",) if wide else ("utf-8-sig", _WESTERN):
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(begun, final=whole)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text, encoding, whole
    raise FileError(f"{path} is not a text file")


def _rows(text: str, separator: str, whole: bool) -> tuple[int, list[list[str]]]:
    """How many lines stand above the table, and its first rows, the header among them."""
    lines = text.splitlines(keepends=True)
    above = len(list(takewhile(lambda line: not line.strip() or line.startswith("#"), lines)))
    if above and lines[above - 1].startswith("#"):
        title = lines[above - 1].lstrip("# ")
        if _width(title, separator) == _width("".join(lines[above : above + 1]), separator) > 1:
            above -= 1  # numpy.savetxt writes the header as a comment
            lines[above] = title
    if separator == " ":
        lines = [" ".join(line.split()) for line in lines]
    rows = [row for row in csv.reader(lines[above:], delimiter=separator) if row]
    return above, rows if whole or len(rows) < 2 else rows[:-1]


def _width(line: str, separator: str) -> int:
    return len(next(csv.reader([_squeezed(line)], delimiter=separator), []))


def _squeezed(line: str) -> str:
    return re.sub(" +", " ", line.strip(" \r\n"))


def _names(path: Path, cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    for name, times in Counter(names).items():
        if times > 1:
            raise FileError(f'{path}: the header names "{name}" {times} times; names must differ')
    return names


def _separator(lines: list[str]) -> str:
    """The sign that comes equally often in each of the first lines; commas late: numbers may have them."""
    looked = list(map(_squeezed, lines[:_FEWEST_LINES]))
    counts = {sign: [line.count(sign) for line in looked] for sign in _SEPARATORS}
    found = [sign for sign in _SEPARATORS if min(counts[sign], default=0) > 0]
    if found != [" "]:
        counts.pop(" ")
    steady = [sign for sign in found if sign in counts and min(counts[sign]) == max(counts[sign])]
    return steady[0] if steady else max(counts, key=lambda sign: min(counts[sign], default=0))


def _decimal_comma(rows: list[list[str]]) -> bool:
    cells = [cell for row in rows[1:] for cell in row]
    return any(re.fullmatch(r"\s*-?\d+,\d+\s*", cell) for cell in cells) and not any("." in c for c in cells)


def _is_header(rows: list[list[str]]) -> bool:
    """Names are no numbers; numbers are names where they rise (wavelengths, 0 1 2 ...) and the rows don't."""
    if not all(is_number(cell) for cell in rows[0] if cell.strip()) or not all(map(str.strip, rows[0][1:])):
        return True
    if not rows[0][0].strip():
        return len(rows[0]) > 1  # pandas leaves the name of its index empty
    first = [float(cell) for cell in rows[0]]
    if first == list(range(len(first))) and len(first) > 2:
        return True
    return len(first) >= _FEWEST_NAMES and _rises(rows[0]) and not any(_rises(row) for row in rows[1:6])


def _rises(row: list[str]) -> bool:
    if not all(is_number(cell) for cell in row):
        return False
    values = [float(cell) for cell in row]
    return all(a < b for a, b in pairwise(values))


def _check_widths(path: Path, rows: list[list[str]], width: int, above: int) -> None:
    for line, row in enumerate(rows, above + 1):
        if len(row) != width:
            raise FileError(f"{path}, line {line}: {len(row)} cells where {width} are expected")


def _kinds(names: list[str], rows: list[list[str]], anything: tuple[str, ...]) -> dict[str, Any]:
    """Numbers where most cells of the first rows are: then a cell that is none gets an error."""
    import pyarrow as pa

    kinds = {}
    for place, name in enumerate(names):
        cells = [row[place] for row in rows if row[place].strip().lower() not in _EMPTY]
        numbers = sum(map(is_number, cells))
        flags = bool(cells) and all(cell.strip().lower() in ("true", "false") for cell in cells)
        if name not in anything and (2 * numbers > len(cells) or not cells):
            kinds[name] = pa.float64()
        elif name not in anything:
            kinds[name] = pa.bool_() if flags else pa.string()
    return kinds


def _explained(layout: _Layout, error: str) -> FileError:
    """The error of pyarrow in words that lead to the cell."""
    import pyarrow as pa

    ragged = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", error)
    if ragged:
        return FileError(f"{layout.path}, line {ragged[1]}: {ragged[3]} cells where {ragged[2]} are expected")
    bad = re.search(r"CSV column #(\d+)", error)
    if bad is None:
        return FileError(f"{layout.path} cannot be read: {error}")
    name = layout.names[int(bad[1])]
    cells = _columns(layout, dict.fromkeys(layout.names, pa.string()), (name,)).column(0).to_pylist()
    row = next(
        i for i, cell in enumerate(cells) if cell.strip().lower() not in _EMPTY and not is_number(cell)
    )
    plain = "write plain numbers, without units, % or separators of thousands"
    help_ = (
        plain
        if re.search(r"\d", cells[row])
        else "where a value is missing, leave the cell empty or write NA"
    )
    return FileError(
        f"{layout.place(row, name)}: {cells[row]!r} is not a number ({help_}; "
        f"--drop {name} leaves the column out)"
    )
