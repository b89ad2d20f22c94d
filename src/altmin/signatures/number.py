"""How many signatures: the number whose fit to a part of the mutations predicts the rest best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.estimators.nonnegative.and_nmf import AND
from altmin.selection.thinning import held_out, judge_held_out

_SPLITS = 1
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


def choose_number(counts: NDArray[Any], most: int, seed: int) -> Number:
    """Try 1, 2, 3, 4, 6 ... signatures until more of them predict worse; then the numbers beside the best.

    Parameters
    ----------
    counts : ndarray of shape (n_samples, n_channels)
        Mutations.
    most : int
        Largest number that is tried.
    seed : int
        Of the splits.

    Returns
    -------
    Number
        The suggestion, and the curve behind it.
    """
    seeds = np.random.default_rng(seed).integers(1 << 31, size=_SPLITS)
    most = min(most, *counts.shape)
    found: dict[int, NDArray[Any]] = {}
    for k in (*(k for k in _COARSE if k < most), most):
        found[k] = held_out(AND(k), counts, k, seeds)
        if sum(other > _best(found) for other in found) == _WORSE:
            break
    while gaps := _beside(_best(found), found):
        for k in gaps:
            found[k] = held_out(AND(k), counts, k, seeds)
    found = {k: found[k] for k in sorted(found)}
    chosen, confidence, reason = judge_held_out(found, set())
    return Number(chosen, confidence, reason, {k: float(loss.sum()) for k, loss in found.items()})


def _best(found: dict[int, NDArray[Any]]) -> int:
    return min(found, key=lambda k: found[k].sum())


def _beside(best: int, found: dict[int, NDArray[Any]]) -> list[int]:
    """Halfway to the neighbours of the best number that were tried."""
    below = max((k for k in found if k < best), default=best)
    above = min((k for k in found if k > best), default=best)
    return [k for k in {(below + best) // 2, (best + above + 1) // 2} if k not in found]
