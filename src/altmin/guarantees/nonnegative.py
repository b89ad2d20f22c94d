"""Whether AND found the features: the conditions of Li and Liang 2017, and the evidence that discriminates.

The theorems' conditions hold where the algorithm fails and fail where it works (their constants are
unknown), so they are shown for information. The verdict rests on whether the data pin the cone down:

- a facet (the samples without component i) fixes its hyperplane only if its samples span it (*span*),
- each pair of components must be told apart by samples that have the one without the other (*pairs*),
- decoded weights must not be negative (*N*), the data must be explained, samples must be distinct,
- with ``effort="full"``: fits on disjoint halves and from other starts must agree with the fit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.guarantees.nonnegative_theory import theory_rows, weight_constants
from altmin.guarantees.report import Condition, GuaranteeReport, check
from altmin.io.records import record

_MOST_FACETS = 128
_ZERO = 1e-3  # codes up to this share of the largest lie on a facet, to the accuracy that is claimed
_NOISELESS = 1e-3  # relative residual below which there is no noise to look at
_LEFT = 0.2  # relative residual up to which agreement of fits is evidence
_EXACT = ("N", "residual")  # what a verdict rests on where there is no noise
_STABLE = ("halves", "restarts", "s_1 of the rest", "z < 0 / noise")  # and where fits have to agree
_STRUCTURE = ("span", "cond", "A >= 0", "D", "z < 0", "outliers")
CLAIM = (
    "the extreme rays of the smallest simplicial cone that holds the samples, up to scale and order "
    "(components that always occur in proportion count as one)"
)


@record
class Evidence:
    """What codes of a sample of the data say about a fit; see :func:`gather`."""

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


def gather(codes: NDArray[Any], components: NDArray[Any], level: float = 0.0) -> Evidence:
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
    Evidence
        Scale-free: each component's codes are measured in units of its .999 quantile.
    """
    norms = np.linalg.norm(components, axis=1)
    alive = norms > 0
    if not alive.any():
        nothing = dict.fromkeys(("r", "k", "m", "lambda", "q", "between"), np.nan) | {"D": 0.0}
        return Evidence(0.0, 0.0, 0.0, np.inf, 0.0, False, 0.0, len(norms), nothing)
    Z = np.asarray(codes, dtype=np.float64)[:, alive]
    A = components[alive] / norms[alive, None]
    scale = np.quantile(Z, 0.999, axis=0) if len(Z) else np.ones(Z.shape[1])
    Z = Z / np.where(scale > 0, scale, 1.0)
    negative = float(max(-Z.min(initial=0.0), 0.0))
    negative_share, piled, weights = _negative_share(Z), _piled(Z), weight_constants(np.maximum(Z, 0.0))
    zero = max(3 * negative, _ZERO, min(level, 0.02))
    Z = Z[_distinct(Z)]  # copies of a sample say nothing new about facets and pairs
    singular = np.linalg.svd(A, compute_uv=False)
    condition = float(singular[0] / singular[-1]) if singular[-1] > 0 else np.inf
    return Evidence(
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


def report(
    evidence: Evidence | None,
    residual: float,
    *,
    noise: float | None = None,
    start: float | None = None,
    outside: float | None = None,
    halves: float | None = None,
    restarts: float | None = None,
    dropped: float = 0.0,
    loose: Evidence | None = None,
    structured: float | None = None,
    excess: float | None = None,
) -> GuaranteeReport:
    """Turn the measurements into a verdict.

    Parameters
    ----------
    evidence : Evidence or None
        None where no codes were kept (a stream): nothing is then supported.
    residual : float
        Norm of what is left over, relative to the data's.
    noise : float, optional
        Estimated norm of a sample's noise, relative to a sample's.
    start : float, optional
        Size of the off-diagonal part of a given start in terms of the fit (l of Definition 2).
    outside : float, optional
        Norm of what a given start has outside the span of the fit (rho of Definition 4).
    halves, restarts : float, optional
        Largest sine between the fit and those on disjoint halves, and from other starts.
    dropped : float
        Share of the samples that were screened out.
    loose : Evidence, optional
        With codes as small as the halves' disagreement taken for zero; what the agreement of fits needs.
    structured : float, optional
        Largest singular value of what is left over, over that of noise of the same size.
    excess : float, optional
        Size of negative codes over what noise outside the span lets expect.

    Returns
    -------
    GuaranteeReport
        'recovered' only by the calibrated rules.
    """
    if evidence is None:
        advice = "call guarantee(X) with samples that can be read again"
        return GuaranteeReport(
            "not supported", _theory(None, start, outside, noise), advice=advice, claim=CLAIM
        )
    D = int(evidence.weights["D"])
    rows = _decisive(evidence, residual, dropped, D)
    full = halves is not None and restarts is not None
    if full:
        rows += _stability(halves, restarts, residual, structured, excess)
    held = {row.symbol: row.status == "holds" for row in rows}
    structure = all(held[s] for s in _STRUCTURE)
    exact = structure and all(held[s] for s in ("N", "pairs", "residual", "n_eff"))
    stable = full and _all_stable(loose or evidence, residual, dropped, rows[-4:], D)
    if exact or stable:
        verdict = "recovered"
    elif structure and held["pairs"] and held["n_eff"] and residual < 0.5 and (halves or 0.0) <= 0.25:
        verdict = "plausible"
    else:
        verdict = "not supported"
    error = 2 * D * evidence.negative
    if full and not exact:
        error = 2 * max(halves or 0.0, restarts or 0.0)
    idle = _STABLE if exact or not full else _EXACT if stable or residual > _NOISELESS else ()
    rows = [replace(row, decisive=row.decisive and row.symbol not in idle) for row in rows]
    return GuaranteeReport(
        verdict,
        (*rows, *_theory(evidence, start, outside, noise)),
        effort="full" if full else "cheap",
        estimated_error=float(error),
        advice=_advice(verdict, held, full, dropped),
        claim=CLAIM,
    )


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


def _all_stable(e: Evidence, residual: float, dropped: float, agreement: list[Condition], D: int) -> bool:
    """Whether the structure is there at the level of the fits' disagreement, and they agree."""
    held = {row.symbol: row.status == "holds" for row in (*_decisive(e, residual, dropped, D), *agreement)}
    needed = (*_STRUCTURE, "pairs", "n_eff", *_STABLE)
    return residual < _LEFT and all(held[symbol] for symbol in needed)


def _decisive(e: Evidence, residual: float, dropped: float, D: int) -> list[Condition]:
    return [
        check(
            "facets are spanned", "span", "evidence", e.span * np.sqrt(max(D - 1, 1)), at_least=0.25,
            meaning="samples without a component must fix its hyperplane", decisive=True,
        ),
        check(
            "components are independent", "cond", "evidence", e.condition, at_most=1e6,
            meaning="nearly equal components cannot be told apart", decisive=True,
        ),
        check(
            "no component is empty", "D", "evidence", float(e.empty), at_most=0,
            meaning="an empty one says that the samples span fewer dimensions", decisive=True,
        ),
        check(
            "weights pile up without pure samples only where A >= 0", "A >= 0", "evidence",
            e.negative_mass if e.piled else 0.0, at_most=0.02,
            meaning="a cone with a flipped facet fits binary-like weights as well", decisive=True,
        ),
        check(
            "decoded weights are not negative", "N", "evidence", 2 * D * e.negative, at_most=0.01,
            meaning="2 D N is about the total error on data without noise", decisive=True,
        ),
        check(
            "weights are non-negative but for noise", "z < 0", "evidence", e.negative_share, at_most=0.05,
            meaning="share of a code's energy that is negative; mixtures have none", decisive=True,
        ),
        check(
            "few samples contradict the model", "outliers", "evidence", dropped, at_most=0.1,
            meaning="share of the samples that the screen left out", decisive=True,
        ),
        check(
            "pairs are told apart", "pairs", "evidence", e.pairs, at_least=5,
            meaning="samples that have one component of a pair without the other", decisive=True,
        ),
        check(
            "the data are explained", "residual", "evidence", residual, at_most=0.01,
            meaning="relative norm of what non-negative codes leave over", decisive=True,
        ),
        check(
            "samples are distinct", "n_eff", "evidence", e.distinct, at_least=3 * D,
            meaning="copies of a sample carry no information", decisive=True,
        ),
    ]  # fmt: skip


def _stability(
    halves: float | None,
    restarts: float | None,
    residual: float,
    structured: float | None,
    excess: float | None,
) -> list[Condition]:
    # noise moves the fits on halves apart; without noise only a wrong cone does
    allowed = min(0.04, max(0.01, 0.75 * residual))
    return [
        check(
            "fits on halves agree", "halves", "evidence", halves, at_most=allowed,
            meaning="largest sine between a component and that of a fit on half of the samples",
            decisive=True,
        ),
        check(
            "other starts agree", "restarts", "evidence", restarts, at_most=0.01,
            meaning="largest sine between a component and that of a fit from another start",
            decisive=True,
        ),
        check(
            "what is left over is noise", "s_1 of the rest", "evidence",
            structured if residual > _NOISELESS else 1.0, at_most=1.25,
            meaning="largest singular value of the residual over that of shuffled columns; a missing "
            "component shows here", decisive=True,
        ),
        check(
            "negative codes are noise", "z < 0 / noise", "evidence",
            excess if residual > _NOISELESS else 1.0, at_most=1.5,
            meaning="rms of a component's negative codes over what the noise outside the span lets expect; "
            "a cone that cuts through the data has larger ones", decisive=True,
        ),
    ]  # fmt: skip


def _theory(
    e: Evidence | None, start: float | None, outside: float | None, noise: float | None
) -> tuple[Condition, ...]:
    """The theorems' conditions, of the evidence or (None) of nothing."""
    if e is None:
        nothing = dict.fromkeys(("r", "k", "m", "lambda", "q", "D", "between"), np.nan)
        unknown: dict[str, Any] = dict.fromkeys(("negative", "smallest", "condition"))
        return theory_rows(nothing, noise=noise, start=start, outside=outside, **unknown)
    return theory_rows(
        e.weights,
        negative=e.negative,
        smallest=e.smallest,
        condition=e.condition,
        noise=noise,
        start=start,
        outside=outside,
    )


_NEXT = {
    "D": "use fewer components",
    "span": "no pure samples pin the components down: supply a start near the truth, or more samples",
    "pairs": "some components never occur without others: more samples, or fewer components",
    "A >= 0": "weights look binary: supply a start near the truth",
    "cond": "two components are nearly the same: use fewer components",
    "z < 0": "weights have both signs: a dictionary (CompleteDictionaryLearning) may be the right model",
    "n_eff": "there are too few distinct samples",
    "outliers": "many samples contradict the model: more components, or look at outliers_",
    "s_1 of the rest": "what is left over has structure: try more components",
    "z < 0 / noise": "the cone cuts through the data: more components, or a start near the truth",
    "halves": "fits on halves disagree: more samples, or another number of components",
    "restarts": "other starts lead elsewhere: supply a start near the truth, or another number of components",
}


def _advice(verdict: str, held: dict[str, bool], full: bool, dropped: float) -> str:
    if verdict == "recovered":
        return ""
    notes = [note for symbol, note in _NEXT.items() if not held.get(symbol, True)][:3]
    if dropped > 0.05 and held["outliers"]:
        notes.append(f"{dropped:.0%} of the samples were screened out: n_components may be too small")
    if not full:
        notes.append('guarantee(X, effort="full") compares fits on halves and from other starts')
    return "; ".join(notes) or "less noise or more samples: the structure is there, but not exact"


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


def _distinct(Z: NDArray[Any], near: float = 1e-3) -> NDArray[np.bool_]:
    """Samples that aren't 0, and no near copy (in direction) of an earlier one.

    Copies are neighbours along any direction, so samples are sorted along one, and compared with the next,
    the one after that, and so on while some are near enough there: n log n instead of all pairs.
    """
    norms = np.linalg.norm(Z, axis=1)
    distinct = norms > 0
    U = Z / np.where(distinct, norms, 1.0)[:, None]
    direction = np.random.default_rng(0).standard_normal(Z.shape[1])
    along = U @ (direction / np.linalg.norm(direction))
    order = np.flatnonzero(distinct)
    order = order[np.argsort(along[order], kind="stable")]
    along = along[order]
    for lag in range(1, len(order)):
        close = np.flatnonzero(along[lag:] - along[:-lag] <= near)
        if len(close) == 0:
            break
        first, second = np.sort([order[close], order[close + lag]], axis=0)
        first, second = first[distinct[second]], second[distinct[second]]
        distinct[second[np.sum((U[first] - U[second]) ** 2, axis=1) < near**2]] = False
    return distinct


def _piled(Z: NDArray[Any]) -> bool:
    """Whether over 5 % of the samples share a code's maximum while no sample is pure in it."""
    top = Z.max(axis=0, initial=0.0)
    at_top = np.mean(Z >= 0.98 * top, axis=0)
    positive = np.maximum(Z, 0.0)
    share = positive / np.maximum(positive.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return bool(np.any((at_top > 0.05) & (share.max(axis=0) < 0.9)))
