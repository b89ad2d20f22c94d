r"""Peeling a dictionary off the data, atom by atom (Bhaskara and Tai, Algorithms 1 and 2), sampled.

.. math:: x_i \approx \sum_{j \in S_i} y_{ij} a_j, \qquad
          z_i = x_i - \Pi_{\mathrm{span}\{a_j : j \in S_i\}}\, x_i

In each round a direction a with a large threshold correlation with the residuals z_i / |x_i|, weights
|x_i|^2, becomes an atom, and joins the support S_i of every row with
:math:`\langle z_i, a \rangle^2 \ge \theta |x_i|^2`.

Where we differ from the paper, and why:

- z_i is re-projected on the whole support; the printed step is matching pursuit, for which Lemma 11
  fails. Earlier codes change.
- The threshold is relative to \|x_i\|^2: the result doesn't depend on the scale of the data.
- Candidates are a sample drawn in proportion to \|z_i\|^2, whose size doesn't grow with n; scored and
  refined against all rows. So every round is a pass over blocks, for data of any size.
- In practice tau starts at .5 and falls only where nothing is found, and several directions that
  explain different rows are taken at once.

Per row only the support and its codes are kept, as row columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.overcomplete.peeling_sizes import PeelPlan, levels
from altmin.algorithms.overcomplete.unit_rows import reservoir, row_weights, squares_left, unit_rows
from altmin.contract import Block, Round, Stats, record
from altmin.kernels.correlation import score_candidates, tie
from altmin.kernels.peel import keep_hits, peel_rows, subtract_codes

COLUMNS = ("peel_atoms", "peel_codes", "peel_counts")
_DISTINCT = 0.5  # directions of one round have at most this cosine
_COMPARABLE = 0.5  # and at least this share of the best one's value


@record
class PeelState:
    """Atoms so far, the threshold, and the directions under way to become atoms."""

    step: str  # sample, score, refine, peel, done
    tau: float
    atoms: Any  # (j, d)
    n_peeled: int = 0  # how many of them the rows have been offered
    candidates: Any = None  # (q, d) unit residuals
    directions: Any = None  # (b, d)
    best: Any = None  # (b, d): best iterate of each direction
    best_values: Any = None
    best_counts: Any = None
    refined: int = 0
    left: float = 1.0  # weighted share of the data that is left
    value: float = 0.0  # of the atom found last


def peel_round(plan: PeelPlan, peel: PeelState) -> Round:
    """The pass that the peeling needs next; its ``then`` takes and gives a PeelState."""
    match peel.step:
        case "sample":
            return Round(sample_map, name="peel", writes=COLUMNS, then=partial(_drawn, plan))
        case "score":
            return Round(score_map, name="peel", reads=COLUMNS, then=partial(_scored, plan))
        case "refine":
            return Round(refine_map, name="peel", reads=COLUMNS, then=partial(_refined, plan))
    return Round(peel_map, name="peel", reads=COLUMNS, writes=COLUMNS, then=partial(_drawn, plan))


def begin_peeling(plan: PeelPlan, n_features: int, dtype: Any) -> PeelState:
    """Nothing peeled yet; the first pass draws candidates."""
    return PeelState("sample", plan.tau, np.zeros((0, n_features), dtype))


def _drawn(plan: PeelPlan, peel: PeelState, stats: Stats) -> PeelState:
    """New candidates, drawn from what is left; or the end."""
    peel = replace(peel, n_peeled=len(peel.atoms), left=stats["left"] / stats["total"])
    drawn = _unit(stats["drawn"].payload)
    ended = len(peel.atoms) >= plan.n_atoms or peel.tau < plan.floor or not len(drawn)
    return replace(peel, step="done" if ended else "score", candidates=drawn)


def _scored(plan: PeelPlan, peel: PeelState, stats: Stats) -> PeelState:
    """The best-scored candidates are refined."""
    order = np.argsort(-stats["scores"], kind="stable")[: 2 * plan.batch]
    chosen = peel.candidates[order]
    return replace(
        peel,
        step="refine",
        directions=chosen,
        best=chosen,
        best_values=np.full(len(chosen), -1.0),
        best_counts=np.zeros(len(chosen)),
        refined=0,
    )


def _refined(plan: PeelPlan, peel: PeelState, stats: Stats) -> PeelState:
    """The next power step, or the atoms. Steps aren't monotone in what counts: keep the best iterates."""
    better = stats["values"] > peel.best_values
    peel = replace(
        peel,
        refined=peel.refined + 1,
        best=np.where(better[:, None], peel.directions, peel.best),
        best_values=np.where(better, stats["values"], peel.best_values),
        best_counts=np.where(better, stats["counts"], peel.best_counts),
    )
    if peel.refined <= plan.refine:
        return replace(peel, directions=_unit(stats["step"]).astype(peel.atoms.dtype))
    return _take(plan, peel)


def _take(plan: PeelPlan, peel: PeelState) -> PeelState:
    """Take the best directions that differ from each other as atoms, or lower the threshold."""
    chosen: list[int] = []
    order = np.argsort(-peel.best_values, kind="stable")
    room = min(plan.batch, plan.n_atoms - len(peel.atoms))
    for number in order:
        if len(chosen) == room or peel.best_values[number] <= 0:
            break
        if peel.best_values[number] < _COMPARABLE * peel.best_values[order[0]]:
            break
        if peel.best_counts[number] < plan.min_support:
            continue
        if all(abs(float(peel.best[number] @ peel.best[other])) < _DISTINCT for other in chosen):
            chosen.append(int(number))
    atoms = np.concatenate([peel.atoms, peel.best[chosen].astype(peel.atoms.dtype)])
    value = float(peel.best_values[order[0]]) if chosen else 0.0
    tau = peel.tau if chosen else peel.tau * plan.decay
    return replace(
        peel, step="peel", atoms=atoms, tau=tau, value=value, directions=None, best=None, candidates=None
    )


