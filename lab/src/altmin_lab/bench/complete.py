"""As many atoms as features, codes sparse: how far the worst atom is from the true one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from altmin.datasets import make_sparse_dictionary
from altmin.estimators.dictionary.complete import CompleteDictionaryLearning
from altmin.estimators.dictionary.online import OnlineDictionaryLearning
from altmin.metrics import atom_error
from altmin_lab.bench.board import Point, Problem, clocked, restarted, stepwise
from altmin_lab.peers.components import fourth_powers, picard_atoms
from altmin_lab.peers.ksvd import data_start, ksvd

PROBLEM = Problem(
    "complete",
    "Complete dictionaries: recovery against SPAMS, scikit-learn, K-SVD, FastICA, picard and l4 maximisation",
    "largest error of an atom (1 where none matches)",
    (1e-1, 1e-2, 1e-6, 1e-12),
    (3.0, 12.0),
)
DENSITY = 0.1
Data = Any


def _plant(quick: bool, seed: int = 0, **kind: Any) -> Data:
    n, p = (30, 6000) if quick else (100, 25_000)
    return make_sparse_dictionary(p, n, density=DENSITY, random_state=seed, **kind)


@PROBLEM.dataset("no noise")
def clean(quick: bool) -> Data:
    """Codes +-(.5 + |N|)."""
    return _plant(quick)


@PROBLEM.dataset("Gaussian codes")
def gaussian(quick: bool) -> Data:
    """Codes that may be as small as they like: outside of the theorem."""
    return _plant(quick, kind="gauss")


@PROBLEM.dataset("20 dB", draws=3)
def noisy(quick: bool, seed: int = 0) -> Data:
    """With noise."""
    return _plant(quick, seed, snr_db=20.0)


def error_of(data: Data) -> Callable[[Any], float]:
    """Of a dictionary."""
    return lambda atoms: atom_error(atoms, data.components)


@PROBLEM.solver("CompleteDictionaryLearning", "defaults", ours=True)
def own(data: Data, budget: float) -> Iterator[Point]:
    """One fit that decides by itself when to stop."""
    fit = lambda _: CompleteDictionaryLearning(random_state=0, n_jobs=1).fit(data.X).components_  # noqa: E731
    return restarted(fit, (1,), error_of(data), budget)


@PROBLEM.solver(
    "OnlineDictionaryLearning",
    "defaults, one pass; first with few iterations (max_iter) on a quarter of the rows. "
    "Its report is made when it is asked for, and isn't in the time",
    ours=True,
)
def own_online(data: Data, budget: float) -> Iterator[Point]:
    """Fits that are stopped early, as the peers are; then growing parts of the data, each row seen once."""
    n = len(data.X)
    efforts = [(count, 4) for count in (30, 40, 48, 56, 80)] + [(None, part) for part in (8, 4, 2, 1)]

    def fit(effort: int) -> Any:
        count, part = efforts[effort]
        given: dict[str, Any] = {} if count is None else {"max_iter": count}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = OnlineDictionaryLearning(random_state=0, n_jobs=1, **given).fit(data.X[: n // part])
        return model.components_

    return restarted(fit, range(len(efforts)), error_of(data), budget)


@PROBLEM.solver(
    "SPAMS trainDL", "l1, lambda .15 of a row's norm, batches of 512, restarted every 50 iterations"
)
def spams(data: Data, budget: float) -> Iterator[Point]:
    """Short runs, each from the last one's dictionary: one long run keeps atoms that it lost."""
    import spams as library

    X = np.asfortranarray(data.X.T / np.sqrt(np.mean(np.sum(data.X**2, axis=1))))
    options = {"mode": 2, "lambda1": 0.15, "batchsize": 512, "numThreads": 1, "verbose": False}

    def steps() -> Iterator[Any]:
        D = library.trainDL(X, K=len(X), iter=100, **options)
        while True:
            yield np.asarray(D).T
            D = library.trainDL(X, D=np.asfortranarray(D), iter=50, **options)

    return stepwise(steps(), error_of(data))


@PROBLEM.solver("scikit-learn MiniBatchDictionaryLearning", "alpha .15 of a row's norm, batches of 256")
def mini_batches(data: Data, budget: float) -> Iterator[Point]:
    """A pass over 10 batches a point."""
    from sklearn.decomposition import MiniBatchDictionaryLearning

    X = data.X / np.sqrt(np.mean(np.sum(data.X**2, axis=1)))
    rng = np.random.default_rng(0)
    model = MiniBatchDictionaryLearning(X.shape[1], alpha=0.15, random_state=0, fit_algorithm="cd")

    def steps() -> Iterator[Any]:
        while True:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for _ in range(10):
                    model.partial_fit(X[rng.choice(len(X), 256, replace=False)])
            yield model.components_

    return stepwise(steps(), error_of(data))


@PROBLEM.solver(
    "K-SVD", "compiled, batch pursuit with the true mean number of nonzeros, from samples", compiled=True
)
def clusters(data: Data, budget: float) -> Iterator[Point]:
    """One round of pursuit and update at a time."""
    L = max(round(DENSITY * data.X.shape[1]), 1)

    def steps() -> Iterator[Any]:
        atoms = data_start(data.X, data.X.shape[1])
        while True:
            atoms = ksvd(data.X, atoms, n_nonzero=L, max_iter=3)
            yield atoms

    return stepwise(steps(), error_of(data))


@PROBLEM.solver("scikit-learn FastICA", "logcosh, unit variance whitening, its own stopping rule at 1e-6")
def independent(data: Data, budget: float) -> Iterator[Point]:
    """A different model (independence, not sparsity) with the same solution here."""
    from sklearn.decomposition import FastICA

    def fit() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return FastICA(whiten="unit-variance", tol=1e-6, max_iter=1000, random_state=0).fit(data.X)

    seconds, model = clocked(fit)
    yield seconds, error_of(data)(model.mixing_.T)


@PROBLEM.solver("picard", "orthogonal, tanh, its own stopping rule at 1e-7 and after fewer iterations")
def preconditioned(data: Data, budget: float) -> Iterator[Point]:
    """Whole fits of more and more iterations, the last one to its own end."""
    fit = lambda count: picard_atoms(data.X, max_iter=count)  # noqa: E731
    return restarted(fit, (3, 10, 30, 1000), error_of(data), budget)


@PROBLEM.solver("MSP, l4 maximisation", "Zhai et al. 2020, until the dictionary stands still")
def fourth(data: Data, budget: float) -> Iterator[Point]:
    """Ten steps at a time."""
    return stepwise(fourth_powers(data.X, chunk=10), error_of(data))
