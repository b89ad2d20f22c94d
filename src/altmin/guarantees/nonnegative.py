"""Whether AND found the features: the conditions of Li and Liang 2017, and the evidence that discriminates.

The theorems' conditions hold where the algorithm fails and fail where it works (their constants are
unknown), so they are shown for information. The verdict rests on whether the data pin the cone down:

- a facet (the samples without component i) fixes its hyperplane only if its samples span it,
- each pair of components must be told apart by samples that have the one without the other,
- decoded weights must not be negative, the data must be explained, samples must be distinct,
- with ``effort="full"``: fits on disjoint halves and from other starts must agree with the fit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.guarantees.cone_entries import Entries
from altmin.guarantees.cone_rest import NOISELESS, ROOM
from altmin.guarantees.cone_shape import ConeShape
from altmin.guarantees.contract import Family, Rule, Table, Test, each, shown, whole
from altmin.guarantees.missing import HOLES, Holes, hole_conditions
from altmin.guarantees.nonnegative_theory import theory_rows
from altmin.io.records import record

_TYPICAL, _BOUND = 0.7, 1.3  # of what halves and samples drawn from the fit make of an error: mean, 90 %
_SHORT, _WIDE = 0.25, 1.25  # error that a share of others in purest samples leaves open; 90 % over the mean
_CURVED, _BY_ENTRY = 3.0, 3.5  # |t| up to which samples are sums; the same of counts, of eight numbers
_SEEN = 5.0  # deviations of a curve that would be seen; by entry those that its test asks for
_PAIR, _ANY_PAIR = 4.0, 2.8  # deviations of one product of codes; of the worst of all of them
_SHAPE = ("independent", "none_empty", "piled_up", "few_outliers", "none_left_out", "n_eff")
_EXACT = (*_SHAPE, "signs", "span", "pairs", "negative", "residual", "unique")
_NOISY = (
    *_SHAPE, "span_at_noise", "pairs_at_noise", "halves", "restarts", "noise_left", "signs_of_noise",
    "again", "straight", "curve_seen", "none_multiply", "no_constant", "no_drift", "uncut", "none_lost",
    "unique", "told_apart",
)  # fmt: skip


@record
class ConeEvidence:
    """All that a report of AND rests on.

    Parameters
    ----------
    shape : ConeShape or None
        None where no codes were kept (a stream): nothing is then supported.
    residual : float
        Norm of what is left over, relative to the data's.
    noise : float or None
        Estimated norm of a sample's noise, relative to a sample's.
    start, outside : float or None
        Of a given start: l of Definition 2 and rho of Definition 4, see :func:`start_quality`.
    dropped : float
        Share of the samples that were screened out.
    halves, restarts : ndarray of shape (n_components,) or None
        Largest sine between a component and those of fits on disjoint halves, and from other starts: full
        effort.
    again : ndarray of shape (n_components,) or None
        Sine between a component and that of a fit to samples drawn from the model: full effort.
    informed : ndarray of shape (n_components,) or None
        Error of each component that noise leaves where its purest samples fix it: cheap effort, where such
        samples are declared.
    at_noise : ConeShape or None
        With codes as small as that disagreement or error taken for zero; what noise asks for.
    structured : float or None
        Largest singular value of what is left over, over that of noise of the same size.
    drifting : float or None
        How far what is left over follows the order of samples, in deviations.
    excess : float or None
        Size of negative codes over what noise outside the span lets expect.
    curved : float or None
        |t| of what is left over on squares, roots, powers and steps of the fitted values.
    unseen : float or None
        Error of the components that a power makes which shows by one standard deviation.
    multiplied : float or None
        How far what is left over follows products of two codes, in deviations.
    constant : float or None
        The t of a constant, a slope or a slow wave of its own in each sample, in what is left over.
    cut : float or None
        Share of the entries that are piled up at one value.
    lost : float or None
        Share of the entries that are 0 where much was expected.
    entries : Entries or None
        Of counts, where somebody asks for a report: the same, with each entry in units of its own noise.
    holes : dict or None
        How many entries are missing, and how well the others fix the model.
    room : ndarray of shape (n_components,) or None
        How far the cone can grow beyond the facet opposite to each component and stay non-negative.
    pure : bool
        Whether it is assumed that each feature occurs nearly alone in some samples.
    """

    shape: ConeShape | None
    residual: float
    noise: float | None = None
    start: float | None = None
    outside: float | None = None
    dropped: float = 0.0
    halves: Any = None
    restarts: Any = None
    again: Any = None
    informed: Any = None
    at_noise: ConeShape | None = None
    structured: float | None = None
    drifting: float | None = None
    excess: float | None = None
    curved: float | None = None
    unseen: float | None = None
    multiplied: float | None = None
    constant: float | None = None
    cut: float | None = None
    lost: float | None = None
    entries: Entries | None = None
    holes: Holes | None = None
    room: Any = None
    pure: bool = False


def tests(e: ConeEvidence) -> list[Test]:
    """What the verdict rests on, then what the theorems ask for."""
    found = [] if e.holes is None else [Test(row) for row in hole_conditions(e.holes)]
    if e.shape is None:
        nothing = dict.fromkeys(("r", "k", "m", "lambda", "q", "D", "between"), np.nan)
        unknown: dict[str, Any] = dict.fromkeys(("negative", "smallest", "condition"))
        theory = theory_rows(nothing, noise=e.noise, start=e.start, outside=e.outside, **unknown)
        return [*found, *shown(*theory)]
    found += [*_shape_tests(e.shape, e), *_fit_tests(e.shape, e), _uniqueness(e.at_noise or e.shape, e)]
    if e.structured is not None:
        found += _rest_tests(e)
    if e.halves is not None or e.informed is not None:
        found += _stability(e, e.at_noise or e.shape)
    facts = {name: getattr(e.shape, name) for name in ("negative", "smallest", "condition")}
    theory = theory_rows(e.shape.weights, noise=e.noise, start=e.start, outside=e.outside, **facts)
    return [*found, *shown(*theory)]


def rule(e: ConeEvidence) -> Rule:
    """Without noise the data's shape is enough; with noise fits must agree as well."""
    exact = e.shape is None or (
        e.residual <= NOISELESS or (e.halves is None and e.residual <= 0.01 and _small(e.shape))
    )
    left_out = {"halves", "restarts"} if e.halves is None and e.informed is not None else set()
    if e.again is None:
        left_out |= {"again"}
    elif e.entries is not None:
        left_out |= {"halves"}  # they are a part of 'again'
    needs = _EXACT if exact else tuple(name for name in _NOISY if name not in left_out)
    if not exact and e.halves is None and e.informed is not None:
        needs = (*needs, "informed")
    if e.pure:
        needs = (*(name for name in needs if name != "unique"), "pure", *(() if exact else ("corners",)))
    if exact and e.constant is not None and e.residual > NOISELESS:
        needs = (*needs, "no_constant", "no_drift")
    return Rule("exact" if exact else "noisy", needs if e.holes is None else (*needs, *HOLES, "completed"))


