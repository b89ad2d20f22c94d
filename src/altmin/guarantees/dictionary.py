r"""Guarantee rows of orthogonal, complete and online dictionary learning.

The theorems' own conditions (Liang, Zhang, Fattahi and Zhang 2022, Theorems 1-3: theta, p theta^2 / n, the
condition number, the gap) are shown, but no single one of them separates right fits from wrong ones. The
verdict rests on two rules that made no false claim on fresh problems:

- *exact* (data without noise): every code has many distinct exact zeros, the samples behind them span the
  hyperplane that fixes the atom, and no pair of atoms has an oblique line with more zeros;
- *stable* (full effort, noise allowed): fits of two halves and of another start agree with the fit, codes
  don't share their supports, and held-out codes are sparser than those of any Gaussian data.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.dictionary.mixed_pairs import SUSPECT, suspicious_pairs, worst_gain
from altmin.guarantees.dictionary_theory import DictionaryEvidence, theorem_conditions
from altmin.guarantees.report import Condition, GuaranteeReport, check
from altmin.io.records import record

_SPAN = 0.25
_CONTINUOUS = (
    1.8  # kurtosis of nonzeros: 1 for +-1, 1.54 for sums of those, 1.9 and more for a law with a density
)
_CLAIM = "the atoms up to order, sign and scale, and the supports of the codes"


@record
class Stability:
    """What refits say: distances to the fit (worst matched sine), and held-out sparsity.

    Parameters
    ----------
    halves, restarts : float
        Worst distance of two half-fits, and of another start, to the fit.
    held_out : float
        Largest mean |z| / rms of an atom on samples that its half-fit hasn't seen.
    gaussian : float
        Smallest such value on Gaussian data of the same size.
    """

    halves: float
    restarts: float
    held_out: float
    gaussian: float


def dictionary_report(evidence: DictionaryEvidence, stability: Stability | None = None) -> GuaranteeReport:
    """The report of a fit.

    Parameters
    ----------
    evidence : DictionaryEvidence
        From the fit itself.
    stability : Stability or None
        From refits: full effort.

    Returns
    -------
    GuaranteeReport
        'recovered' by the exact or the stable rule; 'plausible' where starts agree on sparse codes.
    """
    exact, sparse = exact_conditions(evidence), sparse_conditions(evidence)
    always = [least_squares_agrees(evidence), shared_support(evidence), nothing_outside(evidence)]
    shared = always[1]
    settled = check(
        "the last rows fit the dictionary", "unsettled blocks", "evidence", float(evidence.unsettled),
        at_most=0, decisive=True, meaning="a stream whose last blocks don't fit has another dictionary now",
    )  # fmt: skip
    exact = [*exact, settled]
    sparse = [*sparse, settled]
    stable = [] if stability is None else [*stable_conditions(stability), settled, *always]
    error = sparse[1].measured
    noisy = evidence.residual > _zero_level(evidence)  # without noise only exact zeros prove anything
    if _all_hold(exact):
        verdict, error = "recovered", _zero_level(evidence)
    elif noisy and _all_hold([*sparse, *always]):
        verdict = "recovered"
    elif stability is not None:
        error = 2 * stability.halves
        stands = noisy and _all_hold(stable)
        verdict = "recovered" if stands else _weaker(evidence, sparse[0], shared, stability)
    else:
        verdict = _weaker(evidence, sparse[0], shared, stability)
    # rows of rules that don't apply, or weren't needed, are for information
    if _all_hold(exact) or not noisy:
        sparse, always, stable = _idle(sparse), _idle(always), _idle(stable)
    else:
        exact = _idle(exact)
        if stability is not None and not _all_hold([*sparse, *always]):
            sparse = _idle(sparse)
    rows = [*theorem_conditions(evidence), *exact[:-1], *sparse[:-1], *always, *stable[:-4]]
    rows += [settled] if evidence.theorem == 3 else []
    return GuaranteeReport(
        verdict,
        tuple(rows),
        effort="cheap" if stability is None else "full",
        estimated_error=error,
        advice=_advice(verdict, rows, stability),
        claim=_CLAIM,
    )


def exact_conditions(evidence: DictionaryEvidence) -> list[Condition]:
    """Exact zeros in every code, that span, and belong to no mixed-up pair."""
    Z, zero = _codes_with_zeros(evidence)
    k = Z.shape[1]
    distinct = _distinct(Z)
    zeros = zero[distinct].sum(axis=0)
    pairs = _pairs(Z)
    span = _span(Z[distinct], zero[distinct]) if zeros.min() >= k - 1 else None
    where = "evidence, exact rule"
    return [
        check(
            "every code has exact zeros", "zeros", where, float(zeros.min()) / k, decisive=True,
            at_least=1.2 if evidence.theorem == 1 else 2.5,
            meaning="distinct samples per atom in which the rarest-zero code vanishes to rounding",
        ),
        check(
            "zeros fix the atoms", "span", where, span, at_least=_SPAN, decisive=True,
            meaning="the samples in which a code vanishes span all other directions (1: evenly)",
        ),
        check(
            "no two atoms are mixed up", "pairs", where, pairs, decisive=True,
            at_most=min(0.5 * SUSPECT, -2.5 / max(len(Z), 1)),
            meaning="zeros that z_i - c z_j would have beyond those of z_i, as a share of the samples",
        ),
        check(
            "enough distinct samples", "n_eff", where, len(distinct) / k, decisive=True,
            at_least=1.5 if evidence.theorem == 1 else 7.0,
            meaning="distinct samples an atom: with few, several dictionaries have exact zeros",
        ),
        check(
            "no two atoms are always used together", "corr |z|, exact", where, _shared(evidence.codes),
            at_most=0.5, decisive=True,
            meaning="largest correlation of two atoms' absolute codes",
        ),
        check(
            "codes aren't both dense and discrete", "theta of discrete codes", where, _discrete_density(Z),
            at_most=0.45, decisive=True,
            meaning="with values like +-1 in half of the codes, sums of atoms have as many zeros as atoms",
        ),
        check(
            "codes explain the data", "residual", where, evidence.residual,
            at_most=_zero_level(evidence), decisive=True,
            meaning="share of the data that the codes leave over: noise, or atoms that are missing",
        ),
    ]  # fmt: skip


def stable_conditions(stability: Stability) -> list[Condition]:
    """Agreement of refits, and sparsity that Gaussian data wouldn't have."""
    where = "evidence, stable rule"
    return [
        check(
            "halves agree", "hf", where, stability.halves, at_most=0.08, decisive=True,
            meaning="worst distance of an atom of either half's fit from the fit",
        ),
        check(
            "another start agrees", "restart distance", where, stability.restarts, at_most=0.05,
            decisive=True,
            meaning="worst distance of an atom of a fit from another start",
        ),
        check(
            "sparser than Gaussian data", "E|z|", where, stability.held_out - stability.gaussian,
            at_most=-0.08, decisive=True,
            meaning="worst held-out mean |z| minus the smallest that Gaussian data of this size give",
        ),
    ]  # fmt: skip


