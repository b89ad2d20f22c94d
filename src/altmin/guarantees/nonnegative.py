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

from altmin.guarantees.contract import Family, Rule
from altmin.guarantees.missing import HOLES, Holes, hole_conditions
from altmin.guarantees.nonnegative_theory import theory_rows, weight_constants
from altmin.guarantees.refits import distinct
from altmin.guarantees.report import Condition, check
from altmin.io.records import record

_MOST_FACETS = 128
_ZERO = 1e-3  # codes up to this share of the largest lie on a facet, to the accuracy that is claimed
_NOISELESS = 1e-3  # relative residual below which there is no noise to look at
_SHAPE = ("independent", "none_empty", "piled_up", "signs", "few_outliers", "n_eff")
_EXACT = (*_SHAPE, "span", "pairs", "negative", "residual")
_STABLE = (
    *_SHAPE, "span_at_noise", "pairs_at_noise", "little_left", "halves", "restarts",
    "noise_left", "signs_of_noise",
)  # fmt: skip


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
    halves, restarts : float or None
        Largest sine between the fit and those on disjoint halves, and from other starts: full effort.
    at_noise : ConeShape or None
        With codes as small as the halves' disagreement taken for zero; what the agreement of fits needs.
    structured : float or None
        Largest singular value of what is left over, over that of noise of the same size.
    excess : float or None
        Size of negative codes over what noise outside the span lets expect.
    holes : dict or None
        How many entries are missing, and how well the others fix the model.
    """

    shape: ConeShape | None
    residual: float
    noise: float | None = None
    start: float | None = None
    outside: float | None = None
    dropped: float = 0.0
    halves: float | None = None
    restarts: float | None = None
    at_noise: ConeShape | None = None
    structured: float | None = None
    excess: float | None = None
    holes: Holes | None = None


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
        return ConeShape(0.0, 0.0, 0.0, np.inf, 0.0, False, 0.0, len(norms), nothing)
    Z = np.asarray(codes, dtype=np.float64)[:, alive]
    A = components[alive] / norms[alive, None]
    scale = np.quantile(Z, 0.999, axis=0) if len(Z) else np.ones(Z.shape[1])
    Z = Z / np.where(scale > 0, scale, 1.0)
    negative = float(max(-Z.min(initial=0.0), 0.0))
    negative_share, piled, weights = _negative_share(Z), _piled(Z), weight_constants(np.maximum(Z, 0.0))
    zero = max(3 * negative, _ZERO, min(level, 0.02))
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
    )


def conditions(e: ConeEvidence) -> list[Condition]:
    """What the verdict rests on, then what the theorems ask for."""
    rows = [] if e.holes is None else hole_conditions(e.holes)
    if e.shape is None:
        nothing = dict.fromkeys(("r", "k", "m", "lambda", "q", "D", "between"), np.nan)
        unknown: dict[str, Any] = dict.fromkeys(("negative", "smallest", "condition"))
        return [*rows, *theory_rows(nothing, noise=e.noise, start=e.start, outside=e.outside, **unknown)]
    rows += [*_shape_rows(e.shape, e), *_fit_rows(e.shape, e)]
    if e.halves is not None:
        rows += _stability(e, e.at_noise or e.shape)
    facts = {name: getattr(e.shape, name) for name in ("negative", "smallest", "condition")}
    return [*rows, *theory_rows(e.shape.weights, noise=e.noise, start=e.start, outside=e.outside, **facts)]


def rules(e: ConeEvidence) -> list[Rule]:
    """Without noise the data's shape is enough; with noise fits must agree as well."""
    found = [Rule("recovered", "exact", _EXACT)]
    if e.halves is not None:
        found.append(Rule("recovered", "stable", _STABLE))
    found.append(Rule("plausible", "shape", (*_SHAPE, "span", "pairs"), {"residual": 0.5, "halves": 0.25}))
    if e.holes is None:
        return found
    # no verdict above 'plausible' is calibrated for completed data
    return [replace(rule, verdict="plausible", needs=(*HOLES, *rule.needs)) for rule in found]


def error(e: ConeEvidence, rule: Rule | None) -> float | None:
    """Without noise from the most negative weight, otherwise from the disagreement of fits."""
    if e.shape is None:
        return None
    if e.halves is None or e.restarts is None or (rule is not None and rule.name == "exact"):
        return 2 * e.shape.weights["D"] * e.shape.negative
    return 2 * max(e.halves, e.restarts)