def _small(s: ConeShape) -> bool:
    return 2 * s.weights["D"] * s.negative <= 0.01


def errors(e: ConeEvidence) -> tuple[NDArray[Any], NDArray[Any]]:
    """Of each component: without noise from the most negative weight, otherwise from the halves.

    Where it isn't declared that there are pure samples, the true cone may fill the room that is left. Where
    it is, a component whose purest samples hold something of others is fixed by them only as far as that.
    """
    assert e.shape is not None
    k = len(e.shape.carried)
    growth = np.zeros(k) if e.pure else _growth(e)
    growth = np.where(growth <= ROOM, growth, 0.0)  # of the smallest cone, where there is more room
    if rule(e).name == "exact":
        error = np.full(k, 2 * e.shape.weights["D"] * e.shape.negative) + growth
        return error, error
    if e.halves is None and e.informed is None:
        return np.full(k, np.nan), np.full(k, np.nan)
    if e.halves is None:
        error = np.hypot(e.informed, _SHORT * (e.at_noise or e.shape).slack)
        return error + growth, _WIDE * error + growth
    noise = _at_least_typical(e.halves)
    found = np.hypot(noise, noise if e.again is None else _at_least_typical(e.again))
    return _TYPICAL * found + growth, _BOUND * found + growth


def _at_least_typical(apart: NDArray[Any]) -> NDArray[Any]:
    """Two fits alone say little of one component: at least the mean of its own square and a typical one."""
    return np.maximum(apart, np.sqrt((apart**2 + np.median(apart) ** 2) / 2))


