"""The tables that the field writes: mutations of samples, or reference signatures, one per column."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.signatures.channels import CHANNELS, canonical, kind_of

_ROW = "sample "  # what rows of an array are called, with their numbers


@dataclass(frozen=True)
class ChannelTable:
    """Rows over channels: samples with their mutations, or signatures with their probabilities.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_channels)
        Counts of a sample, or probabilities of a signature, in each row.
    names : tuple of str
        Of the rows.
    channels : tuple of str
        Of the columns, in the order of the field.
    kind : str
        'SBS96', 'DBS78', 'ID83', or 'other' for channels that aren't known.
    """

    values: NDArray[Any]
    names: tuple[str, ...]
    channels: tuple[str, ...]
    kind: str = "other"

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype)

    def select(self, names: Sequence[str]) -> ChannelTable:
        """The rows of these names, in this order."""
        missing = [name for name in names if name not in self.names]
        if missing:
            raise ValueError(f"no {missing[0]!r} among the {len(self)} rows; there are {self.names[:5]} ...")
        rows = [self.names.index(name) for name in names]
        return ChannelTable(self.values[rows], tuple(names), self.channels, self.kind)


def read_table(source: Any) -> ChannelTable:
    r"""Read mutation counts or reference signatures, whichever way round and in whichever notation.

    .. math:: X_{sc} = \text{mutations of sample } s \text{ in channel } c

    Parameters
    ----------
    source : path, DataFrame, ChannelTable or array-like
        A file of comma, tab or semicolon separated values (also .gz) with the names of the channels in its
        first column (or first two, 'C>A' and 'ACA') and one sample or signature in each further column, as
        SigProfiler and COSMIC write them; or the other way round. A frame of the same kind. An array of
        shape (n_samples, n_channels), whose channels are in the order of the field.

    Returns
    -------
    ChannelTable
        With the channels in the order of the field.

    Notes
    -----
    **Guarantee.** No entry is guessed: a channel that is missing or comes twice, an entry that isn't a
    number or is negative is an error that names it.

    **Cost.** One pass over the file.

    References
    ----------
    L. B. Alexandrov et al., The repertoire of mutational signatures in human cancer, Nature 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.signatures import read_table
    >>> table = read_table(np.ones((2, 96)))
    >>> table.kind, table.channels[0], table.names
    ('SBS96', 'A[C>A]A', ('sample 1', 'sample 2'))
    """
    if isinstance(source, ChannelTable):
        return source
    if isinstance(source, str | Path):
        return _from_cells(_cells(Path(source)), str(source))
    if hasattr(source, "columns") and hasattr(source, "index"):
        return _from_frame(source)
    return _from_array(source)


def read_reference(source: Any = None) -> ChannelTable:
    r"""Reference signatures, each of which sums to 1.

    .. math:: S_{rc} \ge 0, \qquad \sum_c S_{rc} = 1

    altmin ships none. COSMIC's are free for academic use and ask for a licence otherwise
    (cancer.sanger.ac.uk/signatures says under which terms): bring your own download, or install
    SigProfilerAssignment, whose copy is read where no file is given.

    Parameters
    ----------
    source : path, DataFrame, ChannelTable, array-like or None
        As for :func:`read_table`; None: the newest SBS96 table (GRCh37) of an installed
        SigProfilerAssignment.

    Returns
    -------
    ChannelTable
        One signature per row.

    Notes
    -----
    **Guarantee.** As for :func:`read_table`; signatures are divided by their sums.

    **Cost.** One pass over the file.

    References
    ----------
    L. B. Alexandrov et al., The repertoire of mutational signatures in human cancer, Nature 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.signatures import read_reference
    >>> read_reference(np.ones((3, 78))).values.sum(axis=1).round(6).tolist()
    [1.0, 1.0, 1.0]
    """
    table = read_table(_installed_reference() if source is None else source)
    if table.names and all(name.startswith(_ROW) for name in table.names):  # an array has no names
        names = tuple(name.replace(_ROW, "signature ") for name in table.names)
        table = ChannelTable(table.values, names, table.channels, table.kind)
    sums = table.values.sum(axis=1, keepdims=True)
    if not np.all(sums > 0):
        raise ValueError(f"the reference signature {table.names[int(np.argmin(sums))]!r} is 0 everywhere")
    return ChannelTable(table.values / sums, table.names, table.channels, table.kind)


def _installed_reference() -> Path:
    spec = find_spec("SigProfilerAssignment")
    if spec is None or spec.origin is None:
        raise ValueError(
            "no reference: give a file with signatures (COSMIC's download), or install SigProfilerAssignment"
        )
    found = sorted(Path(spec.origin).parent.rglob("COSMIC_v*_SBS_GRCh37.txt"), key=_version)
    if not found:
        raise ValueError("SigProfilerAssignment is installed, but has no COSMIC_v*_SBS_GRCh37.txt")
    return found[-1]


def _version(path: Path) -> tuple[float, ...]:
    return tuple(float(part) for part in path.name.split("_")[1].lstrip("v").split("."))


def _cells(path: Path) -> list[list[str]]:
    if not path.exists():
        raise ValueError(f"there is no file {path}")
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    lines = content.decode("utf-8-sig").splitlines()
    separator = max("\t,;", key=(lines or [""])[0].count)
    rows = [row for row in csv.reader(lines, delimiter=separator) if any(cell.strip() for cell in row)]
    if len(rows) < 2 or len(rows[0]) < 2:
        raise ValueError(f"{path} is no table: names in the first line and the first column are needed")
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise ValueError(f"{path}: line {number} has {len(row)} cells, the first line {len(rows[0])}")
    return rows


def _from_cells(rows: list[list[str]], where: str) -> ChannelTable:
    head, body = [cell.strip() for cell in rows[0]], rows[1:]
    firsts = [row[0] for row in body]
    pairs = [f"{row[0]} {row[1]}" for row in body] if len(head) > 2 else []
    for names, skip in ((firsts, 1), (pairs, 2)):
        if names and (kind := kind_of(names)) is not None:
            return _arranged(names, head[skip:], [row[skip:] for row in body], kind, where)
    if (kind := kind_of(head[1:])) is not None:
        columns = [[row[i] for row in body] for i in range(1, len(head))]
        return _arranged(head[1:], firsts, columns, kind, where)
    raise ValueError(
        f"{where}: neither the first column nor the first line holds the names of channels, such as "
        "'A[C>A]A' (96), 'AC>CA' (78) or '1:Del:C:0' (83)"
    )


def _arranged(
    given: list[str], names: list[str], cells: list[list[str]], kind: str, where: str
) -> ChannelTable:
    """The table with its channels in the order of the field; cells has one row per channel."""
    place: dict[str, int] = {}
    for row, name in enumerate(given):
        channel = canonical(name)
        if channel is None or channel not in CHANNELS[kind]:
            raise ValueError(f"{where}: {name!r} is no channel of {kind}")
        if channel in place:
            raise ValueError(
                f"{where}: the channel {channel} comes twice, as {given[place[channel]]!r} and {name!r}"
            )
        place[channel] = row
    missing = [channel for channel in CHANNELS[kind] if channel not in place]
    if missing:
        raise ValueError(
            f"{where}: {len(missing)} of the channels of {kind} are missing, the first is {missing[0]}"
        )
    values = np.empty((len(names), len(place)))
    for column, channel in enumerate(CHANNELS[kind]):
        for row, cell in enumerate(cells[place[channel]]):
            values[row, column] = _number(cell, names[row], channel, where)
    return _checked(ChannelTable(values, tuple(names), CHANNELS[kind], kind), where)


def _number(cell: str, name: str, channel: str, where: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise ValueError(f"{where}: {cell!r} of {name} in {channel} is no number") from None


def _from_frame(frame: Any) -> ChannelTable:
    body = np.asarray(frame.to_numpy(), dtype=object)
    head = ["", *map(str, frame.columns)]
    index = [" ".join(map(str, row)) if isinstance(row, tuple) else str(row) for row in frame.index]
    rows = [[name, *map(str, row)] for name, row in zip(index, body, strict=True)]
    return _from_cells([head, *rows], "the frame")


def _from_array(source: Any) -> ChannelTable:
    values = np.asarray(source)
    if values.ndim != 2 or values.dtype.kind not in "fiub":
        raise ValueError(
            f"counts have shape {values.shape} and dtype {values.dtype}; numbers of shape "
            "(n_samples, n_channels) are needed"
        )
    kind = next((kind for kind, names in CHANNELS.items() if len(names) == values.shape[1]), "other")
    channels = CHANNELS.get(kind, tuple(f"channel {i}" for i in range(1, values.shape[1] + 1)))
    names = tuple(f"{_ROW}{i}" for i in range(1, len(values) + 1))
    return _checked(ChannelTable(values.astype(np.float64), names, channels, kind), "the array")


def _checked(table: ChannelTable, where: str) -> ChannelTable:
    wrong = ~(np.isfinite(table.values) & (table.values >= 0))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"{where}: {table.names[row]} has {table.values[row, column]} in {table.channels[column]}; "
            "numbers that aren't negative are needed"
        )
    if len(set(table.names)) < len(table.names):
        twice = next(name for name in table.names if table.names.count(name) > 1)
        raise ValueError(f"{where}: {twice!r} comes twice")
    return table
