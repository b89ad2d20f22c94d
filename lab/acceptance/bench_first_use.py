"""First use of compiled code in a fresh process, with and without a cache on disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from harness import Figure, promise

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
