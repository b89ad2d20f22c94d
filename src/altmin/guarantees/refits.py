"""Fits that are compared with the fit in question: on disjoint halves, from other starts, on surrogates.

Agreement of refits is evidence only if they are independent. Copies of a sample that fall into both halves
make the halves agree on anything, so near copies always stay together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.contract import Block
from altmin.engine import Source, collect_rows
from altmin.kernels.gram import row_norms2
from altmin.kernels.masked import observed
from altmin.metrics.matching import sine_errors

NEAR = 1e-3  # samples closer than this, relative to their size, count as copies
_CELLS = 50  # cells for each standard deviation: far wider than a copy's distance, so few copies are parted
_FIRST_LOOK = 4000
_DISTINCT_ROWS = 1 << 20  # more are more than enough, and would be kept in memory


def halves(source: Source, seed: int = 0, most: int | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Row numbers of two disjoint halves; near copies of a sample fall into the same one.

    Samples are sorted into narrow cells by a random projection of their directions, up to sign, and whole
    cells are dealt out.

    Parameters
    ----------
    source : Source
        The rows; missing entries count as 0, a second design as part of the row.
    seed : int
        Of the projection and the dealing.
    most : int, optional
        Rows of a half at most; of more of them a random part is used.

    Returns
    -------
    first, second : ndarray of int
        Sorted row numbers.
    """
    rng = np.random.default_rng(seed)
    probes = [rng.standard_normal(d) for d in (source.info.n_features, source.info.second_features)]

    def look(block: Block) -> NDArray[Any]:
        parts = [part for part in (block.X, block.second) if part is not None]
        known = [observed(part)[0] for part in parts]
        along = sum(np.asarray(part @ probe) for part, probe in zip(known, probes, strict=False))
        return np.column_stack([along, np.sqrt(sum(row_norms2(part) for part in known))])

    along, norms = collect_rows(look, source, holes=True).T
    scores = np.abs(along) / np.where(norms > 0, norms, 1.0)
    cells = _numbered(scores)
    if cells.max() == 0:  # all point the same way: then their sizes tell them apart
        cells = _numbered(along)
    if cells.max() == 0:
        raise ValueError("X: two halves that differ are needed, and all rows are copies of one another")
    counts = np.bincount(cells)
    order = rng.permutation(len(counts))
    dealt = np.empty(len(counts), dtype=bool)
    dealt[order] = np.cumsum(counts[order]) <= max(len(cells) / 2, counts[order[0]])
    parts = [np.flatnonzero(dealt[cells]), np.flatnonzero(~dealt[cells])]
    if most is not None:
        parts = [np.sort(rng.permutation(part)[:most]) for part in parts]
    return parts[0], parts[1]


def worst_sines(fits: Iterable[NDArray[Any]], components: NDArray[Any]) -> NDArray[Any]:
    """Of each component, the largest sine of its angle to its match in any of the refits."""
    found = [
        sine_errors(other, components) if len(other) >= len(components) else np.ones(len(components))
        for other in fits
    ]
    return np.max(found, axis=0)


def on_halves(refit: Callable[[Source], Any], source: Source, **options: Any) -> list[Any]:
    """What ``refit`` gives for each of two halves."""
    return [refit(source.subset(ids)) for ids in halves(source, **options)]


def gaussian_surrogate(source: Source, seed: int = 0) -> NDArray[Any]:
    """Gaussian rows, as many, with the second moments of the data: nothing in them is sparse."""
    rows = collect_rows(lambda block: dense(block.X), source)
    root = np.linalg.qr(rows, mode="r") / np.sqrt(len(rows))
    return np.random.default_rng([seed, 3]).standard_normal((len(rows), len(root))) @ root


