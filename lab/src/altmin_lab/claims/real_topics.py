"""Beyond the papers: topics of 20 newsgroups and of NIPS papers against NMF and LDA."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from altmin.datasets.real import data_folder
from altmin.metrics import match_components
from altmin.plots import plot_topics
from altmin.text import TopicModel, diversity, npmi_coherence
from altmin_lab.documents import load_counts, weighted
from altmin_lab.ledger import Evidence, Wrong, claim, judge, needs
from altmin_lab.sabotage import as_found, shuffled

SHUFFLED = Wrong("the words of each of AND's topics are shuffled", {"finish": shuffled})
Finish = Callable[[np.ndarray], np.ndarray]


def _compare(name: str, n_topics: int, n_splits: int, thin: int, finish: Finish) -> Evidence:
    folder = data_folder()
    if folder is None or not (folder / ("newsgroups20" if name == "newsgroups20" else "nips_1_12")).exists():
        return needs(name)
    from sklearn.decomposition import NMF, LatentDirichletAllocation

    counts, words = load_counts(folder, name)
    counts = counts[::thin]
    X = weighted(counts)
    TopicModel(2, weighting=None).fit(X[:200])  # compile off the clock
    lda = LatentDirichletAllocation(n_topics, learning_method="online", random_state=0)
    methods: dict[str, tuple[Any, Any]] = {
        "AND": (TopicModel(n_topics, weighting=None), X),
        "NMF": (NMF(n_topics, init="nndsvda", max_iter=200), X),
        "LDA": (lda, counts),
    }
    measured: dict[str, float] = {}
    rows = []
    for title, (model, data) in methods.items():
        cosine, coherence, varied, seconds = [], [], [], []
        for split in range(n_splits):
            order = np.random.default_rng(split).permutation(X.shape[0])
            fits: list[np.ndarray] = []
            for half in (np.sort(order[::2]), np.sort(order[1::2])):
                begin = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = model.fit(data[half]).components_.copy()
                fits.append(finish(found) if title == "AND" and fits else found)
                seconds.append(time.process_time() - begin)
                coherence.append(npmi_coherence(fits[-1], counts).mean())
                varied.append(diversity(fits[-1]))
            cosine.append(match_components(fits[0], fits[1], signed=True)[1].mean())
        line = {"cosine of halves": cosine, "NPMI": coherence, "diversity": varied, "CPU s": seconds}
        means = {key: float(np.mean(values)) for key, values in line.items()}
        measured |= {f"{title}: {key}": value for key, value in means.items()}
        rows.append({"method": title, **{key: float(f"{value:.3g}") for key, value in means.items()}})
    whole = TopicModel(n_topics, weighting=None).fit(X)
    scores = npmi_coherence(whole, counts)
    own, peer = ({key: measured[f"{m}: {key}"] for key in ("cosine of halves", "NPMI", "CPU s")}
                 for m in ("AND", "NMF"))  # fmt: skip
    good = [own["cosine of halves"] > peer["cosine of halves"], own["NPMI"] > peer["NPMI"] - 0.05]
    return Evidence(
        judge(*good, all(good) and own["CPU s"] < peer["CPU s"]),
        ", ".join(f"{key} {own[key]:.3g} against NMF's {peer[key]:.3g}" for key in own),
        f"{X.shape[0]} documents, {X.shape[1]} words, (1 + log tf) idf (LDA: counts), {n_topics} topics, "
        f"{n_splits} split(s) into halves; NMF from nndsvda, 200 iterations",
        measured,
        {"methods": rows},
        {f"beyond_topics_{name}": lambda: plot_topics(whole, words, coherence=scores)},
    )


@claim(
    paper="beyond",
    where="topics of 20 newsgroups",
    says="Topics by AND come again in other documents more than NMF's, at a similar coherence, and faster.",
    wrong=SHUFFLED,
    data=True,
)
def beyond_topics_newsgroups(quick: bool = False, finish: Finish = as_found) -> Evidence:
    """20 topics, three splits."""
    return _compare("newsgroups20", 20, 1 if quick else 3, 8 if quick else 1, finish)


@claim(
    paper="beyond",
    where="topics of NIPS papers",
    says="The same holds for 50 topics of few long documents.",
    wrong=SHUFFLED,
    data=True,
)
def beyond_topics_nips(quick: bool = False, finish: Finish = as_found) -> Evidence:
    """50 topics of 1740 papers."""
    return _compare("nips", 10 if quick else 50, 1 if quick else 3, 3 if quick else 1, finish)
