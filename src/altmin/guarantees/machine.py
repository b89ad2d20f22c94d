"""Factorization machines: conditions of Lin and Ye 2016, and rules that work in practice.

Their Theorem 1 wants independent standard Gaussian features and a batch of :math:`C k^3 d` rows; its
constants don't discriminate, so the verdict rests on what rows, looked at again, say about the fitted model
(:mod:`altmin.guarantees.machine_rows`, :mod:`altmin.guarantees.measurements`):

- the Jacobian of the model is well conditioned, and there are several distinct rows per parameter;
- one more Gauss-Newton step, and what noise leaves, are small;
- what is left over looks like noise: no further shape, no further rank, no noise in the features.

Without rows that can be looked at again the verdict is 'plausible' at most.
"""

from __future__ import annotations

import numpy as np

from altmin.algorithms.quadratic.lens import Lens
from altmin.guarantees.contract import Family, Rule, Test, shown, whole
from altmin.guarantees.machine_rows import RowEvidence
from altmin.guarantees.quadratic_rules import (
    ADVICE,
    declared,
    enough_test,
    relative_error,
    row_rule,
    row_tests,
    slight_curves,
    stream_tests,
)
from altmin.guarantees.quadratic_theory import PAPER, feature_rows, pace_rows, quadratic_rows
from altmin.io.records import record


@record
class MachineEvidence:
    """What a report of a factorization machine rests on.

    Parameters
    ----------
    lens : Lens
        Moments and correlation of the features.
    rows : RowEvidence or None
        None on streams and for very many parameters.
    n_rows, batch, rank : float
        Rows that were read, rows of a batch, k.
    ratio : float
        Prequential ratio: how much the error on fresh batches fell from one to the next.
    loss : float
        Last loss, as a share of the variance of y.
    raw : bool
        Whether features were taken as they are.
    fresh : float
        Share of the steps that saw rows for the first time.
    halves : float or None
        Worst relative difference of fits on halves from the full one: full effort.
    exogenous : bool
        Whether it is declared that features are exact and no hidden cause is at work.
    """

    lens: Lens
    rows: RowEvidence | None
    n_rows: int
    batch: float
    rank: int
    ratio: float
    loss: float
    raw: bool
    fresh: float = 1.0
    halves: float | None = None
    exogenous: bool = False


def machine_tests(e: MachineEvidence) -> list[Test]:
    """Of the rows that were looked at again, of the features, of the pace."""
    d = len(e.lens.centre)
    theory = shown(*feature_rows(e.lens, e.raw), *pace_rows(d, e.rank, e.batch, e.ratio, e.loss))
    T = e.lens.T
    alive = int(np.sum(T != 0)) if T.ndim == 1 else int(np.sum(T.any(axis=0)))
    columns = whole(
        "every column varies by itself", "rank of X", float(alive), at_least=float(d), id="columns",
        reference="identifiability",
        meaning="Constant or redundant columns have no coefficient of their own.",
    )  # fmt: skip
    if e.rows is None:
        enough = enough_test(e.n_rows, 1 + d * (1 + e.rank), "rows")
        return [columns, enough, *stream_tests(e.ratio, e.loss), *theory]
    bound = relative_error(e.rows, e.n_rows, e.halves, e.exogenous)[1]
    more = shown(*quadratic_rows(e.rows, d, e.rank, e.batch, e.n_rows, e.fresh))
    return [*row_tests(e.rows, bound, "rows"), columns, *_two_valued(e.rows), *theory, *more]


def _two_valued(rows: RowEvidence) -> list[Test]:
    """Of columns whose square tells nothing, where there are some."""
    if np.isinf(rows.two_valued):
        return []
    return [
        whole("squares of two-valued columns are known", "rank / error", rows.two_valued, at_least=5.0,
              id="two_valued", reference="identifiability",
              meaning="A column with two values equals its square, whose coefficient follows from the rank "
              "alone: what the other columns do with each other must have that rank, clearly above noise."),
    ]  # fmt: skip


def machine_rule(e: MachineEvidence) -> Rule:
    """By the rows; a stream is 'plausible' at most, where the error falls on fresh rows."""
    if e.rows is not None:
        return row_rule(e.rows, e.exogenous, "columns", *(test.row.id for test in _two_valued(e.rows)))
    return Rule("stream", ("enough", "seen_again", "falling"))


def machine_error(e: MachineEvidence) -> float | None:
    """Relative error of (w, M)."""
    return None if e.rows is None else relative_error(e.rows, e.n_rows, e.halves, e.exogenous)[0]


MACHINE = Family(
    claim=lambda e: (
        "The intercept, the linear coefficients and the matrix of products are the true ones. "
        "The factors are one of many ways to write that matrix."
        + (" Squares of single columns follow coefficients of their own." if e.rows and e.rows.own else "")
        + slight_curves(
            e.rows,
            " A curve too slight to be seen counts into them: they are those of the quadratic that comes "
            "closest to the target over rows like these.",
        )
    ),
    tests=machine_tests,
    rule=machine_rule,
    error=machine_error,
    assumptions=lambda e: declared(e.exogenous, e.rows),
    advice=ADVICE,
    closer="guarantee(X, y, effort='full') compares fits on halves",
    otherwise="more rows",
)


def swept_tests(loss: float) -> list[Test]:
    """Of a fit by sweeps: no theorem speaks for it."""
    return [
        whole("features are such as the theory speaks of", "kappa, phi", None, id="theory",
              reference=f"{PAPER}, Theorem 1",
              meaning="One-hot and very sparse features are outside the theory: predictions may be good, "
              "but nothing says that the factors are the true ones."),
        whole("loss", "rho", loss, at_most=1.0, id="loss", meaning="Share of the variance that is left."),
    ]  # fmt: skip


SWEPT: Family[float] = Family(
    claim=lambda loss: "The coefficients are the true ones.",
    tests=swept_tests,
    rule=lambda loss: Rule("sweeps", ("theory",)),
    error=lambda loss: None,
    advice={},
    closer="",
    otherwise="compare predictions with rows that were held out",
)
