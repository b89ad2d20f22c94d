"""Tables as people have them: what the shell reads, what it sets aside, and what it writes."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.cli.text_files import TEXT, FileError, Text, read_text
from altmin.io.matrix_market import read_matrix_market
from altmin.io.tables import SUFFIXES

WRITTEN = (".npy", ".npz", ".csv", ".tsv", ".parquet", ".feather")
READ = (*TEXT, ".feather", ".jsonl", ".mtx", *SUFFIXES)
_COLUMNS = (*TEXT, ".feather", ".jsonl", ".parquet")  # kinds of files whose columns can be told apart
_HINTS = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), ": save the sheet as CSV or parquet"),
    **dict.fromkeys((".zip", ".bz2", ".xz", ".zst", ".tar", ".7z"), ": unpack it first"),
    ".json": ": write one record a line and call it .jsonl, or save it as CSV",
    ".pkl": ": save it as CSV or parquet",
}
_COUNTERS = {"", "index", "unnamed: 0", "__index_level_0__", "id", "row"}  # names of columns that number rows
_IDS = re.compile(r"(.*[_ ])?(id|Id|ID)|.*[a-z]I[Dd]")  # patient_id, Patient ID, patientId


@dataclass(frozen=True)
class Wanted:
    """Which columns of a file play which part, as the options of a command say it.

    Parameters
    ----------
    columns, drop : tuple of str
        The features, or what isn't one: names, or numbers from 1 for a table without a header.
    id_column : str, optional
        A column that names the rows.
    target : str, optional
        The column of y, or a file that holds y.
    header : bool, optional
        Whether the first line of a text file holds names; by default it is looked at.
    text : bool
        Whether columns of text are features: the model encodes them by itself.
    """

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    id_column: str | None = None
    target: str | None = None
    header: bool | None = None
    text: bool = False

    @property
    def ids(self) -> tuple[str, ...]:
        """The column that names the rows, if there is one."""
        return () if self.id_column is None else (self.id_column,)


@dataclass(frozen=True)
class Mixed:
    """Columns of numbers and of text, by name, for a model that encodes text by itself."""

    values: dict[str, NDArray[Any]]

    @property
    def columns(self) -> list[str]:
        """Their names."""
        return list(self.values)

    @property
    def dtypes(self) -> list[np.dtype[Any]]:
        """Their kinds: text is an object."""
        return [values.dtype for values in self.values.values()]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(next(iter(self.values.values()))), len(self.values)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A column."""
        return self.values[name]


@dataclass(frozen=True)
class Frame:
    """A table as an estimator takes it, and what belongs to its rows.

    Parameters
    ----------
    X : ndarray, sparse matrix or str
        Features; a path where the library reads the file piece by piece.
    columns : list of str or None
        Names of the features.
    aside : dict
        From the name of a column to its values: ids and text, which are carried into the output.
    y : ndarray or None
        The target.
    notes : tuple of str
        What was recognised, for the user.
    first_line : int or None
        Of a text file: the line of the first row.
    """

    X: Any
    columns: list[str] | None = None
    aside: dict[str, NDArray[Any]] | None = None
    y: Any = None
    notes: tuple[str, ...] = ()
    first_line: int | None = None

    def place(self, row: int, column: int) -> str:
        """Where a cell stands, in words that a person can follow in the file."""
        name = f'column "{self.columns[column]}"' if self.columns else f"column {column + 1}"
        return f"line {self.first_line + row}, {name}" if self.first_line else f"row {row + 1}, {name}"


def read_table(name: str, wanted: Wanted | None = None) -> Frame:
    """Read a file, recognise headers and index columns, and set aside what is no number.

    Parameters
    ----------
    name : str
        Path of a table, or of a folder of tables.
    wanted : Wanted, optional
        What the user said about its columns.

    Returns
    -------
    Frame
        The features, and what belongs to them.
    """
    wanted = wanted or Wanted()
    path = Path(name)
    if not path.exists():
        raise FileError(f"there is no file {name}")
    kind = Path(path.name.lower().removesuffix(".gz")).suffix
    packed = path.suffix.lower() == ".gz" and kind not in (*TEXT, ".jsonl")
    if kind in _COLUMNS and not packed:
        return _with_target(_read_columns(path, kind, wanted), wanted)
    if wanted.columns or wanted.drop or wanted.id_column:
        raise FileError(f"{name} has no named columns, which --columns, --drop and --id-column need")
    if kind == ".mtx":
        return _with_target(Frame(read_matrix_market(path)), wanted)
    if path.is_dir() or path.suffix in SUFFIXES:
        return _with_target(Frame(name), wanted)
    hint = ": unpack it first" if packed else _HINTS.get(kind, "")
    raise FileError(f"{name} ends in none of {', '.join(READ)}{hint}")


