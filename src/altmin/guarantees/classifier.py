"""Classifiers: no theorem covers the link, so 'plausible' is the most that is said."""

from __future__ import annotations

from altmin.algorithms.quadratic.lens import Lens
from altmin.guarantees.contract import Family, Rule, Test, shown, whole
from altmin.guarantees.quadratic_rules import ADVICE, halves_test
from altmin.guarantees.quadratic_theory import PAPER, feature_rows
from altmin.io.records import record


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


def classifier_tests(e: ClassifierEvidence) -> list[Test]:
    """Of the number of rows, of the classes, of the features."""
    link = whole(
        "labels show the sizes of coefficients", "link", None, id="link", reference=f"{PAPER}, Theorem 1",
        otherwise="plausible",
        meaning="Labels depend on the quadratic through odds: which directions matter is found, how much "
        "each does may be off, and no test tells. So 'plausible' is the most that is said.",
    )  # fmt: skip
    return [
        whole("enough rows for each parameter", "n / p", e.n_rows / max(e.parameters, 1), at_least=10.0,
              id="rows_per_parameter",
              meaning="With fewer, a boundary of this rank separates noise as well."),
        whole("labels depend on the features", "2 gain / p", e.gain, at_least=4.0, id="classes_differ",
              otherwise="contradicted",
              meaning="Gain in log likelihood over knowing nothing; about 1 for labels without any law."),
        *([] if e.halves is None else [halves_test(e.halves, 0.3)]),
        link,
        *shown(*feature_rows(e.lens, raw=False)),
    ]  # fmt: skip


CLASSIFIER: Family[ClassifierEvidence] = Family(
    claim=lambda e: (
        "The log odds are this quadratic in the features, up to what logistic regression shrinks."
    ),
    tests=classifier_tests,
    rule=lambda e: Rule("halves", ("rows_per_parameter", "classes_differ", "halves", "link")),
    error=lambda e: e.halves,
    advice=ADVICE,
    closer="guarantee(X, y, effort='full') compares fits on halves",
    otherwise="no more than this can be said of labels: compare predictions with rows that were held out",
)
