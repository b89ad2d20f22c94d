"""Sensing, completion and phase retrieval: what speaks for the recovered matrix or signal.

No rule without false claims was calibrated for these, so the verdict is 'plausible' at most.
"""

from __future__ import annotations

from altmin.guarantees.factorization_machine import PAPER
from altmin.guarantees.report import Condition, GuaranteeReport, check

_EXACT = 1e-10  # share of the mean square of y that is left where measurements have no noise


def sensing_report(
    *,
    n_rows: float,
    parameters: float,
    least_rows: float,
    loss: float,
    ratio: float,
    claim: str,
    spread: float | None = None,
    whitened: bool = False,
    excess: float | None = None,
) -> GuaranteeReport:
    """The report of a sensing problem.

    Parameters
    ----------
    n_rows : float
        Measurements that were read.
    parameters : float
        Free parameters of what was sought.
    least_rows : float
        Rows a parameter that are needed for a unique answer with some margin.
    loss : float
        Share of the mean square of y that is left on the last rows.
    ratio : float
        Prequential ratio on fresh batches; NaN where rows were reused.
    claim : str
        What is claimed to be found.
    spread : float or None
        ||S - I||_2 of the scaled designs.
    whitened : bool
        Whether they were whitened.
    excess : float or None
        Distance of the designs' fourth moment from that of a Gaussian.

    Returns
    -------
    GuaranteeReport
        'plausible' at most.
    """
    rows = [
        check(
            "measurements a parameter", "n / p", "identifiability", n_rows / max(parameters, 1.0),
            at_least=least_rows, decisive=True,
            meaning="With fewer, other answers fit the same measurements.",
        ),
        check(
            "loss", "rho", f"{PAPER}, Theorem 15", loss, at_most=_EXACT, decisive=True,
            meaning="Share of the mean square of y that is left: noise, too low a rank, or a wrong answer.",
        ),
        check(
            "error falls on fresh rows", "sqrt(rho_t+1 / rho_t)", f"{PAPER}, Theorem 1", ratio, at_most=0.75,
            meaning="Each batch of new rows removes a constant share of the error.",
        ),
        *_design_rows(spread, whitened, excess),
    ]  # fmt: skip
    enough, exact, falling = (row.status == "holds" for row in rows[:3])
    verdict = "plausible" if enough and (exact or falling) else "not supported"
    advice = "compare fits of two halves of the measurements" if verdict == "plausible" else rows[0].meaning
    if enough and verdict != "plausible":
        advice = "a higher rank, more measurements, or a look at the noise"
    return GuaranteeReport(verdict, tuple(rows), advice=advice, claim=claim)


def _design_rows(spread: float | None, whitened: bool, excess: float | None) -> list[Condition]:
    rows = []
    if spread is not None:
        rows.append(
            check(
                "white designs", "||S - I||_2", f"{PAPER}, Lemma 9", spread,
                at_most=float("inf") if whitened else 0.5,
                meaning="Whitened." if whitened else "Not whitened: whiten='auto' corrects that.",
            )
        )  # fmt: skip
    if excess is not None:
        rows.append(
            check(
                "Gaussian designs", "|E|x|^4 - Gaussian|", f"{PAPER}, Theorem 4", excess, at_most=0.5,
                meaning="The stream algorithm is derived for Gaussian designs; the polish isn't.",
            )
        )  # fmt: skip
    return rows