NONNEGATIVE = Family(
    claim="the extreme rays of the smallest simplicial cone that holds the samples, up to scale and order "
    "(components that always occur in proportion count as one)",
    conditions=conditions,
    rules=rules,
    error=error,
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


def _shape_rows(s: ConeShape, e: ConeEvidence) -> list[Condition]:
    """Whether the samples, and the components themselves, can pin a cone down at all."""
    D = int(s.weights["D"])
    return [
        check(
            "facets are spanned", "span", "evidence", s.span * np.sqrt(max(D - 1, 1)), at_least=0.25,
            id="span",
            meaning="The samples without a component must fix the hyperplane on which it is absent.",
        ),
        check(
            "pairs are told apart", "pairs", "evidence", s.pairs, at_least=5, id="pairs",
            meaning="Samples that have one component of a pair without the other.",
        ),
        check(
            "components are independent", "cond", "evidence", s.condition, at_most=1e6, id="independent",
            meaning="Nearly equal components cannot be told apart.",
        ),
        check(
            "no component is empty", "D", "evidence", float(s.empty), at_most=0, id="none_empty",
            meaning="An empty component says that the samples span fewer dimensions.",
        ),
        check(
            "weights pile up without pure samples only where A >= 0", "A >= 0", "evidence",
            s.negative_mass if s.piled else 0.0, at_most=0.02, id="piled_up",
            meaning="Many samples share the same largest weight, but no sample is nearly pure. The corners "
            "may be wrong unless the features are non-negative.",
        ),
        check(
            "weights are non-negative but for noise", "z < 0", "evidence", s.negative_share, at_most=0.05,
            id="signs",
            meaning="Share of a component's energy that has negative weights; mixtures have none.",
        ),
        check(
            "few samples contradict the model", "outliers", "evidence", e.dropped, at_most=0.1,
            id="few_outliers", meaning="Share of the samples that the screen for gross outliers left out.",
        ),
        check(
            "samples are distinct", "n_eff", "evidence", s.distinct, at_least=3 * D, id="n_eff",
            meaning="Copies of a sample carry no information.",
        ),
    ]  # fmt: skip


def _fit_rows(s: ConeShape, e: ConeEvidence) -> list[Condition]:
    """How exactly the fitted cone holds the samples."""
    return [
        check(
            "decoded weights are not negative", "N", "evidence", 2 * s.weights["D"] * s.negative,
            at_most=0.01, id="negative",
            meaning="Total error of the components, estimated from the most negative weight.",
        ),
        check(
            "the data are explained", "residual", "evidence", e.residual, at_most=0.01, id="residual",
            meaning="Norm of what non-negative weights leave over, relative to that of the data.",
        ),
    ]  # fmt: skip


def _stability(e: ConeEvidence, s: ConeShape) -> list[Condition]:
    """Agreement of refits, with the shape at the level at which they agree."""
    # noise moves the fits on halves apart; without noise only a wrong cone does
    allowed = min(0.04, max(0.01, 0.75 * e.residual))
    noisy = e.residual > _NOISELESS
    loose = [
        replace(row, id=f"{row.id}_at_noise", name=f"{row.name}, up to noise", symbol=f"{row.symbol} (noise)")
        for row in _shape_rows(s, e)
        if row.id in ("span", "pairs")
    ]
    return [
        *loose,
        check(
            "little is left over", "residual (noise)", "evidence", e.residual, at_most=0.2, id="little_left",
            meaning="Agreement of fits is evidence only where most of the data are explained.",
        ),
        check(
            "fits on halves agree", "halves", "evidence", e.halves, at_most=allowed, id="halves",
            meaning="Largest sine between a component and that of a fit on half of the samples.",
        ),
        check(
            "other starts agree", "restarts", "evidence", e.restarts, at_most=0.01, id="restarts",
            meaning="Largest sine between a component and that of a fit from another start.",
        ),
        check(
            "what is left over is noise", "s_1 of the rest", "evidence", e.structured if noisy else 1.0,
            at_most=1.25, id="noise_left",
            meaning="Largest singular value of the residual over that of shuffled columns; a missing "
            "component shows here.",
        ),
        check(
            "negative codes are noise", "z < 0 / noise", "evidence", e.excess if noisy else 1.0, at_most=1.5,
            id="signs_of_noise",
            meaning="Size of a component's negative weights over what the noise outside the span lets "
            "expect; a cone that cuts through the data has larger ones.",
        ),
    ]  # fmt: skip


def structure_left(rest: NDArray[Any], seed: int = 0) -> float:
    """Largest singular value of a residual over its median for columns that are shuffled one by one."""
    rng = np.random.default_rng(seed)

    def largest(R: NDArray[Any]) -> float:
        small = R @ R.T if R.shape[0] < R.shape[1] else R.T @ R
        return float(np.sqrt(np.linalg.eigvalsh(small)[-1]))

    shuffled = float(np.median([largest(rng.permuted(rest, axis=0)) for _ in range(3)]))
    return largest(rest) / max(shuffled, 1e-300)


def negative_excess(rest: NDArray[Any], codes: NDArray[Any], components: NDArray[Any]) -> float | None:
    """Worst rms of negative codes over that of noise of the size seen outside the span; None without any.

    Parameters
    ----------
    rest : ndarray of shape (n_samples, n_features)
        Samples minus ``codes @ components``.
    codes : ndarray of shape (n_samples, n_components)
        Decoded weights, negative ones included.
    components : ndarray of shape (n_components, n_features)
        The fitted components.
    """
    n, W = rest.shape
    D = len(components)
    noise = float(np.sqrt(np.sum(rest**2) / max(n * (W - D), 1)))
    if W <= D or noise == 0:
        return None
    gain = np.linalg.norm(np.linalg.pinv(components), axis=0)
    below = np.minimum(codes, 0.0)
    size = np.sqrt(np.sum(below**2, axis=0) / np.maximum(np.sum(codes < 0, axis=0), 1))
    return float(np.max(size / np.maximum(noise * gain, 1e-300)))


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
