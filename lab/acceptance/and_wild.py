"""AND with its defaults on data as people have them, beside scikit-learn's NMF in the same run."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness import Figure, cpu_time, data_folder, promise

from altmin import AND
from altmin.metrics import match_components
from altmin.text import TopicModel
from altmin_lab.wild_mixtures import COUNTS, MIXTURES, NEW_MIXTURES, documents, signature_counts

SEED = int(os.environ.get("ALTMIN_SEED", "600"))
SEEDS = range(SEED, SEED + 2)


def cosines(found: Any, truth: Any) -> Any:
    """Of matched components."""
    return match_components(found, truth, signed=True)[1]


def nmf(X: Any, D: int, init: str, loss: str = "frobenius", seed: int = 0, n_iter: int = 1000) -> Any:
    """scikit-learn's NMF."""
    from sklearn.decomposition import NMF

    solver = "cd" if loss == "frobenius" else "mu"
    model = NMF(D, init=init, solver=solver, beta_loss=loss, max_iter=n_iter, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X if hasattr(X, "indptr") else np.maximum(X, 0.0))


def best_of(X: Any, D: int, loss: str = "frobenius", n: int = 10, n_iter: int = 400) -> Any:
    """The lowest loss of random starts."""
    fits = [nmf(X, D, "random", loss, seed, n_iter) for seed in range(n)]
    return min(fits, key=lambda fit: fit.reconstruction_err_).components_


@promise
def no_kind_of_mixture_is_worse_than_nmf() -> Iterator[Figure]:
    """Mean angle at most 1.15 times that of the best NMF (both losses, nndsvda and best of 10), each kind."""
    yield from against_nmf(MIXTURES)


@promise
def nor_are_kinds_that_no_rule_was_chosen_on() -> Iterator[Figure]:
    """The same on mixtures that were thought of after the rules were settled."""
    yield from against_nmf(NEW_MIXTURES)


def against_nmf(kinds: dict[str, Any]) -> Iterator[Figure]:
    """Angles of AND, of AND without its rules, and of the better NMF."""
    for kind, make in kinds.items():
        own, fixed, peers = [], [], []
        for seed in SEEDS:
            X, A = make(seed)
            fits = [AND(len(A)).fit(X).components_]
            plain = AND(len(A), noise_factor=2.0, nonnegative_components=False)
            fits.append(plain.fit(X).components_)
            for loss in ("frobenius", "kullback-leibler"):
                fits += [nmf(X, len(A), "nndsvda", loss).components_, best_of(X, len(A), loss)]
            angles = [np.degrees(np.arccos(np.clip(cosines(fit, A), -1, 1))) for fit in fits]
            own.append(angles[0])
            fixed.append(angles[1])
            peers.append(min(angles[2:], key=np.mean))
        yield Figure(f"{kind}: degrees of AND without its rules", float(np.mean(fixed)))
        yield Figure(f"{kind}: degrees of the better NMF", float(np.mean(peers)))
        yield Figure(f"{kind}: worst degrees of AND", float(np.max(own)))
        yield Figure(f"{kind}: worst degrees of the better NMF", float(np.max(peers)))
        bound = 1.15 * float(np.mean(peers)) + 0.01
        yield Figure(f"{kind}: degrees of AND", float(np.mean(own)), at_most=bound)


def cosmic() -> Any:
    """Reference signatures, one per row."""
    import pandas as pd

    folder = data_folder()
    if folder is None:
        raise SystemExit("and_wild needs ALTMIN_DATA, the folder with signatures")
    table = pd.read_csv(Path(folder) / "signatures/COSMIC_v3.6_SBS_GRCh37.txt", sep="\t", index_col=0)
    return (table / table.sum()).T


def breast(seed: int) -> tuple[Any, Any]:
    """Counts drawn from eight signatures with the exposures of real breast cancers."""
    import pandas as pd

    from altmin.kernels.nnls import nnls

    table = pd.read_csv(Path(str(data_folder())) / "signatures/pcawg_breast_sbs.csv", index_col=0)
    library = cosmic()
    A = library.loc[["SBS1", "SBS2", "SBS3", "SBS5", "SBS8", "SBS13", "SBS17b", "SBS18"]].values
    X = table.loc[library.columns].values.T.astype(float)
    Z = nnls(A @ A.T, X @ A.T)
    Z[Z < 0.06 * X.sum(axis=1, keepdims=True)] = 0.0
    return np.random.default_rng([seed, 5]).poisson(Z @ A).astype(float), A


def melanoma(seed: int) -> tuple[Any, Any]:
    """Simulated melanomas (MuSiCal): the published counts for the first seed, draws after."""
    import pandas as pd

    folder = Path(str(data_folder())) / "signatures"
    X, W, H = (pd.read_csv(folder / f"musical_sim_melanoma_{n}.csv", index_col=0).values.T for n in "XWH")
    if seed == SEED:
        return X.astype(float), W
    return np.random.default_rng([seed, 6]).poisson(H @ W).astype(float), W


