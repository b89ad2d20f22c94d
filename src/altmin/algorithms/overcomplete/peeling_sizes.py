"""Thresholds and sizes of peeling: those that work in practice, and the paper's."""

from __future__ import annotations

from math import ceil, log

import numpy as np

from altmin.contract import record

_LEAST_ROWS = 4096  # practical peeling looks at this many rows at least,
_USES = 256  # and at so many that an atom is used this often if all are used alike
MOST_CANDIDATES = 1024  # drawn per round: scores are a product of all rows with these
_RELAX = 0.5  # c of Theorem 6: (alpha, beta) = (c tau, (1 - c) tau)


@record
class PeelPlan:
    """Thresholds and sizes of the peeling.

    ``relax`` turns tau into the threshold that scores candidates, relax tau^2 (Theorem 6). Rows join an
    atom above that same threshold in theory mode, above tau itself in practice (``strict``).
    """

    n_atoms: int
    n_nonzero: int
    tau: float = 0.5
    decay: float = 0.8
    floor: float = 0.02
    relax: float = _RELAX
    strict: bool = True
    n_candidates: int = 64
    batch: int = 8
    refine: int = 4
    min_support: int = 5
    n_rows: int = 4096  # rows that practical peeling looks at


def practical_plan(n_atoms: int, n_nonzero: int, n_rows: int) -> PeelPlan:
    """Sizes that worked on planted data of many shapes."""
    batch = int(np.clip(n_atoms // 12, 1, 32))
    return PeelPlan(
        n_atoms=n_atoms,
        n_nonzero=min(n_nonzero, n_atoms),
        batch=batch,
        n_candidates=8 * max(batch, 8),
        min_support=int(np.clip(n_rows * n_nonzero // (8 * n_atoms), 1, 5)),
        n_rows=max(_LEAST_ROWS, _USES * n_atoms // n_nonzero),
    )


def theory_plan(n_atoms: int, n_nonzero: int, bound: float, eps: float, n_features: int) -> PeelPlan:
    """Constants of Theorem 9 as corrected, for a dictionary of m atoms, sparsity k and Lambda = ``bound``.

    tau is Lemma 13's, beta our Theorem 6's; the number of candidates is what the sampling bound asks for
    while the error exceeds gamma* + eps (then OPT is at least eps^2 / (16 m Lambda) of the data).
    """
    tau = theory_tau(n_nonzero, bound, eps)
    beta = (1 - _RELAX) * tau
    return PeelPlan(
        n_atoms=ceil(16 * n_atoms * bound / (beta * eps)),
        n_nonzero=min(n_features, ceil(1 / (_RELAX * tau**2))),
        tau=tau,
        decay=1.0,
        floor=0.0,
        strict=False,
        batch=1,
        n_candidates=min(theory_draws(n_atoms, bound, eps), MOST_CANDIDATES),
        min_support=1,
    )


def theory_tau(n_nonzero: int, bound: float, eps: float) -> float:
    """Lemma 13: eps^2 / (16 k Lambda)."""
    return eps**2 / (16 * n_nonzero * bound)


def theory_draws(n_atoms: int, bound: float, eps: float) -> int:
    """Candidates per round that find a good one with probability .95 by the sampling bound."""
    return ceil(2 * 16 * n_atoms * bound * log(1 / 0.05) / ((1 - _RELAX) * eps**2))


def theory_drop(n_atoms: int, n_nonzero: int, bound: float, eps: float) -> float:
    """Algorithm 2 goes on while a round lowers the error by beta eps^3 / (16 m Lambda) of the data."""
    return (1 - _RELAX) * theory_tau(n_nonzero, bound, eps) * eps**3 / (16 * n_atoms * bound)


def levels(plan: PeelPlan, tau: float) -> tuple[float, float]:
    """Thresholds of the squared correlation: for scoring candidates, and for joining an atom."""
    relaxed = plan.relax * tau * tau
    return relaxed, tau if plan.strict else relaxed
