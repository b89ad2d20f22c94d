"""The table as the search sees it: complete rows in memory, others held out, all of them for the end."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.contract import Block
from altmin.engine import AnySource, Source, collect_rows, open_source
from altmin.engine.dask_source import is_dask, open_dask
from altmin.engine.sources import is_block_list

_HELD_OUT = 300  # rows whose cells are predicted
_CELLS = 20_000_000  # of the rows that are searched, dense
_LEAST_ROWS, _LEAST_COLUMNS = 20, 3


@dataclass(frozen=True)
class Sampled:
    """A table and a sample of it.

    Parameters
    ----------
    X : any input of an estimator
        All complete rows, for the winner.
    rows, held_out : ndarray
        Rows that are searched, and others whose cells are predicted.
    target, held_target : ndarray or None
        Of the same rows, where there is a target.
    y : ndarray or None
        The target of X.
    incomplete : int
        Rows that have empty cells, and were left out.
    """

    X: Any
    rows: NDArray[Any]
    held_out: NDArray[Any]
    target: Any
    held_target: Any
    y: Any
    incomplete: int

    @property
    def notes(self) -> list[str]:
        """What was left out, in a sentence."""
        if not self.incomplete:
            return []
        return [
            f"{self.incomplete} rows have empty cells and were left out; altmin.AND(missing='mask') can use "
            "them, too."
        ]


def without_constants(X: Any) -> tuple[Any, list[int]]:
    """The table with columns of one value set to 0, and which those are; only of tables in memory.

    What never changes says nothing of how rows are made, but as a part of every factor it hides that they are
    mixtures. At 0 such columns leave the model its names and shape.

    Parameters
    ----------
    X : array-like, data frame or anything else that discover takes
        The table.

    Returns
    -------
    X, columns
        The table, copied where it was changed, and the columns' numbers.
    """
    frame = hasattr(X, "iloc")
    if not frame and (not isinstance(X, np.ndarray) or isinstance(X, np.memmap)):
        return X, []
    table = np.asarray(X)
    if table.ndim != 2 or table.dtype.kind not in "fiu" or not len(table):
        return X, []
    constant = (table == table[0]).all(axis=0)
    same = np.flatnonzero(constant & (table[0] != 0) & np.isfinite(table[0]))
    if constant.all():  # there is nothing else
        return X, []
    if len(same):
        X = X.copy()
        if frame:
            X.isetitem(list(same), np.zeros((len(table), len(same)), dtype=table.dtype))
        else:
            X[:, same] = 0
    return X, [int(column) for column in same]


def sample_table(X: Any, y: Any, most: int, seed: int) -> Sampled:
    """Open a table, set incomplete rows aside, and draw the rows of the search.

    Parameters
    ----------
    X : array-like, sparse, data frame, memmap, path, list of blocks or Dask array
        The rows.
    y : array-like of shape (n_samples,) or None
        The target.
    most : int
        Rows to search at most.
    seed : int
        Of the sample.

    Returns
    -------
    Sampled
        The table.
    """
    source = _open(X)
    d = source.info.n_features
    complete = np.flatnonzero(~collect_rows(_is_incomplete, source, holes=True))
    if len(complete) < min(_LEAST_ROWS, source.n_rows) or 4 * len(complete) < source.n_rows:
        raise ValueError(
            f"X: {source.n_rows - len(complete)} of {source.n_rows} rows have empty cells (NaN). Drop the "
            "columns that have most of them, or fill them (sklearn.impute); for mixtures, "
            "altmin.AND(missing='mask') takes them as they are"
        )
    if len(complete) < _LEAST_ROWS or d < _LEAST_COLUMNS:
        raise ValueError(
            f"X has shape {(source.n_rows, d)}: at least {_LEAST_ROWS} rows and {_LEAST_COLUMNS} columns are "
            "needed to tell anything"
        )
    target = None if y is None else _target(y, source.n_rows)[complete]
    whole = len(complete) == source.n_rows
    kept = X if whole else source.subset(complete)
    held, rows = _draw(len(complete), min(most, max(_CELLS // d, 200)), seed, target is not None)
    return Sampled(
        kept,
        _dense(source.take(complete[rows]).X),
        _dense(source.take(complete[held]).X),
        None if target is None else target[rows],
        None if target is None else target[held],
        target,
        source.n_rows - len(complete),
    )


def _draw(n: int, most: int, seed: int, law: bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Sorted numbers of the rows that are held out, and of those that are searched."""
    order = np.random.default_rng([seed, 1]).permutation(n)
    held = n // 5 if law else min(_HELD_OUT, n // 5)
    return np.sort(order[:held]), np.sort(order[held:][:most])


def _open(X: Any) -> Source:
    """A source that can be read again; what holds no numbers is refused with a sentence."""
    if isinstance(X, AnySource):
        return X.require_replayable("discover")
    if is_dask(X):
        return open_dask(X)
    if isinstance(X, str | Path) or is_block_list(X) or sp.issparse(X):
        return open_source(X).require_replayable("discover")
    table = np.asarray(X)
    if table.ndim != 2 or table.dtype.kind not in "fiub":
        raise ValueError(
            f"X has shape {table.shape} and dtype {table.dtype}: a table of numbers is needed (the command "
            "`altmin discover` sets ids and text columns aside)"
        )
    return open_source(table).require_replayable("discover")


def _is_incomplete(block: Block) -> NDArray[Any]:
    """Of each row, whether a cell is empty."""
    if not sp.issparse(block.X):
        return np.asarray(np.isnan(block.X).any(axis=1))
    empty = sp.csr_array((np.isnan(block.X.data), block.X.indices, block.X.indptr), block.X.shape)
    return np.asarray(empty.sum(axis=1) > 0)


def _target(y: Any, n: int) -> NDArray[Any]:
    target = np.asarray(y)
    if target.dtype.kind not in "fiub" or target.size != n or not np.isfinite(target).all():
        raise ValueError(f"y has shape {target.shape}: one finite number for each of the {n} rows is needed")
    return target.astype(np.float64).ravel()


def _dense(X: Any) -> NDArray[Any]:
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
