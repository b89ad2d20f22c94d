"""More atoms than features, a few of them a row: what sparse codes leave over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from altmin.datasets import make_planted_sparse
from altmin.estimators.overcomplete.approximate import ApproximateDictionaryLearning
from altmin_lab.bench.board import Point, Problem, steadily_clocked
from altmin_lab.peers import sparse_dictionaries as peers

PROBLEM = Problem(
    "approximate",
    "Overcomplete dictionaries: error at 5 nonzeros against K-SVD, SPAMS and scikit-learn",
    "relative squared error at 5 nonzeros",
    (1e-1, 2e-2, 5e-3),
    (5.0, 20.0),
)
L = 5
DRAWS = 3
SWEEPS = (1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 40, 60, 200)  # of ours and of K-SVD
Data = Any


@PROBLEM.dataset("planted", draws=DRAWS)
def planted(quick: bool, seed: int = 0) -> Data:
    """Incoherent atoms, 5 % noise."""
    return make_planted_sparse(*((1500, 32, 50) if quick else (5000, 64, 100)), L, 0.05, random_state=seed)


@PROBLEM.dataset("planted, coherent atoms", draws=DRAWS)
def coherent(quick: bool, seed: int = 0) -> Data:
    """Atoms in pairs that are alike."""
    shape = (1500, 32, 50) if quick else (5000, 64, 100)
    return make_planted_sparse(*shape, L, 0.05, coherence=0.8, random_state=seed)


def _points(data: Data, fits: Iterator[Callable[[], Any]], budget: float) -> Iterator[Point]:
    for fit in fits:
        seconds, atoms = steadily_clocked(fit)
        yield seconds, peers.relative_error(data.X, atoms, L)
        if 2 * seconds > budget:
            return


@PROBLEM.solver("ApproximateDictionaryLearning", "defaults; codes and report are in its time", ours=True)
def own(data: Data, budget: float) -> Iterator[Point]:
    """Peeling alone, then with more and more sweeps."""
    m = len(data.components)

    def fit(rounds: int) -> Any:
        model = ApproximateDictionaryLearning(m, n_nonzero_coefs=L, random_state=0, max_iter=rounds, n_jobs=1)
        model.fit(data.X)
        model.guarantee_  # noqa: B018 (made when it is looked at)
        return model.components_

    return _points(data, (partial(fit, rounds) for rounds in SWEEPS), budget)


@PROBLEM.solver("K-SVD", "compiled, batch OMP, weak atoms replaced", compiled=True)
def clusters(data: Data, budget: float) -> Iterator[Point]:
    """More and more sweeps."""
    m = len(data.components)
    fits = (partial(peers.ksvd_dictionary, data.X, m, L, n_sweeps=sweeps) for sweeps in SWEEPS)
    return _points(data, fits, budget)


@PROBLEM.solver("SPAMS trainDL", "l1, lambda .045 of a row's norm (the best of a grid), batches of 256")
def spams(data: Data, budget: float) -> Iterator[Point]:
    """More and more iterations."""
    m = len(data.components)
    fits = (
        partial(peers.spams_dictionary, data.X, m, penalty=0.045, iterations=n, batch=256)
        for n in (20, 50, 100, 200, 400, 800)
    )
    return _points(data, fits, budget)


@PROBLEM.solver("scikit-learn MiniBatchDictionaryLearning", "penalty a tenth of a row's norm, 10 passes")
def mini_batches(data: Data, budget: float) -> Iterator[Point]:
    """One fit."""
    m = len(data.components)
    return _points(data, iter([lambda: peers.mini_batch_dictionary(data.X, m, L)]), budget)