def _read_columns(path: Path, kind: str, wanted: Wanted) -> Frame:
    """A table with columns of different kinds, by pyarrow."""
    text = Text(None, None, named=True)
    try:
        if kind in TEXT:
            text = read_text(path, wanted.header, _set_aside(wanted))
            table = text.table
        elif kind == ".parquet":
            import pyarrow.parquet as pq

            schema = pq.read_schema(path)
            plain = all(_is_numeric(field.type) for field in schema) and not _guess_counters(schema.names)
            if plain and not (wanted.columns or wanted.drop or wanted.id_column or wanted.target):
                return Frame(str(path), list(schema.names))  # read piece by piece
            table = pq.read_table(path)
        elif kind == ".feather":
            from pyarrow.feather import read_table as read_feather

            table = read_feather(path)
        else:
            from pyarrow.json import read_json

            table = read_json(path)
    except ImportError as error:
        raise FileError(f"{path}: reading it needs {error.name}: pip install 'altmin[cli]'") from None
    except FileError:
        raise
    except (OSError, ValueError) as error:  # of a damaged file, pyarrow raises either
        raise FileError(f"{path} is not a readable {kind} file ({error})") from None
    frame = _sorted_out(path, table, wanted, text.named)
    return replace(frame, notes=(*text.notes, *frame.notes), first_line=text.first_line)


def _set_aside(wanted: Wanted) -> tuple[str, ...]:
    """Columns that may hold anything: they are no features."""
    return tuple(name for name in (*wanted.drop, wanted.id_column, wanted.target) if name is not None)


def _is_numeric(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind))


def _guess_counters(names: list[str]) -> list[str]:
    return [name for name in names if name.strip().lower() in _COUNTERS or _IDS.fullmatch(name)]


def _sorted_out(path: Path, table: Any, wanted: Wanted, named: bool) -> Frame:
    """Features, ids, target; and a word on what was recognised."""
    column = dict(zip(map(str, table.column_names), table.columns, strict=True))
    _check_names(path, wanted, list(column))
    left = [name for name in column if name not in (*wanted.drop, wanted.target, wanted.id_column)]
    chosen = list(wanted.columns) or left
    noted = _no_features(path, column, chosen, wanted, named)
    features = [name for name in chosen if name not in noted]
    if table.num_rows == 0:
        raise FileError(f"{path} has no rows")
    if not features:
        why = ", ".join(f'"{name}" {what}' for name, what in noted.items()) or "all were left out"
        raise FileError(f"{path} has no column of numbers: {why}")
    X: Any
    if all(_is_numeric(column[name].type) for name in features):
        X = np.column_stack([_as_floats(column[name]) for name in features])
    else:
        X = Mixed({name: _target_values(column[name]) for name in features})  # type: ignore[misc]
    notes = [
        f'column "{name}" {what}, so it is not used as a feature'
        + (" (to use it, list it in --columns)" if what == "numbers the rows" else "")
        for name, what in noted.items()
    ]
    if not named and table.num_rows > 9 and _counts(column[features[0]]):
        notes.append(
            "the first column seems to number the rows, but is used as a feature (--id-column 1 "
            "prevents that)"
        )
    aside = {name: np.asarray(column[name].to_pylist(), dtype=object) for name in (*wanted.ids, *noted)}
    y = None if wanted.target is None else _target_values(column.get(wanted.target))
    return Frame(X, features if named else None, aside, y, tuple(notes))


