"""How many components counts have: what a fit to one half of the counts says of the other half.

Each count is split at random, entry by entry. If counts are Poisson both parts are independent, with the
same mean, so a fit to the one is judged by the likelihood of the other: components too few miss structure,
components too many fit noise. Counts that vary more than that share noise if split by fair coins, and too
many components seem to predict it; they are split by coins that are biased at random, so that the parts are
independent again (Neufeld, Popp, Gao, Battle and Witten 2023).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import brentq
from sklearn.base import clone

from altmin.algorithms.nonnegative.nmf import even_codes
from altmin.engine import open_source
from altmin.estimators.nonnegative.and_nmf import AND
from altmin.estimators.nonnegative.counts import are_counts
from altmin.kernels.counts import improve_codes, ratios
from altmin.selection.rows import has_holes, quiet_fit

_SWEEPS = 100  # at most, over the codes of the counts that were seen
_OVER = 1.3  # variance over that of Poisson counts up to which counts are taken for such
_USED = 0.01  # share of a sample's counts from which a component counts as used


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


def held_out(estimator: Any, table: Any, k: int, seeds: Any, size: float = np.inf) -> NDArray[Any]:
    """Divergence of each sample's held-out half of the counts, summed over the splits."""
    total = np.zeros(table.shape[0])
    for seed in seeds:
        seen, hidden = thin(table, int(seed), size)
        model = clone(estimator).set_params(n_components=k)
        if _names_words(model):
            A = quiet_fit(model.set_params(weighting="tfidf"), seen).topic_word_
        else:
            A = quiet_fit(model.set_params(noise="poisson"), seen).components_
        A = A.astype(np.float64)
        total += ratios(hidden, improve_codes(seen, even_codes(seen, A), A, _SWEEPS), A)[1]
    return total


def thin(table: Any, seed: int, size: float = np.inf) -> tuple[Any, Any]:
    """Two independent halves of counts with variance m + m^2 / size around their mean m."""
    rng = np.random.default_rng(seed)
    stored = np.asarray(table.data if sp.issparse(table) else table)
    bias = 0.5 if np.isinf(size) else rng.beta(size / 2, size / 2, stored.shape)
    seen = rng.binomial(stored.astype(np.int64), bias).astype(float)
    if not sp.issparse(table):
        return seen, table - seen
    first, second = (
        sp.csr_array((values, table.indices, table.indptr), table.shape)
        for values in (seen, table.data - seen)
    )
    return first, second


def noise_size(table: Any, k: int) -> float:
    """The size for :func:`thin`: at which Pearson's statistic of a fit equals its degrees of freedom.

    Infinite for counts that vary like Poisson counts, up to 1.3 times their variance, and for sparse tables,
    most of whose entries are too small to tell.

    Parameters
    ----------
    table : ndarray of shape (n_samples, n_features)
        Counts.
    k : int
        Components of the fit: rather too many than too few, as what these leave over isn't noise.

    Returns
    -------
    float
        Small for much extra variance.
    """
    if sp.issparse(table):
        return np.inf
    X = np.asarray(table, np.float64)
    model = quiet_fit(AND(k, noise="poisson"), X)
    codes = model.transform(X).astype(np.float64)
    mean = codes @ model.components_
    seen = mean >= 1
    used = codes * model.components_.sum(axis=1) > _USED * X.sum(axis=1, keepdims=True)
    free = seen.sum() - used.sum() - model.components_.size * seen.mean()
    if free <= 0 or np.sum((X[seen] - mean[seen]) ** 2 / mean[seen]) <= _OVER * free:
        return np.inf
    return size_of_noise(X[seen], mean[seen], free)


def size_of_noise(counts: NDArray[Any], mean: NDArray[Any], free: float) -> float:
    """The size at which negative binomial counts of these means have Pearson's statistic ``free``.

    Parameters
    ----------
    counts, mean : ndarray of shape (n,)
        Counts, and what was expected.
    free : float
        Degrees of freedom.

    Returns
    -------
    float
        Infinite for counts that vary like Poisson counts or less.
    """
    squares = (counts - mean) ** 2

    def excess(log_size: float) -> float:
        return float(np.sum(squares / (mean + mean**2 / np.exp(log_size))) / free) - 1.0

    if excess(25.0) <= 0:
        return np.inf
    return float(np.exp(brentq(excess, -7.0, 25.0))) if excess(-7.0) < 0 else float(np.exp(-7.0))


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
