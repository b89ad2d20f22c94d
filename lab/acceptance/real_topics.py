"""Topics of 20 newsgroups: stability between halves, coherence and time against NMF."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from harness import Figure, cpu_time, data_folder, promise
from sklearn.decomposition import NMF

from altmin.metrics import match_components
from altmin.text import TopicModel, npmi_coherence
from altmin_lab.documents import load_counts, weighted

SEED = int(os.environ.get("ALTMIN_SEED", "0"))


@promise
def counts_against_kullback_leibler() -> Iterator[Figure]:
    """20 newsgroups (D=20) and NIPS (D=50): NPMI at least that of NMF-KL - .01, topics of halves closer."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("real_topics needs ALTMIN_DATA, the folder with newsgroups20 and nips_1_12")
    for name, D in (("newsgroups20", 20), ("nips", 50)):
        counts, _ = load_counts(Path(folder), name)
        order = np.random.default_rng(SEED).permutation(counts.shape[0])
        halves = (np.sort(order[::2]), np.sort(order[1::2]))
        kl = NMF(D, init="nndsvda", solver="mu", beta_loss="kullback-leibler", max_iter=60)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with cpu_time() as clock:
                fits = [TopicModel(D).fit(counts[half]) for half in halves]
            with cpu_time() as peer:
                peers = [kl.fit(counts[half]).components_.copy() for half in halves]
        found = {
            "by weight": [fit.components_ for fit in fits],
            "by probability": [fit.topic_word_ for fit in fits],
            "NMF-KL": peers,
        }
        rows = {
            what: (
                float(np.mean([npmi_coherence(topics, counts).mean() for topics in pair])),
                float(match_components(*pair, signed=True)[1].mean()),
            )
            for what, pair in found.items()
        }
        for what, (npmi, cosine) in rows.items():
            yield Figure(f"{name}, {what}: NPMI", npmi)
            yield Figure(f"{name}, {what}: cosine between halves", cosine)
        yield Figure(f"{name}: CPU over NMF-KL's", clock.cpu / peer.cpu)
        gain = rows["by weight"][0] - rows["NMF-KL"][0]
        yield Figure(f"{name}: NPMI by weight - NMF-KL's", gain, at_least=-0.01)
        closer = rows["by probability"][1] - rows["NMF-KL"][1]
        yield Figure(f"{name}: cosine between halves of probabilities - NMF-KL's", closer, at_least=0.0)


@promise
def newsgroups() -> Iterator[Figure]:
    """20 newsgroups, D=20: cosine of halves at least NMF's + .03, NPMI - .05, CPU at most .7 of NMF's."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("real_topics needs ALTMIN_DATA, the folder with newsgroups20")
    counts, _ = load_counts(Path(folder), "newsgroups20")
    X = weighted(counts)
    TopicModel(3, weighting=None).fit(X[:500])  # compile off the clock
    methods = {"AND": TopicModel(20, weighting=None), "NMF": NMF(20, init="nndsvda", max_iter=200)}
    found: dict[str, list[list[float]]] = {name: [] for name in methods}
    for split in range(SEED, SEED + 3):
        order = np.random.default_rng(split).permutation(X.shape[0])
        for name, model in methods.items():
            fits, seconds, coherence = [], 0.0, []
            for half in (np.sort(order[::2]), np.sort(order[1::2])):
                with cpu_time() as clock, warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    fits.append(model.fit(X[half]).components_.copy())
                seconds += clock.cpu
                coherence.append(npmi_coherence(fits[-1], counts).mean())
            cosine = match_components(fits[0], fits[1], signed=True)[1].mean()
            found[name].append([float(cosine), float(np.mean(coherence)), seconds])
    own, peer = (np.mean(found[name], axis=0) for name in ("AND", "NMF"))
    for name, values in (("AND", own), ("NMF", peer)):
        yield Figure(f"{name}: cosine between halves, 3 splits", values[0])
        yield Figure(f"{name}: NPMI of the top 10 words", values[1])
        yield Figure(f"{name}: CPU seconds of two half fits", values[2])
    yield Figure("cosine: AND - NMF", own[0] - peer[0], at_least=0.03)
    yield Figure("NPMI: AND - NMF", own[1] - peer[1], at_least=-0.05)
    yield Figure("CPU: AND / NMF", own[2] / peer[2], at_most=0.7)
