"""How many signatures: the number whose fit to a part of the mutations predicts the rest best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import kl_div

from altmin.estimators.nonnegative.and_nmf import AND
from altmin.selection.rows import quiet_fit
from altmin.selection.thinning import judge_held_out, thin

_USED = 0.01  # share of a sample's mutations from which a signature counts as used
_COARSE = (1, 2, 3, 4, 6, 8, 11, 15, 20, 26, 34)  # looked at first; then what lies beside the best of them
_WORSE = 2  # larger numbers that predict worse than the best, after which no larger one is tried


@dataclass(frozen=True)
class Number:
    """How many signatures the counts have.

    Parameters
    ----------
    n_components : int
        The smallest number that predicts held-out mutations as well as the best, within a standard error.
    confidence : {'high', 'moderate', 'low'}
        How much worse others predict.
    reason : str
        A sentence.
    curve : dict of int to float
        Divergence of the held-out mutations from what each number of signatures makes of them.
    """

    n_components: int
    confidence: str
    reason: str
    curve: dict[int, float]

    def __str__(self) -> str:
        return f"{self.n_components} signatures ({self.confidence} confidence): {self.reason}"


@dataclass(frozen=True)
class _Tried:
    """A fit to one half of the mutations: divergence of the other half by sample, unknowns, dispersion."""

    loss: NDArray[Any]
    unknowns: int
    dispersion: float


def choose_number(counts: NDArray[Any], most: int, seed: int) -> Number:
    """Try 1, 2, 3, 4, 6 ... signatures until more of them predict worse; then the numbers beside the best.

    Halves of Poisson counts are independent; of counts with more variance, phi times that of Poisson counts,
    they share (phi - 1) / 2 of the noise, and every unknown that fits noise seems to predict by that
    much. It is taken off again.

    Parameters
    ----------
    counts : ndarray of shape (n_samples, n_channels)
        Mutations.
    most : int
        Largest number that is tried.
    seed : int
        Of the split.

    Returns
    -------
    Number
        The suggestion, and the curve behind it.
    """
    halves = thin(counts, seed)
    most = min(most, *counts.shape)
    tried: dict[int, _Tried] = {}
    for k in (*(k for k in _COARSE if k < most), most):
        tried[k] = _try(k, *halves)
        found = _penalised(tried)
        if sum(other > _best(found) for other in found) == _WORSE:
            break
    while gaps := _beside(_best(_penalised(tried)), tried):
        tried |= {k: _try(k, *halves) for k in gaps}
    found = _penalised({k: tried[k] for k in sorted(tried)})
    chosen, confidence, reason = judge_held_out(found, set())
    return Number(chosen, confidence, reason, {k: float(loss.sum()) for k, loss in found.items()})


def _try(k: int, seen: NDArray[Any], hidden: NDArray[Any]) -> _Tried:
    model = quiet_fit(AND(k, noise="poisson"), seen)
    codes = model.transform(seen).astype(np.float64)
    # one mutation a sample comes from anywhere, or one in a channel that the fit calls impossible decided all
    loss = kl_div(hidden, codes @ model.components_ + 1.0 / seen.shape[1]).sum(axis=1)
    used = codes * model.components_.sum(axis=1) > _USED * seen.sum(axis=1, keepdims=True)
    return _Tried(loss, k * (seen.shape[1] - 1) + int(used.sum()), float(model.dispersion_ or 1.0))


def _penalised(tried: dict[int, _Tried]) -> dict[int, NDArray[Any]]:
    shared = max(min(one.dispersion for one in tried.values()) - 1.0, 0.0)  # of a half: (phi - 1) / 2
    return {k: one.loss + shared * one.unknowns / len(one.loss) for k, one in tried.items()}


def _best(found: dict[int, NDArray[Any]]) -> int:
    return min(found, key=lambda k: found[k].sum())


def _beside(best: int, found: dict[int, _Tried]) -> list[int]:
    """Halfway to the neighbours of the best number that were tried."""
    below = max((k for k in found if k < best), default=best)
    above = min((k for k in found if k > best), default=best)
    return [k for k in {(below + best) // 2, (best + above + 1) // 2} if k not in found]
