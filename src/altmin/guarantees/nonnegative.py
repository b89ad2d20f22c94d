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
from scipy.optimize import linprog

from altmin.guarantees.contract import Family, Rule, Table, Test, each, shown, whole
from altmin.guarantees.missing import HOLES, Holes, hole_conditions
from altmin.guarantees.nonnegative_theory import theory_rows, weight_constants
from altmin.guarantees.refits import distinct
from altmin.io.records import record

_MOST_FACETS = 128
_ZERO = 1e-3  # codes up to this share of the largest lie on a facet, to the accuracy that is claimed
_ROOM = 0.05
_CUT = 0.005  # negative codes up to this share of the largest are within the claimed error
_NOISELESS = 1e-3  # relative residual below which there is no noise to look at
_SHAPE = ("independent", "none_empty", "piled_up", "few_outliers", "none_left_out", "n_eff")
_EXACT = (*_SHAPE, "signs", "span", "pairs", "negative", "residual", "unique")
_NOISY = (
    *_SHAPE, "span_at_noise", "pairs_at_noise", "halves", "restarts", "noise_left", "signs_of_noise",
    "unique",
)  # fmt: skip
_ROOM_FEATURES = 2000


@record
class ConeShape:
    """What codes of a sample of the data say about a fit; see :func:`shape`."""

    negative: float
    pairs: float
    span: float
    condition: float
    distinct: float
    piled: bool
    negative_mass: float
    empty: int
    weights: dict[str, float]
    negative_share: float = 0.0
    smallest: float = 0.0
    carried: Any = None  # samples in which each component is the largest
    pure: Any = None  # samples of which each component has at least 95 %


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
    at_noise : ConeShape or None
        With codes as small as the halves' disagreement taken for zero; what the agreement of fits needs.
    structured : float or None
        Largest singular value of what is left over, over that of noise of the same size.
    excess : float or None
        Size of negative codes over what noise outside the span lets expect.
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
    at_noise: ConeShape | None = None
    structured: float | None = None
    excess: float | None = None
    holes: Holes | None = None
    room: Any = None
    pure: bool = False


def shape(codes: NDArray[Any], components: NDArray[Any], level: float = 0.0) -> ConeShape:
    """Measure what the verdict rests on.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Decoded weights of some samples, negative ones included.
    components : ndarray of shape (n_components, n_features)
        The fitted components.
    level : float
        Error that is known of otherwise: codes up to it (but .02 at most) may be zero.

    Returns
    -------
    ConeShape
        Scale-free: each component's codes are measured in units of its .999 quantile.
    """
    norms = np.linalg.norm(components, axis=1)
    alive = norms > 0
    if not alive.any():
        nothing = dict.fromkeys(("r", "k", "m", "lambda", "q", "between"), np.nan) | {"D": 0.0}
        none = np.zeros(len(norms))
        return ConeShape(0.0, 0.0, 0.0, np.inf, 0.0, False, 0.0, len(norms), nothing, carried=none, pure=none)
    Z = np.asarray(codes, dtype=np.float64)[:, alive]
    A = components[alive] / norms[alive, None]
    scale = np.quantile(Z, 0.999, axis=0) if len(Z) else np.ones(Z.shape[1])
    Z = Z / np.where(scale > 0, scale, 1.0)
    negative = float(max(-Z.min(initial=0.0), 0.0))
    negative_share, piled, weights = _negative_share(Z), _piled(Z), weight_constants(np.maximum(Z, 0.0))
    zero = max(3 * negative, _ZERO, min(level, 0.02))
    positive = np.maximum(Z, 0.0)
    share = positive / np.maximum(positive.sum(axis=1, keepdims=True), 1e-300)
    Z = Z[distinct(Z)]  # copies of a sample say nothing new about facets and pairs
    singular = np.linalg.svd(A, compute_uv=False)
    condition = float(singular[0] / singular[-1]) if singular[-1] > 0 else np.inf
    return ConeShape(
        negative=negative,
        pairs=_pairs(Z, zero),
        span=_span(Z, zero),
        condition=condition,
        distinct=float(len(Z)),
        piled=piled,
        negative_mass=float(np.maximum(-A, 0).sum() / np.abs(A).sum()),
        empty=int(np.sum(~alive)),
        weights=weights,
        negative_share=negative_share,
        smallest=float(singular[-1]),
        carried=_spread_out(alive, np.bincount(share.argmax(axis=1), minlength=share.shape[1])),
        pure=_spread_out(alive, np.sum(share >= 0.95, axis=0)),
    )


