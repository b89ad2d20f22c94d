"""AND on real data: Table 1 (topics) and Figure 5 (faces)."""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from altmin import AND
from altmin_lab.curves import image_rows
from altmin_lab.ledger import Evidence, claim, judge


def _missing(what: str) -> Evidence:
    return Evidence(
        "cannot be run here",
        f"{what} is not here: ALTMIN_DATA must name the folder with the real data",
        "not run",
    )


def _data(*parts: str) -> Path | None:
    folder = os.environ.get("ALTMIN_DATA")
    path = Path(folder, *parts) if folder else None
    return path if path is not None and path.exists() else None


def _coherence(X: Any, top: np.ndarray) -> float:
    """Mean normalised pointwise mutual information of pairs of top words, by documents."""
    seen = (X > 0).astype(np.float64)
    n = X.shape[0]
    scores = []
    for words in top:
        S = seen[:, words]
        both = np.asarray((S.T @ S).todense()) / n
        alone = np.diag(both)
        i, j = np.triu_indices(len(words), 1)
        joint = np.maximum(both[i, j], 1e-12)
        scores.append(np.mean(np.log(joint / (alone[i] * alone[j])) / -np.log(joint)))
    return float(np.mean(scores))


@claim(
    paper="and-nmf",
    where="Table 1",
    says="On 20 newsgroups AND finds 10 reasonable topics, of quality comparable to NMF and LDA.",
)
def and_table_1(quick: bool = False) -> Evidence:
    """Top words and their coherence (NPMI)."""
    path = _data("newsgroups20", "newsgroups20_bow.npz")
    if path is None:
        return _missing("20 newsgroups")
    from sklearn.decomposition import NMF, LatentDirichletAllocation
    from sklearn.feature_extraction.text import TfidfTransformer

    stored = np.load(path)
    counts = sp.csr_matrix(
        (stored["data"], stored["indices"], stored["indptr"]), shape=tuple(stored["shape"])
    )
    words = (path.parent / "vocab.txt").read_text().split("\n")
    counts = counts[:: 8 if quick else 1].astype(np.float64)
    counts = counts[np.asarray(counts.sum(axis=1)).ravel() > 0]
    X = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    methods: dict[str, tuple[Any, Any]] = {
        "AND": (AND(10, noise_factor=3.0, trim=None, nonnegative_components=True), X),
        "NMF": (NMF(10, init="nndsvda", max_iter=100), X),
        "LDA": (LatentDirichletAllocation(10, learning_method="online", random_state=0), counts),
    }
    rows, measured = [], {}
    for name, (model, data) in methods.items():
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(data)
        top = np.argsort(-model.components_, axis=1)[:, :10]
        measured[f"{name}: NPMI"] = _coherence(counts, top)
        measured[f"{name}: CPU s"] = time.process_time() - begin
        rows += [{"method": name, "topic": " ".join(words[w] for w in line)} for line in top]
    own = measured["AND: NPMI"]
    return Evidence(
        judge(own > 0.2, own > measured["LDA: NPMI"], own > 0.8 * measured["NMF: NPMI"]),
        ", ".join(f"{k} {v:.3g}" for k, v in measured.items()),
        f"{X.shape[0]} documents, {X.shape[1]} words, (1 + log tf) idf (LDA: counts); start from the data",
        measured=measured,
        tables={"top words": rows},
    )


@claim(
    paper="and-nmf",
    where="Figure 5",
    says="On Olivetti faces AND gives 6 meaningful components, of a quality similar to NMF's.",
)
def and_figure_5(quick: bool = False) -> Evidence:
    """Six components by AND and by six methods of scikit-learn."""
    path = _data("olivetti", "olivetti.npz")
    if path is None:
        return _missing("Olivetti")
    from sklearn import cluster, decomposition

    images = np.load(path)["images"].astype(np.float64)
    shape = images.shape[1:]
    X = images.reshape(len(images), -1) / images.max()
    X = X[:: 4 if quick else 1]
    few: dict[str, Any] = {"random_state": 0}
    methods = {
        "AND": AND(6, nonnegative_components=True, decoder="nnls"),
        "NMF": decomposition.NMF(6, init="nndsvda", max_iter=400),
        "k-means": cluster.KMeans(6, n_init=3, **few),
        "PCA": decomposition.PCA(6, svd_solver="randomized", **few),
        "ICA": decomposition.FastICA(6, max_iter=100, **few),
        "dictionary learning": decomposition.MiniBatchDictionaryLearning(6, max_iter=20, **few),
        "sparse PCA": decomposition.MiniBatchSparsePCA(6, max_iter=20, **few),
    }
    pictures, measured = {"faces": X[:6]}, {}
    for name, model in methods.items():
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X)
        measured[f"{name}: CPU s"] = time.process_time() - begin
        pictures[name] = getattr(model, "cluster_centers_", None)
        if pictures[name] is None:
            pictures[name] = model.components_
    for name in ("AND", "NMF"):
        codes = methods[name].transform(X)
        measured[f"{name}: residual"] = float(
            np.linalg.norm(X - codes @ methods[name].components_) / np.linalg.norm(X)
        )
    similar = measured["AND: residual"] < 1.5 * measured["NMF: residual"]
    whole = bool(np.all(np.linalg.norm(methods["AND"].components_, axis=1) > 0))
    return Evidence(
        judge(similar, whole),
        f"relative residual {measured['AND: residual']:.3f} against NMF's {measured['NMF: residual']:.3f}",
        f"{len(X)} faces of {shape[0]} x {shape[1]}; AND starts from the data alone; methods of scikit-learn",
        measured=measured,
        figures={"and_figure_5": image_rows(pictures, shape)},
    )
