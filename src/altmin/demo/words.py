"""Topics of news, from word counts."""

from __future__ import annotations

import numpy as np

from altmin import TopicModel
from altmin.demo.story import Story, story, timed
from altmin.plots import ComponentsDisplay


@story
def news() -> Story:
    """What 395 news stories of 1996 and 1997 are about."""
    import lda.datasets
    import scipy.sparse as sp

    counts = sp.csr_matrix(lda.datasets.load_reuters().astype(np.float64))
    words = list(lda.datasets.load_reuters_vocab())
    model, seconds = timed(TopicModel(8), counts)
    first = [" ".join(topic) for topic in model.top_words(words, 2)[:3]]
    return Story(
        "What is in the news?",
        f"Given only how often each word occurs in {counts.shape[0]} Reuters stories, altmin "
        "finds eight topics "
        f"in {seconds:.1f} s: {', '.join(first)} and five more.",
        "TopicModel",
        "Reuters titles and word counts (come with the package lda)",
        "altmin.TopicModel(8).fit(counts).top_words(words)",
        {"news": lambda: ComponentsDisplay(model.components_, feature_names=words).plot(n_words=7).figure_},
        model=model,
    )
