"""Conditions of Liang, Zhang, Fattahi and Zhang 2022: Assumption 1, Theorems 1 to 3; for information.

Constants that the paper leaves open are taken as 1. No condition separates right fits from wrong ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.guarantees.report import Condition, check, unchecked
from altmin.io.records import record

PAPER = "Liang et al. 2022"
_ENTRIES = 100_000  # codes that are looked at


@record
class DictionaryEvidence:
    """What a fit knows about itself.

    Parameters
    ----------
    codes : ndarray of shape (n_sampled, n_components)
        Codes of some samples before any threshold.
    thresholds, size, density : ndarray of shape (n_components,)
        Of each atom: threshold, rms of the kept codes, share of kept codes.
    components : ndarray of shape (n_components, n_features)
        The atoms.
    n_samples : int
        Samples of the fit.
    residual : float
        Share of the data (in norm) that the codes leave over.
    changes : tuple of float
        How far the dictionary moved, pass by pass, in the last phase.
    agreeing : int or None
        How many starts led to this dictionary; None where there was one start by design.
    theorem : int
        Of the paper: 1 orthogonal, 2 complete, 3 online.
    batch : int or None
        Samples of a pass (mini-batch, window); None is all of them.
    start : float or None
        Distance of a given start from the atoms (Frobenius, matched); None where starts are searched.
    unsettled : int
        Last blocks of a stream that the dictionary doesn't fit.
    """

    codes: NDArray[Any]
    thresholds: NDArray[Any]
    size: NDArray[Any]
    density: NDArray[Any]
    components: NDArray[Any]
    n_samples: int
    residual: float
    changes: tuple[float, ...]
    agreeing: int | None
    theorem: int
    batch: int | None = None
    start: float | None = None
    unsettled: int = 0


def theorem_conditions(evidence: DictionaryEvidence) -> list[Condition]:
    """The conditions of the theorem that speaks of the fit.

    Parameters
    ----------
    evidence : DictionaryEvidence
        From the fit itself.

    Returns
    -------
    list of Condition
        None of them decisive.
    """
    some = evidence.codes[:: max(-(-evidence.codes.size // _ENTRIES), 1)]  # for information: some are enough
    evidence = replace(evidence, codes=some)
    return [*_assumption(evidence), *_theorem(evidence)]


def _assumption(evidence: DictionaryEvidence) -> list[Condition]:
    """Assumption 1: independent supports of one density, nonzeros of mean 0, bounded away from 0."""
    where = f"{PAPER}, Assumption 1"
    kept = _kept(evidence)
    used = np.maximum(np.count_nonzero(kept, axis=0), 1)
    square = kept * kept
    squares = square.sum(axis=0) / used
    fourth = (square * square).sum(axis=0) / used
    mean = kept.sum(axis=0) / np.sqrt(np.maximum(square.sum(axis=0), 1e-300))
    density = np.maximum(evidence.density, 1e-300)
    return [
        check("one density for all atoms", "max theta / min theta", where,
              float(density.max() / density.min()), at_most=2.0,
              meaning="Bernoulli supports with the same theta; atoms that are used rarely are learned last"),
        check("nonzero codes have mean 0", "|t| of E z", where, float(np.abs(mean).max()), at_most=4.5,
              meaning="t statistic of the worst atom; codes of one sign are recovered all the same"),
        check("nonzero codes are sub-Gaussian", "kurtosis", where,
              float(np.max(fourth / np.maximum(squares**2, 1e-300))), at_most=10.0,
              meaning="E z^4 / (E z^2)^2 of the worst atom, 3 for Gaussian ones; large: heavy tails"),
        check("nonzero codes are bounded away from zero", "gap", where, _gap(evidence), at_least=2.0,
              meaning="smallest kept over largest dropped code; not needed, as thresholds follow the error"),
        unchecked("codes are independent over samples", "i.i.d.", where,
                  "the order and origin of the samples aren't known; near copies are counted in n_eff"),
    ]  # fmt: skip


def _theorem(evidence: DictionaryEvidence) -> list[Condition]:
    theta, n = float(np.mean(evidence.density)), evidence.components.shape[1]
    orthogonal = evidence.theorem == 1
    where = f"{PAPER}, Theorem {evidence.theorem}"
    batch = evidence.batch or evidence.n_samples
    condition = float(np.linalg.cond(evidence.components.astype(np.float64)))
    near = 1 / max(np.log(n), 1.0) if orthogonal else 1 / (condition**6 * max(np.log(n), 1.0))
    sizes = [
        check("codes are sparse", "theta", where, theta, at_most=1 / 144 if orthogonal else 1 / 5600,
              meaning="The proof's constant; in practice up to .3 and more is recovered."),
        check("enough samples in a pass", "p theta^2 / n", where, batch * theta**2 / n, at_least=1.0,
              meaning="Below 1 the supports say little (constant 1)."),
    ]  # fmt: skip
    whitening = [] if orthogonal else _whitening(evidence, where, condition, theta)
    return [
        *sizes,
        *whitening,
        check("start is near the truth", "start", where, evidence.start, at_most=near,
              meaning="Frobenius distance of a given start from the atoms; searched starts need none."),
        check("threshold is at most half of the smallest code", "zeta / Gamma", where, _threshold(evidence),
              at_most=0.5, meaning="Larger ones drop true codes; threshold='auto' chooses."),
        check("data have no noise", "noise", where, evidence.residual, at_most=1e-6,
              meaning="Share of the data that the codes leave over; the theorems speak of none."),
        check("passes contract", "rate", f"{where}: 1/2 at most", _rate(evidence.changes), at_most=0.8,
              meaning="How much smaller each pass's move is than the one before."),
    ]  # fmt: skip


def _whitening(evidence: DictionaryEvidence, where: str, condition: float, theta: float) -> list[Condition]:
    """What dictionaries that aren't orthogonal ask for: samples for a preconditioner, and conditioning."""
    n = evidence.components.shape[1]
    logs = 2 * np.log(n) + np.log(max(np.log(n), 1.0)) + 12 * np.log(condition)
    need = float(np.exp(min(logs - np.log(max(theta**2 * _smallest(evidence), 1e-300)), 600.0)))
    return [
        check("enough samples for the preconditioner", "p / (n^2 log n kappa^12 / theta^2 Gamma)", where,
              evidence.n_samples / need, at_least=1.0,
              meaning="With sigma = 1; what whitening by few samples leaves is removed by the polish here."),
        check("dictionary is well conditioned", "kappa(A)", where, condition, at_most=1e3,
              meaning="Enters the paper's bound as its sixth power; the polish here removes that."),
    ]  # fmt: skip


