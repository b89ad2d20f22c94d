"""AND through the engine: the paper's own recipe, and its closed form."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from harness import Figure, promise

from altmin import AND
from altmin.datasets import make_dir
from altmin.kernels.gradient import gradient_steps
from altmin.metrics import total_correlation_error


@promise
def papers_schedule_recovers() -> Iterator[Figure]:
    """Thresholds .1/1.1^j, 50 inner steps, 200 stages on DIR (W=1000, D=100, n=5000): error below 1e-6."""
    for seed in range(3):
        problem = make_dir(5000, 1000, 100, random_state=seed)
        model = AND(100, init=problem.start, threshold=(0.1, 1.1), inner_steps=50, max_iter=200)
        error = total_correlation_error(model.fit(problem.X).components_, problem.components)
        yield Figure(f"total correlation error, seed {seed}", error, at_most=1e-6)


@promise
def constant_threshold_stalls() -> Iterator[Figure]:
    """One constant threshold stalls above 1 on the same problem."""
    problem = make_dir(5000, 1000, 100, random_state=0)
    for threshold in (0.1, 0.01, 0.001):
        model = AND(100, init=problem.start, threshold=threshold, inner_steps=50, max_iter=200)
        error = total_correlation_error(model.fit(problem.X).components_, problem.components)
        yield Figure(f"total correlation error, threshold {threshold}", error, at_least=1.0)


@promise
def closed_form_equals_steps() -> Iterator[Figure]:
    """The closed form equals 50 explicit steps to 1e-12, also with a singular Gram matrix."""
    problem = make_dir(5000, 1000, 100, random_state=0)
    Z = np.maximum(problem.X @ np.linalg.pinv(problem.start), 0)
    for kind in ("regular", "singular"):
        if kind == "singular":
            Z[:, 3] = 0.0
            Z[:, 7] = Z[:, 8]
        G, B = Z.T @ Z, Z.T @ problem.X
        step = 1 / np.linalg.eigvalsh(G)[-1]
        A = problem.start
        for _ in range(50):
            A = A + step * (B - G @ A)
        difference = np.abs(gradient_steps(problem.start, G, B, 50) - A).max()
        yield Figure(f"largest difference, {kind} Gram matrix", difference, at_most=1e-12)
