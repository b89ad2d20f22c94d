"""AND finds the features: from the data alone, from a start near the truth, with noise and outliers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from harness import Figure, promise

from altmin import AND
from altmin.datasets import add_outliers, make_binary, make_ctm, make_dir, make_neg
from altmin.metrics import sine_errors, total_correlation_error

SEEDS = range(10)


@promise
def starts_from_the_data_alone() -> Iterator[Figure]:
    """Defaults, D=50, W=500, n=4000: every component within 1e-2 on at least 9 of 10 seeds."""
    problems = {
        "DIR s=2.5": lambda seed: make_dir(4000, 500, 50, concentration=2.5, random_state=seed),
        "DIR s=5": lambda seed: make_dir(4000, 500, 50, concentration=5.0, random_state=seed),
        "CTM sigma=5": lambda seed: make_ctm(4000, 500, 50, sigma=5.0, random_state=seed),
        "CTM sigma=10": lambda seed: make_ctm(4000, 500, 50, sigma=10.0, random_state=seed),
    }
    for name, make in problems.items():
        worst = []
        for seed in SEEDS:
            problem = make(seed)
            worst.append(sine_errors(AND(50).fit(problem.X).components_, problem.components).max())
        yield Figure(f"{name}: seeds within 1e-2 of 10", sum(error < 1e-2 for error in worst), at_least=9)
        yield Figure(f"{name}: median of the worst component", float(np.median(worst)))


@promise
def starts_near_the_truth() -> Iterator[Figure]:
    """From A0 near the truth, W=300: DIR s=2.5 and NEG with DIR weights below 1e-8."""
    for name, make in {
        "DIR": lambda seed: make_dir(4000, 300, 50, concentration=2.5, random_state=seed),
        "NEG": lambda seed: make_neg(4000, 300, 50, weights="dir", concentration=2.5, random_state=seed),
    }.items():
        errors = []
        for seed in SEEDS:
            problem = make(seed)
            model = AND(50, init=problem.start).fit(problem.X)
            errors.append(total_correlation_error(model.components_, problem.components))
        yield Figure(f"{name}: largest total error of 10 seeds", max(errors), at_most=1e-8)


@promise
def noise_does_not_undo_the_recovery() -> Iterator[Figure]:
    """Noise 1e-4, 1e-3, 1e-2: error at most .015, .15, 2; twice max_iter: at most 1.05 times larger."""
    for gamma, bound in ((1e-4, 0.015), (1e-3, 0.15), (1e-2, 2.0)):
        errors, growth = [], []
        for seed in SEEDS:
            problem = make_dir(4000, 300, 50, concentration=2.5, noise=gamma, random_state=seed)
            for init in ("spa", problem.start):
                once, twice = (
                    total_correlation_error(
                        AND(50, init=init, max_iter=stages).fit(problem.X).components_, problem.components
                    )
                    for stages in (200, 400)
                )
                errors.append(once)
                growth.append(twice / once)
        yield Figure(f"gamma={gamma:g}: largest total error, both starts", max(errors), at_most=bound)
        yield Figure(f"gamma={gamma:g}: largest growth by twice max_iter", max(growth), at_most=1.05)


@promise
def binary_weights_need_one_threshold() -> Iterator[Figure]:
    """Binary x (W=200, n=3000, s=4) with the constant threshold 1/4: below 1e-9 in 12 stages."""
    errors = []
    for seed in SEEDS:
        problem = make_binary(3000, 200, 50, n_active=4, random_state=seed)
        model = AND(50, init=problem.start, threshold=0.25, max_iter=12).fit(problem.X)
        errors.append(total_correlation_error(model.components_, problem.components))
    yield Figure("largest total error of 10 seeds", max(errors), at_most=1e-9)


@promise
def outliers_are_left_out_and_named() -> Iterator[Figure]:
    """.5 % and 2 % gross outliers, norm times 1 and 10, start from the data: error below 1e-6, and named."""
    for share in (0.005, 0.02):
        for scale in (1.0, 10.0):
            errors, wrong = [], 0
            for seed in SEEDS:
                problem = make_dir(4000, 300, 50, concentration=2.5, random_state=seed)
                X, rows = add_outliers(problem.X, share, scale=scale, random_state=seed)
                model = AND(50).fit(X)
                errors.append(total_correlation_error(model.components_, problem.components))
                wrong += len(np.setxor1d(np.flatnonzero(model.outlier_mask_), rows))
            what = f"{share:.1%} of norm x{scale:g}"
            yield Figure(f"{what}: largest total error of 10 seeds", max(errors), at_most=1e-6)
            yield Figure(f"{what}: samples named wrongly or missed", wrong, at_most=0)


@promise
def two_components_too_many_do_no_harm() -> Iterator[Figure]:
    """D=52 for 50 true components: all 50 found."""
    for noise in (0.0, 1e-4):
        found = []
        for seed in SEEDS:
            problem = make_dir(4000, 300, 50, concentration=2.5, noise=noise, random_state=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it says that two components are empty
                model = AND(52).fit(problem.X)
            found.append(int(np.sum(sine_errors(model.components_, problem.components) < 1e-2)))
        yield Figure(f"noise {noise:g}: fewest found within 1e-2, of 10 seeds", min(found), at_least=50)
