"""The guarantee report of a fitted machine: which rows are looked at, and what they leave over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.quadratic.low_rank import UserModel
from altmin.algorithms.quadratic.one_pass import OnePass, OnePassState
from altmin.contract import Block
from altmin.engine import AnySource, Source, collect_rows
from altmin.engine.side_by_side import side_by_side
from altmin.guarantees.contract import judge
from altmin.guarantees.machine import MACHINE, MachineEvidence
from altmin.guarantees.machine_rows import (
    MAX_PARAMETERS,
    column_units,
    measure_rows,
    n_parameters,
    rows_to_look_at,
)
from altmin.guarantees.quadratic_rules import prequential_ratio
from altmin.guarantees.refits import count_distinct, sample
from altmin.guarantees.report import GuaranteeReport


def report(
    algorithm: OnePass,
    state: OnePassState,
    model: UserModel,
    source: AnySource | None,
    losses: list[float],
    halves: float | None = None,
    exogenous: bool = False,
    n_jobs: int | None = None,
) -> GuaranteeReport:
    """Judge a fit on a sample of the rows that can be read again.

    Parameters
    ----------
    algorithm, state, model
        The fit.
    source : Source, StreamSource or None
        The rows; a stream's are gone.
    losses : list of float
        Loss of each step.
    halves : float or None
        How far fits on halves are from this one.
    exogenous : bool
        Whether the user declared that features are exact and no hidden cause is at work.
    n_jobs : int or None
        Threads.

    Returns
    -------
    GuaranteeReport
        Verdict and rows.
    """
    lens, evidence, n_rows, fresh = state.lens, None, state.rows, len(losses)
    d = len(lens.centre)
    if source is not None and source.replayable:
        source = source.require_replayable("the report")
        n_rows = source.n_rows
        fresh = 0 if algorithm.batch_size == 0 else int(np.ceil(n_rows / algorithm.batch_size))
        if n_parameters(d, 1) <= MAX_PARAMETERS:
            wanted = rows_to_look_at(n_parameters(d, min(algorithm.rank, d)), halves is not None)
            X, _, y = sample(source, wanted)
            unit = column_units(X)
            if algorithm.raw:
                S = np.corrcoef(X[:, X.std(axis=0) > 0], rowvar=False)
                apart = np.abs(np.linalg.eigvalsh(np.atleast_2d(S)) - 1).max()
                lens = replace(lens, correlation=float(apart))
            distinct = count_distinct(source, lens.centre, unit)
            with side_by_side(n_jobs) as begin:
                evidence = measure_rows(lens, model, X, y, distinct, begin=begin)
    found = MachineEvidence(
        lens,
        evidence,
        n_rows=n_rows,
        batch=state.batch_rows,
        rank=min(algorithm.rank, d),
        ratio=prequential_ratio(losses, fresh),
        loss=state.loss,
        raw=algorithm.raw,
        fresh=min(fresh / max(len(losses), 1), 1.0),
        halves=halves,
        exogenous=exogenous,
    )
    return judge(MACHINE, found, effort="cheap" if halves is None else "full")


def mean_square_left(source: Source, predict: Callable[[Block], NDArray[Any]], centred: bool = True) -> float:
    """Squared error of predictions of these rows, as a share of the variance (or mean square) of y."""

    def squares(block: Block) -> NDArray[Any]:
        y = np.asarray(block.y, dtype=np.float64)
        return np.column_stack([np.square(y - predict(block)), y, y * y])

    left, mean, square = collect_rows(squares, source).mean(axis=0)
    return float(left / max(square - (mean**2 if centred else 0.0), 1e-300))