def shared_support(evidence: DictionaryEvidence) -> Condition:
    """Codes that are large together are recovered as a subspace only."""
    return check(
        "codes don't share supports", "corr |z|", "evidence, stable rule",
        _shared(evidence.codes),
        at_most=min(0.25, 0.1 + 3 / float(np.sqrt(max(len(evidence.codes), 1)))), decisive=True,
        meaning="Assumption 1 wants independent supports: atoms whose codes come together can be told apart "
        "only as a subspace",
    )  # fmt: skip


def sparse_conditions(evidence: DictionaryEvidence) -> list[Condition]:
    """Codes far sparser than those of noise, from many distinct samples, with little noise in the atoms."""
    Z = np.abs(evidence.codes.astype(np.float64))
    rms = np.sqrt(np.mean(Z**2, axis=0))
    k, p = Z.shape[1], max(evidence.n_samples, 1)
    distinct = len(_distinct(_codes_with_zeros(evidence)[0])) / len(Z) * p
    where = "evidence, sparse rule"
    return [
        check(
            "codes are sparser than Gaussian ones", "E|z| of the fit", where,
            float(np.max(Z.mean(axis=0) / np.where(rms > 0, rms, 1.0))),
            at_most=0.65 - float(np.sqrt(k / p)), decisive=True,
            meaning="largest mean |z| over rms: .8 for Gaussian codes, from which a search gains sqrt(k / p)",
        ),
        check(
            "noise leaves little error", "3 se", where, 3 * standard_error(evidence), at_most=0.05,
            decisive=True, meaning="what dropped codes, taken for noise, do to atoms by least squares",
        ),
        check(
            "samples are distinct", "n_eff / k", where, distinct / k, at_least=20.0, decisive=True,
            meaning="copies of a sample carry no information",
        ),
        check(
            "starts agree", "agreeing starts", where,
            2.0 if evidence.agreeing is None else float(evidence.agreeing), at_least=2.0, decisive=True,
            meaning="several starts led to the same dictionary (or there is one start by design)",
        ),
    ]  # fmt: skip


