"""Bad input, changed data, crowded folders and threads: nothing crashes, hangs or lies quietly."""

from __future__ import annotations

import importlib.util
import multiprocessing
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from harness import Figure, cpu_time, promise
from threadpoolctl import threadpool_info

from altmin import AND
from altmin.contract import Block, Round
from altmin.datasets import make_dir
from altmin.engine.checkpoint import CheckpointError
from altmin.engine.first_look import FirstLook
from altmin.kernels.digests import digest_rows

TOPICS = make_dir(6000, 40, 4, random_state=0).X


def _adversary() -> Any:
    place = Path(__file__).parents[2] / "tests" / "faults" / "adversary.py"
    spec = importlib.util.spec_from_file_location("adversary", place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["adversary"] = module
    spec.loader.exec_module(module)
    return module


@promise
def bad_input_is_refused_or_finite() -> Iterator[Figure]:
    """Estimators x kinds of input x faults: a clear refusal, or a model of finite numbers."""
    adversary = _adversary()
    found = Counter(adversary.attempt(cell).split(" ")[0] for cell in adversary.cells())
    yield Figure("cells", sum(found.values()), at_least=3000)
    for kind in ("internal", "unclear", "not"):
        yield Figure(f"cells that end in '{kind} ...'", found[kind], at_most=0)


@promise
def a_checkpoint_of_other_rows_is_refused() -> Iterator[Figure]:
    """500 checkpoints offered data with one changed row: none is accepted."""
    rng, accepted = np.random.default_rng(0), 0
    with tempfile.TemporaryDirectory() as folder:
        model = AND(4, max_iter=4, random_state=0, checkpoint=folder)
        model.fit(TOPICS)
        for _ in range(500):
            changed = TOPICS.copy()
            changed[rng.integers(len(TOPICS)), rng.integers(40)] *= 1 + 10.0 ** -rng.integers(1, 15)
            try:
                model.fit(changed)
                accepted += 1
            except CheckpointError:
                pass
    yield Figure("accepted", accepted, at_most=0)


@promise
def the_digest_is_cheap() -> Iterator[Figure]:
    """What the digest of all rows adds to the pass that takes it, and to a fit; dense and sparse."""
    rng = np.random.default_rng(0)
    tables = {
        "1,000 features": make_dir(20_000, 1000, 20, random_state=0).X,
        "1,000 features, float32": make_dir(20_000, 1000, 20, random_state=0).X.astype(np.float32),
        "100 features": make_dir(200_000, 100, 20, random_state=0).X,
        "5,000 features, sparse": sp.csr_array(
            sp.random(20_000, 5000, density=0.02, format="csr", random_state=rng)
        ),
    }
    for name, X in tables.items():
        factors = np.asarray(rng.random((X.shape[1], 20)), X.dtype)

        def project(algorithm: Any, state: Any, block: Any, A: Any = factors) -> Any:
            codes = np.asarray(block.X @ A)  # the least that a pass for 20 components does: codes, and sums
            return {"B": block.X.T @ codes, "G": codes.T @ codes}

        step = Round(project, then=lambda state, stats: state)
        heights = range(0, X.shape[0], 2048)
        blocks = [Block(i, low, X[low : low + 2048]) for i, low in enumerate(heights)]
        costs = []
        for _ in range(7):
            for digesting in (True, False):
                look = FirstLook(digesting=digesting, power=2)
                with cpu_time() as clock:
                    for block in blocks:
                        look.map(None, None, step, block)  # type: ignore[arg-type]
                costs.append(clock.cpu)
        with_it, without = min(costs[2::2]), min(costs[3::2])
        yield Figure(f"{name}: CPU time that it adds to a pass", with_it / without - 1, at_most=0.03)
    X = tables["100 features"]
    with cpu_time() as digest:
        digest_rows((X,), 0)
    with cpu_time() as fit:
        AND(20, max_iter=20, n_jobs=1).fit(X)
    yield Figure("its CPU time over that of a fit (20 components)", digest.cpu / fit.cpu, at_most=0.03)


@promise
def fits_in_threads_have_the_same_bits() -> Iterator[Figure]:
    """16 fits in 8 threads: the bits of one alone, and BLAS has its threads back."""
    before = {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}
    alone = AND(4, max_iter=10, random_state=0).fit(TOPICS).components_
    with ThreadPoolExecutor(8) as pool:
        found = list(
            pool.map(lambda _: AND(4, max_iter=10, random_state=0).fit(TOPICS).components_, range(16))
        )
    yield Figure("fits with other bits", sum(not np.array_equal(alone, other) for other in found), at_most=0)
    after = {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}
    yield Figure("libraries with other threads", sum(after[key] != before[key] for key in before), at_most=0)


def _fit_there(folder: str, ready: Any, results: Any) -> None:
    ready.wait()
    try:
        model = AND(4, threshold=(0.1, 1.02), max_iter=100, random_state=0, checkpoint=folder, n_jobs=1)
        results.put(("model", model.fit(TOPICS).components_.tobytes()))
    except Exception as error:
        results.put((type(error).__name__, b""))


@promise
def two_processes_share_no_folder() -> Iterator[Figure]:
    """Two processes on one checkpoint folder, 40 times: models of the same bits, or a clear error."""
    wrong = 0
    context = multiprocessing.get_context("fork")
    for _ in range(40):
        with tempfile.TemporaryDirectory() as folder:
            ready, results = context.Event(), context.Queue()
            both = [context.Process(target=_fit_there, args=(folder, ready, results)) for _ in range(2)]
            for process in both:
                process.start()
            ready.set()
            found = [results.get() for _ in both]
            for process in both:
                process.join()
            models = {bits for kind, bits in found if kind == "model"}
            others = {kind for kind, _ in found if kind != "model"}
            wrong += len(models) != 1 or not others <= {"CheckpointError"}
    yield Figure("pairs that ended otherwise", wrong, at_most=0)
