r"""Whether orthogonal, complete and online dictionary learning found the true atoms.

The theorems' own conditions (Liang, Zhang, Fattahi and Zhang 2022, Theorems 1-3: theta, p theta^2 / n, the
condition number, the gap) are shown, but no single one of them separates right fits from wrong ones. The
verdict rests on rules that made no false claim on fresh problems:

- *exact* (data without noise): every code has many distinct exact zeros, the samples behind them span the
  hyperplane that fixes the atom, and no pair of atoms has an oblique line with more zeros;
- *sparse* (data with noise): codes are far sparser than those of any Gaussian data, and noise leaves little
  error in the atoms;
- *stable* (full effort, noise allowed): fits of two halves and of another start agree with the fit, codes
  don't share their supports, and held-out codes are sparser than those of any Gaussian data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.dictionary.mixed_pairs import SUSPECT, suspicious_pairs, worst_gain
from altmin.guarantees.contract import Family, Rule
from altmin.guarantees.dictionary_theory import DictionaryEvidence, theorem_conditions
from altmin.guarantees.refits import distinct
from altmin.guarantees.report import Condition, check

_SPAN = 0.25
_CONTINUOUS = 1.8  # kurtosis of nonzeros: 1 for +-1, 1.54 for sums of those, 1.9 and more for a density
_EXACT = ("zeros", "span", "pairs", "n_eff", "used_apart", "not_discrete", "residual")
_ALWAYS = ("free_atoms", "supports", "none_missing")
_SPARSE = ("sparse", "low_noise", "many_samples", "starts_agree", *_ALWAYS)
_STABLE = ("halves", "restarts", "sparser_than_noise", *_ALWAYS)


def conditions(e: DictionaryEvidence) -> list[Condition]:
    """The theorems' conditions, then those of the rules."""
    rows = [*theorem_conditions(e), *_exact_rows(e), *_sparse_rows(e)]
    rows += [_least_squares(e), _shared_support(e), _nothing_outside(e)]
    if e.halves is not None:
        rows += _stable_rows(e)
    if e.theorem == 3:
        rows.append(
            check(
                "the last rows fit the dictionary", "unsettled blocks", "evidence", float(e.unsettled),
                at_most=0, id="settled",
                meaning="A stream whose last blocks don't fit has another dictionary now.",
            )
        )  # fmt: skip
    return rows


def rules(e: DictionaryEvidence) -> list[Rule]:
    """Without noise only exact zeros prove anything; with noise sparsity or the agreement of fits."""
    settled = ("settled",) if e.theorem == 3 else ()
    if e.residual <= zero_level(e):
        found = [Rule("recovered", "exact", (*_EXACT, *settled))]
    else:
        found = [Rule("recovered", "sparse", (*_SPARSE, *settled))]
        if e.halves is not None:
            found.append(Rule("recovered", "stable", (*_STABLE, *settled)))
    if float(np.max(e.density)) < 0.7:
        sparse = 0.75 - float(np.sqrt(e.codes.shape[1] / max(e.n_samples, 1)))
        agree = ("starts_agree",) if e.halves is None else ()
        loosely = {"sparse": sparse, "halves": 0.3, "restarts": 0.3}
        found.append(Rule("plausible", "sparse at all", ("supports", *agree), loosely))
    return found


def error(e: DictionaryEvidence, rule: Rule | None) -> float | None:
    """Rounding for exact zeros; least squares' error by noise; twice the disagreement of halves."""
    if rule is not None and rule.name == "exact":
        return zero_level(e)
    if e.halves is None or (rule is not None and rule.name == "sparse"):
        return 3 * standard_error(e)
    return 2 * e.halves


DICTIONARY = Family(
    claim="the atoms up to order, sign and scale, and the supports of the codes",
    conditions=conditions,
    rules=rules,
    error=error,
    advice={
        "zeros": "codes have too few exact zeros: more samples, or they aren't sparse under any dictionary",
        "span": "codes vanish in too few different samples: more samples",
        "pairs": "two atoms may be mixed up: more samples, or another random_state",
        "n_eff": "more distinct samples",
        "not_discrete": "several dictionaries fit dense discrete codes equally well",
        "sparse": "codes are hardly sparser than noise: no sparse dictionary is seen",
        "low_noise": "noise blurs the atoms: more samples",
        "many_samples": "more distinct samples",
        "starts_agree": "starts lead to different dictionaries: more samples, or a larger n_restarts",
        "free_atoms": "atoms don't fit their supports: CompleteDictionaryLearning needs no orthogonality",
        "supports": "some atoms are always used together: they are known as a subspace only",
        "used_apart": "some atoms are always used together: they are known as a subspace only",
        "settled": "the stream changed: wait for more samples",
        "none_missing": "atoms are missing: a larger n_components",
        "halves": "fits on halves disagree: more samples",
        "restarts": "another start leads elsewhere: more samples",
        "sparser_than_noise": "held-out codes are hardly sparser than noise: no sparse dictionary is seen",
    },
    closer="guarantee(X, effort='full') compares fits on halves and from another start",
    otherwise="more samples",
)


