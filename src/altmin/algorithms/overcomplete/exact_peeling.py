r"""Peeling with every residual as a candidate: n^2 by nature, so local and for few rows.

The scores of all residuals change only through the rows that were just peeled, so they are brought up
to date by two products with those rows (:class:`altmin.kernels.correlation.RowScores`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.overcomplete.peeling_sizes import PeelPlan, levels
from altmin.kernels.correlation import RowScores, tie
from altmin.kernels.peel import keep_hits, peel_rows

_REFINED = 8  # best-scored rows that are refined for each atom


@dataclass(frozen=True)
class PeelStep:
    """One atom: its direction, the rows that joined it, and what is left of all unit rows."""

    atom: NDArray[Any]
    tau: float
    value: float
    rows: NDArray[np.intp]
    residuals: NDArray[Any]
    left: float


def peel_steps(plan: PeelPlan, U: NDArray[Any], w: NDArray[Any]) -> Iterator[PeelStep]:
    """Algorithm 1 with true projection, one atom per round, from unit rows and their weights.

    Parameters
    ----------
    plan : PeelPlan
        Thresholds; sampling and batches don't matter here.
    U : ndarray of shape (n_rows, n_features)
        Unit rows.
    w : ndarray of shape (n_rows,)
        Weights: squared norms.

    Yields
    ------
    PeelStep
        Until there are enough atoms, or the threshold falls under its floor.
    """
    n, d = U.shape
    D = np.zeros((0, d), U.dtype)
    atoms = np.zeros((n, plan.n_nonzero), np.int32)
    codes, counts = np.zeros(atoms.shape, U.dtype), np.zeros(n, np.int32)
    Z, tau, scores = U.copy(), plan.tau, None
    weight = w.astype(np.float64)
    while len(D) < plan.n_atoms and tau >= plan.floor:
        relaxed, joining = levels(plan, tau)
        if scores is None:
            scores = RowScores(Z, weight, relaxed)
        atom, value, count = _best_refined(plan, Z, weight, scores.scores(), relaxed, joining)
        if count < plan.min_support or value <= 0:
            if plan.decay >= 1:
                return
            tau, scores = tau * plan.decay, None
            continue
        D = np.concatenate([D, atom[None]])
        before = counts.copy()
        D64 = D.astype(np.float64)
        peel_rows(U, Z, D, D64 @ D64.T, len(D) - 1, tie(joining, U.dtype), atoms, codes, counts)
        rows = np.flatnonzero(counts > before)
        full = counts[rows] == plan.n_nonzero
        weight[rows[full]] = 0.0  # rows with a full support are no longer candidates
        scores.change(rows, np.where(full[:, None], 0.0, Z[rows]).astype(U.dtype))
        left = float(np.sum(w * np.einsum("ij,ij->i", Z, Z, dtype=np.float64)) / w.sum())
        yield PeelStep(atom, tau, value, rows, Z, left)


def peel_all(algorithm: Any, U: NDArray[Any], w: NDArray[Any]) -> NDArray[Any]:
    """Atoms, peeled until the plan or the algorithm's stopping rules end it."""
    found, before = [], 1.0
    for step in peel_steps(algorithm.plan, U, w):
        found.append(step.atom)
        if before - step.left < algorithm.stop_drop or step.left <= algorithm.stop_error:
            break
        before = step.left
    return np.array(found, U.dtype).reshape(-1, U.shape[1])


def _best_refined(
    plan: PeelPlan,
    Z: NDArray[Any],
    w: NDArray[Any],
    scores: NDArray[Any],
    relaxed: float,
    joining: float,
) -> tuple[NDArray[Any], float, float]:
    """Refine the best-scored rows by the thresholded power method; the best iterate of all of them.

    Judged at the threshold for joining; the steps aren't monotone in that.
    """
    starts = np.argsort(-scores, kind="stable")[:_REFINED]
    starts = starts[scores[starts] > 0]
    best = (np.zeros(Z.shape[1], Z.dtype), 0.0, 0.0)
    X = Z[starts] / np.linalg.norm(Z[starts], axis=1, keepdims=True)
    for step in range(plan.refine + 1):
        if not len(X):
            break
        G = Z @ np.ascontiguousarray(X.T)
        values, counts = np.zeros(len(X)), np.zeros(len(X))
        level = relaxed if step < plan.refine // 2 else joining
        keep_hits(G, w, tie(level, Z.dtype), tie(joining, Z.dtype), values, counts)
        values = np.where(counts >= plan.min_support, values, 0.0)
        top = int(np.argmax(values))
        if values[top] > best[1]:
            best = (X[top], float(values[top]), float(counts[top]))
        X = G.T @ Z
        norms = np.linalg.norm(X, axis=1)
        X = (X[norms > 0] / norms[norms > 0, None]).astype(Z.dtype)
    return best