def standard_error(evidence: DictionaryEvidence) -> float:
    """Worst error of an atom that noise of the size of the dropped codes leaves in least squares."""
    Z = evidence.codes.astype(np.float64)
    dropped = np.where(np.abs(Z) >= evidence.thresholds, 0.0, Z)
    noise = np.sqrt(np.mean(np.sum((dropped @ evidence.components.astype(np.float64)) ** 2, axis=1)))
    used = np.sqrt(np.maximum(evidence.n_samples * evidence.density, 1.0))
    return float(np.max(noise / np.maximum(evidence.size * used, 1e-300)))


def least_squares_agrees(evidence: DictionaryEvidence) -> Condition:
    """Atoms that least squares gives for these supports, seen from the fitted ones; noise averages out.

    With Z the codes before the threshold and S those kept, X = Z A, so least squares gives (S^+ Z) A.
    """
    Z = evidence.codes.astype(np.float64)
    # codes that are small against their kind are left out: there leaks of other atoms are taken for codes
    S = np.where(np.abs(Z) >= np.maximum(evidence.thresholds, 0.3 * evidence.size), Z, 0.0)
    A = evidence.components.astype(np.float64)
    unit = np.where(evidence.size > 0, evidence.size, 1.0)
    S = S / unit
    solution = np.linalg.pinv(S.T @ S, rcond=1e-12, hermitian=True) @ (S.T @ Z)
    apart = _worst_sine(solution @ A, A)
    return check(
        "least squares agrees", "free atoms", "evidence, stable rule", apart, at_most=0.05, decisive=True,
        meaning="distance of the atoms to those that least squares gives for the same supports: large "
        "where atoms aren't as constrained (orthogonal) or supports are wrong",
    )  # fmt: skip


def nothing_outside(evidence: DictionaryEvidence) -> Condition:
    """Fewer atoms than features: noise leaves as much a dimension outside their span as inside."""
    k, n = evidence.components.shape
    ratio = 0.0
    if k < n:
        X = evidence.codes.astype(np.float64) @ evidence.components.astype(np.float64)
        dropped = np.where(np.abs(evidence.codes) >= evidence.thresholds, 0.0, evidence.codes)
        inside = np.sum((dropped @ evidence.components) ** 2) / max(np.sum(X**2), 1e-300)
        outside = max(evidence.residual**2 - inside, 0.0)
        ratio = float((outside / (n - k)) / (inside / k + 1e-12))
    return check(
        "no atom is missing", "outside", "evidence", ratio, at_most=2.0, decisive=True,
        meaning="energy a dimension outside the span of the atoms, over that of dropped codes inside",
    )  # fmt: skip


def _worst_sine(atoms: NDArray[Any], reference: NDArray[Any]) -> float:
    norms = np.linalg.norm(atoms, axis=1)
    U = atoms / np.where(norms > 0, norms, 1.0)[:, None]
    R = reference / np.linalg.norm(reference, axis=1, keepdims=True)
    along = np.einsum("ij,ij->i", U, R)
    return float(np.linalg.norm(R - along[:, None] * U, axis=1).max())


def _shared(codes: NDArray[Any]) -> float | None:
    """Largest correlation of two atoms' absolute codes; None where a code never varies."""
    A = np.abs(codes)
    if A.shape[1] == 1:
        return 0.0
    if not A.std(axis=0).all():
        return None
    correlation = np.corrcoef(A, rowvar=False)
    np.fill_diagonal(correlation, -1.0)
    return float(correlation.max())