def look(
    codes: NDArray[Any], components: NDArray[Any], thresholds: NDArray[Any], X: NDArray[Any], **facts: Any
) -> DictionaryEvidence:
    """Evidence of some samples for a dictionary.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Their codes, before any threshold.
    components, thresholds : ndarray
        The dictionary, and the size below which a code counts as 0.
    X : ndarray of shape (n_samples, n_features)
        The samples.
    **facts : object
        The other fields of :class:`DictionaryEvidence`.

    Returns
    -------
    DictionaryEvidence
        What these samples say.
    """
    kept = np.where(np.abs(codes) >= thresholds, codes, 0.0)
    counts = np.count_nonzero(kept, axis=0)
    total = float(np.sum(np.square(X, dtype=np.float64)))
    left = float(np.sum(np.square(X - kept @ components, dtype=np.float64)))
    return DictionaryEvidence(
        codes=codes.astype(components.dtype, copy=False),
        thresholds=thresholds,
        size=np.sqrt(np.sum(kept**2, axis=0) / np.maximum(counts, 1)),
        density=counts / max(len(codes), 1),
        components=components,
        residual=float(np.sqrt(left / total)) if total > 0 else 1.0,
        **facts,
    )


def gaussian_spread(n_components: int, n_samples: int) -> float:
    """Smallest mean |z| over rms of any atom that Gaussian codes, of as many samples, have in three tries."""
    normal = np.abs(np.random.default_rng(0).standard_normal((3 * n_components, n_samples)))
    return float(spread(normal.T).min())


def spread(codes: NDArray[Any]) -> NDArray[Any]:
    """Mean |z| over rms of each atom: .8 for Gaussian codes, less for sparse ones."""
    rms = np.sqrt(np.mean(np.square(codes, dtype=np.float64), axis=0))
    return np.asarray(np.mean(np.abs(codes), axis=0) / np.where(rms > 0, rms, 1.0))


def _exact_rows(evidence: DictionaryEvidence) -> list[Condition]:
    """Exact zeros in every code, that span, and belong to no mixed-up pair."""
    Z, zero = _codes_with_zeros(evidence)
    k = Z.shape[1]
    rows = np.flatnonzero(distinct(Z))
    zeros = zero[rows].sum(axis=0)
    pairs = _pairs(Z)
    span = _span(Z[rows], zero[rows]) if zeros.min() >= k - 1 else None
    where = "evidence, exact rule"
    return [
        check(
            "every code has exact zeros", "zeros", where, float(zeros.min()) / k,
            at_least=1.2 if evidence.theorem == 1 else 2.5,
            id="zeros",
            meaning="Distinct samples without an atom, over the number of atoms; of the most used atom.",
        ),
        check(
            "zeros fix the atoms", "span", where, span, at_least=_SPAN,
            id="span", meaning="Whether the samples without an atom span all other directions (1: evenly).",
        ),
        check(
            "no two atoms are mixed up", "pairs", where, pairs,
            at_most=min(0.5 * SUSPECT, -2.5 / max(len(Z), 1)),
            id="pairs", meaning="Zeros that a mixture of two atoms would add, as a share of the samples.",
        ),
        check(
            "enough distinct samples", "n_eff", where, len(rows) / k,
            at_least=1.5 if evidence.theorem == 1 else 7.0,
            id="n_eff", meaning="Distinct samples per atom; with few, several dictionaries have exact zeros.",
        ),
        check(
            "no two atoms are always used together", "corr |z|, exact", where, _shared(evidence.codes),
            at_most=0.5,
            id="used_apart", meaning="Largest correlation between the sizes of two atoms' codes.",
        ),
        check(
            "codes aren't both dense and discrete", "theta of discrete codes", where, _discrete_density(Z),
            at_most=0.45,
            id="not_discrete",
            meaning="With codes of +-1 in half of the samples, sums of atoms are as sparse as atoms.",
        ),
        check(
            "codes explain the data", "residual", where, evidence.residual,
            at_most=zero_level(evidence),
            id="residual", meaning="Share of the data that the codes leave over: noise, or missing atoms.",
        ),
    ]  # fmt: skip


