"""How many signatures: the number whose fit to a part of the mutations predicts the rest best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import kl_div

from altmin.estimators.nonnegative.and_nmf import AND
from altmin.selection.rows import quiet_fit
from altmin.selection.thinning import judge_held_out, noise_size, thin

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

    Counts that vary more than Poisson counts seem to have too many signatures at first; how much more they
    vary is measured there, and they are split and tried again with that in mind.

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
    most = min(most, *counts.shape)
    found = _search(most, *thin(counts, seed))
    size = noise_size(counts, _best(found))
    if np.isfinite(size):
        found = _search(most, *thin(counts, seed, size))
    chosen, confidence, reason = judge_held_out(found, set())
    return Number(chosen, confidence, reason, {k: float(loss.sum()) for k, loss in found.items()})


def _search(most: int, seen: NDArray[Any], hidden: NDArray[Any]) -> dict[int, NDArray[Any]]:
    """Divergence of the hidden mutations of each sample, by the number of signatures that was tried."""
    found: dict[int, NDArray[Any]] = {}
    for k in (*(k for k in _COARSE if k < most), most):
        found[k] = _try(k, seen, hidden)
        if sum(other > _best(found) for other in found) == _WORSE:
            break
    while gaps := _beside(_best(found), found):
        found |= {k: _try(k, seen, hidden) for k in gaps}
    return {k: found[k] for k in sorted(found)}


def _try(k: int, seen: NDArray[Any], hidden: NDArray[Any]) -> NDArray[Any]:
    model = quiet_fit(AND(k, noise="poisson"), seen)
    expected = model.transform(seen).astype(np.float64) @ model.components_
    # one mutation a sample comes from anywhere, or one in a channel that the fit calls impossible decided all
    return np.asarray(kl_div(hidden, expected + 1.0 / seen.shape[1]).sum(axis=1))


def _best(found: dict[int, NDArray[Any]]) -> int:
    return min(found, key=lambda k: found[k].sum())


def _beside(best: int, found: dict[int, NDArray[Any]]) -> list[int]:
    """Halfway to the neighbours of the best number that were tried."""
    below = max((k for k in found if k < best), default=best)
    above = min((k for k in found if k > best), default=best)
    return [k for k in {(below + best) // 2, (best + above + 1) // 2} if k not in found]
