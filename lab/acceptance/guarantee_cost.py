"""The report that comes with a fit costs at most 5 % of the fit."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Figure, cpu_time, promise

import altmin
from altmin.datasets import make_dir, make_planted_sparse, make_quadratic, make_sparse_dictionary


def share(module: str, owner: str, name: str, fit: Callable[[], Any]) -> float:
    """CPU time spent inside one function, as a share of the whole fit; the least of three runs."""
    holder = importlib.import_module(f"altmin.estimators.{module}")
    holder = getattr(holder, owner) if owner else holder
    true, shares = getattr(holder, name), []
    for _ in range(3):
        spent = 0.0

        def timed(*arguments: Any, **options: Any) -> Any:
            nonlocal spent
            begin = time.process_time()
            result = true(*arguments, **options)
            spent += time.process_time() - begin
            return result

        setattr(holder, name, timed)
        try:
            with cpu_time() as clock:
                model = fit()
                model.guarantee_.verdict  # noqa: B018 (made on demand where blocks come fast)
        finally:
            setattr(holder, name, true)
        shares.append(spent / clock.cpu)
    return min(shares)


@promise
def cheap_reports():
    """guarantee_ takes at most 5 % of the CPU time of fits of half a second and more."""
    topics = make_dir(4000, 400, 30, concentration=2.0, random_state=0).X
    sparse = make_sparse_dictionary(20_000, 50, random_state=0).X
    orthogonal = make_sparse_dictionary(10_000, 50, orthogonal=True, random_state=0).X
    stream = make_sparse_dictionary(60_000, 20, random_state=0).X
    law = make_quadratic(40_000, 30, 3, noise=0.1, random_state=0)
    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((400_000, 30)), rng.standard_normal((400_000, 20))
    y = (U @ rng.standard_normal((30, 2)) * (V @ rng.standard_normal((20, 2)))).sum(axis=1)
    y += 0.1 * rng.standard_normal(len(y))
    rows = make_planted_sparse(3000, 32, 48, 3, 0.02, random_state=0).X
    cases = {
        "AND": ("and_nmf", "AND", "_report", lambda: altmin.AND(30).fit(topics)),
        "complete": (
            "_dictionary", "", "dictionary_report",
            lambda: altmin.CompleteDictionaryLearning(random_state=0).fit(sparse),
        ),
        "orthogonal": (
            "_dictionary", "", "dictionary_report",
            lambda: altmin.OrthogonalDictionaryLearning().fit(orthogonal),
        ),
        "online": (
            "online", "", "dictionary_report",
            lambda: altmin.OnlineDictionaryLearning(random_state=0).fit(stream),
        ),
        "machine": (
            "factorization_machine", "", "report",
            lambda: altmin.FactorizationMachineRegressor(3, random_state=0).fit(law.X, law.y),
        ),
        "sensing": (
            "sensing", "RankOneSensing", "_report",
            lambda: altmin.RankOneSensing(2, random_state=0).fit((U, V), y),
        ),
        "approximate": (
            "approximate", "", "cheap_report",
            lambda: altmin.ApproximateDictionaryLearning(48, n_nonzero_coefs=3, random_state=0).fit(rows),
        ),
    }  # fmt: skip
    for name, case in cases.items():
        yield Figure(f"{name}: report over fit", share(*case), at_most=0.05)
