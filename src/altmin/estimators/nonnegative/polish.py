"""Where non-negative features pin the factors down, the fit is finished as a non-negative factorization.

Two non-negative factors are unique only if both have zeros enough: each component needs a zero where each
of the others has none, so D - 1 at least. Components that have fewer entries near 0 (spectra of materials,
say) are left as they are, unless they leave far more of the data than noise explains; others are polished.
The polish is kept if its components have twice as many zeros (where A >= 0 pins nothing down, a polish makes
up some), and unless it predicts worse: codes found on half of the features, what they say of the other half.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.nonnegative.and_nmf import AndNmf, AndState, lift, restated
from altmin.algorithms.nonnegative.nmf import Nmf
from altmin.engine import AnySource, Result, Source
from altmin.engine.outcome import Outcome, make_outcome
from altmin.kernels.gram import row_norms2, times
from altmin.kernels.inverse import pseudo_inverse
from altmin.kernels.nnls import nnls

_EXACT = 1e-5  # share of the squares that is left over of data without noise: nothing to polish
_ZERO = 0.01  # entries up to this share of a component's largest are zeros
_UNEXPLAINED = 4.0  # residual over that of noise: the components don't fit, whatever zeros they have
_NOTHING = 1e-10  # share of the squares below which a polish has explained the data, though it goes on
_WORSE = 1.05  # prediction errors up to this ratio count as equal
_ROWS = 2000  # that the two fits are compared on
_TOL, _MOST = 1e-6, 300


def polished(model: Any, how: AndNmf, source: AnySource, found: Result, **changes: Any) -> tuple[Result, str]:
    """The fit after the polish, if it applies and pays, and a sentence about it.

    Parameters
    ----------
    model : AND
        Whose settings of the engine count.
    how : AndNmf
        The algorithm of the fit.
    source : Source or StreamSource
        The data.
    found : Result
        The fit.
    **changes
        Settings that differ from the estimator's.

    Returns
    -------
    result : Result
        With the iterations of both.
    why : str
        Empty where no polish was tried.
    """
    state = found.state
    if not isinstance(source, Source) or not _applies(how, state, found.outcome.kind):
        return found, ""
    before = lift(state)
    if _zeros(before) < len(before) - 1 and _over_noise(state, before.shape) < _UNEXPLAINED:
        return found, ""
    changes.pop("checkpoint", None)
    nmf = Nmf(before, without=state.view.dropped)
    settings = {**changes, "max_iter": min(_MOST, model.max_iter), "tol": _TOL}
    # Without a checkpoint of its own: one of the fit leads here again, and a longer fit starts it elsewhere.
    polish = model._run(nmf, source, checkpoint=None, **settings)
    after = polish.state.A.astype(before.dtype)
    rows = source.take(np.arange(0, source.n_rows, -(-source.n_rows // _ROWS))).X
    pinned = _zeros(after) >= 2 * (len(after) - 1)
    if not pinned or _unpredicted(rows, after) > _WORSE * _unpredicted(rows, before):
        return found, ""
    still = replace(how, nonnegative=False)  # they are: nothing to clip
    begun = restated(state, after, pseudo_inverse(after))
    closing = model._run(still, source, begun, checkpoint=None, **changes)
    history = [{**row, "iteration": found.n_iter + row["iteration"]} for row in polish.history]
    result = replace(
        found,
        state=replace(closing.state, mass=polish.state.mass),
        outcome=_ended(found, polish),
        history=[*found.history, *history],
        n_iter=found.n_iter + polish.n_iter,
    )
    return result, "the features have zeros that pin them down, so both factors were fitted as non-negative"


def _ended(found: Result, polish: Result) -> Outcome:
    """How both ended: where the polish has settled it doesn't matter that the stages before it hadn't."""
    if polish.outcome == "converged":
        return polish.outcome
    if polish.state.error <= _NOTHING * found.state.squares:
        return make_outcome("converged", "the components explain the data")
    return found.outcome


def _applies(how: AndNmf, state: AndState, kind: str) -> bool:
    ended = kind in ("converged", "max_iter") and not how.missing
    automatic = how.nonnegative is not False and how.schedule is None and how.noise_factor is None
    if not (ended and automatic and state.view.negative_share <= 0.01):
        return False
    A = lift(state)
    signed = bool(np.any(A < -1e-3 * np.abs(A).max(axis=1, keepdims=True)))
    return signed or state.kept_share > _EXACT or not state.view.noiseless


def _over_noise(state: AndState, shape: tuple[int, ...]) -> float:
    """What the fit leaves over of the kept samples, over what lies outside of their leading directions."""
    D, W = shape
    outside = state.view.noise**2 * max(state.view.count - D, 1.0) * max(W - D, 1)
    return state.kept_share * state.view.energy / outside if outside > 0 else np.inf


def _zeros(A: NDArray[Any]) -> int:
    """Zeros of the component that has fewest."""
    A = np.maximum(A, 0.0)
    return int(np.min(np.sum(A <= _ZERO * A.max(axis=1, keepdims=True), axis=1)))


def _unpredicted(X: Any, A: NDArray[Any]) -> float:
    """Share of the squares that codes found on every other feature don't predict of the rest."""
    A, left = np.maximum(A, 0.0).astype(np.float64), 0.0
    for first in (0, 1):
        seen, hidden = slice(first, None, 2), slice(1 - first, None, 2)
        Z = nnls(A[:, seen] @ A[:, seen].T, times(X[:, seen], A[:, seen].T), tol=1e-6)
        G, H = A[:, hidden] @ A[:, hidden].T, times(X[:, hidden], A[:, hidden].T)
        left += float(np.sum(row_norms2(X[:, hidden]) + np.einsum("ij,ij->i", Z, Z @ G - 2 * H)))
    return left
