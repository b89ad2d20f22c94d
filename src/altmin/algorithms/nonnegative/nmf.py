r"""Non-negative matrix factorization with both factors non-negative, from a given start.

.. math:: \min_{Z \ge 0,\, A \ge 0} \; d(Y, Z A)

with d the squared error, or for counts the generalised Kullback-Leibler divergence
:math:`\sum y \log (y / \hat y) - y + \hat y`, half the deviance of Poisson counts. AND uses it as a polish
where :math:`A \ge 0` pins the features down, and to finish fits to counts on their own likelihood.

- *Squared error*: coordinate descent on the codes of each row, then on the components (accelerated HALS,
  Gillis and Glineur 2012), both from extrapolated points (Ang and Gillis 2019). A pass sums Z'Z and Z'Y.
- *Kullback-Leibler*: Newton steps on one code after the other (Hsieh and Dhillon 2011; a code that is 0
  stays 0), then a multiplicative update of the components (Lee and Seung 2001), extrapolated. A pass sums
  Z'(Y / ZA). Few samples have many components, so where that can be afforded codes that the likelihood
  doesn't support (by their evidence) are set to 0 every so often.

The codes are a row column, so data of any size are read once per iteration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.contract import Block, Done, Info, Max, Round, Stats, record
from altmin.io.records import replace
from altmin.kernels.counts import improve_codes, prune_rows, ratios
from altmin.kernels.gram import row_norms2, times, transpose_times
from altmin.kernels.nnls import descend, nnls

_SWEEPS = 4  # over the codes of a row, or over the components, in one iteration
EVERY, _PRUNES = 20, 7  # iterations from one pruning of the codes to the next, and how many of those
_BEFORE, _AFTER = 7, 3  # sweeps over the first codes of a row, and after each that is pruned
_TINY = 1e-300  # sums below it are those of rows without counts
_LOST = 0.5  # mean of z^2 / variance where a code is 0 in truth: half of the estimates are above 0
_PAYS = 2.0  # the deviance falls by that at least from one pruning to the next, or the fit ends


@record
class NmfState:
    """The components, the point ahead of them, and what the last pass said."""

    A: Any  # (D, W)
    ahead: Any  # (D, W): the components, extrapolated
    begun: bool = False  # whether the codes are a column
    momentum: float = 0.5
    most: float = 1.0  # momentum at most
    error: float = np.inf  # squared error, or divergence
    change: float = np.inf
    mass: Any = None  # (D,) sum of the codes
    largest: Any = None  # (D,) largest codes
    step: int = 0
    odds: Any = None  # (D,) twice the logarithm of how much likelier a code is 0
    sizes: Any = None  # (D,) mean share of a row's total where a code isn't 0
    used: float = 0.0  # codes that aren't 0, and ...
    score: float = np.inf  # ... twice the negative logarithm of the evidence, when they were last pruned
    lost: float = 0.0  # what a code that was set to 0 had for it, z^2 / variance, in the mean
    ended: bool = False
    sparse: bool = False  # as in Nmf, unless the first look has said otherwise
    looked: bool = False


@record
class Nmf:
    """The start, the loss, and the rows that are left out."""

    start: Any
    loss: str = "squares"  # or "counts"
    without: Any = None  # numbers of rows that don't count
    sparse: bool = False  # whether codes of counts that the data don't support are set to 0
    dispersion: float = 1.0  # variance of the counts over that of Poisson counts
    looking: bool = False  # whether a first pruning is to say whether that is right

    def init(self, info: Info, seed: int) -> NmfState:
        """The start without negative entries; for counts none may be 0, as it would stay so."""
        A = np.maximum(np.asarray(self.start, np.float64), 0.0)
        if self.loss == "counts":
            A = A + 1e-6 * np.maximum(A.mean(axis=1, keepdims=True), np.finfo(float).tiny)
            A = A / A.sum(axis=1, keepdims=True)
        return NmfState(A, A, sparse=self.sparse, looked=not self.looking)

    def next_round(self, state: NmfState) -> Round | Done:
        """Codes and sums of all rows; then the components."""
        if state.ended:
            return Done("converged")
        if self.loss == "counts":
            return self._counts_round(state)
        both = ("codes", "ahead")
        seen = both if state.begun else ()
        return Round(squares_map, name="polish", iteration=True, reads=seen, writes=both, then=squares_then)

    def _counts_round(self, state: NmfState) -> Round | Done:
        """Updates on a fixed support; every so often the codes are pruned anew, from full support."""
        written: dict[str, Any] = {"name": "counts", "iteration": state.looked, "writes": ("codes",)}
        if not state.looked:
            return Round(prune_map, then=self._look, **written)
        if state.sparse and state.step >= _PRUNES * (EVERY + 1):
            return Done("converged")
        if state.sparse and state.step % (EVERY + 1) == 0:
            return Round(prune_map, then=self._pruned, **written)
        return Round(counts_map, reads=("codes",) if state.begun else (), then=counts_then, **written)

    def _look(self, state: NmfState, stats: Stats) -> NmfState:
        """After a pruning of the start: it stands, or the fit begins again with all codes."""
        state = replace(state, looked=True)
        pruned = self._pruned(state, stats)
        return pruned if is_sparse(pruned, self.dispersion) else replace(state, sparse=False)

    def _pruned(self, state: NmfState, stats: Stats) -> NmfState:
        """How often and how large codes are is the prior of the next pruning: rare ones need more support."""
        used, rows = stats["used"], stats["rows"]
        share = (used + 1) / (rows + 2)
        odds = 2 * np.log((1 - share) / share)
        price = stats["costs"] - 2 * np.sum(used * np.log(share) + (rows - used) * np.log(1 - share))
        score = 2 * stats["error"] / self.dispersion + float(price)
        return replace(
            state,
            begun=True,
            step=state.step + 1,
            odds=odds,
            sizes=stats["shares"] / np.maximum(used, 1),
            change=1.0,
            error=stats["error"],
            used=float(used.sum()),
            lost=stats["lost"] / max(float(np.sum(rows - used)), 1.0),
            score=score,
            ended=state.score - score < _PAYS,  # the components have settled
            ahead=state.A,
            momentum=0.5,
        )

    def finish(self, state: NmfState) -> NmfState:
        """Nothing follows."""
        return replace(state, ended=True)

    def measure(self, state: NmfState) -> Mapping[str, float]:
        """The loss, and by how much (relatively) it fell."""
        return {"change": state.change, "error": state.error}


def is_sparse(pruned: NmfState, dispersion: float) -> bool:
    """Whether codes that became 0 had no more for them than those of absent components have."""
    return pruned.lost <= _LOST * dispersion


def squares_map(algorithm: Nmf, state: NmfState, block: Block) -> tuple[Stats, dict[str, Any]]:
    """Coordinate descent on the codes, from the point ahead of those of the last pass."""
    A, w = state.ahead, _weights(algorithm, block)
    H, G = times(block.X, A.T.astype(block.X.dtype)).astype(np.float64), A @ A.T
    if state.begun:
        Z = improve(G, H, block.columns["ahead"])
        ahead = np.maximum(Z + state.momentum * (Z - block.columns["codes"]), 0.0)
    else:
        Z = ahead = nnls(G, H, tol=1e-6)
    weighted = ahead * w[:, None]
    stats = {
        "G": weighted.T @ ahead,
        "B": np.asarray(transpose_times(weighted.astype(block.X.dtype), block.X), np.float64),
        "squares": float(w @ row_norms2(block.X)),
        "mass": w @ Z,
    }
    return stats, {"codes": Z, "ahead": ahead}


def squares_then(state: NmfState, stats: Stats) -> NmfState:
    """Descend on the components, then go further (Ang and Gillis 2019); where that was too far, less far."""
    G, B = stats["G"], stats["B"]
    A = np.ascontiguousarray(improve(G, B.T, state.ahead.T).T)
    error = float(max(stats["squares"] - 2 * np.sum(A * B) + np.sum(A * (G @ A)), 0.0))
    if error > state.error:
        return replace(state, ahead=state.A, most=state.momentum, momentum=state.momentum / 1.5, error=error)
    most = min(1.0, 1.01 * state.most)
    return replace(
        state,
        A=A,
        ahead=np.maximum(A + state.momentum * (A - state.A), 0.0),
        begun=True,
        most=most,
        momentum=min(most, 1.05 * state.momentum),
        error=error,
        change=_fall(state.error, error),
        mass=stats["mass"],
    )


def improve(G: NDArray[Any], H: NDArray[Any], X: NDArray[Any]) -> NDArray[Any]:
    """Some sweeps of coordinate descent from X towards the x >= 0 that minimises x'Gx / 2 - h'x."""
    scale = np.sqrt(np.where(np.diag(G) > 0, np.diag(G), 1.0))
    Y = np.ascontiguousarray(X * scale)
    descend(G / np.outer(scale, scale), np.ascontiguousarray(H / scale), Y, 1e-12, _SWEEPS)
    return Y / scale


def prune_map(algorithm: Nmf, state: NmfState, block: Block) -> tuple[Stats, dict[str, Any]]:
    """Codes from full support, pruned; how many of each component are left."""
    A = state.A
    Z, w = even_codes(block.X, A), _weights(algorithm, block)
    X = np.ascontiguousarray(block.X.toarray() if sp.issparse(block.X) else block.X, np.float64)
    odds = np.zeros(len(A)) if state.odds is None else state.odds
    sizes = np.full(len(A), 1 / len(A)) if state.sizes is None else state.sizes
    costs, lost = prune_rows(X, A, Z, odds, sizes, algorithm.dispersion, _BEFORE, _AFTER)
    shares = Z / np.maximum(Z.sum(axis=1, keepdims=True), _TINY)
    stats = {
        "used": np.sum(Z[w > 0] > 0, axis=0),
        "rows": float(np.sum(w > 0)),
        "error": float(w @ ratios(block.X, Z, A)[1]),
        "costs": float(w @ costs),
        "lost": float(w @ lost),
        "shares": shares[w > 0].sum(axis=0),
    }
    return stats, {"codes": Z}


def counts_map(algorithm: Nmf, state: NmfState, block: Block) -> tuple[Stats, dict[str, Any]]:
    """Better codes, and the sums for a multiplicative update of the components."""
    A, w = state.ahead, _weights(algorithm, block)
    first = even_codes(block.X, A) if not state.begun else np.array(block.columns["codes"])
    Z = improve_codes(block.X, first, A, 2 if state.begun else _BEFORE)
    R, divergence = ratios(block.X, Z, A)
    weighted = Z * w[:, None]
    stats = {
        "B": np.asarray(transpose_times(weighted, R), np.float64),
        "error": float(w @ divergence),
        "mass": weighted.sum(axis=0),
        "largest": Max(weighted.max(axis=0, initial=0.0)),
    }
    return stats, {"codes": Z}


def even_codes(X: Any, A: NDArray[Any]) -> NDArray[Any]:
    """Codes that share the totals of the rows evenly among the components."""
    totals = np.asarray(X.sum(axis=1), np.float64).ravel()
    return totals[:, None] / (len(A) * np.maximum(A.sum(axis=1), np.finfo(float).tiny))


def counts_then(state: NmfState, stats: Stats) -> NmfState:
    """A multiplicative update of the components, then further; they sum to 1, so codes are expected counts.

    Where the last point ahead was too far (the divergence rose), the next step is taken from the components.
    """
    error = float(stats["error"])
    after = replace(state, begun=True, step=state.step + 1)
    if error > state.error:
        return replace(after, ahead=state.A, momentum=state.momentum / 2, error=error)
    A = _to_one(state.ahead * stats["B"], state.A)
    ahead = np.maximum(A + state.momentum * (A - state.A), 0.1 * A)
    return replace(
        after,
        A=A,
        ahead=_to_one(ahead, A),
        momentum=min(0.95, 1.1 * state.momentum),
        error=error,
        change=_fall(state.error, error),
        mass=stats["mass"],
        largest=stats["largest"].value,
    )


def _to_one(A: NDArray[Any], otherwise: NDArray[Any]) -> NDArray[Any]:
    """Rows divided by their sums; ``otherwise`` where these are 0."""
    sums = A.sum(axis=1, keepdims=True)
    return np.where(sums > 0, A / np.where(sums > 0, sums, 1.0), otherwise)


def _fall(before: float, error: float) -> float:
    """Relative fall of the loss; large where there is nothing to compare with."""
    if error <= 0:
        return 0.0
    return max((before - error) / error, 0.0) if np.isfinite(before) else 1e300


def _weights(algorithm: Nmf, block: Block) -> NDArray[Any]:
    w = np.ones(block.n_rows) if block.weight is None else block.weight.astype(np.float64)
    if algorithm.without is None or not len(algorithm.without):
        return w
    return np.where(np.isin(block.start + np.arange(block.n_rows), algorithm.without), 0.0, w)