def _no_features(
    path: Path, column: dict[str, Any], chosen: list[str], wanted: Wanted, named: bool
) -> dict[str, str]:
    """Columns that only count the rows or hold text, with what to tell of each."""
    noted = {}
    for name in _guess_counters(chosen) if named and not wanted.columns else []:
        if _counts(column[name], repeated=_IDS.fullmatch(name) is not None):
            noted[name] = "numbers the rows"
    for name in chosen:
        numeric = _is_numeric(column[name].type)
        if name in noted or (wanted.columns and numeric):
            continue
        if wanted.columns and not wanted.text:
            raise FileError(f'{path}: --columns names "{name}", which holds {_kind_of(column[name])}')
        if column[name].null_count == len(column[name]):
            noted[name] = "is empty"
        elif not (wanted.text or numeric):
            noted[name] = f"holds {_kind_of(column[name])}"
    return noted


def _kind_of(column: Any) -> str:
    """What a column holds that are no numbers, with an example: "12 %" shows what is to be mended."""
    from pyarrow import types

    if types.is_temporal(column.type):
        return "dates"
    example = next((value for value in column.to_pylist() if value is not None), None)
    return f'text such as "{" ".join(example.split())[:30]}"' if isinstance(example, str) else "no numbers"


def _check_names(path: Path, wanted: Wanted, known: list[str]) -> None:
    given = {"--columns": wanted.columns, "--drop": wanted.drop, "--id-column": wanted.ids}
    for option, names in given.items():
        missing = [name for name in names if name not in known]
        if missing:
            shown = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
            raise FileError(f"{path}: {option} names {', '.join(missing)}; the columns are {shown}")


def _target_values(column: Any) -> NDArray[Any] | None:
    """The target: numbers, or labels as they stand."""
    if column is None:
        return None
    return _as_floats(column) if _is_numeric(column.type) else np.asarray(column.to_pylist(), dtype=object)


def _as_floats(column: Any) -> NDArray[Any]:
    values = column.to_numpy()
    return np.asarray(
        [np.nan if v is None else v for v in values] if values.dtype == object else values, float
    )


def _counts(column: Any, repeated: bool = False) -> bool:
    """Whether these are whole numbers that all differ (or may repeat): keys rather than measurements."""
    values = column.to_numpy()
    if values.dtype.kind not in "iuf" or not np.array_equal(values, np.round(values)):
        return False
    return repeated or len(np.unique(values)) == len(values)


def _with_target(frame: Frame, wanted: Wanted) -> Frame:
    """The frame with y from a file, where the target isn't one of its columns."""
    if wanted.target is None or frame.y is not None:
        return frame
    if Path(wanted.target).exists():
        y = read_table(wanted.target).X
        return replace(
            frame, y=np.asarray(np.load(y, allow_pickle=False) if isinstance(y, str) else y).ravel()
        )
    known = f" (columns: {', '.join(frame.columns)})" if frame.columns else ""
    raise FileError(f"--target {wanted.target!r} is neither a column nor a file{known}")


def check_target(path: Path, suffixes: tuple[str, ...] = ()) -> None:
    """Make sure, before anything is computed, that the result can be written.

    Parameters
    ----------
    path : Path
        Where the result shall go.
    suffixes : tuple of str
        Endings that can be written; any without.
    """
    if suffixes and path.suffix not in suffixes:
        raise FileError(f"{path} ends in none of {', '.join(suffixes)}")
    if path.is_dir():
        raise FileError(f"{path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise FileError(f"there is no folder {path.parent} to write {path.name} to")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise FileError(f"no permission to write to {path.parent} ({error.strerror})") from None


def write_table(array: NDArray[Any], path: Path, columns: list[str], aside: dict[str, Any] | None) -> None:
    """Write codes or predictions, beside the ids of the rows, by the ending of the path (``WRITTEN``)."""
    if path.suffix == ".npy":
        np.save(path, array)
        return
    if path.suffix == ".npz":
        np.savez_compressed(path, X=array)
        return
    import pyarrow as pa

    values = dict(zip(columns, np.atleast_2d(array.T), strict=True))
    table = pa.table({**(aside or {}), **values})
    if path.suffix in (".csv", ".tsv"):
        from pyarrow.csv import WriteOptions, write_csv

        write_csv(table, path, WriteOptions(delimiter="," if path.suffix == ".csv" else "\t"))
    elif path.suffix == ".parquet":
        from pyarrow.parquet import write_table as write_parquet

        write_parquet(table, path)
    else:
        from pyarrow.feather import write_feather

        write_feather(table, path)
