"""AND doesn't depend on scales, weights count samples, a stream is as good as a table."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from harness import Figure, promise

from altmin import AND
from altmin.datasets import make_dir
from altmin.metrics import total_correlation_error

SEEDS = range(10)


@promise
def scales_do_not_matter() -> Iterator[Figure]:
    """Y times 1e6, 1e-6, and columns of A0 rescaled by .1 to 10: the same components to 1e-10."""
    worst = dict.fromkeys(
        ("Y times 1e6", "Y times 1e-6", "A0 rescaled", "Y times 1e6, start from the data"), 0.0
    )
    for seed in SEEDS:
        problem = make_dir(4000, 300, 50, concentration=2.5, random_state=seed)
        scale = 10 ** np.random.default_rng(seed).uniform(-1, 1, (50, 1))
        X, A0 = problem.X, problem.start
        near, alone = AND(50, init=A0).fit(X).components_, AND(50).fit(X).components_
        found = {
            "Y times 1e6": (near, AND(50, init=A0).fit(1e6 * X)),
            "Y times 1e-6": (near, AND(50, init=A0).fit(1e-6 * X)),
            "A0 rescaled": (near, AND(50, init=scale * A0).fit(X)),
            "Y times 1e6, start from the data": (alone, AND(50).fit(1e6 * X)),
        }
        for name, (reference, model) in found.items():
            worst[name] = max(worst[name], float(np.abs(model.components_ - reference).max()))
    for name, difference in worst.items():
        yield Figure(f"{name}: largest difference of an entry, 10 seeds", difference, at_most=1e-10)


@promise
def weights_count_samples() -> Iterator[Figure]:
    """Weights of 0 equal leaving the rows out, weights of 2 equal doubling them, to 1e-10."""
    for noise in (0.0, 1e-3):
        worst = 0.0
        for seed in SEEDS:
            problem = make_dir(2000, 200, 20, concentration=2.0, noise=noise, random_state=seed)
            weight = np.random.default_rng(seed).integers(0, 3, 2000).astype(float)
            rows = np.repeat(np.arange(2000), weight.astype(int))
            for init in ("spa", problem.start):
                weighted = AND(20, init=init).fit(problem.X, sample_weight=weight)
                repeated = AND(20, init=init).fit(problem.X[rows])
                difference = np.abs(weighted.components_ - repeated.components_).max()
                worst = max(worst, float(difference))
        yield Figure(f"noise {noise:g}: largest difference of an entry, both starts", worst, at_most=1e-10)


@promise
def a_stream_is_as_good_as_a_table() -> Iterator[Figure]:
    """100 stages of 4000 fresh rows: at most 10 times the error of 100 stages on 4000 rows (or 1e-10)."""
    for start in ("spa", "near"):
        ratios = []
        for seed in range(3):
            problem = make_dir(4000, 300, 50, concentration=2.5, random_state=seed)
            init = problem.start if start == "near" else start
            rng = np.random.default_rng(seed)

            def fresh(
                A: np.ndarray = problem.components, rng: np.random.Generator = rng
            ) -> Iterator[np.ndarray]:
                for _ in range(100):
                    yield rng.dirichlet(np.full(50, 0.05), size=4000) @ A

            stream = AND(50, init=init, batch_size=4000, max_iter=100).fit(fresh())
            table = AND(50, init=init, max_iter=100).fit(problem.X)
            error, reference = (
                total_correlation_error(model.components_, problem.components) for model in (stream, table)
            )
            ratios.append(error / max(10 * reference, 1e-10))
        yield Figure(f"start {start}: largest error over what is allowed, 3 seeds", max(ratios), at_most=1.0)