def error(e: ConeEvidence) -> float | None:
    """Of the worst component."""
    worst = np.nan if e.shape is None else float(np.max(errors(e)[0]))
    return None if np.isnan(worst) else worst


def table(e: ConeEvidence) -> Table | None:
    """Error, bound and samples of each component."""
    return None if e.shape is None else Table(*errors(e), e.shape.carried)


def claim(e: ConeEvidence) -> str:
    """What is claimed; components in constant proportion count as one."""
    text = "Every sample is a mixture of these components, and no narrower set of them would do."
    if e.pure:
        return f"{text} Under the declared assumption they are the features that made the samples."
    if e.shape is not None and float(np.max(_growth(e))) <= ROOM:
        return f"{text} No other non-negative features explain the samples, so these made them."
    return (
        f"{text} That they are the features that made the samples assumes that each feature occurs nearly "
        "alone in some of them."
    )


def assumptions(e: ConeEvidence) -> tuple[str, ...]:
    """What data can't decide."""
    found: tuple[str, ...] = ("Features that always occur in the same proportion count as one.",)
    return ("Each feature occurs nearly alone in some samples (declared).", *found) if e.pure else found


NONNEGATIVE = Family(
    claim=claim,
    tests=tests,
    rule=rule,
    error=error,
    table=table,
    assumptions=assumptions,
    advice={
        "none_empty": "use fewer components",
        "span": "the samples don't determine the components: give a start (init=), or more samples",
        "span_at_noise": "the samples don't determine the components: give a start (init=), or more samples",
        "pairs": "some components never occur without others: more samples, or fewer components",
        "pairs_at_noise": "some components never occur without others: more samples, or fewer components",
        "piled_up": "weights look binary: give a start (init=)",
        "independent": "two components are nearly the same: use fewer components",
        "signs": "weights have both signs: a dictionary (CompleteDictionaryLearning) may be the right model",
        "n_eff": "there are too few distinct samples: more of them, or fewer components",
        "unique": "if each feature occurs nearly alone in some samples, declare it: "
        "guarantee(X, assume='pure')",
        "pure": "some components have no nearly pure sample, though it was declared: leave assume= away",
        "none_left_out": "look at the samples in outlier_mask_: another component may be in them",
        "few_outliers": "many samples contradict the model: use more components, or look at outlier_mask_",
        "noise_left": "what is left over has structure: try more components",
        "signs_of_noise": "some samples can't be such mixtures: try more components, or give a start (init=)",
        "no_constant": "a background of its own was added to each sample: take it away first",
        "no_drift": "features change from the first to the last sample: fit parts of them by themselves",
        "uncut": "values were cut at a level, or filled in: leave out samples or features that reach it",
        "curve_seen": "noise would hide values that saturate: more samples, or less noise",
        "none_lost": "some values are 0 where much was expected: if they were lost, leave them out "
        "(missing='mask')",
        "straight": "samples may be no sums of components: undo what saturates or distorts the features",
        "none_multiply": "two components leave something of their own where they occur together: samples "
        "aren't sums, a component is missing, or values were rounded coarsely",
        "told_apart": "two components are too close for this noise: use one fewer, or more precise data",
        "corners": "the components lie beyond their purest samples: pure samples may not be there, so leave "
        "assume= away, or add purer samples",
        "halves": "fits on halves disagree: more samples, or another number of components",
        "again": "noise moves the components: more samples, or less noise",
        "restarts": "fits from other starts find other components: give a start (init=), or try another "
        "number of components",
        "fixed_by_entries": "entries are missing: observe more of them, or use fewer components",
        "completed": "entries are missing, and of such data no more than 'plausible' is said: fit the "
        "complete samples alone if there are enough of them",
        "every_feature": "some features are hardly observed: leave them out",
        "samples_say_enough": "many samples have too few observed entries: leave them out",
    },
    otherwise="more samples or less noise: the pattern is visible, but not clear enough",
)


