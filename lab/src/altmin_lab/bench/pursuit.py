"""Orthogonal matching pursuit: the same codes, how fast."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from altmin.coding import omp
from altmin_lab.bench.board import Point, Problem, clocked

PROBLEM = Problem(
    "pursuit",
    "Orthogonal matching pursuit: seconds for the same codes, dense output",
    "relative squared residual",
    (),
    (5.0, 20.0),
)
Data = dict[str, Any]


def _cell(atoms: int, nonzeros: int, features: int, signals: int) -> None:
    def make(quick: bool) -> Data:
        rng = np.random.default_rng(atoms + nonzeros)
        D = rng.standard_normal((atoms, features))
        D /= np.linalg.norm(D, axis=1, keepdims=True)
        return {
            "D": D,
            "L": nonzeros,
            "X": rng.standard_normal((signals // 5 if quick else signals, features)),
        }

    PROBLEM.dataset(f"{atoms} atoms, {nonzeros} nonzeros")(make)


for _shape in ((100, 35, 100, 10_000), (100, 10, 100, 30_000), (256, 10, 64, 30_000)):
    _cell(*_shape)


def _measured(data: Data, call: Callable[[Any], Any], rows: int | None = None) -> Iterator[Point]:
    """Least of five calls (scaled to all signals where only ``rows`` of them are coded)."""
    X = data["X"][:rows]
    call(X[:50])
    seconds, codes = min((clocked(lambda: call(X)) for _ in range(5)), key=lambda timed: timed[0])
    left = X - codes @ data["D"]
    yield seconds * len(data["X"]) / len(X), float(np.sum(left**2) / np.sum(X**2))


@PROBLEM.solver("altmin omp", "one thread", ours=True)
def own(data: Data, budget: float) -> Iterator[Point]:
    """Plain selection."""
    return _measured(data, lambda X: omp(X, data["D"], data["L"], n_jobs=1))


@PROBLEM.solver("altmin ormp", "one thread, the selection that SPAMS's omp has", ours=True)
def own_optimised(data: Data, budget: float) -> Iterator[Point]:
    """Optimised selection."""
    return _measured(data, lambda X: omp(X, data["D"], data["L"], selection="ormp", n_jobs=1))


@PROBLEM.solver("SPAMS omp", "one thread; its sparse output is made dense on the clock, as ours is dense")
def spams(data: Data, budget: float) -> Iterator[Point]:
    """Its omp is what others call ORMP."""
    import spams as library

    D = np.asfortranarray(data["D"].T)

    def call(X: Any) -> Any:
        return library.omp(np.asfortranarray(X.T), D, L=data["L"], eps=0.0, numThreads=1).toarray().T

    return _measured(data, call)


@PROBLEM.solver("scikit-learn orthogonal_mp_gram", "the Gram matrix made once, 600 signals, scaled to all")
def scikit_learn(data: Data, budget: float) -> Iterator[Point]:
    """Its faster form."""
    from sklearn.linear_model import orthogonal_mp_gram

    D = data["D"]
    return _measured(data, lambda X: orthogonal_mp_gram(D @ D.T, D @ X.T, n_nonzero_coefs=data["L"]).T, 600)
