"""What speaks for a machine that classifies: plausible at most, as no theorem covers the link."""

from __future__ import annotations

from altmin.algorithms.quadratic.lens import Lens
from altmin.guarantees.quadratic_theory import PAPER, feature_rows
from altmin.guarantees.report import GuaranteeReport, check, unchecked

CLAIM = "the log odds b + x'w + x'Mx up to what logistic regression shrinks; not the factors"


def classifier_report(
    lens: Lens, *, n_rows: float, parameters: float, gain: float, halves: float | None = None
) -> GuaranteeReport:
    """The report of a classifier.

    Parameters
    ----------
    lens : Lens
        Moments and correlation of the features.
    n_rows : float
        Rows that were read.
    parameters : float
        Coefficients of the logistic regression.
    gain : float
        Twice the gain in log likelihood over the shares of the classes, a parameter: 1 for noise.
    halves : float or None
        Relative difference of the log odds of fits on halves; full effort.

    Returns
    -------
    GuaranteeReport
        'plausible' at most, and only with full effort.
    """
    rows = [
        check(
            "rows a parameter", "n / p", "evidence", n_rows / max(parameters, 1), at_least=10.0,
            decisive=True, meaning="With fewer a boundary of this rank separates noise as well.",
        ),
        check(
            "classes differ", "2 gain / p", "evidence", gain, at_least=4.0, decisive=True,
            meaning="Gain in log likelihood over knowing nothing; about 1 for labels without any law.",
        ),
        *feature_rows(lens, raw=False),
        unchecked(
            "y = b + x'w + x'Mx + noise", "link", f"{PAPER}, Theorem 1",
            "labels pass through a link: the span of M's eigenvectors survives it, its eigenvalues don't",
        ),
    ]  # fmt: skip
    if halves is not None:
        rows.insert(2, check(
            "halves agree", "halves", "evidence", halves, at_most=0.3, decisive=True,
            meaning="Relative difference of the log odds of fits on halves of the rows.",
        ))  # fmt: skip
    broken = [row.meaning for row in rows if row.decisive and row.status != "holds"]
    plausible = halves is not None and not broken
    advice = " ".join(broken) or "guarantee(X, y, effort='full') compares fits on halves."
    if plausible:
        advice = "No theorem covers the link: judge it by held-out rows."
    verdict = "plausible" if plausible else "not supported"
    return GuaranteeReport(verdict, tuple(rows), "cheap" if halves is None else "full", halves, advice, CLAIM)