def peel_sample(algorithm: Any, state: Any, U: NDArray[Any], w: NDArray[Any]) -> PeelState:
    """Peel a sample of rows that is at hand: the same passes, over one block."""
    plan = algorithm.plan
    peel = begin_peeling(plan, U.shape[1], U.dtype)
    columns: dict[str, Any] = {}
    left, number = None, 0
    while peel.step != "done":
        step = peel_round(plan, peel)
        block = Block(0, 0, U, weight=w, second=left, columns=columns, key=(state.seed, number))
        stats = step.map(algorithm, replace(state, peel=peel), block)
        if step.writes:
            stats, columns = stats
            left = _left(U, columns, peel.atoms)
        peel = step.then(peel, stats)
        number += 1
    return peel


# --- the passes ------------------------------------------------------------------------------------


def sample_map(algorithm: Any, state: Any, block: Block) -> tuple[Stats, dict[str, Any]]:
    """Empty supports, and a first sample of candidates."""
    U, w = _weighted(algorithm, state, block)
    shape = (len(U), algorithm.plan.n_nonzero)
    counts = np.zeros(len(U), np.int32)
    columns = (np.zeros(shape, np.int32), np.zeros(shape, U.dtype), counts)
    stats = _after(algorithm, block, U, w, counts)
    return stats, dict(zip(COLUMNS, columns, strict=True))


def score_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Scores of the candidates against a block (Theorem 6 and its sampling bound)."""
    Z, w = _residuals(algorithm, state, block)
    peel = state.peel
    relaxed = tie(levels(algorithm.plan, peel.tau)[0], Z.dtype)
    scores, _ = score_candidates(peel.candidates, Z, w, np.full(len(Z), relaxed))
    return {"scores": scores}


def refine_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """One power step of all directions, and their values at the threshold that counts."""
    Z, w = _residuals(algorithm, state, block)
    plan, peel = algorithm.plan, state.peel
    relaxed, joining = levels(plan, peel.tau)
    level = relaxed if peel.refined < plan.refine // 2 else joining
    G = Z @ np.ascontiguousarray(peel.directions.T)
    values, counts = np.zeros(G.shape[1]), np.zeros(G.shape[1])
    keep_hits(G, w, tie(level, Z.dtype), tie(joining, Z.dtype), values, counts)
    return {"step": (G.T @ Z).astype(np.float64), "values": values, "counts": counts}


def peel_map(algorithm: Any, state: Any, block: Block) -> tuple[Stats, dict[str, Any]]:
    """Offer the new atoms to a block's rows, project, and draw the next candidates."""
    U, w = _weighted(algorithm, state, block)
    peel = state.peel
    atoms, codes, counts = (np.array(block.columns[name]) for name in COLUMNS)
    Z = _left(U, block.columns, peel.atoms)
    joining = tie(levels(algorithm.plan, peel.tau)[1], U.dtype)
    peel_rows(U, Z, peel.atoms, _gram(peel.atoms), peel.n_peeled, joining, atoms, codes, counts)
    stats = _after(algorithm, block, Z, w, counts)
    return stats, dict(zip(COLUMNS, (atoms, codes, counts), strict=True))


def peel_codes(
    U: NDArray[Any], D: NDArray[Any], threshold: float, cap: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Codes of unit rows as peeling gives them: atoms offered in order, above a threshold."""
    atoms = np.zeros((len(U), cap), np.int32)
    codes, counts = np.zeros((len(U), cap), U.dtype), np.zeros(len(U), np.int32)
    peel_rows(U, U.copy(), D, _gram(D), 0, tie(threshold, U.dtype), atoms, codes, counts)
    return atoms, codes, counts


def _weighted(algorithm: Any, state: Any, block: Block) -> tuple[NDArray[Any], NDArray[Any]]:
    """Unit rows and weights; a block that was prepared already carries its weights."""
    if block.weight is not None:
        return block.X, block.weight
    U, norms = unit_rows(block.X)
    return U, row_weights(norms, algorithm.equal, state.longest)


def _residuals(algorithm: Any, state: Any, block: Block) -> tuple[NDArray[Any], NDArray[Any]]:
    """What is left of a block's rows; rows whose support is full have no weight."""
    U, w = _weighted(algorithm, state, block)
    Z = block.second if block.second is not None else _left(U, block.columns, state.peel.atoms)
    return Z, np.where(block.columns["peel_counts"] < algorithm.plan.n_nonzero, w, 0.0)


def _left(U: NDArray[Any], columns: Mapping[str, NDArray[Any]], D: NDArray[Any]) -> NDArray[Any]:
    """Rows less what their codes explain."""
    Z = U.copy()
    subtract_codes(Z, *(columns[name] for name in COLUMNS), D)
    return Z


def _after(
    algorithm: Any, block: Block, Z: NDArray[Any], w: NDArray[Any], counts: NDArray[Any]
) -> dict[str, Any]:
    left = w * squares_left(Z)
    mass = np.where(counts < algorithm.plan.n_nonzero, left, 0.0)
    return {
        "total": float(w.sum()),
        "left": float(left.sum()),
        "drawn": reservoir(block, mass, algorithm.plan.n_candidates, Z),
    }


def _gram(D: NDArray[Any]) -> NDArray[Any]:
    D = D.astype(np.float64)
    return D @ D.T


def _unit(rows: NDArray[Any]) -> NDArray[Any]:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
