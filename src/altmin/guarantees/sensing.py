"""Sensing, completion and phase retrieval: what speaks for the recovered matrix or signal.

'recovered' needs measurements that can be looked at again (:mod:`altmin.guarantees.measurements`), as
:class:`altmin.RankOneSensing` offers them; without them the verdict is 'plausible' at most.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from altmin.guarantees.measurements import Measured
from altmin.guarantees.quadratic_theory import PAPER
from altmin.guarantees.report import Condition, GuaranteeReport, check, unchecked

_EXACT_RESIDUAL = 1e-6  # relative residual below which nothing is left to test
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
    evidence: Measured | None = None,
    halves: float | None = None,
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

    evidence : Measured or None
        Of the measurements, looked at again; None: 'plausible' at most.
    halves : float or None
        Worst relative difference of fits on halves from the fit: full effort.

    Returns
    -------
    GuaranteeReport
        'recovered' only by the calibrated rule.
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
        *_design_rows(spread if evidence is None else evidence.spread, whitened, excess),
    ]  # fmt: skip
    enough, exact, falling = (row.status == "holds" for row in rows[:3])
    verdict = "plausible" if enough and (exact or falling) else "not supported"
    error = None
    if evidence is not None:
        judged, error = _judged(evidence, n_rows, halves)
        rows = [row if row.symbol != "rho" else replace(row, decisive=False) for row in rows]
        rows += [*judged, *_independence(evidence)]
        verdict = _verdict(judged, evidence, error)
    advice = _advice(verdict, rows, evidence, halves)
    effort = "cheap" if halves is None else "full"
    return GuaranteeReport(verdict, tuple(rows), effort, error, advice, claim)


def _independence(evidence: Measured) -> list[Condition]:
    rows = [
        unchecked(
            "measurements are independent", "i.i.d.", f"{PAPER}, Theorem 4",
            "the order and origin of the measurements aren't known; near copies are counted in n_eff / p",
        )
    ]  # fmt: skip
    if evidence.design_t is not None:
        rows.append(
            check(
                "left and right designs are independent", "|t| of u v", f"{PAPER}, Section 4",
                evidence.design_t, at_most=5.0,
                meaning="Largest correlation of a left and a right column; the start needs them apart.",
            )
        )  # fmt: skip
    return rows


def _verdict(judged: list[Condition], evidence: Measured, error: float) -> str:
    held = {row.symbol: row.status == "holds" for row in judged}
    if all(held.values()):
        return "recovered"
    identified = held["sigma_min / sigma_max of J"] and held["n_eff / p"]
    noise = evidence.worst_t <= 5 and held["||sum r u v'|| / permuted"] if "|t|" in held else True
    return "plausible" if identified and noise and error < 0.1 else "not supported"


def _advice(verdict: str, rows: list[Condition], evidence: Measured | None, halves: float | None) -> str:
    if verdict == "recovered":
        return ""
    broken = [row for row in rows if row.decisive and row.status == "violated"]
    if broken:
        return broken[0].meaning
    if evidence is None:
        return "compare fits of two halves of the measurements"
    return "more measurements" if halves is not None else "guarantee(X, y, effort='full') compares halves"


def _judged(e: Measured, n_rows: float, halves: float | None) -> tuple[list[Condition], float]:
    """The rows that the verdict rests on, and the estimated error."""
    copies = np.sqrt(max(n_rows / max(e.distinct, 1), 1.0))
    scale = np.sqrt(e.n_sample / max(n_rows, 1))
    error = float(3 * e.noise_error * scale * copies + e.step)
    if halves is not None:
        error = min(error, max(halves, 2 * e.noise_error * scale) + e.step)
    rows = [
        check(
            "parameters are identifiable", "sigma_min / sigma_max of J", "evidence",
            min(e.conditioning, 1e3 * e.raw_conditioning), at_least=0.01, decisive=True,
            meaning="Collinear or too few designs leave directions that no measurement can tell apart.",
        ),
        check(
            "distinct measurements a parameter", "n_eff / p", "evidence", e.distinct / e.parameters,
            at_least=1.5 if e.residual <= _EXACT_RESIDUAL else 3.0, decisive=True,
            meaning="With fewer measurements a matrix of this rank fits noise as well.",
        ),
        check(
            "error of M", "3 sigma ||J^+||_F + ||J^+ r||", "evidence", error, at_most=0.05, decisive=True,
            meaning="Relative; noise, and how far the fit is from the least squares solution.",
        ),
    ]  # fmt: skip
    if e.residual > max(_EXACT_RESIDUAL, 4 * e.step**2):
        rows += [
            check(
                "no further shape", "|t|", "evidence", e.worst_t, at_most=4.5, decisive=True,
                meaning="An offset, linear or other terms are left: y isn't the measurement of a matrix.",
            ),
            check(
                "no further rank", "||sum r u v'|| / permuted", "evidence", e.moment_ratio, at_most=2.0,
                decisive=True, meaning="The rank is too low, or small singular values were missed.",
            ),
            check(
                "no noise in the designs", "|t| of r^2", "evidence", e.gradient_t, at_most=5.0, decisive=True,
                meaning="Residuals grow with the gradient: designs carry noise, and M is shrunk.",
            ),
        ]  # fmt: skip
    return rows, error


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
