"""What the engine costs beside a plain NumPy loop of the same arithmetic, and what an import costs."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from harness import Figure, cpu_time, promise
from threadpoolctl import threadpool_limits

import altmin
from altmin.algorithms.nonnegative.and_nmf import pseudo_inverse
from altmin.datasets import make_dir
from altmin.kernels.gradient import gradient_steps


@promise
def engine_costs_little() -> Iterator[Figure]:
    """CPU of the engine at most 1.10 times a monolithic NumPy loop (one thread, n=50000, W=1000, D=100)."""
    problem = make_dir(50_000, 1000, 100, random_state=0)
    stages = 10
    ratios = []
    for _ in range(3):
        with threadpool_limits(1), cpu_time() as loop:
            _plain_loop(problem.X, problem.start, stages)
        model = altmin.AND(100, init=problem.start, threshold=(0.1, 1.1), max_iter=stages, n_jobs=1)
        with cpu_time() as engine:
            model.fit(problem.X)
        ratios.append(engine.cpu / loop.cpu)
    yield Figure("CPU of fit / CPU of the loop, best of 3", min(ratios), at_most=1.10)


def _plain_loop(Y: np.ndarray, A: np.ndarray, stages: int) -> float:
    """What fit does, written down directly: stages on the whole array, then the residual."""
    for stage in range(stages):
        Z = Y @ pseudo_inverse(A)
        Z.max(axis=0), Z.min(axis=0)
        Z[Z < 0.1 / 1.1**stage] = 0.0
        A = gradient_steps(A, Z.T @ Z, Z.T @ Y, None)
    Z = np.maximum(Y @ pseudo_inverse(A), 0.0)
    return float(np.sum((Y - Z @ A) ** 2))


def _cpu_of(code: str) -> float:
    best = np.inf
    for _ in range(10):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-I", "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


@promise
def import_is_lazy() -> Iterator[Figure]:
    """`import altmin` costs at most twice bare Python."""
    folder = str(Path(altmin.__file__).parents[1])
    path = f"import sys; sys.path.insert(0, {folder!r})"
    yield Figure("CPU ratio", _cpu_of(f"{path}; import altmin") / _cpu_of(path), at_most=2.0)


@promise
def read_only_install_works() -> Iterator[Figure]:
    """A read-only install with an unwritable home imports and fits."""
    code = (
        "import numpy as np, altmin; X = np.random.default_rng(0).random((200, 20));"
        "assert altmin.AND(3, max_iter=5).fit_transform(X).shape == (200, 3)"
    )
    with tempfile.TemporaryDirectory() as name:
        site = Path(name) / "site"
        shutil.copytree(Path(altmin.__file__).parent, site / "altmin", ignore=_no_caches)
        folders = [site, *(path for path in site.rglob("*") if path.is_dir())]
        for folder in folders:
            # A file in the place of the cache folder stops even root, who may write anywhere.
            (folder / "__pycache__").touch()
            folder.chmod(0o555)
        environment = {
            **os.environ,
            "PYTHONPATH": str(site),
            "HOME": "/dev/null/home",
            "XDG_CACHE_HOME": "/dev/null/cache",
        }
        done = subprocess.run([sys.executable, "-c", code], env=environment, cwd="/")
        for folder in folders:
            folder.chmod(0o755)
    yield Figure("exit code", done.returncode, at_most=0)


def _no_caches(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "__pycache__"]
