"""Rules that machines and sensing share: do rows fix the parameters, and is what they leave over noise?"""

from __future__ import annotations

import numpy as np

from altmin.guarantees.contract import Rule, Test, whole
from altmin.guarantees.machine_rows import RowEvidence
from altmin.guarantees.measurements import Measured
from altmin.guarantees.residuals import EVEN, EXACT

EXACT_LOSS = 1e-10  # share of the mean square of y that is left where measurements have no noise
_MOST_ERROR = 0.075
_OTHER = 0.05  # of the model, which rows of another law may have moved it
_OTHER_UNSEEN = 0.12  # of the model, which they could have moved it and not show, where none shows
_IDENTIFIED = ("identifiable", "distinct", "error")
_NOISE = (
    "no_further_shape",
    "no_further_pattern",
    "no_further_step",
    "no_further_product",
    "no_further_direction",
    "no_further_rank",
    "centred",
    "own_targets",
    "sharp",
    "one_law",
    "no_hidden_law",
    "still",
)
_UNTESTED = ("exact_features", "no_hidden_cause")  # what 'exogenous' declares
_NOISY_FEATURES = ("no_noise_in_features", "even_noise")
_SURELY = 4.5  # deviations of chance from which a further step is no chance
_HIDDEN, _GROWS = 0.05, 5.0  # share of the model that noise in a feature may hide; |t| of r^2 on gradients
_EXOGENOUS = "No unobserved cause affects both the features and the target"
ADVICE = {
    "identifiable": "several formulas fit equally well, as columns are collinear: drop some",
    "distinct": "more distinct rows: with few, a model of this rank fits noise as well",
    "error": "more rows, or less noise",
    "no_further_shape": "y isn't quadratic in these features: add terms or features, or transform y",
    "no_further_pattern": "y isn't quadratic in these features: add terms or features, or transform y",
    "no_further_step": "y isn't quadratic in these features: add terms or features, or transform y",
    "no_further_product": "y holds products of three features: add them as columns",
    "no_further_direction": "y isn't quadratic in these features: add terms or features, or transform y",
    "no_further_rank": "products of two features are missing: a larger rank",
    "centred": "some targets may be lost or those of other rows: look at the rows with the largest residuals",
    "own_targets": "targets follow the rows next to them: they may stand in the wrong row, or be averages",
    "one_law": "some rows may follow a law of their own: look at those with large residuals for what "
    "tells them apart, and fit them separately",
    "no_hidden_law": "more rows: a second law in some of them could hide in the noise",
    "sharp": "more rows: a term that isn't quadratic could hide in the noise",
    "no_noise_in_features": "the features were measured with error, which distorts the coefficients: measure "
    "them more exactly",
    "columns": "drop constant or redundant columns: they have no coefficient of their own",
    "two_valued": "a smaller rank, or less noise: what follows from the rank alone could be anything",
    "enough": "more measurements: with few, other answers fit them as well",
    "loss": "something is left over: noise, too low a rank, or a wrong answer",
    "seen_again": "call guarantee(X, y) with rows that can be read again, if there are few enough parameters",
    "rows_per_parameter": "more rows: with few, a boundary of this rank separates noise as well",
    "classes_differ": "the labels hardly depend on the features",
    "halves": "fits on halves disagree: more rows",
    "still": "early and late rows disagree: fit them separately",
    "even_noise": "noise depends on the features: if they are exact, declare guarantee(X, y, "
    "assume='exogenous')",
    "exact_features": "noise in a feature can't be excluded: if there is none, declare guarantee(X, y, "
    "assume='exogenous')",
    "no_hidden_cause": "a hidden cause can't be excluded at this noise: if there is none, declare "
    "guarantee(X, y, assume='exogenous')",
}


def relative_error(
    e: RowEvidence | Measured, n_rows: float, halves: float | None, exogenous: bool
) -> tuple[float, float]:
    """Estimated error, and what it stays below in nine of ten cases: noise, and the way to least squares.

    Where noise depends on the features, the little that noise in one of them could hide is an error, too.
    """
    scale = np.sqrt(e.n_sample / max(n_rows, 1)) * np.sqrt(max(n_rows / max(e.distinct, 1), 1.0))
    noise = e.noise_error * scale
    if halves is not None and _noisy(e):  # without noise fewer rows prove nothing that all don't
        noise = max(noise, 0.5 * halves)
    counts = not exogenous and _noisy(e) and not _even(e) and e.attenuation <= _HIDDEN
    hidden = e.attenuation if counts else 0.0
    other = e.other_law if _noisy(e) else 0.0
    error = float(np.linalg.norm([noise, e.step, hidden, other]))
    bound = float((1.3 + e.vagueness) * noise + e.step + hidden)
    return error, max(bound, error) if other <= _OTHER else bound  # beyond that another test speaks of it


