"""Machines, sensing and classification: conditions of Lin and Ye 2016, and rules that work in practice.

Their Theorem 1 wants independent standard Gaussian features and a batch of :math:`C k^3 d` rows; its
constants don't discriminate, so the verdict rests on what rows, looked at again, say about the fitted model
(:mod:`altmin.guarantees.machine_rows`, :mod:`altmin.guarantees.measurements`):

- the Jacobian of the model is well conditioned, and there are several distinct rows per parameter;
- one more Gauss-Newton step, and what noise leaves, are small;
- what is left over looks like noise: no further shape, no further rank, no noise in the features.

Without rows that can be looked at again the verdict is 'plausible' at most.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from altmin.algorithms.quadratic.lens import Lens
from altmin.guarantees.contract import Family, Rule
from altmin.guarantees.machine_rows import RowEvidence
from altmin.guarantees.measurements import Measured
from altmin.guarantees.quadratic_theory import PAPER, feature_rows, pace_rows, quadratic_rows
from altmin.guarantees.report import Condition, check, unchecked
from altmin.io.records import record

_EXACT = 1e-6  # relative residual below which nothing is left to test
_EXACT_LOSS = 1e-10  # share of the mean square of y that is left where measurements have no noise
_IDENTIFIED = ("identifiable", "distinct", "error")
_NOISE = ("no_further_shape", "no_further_rank", "no_noise_in_features")
_ADVICE = {
    "identifiable": "collinear or low-rank features leave directions that no row can tell apart: drop some",
    "distinct": "more distinct rows: with few, a model of this rank fits noise as well",
    "error": "more rows, or less noise",
    "no_further_shape": "y isn't quadratic in these features: add the shape that is left, or transform y",
    "no_further_rank": "a larger rank",
    "no_noise_in_features": "the features carry noise, so coefficients are shrunk: measure them better",
    "columns": "drop constant or redundant columns: they have no coefficient of their own",
    "enough": "more measurements: with few, other answers fit them as well",
    "loss": "something is left over: noise, too low a rank, or a wrong answer",
    "seen_again": "call guarantee(X, y) with rows that can be read again",
    "rows_per_parameter": "more rows: with few, a boundary of this rank separates noise as well",
    "classes_differ": "the labels hardly depend on the features",
    "halves": "fits on halves disagree: more rows",
}


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


@record
class SensingEvidence:
    """What a report of sensing, completion or phase retrieval rests on.

    Parameters
    ----------
    n_rows, parameters : float
        Measurements that were read, free parameters of what was sought.
    loss : float
        Share of the mean square of y that is left on the last rows.
    ratio : float
        Prequential ratio on fresh batches; NaN where rows were reused.
    spread : float or None
        ||S - I||_2 of the scaled designs.
    whitened : bool
        Whether they were whitened.
    excess : float or None
        Distance of the designs' fourth moment from that of a Gaussian.
    rows : Measured or None
        Of the measurements, looked at again; None: 'plausible' at most.
    halves : float or None
        Worst relative difference of fits on halves from the fit: full effort.
    """

    n_rows: float
    parameters: float
    loss: float
    ratio: float
    spread: float | None = None
    whitened: bool = False
    excess: float | None = None
    rows: Measured | None = None
    halves: float | None = None


@record
class ClassifierEvidence:
    """What a report of a classifier rests on.

    Parameters
    ----------
    lens : Lens
        Moments and correlation of the features.
    n_rows, parameters : float
        Rows that were read, coefficients of the logistic regression.
    gain : float
        Twice the gain in log likelihood over the shares of the classes, per parameter: 1 for noise.
    halves : float or None
        Relative difference of the log odds of fits on halves: full effort.
    """

    lens: Lens
    n_rows: float
    parameters: float
    gain: float
    halves: float | None = None


# --- what machines and sensing share ----------------------------------------------------------------


def relative_error(e: RowEvidence | Measured, n_rows: float, halves: float | None) -> float:
    """What noise leaves, and how far the fit is from least squares; agreement of halves may lower it."""
    scale = np.sqrt(e.n_sample / max(n_rows, 1)) * np.sqrt(max(n_rows / max(e.distinct, 1), 1.0))
    error = 3 * e.noise_error * scale + e.step
    if halves is not None:
        error = min(error, max(halves, 2 * e.noise_error * scale) + e.step)
    return float(error)


def _row_conditions(e: RowEvidence | Measured, error: float, found: str) -> list[Condition]:
    """Whether the rows fix the parameters, and whether what they leave over is noise."""
    rows = [
        check(
            "parameters are identifiable", "sigma_min / sigma_max of J", "evidence", e.conditioning,
            at_least=0.01, id="identifiable",
            meaning="Collinear or too few designs leave directions that no row can tell apart.",
        ),
        check(
            f"distinct {found} a parameter", "n_eff / p", "evidence", e.distinct / e.parameters,
            at_least=1.5 if e.left <= _EXACT else 3.0, id="distinct",
            meaning="With fewer, a model of this rank fits noise as well.",
        ),
        check(
            "error of w and M" if found == "rows" else "error of M", "3 sigma ||J^+||_F + ||J^+ r||",
            "evidence", error, at_most=0.05, id="error",
            meaning="Relative; noise, and how far the fit is from the least squares solution.",
        ),
    ]  # fmt: skip
    return rows if not _noisy(e) else [*rows, *_noise_conditions(e, found)]


def _noise_conditions(e: RowEvidence | Measured, found: str) -> list[Condition]:
    machine = found == "rows"
    where = "features" if machine else "designs"
    return [
        check(
            "no further shape", "|t|", "evidence", e.worst_t, at_most=4.5, id="no_further_shape",
            meaning="Cubic, absolute or saturating terms (for sensing: an offset or linear ones) are left.",
        ),
        check(
            "no further quadratic" if machine else "no further rank",
            f"||sum r {'z z' if machine else 'u v'}'|| / permuted", "evidence", e.moment_ratio, at_most=2.0,
            id="no_further_rank", meaning="The rank is too low, or small eigenvalues were missed.",
        ),
        check(
            f"no noise in the {where}", "|t| of r^2", "evidence", e.gradient_t, at_most=5.0,
            id="no_noise_in_features",
            meaning=f"Residuals grow with the gradient: the {where} carry noise, and M is shrunk.",
        ),
    ]  # fmt: skip


def _row_rules(e: RowEvidence | Measured, *needs: str) -> list[Rule]:
    """'recovered' where parameters are fixed and the rest is noise; 'plausible' by wider bounds."""
    tests = _NOISE if _noisy(e) else ()
    loosely = {"identifiable": 0.01, "error": 0.1, "no_further_shape": 5.0}
    return [
        Rule("recovered", "rows", (*_IDENTIFIED, *tests, *needs)),
        Rule("plausible", "rows, roughly", (), {**loosely, "distinct": 2.0}),
    ]


def _noisy(e: RowEvidence | Measured) -> bool:
    return e.left > max(_EXACT, 4 * e.step**2)


# --- factorization machines -------------------------------------------------------------------------


def machine_conditions(e: MachineEvidence) -> list[Condition]:
    """Of the features, of the pace, of the rows that were looked at again."""
    d = len(e.lens.centre)
    rows = [*feature_rows(e.lens, e.raw), *pace_rows(d, e.rank, e.batch, e.ratio, e.loss)]
    if e.rows is None:
        rows.append(
            check(
                "rows seen again", "J", "evidence", None, id="seen_again",
                meaning="Cannot be looked at: a one-way stream, or too many parameters for the Jacobian.",
            )
        )  # fmt: skip
    else:
        rows += _row_conditions(e.rows, relative_error(e.rows, e.n_rows, e.halves), "rows")
        rows += quadratic_rows(e.rows, d, e.rank, e.batch, e.n_rows, e.fresh)
    T = e.lens.T
    alive = int(np.sum(T != 0)) if T.ndim == 1 else int(np.sum(T.any(axis=0)))
    rows.append(
        check(
            "columns that vary", "rank of X", "identifiability", float(alive), at_least=float(d),
            id="columns", meaning="Constant or redundant columns have no coefficient of their own.",
        )
    )  # fmt: skip
    return rows


def machine_rules(e: MachineEvidence) -> list[Rule]:
    """By the rows; a stream is 'plausible' at most, where the error falls on fresh rows."""
    if e.rows is not None:
        return _row_rules(e.rows, "columns")
    fresh = Rule("plausible", "stream", (), {"error_falls_on_fresh_rows": 0.75})
    return [Rule("recovered", "rows", ("seen_again", "columns")), fresh]


def machine_error(e: MachineEvidence, rule: Rule | None) -> float | None:
    """Relative error of (w, M)."""
    return None if e.rows is None else relative_error(e.rows, e.n_rows, e.halves)


MACHINE = Family(
    claim="b, w and M on the identifiable directions; not the factors, and not what the data lack",
    conditions=machine_conditions,
    rules=machine_rules,
    error=machine_error,
    advice=_ADVICE,
    closer="guarantee(X, y, effort='full') compares fits on halves",
    otherwise="more rows",
)


# --- sensing, completion, phase retrieval -----------------------------------------------------------


def sensing_conditions(e: SensingEvidence) -> list[Condition]:
    """Of the number of measurements, of the designs, of what is left over."""
    rows = [
        check(
            "measurements a parameter", "n / p", "identifiability", e.n_rows / max(e.parameters, 1.0),
            at_least=3.0, id="enough", meaning="With fewer, other answers fit the same measurements.",
        ),
        check(
            "loss", "rho", f"{PAPER}, Theorem 15", e.loss, at_most=_EXACT_LOSS, id="loss",
            meaning="Share of the mean square of y that is left: noise, too low a rank, or a wrong answer.",
        ),
        check(
            "error falls on fresh rows", "sqrt(rho_t+1 / rho_t)", f"{PAPER}, Theorem 1", e.ratio,
            at_most=0.75, id="falling",
            meaning="Each batch of new rows removes a constant share of the error.",
        ),
    ]  # fmt: skip
    rows += _design_conditions(e)
    if e.rows is None:
        return rows if e.halves is None else [*rows, _halves_condition(e.halves, 0.1)]
    rows += _row_conditions(e.rows, relative_error(e.rows, e.n_rows, e.halves), "measurements")
    rows.append(
        unchecked(
            "measurements are independent", "i.i.d.", f"{PAPER}, Theorem 4",
            "the order and origin of the measurements aren't known; near copies are counted in n_eff / p",
        )
    )  # fmt: skip
    if e.rows.design_t is not None:
        rows.append(
            check(
                "left and right designs are independent", "|t| of u v", f"{PAPER}, Section 4",
                e.rows.design_t, at_most=5.0,
                meaning="Largest correlation of a left and a right column; the start needs them apart.",
            )
        )  # fmt: skip
    return rows


def sensing_rules(e: SensingEvidence) -> list[Rule]:
    """By measurements that were looked at again; otherwise 'plausible' at most."""
    if e.rows is not None:
        recovered, plausible = _row_rules(e.rows)
        extra = ("no_further_rank",) if _noisy(e.rows) else ()
        return [recovered, replace(plausible, needs=("identifiable", "distinct", *extra))]
    halves = () if e.halves is None else ("halves",)
    return [
        Rule("plausible", "falling", ("enough", "falling", *halves)),
        Rule("plausible", "exact", ("enough", "loss", *halves)),
    ]


def sensing_error(e: SensingEvidence, rule: Rule | None) -> float | None:
    """Relative error of M; without rows to look at, what halves say."""
    if e.rows is None:
        return None if e.halves is None else 2 * e.halves
    return relative_error(e.rows, e.n_rows, e.halves)


SENSING = Family(
    claim="M on the directions that the designs span",
    conditions=sensing_conditions,
    rules=sensing_rules,
    error=sensing_error,
    advice=_ADVICE,
    closer="guarantee(X, y, effort='full') compares fits on halves",
    otherwise="more measurements",
)
COMPLETION = replace(SENSING, claim="M on the directions that features of observed entries span")
PHASE = replace(SENSING, claim="the signal up to its sign or phase, if the designs are generic")


def _design_conditions(e: SensingEvidence) -> list[Condition]:
    rows = []
    spread = e.spread if e.rows is None else e.rows.spread
    if spread is not None:
        rows.append(
            check(
                "white designs", "||S - I||_2", f"{PAPER}, Lemma 9", spread,
                at_most=float("inf") if e.whitened else 0.5,
                meaning="Whitened." if e.whitened else "Not whitened: whiten='auto' corrects that.",
            )
        )  # fmt: skip
    if e.excess is not None:
        rows.append(
            check(
                "Gaussian designs", "|E|x|^4 - Gaussian|", f"{PAPER}, Theorem 4", e.excess, at_most=0.5,
                meaning="The stream algorithm is derived for Gaussian designs; the polish isn't.",
            )
        )  # fmt: skip
    return rows


def _halves_condition(apart: float, bound: float) -> Condition:
    return check(
        "halves agree", "halves", "evidence", apart, at_most=bound, id="halves",
        meaning="Largest relative difference of fits on halves of the rows from the fit.",
    )  # fmt: skip


# --- classification ---------------------------------------------------------------------------------


def classifier_conditions(e: ClassifierEvidence) -> list[Condition]:
    """Of the number of rows, of the classes, of the features."""
    return [
        check(
            "rows a parameter", "n / p", "evidence", e.n_rows / max(e.parameters, 1), at_least=10.0,
            id="rows_per_parameter", meaning="With fewer, a boundary of this rank separates noise as well.",
        ),
        check(
            "classes differ", "2 gain / p", "evidence", e.gain, at_least=4.0, id="classes_differ",
            meaning="Gain in log likelihood over knowing nothing; about 1 for labels without any law.",
        ),
        *([] if e.halves is None else [_halves_condition(e.halves, 0.3)]),
        *feature_rows(e.lens, raw=False),
        unchecked(
            "y = b + x'w + x'Mx + noise", "link", f"{PAPER}, Theorem 1",
            "labels pass through a link: the span of M's eigenvectors survives it, its eigenvalues don't",
        ),
    ]  # fmt: skip


CLASSIFIER: Family[ClassifierEvidence] = Family(
    claim="the log odds b + x'w + x'Mx up to what logistic regression shrinks; not the factors",
    conditions=classifier_conditions,
    rules=lambda e: [Rule("plausible", "halves", ("rows_per_parameter", "classes_differ", "halves"))],
    error=lambda e, rule: e.halves,
    advice=_ADVICE,
    closer="guarantee(X, y, effort='full') compares fits on halves",
    otherwise="no theorem covers the link: judge it by held-out rows",
)


def prequential_ratio(losses: list[float], fresh: int) -> float:
    """Median fall of the error from one fresh batch to the next, before the floor was reached."""
    rho = np.maximum(np.asarray(losses[:fresh], dtype=np.float64), 1e-300)
    rho = rho[: int(np.argmin(rho)) + 1] if len(rho) else rho
    if len(rho) < 3:
        return float("nan")
    return float(np.median(np.sqrt(rho[1:] / rho[:-1])))


def swept_conditions(loss: float) -> list[Condition]:
    """Of a fit by sweeps: no theorem speaks for it."""
    return [
        check(
            "moments of the features", "kappa, phi", f"{PAPER}, Theorem 1", None, id="theory",
            meaning="One-hot and very sparse features are outside the theory: predictions may be good, "
            "but nothing says that the factors are the true ones.",
        ),
        check(
            "loss", "rho", "evidence", loss, at_most=1.0, id="loss",
            meaning="Share of the variance that is left.",
        ),
    ]  # fmt: skip


SWEPT: Family[float] = Family(
    claim="nothing beyond predictions",
    conditions=swept_conditions,
    rules=lambda loss: [Rule("plausible", "theory", ("theory",))],
    error=lambda loss, rule: None,
    advice={},
    closer="",
    otherwise="judge it by held-out rows",
)
