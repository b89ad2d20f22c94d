"""Tables as a shell user has them: csv and Matrix Market besides what the library reads by itself."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from altmin.io.tables import SUFFIXES

WRITTEN = (".npy", ".npz", ".csv")


class FileError(ValueError):
    """A file that cannot be used; the message says where in it and why."""


def read_table(name: str) -> tuple[Any, list[str] | None]:
    """What an estimator takes as X, and the column names if the file has them.

    Parameters
    ----------
    name : str
        Path of a csv, mtx, npy, npz, parquet or zarr table, or of a folder of tables.

    Returns
    -------
    X : ndarray, sparse matrix or str
        Paths that the library opens by itself stay paths, so large files are read piece by piece.
    columns : list of str or None
        The header of a csv file.
    """
    path = Path(name)
    if not path.exists():
        raise FileError(f"there is no file {name}")
    if path.suffix == ".csv":
        try:
            return _read_csv(path)
        except UnicodeDecodeError:
            raise FileError(f"{name} is not a text file in UTF-8") from None
    if path.suffix == ".mtx":
        from scipy.io import mmread

        try:
            matrix = mmread(path)
            return matrix.tocsr() if sp.issparse(matrix) else matrix, None
        except (ValueError, TypeError, ArithmeticError, MemoryError, OSError) as error:
            raise FileError(f"{name} is not a readable Matrix Market file ({error})") from None
    if path.is_dir() or path.suffix in SUFFIXES:
        return name, None
    raise FileError(f"{name} ends in none of .csv, .mtx, {', '.join(SUFFIXES)}")


def _read_csv(path: Path) -> tuple[np.ndarray, list[str] | None]:
    rows: list[list[float]] = []
    header: list[str] | None = None
    with path.open(newline="", encoding="utf-8-sig") as file:
        for line, cells in enumerate(csv.reader(file), 1):
            if not cells:
                continue
            if line == 1 and not _is_number(cells[0]):
                header = [cell.strip() for cell in cells]
                twice = sorted({name for name in header if header.count(name) > 1})
                if twice:
                    raise FileError(f"{path}: several columns are called {', '.join(map(repr, twice))}")
                continue
            width = len(header) if header else len(rows[0]) if rows else len(cells)
            if len(cells) != width:
                raise FileError(f"{path}, line {line}: {len(cells)} cells where {width} are expected")
            rows.append([_cell(path, line, place, cell) for place, cell in enumerate(cells, 1)])
    if not rows:
        raise FileError(f"{path} holds no rows of numbers")
    return np.array(rows), header


def _cell(path: Path, line: int, place: int, cell: str) -> float:
    try:
        return float(cell) if cell.strip() else float("nan")
    except ValueError:
        raise FileError(f"{path}, line {line}, cell {place}: {cell!r} is not a number") from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


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


def write_table(array: np.ndarray, path: Path, columns: list[str]) -> None:
    """Write codes or predictions by the ending of the path, one of ``WRITTEN``."""
    match path.suffix:
        case ".npy":
            np.save(path, array)
        case ".npz":
            np.savez_compressed(path, X=array)
        case _:
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(columns)
                writer.writerows(np.atleast_2d(array.T).T.tolist())
