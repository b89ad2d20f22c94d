"""Conditions of Li and Liang 2017, Theorems 1, 4, 5 and 26, as far as a fit can tell: for information.

The constants in the theorems' O(.) are unknown; with 1 in their place the conditions do not discriminate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.guarantees.report import Condition, check, unchecked

PAPER = "Li & Liang 2017"
_CONSTANT = "with 1 for the theorem's unknown constant, and the other quantities as measured"


def weight_constants(x: NDArray[Any]) -> dict[str, float]:
    """r, k, m, lambda of the general correlation conditions (Definition 1) and the decay q (Definition 3).

    Parameters
    ----------
    x : ndarray of shape (n_samples, n_components)
        Non-negative weights.

    Returns
    -------
    dict
        Estimates with weights scaled to at most 1: r = q.99 of the l1 norm, k = D max Delta_ii / 2,
        m = D^2 max off-diagonal Delta, lambda = D lambda_min(Delta) / k; the share of nonzero weights that
        aren't 1 (to a tenth).
    """
    largest = x.max(axis=0, initial=0.0)
    x = x / np.where(largest > 0, largest, 1.0)
    D = x.shape[1]
    second = x.T @ x / max(len(x), 1)
    k = float(D * np.diag(second).max() / 2)
    off = second - np.diag(np.diag(second))
    levels = np.array([0.05, 0.1, 0.2, 0.4])
    nonzero = x > 1e-6
    used = np.maximum(nonzero.sum(axis=0), 1)
    below = np.array([(nonzero & (x <= a)).sum(axis=0) / used for a in levels]).max(axis=1)
    q = float(np.min(np.log(np.maximum(below, 1e-12)) / np.log(levels)))
    return {
        "r": float(np.quantile(x.sum(axis=1), 0.99)) if len(x) else np.nan,
        "k": k,
        "m": float(D**2 * off.max(initial=0.0)),
        "lambda": float(D * np.linalg.eigvalsh(second)[0] / k) if k > 0 else np.nan,
        "q": q,
        "D": float(D),
        "between": float(np.mean(x[nonzero] < 0.9)) if nonzero.any() else np.nan,
    }


def theory_rows(
    w: dict[str, float],
    *,
    negative: float | None,
    smallest: float | None,
    condition: float | None,
    noise: float | None,
    start: float | None,
    outside: float | None,
) -> tuple[Condition, ...]:
    """The rows of the theorems.

    Parameters
    ----------
    w : dict
        Of :func:`weight_constants`.
    negative : float or None
        Most negative decoded weight.
    smallest, condition : float or None
        Smallest singular value and condition number of the unit components.
    noise : float or None
        Norm of a sample's noise over a sample's norm.
    start : float or None
        Size of the other components in each one of a given start, l of Definition 2.
    outside : float or None
        Norm of what a given start has outside the span of the components, rho of Definition 4.

    Returns
    -------
    tuple of Condition
        None of them decisive.
    """
    D, r, k, m, q = (np.float64(w[name]) for name in ("D", "r", "k", "m", "q"))  # divided by 0: infinite
    lam = np.float64(max(w["lambda"], 0.0) if not np.isnan(w["lambda"]) else w["lambda"])
    with np.errstate(all="ignore"):
        binary = k * D * lam**4 / r**5
        general = k * D ** (1 - 1 / q) * lam ** (4 + 4 / q) / r ** (5 + 6 / (q + 1)) if q > 0 else np.nan
        largest_r = (k * D * lam**4 / m) ** 0.2 if m > 0 else np.nan
        largest_k = (D * (lam * k) ** 4 / (m * r**5)) ** (1 / 3) if m > 0 else np.nan
        bound = (
            noise * r * condition / lam if noise is not None and condition is not None and lam > 0 else None
        )
    return (
        check("weights are non-negative", "x >= 0", f"{PAPER}, Definition 1.1", negative, at_most=0.05,
              meaning="most negative decoded weight, in units of its component's largest"),
        check("l1 norm of the weights", "r", f"{PAPER}, Definition 1.1", r, at_most=_known(largest_r),
              meaning=f"samples that mix many components; bound from Theorem 1 {_CONSTANT}"),
        check("largest second moment", "k", f"{PAPER}, Definition 1.2", k, at_most=_known(largest_k),
              meaning=f"a component that is large too often; bound from Theorem 1 {_CONSTANT}"),
        check("correlation, binary weights", "m", f"{PAPER}, Definition 1.3, Theorem 1", m,
              at_most=_known(binary), meaning=f"components that come together; {_CONSTANT}"),
        check("correlation, general weights", "m_q", f"{PAPER}, Definition 1.3, Theorem 4", m,
              at_most=_known(general), meaning=f"components that come together; {_CONSTANT}"),
        check("smallest second moment", "lambda", f"{PAPER}, Definition 1.4", lam, at_least=1e-9,
              meaning="0 means that some combination of the weights never varies"),
        check("weights are 0 or 1", "x in {0,1}", f"{PAPER}, Theorems 1 and 5", w.get("between"),
              at_most=0.05, meaning="share of nonzero weights below .9 of the largest; not for Theorem 4"),
        check("decay of small weights", "q", f"{PAPER}, Definition 3, Theorem 4", q, at_least=1.0,
              meaning="weights that are often small but not 0 hide the facets"),
        unchecked("weights reach zero", "min x", f"{PAPER}, Section 6.1",
                  "weights with a floor f + (1 - D f) s are weights s of other components: the same data, so "
                  "nothing in them can tell; the claim speaks of the smallest cone"),
        check("start is near the truth", "l", f"{PAPER}, Definition 2", start, at_most=1.0,
              meaning="size of the other components in each one of a given start (the fit for the truth)"),
        unchecked("scale of the start", "Sigma", f"{PAPER}, Definition 2",
                  "the scale of a component is free, so any start has Sigma = I for some choice of it"),
        check("start lies in the span", "rho", f"{PAPER}, Definition 4",
              None if outside is None or not smallest else outside / smallest, at_most=1.0,
              meaning="what a given start has outside the span of the components, over sigma_min"),
        check("noise against the smallest direction", "gamma_2", f"{PAPER}, Theorem 26",
              None if noise is None or not smallest else noise / smallest, at_most=1.0,
              meaning="norm of a sample's noise over sigma_min of the components"),
        check("error due to noise", "gamma", f"{PAPER}, Theorems 5 and 26", bound, at_most=1.0,
              meaning="r sigma_max gamma / (sigma_min lambda), the theorem's bound with constant 1"),
        unchecked("noise is Gaussian", "zeta", f"{PAPER}, Theorem 5",
                  "only noise outside the span of the components is seen, the rest is in the weights"),
        unchecked("samples are independent", "i.i.d.", f"{PAPER}, Section 3",
                  "the order and origin of the samples aren't known; near copies are counted in n_eff"),
        unchecked("poly(D, 1/eps) samples and steps", "T, eta", f"{PAPER}, Theorems 1, 4 and 5",
                  "the polynomials aren't given; the outcome says whether the stages converged"),
    )  # fmt: skip


def _known(bound: float) -> float | None:
    return float(bound) if np.isfinite(bound) else None