def compared(problems: list[tuple[Any, Any]]) -> dict[str, Any]:
    """Share of components found at cosine .95, problems with all of them, worst cosine, CPU seconds."""
    methods = {
        "AND": lambda X, D: AND(D).fit(X).components_,
        "KL nndsvda": lambda X, D: nmf(X, D, "nndsvda", "kullback-leibler").components_,
        "KL best of 10": lambda X, D: best_of(X, D, "kullback-leibler"),
    }
    AND(3).fit(problems[0][0])  # compile off the clock
    table = {}
    for name, fit in methods.items():
        found, seconds = [], 0.0
        for X, A in problems:
            with cpu_time() as clock:
                components = fit(X, len(A))
            found.append(cosines(components, A))
            seconds += clock.cpu
        number = [float(np.sum(c >= 0.95)) for c in found]
        whole = float(np.mean([np.all(c >= 0.95) for c in found]))
        table[name] = (np.mean(number), whole, min(c.min() for c in found), seconds / len(problems))
    return table


def figures(kind: str, table: dict[str, Any], place: int, at_least: float) -> Iterator[Figure]:
    """Of a comparison: the peers for information, AND against the bound, both worst and both clocks."""
    what = ("components found", "problems with all found")[place]
    for name, row in table.items():
        yield Figure(f"{kind}, {name}: {what}", row[place], at_least=at_least if name == "AND" else None)
        yield Figure(f"{kind}, {name}: worst cosine", float(row[2]))
        yield Figure(f"{kind}, {name}: CPU seconds", row[3])
    ratio = table["AND"][3] / table["KL best of 10"][3]
    yield Figure(f"{kind}: CPU of AND / KL best of 10", ratio, at_most=1.0)


@promise
def signatures_are_found_in_counts() -> Iterator[Figure]:
    """COSMIC: all found in 85 %; breast 6 of 8; melanoma 11 of 15; heavy samples 10 of 10; exomes 15."""
    library = cosmic().values
    sizes = [(K, n, depth) for K in (5, 8, 12) for n, depth in ((100, 1500), (200, 4000))]
    problems = []
    for seed in range(SEED, SEED + 8):
        for K, n, depth in sizes:
            rng = np.random.default_rng([seed, K, n])
            A = library[rng.choice(len(library), K, replace=False)]
            problems.append((signature_counts(A, n, depth, rng), A))
    yield from figures("COSMIC", compared(problems), 1, 0.85)
    for kind, K, n, depth, heavy, least in (
        ("heavy", 10, 200, 2000, True, 10),
        ("exomes", 20, 100, 300, False, 15),
    ):
        problems = []
        for seed in SEEDS:
            rng = np.random.default_rng([seed, K, n, 1])
            A = library[rng.choice(len(library), K, replace=False)]
            problems.append((signature_counts(A, n, depth, rng, heavy=heavy), A))
        yield from figures(kind, compared(problems), 0, least)
    yield from figures("breast", compared([breast(seed) for seed in range(SEED, SEED + 3)]), 0, 6)
    yield from figures("melanoma", compared([melanoma(seed) for seed in SEEDS]), 0, 11)


@promise
def easy_counts_lose_nothing() -> Iterator[Figure]:
    """Five signatures in 100 samples: mean cosine at least that of AND on whitened counts."""
    library, own, whitened = cosmic().values, [], []
    for seed in range(SEED, SEED + 10):
        rng = np.random.default_rng([seed, 5, 100, 2])
        A = library[rng.choice(len(library), 5, replace=False)]
        X = signature_counts(A, 100, 1500, rng)
        rows, columns = (np.sqrt(np.maximum(X.sum(axis=axis), 1.0)) for axis in (1, 0))
        plain = AND(5, noise="gaussian").fit(X / rows[:, None] / columns).components_ * columns
        own.append(cosines(AND(5).fit(X).components_, A))
        whitened.append(cosines(plain, A))
    yield Figure("worst cosine", float(np.min(own)))
    yield Figure("worst cosine of AND on whitened counts", float(np.min(whitened)))
    yield Figure("mean cosine of AND on whitened counts", float(np.mean(whitened)))
    yield Figure("mean cosine", float(np.mean(own)), at_least=float(np.mean(whitened)))


@promise
def counts_that_no_rule_was_chosen_on() -> Iterator[Figure]:
    """Overdispersed counts, a background, few counts, copies: mean cosine at least KL's - .005."""
    for kind, make in COUNTS.items():
        own, peers = [], []
        for seed in SEEDS:
            X, A = make(seed)
            fits = [nmf(X, len(A), "nndsvda", "kullback-leibler").components_]
            fits.append(best_of(X, len(A), "kullback-leibler"))
            own.append(cosines(AND(len(A)).fit(X).components_, A))
            peers.append(max((cosines(fit, A) for fit in fits), key=np.mean))
        yield Figure(f"{kind}: worst cosine of AND", float(np.min(own)))
        yield Figure(f"{kind}: worst cosine of the better KL", float(np.min(peers)))
        yield Figure(f"{kind}: mean cosine of the better KL", float(np.mean(peers)))
        yield Figure(
            f"{kind}: mean cosine of AND", float(np.mean(own)), at_least=float(np.mean(peers)) - 0.005
        )