def _shape_tests(s: ConeShape, e: ConeEvidence) -> list[Test]:
    """Whether the samples, and the components themselves, can pin a cone down at all."""
    D, distinct = int(s.weights["D"]), (e.at_noise or s).distinct
    return [
        whole("samples without a component are varied", "span", s.span * np.sqrt(max(D - 1, 1)),
              at_least=0.25, id="span",
              meaning="Samples that lack a component show where its share is zero. They have to be varied "
              "enough to fix that boundary (1: evenly)."),
        whole("each component occurs without each other one", "samples", s.pairs, at_least=5, id="pairs",
              meaning="Samples that have one component and lack another, for the pair with fewest."),
        whole("components differ", "condition number", s.condition, at_most=1e6, id="independent",
              otherwise="contradicted", meaning="Nearly equal components can't be told apart."),
        whole("no component is empty", "empty ones",
              float(s.empty) if distinct >= len(s.carried) else None, at_most=0,
              id="none_empty", otherwise="contradicted",
              meaning="An empty component says that fewer are enough for these samples."),
        whole("samples don't pile up at a mixed composition", "negative entries",
              s.negative_mass if s.piled else 0.0,
              at_most=0.02, id="piled_up", otherwise="plausible",
              meaning="Many samples have the same largest share of a component, and none is that component "
              "alone: if components may have negative entries, the true one may lie elsewhere."),
        whole("shares are not negative", "negative energy", s.negative_share, at_most=0.05, id="signs",
              otherwise="contradicted",
              meaning="How much of a component's use has a negative sign; mixtures have none."),
        whole("few samples contradict the model", "outliers", e.dropped, at_most=0.1, id="few_outliers",
              otherwise="contradicted",
              meaning="Share of the samples that were left out as gross outliers."),
        whole("nothing is missing: no sample was left out", "left out", e.dropped, at_most=0.01,
              id="none_left_out", otherwise="plausible",
              everywhere=e.residual > NOISELESS,  # what is left over may be of more samples like these
              meaning="Samples that were left out as outliers may be made of a feature that is missing."),
        whole("samples are distinct", "samples", distinct, at_least=3 * D, id="n_eff",
              meaning="Copies of a sample carry no information, so only one of them is counted."),
    ]  # fmt: skip


def _fit_tests(s: ConeShape, e: ConeEvidence) -> list[Test]:
    """How exactly the fitted cone holds the samples; of noise other tests take account."""
    most = 0.01 if rule(e).name == "exact" else None
    found = [
        whole("no sample needs a negative share", "error", 2 * s.weights["D"] * s.negative, at_most=most,
              id="negative",
              meaning="Error of the components that the most negative share suggests: samples that lie "
              "outside of all mixtures need negative shares."),
        whole("nothing is missing: the data are explained", "left over", e.residual, at_most=most,
              id="residual", everywhere=False, otherwise="contradicted",
              meaning="Share of the data, in norm, that mixtures of the components leave over."),
    ]  # fmt: skip
    if e.holes is not None:
        found.append(
            whole("entries are complete", "observed", e.holes["share"], at_least=1.0, id="completed",
                  otherwise="plausible",
                  meaning="Where entries are missing nothing above 'plausible' has been tested.")
        )  # fmt: skip
    return found


