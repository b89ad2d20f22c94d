"""Conditions of Lin and Ye 2016, Theorems 1, 4 and 15, as far as a fit can tell: for information."""

from __future__ import annotations

from typing import Any

import numpy as np

from altmin.algorithms.quadratic.lens import Lens
from altmin.guarantees.report import Condition, check, unchecked

PAPER = "Lin & Ye 2016"
_C = 4 * 5**0.5


def feature_rows(lens: Lens, raw: bool) -> list[Condition]:
    """Theorem 1: independent standard Gaussian features."""
    corrected = lens.kappa is not None
    whitened = lens.T.ndim == 2
    fix = "the correction accounts for others" if corrected else "moments='auto' accounts for others"
    return [
        check("skewness of the features", "max |kappa|", f"{PAPER}, Theorem 1", lens.skewness,
              at_most=np.inf if corrected else 0.5, meaning=f"The theorem wants Gaussian features: {fix}."),
        check("tails of the features", "max |phi - 3|", f"{PAPER}, Theorem 1", lens.excess,
              at_most=np.inf if corrected else 1.0, meaning=f"The theorem wants Gaussian features: {fix}."),
        check("uncorrelated features", "||S - I||_2", f"{PAPER}, Lemma 9", lens.correlation,
              at_most=np.inf if whitened else 0.5,
              meaning="Whitened." if whitened else (
                  "Not whitened: whiten='auto' accounts for correlations." if raw else "Close to identity.")),
        check("squares that can be told apart", "phi - 1 - kappa^2", "identifiability",
              float(lens.blind.sum()), at_most=0.0,
              meaning="Binary columns equal their square: their diagonal entry follows from the rank alone."),
        unchecked("rows are independent", "i.i.d.", f"{PAPER}, Theorem 1",
                  "the order and origin of the rows aren't known; near copies are counted above"),
        unchecked("noise doesn't depend on the features", "E[xi x] = 0", f"{PAPER}, Section 4.1",
                  "least squares leaves residuals that are uncorrelated with the features in any case"),
    ]  # fmt: skip


def pace_rows(d: int, rank: int, batch: float, ratio: float, loss: float) -> list[Condition]:
    """Size of a batch, and what fresh batches say."""
    return [
        check("batch size", "n / (k d)", f"{PAPER}, Theorem 1", batch / (rank * d), at_least=2.0,
              meaning="The rate is about sqrt((k + 2.6) d / n); the paper's k^3 isn't needed."),
        check("error falls on fresh rows", "sqrt(rho_t+1 / rho_t)", "evidence", ratio, at_most=0.75,
              meaning="A step on new rows removes a constant share of the error (Theorem 1's delta)."),
        check("loss", "rho", f"{PAPER}, Theorem 15", loss, at_most=1.0,
              meaning="Share of the variance of y that is left: noise and what the model cannot express."),
    ]  # fmt: skip


def quadratic_rows(e: Any, d: int, k: int, batch: float, n_rows: int, fresh: float) -> list[Condition]:
    """What the theorems ask of M, w and the noise; e is the evidence of the rows."""
    ratio = e.largest / e.smallest if e.smallest > 0 else np.inf
    gap = max(e.smallest - e.tail, 0.0)
    reach = _C * e.largest + 3 * e.smallest
    allowed = reach / max(_C * e.largest + 3 * e.smallest + _C * e.slope, 1e-300)
    small_noise = e.tail * d**2 / np.sqrt(max(batch, 1.0)) + e.sigma * np.sqrt(d / max(batch, 1.0))
    return [
        check("y has no noise", "xi", f"{PAPER}, Theorem 1", e.left, at_most=1e-6,
              meaning="Theorem 15 allows for noise; its floor is below."),
        check("batch size of the theorem", "n / (c^2 k^3 d)", f"{PAPER}, Theorems 1 and 4",
              batch / ((_C * ratio + 3) ** 2 * k**3 * d) if np.isfinite(ratio) else 0.0, at_least=1.0,
              meaning="c = 4 sqrt(5) sigma_1 / sigma_k + 3; far more than is needed in practice."),
        check("rate that the theorem allows", "delta allowed", f"{PAPER}, Theorem 1", e.rip_more,
              at_most=float(allowed), meaning="RIP constant against what ||w|| and the spectrum of M allow."),
        check("steps on fresh rows", "fresh", f"{PAPER}, Theorem 4", fresh, at_least=1.0,
              meaning="M must not depend on the rows of its step; reused rows are damped and guarded here."),
        check("shifted CI-RIP", "delta", f"{PAPER}, Theorem 4", e.rip_more, at_most=1.0,
              meaning=f"On a quarter of these rows {e.rip:.2g}: half as much on all is sampling error, a "
              "plateau is bias."),
        check("noise floor", "1.7 xi sqrt(d/N)", f"{PAPER}, Theorem 15 (with the missing sqrt d)",
              1.7 * e.sigma * np.sqrt(e.parameters / max(n_rows, 1)), at_most=0.1,
              meaning="Error that noise alone leaves, in units of the spread of y."),
        check("M is of rank k but for a tail", "sigma_k+1 / sigma_k", f"{PAPER}, Theorem 15",
              e.tail / e.smallest if e.smallest > 0 else None, at_most=0.5,
              meaning="Quadratic that is left over, against the smallest eigenvalue that was found."),
        check("tail and noise are small", "r / (sigma_k - sigma_k+1)", f"{PAPER}, Theorem 15, Eq. 10",
              small_noise / gap if gap > 0 else np.inf, at_most=1.0,
              meaning="Eq. 10 with constant 1: what is left over must not blur the spectrum of M."),
        check("noise is sub-Gaussian", "kurtosis of r", f"{PAPER}, Section 4.1",
              e.kurtosis if e.left > 1e-6 else 3.0, at_most=10.0,
              meaning="3 for Gaussian residuals; large: outlying targets."),
    ]  # fmt: skip