def distinct(Z: NDArray[Any], near: float = NEAR, by_size: bool = False) -> NDArray[np.bool_]:
    """Rows that aren't 0, and no near copy (in direction, up to sign) of an earlier one.

    Copies are neighbours along any direction, so rows are sorted along one, and compared with the next,
    the one after that, and so on while some are near enough there, and along another direction: n log n
    instead of all pairs.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features)
        The rows.
    near : float
        Distance up to which unit rows are copies.
    by_size : bool
        Whether rows of one direction and another size are different: multiples of one atom are evidence.

    Returns
    -------
    ndarray of bool of shape (n_samples,)
        Which rows count.
    """
    norms = np.sqrt(row_norms2(Z))
    apart = norms > 0
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((Z.shape[1] + 1, 2))
    directions /= np.linalg.norm(directions, axis=0)
    order = np.flatnonzero(apart)
    logs = np.log(norms[order]) if by_size else np.zeros(len(order))
    scores = (Z @ directions[:-1])[order] / norms[order, None]
    signs = np.where(scores[:, 0] < 0, -1.0, 1.0)  # rows count up to their sign
    scores = scores * signs[:, None] + np.outer(logs, directions[-1])
    factors = signs / norms[order]
    sort = np.argsort(scores[:, 0], kind="stable")
    order, factors, logs, (along, across) = order[sort], factors[sort], logs[sort], scores[sort].T
    for lag in range(1, len(order)):
        close = np.flatnonzero(along[lag:] - along[:-lag] <= near)
        if len(close) == 0:
            break
        close = close[np.abs(across[close + lag] - across[close]) <= near]
        close = close[apart[np.maximum(order[close], order[close + lag])]]  # the later one goes
        other = close + lag
        gap = Z[order[close]] * factors[close, None] - Z[order[other]] * factors[other, None]
        squares = row_norms2(gap) + (logs[close] - logs[other]) ** 2
        apart[np.maximum(order[close], order[other])[squares < near**2]] = False
    return apart


def count_distinct(source: Source, centre: Any = None, unit: Any = None) -> int:
    """Rows of a design that aren't near copies of others: cells of 1e-3 along three random directions.

    Parameters
    ----------
    source : Source
        The rows; a second design counts as part of them.
    centre, unit : ndarray of shape (n_features,), optional
        Location and spread of the columns; by default they are taken as they are.

    Returns
    -------
    int
        The number of cells that are taken, by the first million rows alone: a lower bound for more of them.
    """
    rng = np.random.default_rng(0)
    widths = (source.info.n_features, source.info.second_features)
    first, second = (rng.standard_normal((d, 3)) / np.sqrt(max(d, 1)) for d in widths)
    first = first if unit is None else first / np.asarray(unit)[:, None]
    offset = 0.0 if centre is None else np.asarray(centre) @ first

    def scores(block: Block) -> NDArray[Any]:
        along = np.asarray(block.X @ first) - offset
        return along if block.second is None else along + np.asarray(block.second @ second)

    if source.n_rows > 2 * _FIRST_LOOK:  # a few thousand rows show whether there are copies at all
        ids = np.unique(np.linspace(0, source.n_rows - 1, _FIRST_LOOK).astype(np.intp))
        share = _taken(collect_rows(scores, source.subset(ids)), unit) / len(ids)
        if share >= 0.95:
            return int(share * source.n_rows)
    return _taken(collect_rows(scores, source, n_rows=_DISTINCT_ROWS), unit)


def sample(source: Source, n: int) -> tuple[NDArray[Any], Any, Any]:
    """About n rows, evenly spread: the design, the second one or None, the target or None; dense."""
    table = source.take(spread_rows(source.n_rows, n))
    y = None if table.y is None else np.asarray(table.y, dtype=np.float64)
    return dense(table.X), None if table.second is None else dense(table.second), y


def spread_rows(n_rows: int, n: int) -> NDArray[np.intp]:
    """Numbers of n rows, one of each part of the data: a fixed distance may be that of a season."""
    if n >= n_rows:
        return np.arange(n_rows)
    edges = np.arange(n + 1) * n_rows // n
    within = np.random.default_rng(0).random(n) * np.diff(edges)
    return edges[:-1] + within.astype(np.intp)


def dense(X: Any) -> NDArray[Any]:
    """As an array of double precision."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def _numbered(scores: NDArray[Any]) -> NDArray[np.intp]:
    """Numbers, from 0 on, of the cells that these scores are in."""
    spread = float(np.std(scores))
    cells = np.round(scores / (spread if spread > 1e-12 * np.abs(scores).max(initial=0.0) else 1.0) * _CELLS)
    return np.unique(cells.astype(np.int64), return_inverse=True)[1].ravel()


def _taken(found: NDArray[Any], unit: Any) -> int:
    """How many cells of 1e-3 (of the spread, where no unit was given) these points are in."""
    spread = 1.0 if unit is not None else np.maximum(found.std(axis=0), 1e-300)
    cells = np.round(found / spread / NEAR)
    return len(np.unique(cells @ np.array([1.0, np.sqrt(2.0), np.sqrt(3.0)])))  # one number for each cell