@promise
def counts_from_a_file_or_a_stream() -> Iterator[Figure]:
    """File, blocks, sparse: the factors of the table to 1e-3 degrees; a one-way stream: cosine .99."""
    import tempfile

    import scipy.sparse as sp

    X, A = COUNTS["counts of many samples"](SEED)
    table = AND(len(A)).fit(X).components_

    def apart(found: Any) -> float:
        return float(np.degrees(np.arccos(np.clip(cosines(found, table).min(), -1, 1))))

    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "counts.npy", X)
        stored = AND(len(A)).fit(str(Path(folder) / "counts.npy")).components_
    yield Figure("file: degrees from the table's factors", apart(stored), at_most=1e-3)
    pieces = [X[low : low + 700] for low in range(0, len(X), 700)]
    yield Figure(
        "blocks: degrees from the table's factors", apart(AND(len(A)).fit(pieces).components_), at_most=1e-3
    )
    yield Figure("sparse: degrees", apart(AND(len(A)).fit(sp.csr_array(X)).components_), at_most=1e-3)
    passes = (piece for _ in range(10) for piece in pieces)
    streamed = AND(len(A), noise="poisson", batch_size=1000).fit(passes).components_
    yield Figure(
        "stream of 10 passes: worst cosine with the table's",
        float(cosines(streamed, table).min()),
        at_least=0.99,
    )
    yield Figure("stream: worst cosine with the truth", float(cosines(streamed, A).min()))
    yield Figure("table: worst cosine with the truth", float(cosines(table, A).min()))


@promise
def as_many_components_as_there_are() -> Iterator[Figure]:
    """The number of components of counts: within one of the truth, or 'cannot tell', in 8 of 10."""
    from altmin import select_n_components

    library, right = cosmic().values, 0
    for seed in range(SEED, SEED + 10):
        rng = np.random.default_rng([seed, 3])
        K = int(rng.integers(3, 8))
        A = library[rng.choice(len(library), K, replace=False)]
        X = signature_counts(A, 120, 2000, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chosen = select_n_components(AND(2), X, range(2, 11), n_splits=1)
        told = "cannot tell" not in chosen.reason
        yield Figure(f"{K} signatures: suggestion ({'told' if told else 'cannot tell'})", chosen.n_components)
        right += abs(chosen.n_components - K) <= 1 or not told
    yield Figure("within one, or said that it can't tell, of 10", right, at_least=8)


def overlap(found: Any, truth: Any) -> float:
    """Share of the ten likeliest words that are right."""
    order = match_components(found, truth, signed=True)[0]
    tops = [
        (set(np.argsort(-a)[:10]), set(np.argsort(-b)[:10])) for a, b in zip(found[order], truth, strict=True)
    ]
    return float(np.mean([len(a & b) / 10 for a, b in tops]))


@promise
def topics_are_probabilities_of_words() -> Iterator[Figure]:
    """Planted topics, correlated or not: mean cosine .99, ten top words .9, a tenth of LDA's CPU."""
    from sklearn.decomposition import LatentDirichletAllocation

    for correlated in (False, True):
        kind = "correlated" if correlated else "independent"
        X, A = documents(SEED, correlated=correlated)
        TopicModel(3).fit(X[:200])  # compile off the clock
        with cpu_time() as own:
            model = TopicModel(20).fit(X)
        with cpu_time() as counts:
            direct = AND(20).fit(X)
        with cpu_time() as peer:
            lda = LatentDirichletAllocation(20, max_iter=30, random_state=0).fit(X)
        kl = nmf(X, 20, "nndsvda", "kullback-leibler").components_
        yield Figure(f"{kind}: cosine of LDA", float(cosines(lda.components_, A).mean()))
        yield Figure(f"{kind}: cosine of NMF-KL", float(cosines(kl, A).mean()))
        yield Figure(f"{kind}: cosine of AND on counts", float(cosines(direct.components_, A).mean()))
        yield Figure(f"{kind}: CPU, AND on counts / LDA", counts.cpu / peer.cpu)
        yield Figure(f"{kind}: mean cosine", float(cosines(model.topic_word_, A).mean()), at_least=0.99)
        yield Figure(f"{kind}: worst cosine", float(cosines(model.topic_word_, A).min()))
        yield Figure(f"{kind}: overlap of the top ten", overlap(model.topic_word_, A), at_least=0.9)
        yield Figure(f"{kind}: CPU / LDA", own.cpu / peer.cpu, at_most=0.1)
