"""Approximate dictionary learning on many rows: sampled against exact peeling, and growth with n."""

from __future__ import annotations

import numpy as np
from harness import Figure, cpu_time, promise

from altmin import ApproximateDictionaryLearning
from altmin.datasets import make_planted_sparse


def _fit(X, **changes):
    settings = {"n_nonzero_coefs": 5, "random_state": 0, "n_jobs": 1, **changes}
    with cpu_time() as clock:
        model = ApproximateDictionaryLearning(100, **settings).fit(X)
    return model, clock.cpu


@promise
def sampled_against_exact():
    """Sampled at n=16000, d=64: 10 times cheaper than exact incremental, final error within 5 %."""
    for peeling in ("sampled", "exact"):
        _fit(make_planted_sparse(600, 64, 100, 5, random_state=0).X, peeling=peeling)  # compile
    ratios, errors = [], []
    for seed in range(3):
        X = make_planted_sparse(16_000, 64, 100, 5, 0.05, random_state=seed).X
        models = {peeling: _fit(X, peeling=peeling)[0] for peeling in ("sampled", "exact")}
        errors.append(models["sampled"].relative_error_ / models["exact"].relative_error_)
        # What a fit of one sweep costs beyond the same fit from given atoms is the peeling.
        rest = _fit(X, max_iter=1, init=models["exact"].components_)[1]
        cost = {peeling: _fit(X, max_iter=1, peeling=peeling)[1] - rest for peeling in models}
        ratios.append(cost["exact"] / cost["sampled"])
    yield Figure("CPU of exact / sampled peeling, median of 3 seeds", np.median(ratios), at_least=10)
    yield Figure("final error, sampled / exact, worst of 3 seeds", max(errors), at_most=1.05)


@promise
def growth_with_rows():
    """From 16000 to 200000 rows a fitted exponent of at most 1.2."""
    sizes, cpu = (16_000, 50_000, 200_000), []
    for n in sizes:
        X = make_planted_sparse(n, 64, 100, 5, 0.05, random_state=0).X
        model, seconds = _fit(X)
        cpu.append(seconds)
        yield Figure(f"CPU seconds, n={n} ({model.n_iter_} sweeps)", seconds)
    exponent = np.polyfit(np.log(sizes), np.log(cpu), 1)[0]
    yield Figure("exponent of the CPU time in n", exponent, at_most=1.2)
    per_sweep = np.array(cpu[-1]) / model.n_iter_
    yield Figure("CPU seconds a sweep, n=200000", per_sweep)