def row_tests(e: RowEvidence | Measured, bound: float, found: str) -> list[Test]:
    """Whether the rows fix the parameters, and whether what they leave over is noise."""
    tests = [
        whole("rows tell all coefficients apart", "smallest / largest effect", e.conditioning, at_least=0.01,
              id="identifiable",
              meaning="Features that go together, or few rows, leave coefficients that can't be told apart."),
        whole(f"enough distinct {found} for each coefficient", "rows / coefficient",
              e.distinct / e.parameters,
              at_least=1.5 if e.left <= EXACT else 3.0, id="distinct",
              meaning="With fewer, a model of this rank fits noise as well."),
        whole("coefficients are accurate" if found == "rows" else "the matrix is accurate", "relative, 90 %",
              bound,
              at_most=_MOST_ERROR, id="error",
              meaning="Relative error that noise leaves in the coefficients of standardised features, in "
              "nine of ten cases; more rows make it smaller."),
    ]  # fmt: skip
    return [*tests, *_noise_tests(e, found)] if _noisy(e) else tests


def _noise_tests(e: RowEvidence | Measured, found: str) -> list[Test]:
    machine = found == "rows"
    where = "features" if machine else "designs"
    return [
        whole("what is left over follows no curve", "largest / chance", e.misfit.shape, at_most=1.2,
              id="no_further_shape",
              otherwise="contradicted",
              meaning="The residuals follow a curve, a kink or a wave of the features."),
        whole("what is left over is no sum of slight curves", "sum / chance", e.misfit.pattern,
              at_most=5.0, id="no_further_pattern",
              otherwise="contradicted",
              meaning="Many further functions of the features explain a little of the residuals each."),
        whole("what is left over doesn't jump", "sum / chance", e.misfit.steps, at_most=3.7,
              id="no_further_step",
              otherwise="contradicted" if e.misfit.steps > _SURELY else "plausible",
              meaning="Residuals differ between the sides of planes: a jump, a kink or a bend along some "
              f"direction of the {where}."),
        whole("no product of three is missing", "largest / chance", e.misfit.product, at_most=1.45,
              id="no_further_product", otherwise="contradicted",
              meaning=f"Products of three {where} are left in the residuals."),
        whole("what is left over doesn't bend", "largest / chance", e.misfit.ridge, at_most=1.45,
              id="no_further_direction", otherwise="contradicted",
              meaning=f"Residuals bend along some direction of the {where}: a jump, a saturation, a wave."),
        whole("no product of two is missing",
              "largest / chance", e.misfit.rank, at_most=1.5,
              id="no_further_rank", otherwise="contradicted",
              meaning="With too low a rank, products of two are left in the residuals."),
        whole("residuals are centred along the prediction", "|t|", e.misfit.middle, at_most=4.0,
              id="centred", otherwise="plausible",
              meaning="Most residuals lean one way and a few far the other way where predictions are large: "
              "some targets may be lost, or those of other rows, which makes coefficients too small."),
        whole("targets stand in their own rows", "|t|", e.misfit.neighbour, at_most=4.5, id="own_targets",
              otherwise="plausible",
              meaning="Residuals follow the predictions of the rows next to them: targets were moved or "
              "averaged, which makes coefficients too small."),
        whole("a further term would show", "unseen", e.misfit.unseen / max(e.size, 1e-300), at_most=0.1,
              id="sharp", meaning="Size of a term that could hide in the noise, over that of the model."),
        whole("rows follow one law", "relative", e.other_law, at_most=_OTHER, id="one_law",
              otherwise="plausible",
              meaning="How far the model is off if residuals are large where they are because some rows (two "
              "fifths at most) follow another law, unless their shape says that noise is uneven by itself."),
        whole("another law of some rows would show", "seen and unseen", _other_laws(e), at_most=1.0,
              id="no_hidden_law",
              meaning="How far rows of another law (two fifths at most) may have moved the model, by what "
              "shows in the size of the residuals and by what would not, as a share of what is allowed."),
        whole(f"no noise in the {where}", "|t| of r^2", e.gradient_t, at_most=_GROWS,
              id="no_noise_in_features", otherwise="contradicted",
              meaning=f"Residuals are larger where the prediction is steep: the {where} carry noise, and "
              "that makes coefficients too small."),
        whole("early and late rows agree", "drift", e.drift, at_most=1.0, id="still",
              otherwise="contradicted",
              meaning="Difference of the models of early and late rows, over what noise explains."),
        whole(f"noise doesn't depend on the {where}", "r^2 of x x'", e.white, at_most=EVEN, id="even_noise",
              otherwise="plausible",
              meaning=f"The noise varies with the {where}: they may have been measured with error."),
        whole(f"noise in the {where} would be noticed", "attenuation", e.attenuation, at_most=_HIDDEN,
              id="exact_features", otherwise="plausible",
              meaning=f"Share of the model that noise in one of the {where} could hide unnoticed."),
        whole("only a strong hidden cause could mislead", "robustness", e.robustness, at_least=0.15,
              id="no_hidden_cause", otherwise="plausible",
              meaning="Share of the noise and of a feature that a hidden cause needs to explain to move the "
              "model by a tenth."),
    ]  # fmt: skip


