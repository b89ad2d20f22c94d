"""Missing entries: AND with holes at random, and zero-filling beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
from harness import Figure, promise

from altmin import AND
from altmin.datasets import make_dir
from altmin.metrics import total_correlation_error

SEED = int(os.environ.get("ALTMIN_SEED", "0"))


@promise
def missing_at_random() -> Iterator[Figure]:
    """DIR (D=10, W=200, n=2000): error below 1e-2 with 20 % missing, below 3e-2 with 50 %."""
    for share, bound in ((0.2, 1e-2), (0.5, 3e-2), (0.7, None)):
        errors, filled = [], []
        for seed in range(SEED, SEED + 3):
            problem = make_dir(2000, 200, 10, random_state=seed)
            X = problem.X.copy()
            X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
            model = AND(10, missing="mask").fit(X)
            errors.append(total_correlation_error(model.components_, problem.components))
            zeros = AND(10).fit(np.nan_to_num(X))
            filled.append(total_correlation_error(zeros.components_, problem.components))
        yield Figure(f"{share:.0%} missing, total error, worst of 3 seeds", max(errors), at_most=bound)
        yield Figure(f"{share:.0%} missing, zero-filling, best of 3 seeds", min(filled))
