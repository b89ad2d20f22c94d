"""Orthogonal matching pursuit: speed against SPAMS and scikit-learn, and exactness on a mask."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from harness import Figure, promise

from altmin import omp

# atoms, nonzeros, features, signals
CELLS = ((100, 35, 100, 6000), (100, 10, 100, 15000), (256, 10, 64, 15000))


def fastest(calls: dict[str, Callable[[], object]], repeats: int = 7) -> dict[str, float]:
    """Least CPU seconds of each, taken in turn so that all see the same machine."""
    seconds = dict.fromkeys(calls, np.inf)
    for _ in range(repeats):
        for name, call in calls.items():
            begin = time.process_time()
            call()
            seconds[name] = min(seconds[name], time.process_time() - begin)
    return seconds


def problem(atoms: int, features: int, signals: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian signals and unit Gaussian atoms: the pursuit never ends early."""
    rng = np.random.default_rng(seed)
    D = rng.standard_normal((atoms, features))
    return rng.standard_normal((signals, features)), D / np.linalg.norm(D, axis=1, keepdims=True)


def geometric_mean(values: list[float]) -> float:
    """Of the ratios of the cells."""
    return float(np.exp(np.mean(np.log(values))))


@promise
def speed_against_spams() -> Iterator[Figure]:
    """One thread: at least 1.3 times SPAMS (OMP), 1.0 (ORMP, same supports), codes as dense arrays."""
    import spams

    plain, optimised = [], []
    for atoms, L, features, signals in CELLS:
        X, D = problem(atoms, features, signals, seed=atoms + L)
        XF, DF = np.asfortranarray(X.T), np.asfortranarray(D.T)
        theirs = spams.omp(XF, DF, L=L, eps=0.0, numThreads=1).toarray().T
        same = ((theirs != 0) == (omp(X, D, L, selection="ormp", n_jobs=1) != 0)).all(axis=1).mean()
        seconds = fastest(
            {
                "omp": lambda X=X, D=D, L=L: omp(X, D, L, n_jobs=1),
                "ormp": lambda X=X, D=D, L=L: omp(X, D, L, selection="ormp", n_jobs=1),
                "spams": lambda X=XF, D=DF, L=L: spams.omp(X, D, L=L, eps=0.0, numThreads=1),
            }
        )
        plain.append(seconds["spams"] / seconds["omp"])
        optimised.append(seconds["spams"] / seconds["ormp"])
        cell = f"({atoms}, {L})"
        yield Figure(f"OMP against SPAMS, {cell}", plain[-1], at_least=1.1)
        yield Figure(f"ORMP against SPAMS, {cell}", optimised[-1], at_least=0.9)
        yield Figure(f"signals whose ORMP support is that of SPAMS, {cell}", same, at_least=0.999)
    yield Figure("OMP against SPAMS, geometric mean", geometric_mean(plain), at_least=1.3)
    yield Figure("ORMP against SPAMS, geometric mean", geometric_mean(optimised), at_least=1.0)


@promise
def speed_against_scikit_learn() -> Iterator[Figure]:
    """At least 40 times scikit-learn's orthogonal_mp_gram, with the same supports."""
    from sklearn.linear_model import orthogonal_mp_gram

    ratios = []
    for atoms, L, features, signals in CELLS:
        X, D = problem(atoms, features, signals, seed=atoms + L)
        few = X[:600]

        def theirs(X: np.ndarray = few, D: np.ndarray = D, L: int = L) -> np.ndarray:
            return orthogonal_mp_gram(D @ D.T, D @ X.T, n_nonzero_coefs=L).T

        same = ((theirs() != 0) == (omp(few, D, L) != 0)).all(axis=1).mean()
        calls = {"omp": lambda X=X, D=D, L=L: omp(X, D, L, n_jobs=1), "scikit-learn": theirs}
        seconds = fastest(calls, repeats=3)
        ratios.append(seconds["scikit-learn"] / len(few) / (seconds["omp"] / len(X)))
        yield Figure(f"OMP against scikit-learn, ({atoms}, {L})", ratios[-1])
        yield Figure(f"signals with the same support, ({atoms}, {L})", same, at_least=0.999)
    yield Figure("OMP against scikit-learn, geometric mean", geometric_mean(ratios), at_least=40)


@promise
def exact_on_the_mask() -> Iterator[Figure]:
    """The masked residual is orthogonal to the chosen atoms on the mask to 1e-10."""
    for selection in ("omp", "ormp"):
        worst = 0.0
        for seed in range(5):
            X, D = problem(100, 100, 500, seed)
            seen = np.random.default_rng(seed).random(X.shape) < 0.5
            codes = omp(X, D, 35, mask=seen, selection=selection)
            rest = np.where(seen, X - codes @ D, 0.0)
            worst = max(worst, np.abs((rest @ D.T) * (codes != 0)).max())
        yield Figure(f"largest product of residual and chosen atom, {selection}", worst, at_most=1e-10)