def row_rule(e: RowEvidence | Measured, exogenous: bool, *needs: str) -> Rule:
    """Parameters must be fixed; with noise, the rest must look like it."""
    if not _noisy(e):
        return Rule("exact", (*_IDENTIFIED, *needs))
    noise = tuple(id for id in _NOISE if id != "no_hidden_law" or e.other_law <= _OTHER)
    untested: tuple[str, ...] = () if exogenous else _UNTESTED
    if untested and not e.attenuation <= _HIDDEN:
        untested = (*_NOISY_FEATURES, *untested)  # do they tell what is hidden there?
    return Rule("noisy", (*_IDENTIFIED, *noise, *untested, *needs))


def _other_laws(e: RowEvidence | Measured) -> float:
    """What shows of another law, and what could hide, as shares of what they may be, together.

    Each alone may be chance; where both come near their bounds, most often neither is.
    """
    return float(np.hypot(e.other_law / _OTHER, e.hidden_law / _OTHER_UNSEEN))


def _noisy(e: RowEvidence | Measured) -> bool:
    return e.left > max(EXACT, 4 * e.step**2)


def _even(e: RowEvidence | Measured) -> bool:
    return e.white <= EVEN and e.gradient_t <= _GROWS


def declared(exogenous: bool, rows: RowEvidence | Measured | None) -> tuple[str, ...]:
    """What data can't decide, in sentences; without noise there is nothing that a hidden cause could be."""
    if exogenous:
        return (f"{_EXOGENOUS}, and features are exact (declared).",)
    return (f"{_EXOGENOUS}.",) if rows is None or _noisy(rows) else ()


def slight_curves(rows: RowEvidence | Measured | None, sentence: str) -> str:
    """What a claim says about curves below the noise; without any noise none could hide."""
    return sentence if rows is None or _noisy(rows) else ""


def enough_test(n_rows: float, parameters: float, found: str) -> Test:
    """Whether there are more rows than a model of this size fits whatever they are."""
    return whole(
        f"enough {found} for each parameter", "n / p", n_rows / max(parameters, 1.0), at_least=3.0,
        id="enough",
        reference="identifiability", meaning=f"With fewer, other answers fit the same {found}.",
    )  # fmt: skip


def stream_tests(ratio: float, loss: float) -> list[Test]:
    """What may be said of rows that are gone."""
    return [
        whole("rows were looked at again", "rows", 0.0, at_least=1.0, id="seen_again", otherwise="plausible",
              meaning="None was: those of a stream are gone, or parameters are too many, or this estimator "
              "can't. Whether what is left over is noise isn't known."),
        whole("the error fell on rows not seen before, or is gone", "fall",
              0.0 if loss <= EXACT_LOSS else ratio,
              at_most=0.75, id="falling",
              meaning="Factor from one batch of new rows to the next: each should remove a share of the "
              "error."),
    ]  # fmt: skip


def halves_test(apart: float, bound: float) -> Test:
    """Agreement of fits on halves."""
    return whole(
        "fits on halves agree", "halves", apart, at_most=bound, id="halves",
        meaning="Largest relative difference of fits on halves of the rows from the fit.",
    )  # fmt: skip


def prequential_ratio(losses: list[float], fresh: int) -> float:
    """Median fall of the error from one fresh batch to the next, before the floor was reached."""
    rho = np.maximum(np.asarray(losses[:fresh], dtype=np.float64), 1e-300)
    rho = rho[: int(np.argmin(rho)) + 1] if len(rho) else rho
    if len(rho) < 3:
        return float("nan")
    return float(np.median(np.sqrt(rho[1:] / rho[:-1])))
