"""Refinement of a factorization machine by coordinate sweeps over rows that are in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.algorithms.quadratic.lens import weights_of
from altmin.algorithms.quadratic.low_rank import UserModel, canonical_signs
from altmin.contract import Block
from altmin.engine.finite import check_finite
from altmin.engine.sources import Source
from altmin.kernels.fm_als import Machine, als

_SPARSE, _BINARY_AND_SPARSE = 0.05, 0.25  # shares of entries that aren't zero
_SMALL_START = 0.1


def looks_one_hot(source: Any) -> bool:
    """Whether the moments of the columns say little: nearly empty, or mostly binary and sparse.

    Parameters
    ----------
    source : Source or StreamSource
        The data; a stream can't be swept over, so the answer is no.

    Returns
    -------
    bool
        True for one-hot codes, bags of ids, and very sparse features.
    """
    if (source.info.n_rows or 0) < 2:
        return False
    rows = np.unique(np.linspace(0, source.n_rows - 1, min(source.n_rows, 2000)).astype(np.intp))
    X = sp.csc_array(source.take(rows).X)
    filled = X.nnz / max(X.shape[0] * X.shape[1], 1)
    return filled < _SPARSE or (filled < _BINARY_AND_SPARSE and binary_columns(X).mean() > 0.5)


def binary_columns(X: Any) -> NDArray[np.bool_]:
    """Columns of a csc_array that hold nothing but zeros and ones."""
    other = np.concatenate([[0], np.cumsum((X.data != 0) & (X.data != 1))])
    return other[X.indptr[1:]] == other[X.indptr[:-1]]


def refine(
    source: Source,
    rank: int,
    *,
    start: UserModel | None,
    alpha: tuple[float, float],
    sweeps: int,
    seed: int,
) -> tuple[UserModel, list[float], NDArray[np.bool_]]:
    """Sweep over all rows, from a model or from small random factors.

    Parameters
    ----------
    source : Source
        The rows.
    rank : int
        Factors.
    start : UserModel or None
        A model of the one-pass algorithm, whose signs are kept; None starts from nothing.
    alpha : (float, float)
        Ridge on the linear part and on the factors, in units of the spread of y and of the columns.
    sweeps : int
        At most.
    seed : int
        For a start from nothing.

    Returns
    -------
    model, losses, binary
        The model in the user's columns, the share of the variance left after each sweep, and the
        columns whose own square is not identifiable.
    """
    table = source.read(0, source.n_rows)
    block = Block(0, 0, table.X, table.y, table.weight)
    check_finite(block)
    X = sp.csc_array(table.X, dtype=np.float64)
    weight = weights_of(block)
    y = np.asarray(table.y, dtype=np.float64)
    centre = float(np.average(y, weights=weight))
    spread = float(np.sqrt(np.average((y - centre) ** 2, weights=weight))) or 1.0
    binary = binary_columns(X)
    unit = np.where(binary, 1.0, _column_scale(X))
    X.data = X.data / np.repeat(unit, np.diff(X.indptr))
    machine = (
        _from_nothing(X.shape[1], rank, seed) if start is None else _from_model(start, unit, spread, centre)
    )
    machine, losses = als(
        X, (y - centre) / spread, weight, machine, square=~binary, alpha=alpha, sweeps=sweeps
    )
    return _to_model(machine, unit, spread, centre, binary), losses, binary


def _from_nothing(d: int, rank: int, seed: int) -> Machine:
    V = _SMALL_START * np.random.default_rng(seed).standard_normal((rank, d))
    return Machine(0.0, np.zeros(d), np.zeros(d), V, np.ones(rank))


def _from_model(model: UserModel, unit: NDArray[Any], spread: float, centre: float) -> Machine:
    """The same model as a machine: ½ s v v' = lambda f f', its diagonal in D."""
    V = np.sqrt(2 * np.abs(model.eigenvalues) / spread)[:, None] * model.factors * unit
    signs = np.where(model.eigenvalues < 0, -1.0, 1.0)
    D = 0.5 * signs @ np.square(V)
    return Machine((model.intercept - centre) / spread, model.coef * unit / spread, D, V, signs)


def _to_model(
    machine: Machine, unit: NDArray[Any], spread: float, centre: float, binary: NDArray[np.bool_]
) -> UserModel:
    """Back to the user's columns; for binary columns x^2 = x, so their diagonal joins the slope."""
    V = machine.V / unit
    own = (machine.D - 0.5 * machine.signs @ np.square(machine.V)) * spread / unit**2
    slope = machine.w * spread / unit + np.where(binary, own, 0.0)
    Q, R = np.linalg.qr(V.T)
    values, vectors = np.linalg.eigh((R * machine.signs) @ R.T * (0.5 * spread))
    order = np.argsort(-np.abs(values), kind="stable")
    return UserModel(
        np.zeros(len(unit)),
        machine.b * spread + centre,
        slope,
        canonical_signs((Q @ vectors[:, order]).T),
        values[order],
        np.where(binary, 0.0, own),
    )


def _column_scale(X: Any) -> NDArray[Any]:
    """Largest magnitude of each column: safe to divide by at any scale."""
    top = np.zeros(X.shape[1])
    np.maximum.at(top, np.repeat(np.arange(X.shape[1]), np.diff(X.indptr)), np.abs(X.data))
    return np.where(top > 0, top, 1.0)