def tests(e: ConeEvidence) -> list[Test]:
    """What the verdict rests on, then what the theorems ask for."""
    found = [] if e.holes is None else [Test(row) for row in hole_conditions(e.holes)]
    if e.shape is None:
        nothing = dict.fromkeys(("r", "k", "m", "lambda", "q", "D", "between"), np.nan)
        unknown: dict[str, Any] = dict.fromkeys(("negative", "smallest", "condition"))
        theory = theory_rows(nothing, noise=e.noise, start=e.start, outside=e.outside, **unknown)
        return [*found, *shown(*theory)]
    found += [*_shape_tests(e.shape, e), *_fit_tests(e.shape, e), _uniqueness(e.shape, e)]
    if e.halves is not None:
        found += _stability(e, e.at_noise or e.shape)
    facts = {name: getattr(e.shape, name) for name in ("negative", "smallest", "condition")}
    theory = theory_rows(e.shape.weights, noise=e.noise, start=e.start, outside=e.outside, **facts)
    return [*found, *shown(*theory)]


def rule(e: ConeEvidence) -> Rule:
    """Without noise the data's shape is enough; with noise fits must agree as well."""
    exact = e.shape is None or (
        e.residual <= _NOISELESS or (e.halves is None and e.residual <= 0.01 and _small(e.shape))
    )
    needs = _EXACT if exact else _NOISY
    return Rule("exact" if exact else "noisy", needs if e.holes is None else (*needs, *HOLES, "completed"))


def _small(s: ConeShape) -> bool:
    return 2 * s.weights["D"] * s.negative <= 0.01


def errors(e: ConeEvidence) -> tuple[NDArray[Any], NDArray[Any]]:
    """Of each component: without noise from the most negative weight, otherwise from the halves."""
    assert e.shape is not None
    k = len(e.shape.carried)
    if rule(e).name == "exact":
        error = np.full(k, 2 * e.shape.weights["D"] * e.shape.negative)
        return error, error
    if e.halves is None:
        return np.full(k, np.nan), np.full(k, np.nan)
    return 1.0 * e.halves, 2.0 * e.halves


def error(e: ConeEvidence) -> float | None:
    """Of the worst component."""
    worst = np.nan if e.shape is None else float(np.max(errors(e)[0]))
    return None if np.isnan(worst) else worst


def table(e: ConeEvidence) -> Table | None:
    """Error, bound and samples of each component."""
    return None if e.shape is None else Table(*errors(e), e.shape.carried)


def claim(e: ConeEvidence) -> str:
    """What is claimed; components in constant proportion count as one."""
    text = "These are the corners of the smallest cone that holds your samples, up to scale and order."
    if e.pure:
        return f"{text} With the declared assumption they are the features that made them."
    if e.shape is not None and float(np.max(_growth(e))) <= _ROOM:
        return f"{text} No other non-negative features explain them, so they are the features that made them."
    return (
        f"{text} That they are the features that made them assumes that each feature occurs nearly alone in "
        "some samples."
    )


def assumptions(e: ConeEvidence) -> tuple[str, ...]:
    """What data can't decide."""
    found = ("Features that always occur in the same proportion count as one.",)
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
        "span": "no pure samples pin the components down: supply a start near the truth, or more samples",
        "span_at_noise": "no pure samples pin the components down: supply a start near the truth, or more "
        "samples",
        "pairs": "some components never occur without others: more samples, or fewer components",
        "pairs_at_noise": "some components never occur without others: more samples, or fewer components",
        "piled_up": "weights look binary: supply a start near the truth",
        "independent": "two components are nearly the same: use fewer components",
        "signs": "weights have both signs: a dictionary (CompleteDictionaryLearning) may be the right model",
        "n_eff": "there are too few distinct samples",
        "unique": "if each feature occurs nearly alone in some samples, declare it: "
        "guarantee(X, assume='pure')",
        "none_left_out": "look at the samples in outlier_mask_: another component may be in them",
        "few_outliers": "many samples contradict the model: more components, or look at outlier_mask_",
        "noise_left": "what is left over has structure: try more components",
        "signs_of_noise": "the cone cuts through the data: more components, or a start near the truth",
        "halves": "fits on halves disagree: more samples, or another number of components",
        "restarts": "other starts lead elsewhere: supply a start near the truth, or another number of "
        "components",
        "fixed_by_entries": "entries are missing: observe more of them, or use fewer components",
        "every_feature": "some features are hardly observed: leave them out",
        "samples_say_enough": "many samples have too few observed entries: leave them out",
    },
    otherwise="less noise or more samples: the structure is there, but not exact",
)


