"""The guarantee report of a fitted machine: which rows are looked at, and how two fits differ."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.algorithms.quadratic.low_rank import UserModel
from altmin.algorithms.quadratic.one_pass import OnePass, OnePassState
from altmin.engine import AnySource, Source
from altmin.estimators.halves import count_distinct
from altmin.guarantees.quadratic import (
    MAX_PARAMETERS,
    machine_report,
    measure_rows,
    n_parameters,
    prequential_ratio,
)
from altmin.guarantees.report import GuaranteeReport, check

_LEAST_ROWS = 1000


def report(
    algorithm: OnePass,
    state: OnePassState,
    model: UserModel,
    source: AnySource | None,
    losses: list[float],
    halves: float | None = None,
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
            wanted = min(n_rows, max(6 * n_parameters(d, min(algorithm.rank, d)), _LEAST_ROWS))
            X, y = sample(source, wanted)
            unit = column_units(X)
            if algorithm.raw:
                S = np.corrcoef(X[:, X.std(axis=0) > 0], rowvar=False)
                apart = np.abs(np.linalg.eigvalsh(np.atleast_2d(S)) - 1).max()
                lens = replace(lens, correlation=float(apart))
            evidence = measure_rows(lens, model, X, y, count_distinct(source, lens.centre, unit))
    return machine_report(
        lens,
        evidence,
        n_rows=n_rows,
        batch=state.batch_rows,
        rank=min(algorithm.rank, d),
        ratio=prequential_ratio(losses, fresh),
        loss=state.loss,
        raw=algorithm.raw,
        effort="cheap" if halves is None else "full",
        halves=halves,
        fresh=min(fresh / max(len(losses), 1), 1.0),
    )


def swept_report(loss: float) -> GuaranteeReport:
    """The report of a fit by sweeps: no theorem speaks for it."""
    row = check(
        "moments of the features", "kappa, phi", "Lin & Ye 2016, Theorem 1", None, decisive=True,
        meaning="One-hot and very sparse features are outside the theory: predictions may be good, "
        "but nothing says that the factors are the true ones.",
    )  # fmt: skip
    left = check("loss", "rho", "evidence", loss, at_most=1.0, meaning="Share of the variance that is left.")
    return GuaranteeReport("not supported", (row, left), advice="judge it by held-out rows")


def sample(source: Source, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """About n rows, evenly spread, as a dense table with their target."""
    table = source.take(np.unique(np.linspace(0, source.n_rows - 1, n).astype(np.intp)))
    X = table.X.toarray() if sp.issparse(table.X) else table.X
    return np.asarray(X, dtype=np.float64), np.asarray(table.y, dtype=np.float64)


def column_units(X: NDArray[Any]) -> NDArray[Any]:
    """Standard deviations, 1 for constant columns."""
    sd = X.std(axis=0)
    return np.where(sd > 0, sd, 1.0)


def difference(model: UserModel, other: UserModel, unit: NDArray[Any]) -> float:
    """||(w, M) - (w', M')|| / ||(w, M)||, about the first one's centre, in columns scaled by unit."""
    shift = other.centre - model.centre
    moved = other.slope - 2 * (other.eigenvalues * (other.factors @ shift)) @ other.factors
    R = np.linalg.qr((np.vstack([model.factors, other.factors]) * unit).T)[1]
    apart = (R * np.concatenate([model.eigenvalues, -other.eigenvalues])) @ R.T
    k = len(model.eigenvalues)
    own = (R[:, :k] * model.eigenvalues) @ R[:, :k].T
    gap = np.hypot(np.linalg.norm(apart), np.linalg.norm((model.slope - moved) * unit))
    return float(gap / max(np.hypot(np.linalg.norm(own), np.linalg.norm(model.slope * unit)), 1e-300))
