"""Sensing, matrix completion and phase retrieval: is the matrix, or the signal, the one that was measured?"""

from __future__ import annotations

from dataclasses import replace

from altmin.guarantees.contract import Family, Rule, Test, shown
from altmin.guarantees.measurements import Measured
from altmin.guarantees.quadratic_rules import (
    ADVICE,
    EXACT_LOSS,
    declared,
    enough_test,
    halves_test,
    relative_error,
    row_rule,
    row_tests,
    slight_curves,
    stream_tests,
)
from altmin.guarantees.quadratic_theory import PAPER
from altmin.guarantees.report import Condition, check, unchecked
from altmin.io.records import record


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


def sensing_tests(e: SensingEvidence) -> list[Test]:
    """Of the number of measurements, of what is left over, of the designs."""
    enough = enough_test(e.n_rows, e.parameters, "measurements")
    theory = shown(
        check("loss", "rho", f"{PAPER}, Theorem 15", e.loss, at_most=EXACT_LOSS, id="loss",
              meaning="Share of the mean square of y that is left: noise, too low a rank, a wrong answer."),
        check("error falls on fresh rows", "sqrt(rho_t+1 / rho_t)", f"{PAPER}, Theorem 1", e.ratio,
              at_most=0.75, id="pace",
              meaning="Each batch of new rows removes a constant share of the error."),
        *_design_conditions(e),
    )  # fmt: skip
    if e.rows is None:
        found = [enough, *stream_tests(e.ratio, e.loss)]
        return [*found, *([] if e.halves is None else [halves_test(e.halves, 0.1)]), *theory]
    bound = relative_error(e.rows, e.n_rows, e.halves, e.exogenous)[1]
    found = [enough, *row_tests(e.rows, bound, "measurements"), *theory]
    found += shown(
        unchecked(
            "measurements are independent", "i.i.d.", f"{PAPER}, Theorem 4",
            "the order and origin of the measurements aren't known; near copies are counted above",
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
        return row_rule(e.rows, e.exogenous, "enough")
    halves = () if e.halves is None else ("halves",)
    return Rule("stream", ("enough", "seen_again", "falling", *halves))


def sensing_error(e: SensingEvidence) -> float | None:
    """Relative error of M; without rows to look at, what halves say."""
    if e.rows is None:
        return None if e.halves is None else 2 * e.halves
    return relative_error(e.rows, e.n_rows, e.halves, e.exogenous)[0]


SENSING = Family(
    claim=lambda e: (
        "This is the matrix that was measured, on the directions that the designs span."
        + slight_curves(
            e.rows,
            " A curve too slight to be seen counts into it: it is the matrix that comes closest to "
            "measurements like these.",
        )
    ),
    tests=sensing_tests,
    rule=sensing_rule,
    error=sensing_error,
    assumptions=lambda e: declared(e.exogenous, e.rows),
    advice=ADVICE,
    closer="guarantee(X, y, effort='full') compares fits on halves",
    otherwise="more measurements",
)
_NOT_SEEN = {
    **ADVICE,
    "seen_again": "'plausible' is the most that is said of this kind of model: compare predictions with "
    "values that were held out",
}
COMPLETION = replace(
    SENSING,
    advice=_NOT_SEEN,
    closer="guarantee((R, A, B), effort='full') compares fits on halves",
    claim=lambda e: "This is the true matrix, on the directions that the features of observed entries span.",
)
PHASE = replace(
    SENSING,
    advice=_NOT_SEEN,
    claim=lambda e: "This is the signal up to its sign or phase, if the measurements are random enough.",
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
