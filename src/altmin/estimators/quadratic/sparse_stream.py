"""Sparse rows that come in chunks: the first ones are learned together, later ones update the posterior."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from altmin.algorithms.sparse.machine import SparseMachine
from altmin.contract import record
from altmin.engine import Result, Source
from altmin.engine.sources import Table

KEPT_ROWS = 16_000


@record
class SparseStream:
    """What is known after some chunks: the posterior, and the first rows while they are few."""

    state: Any  # SparseState
    kept: tuple[Any, ...] = ()  # (X, y, weight) of each chunk so far, until there are KEPT_ROWS
    n_fitted: int = 0  # rows of the last fit from the start; 0 once no rows are kept


def feed(
    known: SparseStream | None,
    source: Source,
    algorithm: SparseMachine,
    run: Callable[..., Result],
) -> tuple[SparseStream, Result]:
    """Learn from the next rows.

    Parameters
    ----------
    known : SparseStream or None
        What came before.
    source : Source
        The next rows.
    algorithm : SparseMachine
        The machine.
    run : callable
        ``run(algorithm, source, state)``.

    Returns
    -------
    stream, result
        What is known now, and the run. The first rows are fitted again whenever their number has
        doubled. Rows that a model predicts worse than their mean does make it begin anew with them.
    """
    pieces = list(source.pieces)
    if known is None:
        return _begin(pieces, source, algorithm, run)
    if known.n_fitted:
        pieces = [*(Table(*part) for part in known.kept), *pieces]
        if sum(piece.X.shape[0] for piece in pieces) >= 2 * known.n_fitted:
            return _begin(pieces, source, algorithm, run)
    result = run(algorithm, source, algorithm.resume(known.state))
    if result.state.lost:
        return _begin(list(source.pieces), source, algorithm, run)
    kept = tuple((piece.X, piece.y, piece.weight) for piece in pieces) if known.n_fitted else ()
    return SparseStream(result.state, kept, known.n_fitted), result


def _begin(
    pieces: list[Any], source: Source, algorithm: SparseMachine, run: Callable[..., Result]
) -> tuple[SparseStream, Result]:
    n = sum(piece.X.shape[0] for piece in pieces)
    result = run(algorithm, Source(pieces, source.dtype), None)
    if n >= KEPT_ROWS:
        return SparseStream(result.state), result
    return SparseStream(result.state, tuple((p.X, p.y, p.weight) for p in pieces), n), result