def _kept(evidence: DictionaryEvidence) -> NDArray[Any]:
    """Codes above the threshold in units of their size, the others 0."""
    Z = evidence.codes.astype(np.float64)
    return np.where(np.abs(Z) >= evidence.thresholds, Z, 0.0) / np.where(
        evidence.size > 0, evidence.size, 1.0
    )


def _smallest(evidence: DictionaryEvidence) -> float:
    """Gamma: what 99 % of the nonzero codes exceed, in units of their size."""
    kept = np.abs(_kept(evidence))
    return float(np.quantile(kept[kept > 0], 0.01)) if kept.any() else 0.0


def _threshold(evidence: DictionaryEvidence) -> float | None:
    """Largest threshold over the smallest kept code of its atom (99 % exceed it)."""
    Z = np.sort(np.abs(evidence.codes.astype(np.float64)), axis=0)
    kept = np.sum(Z >= evidence.thresholds, axis=0)
    if not kept.all():
        return None
    rows = len(Z) - kept + (0.01 * kept).astype(int)
    smallest = Z[rows, np.arange(Z.shape[1])]
    return float(np.max(evidence.thresholds / np.maximum(smallest, 1e-300)))


def _gap(evidence: DictionaryEvidence) -> float | None:
    """q.01 of the kept codes over q.999 of the dropped ones, in units of the codes' size."""
    Z = np.abs(evidence.codes) / np.where(evidence.size > 0, evidence.size, 1.0)
    kept = np.abs(evidence.codes) >= evidence.thresholds
    if not kept.any() or kept.all():
        return None
    low = float(np.quantile(Z[~kept], 0.999))
    return float(np.quantile(Z[kept], 0.01)) / max(low, np.finfo(float).tiny)


def _rate(changes: Sequence[float]) -> float | None:
    moves = np.array([change for change in changes if 1e-11 < change < 0.5])
    return float(np.median(moves[1:] / moves[:-1])) if len(moves) > 2 else None
