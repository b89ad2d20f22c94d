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
from altmin.guarantees.contract import Family, Rule, Test, shown, whole
from altmin.guarantees.machine_rows import RowEvidence
from altmin.guarantees.measurements import Measured
from altmin.guarantees.quadratic_theory import PAPER, feature_rows, pace_rows, quadratic_rows
from altmin.guarantees.report import Condition, check, unchecked
from altmin.io.records import record

_EXACT = 1e-6  # relative residual below which nothing is left to test
_EXACT_LOSS = 1e-10  # share of the mean square of y that is left where measurements have no noise
_IDENTIFIED = ("identifiable", "distinct", "error")
_NOISE = (
    "no_further_shape",
    "no_further_pattern",
    "no_further_product",
    "no_further_rank",
    "sharp",
    "no_noise_in_features",
    "still",
)
_UNTESTED = ("even_noise", "exact_features", "no_hidden_cause")  # what 'exogenous' declares
_EXOGENOUS = "Nothing that was left out moves the features and the target together, and features are exact"
_ADVICE = {
    "identifiable": "collinear or low-rank features leave directions that no row can tell apart: drop some",
    "distinct": "more distinct rows: with few, a model of this rank fits noise as well",
    "error": "more rows, or less noise",
    "no_further_shape": "y isn't quadratic in these features: add the shape that is left, or transform y",
    "no_further_pattern": "y isn't quadratic in these features: add terms or features, or transform y",
    "no_further_product": "y holds products of three features: add them as columns",
    "no_further_rank": "a larger rank",
    "sharp": "more rows: a term that isn't quadratic could hide in the noise",
    "no_noise_in_features": "the features carry noise, so coefficients are shrunk: measure them better",
    "columns": "drop constant or redundant columns: they have no coefficient of their own",
    "enough": "more measurements: with few, other answers fit them as well",
    "loss": "something is left over: noise, too low a rank, or a wrong answer",
    "seen_again": "call guarantee(X, y) with rows that can be read again",
    "rows_per_parameter": "more rows: with few, a boundary of this rank separates noise as well",
    "classes_differ": "the labels hardly depend on the features",
    "halves": "fits on halves disagree: more rows",
    "still": "early and late rows disagree: fit them apart",
    "even_noise": "noise depends on the features: if they are exact, declare guarantee(X, y, "
    "assume='exogenous')",
    "exact_features": "noise in a feature can't be excluded: if there is none, declare guarantee(X, y, "
    "assume='exogenous')",
    "no_hidden_cause": "a hidden cause can't be excluded at this noise: if there is none, declare "
    "guarantee(X, y, assume='exogenous')",
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
    exogenous : bool
        Whether it is declared that designs are exact and no hidden cause is at work.
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
    exogenous: bool = False


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


def relative_error(e: RowEvidence | Measured, n_rows: float, halves: float | None) -> tuple[float, float]:
    """Estimated error, and what it stays below in nine of ten cases: noise, and the way to least squares."""
    scale = np.sqrt(e.n_sample / max(n_rows, 1)) * np.sqrt(max(n_rows / max(e.distinct, 1), 1.0))
    noise = e.noise_error * scale
    if halves is not None and _noisy(e):  # without noise fewer rows prove nothing that all don't
        noise = max(noise, 0.5 * halves)
    return float(np.hypot(noise, e.step)), float(1.3 * noise + e.step)


def _row_tests(e: RowEvidence | Measured, bound: float, found: str) -> list[Test]:
    """Whether the rows fix the parameters, and whether what they leave over is noise."""
    tests = [
        whole("parameters are identifiable", "sigma_min / sigma_max of J", e.conditioning, at_least=0.01,
              id="identifiable",
              meaning="Collinear or too few designs leave directions that no row can tell apart."),
        whole(f"distinct {found} a parameter", "n_eff / p", e.distinct / e.parameters,
              at_least=1.5 if e.left <= _EXACT else 3.0, id="distinct",
              meaning="With fewer, a model of this rank fits noise as well."),
        whole("error of w and M" if found == "rows" else "error of M", "|J^+ r| + 1.3 sigma |J^+|", bound,
              at_most=0.05, id="error",
              meaning="Relative; what noise leaves, and how far the fit is from least squares."),
    ]  # fmt: skip
    return [*tests, *_noise_tests(e, found)] if _noisy(e) else tests


def _noise_tests(e: RowEvidence | Measured, found: str) -> list[Test]:
    machine = found == "rows"
    where = "features" if machine else "designs"
    return [
        whole("no further shape", "largest / chance", e.misfit.shape, at_most=1.3, id="no_further_shape",
              otherwise="contradicted",
              meaning="The residuals follow a curve, a kink or a wave of the features."),
        whole("no further pattern", "sum / chance", e.misfit.pattern, at_most=6.0, id="no_further_pattern",
              otherwise="contradicted",
              meaning="Many further functions of the features explain a little of the residuals each."),
        whole("no product of three", "largest / chance", e.misfit.product, at_most=1.5,
              id="no_further_product", otherwise="contradicted",
              meaning=f"Products of three {where} are left in the residuals."),
        whole("no further quadratic" if machine else "no further rank",
              "largest / chance", e.misfit.rank, at_most=1.5,
              id="no_further_rank", otherwise="contradicted",
              meaning="Nothing is missing: with too low a rank a quadratic is left over."),
        whole("a further term would be seen", "unseen", e.misfit.unseen / max(e.size, 1e-300), at_most=0.1,
              id="sharp", meaning="Size of a term that could hide in the noise, over that of the model."),
        whole(f"no noise in the {where}", "|t| of r^2", e.gradient_t, at_most=5.0,
              id="no_noise_in_features", otherwise="contradicted",
              meaning=f"Residuals grow with the gradient: the {where} carry noise, and M is shrunk."),
        whole("early and late rows agree", "drift", e.drift, at_most=1.0, id="still",
              otherwise="contradicted",
              meaning="Difference of the models of early and late rows, over what noise explains."),
        whole(f"noise doesn't depend on the {where}", "r^2 of x x'", e.white, at_most=1.5, id="even_noise",
              otherwise="plausible",
              meaning=f"The noise varies with the {where}: they may have been measured with error."),
        whole(f"noise in the {where} would be seen", "attenuation", e.attenuation, at_most=0.05,
              id="exact_features", otherwise="plausible",
              meaning=f"Share of the model that noise in one of the {where} may hide without a trace."),
        whole("a hidden cause would have to be strong", "robustness", e.robustness, at_least=0.05,
              id="no_hidden_cause", otherwise="plausible",
              meaning="Share of the noise that a hidden cause needs to move the model by a tenth."),
    ]  # fmt: skip


def _row_rule(e: RowEvidence | Measured, exogenous: bool, *needs: str) -> Rule:
    """Parameters must be fixed; with noise, the rest must look like it."""
    if not _noisy(e):
        return Rule("exact", (*_IDENTIFIED, *needs))
    return Rule("noisy", (*_IDENTIFIED, *_NOISE, *(() if exogenous else _UNTESTED), *needs))


def _noisy(e: RowEvidence | Measured) -> bool:
    return e.left > max(_EXACT, 4 * e.step**2)


def _assumed(e: MachineEvidence | SensingEvidence) -> tuple[str, ...]:
    return (f"{_EXOGENOUS} (declared).",) if e.exogenous else ()


# --- factorization machines -------------------------------------------------------------------------


def machine_tests(e: MachineEvidence) -> list[Test]:
    """Of the rows that were looked at again, of the features, of the pace."""
    d = len(e.lens.centre)
    theory = shown(*feature_rows(e.lens, e.raw), *pace_rows(d, e.rank, e.batch, e.ratio, e.loss))
    T = e.lens.T
    alive = int(np.sum(T != 0)) if T.ndim == 1 else int(np.sum(T.any(axis=0)))
    columns = whole(
        "columns that vary", "rank of X", float(alive), at_least=float(d), id="columns",
        reference="identifiability",
        meaning="Constant or redundant columns have no coefficient of their own.",
    )  # fmt: skip
    if e.rows is None:
        return [columns, *_stream_tests(e.ratio, e.loss), *theory]
    bound = relative_error(e.rows, e.n_rows, e.halves)[1]
    more = shown(*quadratic_rows(e.rows, d, e.rank, e.batch, e.n_rows, e.fresh))
    return [*_row_tests(e.rows, bound, "rows"), columns, *theory, *more]


def _stream_tests(ratio: float, loss: float) -> list[Test]:
    """What may be said of rows that are gone."""
    return [
        whole("rows seen again", "J", None, id="seen_again", otherwise="plausible",
              meaning="Cannot be looked at: a one-way stream, or too many parameters for the Jacobian."),
        whole("the error fell on fresh rows, or is gone", "fall", 0.0 if loss <= _EXACT_LOSS else ratio,
              at_most=0.75, id="falling",
              meaning="Each batch of new rows removes a constant share of the error."),
    ]  # fmt: skip


def machine_rule(e: MachineEvidence) -> Rule:
    """By the rows; a stream is 'plausible' at most, where the error falls on fresh rows."""
    if e.rows is not None:
        return _row_rule(e.rows, e.exogenous, "columns")
    return Rule("stream", ("seen_again", "falling"))


def machine_error(e: MachineEvidence) -> float | None:
    """Relative error of (w, M)."""
    return None if e.rows is None else relative_error(e.rows, e.n_rows, e.halves)[0]


MACHINE = Family(
    claim=lambda e: (
        "b, w and M are those that made the target, on the directions that the features fix; the "
        "factors are one of many ways to write M."
    ),
    tests=machine_tests,
    rule=machine_rule,
    error=machine_error,
    assumptions=_assumed,
    advice=_ADVICE,
    closer="guarantee(X, y, effort='full') compares fits on halves",
    otherwise="more rows",
)


# --- sensing, completion, phase retrieval -----------------------------------------------------------


def sensing_tests(e: SensingEvidence) -> list[Test]:
    """Of the number of measurements, of what is left over, of the designs."""
    enough = whole(
        "measurements a parameter", "n / p", e.n_rows / max(e.parameters, 1.0), at_least=3.0, id="enough",
        reference="identifiability", meaning="With fewer, other answers fit the same measurements.",
    )  # fmt: skip
    theory = shown(
        check("loss", "rho", f"{PAPER}, Theorem 15", e.loss, at_most=_EXACT_LOSS, id="loss",
              meaning="Share of the mean square of y that is left: noise, too low a rank, a wrong answer."),
        check("error falls on fresh rows", "sqrt(rho_t+1 / rho_t)", f"{PAPER}, Theorem 1", e.ratio,
              at_most=0.75, id="pace",
              meaning="Each batch of new rows removes a constant share of the error."),
        *_design_conditions(e),
    )  # fmt: skip
    if e.rows is None:
        found = [enough, *_stream_tests(e.ratio, e.loss)]
        return [*found, *([] if e.halves is None else [_halves_test(e.halves, 0.1)]), *theory]
    bound = relative_error(e.rows, e.n_rows, e.halves)[1]
    found = [enough, *_row_tests(e.rows, bound, "measurements"), *theory]
    found += shown(
        unchecked(
            "measurements are independent", "i.i.d.", f"{PAPER}, Theorem 4",
            "the order and origin of the measurements aren't known; near copies are counted in n_eff / p",
        )
    )  # fmt: skip
    if e.rows.design_t is not None:
        found += shown(
            check(
                "left and right designs are independent", "|t| of u v", f"{PAPER}, Section 4",
                e.rows.design_t, at_most=5.0,
                meaning="Largest correlation of a left and a right column; the start needs them apart.",
            )
        )  # fmt: skip
    return found


def sensing_rule(e: SensingEvidence) -> Rule:
    """By measurements that were looked at again; otherwise 'plausible' at most."""
    if e.rows is not None:
        return _row_rule(e.rows, e.exogenous, "enough")
    halves = () if e.halves is None else ("halves",)
    return Rule("stream", ("enough", "seen_again", "falling", *halves))


def sensing_error(e: SensingEvidence) -> float | None:
    """Relative error of M; without rows to look at, what halves say."""
    if e.rows is None:
        return None if e.halves is None else 2 * e.halves
    return relative_error(e.rows, e.n_rows, e.halves)[0]


SENSING = Family(
    claim=lambda e: "M is the matrix that was measured, on the directions that the designs span.",
    tests=sensing_tests,
    rule=sensing_rule,
    error=sensing_error,
    assumptions=_assumed,
    advice=_ADVICE,
    closer="guarantee(X, y, effort='full') compares fits on halves",
    otherwise="more measurements",
)
COMPLETION = replace(
    SENSING,
    claim=lambda e: "M is the true one on the directions that the features of observed entries span.",
)
PHASE = replace(
    SENSING,
    claim=lambda e: "This is the signal up to its sign or phase, if the designs are generic.",
)


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


def _halves_test(apart: float, bound: float) -> Test:
    return whole(
        "halves agree", "halves", apart, at_most=bound, id="halves",
        meaning="Largest relative difference of fits on halves of the rows from the fit.",
    )  # fmt: skip


# --- classification ---------------------------------------------------------------------------------


def classifier_tests(e: ClassifierEvidence) -> list[Test]:
    """Of the number of rows, of the classes, of the features."""
    link = whole(
        "y = b + x'w + x'Mx + noise", "link", None, id="link", reference=f"{PAPER}, Theorem 1",
        otherwise="plausible",
        meaning="Labels pass through a link: the span of M's eigenvectors survives it, not its eigenvalues.",
    )  # fmt: skip
    return [
        whole("rows a parameter", "n / p", e.n_rows / max(e.parameters, 1), at_least=10.0,
              id="rows_per_parameter",
              meaning="With fewer, a boundary of this rank separates noise as well."),
        whole("classes differ", "2 gain / p", e.gain, at_least=4.0, id="classes_differ",
              otherwise="contradicted",
              meaning="Gain in log likelihood over knowing nothing; about 1 for labels without any law."),
        *([] if e.halves is None else [_halves_test(e.halves, 0.3)]),
        link,
        *shown(*feature_rows(e.lens, raw=False)),
    ]  # fmt: skip


CLASSIFIER: Family[ClassifierEvidence] = Family(
    claim=lambda e: "These are the log odds b + x'w + x'Mx, up to what logistic regression shrinks.",
    tests=classifier_tests,
    rule=lambda e: Rule("halves", ("rows_per_parameter", "classes_differ", "halves", "link")),
    error=lambda e: e.halves,
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


def swept_tests(loss: float) -> list[Test]:
    """Of a fit by sweeps: no theorem speaks for it."""
    return [
        whole("moments of the features", "kappa, phi", None, id="theory", reference=f"{PAPER}, Theorem 1",
              meaning="One-hot and very sparse features are outside the theory: predictions may be good, "
              "but nothing says that the factors are the true ones."),
        whole("loss", "rho", loss, at_most=1.0, id="loss", meaning="Share of the variance that is left."),
    ]  # fmt: skip


SWEPT: Family[float] = Family(
    claim=lambda loss: "Nothing is claimed beyond predictions.",
    tests=swept_tests,
    rule=lambda loss: Rule("sweeps", ("theory",)),
    error=lambda loss: None,
    advice={},
    closer="",
    otherwise="judge it by held-out rows",
)