def _codes_with_zeros(evidence: DictionaryEvidence) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Codes in units of their size, those that vanish to rounding set to zero, and where they did."""
    Z = evidence.codes.astype(np.float64) / np.where(evidence.size > 0, evidence.size, 1.0)
    zero = np.abs(Z) <= _zero_level(evidence)
    return np.where(zero, 0.0, Z), zero


def _zero_level(evidence: DictionaryEvidence) -> float:
    return max(1e-6, 1e3 * float(np.finfo(evidence.components.dtype).eps))


def _distinct(Z: NDArray[Any]) -> NDArray[np.intp]:
    """One row of each group of near-duplicates (1e-3): copies are no further evidence."""
    norms = np.linalg.norm(Z, axis=1)
    rows = np.flatnonzero(norms > 0)
    directions = Z[rows] / norms[rows, None]
    lead = directions[np.arange(len(rows)), np.abs(directions).argmax(axis=1)]
    grid = np.round(directions * np.sign(lead)[:, None], 3) + 0.0
    keys = grid @ np.random.default_rng(0).standard_normal(Z.shape[1])  # one number a cell
    return rows[np.unique(np.round(keys, 9), return_index=True)[1]]


def _pairs(Z: NDArray[Any]) -> float:
    """Largest gain of zeros of any pair of atoms; bounds by supports spare almost all of the search."""
    if Z.shape[1] == 1:
        return -1.0
    used = (Z != 0).astype(np.float64)
    joint = used.T @ used
    suspects = suspicious_pairs(joint, len(Z))
    gain = (2 * joint - np.diag(joint)[None, :]) / len(Z)
    gain[tuple(suspects.T)] = -1.0
    np.fill_diagonal(gain, -1.0)
    return worst_gain(suspects, Z[:, np.unique(suspects)], float(gain.max()))


def _discrete_density(Z: NDArray[Any]) -> float:
    """Largest share of nonzeros of an atom whose nonzeros are nearly of one size; 0 where none is."""
    used = np.maximum(np.count_nonzero(Z, axis=0), 1)
    squares = Z * Z
    kurtosis = (squares * squares).sum(axis=0) / used / np.maximum((squares.sum(axis=0) / used) ** 2, 1e-300)
    return float(np.max(np.where(kurtosis < _CONTINUOUS, used / len(Z), 0.0)))


def _span(Z: NDArray[Any], zero: NDArray[np.bool_]) -> float:
    """Worst over atoms of sigma_min / sqrt(count / (k - 1)) of the unit samples in which its code is zero."""
    k = Z.shape[1]
    if k == 1:
        return 1.0
    U = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    total = U.T @ U
    grams = np.empty((k, k, k))
    for i in range(k):
        used = U[~zero[:, i]]
        grams[i] = total - used.T @ used
        grams[i, i, :] = grams[i, :, i] = 0.0
        grams[i, i, i] = len(U)  # its own direction is left out: as large as none of the others
    least = np.maximum(np.linalg.eigvalsh(grams)[:, 0], 0.0)
    return float(np.sqrt(least * (k - 1) / np.maximum(zero.sum(axis=0), 1)).min())


def _idle(conditions: list[Condition]) -> list[Condition]:
    return [replace(condition, decisive=False) for condition in conditions]


def _all_hold(conditions: list[Condition]) -> bool:
    return all(condition.status == "holds" for condition in conditions)


def _weaker(
    evidence: DictionaryEvidence, sparse: Condition, shared: Condition, stability: Stability | None
) -> str:
    """'plausible' for sparse codes of unshared support on which starts (or halves) agree."""
    likely = (sparse.measured or 1.0) < 0.75 - np.sqrt(evidence.codes.shape[1] / max(evidence.n_samples, 1))
    likely = likely and float(np.max(evidence.density)) < 0.7 and shared.status == "holds"
    if stability is None:
        agree = evidence.agreeing is None or evidence.agreeing >= 2
    else:
        agree = max(stability.halves, stability.restarts) <= 0.3
    return "plausible" if likely and agree else "not supported"


_NEXT = {
    "zeros": "codes have too few exact zeros: more samples, or they aren't sparse under any dictionary",
    "span": "codes vanish in too few different samples: more samples",
    "pairs": "two atoms may be mixed up: more samples, or another random_state",
    "n_eff": "more distinct samples",
    "theta of discrete codes": "several dictionaries fit dense discrete codes alike",
    "E|z| of the fit": "codes are hardly sparser than noise: no sparse dictionary is seen",
    "3 se": "noise blurs the atoms: more samples",
    "n_eff / k": "more distinct samples",
    "agreeing starts": "starts lead to different dictionaries: more samples, or a larger n_restarts",
    "free atoms": "atoms don't fit their supports: CompleteDictionaryLearning needs no orthogonality",
    "corr |z|": "some atoms are always used together: they are known as a subspace only",
    "corr |z|, exact": "some atoms are always used together: they are known as a subspace only",
    "unsettled blocks": "the stream changed: wait for more samples",
    "outside": "atoms are missing: a larger n_components",
    "hf": "fits on halves disagree: more samples",
    "restart distance": "another start leads elsewhere: more samples",
    "E|z|": "held-out codes are hardly sparser than noise: no sparse dictionary is seen",
}


def _advice(verdict: str, rows: list[Condition], stability: Stability | None) -> str:
    if verdict == "recovered":
        return ""
    broken = [row.symbol for row in rows if row.decisive and row.status != "holds"]
    notes = list(dict.fromkeys(_NEXT[symbol] for symbol in broken if symbol in _NEXT))[:3]
    if stability is None:
        notes.append("guarantee(X, effort='full') refits halves and another start")
    return "; ".join(notes) or "more samples"
