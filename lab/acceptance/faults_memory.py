"""The memory that a fit takes besides its data, held against the plan that it prints."""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from harness import Figure, promise

import altmin


def _dense(n: int, width: int, rank: int, dtype: str) -> Any:
    """Topics: rows that are convex combinations of a few."""
    rng = np.random.default_rng(0)
    codes = rng.dirichlet(np.full(rank, 0.2), n).astype(dtype)
    return codes @ rng.random((rank, width)).astype(dtype)


def _signs(n: int, width: int, dtype: str = "f8") -> Any:
    return np.random.default_rng(0).standard_normal((n, width)).astype(dtype)


def _coded(n: int, width: int) -> Any:
    from altmin.datasets import make_sparse_dictionary

    return make_sparse_dictionary(n, width, density=0.2, random_state=0).X


def _sparse(n: int, width: int, each: int) -> Any:
    rng = np.random.default_rng(0)
    columns = rng.integers(0, width, (n, each))
    ends = np.arange(0, n * each + 1, each)
    found = sp.csr_array((rng.random(n * each) + 0.1, columns.ravel(), ends), (n, width))
    found.sum_duplicates()
    return found


SHAPES: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "AND 200,000 x 100": (
        lambda: altmin.AND(10, max_iter=10), lambda: _dense(200_000, 100, 10, "f8"),
    ),
    "AND 50,000 x 1,000 float32": (
        lambda: altmin.AND(20, max_iter=10), lambda: _dense(50_000, 1000, 20, "f4"),
    ),
    "AND 2,000 x 50,000 float32": (
        lambda: altmin.AND(10, max_iter=10), lambda: _dense(2000, 50_000, 10, "f4"),
    ),
    "AND 20,000 x 50,000 sparse": (
        lambda: altmin.AND(10, max_iter=10), lambda: _sparse(20_000, 50_000, 100),
    ),
    "AND 400,000 x 200 of a file": (
        lambda: altmin.AND(10, max_iter=5), lambda: _dense(400_000, 200, 10, "f4"),
    ),
    "machine 200,000 x 50": (
        lambda: altmin.FactorizationMachineRegressor(2, max_iter=10), lambda: _signs(200_000, 50),
    ),
    "machine 2,000 x 50,000 float32": (
        lambda: altmin.FactorizationMachineRegressor(2, max_iter=5), lambda: _signs(2000, 50_000, "f4"),
    ),
    "machine 100,000 x 50,000 sparse": (
        lambda: altmin.FactorizationMachineRegressor(2, max_iter=5), lambda: _sparse(100_000, 50_000, 20),
    ),
    "complete dictionary 400,000 x 32": (
        lambda: altmin.CompleteDictionaryLearning(random_state=0), lambda: _coded(400_000, 32),
    ),
    "orthogonal dictionary 60,000 x 100": (
        lambda: altmin.OrthogonalDictionaryLearning(max_iter=10), lambda: _signs(60_000, 100),
    ),
    "approximate dictionary 40,000 x 64": (
        lambda: altmin.ApproximateDictionaryLearning(100, n_nonzero_coefs=4, max_iter=3, random_state=0),
        lambda: _coded(40_000, 64),
    ),
    "phase retrieval 400,000 x 100": (
        lambda: altmin.PhaseRetrieval(max_iter=10, random_state=0), lambda: _signs(400_000, 100),
    ),
}  # fmt: skip


def _high_water(field: str = "VmHWM") -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) << 10
    raise OSError("the system doesn't tell the largest size of a process")


def measure(name: str, place: str) -> dict[str, float]:
    """Fit in this process, after a small one has loaded what is needed; bytes planned and used."""
    import warnings

    loop = importlib.import_module("altmin.engine.run")

    warnings.simplefilter("ignore")
    make, _ = SHAPES[name]
    X: Any = sp.csr_array(sp.load_npz(place)) if place.endswith(".npz") else np.load(place)
    few = X[:2000, : min(X.shape[1], 200)]
    target = np.square(X[:, :3] @ np.ones(3)) if "machine" in name or "phase" in name else None
    positional = () if target is None else (target[:2000],)
    make().fit(few, *positional)
    del few
    if "file" in name:
        X = place
    plans: list[int] = []
    plan = loop.make_plan
    loop.make_plan = lambda *given: plans.append(plan(*given).peak_bytes) or plan(*given)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what the small fit has left behind
    before = _high_water("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    make().fit(X, *(() if target is None else (target,)))
    return {"plan": max(plans), "used": _high_water() - before, "runs": len(plans)}


@promise
def the_plan_is_right() -> Iterator[Figure]:
    """Peak memory over plan between .5 and 1.25 for dense, sparse and wide data, and for a file."""
    for name, (_, data) in SHAPES.items():
        with tempfile.TemporaryDirectory() as folder:
            X = data()
            place = str(Path(folder) / ("x.npz" if sp.issparse(X) else "x.npy"))
            if sp.issparse(X):
                sp.save_npz(place, X, compressed=False)
            else:
                np.save(place, X)
            del X
            found = subprocess.run(
                [sys.executable, __file__, name, place], capture_output=True, text=True, check=False
            )
            if found.returncode:
                raise RuntimeError(found.stderr[-2000:])
            sizes = json.loads(found.stdout.splitlines()[-1])
        used, plan = sizes["used"] / 2**20, sizes["plan"] / 2**20
        yield Figure(f"{name}: {used:.0f} MiB used over {plan:.0f} planned", used / plan, 1.25, 0.5)


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))