def _uniqueness(s: ConeShape, e: ConeEvidence) -> Test:
    """Whether another cone explains the samples as well: by its room, or by a declared assumption."""
    if e.pure:
        return each(
            "nearly pure samples are there", "samples", s.pure, at_least=3, id="pure",
            otherwise="plausible", against="no nearly pure sample",
            meaning="Samples of which a component has at least 95 % (90 % with noise), as was declared.",
        )  # fmt: skip
    return each(
        "no other non-negative components explain the samples", "room", _growth(e), at_most=ROOM,
        id="unique", otherwise="plausible", against="components further out explain the samples as well",
        meaning="How far the components can be moved apart without a negative entry. Where they can, data "
        "alone don't tell which of these sets of components made the samples.",
    )  # fmt: skip


def _growth(e: ConeEvidence) -> NDArray[Any]:
    """Room beyond all facets that meet in a corner; NaN where it wasn't measured."""
    assert e.shape is not None
    room = np.full(len(e.shape.carried), np.nan) if e.room is None else np.asarray(e.room)
    return np.full(len(room), np.inf) if np.isinf(room).any() else room.sum() - room


def _stability(e: ConeEvidence, s: ConeShape) -> list[Test]:
    """Agreement of refits, with the shape at the level at which they agree."""
    # noise moves the fits on halves apart; without noise only a wrong cone does
    allowed = min(0.05 if e.halves is None else 0.035, max(0.015, e.residual))
    loose = [
        Test(replace(test.row, id=f"{test.row.id}_at_noise", name=f"{test.row.name}, up to noise"))
        for test in _shape_tests(s, e)
        if test.row.id in ("span", "pairs")
    ]
    if e.pure:
        loose.append(_corners(s))
    return [
        *loose,
        whole("components can be told apart at this noise", "noise of a share", s.mixed_up, at_most=0.04,
              id="told_apart", otherwise="plausible",
              meaning="Noise of the least certain share, where another is far surer. "
              "Components that are close to each other are mixed up by noise, and that moves the others."),
        *(_informed(e, allowed) if e.halves is None else _agreement(e, allowed)),
    ]  # fmt: skip


def _informed(e: ConeEvidence, allowed: float) -> list[Test]:
    """What noise leaves open, where nothing was refitted."""
    return [
        each("samples fix the components", "error", e.informed, at_most=allowed, id="informed",
             against="noise leaves it open",
             meaning="Error of a component that the noise of its samples leaves."),
    ]  # fmt: skip


def _agreement(e: ConeEvidence, allowed: float) -> list[Test]:
    """Whether refits lead to the same components; of counts that were looked at closely all as one number."""
    halves = each(
        "fits on halves agree", "sine", e.halves, at_most=allowed, id="halves",
        against="half of the samples lead elsewhere",
        meaning="Largest sine between a component and that of a fit on half of the samples.",
    )  # fmt: skip
    again = [] if e.again is None else [
        each("samples drawn from the fit lead back to it", "sine", e.again, at_most=allowed, id="again",
             against="samples made of it lead elsewhere",
             meaning="Sine between a component and that of a fit to samples that were made of the "
             "components, with as much noise as was left over."),
    ]  # fmt: skip
    both = [] if e.again is None else [
        each("fits on halves, and to samples drawn from the fit, agree", "sine",
             np.sqrt((e.halves**2 + e.again**2) / 2), at_most=allowed, id="again",
             against="half of the samples, or samples made of it, lead elsewhere",
             meaning="Root of the mean square of two sines: to the fit on half of the samples that is "
             "farther away, and to a fit to samples that were made of the components, with as much noise as "
             "was left over."),
    ]  # fmt: skip
    return [
        *([halves, *again] if e.entries is None else both or [halves]),
        each("other starts agree", "sine", e.restarts, at_most=0.02, id="restarts",
             otherwise="plausible", against="another start leads elsewhere",
             meaning="Largest sine between a component and that of a fit from another start."),
    ]  # fmt: skip


