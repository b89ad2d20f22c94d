"""Topics as a table of their top words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from altmin.plots._panels import pyplot


def plot_topics(
    topics: Any,
    vocabulary: ArrayLike,
    *,
    n_words: int = 8,
    coherence: ArrayLike | None = None,
    columns: int = 5,
) -> Any:
    """Draw the top words of each topic as bars of their weights.

    Parameters
    ----------
    topics : array-like of shape (n_topics, n_words), or fitted estimator
        Weights of the words, or what has them as ``components_``.
    vocabulary : sequence of str
        The words.
    n_words : int
        Words of a topic.
    coherence : array-like of shape (n_topics,) or None
        A number for each topic's title, such as its NPMI.
    columns : int
        Topics in a row.

    Returns
    -------
    matplotlib Figure
        One panel per topic.

    Examples
    --------
    >>> from altmin.plots import plot_topics
    >>> figure = plot_topics([[0.1, 0.9], [0.8, 0.2]], ["cat", "sun"], n_words=2)
    """
    plt = pyplot()

    weights = np.asarray(getattr(topics, "components_", topics))
    words = np.asarray(vocabulary, dtype=object)
    if words.shape != (weights.shape[1],):
        raise ValueError(f"vocabulary has shape {words.shape}; {weights.shape[1]} words are needed")
    columns = min(columns, len(weights))
    rows = -(-len(weights) // columns)
    size = (2.3 * columns, (0.17 * n_words + 0.45) * rows)
    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    for ax in axes.flat:
        ax.set_axis_off()
    for k, (ax, topic) in enumerate(zip(axes.flat, weights, strict=False)):
        best = np.argsort(-topic, kind="stable")[:n_words]
        ax.barh(np.arange(len(best)), topic[best], color="tab:blue", alpha=0.35, height=0.85)
        for place, word in enumerate(words[best]):
            ax.text(0.01 * topic[best[0]], place, str(word), va="center", fontsize=8)
        ax.invert_yaxis()
        title = f"topic {k + 1}"
        if coherence is not None:
            title += f"  (NPMI {np.asarray(coherence)[k]:.2f})"
        ax.set_title(title, fontsize=8, loc="left")
    return figure
