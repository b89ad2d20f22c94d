"""Topics: y = x A with x >= 0; how far the components are from the true ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from altmin.datasets import make_ctm, make_dir, make_neg
from altmin.estimators.nonnegative.and_nmf import AND
from altmin.metrics import total_correlation_error
from altmin_lab.bench.board import Inapplicable, Point, Problem, restarted, stepwise
from altmin_lab.peers import nmf

PROBLEM = Problem(
    "nonnegative",
    "Non-negative weights: AND against non-negative factorizations, all from the same start",
    "total correlation error",
    (1e-1, 1e-2, 1e-4, 1e-8),
    (3.0, 15.0),
)
Data = Any


def _size(quick: bool) -> dict[str, Any]:
    shape = (2000, 300, 30) if quick else (5000, 1000, 100)
    return {**dict(zip(("n_samples", "n_features", "n_components"), shape, strict=True)), "random_state": 0}


@PROBLEM.dataset("DIR")
def dirichlet(quick: bool) -> Data:
    """Dirichlet weights."""
    return make_dir(**_size(quick))


@PROBLEM.dataset("DIR, noise")
def noisy(quick: bool) -> Data:
    """The same with noise."""
    return make_dir(**_size(quick), noise=0.01)


@PROBLEM.dataset("CTM")
def correlated(quick: bool) -> Data:
    """Logistic-normal weights, correlated."""
    return make_ctm(**_size(quick))


@PROBLEM.dataset("NEG")
def signed(quick: bool) -> Data:
    """Components of both signs."""
    return make_neg(**_size(quick))


def error_of(data: Data) -> Callable[[Any], float]:
    """Of components."""
    return lambda A: total_correlation_error(A, data.components)


@PROBLEM.solver("AND", "defaults, init = the common start", ours=True)
def own(data: Data, budget: float) -> Iterator[Point]:
    """Whole fits of more and more stages."""
    D = len(data.components)
    stages = chain((2, 5, 10, 15, 20), range(30, 201, 15))
    fit = lambda count: AND(D, init=data.start, max_iter=count, n_jobs=1).fit(data.X).components_  # noqa: E731
    return restarted(fit, stages, error_of(data), budget)


@PROBLEM.solver("AND from the data", "defaults: no start is given", ours=True)
def own_start(data: Data, budget: float) -> Iterator[Point]:
    """The same from its own start."""
    D = len(data.components)
    fit = lambda count: AND(D, max_iter=count, n_jobs=1).fit(data.X).components_  # noqa: E731
    return restarted(fit, (5, 20, 50, 100, 200), error_of(data), budget)


@PROBLEM.solver("the paper's algorithm, literally", "T = 50 steps of .5/D a stage, threshold .1/1.1^i")
def literal(data: Data, budget: float) -> Iterator[Point]:
    """Li and Liang's Algorithm 1 as printed, means instead of sums."""

    def stages() -> Iterator[Any]:
        A, alpha = data.start.copy(), 0.1
        while True:
            Z = data.X @ np.linalg.pinv(A)
            Z[Z < alpha] = 0.0
            for _ in range(50):
                A += (0.5 / len(A)) / len(data.X) * (Z.T @ (data.X - Z @ A))
            alpha /= 1.1
            yield A

    return stepwise(stages(), error_of(data))


def _peer(name: str, settings: str, steps: Callable[[Any, Any], Iterator[Any]]) -> None:
    def solve(data: Data, budget: float) -> Iterator[Point]:
        if data.components.min() < 0:
            raise Inapplicable("needs components that aren't negative")
        return stepwise(steps(np.maximum(data.X, 0.0), data.start), error_of(data))

    PROBLEM.solver(name, settings, compiled=name == "HALS")(solve)


_peer("HALS", "compiled, blocks in the cache", nmf.hals_chunks)
_peer(
    "scikit-learn NMF, cd", "its default solver, warm started, 20 iterations a point", nmf.coordinate_descent
)
_peer("scikit-learn NMF, mu", "multiplicative updates, 20 iterations a point", nmf.multiplicative)
_peer("scikit-learn MiniBatchNMF", "batches of 1024, forget factor .7", nmf.mini_batch)
_peer("scikit-learn LDA", "online, on the data as counts of 1000 words", nmf.online_lda)
_peer("pyMCR", "alternating non-negative least squares, one iteration a point", nmf.mcr_als)
_peer("tomotopy LDA", "Gibbs sampling from its own start, on the data as counts of 300 words", nmf.gibbs_lda)
