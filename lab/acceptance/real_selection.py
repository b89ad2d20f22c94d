"""How many components: planted numbers of 10, 20 and 50."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from harness import Figure, promise

from altmin import AND, CompleteDictionaryLearning, select_n_components
from altmin.datasets import make_dir, make_neg, make_sparse_dictionary

SEED = int(os.environ.get("ALTMIN_SEED", "0"))


def planted(kind: str, n: int, seed: int) -> tuple[Any, Any]:
    """An estimator and data with n components."""
    if kind == "dictionary":
        problem = make_sparse_dictionary(5000, n, n, random_state=seed)
        turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((2 * n, n)))[0]
        return CompleteDictionaryLearning(random_state=0), problem.X @ turn.T
    make = make_dir if kind == "DIR" else make_neg
    return AND(2), make(4000, 4 * n, n, random_state=seed).X


@promise
def exact_on_planted_models() -> Iterator[Figure]:
    """Exact on DIR, NEG and complete dictionaries with 10, 20 and 50 components on at least 8 of 9 runs."""
    exact = 0
    for kind in ("DIR", "NEG", "dictionary"):
        for n in (10, 20, 50):
            estimator, X = planted(kind, n, SEED)
            found = select_n_components(estimator, X, range(2, 2 * n + 1))
            exact += found.n_components == n
            yield Figure(f"{kind} with {n} components: suggestion", found.n_components)
    yield Figure("exact, of 9", exact, at_least=8)