def _stable_rows(e: DictionaryEvidence) -> list[Condition]:
    """Agreement of refits, and sparsity that Gaussian data wouldn't have."""
    where = "evidence, stable rule"
    held_out = None if e.held_out is None or e.gaussian is None else e.held_out - e.gaussian
    return [
        check(
            "halves agree", "hf", where, e.halves, at_most=0.08,
            id="halves", meaning="Largest sine between an atom and that of a fit on half of the samples.",
        ),
        check(
            "another start agrees", "restart distance", where, e.restarts, at_most=0.05,
            id="restarts", meaning="Largest sine between an atom and that of a fit from another start.",
        ),
        check(
            "sparser than Gaussian data", "E|z|", where, held_out,
            at_most=-0.08,
            id="sparser_than_noise",
            meaning="Worst held-out mean |z| minus the smallest that Gaussian data give.",
        ),
    ]  # fmt: skip


def _shared_support(evidence: DictionaryEvidence) -> Condition:
    """Codes that are large together are recovered as a subspace only."""
    return check(
        "codes don't share supports", "corr |z|", "evidence, stable rule",
        _shared(evidence.codes),
        at_most=min(0.25, 0.1 + 3 / float(np.sqrt(max(len(evidence.codes), 1)))),
        id="supports",
        meaning="Atoms whose codes always come together can be told apart only as a subspace.",
    )  # fmt: skip


def _sparse_rows(evidence: DictionaryEvidence) -> list[Condition]:
    """Codes far sparser than those of noise, from many distinct samples, with little noise in the atoms."""
    Z = np.abs(evidence.codes.astype(np.float64))
    k, p = Z.shape[1], max(evidence.n_samples, 1)
    apart = float(np.mean(distinct(_codes_with_zeros(evidence)[0]))) * p
    where = "evidence, sparse rule"
    return [
        check(
            "codes are sparser than Gaussian ones", "E|z| of the fit", where,
            float(spread(Z).max()),
            at_most=0.65 - float(np.sqrt(k / p)),
            id="sparse", meaning="Largest mean |z| over rms of an atom: .8 for Gaussian codes.",
        ),
        check(
            "noise leaves little error", "3 se", where, 3 * standard_error(evidence), at_most=0.05,
            id="low_noise", meaning="Error that noise of the size of the dropped codes leaves in an atom.",
        ),
        check(
            "samples are distinct", "n_eff / k", where, apart / k, at_least=20.0,
            id="many_samples", meaning="Copies of a sample carry no information.",
        ),
        check(
            "starts agree", "agreeing starts", where,
            2.0 if evidence.agreeing is None else float(evidence.agreeing), at_least=2.0,
            id="starts_agree",
            meaning="Starts that led to this dictionary (or there is one start by design).",
        ),
    ]  # fmt: skip


def standard_error(evidence: DictionaryEvidence) -> float:
    """Worst error of an atom that noise of the size of the dropped codes leaves in least squares."""
    Z = evidence.codes.astype(np.float64)
    dropped = np.where(np.abs(Z) >= evidence.thresholds, 0.0, Z)
    noise = np.sqrt(np.mean(np.sum((dropped @ evidence.components.astype(np.float64)) ** 2, axis=1)))
    used = np.sqrt(np.maximum(evidence.n_samples * evidence.density, 1.0))
    return float(np.max(noise / np.maximum(evidence.size * used, 1e-300)))


def _least_squares(evidence: DictionaryEvidence) -> Condition:
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
        "least squares agrees", "free atoms", "evidence, stable rule", apart, at_most=0.05,
        id="free_atoms",
        meaning="Largest sine between an atom and the one that least squares gives for the same supports; "
        "large where the atoms aren't orthogonal, though they were fitted so, or supports are wrong.",
    )  # fmt: skip


def _nothing_outside(evidence: DictionaryEvidence) -> Condition:
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
        "no atom is missing", "outside", "evidence", ratio, at_most=2.0,
        id="none_missing",
        meaning="Energy per dimension outside the span of the atoms, over that of dropped codes inside.",
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
    zero = np.abs(Z) <= zero_level(evidence)
    return np.where(zero, 0.0, Z), zero


def zero_level(evidence: DictionaryEvidence) -> float:
    """Codes up to this share of their size vanish, to rounding."""
    return max(1e-6, 1e3 * float(np.finfo(evidence.components.dtype).eps))


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
    least = np.empty(k)
    for i in range(k):
        used = U[~zero[:, i]]
        gram = total - used.T @ used
        gram[i, :] = gram[:, i] = 0.0
        gram[i, i] = len(U)  # its own direction is left out: as large as none of the others
        least[i] = max(float(np.linalg.eigvalsh(gram)[0]), 0.0)
    return float(np.sqrt(least * (k - 1) / np.maximum(zero.sum(axis=0), 1)).min())
