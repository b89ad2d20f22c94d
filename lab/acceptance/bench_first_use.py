"""First use of compiled code in a fresh process, with and without a cache on disk."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness import Figure, promise

FIRST_FITS = {
    "mixtures with noise": "altmin.AND(5).fit(np.maximum("
    "make_dir(300, 40, 5, noise=.01, random_state=0).X, 0))",
    "counts": "altmin.AND(5).fit(rng.poisson(50 * make_dir(100, 40, 5, random_state=0).X) * 1.0)",
    "a dictionary": "altmin.CompleteDictionaryLearning(random_state=0).fit("
    "make_sparse_dictionary(2000, 20, snr_db=30, random_state=0).X)",
    "more atoms than features": "altmin.ApproximateDictionaryLearning(30, n_nonzero_coefs=3, random_state=0)"
    ".fit(make_sparse_dictionary(2000, 20, random_state=0).X)",
    "a machine": "altmin.FactorizationMachineRegressor(2, random_state=0).fit("
    "rng.random((900, 6)), rng.random(900))",
    "a picture": "altmin.images.denoise(rng.random((64, 64)))",
}
FIT = """
import time, warnings
warnings.simplefilter("ignore")
import numpy as np
import altmin
from altmin.datasets import make_dir, make_sparse_dictionary
altmin.AND, altmin.CompleteDictionaryLearning, altmin.FactorizationMachineRegressor, altmin.images
rng = np.random.default_rng(0)
begin = time.process_time()
{call}
print(time.process_time() - begin)
"""
SCRIPT = """
import json, time
import numpy as np
rng = np.random.default_rng(0)
D, X = rng.standard_normal((100, 50)), rng.standard_normal((200, 50))
begin = time.process_time()
from altmin import omp
imported = time.process_time()
omp(X, D, 5)
first = time.process_time()
omp(X, D, 5)
print(json.dumps([imported - begin, first - imported, time.process_time() - first]))
"""


def fresh(cache: str) -> list[float]:
    """CPU seconds of the import, the first and the second call in a process of its own."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, env=environment, check=True)
    return json.loads(done.stdout)


@promise
def first_use_of_omp() -> Iterator[Figure]:
    """First use of OMP in a fresh process under 1 s once the cache is warm; the cold compile is stated."""
    with tempfile.TemporaryDirectory() as cache:
        cold = fresh(cache)
        warm = [min(column) for column in zip(*(fresh(cache) for _ in range(3)), strict=True)]
    yield Figure("first call with a warm cache, CPU s", warm[1], at_most=1.0)
    yield Figure("first call that compiles, CPU s", cold[1])
    yield Figure("second call, CPU s", warm[2])
    yield Figure("import of altmin.omp before it (scikit-learn's own is most of it), CPU s", warm[0])


@promise
def first_fits_after_warming() -> Iterator[Figure]:
    """First fits in a fresh process at most 2 CPU s each after `altmin warm`; without it, as stated."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"}

        def first_fit(call: str) -> float:
            code = FIT.format(call=call)
            done = subprocess.run(
                [sys.executable, "-c", code], capture_output=True, env=environment, check=True
            )
            return float(done.stdout)

        cold = {}
        for name, call in FIRST_FITS.items():
            cold[name] = first_fit(call)
            for found in Path(cache).iterdir():  # each from nothing
                shutil.rmtree(found)
        subprocess.run([sys.executable, "-m", "altmin", "warm"], env=environment, check=True)
        for name, call in FIRST_FITS.items():
            yield Figure(f"{name}: first fit, CPU s", min(first_fit(call) for _ in range(2)), at_most=2.0)
            yield Figure(f"{name}: without warming, CPU s", cold[name])
