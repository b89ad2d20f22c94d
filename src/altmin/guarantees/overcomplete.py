"""What is certain about an approximate dictionary: error, bounds on any dictionary, the theorems' promises.

The worst-case bounds of the paper are vacuous at useful sizes; the report prints them as such next to
what was achieved. No rule was found that tells recovered atoms from stable wrong ones without false
claims (merged atoms of a dictionary asked to be too small are stable), so the verdict is 'plausible'
at most, and atom by atom.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.guarantees.contract import Family, Rule, Table, Test, each, shown, whole
from altmin.guarantees.report import Condition, check, unchecked
from altmin.io.records import record

PAPER = "Bhaskara & Tai 2019"
HALVES, USE, SURROGATE = 0.05, 10.0, 0.5


@record
class AtomEvidence:
    """Measured quantities of a fit, all relative to the rows as the fit weighted them.

    Parameters
    ----------
    error : float
        Squared error over the squared norm of the data (trimmed where outliers were allowed for).
    n_atoms, n_features, n_rows, nonzeros, most_nonzeros : int
        Sizes; nonzeros of all codes, and of the row with most.
    largest_code : float
        Largest squared norm of a row's codes over that of the row, Lambda-hat.
    data_spectrum, residual_spectrum : ndarray or None
        Eigenvalues of the Gram matrices of data and residual, over the data's trace, falling; None
        where there are too many features to compute them.
    n_nonzero, bound, target, contamination : float
        k, Lambda, epsilon (None: not asked for) and rho as the user gave them.
    theory : bool
        Whether the paper's own algorithm ran.
    trimmed_gap : float or None
        Smallest score of a row declared an outlier, over the largest of the others.
    sines, use : ndarray of shape (n_atoms,) or None
        Of each atom: sine to its match in the half fit that is worse for it, rows that use it; full effort.
    held_out, surrogate : float
        Error of a half's dictionary on the other half; the same for Gaussian data of equal covariance.
    """

    error: float
    n_atoms: int
    n_features: int
    n_rows: int
    nonzeros: int
    most_nonzeros: int
    largest_code: float
    data_spectrum: Any
    residual_spectrum: Any
    n_nonzero: int
    bound: float
    target: float | None
    contamination: float
    theory: bool
    n_asked: int
    trimmed_gap: float | None = None
    sines: Any = None
    use: Any = None
    held_out: float = float("nan")
    surrogate: float = float("nan")


def tests(fit: AtomEvidence) -> list[Test]:
    """What further fits say of each atom, what is certain, and what the theorems promise."""
    known = [*shown(*_certain(fit)), *shown(*_promised(fit)), _proof()]
    return known if fit.sines is None else [*_stability(fit), *known]


def plausible_atoms(fit: AtomEvidence) -> NDArray[np.bool_]:
    """Which atoms agree between halves, are used, and belong to data that has sparse structure at all."""
    structured = fit.held_out < SURROGATE * fit.surrogate
    return (np.asarray(fit.sines) <= HALVES) & (np.asarray(fit.use) >= USE) & structured


def _stability(fit: AtomEvidence) -> list[Test]:
    """Agreement of halves, atom by atom, and sparsity that Gaussian data wouldn't have."""
    return [
        whole("samples are sparser than Gaussian ones", "error / error without atoms",
              fit.held_out / fit.surrogate if fit.surrogate > 0 else np.nan, at_most=SURROGATE,
              id="structure",
              meaning="Error on samples that the atoms were not fitted to, over that of Gaussian data of the "
              "same covariance, which have no atoms."),
        each("fits on halves agree", "halves", fit.sines, at_most=HALVES, id="halves",
             against="half of the samples lead elsewhere",
             meaning="Largest sine between an atom and that of a fit on half of the samples."),
        each("atoms are used", "use", fit.use, at_least=USE, id="use", against="hardly any sample uses it",
             meaning="Samples that use the atom."),
    ]  # fmt: skip


def _proof() -> Test:
    return whole(
        "wrong atoms would have been noticed", "alternatives", None, id="alternatives",
        otherwise="plausible",
        meaning="Wrong atoms may pass all these tests (where there are too few components, one merges "
        "several true ones), and no test is known that tells. So 'plausible' is the most that is said.",
    )  # fmt: skip


def _table(fit: AtomEvidence) -> Table | None:
    if fit.sines is None:
        return None
    unknown = np.full(len(fit.sines), np.nan)
    return Table(np.asarray(fit.sines), unknown, np.asarray(fit.use))


OVERCOMPLETE: Family[AtomEvidence] = Family(
    claim=lambda fit: (
        "These are the atoms that made the samples, up to sign. Of atoms that always occur together "
        "only mixtures are known."
    ),
    tests=tests,
    rule=lambda fit: Rule("stable atoms", ("structure", "halves", "use", "alternatives")),
    error=lambda fit: None,
    table=_table,
    advice={
        "structure": "the data aren't sparser than Gaussian ones: other n_nonzero_coefs",
        "halves": "fits on halves disagree: more samples, or another n_components or n_nonzero_coefs",
        "use": "hardly any sample uses some atoms: fewer components",
    },
    closer="guarantee(X, effort='full') also fits halves of the samples, and data without any atoms, and "
    "compares",
    otherwise="wrong atoms can be stable too, so this is no proof: compare with a larger n_components",
)


