"""Text tables: which separator, whether there is a header, and where a cell is that is no number."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

TEXT = (".csv", ".tsv", ".txt")
_SEPARATORS = "\t;|,"
_LOOKED_AT = 1 << 16  # bytes from which separator, header and kinds of columns are read off
_FEWEST_NAMES = 5
_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*|[-+]?(nan|inf)", re.IGNORECASE)
_EMPTY = {"", "na", "n/a", "nan", "null", "none", "#n/a"}


class FileError(ValueError):
    """A file that cannot be used; the message says where in it and why."""


def is_number(cell: str) -> bool:
    """Whether the cell is a number as people write it."""
    return _NUMBER.fullmatch(cell) is not None


def read_text(path: Path, header: bool | None, anything: tuple[str, ...]) -> tuple[Any, int, bool]:
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
    table : pyarrow.Table
        The columns, as numbers where they are.
    first_line : int
        The line of the first row, counted from 1.
    named : bool
        Whether there was a header.
    """
    from pyarrow import ArrowInvalid
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

    lines = _first_lines(path)
    if not lines:
        raise FileError(f"{path} holds no rows of numbers")
    separator = _separator(lines)
    rows = list(csv.reader(lines, delimiter=separator))
    comma = separator != "," and _decimal_comma(rows)
    if comma:
        rows = [[cell.replace(",", ".") for cell in row] for row in rows]
    named = _is_header(rows) if header is None else header
    names = _names(path, rows[0]) if named else [str(i + 1) for i in range(len(rows[0]))]
    if len(rows) == named:
        raise FileError(f"{path} holds no rows of numbers")
    _check_widths(path, rows, len(names))
    kinds = _kinds(names, rows[named:], anything)
    reading = ReadOptions(column_names=names, skip_rows=int(named))
    parsing = ParseOptions(delimiter=separator)
    try:
        table = read_csv(
            path, reading, parsing, ConvertOptions(column_types=kinds, decimal_point="," if comma else ".")
        )
    except ArrowInvalid as error:
        raise _explained(path, str(error), names, 1 + named, reading, parsing) from None
    return table, 1 + named, named


def _names(path: Path, cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    for name in names:
        if names.count(name) > 1:
            raise FileError(f'{path}: the header names "{name}" {names.count(name)} times; names must differ')
    return names


def _first_lines(path: Path) -> list[str]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as file:
        begun = file.read(_LOOKED_AT)
        more = bool(file.read(1))
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(begun, final=not more)
    except UnicodeDecodeError:
        raise FileError(f"{path} is not a text file in UTF-8") from None
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[:-1] if more and len(lines) > 1 else lines


def _separator(lines: list[str]) -> str:
    """The sign that comes equally often in each of the first lines; commas last: numbers may have them."""
    counts = {sign: [line.count(sign) for line in lines[:20]] for sign in _SEPARATORS}
    steady = [sign for sign, count in counts.items() if min(count) == max(count) > 0]
    return steady[0] if steady else max(_SEPARATORS, key=lambda sign: min(counts[sign]))


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


def _check_widths(path: Path, rows: list[list[str]], width: int) -> None:
    for line, row in enumerate(rows, 1):
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


def _explained(path: Path, error: str, names: list[str], first: int, reading: Any, parsing: Any) -> FileError:
    """The error of pyarrow in words that lead to the cell."""
    import pyarrow as pa
    from pyarrow.csv import ConvertOptions, read_csv

    ragged = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", error)
    if ragged:
        return FileError(f"{path}, line {ragged[1]}: {ragged[3]} cells where {ragged[2]} are expected")
    bad = re.search(r"CSV column #(\d+)", error)
    if bad is None:
        return FileError(f"{path} cannot be read: {error}")
    name = names[int(bad[1])]
    options = ConvertOptions(column_types=dict.fromkeys(names, pa.string()), include_columns=[name])
    cells = read_csv(path, reading, parsing, options).column(0).to_pylist()
    row = next(
        i for i, cell in enumerate(cells) if cell.strip().lower() not in _EMPTY and not is_number(cell)
    )
    shown = f'column "{name}"' if first > 1 else f"column {name}"
    where = f"{path}, line {first + row}, {shown}"
    return FileError(f"{where}: {cells[row]!r} is not a number (--drop {name} leaves the column out)")
