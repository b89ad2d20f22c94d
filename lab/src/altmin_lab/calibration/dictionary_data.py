"""Problems of the three dictionary families. Error: that of the worst atom, up to sign and order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.metrics import atom_error
from altmin_lab.calibration.trial import Group, Trial, between, kind, whole

Array = NDArray[Any]
Maker = Callable[[int, np.random.Generator], Any]


def atoms(rng: np.random.Generator, k: int, n: int, condition: float | None) -> Array:
    """Unit atoms: orthonormal for condition 1, independent directions for None."""
    A = rng.standard_normal((k, n))
    if condition is not None:
        U, _, Vt = np.linalg.svd(A, full_matrices=False)
        A = (U * np.geomspace(1, 1 / condition, k)) @ Vt
    return np.asarray(A / np.linalg.norm(A, axis=1, keepdims=True))


def codes(rng: np.random.Generator, p: int, k: int, density: float, values: str | None = None) -> Array:
    """Bernoulli supports; nonzeros +-1, +-(.5 + |N|) or N."""
    values = values or str(rng.choice(["rad", "gap", "gauss"]))
    x = rng.standard_normal((p, k))
    if values == "rad":
        x = np.sign(x)
    elif values == "gap":
        x = np.sign(x) * (0.5 + np.abs(x))
    return np.asarray(x * (rng.random((p, k)) < density))


def with_noise(rng: np.random.Generator, X: Array, decibel: float) -> Array:
    """X with white noise of this signal-to-noise ratio."""
    return X + np.sqrt(np.mean(X**2)) * 10 ** (-decibel / 20) * rng.standard_normal(X.shape)


def register(
    family: str, estimator: Maker, *, orthogonal: bool, samples: tuple[int, int], least: int = 4
) -> None:
    """The kinds of problems of a dictionary family.

    Parameters
    ----------
    family : str
        Its name.
    estimator : callable
        From the number of atoms and a generator to an estimator.
    orthogonal : bool
        Whether the model's atoms are.
    samples : (int, int)
        Least and most samples of an ordinary problem.
    least : int
        Atoms at least; +-1 codes of four atoms have no more than 40 distinct samples.
    """

    def size(rng: np.random.Generator) -> tuple[int, int]:
        return whole(rng, least, 7), whole(rng, *samples)

    def matrix(rng: np.random.Generator, k: int) -> Array:
        return atoms(rng, k, k, 1.0 if orthogonal else (None, 3.0, 10.0)[whole(rng, 0, 2)])

    def trial(rng: np.random.Generator, X: Array, A: Array, k: int | None = None) -> Trial:
        def error(model: Any) -> float:
            found = model.components_
            return 1.0 if len(found) != len(A) else atom_error(found, A)

        return Trial(estimator(k or len(A), rng), (X,), error)

    def add(name: str, group: Group, share: int = 1) -> Any:
        return kind(family, name, group, share)

    @add("sparse codes", "clean", 9)
    def _sparse(rng: np.random.Generator) -> Trial:
        k, p = size(rng)
        A = matrix(rng, k)
        return trial(rng, codes(rng, p, k, rng.uniform(0.1, 0.35)) @ A, A)

    @add("little noise", "noisy", 4)
    def _noise(rng: np.random.Generator) -> Trial:
        k, p = size(rng)
        A = atoms(rng, k, k, 1.0 if orthogonal else rng.uniform(1, 5))
        return trial(
            rng, with_noise(rng, codes(rng, p, k, rng.uniform(0.1, 0.25)) @ A, rng.uniform(18, 45)), A
        )

    @add("strong noise", "noisy", 2)
    def _strong(rng: np.random.Generator) -> Trial:
        k, p = size(rng)
        A = matrix(rng, k)
        return trial(
            rng, with_noise(rng, codes(rng, p, k, rng.uniform(0.1, 0.4)) @ A, rng.uniform(-3, 12)), A
        )

    @add("outliers", "noisy", 1)
    def _outliers(rng: np.random.Generator) -> Trial:
        k, p = size(rng)
        A = matrix(rng, k)
        X = codes(rng, p, k, rng.uniform(0.1, 0.3)) @ A
        rows = rng.permutation(p)[: max(int(between(rng, 0.005, 0.1) * p), 1)]
        X[rows] = between(rng, 0.5, 5) * np.sqrt(np.mean(X**2)) * rng.standard_normal((len(rows), k))
        return trial(rng, X, A)

    @add("too few samples", "clean", 3)
    def _few(rng: np.random.Generator) -> Trial:
        k = whole(rng, 4, 7)
        A = matrix(rng, k)
        return trial(rng, codes(rng, whole(rng, k + 2, 5 * k), k, rng.uniform(0.15, 0.5)) @ A, A)

    @add("few samples and noise", "noisy", 1)
    def _few_noisy(rng: np.random.Generator) -> Trial:
        k = whole(rng, 4, 7)
        A = matrix(rng, k)
        X = codes(rng, whole(rng, 4 * k, 25 * k), k, rng.uniform(0.1, 0.4)) @ A
        return trial(rng, with_noise(rng, X, rng.uniform(5, 30)), A)

    @add("copies of few samples", "clean", 1)
    def _copies(rng: np.random.Generator) -> Trial:
        k, p = size(rng)
        A = matrix(rng, k)
        X = codes(rng, whole(rng, k + 2, 5 * k), k, rng.uniform(0.1, 0.4)) @ A
        return trial(rng, X[rng.integers(len(X), size=p)], A)

    @add("too dense codes", "clean", 3)
    def _dense(rng: np.random.Generator) -> Trial:
        k, p = size(rng)
        A = matrix(rng, k)
        X = codes(rng, p // 2, k, rng.uniform(0.5, 0.95)) @ A
        return trial(rng, with_noise(rng, X, 30) if rng.random() < 0.3 else X, A)

    @add("+-1 codes near a third", "clean", 2)
    def _third(rng: np.random.Generator) -> Trial:
        k = whole(rng, 5, 7)
        A = matrix(rng, k)
        return trial(rng, codes(rng, whole(rng, 5 * k, 30 * k), k, rng.uniform(0.28, 0.45), "rad") @ A, A)

    @add("shared supports", "clean", 2)
    def _shared(rng: np.random.Generator) -> Trial:
        k, p = size(rng)
        A, x = matrix(rng, k), codes(rng, p, k, rng.uniform(0.1, 0.3))
        x[:, 1] = np.where(x[:, 0] != 0, rng.standard_normal(p), 0.0)
        X = x @ A
        return trial(rng, with_noise(rng, X, rng.uniform(15, 35)) if rng.random() < 0.4 else X, A)

    @add("codes of one sign", "clean", 1)
    def _one_sign(rng: np.random.Generator) -> Trial:
        k, p = size(rng)
        A = matrix(rng, k)
        x = np.abs(codes(rng, p, k, rng.uniform(0.1, 0.4), ("gap", "gauss")[whole(rng, 0, 1)]))
        return trial(rng, x @ A, A)

    @add("heavy-tailed codes", "noisy", 1)
    def _tails(rng: np.random.Generator) -> Trial:
        k, p = size(rng)
        A = matrix(rng, k)
        return trial(rng, rng.standard_t(rng.uniform(2.5, 8), (p, k)) @ A, A)

    if not orthogonal:

        @add("a wrong number of atoms", "clean", 2)
        def _wrong_number(rng: np.random.Generator) -> Trial:
            k, p = size(rng)
            A = atoms(rng, k, k + whole(rng, 0, 3), None)
            X = codes(rng, p, k, rng.uniform(0.1, 0.35)) @ A
            return trial(rng, X if rng.random() < 0.5 else with_noise(rng, X, 30), A, k - whole(rng, 1, 2))

        @add("fewer atoms than features", "clean", 1)
        def _tall(rng: np.random.Generator) -> Trial:
            k, p = size(rng)
            A = atoms(rng, k, k + whole(rng, 1, 6), None)
            return trial(rng, codes(rng, p, k, rng.uniform(0.1, 0.3)) @ A, A)

        @add("collinear atoms", "noisy", 1)
        def _collinear(rng: np.random.Generator) -> Trial:
            k, p = size(rng)
            A = atoms(rng, k, k, between(rng, 30, 1e4))
            return trial(
                rng, with_noise(rng, codes(rng, p, k, rng.uniform(0.1, 0.3)) @ A, rng.uniform(15, 50)), A
            )

    else:

        @add("atoms that aren't orthogonal", "clean", 2)
        def _oblique(rng: np.random.Generator) -> Trial:
            k, p = size(rng)
            A = atoms(rng, k, k, between(rng, 1.2, 10))
            X = codes(rng, p, k, rng.uniform(0.1, 0.3)) @ A
            return trial(rng, X if rng.random() < 0.5 else with_noise(rng, X, 25), A)

    def foreign(name: str, group: Group, draw: Any, share: int = 1) -> None:
        def make(rng: np.random.Generator) -> Trial:
            k, p = size(rng)
            return Trial(estimator(k, rng), (draw(rng, p, k),))

        add(name, group, share)(make)

    foreign("pure noise", "noise", lambda rng, p, k: rng.standard_normal((p, k)), 2)
    foreign(
        "correlated noise",
        "noise",
        lambda rng, p, k: rng.standard_normal((p, k)) @ rng.standard_normal((k, k)),
    )
    foreign("dense non-negative weights", "other", lambda rng, p, k: rng.random((p, k)) @ matrix(rng, k))
    foreign("random walks", "other", lambda rng, p, k: np.cumsum(rng.standard_normal((p, k)), axis=1))
    foreign(
        "clusters", "other",
        lambda rng, p, k: rng.standard_normal((2 * k, k))[rng.integers(2 * k, size=p)]
        + 0.1 * rng.standard_normal((p, k)),
    )  # fmt: skip