def _shape_tests(s: ConeShape, e: ConeEvidence) -> list[Test]:
    """Whether the samples, and the components themselves, can pin a cone down at all."""
    D = int(s.weights["D"])
    return [
        whole("facets are spanned", "span", s.span * np.sqrt(max(D - 1, 1)), at_least=0.25, id="span",
              meaning="The samples without a component must fix the hyperplane on which it is absent."),
        whole("pairs are told apart", "pairs", s.pairs, at_least=5, id="pairs",
              meaning="Samples that have one component of a pair without the other."),
        whole("components are independent", "cond", s.condition, at_most=1e6, id="independent",
              otherwise="contradicted", meaning="Nearly equal components cannot be told apart."),
        whole("no component is empty", "D", float(s.empty), at_most=0, id="none_empty",
              otherwise="contradicted",
              meaning="An empty component says that the samples span fewer dimensions."),
        whole("weights pile up without pure samples only where A >= 0", "A >= 0",
              s.negative_mass if s.piled else 0.0, at_most=0.02, id="piled_up", otherwise="plausible",
              meaning="Many samples share the same largest weight, but no sample is nearly pure. The corners "
              "may be wrong unless the features are non-negative."),
        whole("weights are non-negative", "z < 0", s.negative_share, at_most=0.05, id="signs",
              otherwise="contradicted",
              meaning="Share of a component's energy that has negative weights; mixtures have none."),
        whole("few samples contradict the model", "outliers", e.dropped, at_most=0.1, id="few_outliers",
              otherwise="contradicted",
              meaning="Share of the samples that the screen for gross outliers left out."),
        whole("nothing is missing: no sample was left out", "left out", e.dropped, at_most=0.01,
              id="none_left_out", everywhere=False, otherwise="plausible",
              meaning="Samples that were screened out as outliers may be made of a feature that is missing."),
        whole("samples are distinct", "n_eff", s.distinct, at_least=3 * D, id="n_eff",
              meaning="Copies of a sample carry no information."),
    ]  # fmt: skip


def _fit_tests(s: ConeShape, e: ConeEvidence) -> list[Test]:
    """How exactly the fitted cone holds the samples."""
    found = [
        whole("decoded weights are not negative", "N", 2 * s.weights["D"] * s.negative, at_most=0.01,
              id="negative",
              meaning="Total error of the components, estimated from the most negative weight."),
        whole("nothing is missing: the data are explained", "residual", e.residual, at_most=0.01,
              id="residual", everywhere=False, otherwise="contradicted",
              meaning="Norm of what non-negative weights leave over, relative to that of the data."),
    ]  # fmt: skip
    if e.holes is not None:
        found.append(
            whole("entries are complete", "holes", e.holes["share"], at_least=1.0, id="completed",
                  otherwise="plausible",
                  meaning="No verdict above 'plausible' is calibrated for completed data.")
        )  # fmt: skip
    return found


def _uniqueness(s: ConeShape, e: ConeEvidence) -> Test:
    """Whether another cone explains the samples as well: by its room, or by a declared assumption."""
    if e.pure:
        return each(
            "nearly pure samples are there", "pure", s.pure, at_least=3, id="unique", otherwise="plausible",
            against="no nearly pure sample",
            meaning="Samples of which a component has at least 95 %, as was declared.",
        )  # fmt: skip
    return each(
        "no other non-negative features explain the samples", "room", _growth(e), at_most=_ROOM, id="unique",
        otherwise="plausible", against="a larger cone explains the samples as well",
        meaning="How far the cone can grow and its corners stay non-negative. Where there is room, or the "
        "features have both signs, data can't tell the smallest cone from larger ones.",
    )  # fmt: skip