def _corners(s: ConeShape) -> Test:
    """Whether the pure samples that were declared are where the components are."""
    return each(
        "components lie where their purest samples are", "other shares",
        np.broadcast_to(s.slack, len(s.carried)),
        at_most=0.065, id="corners", otherwise="plausible", against="its purest samples lie elsewhere",
        meaning="Share of other components in a typical sample among those that are nearly pure, as was "
        "declared. Where it is large, the component lies beyond its samples.",
    )  # fmt: skip


def _rest_tests(e: ConeEvidence) -> list[Test]:
    """Whether what is left over is noise; it needs no refits, so a cheap look can contradict."""
    noisy = e.residual > NOISELESS
    shared, curved, multiplied, most, seen = e.structured, e.curved, e.multiplied, _PAIR, _SEEN
    if e.entries is not None:  # the same, seen better; of products they see different ones
        shared, curved, seen = e.entries.shared, e.entries.curved, _BY_ENTRY
        if e.entries.multiplied / _ANY_PAIR > (multiplied or 0.0) / _PAIR:
            multiplied, most = e.entries.multiplied, _ANY_PAIR
    return [
        whole("nothing is missing: what is left over is noise", "largest / chance",
              shared if noisy else 1.0, id="noise_left",
              at_most=1.25 if e.holes is not None else 1.1 if e.entries is None else 1.04,
              otherwise="contradicted" if (shared or 1.0) > 1.2 else "plausible",
              meaning="What is left over shares a direction, over what noise of the same size would share: a "
              "missing component shows here."),
        whole("negative shares are noise", "size / noise", e.excess if noisy else 0.0, at_most=1.3,
              id="signs_of_noise",
              otherwise="plausible" if e.excess is not None and e.excess <= 2 else "contradicted",
              meaning="Size of negative shares over what noise explains; where components lie inside of the "
              "data, shares are more negative."),
        whole("samples are sums", "|t|", curved if noisy else 0.0,
              at_most=_CURVED if e.entries is None else _BY_ENTRY, id="straight",
              otherwise="contradicted" if (curved or 0.0) > 4 else "plausible",
              meaning="What is left over follows squares, roots, powers or steps of the values that half of "
              "the features lets expect: features saturate or multiply."),
        whole("a curve of the values would show", "error", seen * (e.unseen or 0.0) if noisy else 0.0,
              at_most=0.05, id="curve_seen",
              meaning="Error that the components could have from features that saturate so little that it "
              "can't be seen in what is left over."),
        whole("features don't multiply", "deviations", multiplied if noisy else 0.0,
              at_most=most,
              id="none_multiply",  # filled-in entries follow the shares by themselves
              otherwise="contradicted" if (multiplied or 0.0) > 6 and e.holes is None else "plausible",
              meaning="How far what is left over follows products of two components' shares, or squares of "
              "one, against chance. Where features multiply, samples aren't sums of them."),
        whole("samples have no background of their own", "t", max(e.constant or 0.0, 0.0) if noisy else 0.0,
              at_most=3.5, id="no_constant", otherwise="contradicted",
              meaning="What is left over leans along a constant, a slope or a slow wave of all features, in "
              "some samples more than in others: a background that changes moves the components."),
        whole("nothing changes from the first to the last sample", "deviations",
              e.drifting if noisy else 0.0, at_most=4.0, id="no_drift",
              otherwise="contradicted" if (e.drifting or 0.0) > 6 else "plausible",
              meaning="How far what is left over follows the order of samples, alone or where a component "
              "is, against chance. Where features change on the way, no fixed components make all samples."),
        whole("values aren't cut at a level, or filled in", "share", e.cut if noisy else 0.0, at_most=0.0,
              id="uncut", otherwise="contradicted",
              meaning="Share of the entries that are piled up at one value, with few next to it: what was "
              "above is lost, or something was put in for what was missing."),
        whole("no values are lost", "share", e.lost if noisy else 0.0, at_most=0.001, id="none_lost",
              otherwise="plausible",
              meaning="Share of the entries that are 0 where all others let expect far more than noise. If "
              "small values are lost more often than large ones, samples are no sums."),
    ]  # fmt: skip
