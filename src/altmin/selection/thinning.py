"""How many components counts have: what a fit to one half of the counts says of the other half.

Each count is split at random, entry by entry. If counts are Poisson both parts are independent, with the
same mean, so a fit to the one is judged by the likelihood of the other: components too few miss structure,
components too many fit noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from altmin.algorithms.nonnegative.nmf import even_codes
from altmin.engine import open_source
from altmin.estimators.nonnegative.counts import are_counts
from altmin.kernels.counts import improve_codes, ratios
from altmin.selection.rows import has_holes, quiet_fit

_SWEEPS = 100  # at most, over the codes of the counts that were seen


def counts_are_fitted(estimator: Any, table: Any, k: int) -> bool:
    """Whether the estimator fits the likelihood of counts, and takes the data for such with k components."""
    if getattr(estimator, "missing", "raise") != "raise" or has_holes(table):
        return False
    noise = getattr(estimator, "noise", "gaussian")
    if not are_counts("auto" if noise == "gaussian" else noise, open_source(table)):
        return False
    if _names_words(estimator):
        return True
    if noise == "gaussian":
        return False
    return getattr(quiet_fit(clone(estimator).set_params(n_components=k), table), "noise_", "") == "poisson"


def _names_words(estimator: Any) -> bool:
    """Whether it is a topic model of counts: its components are weights of words, not what counts expect."""
    return hasattr(estimator, "top_words") and getattr(estimator, "weighting", None) is not None


def held_out(estimator: Any, table: Any, k: int, seeds: Any) -> NDArray[Any]:
    """Divergence of each sample's held-out half of the counts, summed over the splits."""
    total = np.zeros(table.shape[0])
    for seed in seeds:
        seen, hidden = thin(table, int(seed))
        model = clone(estimator).set_params(n_components=k)
        if _names_words(model):
            A = quiet_fit(model.set_params(weighting="tfidf"), seen).topic_word_
        else:
            A = quiet_fit(model.set_params(noise="poisson"), seen).components_
        A = A.astype(np.float64)
        total += ratios(hidden, improve_codes(seen, even_codes(seen, A), A, _SWEEPS), A)[1]
    return total


def thin(table: Any, seed: int) -> tuple[Any, Any]:
    """Two independent halves of the counts."""
    rng = np.random.default_rng(seed)
    if not sp.issparse(table):
        seen = rng.binomial(np.asarray(table).astype(np.int64), 0.5).astype(float)
        return seen, table - seen
    data = rng.binomial(table.data.astype(np.int64), 0.5).astype(float)
    parts = (
        sp.csr_array((values, table.indices, table.indptr), table.shape)
        for values in (data, table.data - data)
    )
    first, second = parts
    return first, second


def judge_held_out(found: dict[int, NDArray[Any]], stable: set[int]) -> tuple[int, str, str]:
    """The smallest number that isn't worse than the best one by more than its standard error.

    'high' only if its components also come again in halves of the samples (``stable``).
    """
    best = min(found, key=lambda k: found[k].sum())
    gaps = {k: found[k] - found[best] for k in sorted(found)}
    spread = {k: float(np.sqrt(len(gap)) * np.std(gap)) for k, gap in gaps.items()}
    chosen = min(k for k, gap in gaps.items() if gap.sum() <= spread[k])
    if chosen == max(found):
        return chosen, "low", "cannot tell: the largest candidate predicts held-out counts best"
    if chosen == min(found):
        return (
            chosen,
            "low",
            "cannot tell: the counts may be too few to show more than the smallest candidate",
        )
    rivals = [k for k in found if k != chosen and gaps[k].sum() <= 2 * spread[k]]
    if rivals:
        others = ", ".join(map(str, rivals))
        return chosen, "low", f"cannot tell from {others}: held-out counts are predicted about as well"
    reason = "held-out counts are predicted best, by more than two standard errors"
    return chosen, "high" if chosen in stable else "moderate", reason