def _growth(e: ConeEvidence) -> NDArray[Any]:
    """Room beyond all facets that meet in a corner; NaN where it wasn't measured."""
    assert e.shape is not None
    room = np.full(len(e.shape.carried), np.nan) if e.room is None else np.asarray(e.room)
    return np.full(len(room), np.inf) if np.isinf(room).any() else room.sum() - room


def _stability(e: ConeEvidence, s: ConeShape) -> list[Test]:
    """Agreement of refits, with the shape at the level at which they agree."""
    # noise moves the fits on halves apart; without noise only a wrong cone does
    allowed = min(0.03, max(0.01, 0.75 * e.residual))
    noisy = e.residual > _NOISELESS
    loose = [
        Test(replace(test.row, id=f"{test.row.id}_at_noise", name=f"{test.row.name}, up to noise"))
        for test in _shape_tests(s, e)
        if test.row.id in ("span", "pairs")
    ]
    return [
        *loose,
        each("fits on halves agree", "halves", e.halves, at_most=allowed, id="halves",
             against="half of the samples lead elsewhere",
             meaning="Largest sine between a component and that of a fit on half of the samples."),
        each("other starts agree", "restarts", e.restarts, at_most=0.02, id="restarts",
             otherwise="plausible", against="another start leads elsewhere",
             meaning="Largest sine between a component and that of a fit from another start."),
        whole("nothing is missing: what is left over is noise", "s_1 of the rest",
              e.structured if noisy else 1.0, at_most=1.25, id="noise_left", otherwise="contradicted",
              meaning="Largest singular value of the residual over that of noise of the same size; a missing "
              "component shows here."),
        whole("negative codes are noise", "z < 0 / noise", e.excess if noisy else 0.0, at_most=1.3,
              id="signs_of_noise", otherwise="contradicted",
              meaning="Size of a component's negative weights over what the noise outside the span lets "
              "expect; a cone that cuts through the data has larger ones."),
    ]  # fmt: skip


def room(components: NDArray[Any]) -> NDArray[Any]:
    """How far beyond each facet the cone can grow while its corners stay non-negative.

    With B the components scaled to sum 1, room_i is the largest -z_i of any z with z B >= 0 and sum z = 1:
    0 where features that only component i lacks forbid any growth. Features are thinned out to those that
    bind most, which can only make the room larger.

    Parameters
    ----------
    components : ndarray of shape (n_components, n_features)
        The fitted components.

    Returns
    -------
    ndarray of shape (n_components,)
        Infinite where the components have negative entries.
    """
    k = len(components)
    totals = np.abs(components).sum(axis=1)
    if not totals.all() or np.maximum(-components, 0).sum() > 0.02 * totals.sum():
        return np.full(k, np.inf)
    B = np.maximum(components, 0.0) / totals[:, None]
    if k == 1:
        return np.zeros(1)
    B = B[:, B.max(axis=0) > 0]
    B = B / B.max(axis=0)
    B = B[:, np.argsort(B.min(axis=0), kind="stable")[:_ROOM_FEATURES]]
    found = np.full(k, np.inf)
    for i in range(k):
        wanted = np.zeros(k)
        wanted[i] = 1.0
        done = linprog(
            wanted, A_ub=-B.T, b_ub=np.zeros(B.shape[1]), A_eq=np.ones((1, k)), b_eq=[1.0], bounds=(-10, None)
        )
        if done.status == 0:
            found[i] = max(-float(done.fun), 0.0)
    return found


def _spread_out(alive: NDArray[np.bool_], counts: NDArray[Any]) -> NDArray[Any]:
    """Counts of the components that are there, 0 for empty ones."""
    found = np.zeros(len(alive), dtype=np.intp)
    found[alive] = counts
    return found


def structure_left(rest: NDArray[Any], seed: int = 0) -> float:
    """Largest singular value of a residual over its median for random signs of its entries.

    Signs keep the size of each entry, so that noise may depend on sample and feature, as that of counts does.
    """
    rng = np.random.default_rng(seed)

    def largest(R: NDArray[Any]) -> float:
        small = R @ R.T if R.shape[0] < R.shape[1] else R.T @ R
        return float(np.sqrt(np.linalg.eigvalsh(small)[-1]))

    flipped = float(np.median([largest(rest * rng.choice([-1.0, 1.0], rest.shape)) for _ in range(3)]))
    return largest(rest) / max(flipped, 1e-300)


