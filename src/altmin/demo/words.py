"""Topics of news, from word counts."""

from __future__ import annotations

import numpy as np

from altmin import AND
from altmin.demo.story import Story, story, timed
from altmin.plots import ComponentsDisplay


@story
def news() -> Story:
    """What 395 news stories of 1996 and 1997 are about."""
    import lda.datasets
    import scipy.sparse as sp
    from sklearn.feature_extraction.text import TfidfTransformer

    counts = sp.csr_matrix(lda.datasets.load_reuters().astype(np.float64))
    words = list(lda.datasets.load_reuters_vocab())
    X = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    model, seconds = timed(AND(8, noise_factor=3.0, trim=None, nonnegative_components=True), X)
    first = [" ".join(words[j] for j in np.argsort(-row)[:2]) for row in model.components_[:3]]
    return Story(
        "What is in the news?",
        f"From nothing but which words stand in {counts.shape[0]} Reuters stories, {seconds:.1f} s give "
        f"eight topics: {', '.join(first)} and five more.",
        "AND",
        "Reuters titles and word counts inside the package lda",
        "altmin.AND(8, noise_factor=3, trim=None, nonnegative_components=True).fit(tfidf)",
        {"news": ComponentsDisplay(model.components_, feature_names=words).plot(n_words=7).figure_},
        model=model,
    )
