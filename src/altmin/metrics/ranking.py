"""How good a ranking of items is: what recommenders are judged by."""

from __future__ import annotations

from typing import Any

import numpy as np


def ndcg_at_k(relevance: Any, scores: Any, k: int = 10) -> float:
    r"""Normalised discounted cumulative gain of the k best-scored items, averaged over rows.

    .. math:: \mathrm{DCG} = \sum_{i \le k} \frac{2^{rel_i} - 1}{\log_2(i + 1)}

    Parameters
    ----------
    relevance : array-like of shape (n_rows, n_items)
        True relevance, 0 for none. Rows without any relevant item don't count.
    scores : array-like of shape (n_rows, n_items)
        Predicted scores; -inf takes an item out.
    k : int
        Items that are looked at.

    Returns
    -------
    float
        Between 0 and 1; NaN where no row counts.

    Notes
    -----
    **Cost.** A partial sort of each row.

    Examples
    --------
    >>> from altmin.metrics import ndcg_at_k
    >>> ndcg_at_k([[1, 0, 1]], [[3.0, 2.0, 1.0]], k=2)
    0.613...
    """
    gains, scores = 2.0 ** _table("relevance", relevance) - 1, _table("scores", scores)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    discount = 1 / np.log2(np.arange(2, order.shape[1] + 2))
    found = np.take_along_axis(gains, order, axis=1) @ discount
    best = -np.sort(-gains, axis=1)[:, : order.shape[1]] @ discount
    counts = best > 0
    return float(np.mean(found[counts] / best[counts])) if counts.any() else float("nan")


def recall_at_k(relevance: Any, scores: Any, k: int = 10) -> float:
    """Share of the relevant items that are among the k best-scored ones, averaged over rows.

    Parameters
    ----------
    relevance : array-like of shape (n_rows, n_items)
        Relevant where above 0. Rows without any relevant item don't count.
    scores : array-like of shape (n_rows, n_items)
        Predicted scores; -inf takes an item out.
    k : int
        Items that are looked at.

    Returns
    -------
    float
        Between 0 and 1; NaN where no row counts.

    Notes
    -----
    **Cost.** A partial sort of each row.

    Examples
    --------
    >>> from altmin.metrics import recall_at_k
    >>> recall_at_k([[1, 0, 1]], [[3.0, 2.0, 1.0]], k=2)
    0.5
    """
    relevant, scores = _table("relevance", relevance) > 0, _table("scores", scores)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    total = relevant.sum(axis=1)
    found = np.take_along_axis(relevant, order, axis=1).sum(axis=1)
    counts = total > 0
    return float(np.mean(found[counts] / total[counts])) if counts.any() else float("nan")


def _table(name: str, values: Any) -> np.ndarray:
    values = np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"{name} has {values.ndim} dimension(s); (n_rows, n_items) is needed")
    return values
