"""Counts of sums of profiles (mutations, words): how far the profiles are from the true ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from altmin.estimators.nonnegative.and_nmf import AND
from altmin_lab.bench.board import Point, Problem, clocked, restarted
from altmin_lab.peers import signatures as tools
from altmin_lab.peers.machines import PeerMissing

PROBLEM = Problem(
    "counts",
    "Counts: profiles found by AND, by Kullback-Leibler factorizations and by salamander",
    "1 - cosine of a profile with the true one, mean",
    (1e-1, 1e-2, 2e-3),
    (5.0, 60.0),
)
DRAWS = 5


@dataclass(frozen=True)
class Data:
    """Counts and the profiles that made them."""

    counts: NDArray[Any]
    profiles: NDArray[Any]


def _plant(quick: bool, K: int, depth: float, spread: float, seed: int) -> Data:
    """Sparse profiles of 96 channels, two to five of them in a sample."""
    rng = np.random.default_rng(seed)
    n = 80 if quick else 200
    profiles = rng.dirichlet(np.full(96, 0.2), K)
    Z = np.zeros((n, K))
    for row in Z:
        on = rng.choice(K, int(rng.integers(2, min(K, 5) + 1)), replace=False)
        row[on] = rng.dirichlet(np.ones(len(on))) * depth * np.exp(spread * rng.standard_normal())
    return Data(rng.poisson(Z @ profiles).astype(np.float64), profiles)


@PROBLEM.dataset("5 profiles, 1500 counts a sample", draws=DRAWS)
def easy(quick: bool, seed: int = 0) -> Data:
    """Few of them."""
    return _plant(quick, 5, 1500.0, 0.7, seed)


@PROBLEM.dataset("16 profiles, 1500 counts a sample", draws=DRAWS)
def many(quick: bool, seed: int = 0) -> Data:
    """Many of them."""
    return _plant(quick, 16, 1500.0, 0.7, seed)


@PROBLEM.dataset("10 profiles, some samples with a hundred times more", draws=DRAWS)
def uneven(quick: bool, seed: int = 0) -> Data:
    """Sizes over four decades."""
    return _plant(quick, 10, 1500.0, 2.0, seed)


def error_of(data: Data) -> Callable[[Any], float]:
    """Mean over matched pairs."""
    true = data.profiles / np.linalg.norm(data.profiles, axis=1, keepdims=True)

    def error(found: Any) -> float:
        unit = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-300)
        cosines = unit @ true.T
        return float(1.0 - cosines[linear_sum_assignment(-cosines)].mean())

    return error


def _fit(data: Data, judged: bool, count: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = AND(len(data.profiles), max_iter=count, random_state=0, n_jobs=1).fit(data.counts)
        if judged:
            model.guarantee_  # noqa: B018
        return model.components_


EFFORTS = (2, 4, 8, 16, 32, 64, 300)


@PROBLEM.solver(
    "AND",
    "defaults, of more and more iterations; without its report, which the peers don't give, and which of "
    "small data is made when it is first looked at",
    ours=True,
)
def own(data: Data, budget: float) -> Iterator[Point]:
    """Whole fits of more and more iterations."""
    return restarted(partial(_fit, data, False), EFFORTS, error_of(data), budget)


@PROBLEM.solver("AND, and a look at its report", "the same fits; `guarantee_` is read after each", ours=True)
def judged(data: Data, budget: float) -> Iterator[Point]:
    """Whole fits with the report."""
    return restarted(partial(_fit, data, True), EFFORTS, error_of(data), budget)


def _kullback_leibler(data: Data, count: int, init: str, seed: int = 0) -> Any:
    from sklearn.decomposition import NMF

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return NMF(
            len(data.profiles),
            init=init,
            solver="mu",
            beta_loss="kullback-leibler",
            max_iter=count,
            tol=1e-6,
            random_state=seed,
        ).fit(data.counts)


@PROBLEM.solver(
    "scikit-learn NMF, Kullback-Leibler",
    "nndsvda, multiplicative updates to a tolerance of 1e-6",
    compiled=True,
)
def one_start(data: Data, budget: float) -> Iterator[Point]:
    """From its deterministic start."""
    fit = lambda count: _kullback_leibler(data, count, "nndsvda").components_  # noqa: E731
    return restarted(fit, (20, 30, 40, 50, 60, 80, 120, 160, 320, 640, 5000), error_of(data), budget)


@PROBLEM.solver("the same, best of ten", "random starts, the least divergence wins, 2000 iterations each")
def ten_starts(data: Data, budget: float) -> Iterator[Point]:
    """What careful people do."""
    seconds, (components, _) = clocked(partial(tools.kl_best_of_ten, data.counts, len(data.profiles)))
    yield seconds, error_of(data)(components)


@PROBLEM.solver("salamander KLNMF", "its own settings")
def salamander(data: Data, budget: float) -> Iterator[Point]:
    """In an environment of its own; CPU seconds as it counts them."""
    if tools.python_of("salamander") is None:
        raise PeerMissing("ALTMIN_SALAMANDER names no Python that has it")
    [(found, seconds)] = tools.salamander([data.counts], [len(data.profiles)])
    yield seconds, error_of(data)(found)
