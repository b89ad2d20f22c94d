"""Two threads: what the families gain, against two independent loops of matrix products in the same run.

The wall clock decides here, so the machine should do nothing else; everything takes turns, and the median of
the turns' ratios counts: neighbours come and go more slowly than turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from threading import Thread

import numpy as np
from harness import Figure, promise
from threadpoolctl import threadpool_limits

from altmin import AND, CompleteDictionaryLearning, FactorizationMachineRegressor, omp
from altmin.algorithms.quadratic.one_pass import OnePass
from altmin.datasets import make_dir, make_quadratic, make_sparse_dictionary
from altmin.engine import Settings, open_source, run

Call = Callable[[int], object]
TURNS = 9


def products(n_threads: int, count: int) -> None:
    """So many threads, each with ``count`` products of its own."""
    rng = np.random.default_rng(0)

    def loop(S: np.ndarray, M: np.ndarray, out: np.ndarray) -> None:
        for _ in range(count):
            np.matmul(S, M, out=out)

    shapes = ((2048, 100), (100, 100), (2048, 100))
    threads = [
        Thread(target=loop, args=tuple(rng.standard_normal(shape) for shape in shapes))
        for _ in range(n_threads)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def nonnegative() -> Call:
    """AND: 10 stages on 100000 rows."""
    p = make_dir(100_000, 200, 50, random_state=0)
    return lambda n_jobs: AND(50, init=p.start, max_iter=10, n_jobs=n_jobs).fit(p.X)


def dictionary() -> Call:
    """CompleteDictionaryLearning from its own starts on 100000 rows."""
    p = make_sparse_dictionary(100_000, 60, density=0.1, random_state=0)
    return lambda n_jobs: CompleteDictionaryLearning(random_state=0, n_jobs=n_jobs).fit(p.X)


def pursuit() -> Call:
    """OMP: 30000 signals, 256 atoms, 10 nonzeros."""
    rng = np.random.default_rng(0)
    X, D = rng.standard_normal((30_000, 64)), rng.standard_normal((256, 64))
    return lambda n_jobs: omp(X, D, 10, n_jobs=n_jobs)


def machine() -> Call:
    """The factorization machine: the rounds of a pass over 400000 rows in batches of 50000.

    Without the report after it, which looks at a sample whose size doesn't depend on the rows.
    """
    p = make_quadratic(400_000, 100, 10, noise=0.1, random_state=0)
    source, algorithm = open_source(p.X, p.y), OnePass(10, batch_size=50_000, total=400_000)
    return lambda n_jobs: run(algorithm, source, Settings(max_iter=8, n_jobs=n_jobs, seed=0))


def default_machine() -> Call:
    """FactorizationMachineRegressor on the same rows, whole: least squares on the loss, and the report."""
    p = make_quadratic(400_000, 100, 10, noise=0.1, random_state=0)
    return lambda n_jobs: FactorizationMachineRegressor(10, random_state=0, n_jobs=n_jobs).fit(p.X, p.y)


FAMILIES = {
    "AND": nonnegative,
    "complete dictionary": dictionary,
    "OMP": pursuit,
    "machine": machine,
    "default machine": default_machine,
}


def _seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def measured(name: str, call: Call) -> tuple[float, float, float]:
    """Medians over the turns: scaling of a family, of GEMM, and the one over the other in the same turn."""
    call(1)  # compiled code is loaded
    # As long as the family takes: on a machine with neighbours a longer run is less likely to be left alone.
    count = max(int(100 * _seconds(lambda: call(1)) / _seconds(lambda: products(1, 100))), 1)
    scaling = []
    for _ in range(TURNS):
        family = [_seconds(partial(call, jobs)) for jobs in (1, 2)]
        gemm = [_seconds(partial(products, jobs, count)) for jobs in (1, 2)]
        pair = family[0] / family[1], 2 * gemm[0] / gemm[1]  # two loops do twice the work of one
        scaling.append((*pair, pair[0] / pair[1]))
    own, reference, ratio = np.median(scaling, axis=0)
    return float(own), float(reference), float(ratio)


@promise
def two_threads() -> Iterator[Figure]:
    """Two threads: at least .85 of the scaling of two independent one-thread GEMM loops in the same run."""
    with threadpool_limits(1):  # what a fit does outside its rounds isn't helped by BLAS either
        for name, make in FAMILIES.items():
            own, reference, ratio = measured(name, make())
            yield Figure(f"{name}: one thread over two, wall clock", own)
            yield Figure(f"two GEMM loops beside {name}: scaling", reference)
            yield Figure(f"{name}: scaling over that of GEMM", ratio, at_least=0.85)
