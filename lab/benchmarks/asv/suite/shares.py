"""Figures that don't depend on the machine: share of GEMM throughput in the same run, growth exponents."""

from __future__ import annotations

import time

import numpy as np
from threadpoolctl import threadpool_limits

from . import families

GROWING = ("Nonnegative", "Orthogonal", "Complete", "Online", "Pursuit", "Machine", "Approximate")


def least(call, repeats: int = 5) -> float:
    """CPU seconds, the least of some runs."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return min(times)


def track_growth(family: str) -> float:
    """Exponent of the CPU time in n, from 8000 to 32000 rows."""
    with threadpool_limits(1):
        small, large = (getattr(families, family)().prepare(n) for n in (8000, 32000))
        small()
        return float(np.log(least(large, 3) / least(small, 3)) / np.log(4))


track_growth.params = GROWING
track_growth.param_names = ("family",)
track_growth.unit = "exponent"
track_growth.timeout = 120


def track_gemm_share_of_a_stage() -> float:
    """The three products of AND's stage over the whole stage (n=5000, 100 components)."""
    import altmin

    p = altmin.datasets.make_dir(5000, 300, 100, random_state=0)
    S, M = np.random.default_rng(0).standard_normal((5000, 100)), np.eye(100)

    def fit(stages: int) -> None:
        altmin.AND(100, init=p.start, max_iter=stages, n_jobs=1).fit(p.X)

    def products() -> None:
        for _ in range(40):
            Z = S @ M
            Z.T @ Z
            Z.T @ S

    with threadpool_limits(1):
        fit(5)
        return least(products) / (least(lambda: fit(45)) - least(lambda: fit(5)))


track_gemm_share_of_a_stage.unit = "share"


def track_gemm_share_of_a_step() -> float:
    """The machine's products over its whole pass (d=50, k=20)."""
    import altmin

    d, k, n = 50, 20, 100_000
    p = altmin.datasets.make_quadratic(n, d, k, noise=0.1, random_state=0)
    options = {"batch_size": 20_000, "max_iter": 5, "tol": 0.0, "random_state": 0, "n_jobs": 1}
    B = np.random.default_rng(0).standard_normal((d, 3 * k + 1))
    with threadpool_limits(1):
        altmin.FactorizationMachineRegressor(k, **options).fit(p.X, p.y)
        ours = least(lambda: altmin.FactorizationMachineRegressor(k, **options).fit(p.X, p.y), 3)
        rate = 2 * 8192 * d * B.shape[1] * 20 / least(lambda: [p.X[:8192] @ B for _ in range(20)])
    return 2 * n * d * (7 * k + 4) / ours / rate


track_gemm_share_of_a_step.unit = "share"