def negative_excess(rest: NDArray[Any], codes: NDArray[Any], components: NDArray[Any]) -> float | None:
    """Worst size of negative codes beyond noise, over that noise (or what the claimed error explains).

    Parameters
    ----------
    rest : ndarray of shape (n_samples, n_features)
        Samples minus ``codes @ components``.
    codes : ndarray of shape (n_samples, n_components)
        Decoded weights, negative ones included.
    components : ndarray of shape (n_components, n_features)
        The fitted components.
    """
    W, D = rest.shape[1], len(components)
    if W <= D or not rest.any():
        return None
    noise = np.mean(rest**2, axis=0) * W / (W - D)  # of each feature: that of counts differs
    gain = np.sqrt(np.square(np.linalg.pinv(components)).T @ noise)
    below = np.minimum(codes, 0.0)
    size = np.sqrt(np.sum(below**2, axis=0) / np.maximum(np.sum(codes < 0, axis=0), 1))
    excess = np.sqrt(np.maximum(size**2 - gain**2, 0.0))
    unit = np.maximum(np.quantile(codes, 0.999, axis=0), 1e-300)
    return float(np.max(excess / np.maximum(1.1 * gain, _CUT * unit)))


def start_quality(init: Any, A: NDArray[Any]) -> tuple[float, float]:
    """The l and rho of Definitions 2 and 4 for a start, the fit standing in for the truth."""
    norms = np.linalg.norm(A, axis=1)
    A = np.asarray(A / np.where(norms > 0, norms, 1.0)[:, None], dtype=np.float64)
    start = np.asarray(init, dtype=np.float64)
    start = start / np.linalg.norm(start, axis=1, keepdims=True)
    mixing = start @ np.linalg.pinv(A)
    outside = float(np.linalg.norm(start - mixing @ A, 2))
    own = np.diag(mixing)
    mixing = mixing / np.where(own != 0, own, 1.0)[:, None]
    return float(np.linalg.norm(mixing - np.diag(np.diag(mixing)), 2)), outside


def _negative_share(Z: NDArray[Any]) -> float:
    """Worst over the components of the energy of its negative codes, as a share of that of all."""
    energy = np.sum(Z**2, axis=0)
    return float(np.max(np.sum(np.minimum(Z, 0.0) ** 2, axis=0) / np.maximum(energy, 1e-300), initial=0.0))


def _pairs(Z: NDArray[Any], zero: float) -> float:
    near, active = (np.abs(Z) <= zero).astype(float), (Z > 0.1).astype(float)
    counts = near.T @ active
    np.fill_diagonal(counts, np.inf)
    return float(counts.min())


def _span(Z: NDArray[Any], zero: float) -> float:
    """Min over i of sigma_min / sqrt(count) of the unit samples on facet i, coordinate i removed."""
    D = Z.shape[1]
    if D == 1:
        return 1.0
    norms = np.linalg.norm(Z, axis=1)
    U = Z[norms > 0] / norms[norms > 0, None]
    near = np.abs(Z[norms > 0]) <= zero
    counts = near.sum(axis=0)
    if counts.min() < D - 1:
        return 0.0
    total = U.T @ U
    facets = np.argsort(counts, kind="stable")[:_MOST_FACETS]
    grams = np.empty((len(facets), D - 1, D - 1))
    for place, i in enumerate(facets):
        on = near[:, i]
        gram = U[on].T @ U[on] if 2 * counts[i] < len(U) else total - U[~on].T @ U[~on]
        grams[place] = np.delete(np.delete(gram, i, axis=0), i, axis=1)
    least = np.maximum(np.linalg.eigvalsh(grams)[:, 0], 0.0)
    return float(np.sqrt(least / counts[facets]).min())


def _piled(Z: NDArray[Any]) -> bool:
    """Whether over 5 % of the samples share a code's maximum while no sample is pure in it."""
    top = Z.max(axis=0, initial=0.0)
    at_top = np.mean(Z >= 0.98 * top, axis=0)
    positive = np.maximum(Z, 0.0)
    share = positive / np.maximum(positive.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return bool(np.any((at_top > 0.05) & (share.max(axis=0) < 0.9)))