def promised_error(fit: AtomEvidence, target: float) -> float:
    """Theorem 9 as corrected: what exceeds gamma* is at most max(eps, 16 m Lambda / (beta t))."""
    beta = 0.5 * target**2 / (16 * fit.n_nonzero * fit.bound)
    return max(target, 16 * fit.n_asked * fit.bound / (beta * max(fit.n_atoms, 1)))


def _certain(fit: AtomEvidence) -> list[Condition]:
    """What was computed from the codes themselves, whatever the model."""
    vacuous = fit.n_atoms >= fit.n_features
    below = None if vacuous or fit.data_spectrum is None else float(fit.data_spectrum[fit.n_atoms :].sum())
    gain = None if fit.residual_spectrum is None else float(fit.residual_spectrum[0])
    numbers = fit.n_atoms * fit.n_features + 2 * fit.nonzeros
    rows = [
        check("achieved error", "psi", f"{PAPER}, Theorem {7 if fit.contamination else 4}", fit.error,
              at_most=fit.target,
              meaning="Relative squared error, computed from the codes themselves: certain, whatever the "
              "model."),
        check("rank lower bound", "sum_{j>m} s_j^2", "Eckart-Young", below,
              at_most=fit.error * (1 + 1e-6) + 1e-12,
              meaning="Vacuous: as many atoms as features can represent anything." if vacuous else
              "No dictionary of this many atoms has a smaller error, however dense its codes."),
        check("gain of one more atom", "s_1(residual)^2", f"{PAPER}, Definition 1 (OPT_tau <= s_1^2)", gain,
              at_most=fit.error,
              meaning="One further atom lowers the error by no more than this while the other codes stay: "
              "many atoms are needed where it is small against the error."),
        check("compression", "(m d + 2 nnz) / (n d)", f"{PAPER}, Section 1.1",
              numbers / max(fit.n_rows * fit.n_features, 1), at_most=1.0,
              meaning="Numbers stored for dictionary and codes, over those of the data."),
    ]  # fmt: skip
    if fit.contamination > 0:
        rows.append(
            check("outliers stand apart", "smallest outlier score / largest other",
                  f"evidence; {PAPER}, Theorem 7 (c)", fit.trimmed_gap, at_least=1.5,
                  meaning="Definition 3 declares rho n rows whatever they are; without a gap some are "
                  "inliers. Outliers that repeat each other are atoms, not outliers.")
        )  # fmt: skip
    return rows


def _promised(fit: AtomEvidence) -> list[Condition]:
    """What the theorems ask for and promise, called vacuous where it is."""
    tau = (fit.target or 0.3) ** 2 / (16 * fit.n_nonzero * fit.bound)
    promised = promised_error(fit, fit.target or 0.3)
    text = f"gamma* + {promised:.3g}"
    nonzeros = float(min(fit.n_features, 2 / tau**2)) if fit.theory else float(fit.n_nonzero)
    promise = check(
        "promise of the theorem", "gamma* + max(eps, 16 m Lambda / (beta t))",
        f"{PAPER}, Theorem 9 (corrected)", promised, at_most=1.0,
        meaning=f"Vacuous here ({text}, and 1 is reached by doing nothing): trust the achieved error."
        if promised >= 1 else
        f"The error is at most {text} where a dictionary with these m, k, Lambda exists.",
    )  # fmt: skip
    correlation = check(
        "approximation of threshold correlation", "beta", f"{PAPER}, Theorem 6 (ours: (c tau, (1 - c) tau))",
        0.5 * tau,
        meaning=f"Worst case at tau={tau:.2g}, for each atom peeled; the paper's is {tau**2 / 32:.2g}.",
    )  # fmt: skip
    return [
        check("size of the codes", "Lambda-hat", f"{PAPER}, Theorem 4 (b)", fit.largest_code,
              at_most=fit.bound,
              meaning="Largest squared norm of a row's codes over the row's, against coefficient_bound; "
              "large where atoms are coherent."),
        check("nonzeros of a row", "k'", f"{PAPER}, Theorem 9", float(fit.most_nonzeros), at_most=nonzeros,
              meaning="At most 1/(alpha tau) by the theorem." if fit.theory else "At most n_nonzero_coefs."),
        replace(promise, required="< 1 to say anything"),
        check("threshold of the theorem", "tau", f"{PAPER}, Definition 1, Theorem 6", tau, at_most=1.0,
              meaning="eps^2 / (16 k Lambda): squared inner products of unit vectors are at most 1."),
        replace(correlation, required="for information"),
        unchecked("a sparse dictionary exists", "gamma*", f"{PAPER}, Theorem 4 (c), Theorem 7 (d)",
                  "the best error of any dictionary with these m, k, Lambda is NP-hard to know; the achieved "
                  "error bounds it from above"),
        unchecked("its atoms have unit norm", "||a*||", f"{PAPER}, Theorem 4 (a), Theorem 7 (a)",
                  "a matter of scale, no restriction: any dictionary can be written so"),
        unchecked("approximation with constant alpha and beta", "alpha, beta", f"{PAPER}, Theorem 17",
                  "no such algorithm is known; hypercontractive_norm certifies its result from both sides "
                  "instead"),
    ]  # fmt: skip
