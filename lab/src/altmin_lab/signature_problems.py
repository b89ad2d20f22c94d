"""Planted cohorts of mutations whose signatures and exposures are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.nnls import nnls
from altmin.signatures import ChannelTable, read_reference, read_table

BREAST = ("SBS1", "SBS2", "SBS3", "SBS5", "SBS8", "SBS13", "SBS17b", "SBS18")


@dataclass(frozen=True)
class Cohort:
    """Counts, the signatures that made them, the exposures, and of what kind it is."""

    kind: str
    counts: NDArray[Any]
    signatures: NDArray[Any]
    exposures: NDArray[Any]


def catalogue(folder: str) -> ChannelTable:
    """The reference signatures."""
    return read_reference(Path(folder) / "signatures/COSMIC_v3.6_SBS_GRCh37.txt")


def planted(library: NDArray[Any], seeds: range) -> Iterator[Cohort]:
    """Twelve cohorts a seed: 5 to 16 signatures, two to five of them in each sample, three depths."""
    for seed in seeds:
        for K in (5, 8, 12, 16):
            for n, depth in ((100, 1500), (200, 4000), (120, 500)):
                rng = np.random.default_rng([seed, K, n, 21])
                Z = np.zeros((n, K))
                for row in Z:
                    on = rng.choice(K, min(K, int(rng.integers(2, 6))), replace=False)
                    row[on] = rng.dirichlet(np.ones(len(on))) * depth * np.exp(0.7 * rng.standard_normal())
                yield _drawn(f"K={K}, n={n}, depth {depth}", library, K, Z, rng)


def fresh(library: NDArray[Any], seeds: range) -> Iterator[Cohort]:
    """Twelve cohorts a seed, of kinds that the first ones don't have.

    Shares with a heavy tail, a signature that all samples have, hypermutated samples, overdispersed counts.
    """
    for seed in seeds:
        for K in (6, 9, 13):
            for kind in ("heavy tail", "one everywhere", "hypermutated", "overdispersed"):
                rng = np.random.default_rng([seed, K, len(kind), 22])
                n = int(rng.integers(80, 250))
                on = rng.random((n, K)) < 0.35
                on[np.arange(n), rng.integers(0, K, n)] = True
                Z = on * np.exp((1.5 if kind == "heavy tail" else 0.8) * rng.standard_normal((n, K)))
                Z *= 2000 * np.exp(0.5 * rng.standard_normal((n, 1))) / Z.sum(axis=1, keepdims=True)
                if kind == "one everywhere":
                    Z[:, 0] = 300 * np.exp(0.3 * rng.standard_normal(n))
                if kind == "hypermutated":
                    few = rng.choice(n, n // 12, replace=False)
                    Z[:, 0] = 0.0
                    Z[few, 0] = 60_000 * rng.random(len(few))
                yield _drawn(f"{kind}, K={K}", library, K, Z, rng, kind == "overdispersed")


def unseen(library: NDArray[Any], seeds: range) -> Iterator[tuple[int, Cohort]]:
    """Seven cohorts a seed, of kinds on which no rule was chosen, with the number of signatures to ask for.

    Few samples, signatures of another make, mutations from everywhere, tissues with signatures of their own,
    exposures that go together, one signature too few, one too many.
    """
    for seed in seeds:
        for kind in ("few samples", "other make", "background", "tissues", "together", "too few", "too many"):
            rng = np.random.default_rng([seed, len(kind), 24])
            K, n = int(rng.integers(4, 11)), 30 if kind == "few samples" else int(rng.integers(90, 220))
            Z = (rng.random((n, K)) < 0.4) * rng.gamma(1.0, 1.0, (n, K))
            Z[np.arange(n), rng.integers(0, K, n)] += 0.3
            if kind == "tissues":  # the first signature is everywhere, the others in one of two tissues
                Z[:, 0] += 0.3
                Z[: n // 2, 1 : 1 + K // 2] = 0.0
                Z[n // 2 :, 1 + K // 2 :] = 0.0
            if kind == "together":
                Z[:, 1] = Z[:, 0] * np.exp(0.4 * rng.standard_normal(n)) + Z[:, 1] * (rng.random(n) < 0.3)
            Z[Z.sum(axis=1) == 0, -1] = 1.0
            Z *= rng.choice([800, 3000, 10_000]) * rng.gamma(2.0, 0.5, (n, 1)) / Z.sum(axis=1, keepdims=True)
            of = rng.dirichlet(np.full(96, 0.3), K) if kind == "other make" else library
            found = _drawn(f"{kind}, K={K}", of, K, Z, rng)
            if kind == "background":
                more = rng.poisson(0.05 * found.counts.mean(axis=1, keepdims=True), found.counts.shape)
                found = replace(found, counts=found.counts + more)
            yield K + {"too few": -1, "too many": 1}.get(kind, 0), found


def _drawn(
    kind: str, library: NDArray[Any], K: int, Z: NDArray[Any], rng: np.random.Generator, over: bool = False
) -> Cohort:
    A = library[rng.choice(len(library), K, replace=False)]
    mean = Z @ A
    if over:  # variance up to 3 times the mean at 40 mutations
        mean = mean * rng.gamma(20.0, 1 / 20.0, mean.shape)
    return Cohort(kind, rng.poisson(mean).astype(float), A, Z)


def breast(folder: str, seed: int) -> Cohort:
    """Counts drawn from eight signatures with the exposures of real breast cancers."""
    library = catalogue(folder)
    A = library.select(BREAST).values
    X = read_table(Path(folder) / "signatures/pcawg_breast_sbs.csv").values
    Z = nnls(A @ A.T, X @ A.T)
    Z[Z < 0.06 * X.sum(axis=1, keepdims=True)] = 0.0
    counts = np.random.default_rng([seed, 5]).poisson(Z @ A).astype(float)
    return Cohort("breast", counts, A, Z)


def melanoma(folder: str, seed: int | None = None) -> Cohort:
    """Simulated melanomas with 15 signatures: as published, or drawn again."""
    names = (Path(folder) / f"signatures/musical_sim_melanoma_{part}.csv" for part in "XW")
    X, W = (read_table(name).values for name in names)
    with (Path(folder) / "signatures/musical_sim_melanoma_H.csv").open() as file:
        H = np.array([line.split(",")[1:] for line in file.read().splitlines()[1:]], float).T
    counts = X if seed is None else np.random.default_rng([seed, 6]).poisson(H @ W).astype(float)
    return Cohort("melanoma", counts, W, H)
