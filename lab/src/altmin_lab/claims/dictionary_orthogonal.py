"""Orthogonal dictionaries: Figure 2, and the linear rate of Theorem 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from altmin.datasets import make_sparse_dictionary
from altmin.kernels.polar import polar
from altmin.metrics import atom_error, match_components
from altmin_lab.ledger import Evidence, claim, judge
from altmin_lab.literal_dictionaries import algorithm_1, algorithm_4

PAPER = "complete-dictionary-learning"


@claim(
    paper=PAPER,
    where="Figure 2 and Algorithm 4",
    says="With p=100, n=5, theta=.3 the warm-up followed by Algorithm 1 recovers codes and support exactly.",
)
def dictionary_figure_2(quick: bool = False) -> Evidence:
    """Algorithms 4 and 1 from the identity, at three rates of descent."""
    n_seeds = 5 if quick else 20
    rates = {
        decay: np.mean([_run(seed, decay)[0] < 1e-8 for seed in range(n_seeds)]) for decay in (0.5, 0.9, 0.97)
    }
    _, errors, supports = _run(0, 0.97)

    def draw() -> Any:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 3.5), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.semilogy(np.maximum(errors, 1e-16))
        left.set(xlabel="pass", ylabel="||X* - X||_F")
        right.plot(supports)
        right.set(xlabel="pass", ylabel="support entries that differ")
        return figure

    rate = float(rates[0.97])
    return Evidence(
        judge(rate >= 0.95),
        f"beta=.97: {rate:.0%} of {n_seeds} seeds recovered exactly "
        f"(.9: {rates[0.9]:.0%}, .5: {rates[0.5]:.0%}).",
        f"nonzeros +-(.5+|N|), threshold from the largest entry of Y to Gamma/2 = .25, seeds 0-{n_seeds - 1}",
        measured={f"success, beta={decay}": float(value) for decay, value in rates.items()},
        figures={"figure_2": draw},
    )


def _run(seed: int, decay: float) -> tuple[float, list[float], list[int]]:
    """Final atom error, and the errors of codes and support pass by pass."""
    problem = make_sparse_dictionary(100, 5, density=0.3, kind="gap", orthogonal=True, random_state=seed)
    Y = problem.X
    path = list(algorithm_4(Y, float(np.abs(Y).max()), decay, 0.25))
    path += list(algorithm_1(Y, path[-1][0], 0.25, 40))
    last = path[-1][0]
    index, cosine = match_components(last, problem.components)
    sign = np.sign(cosine)
    codes = [X[:, index] * sign for _, X in path]
    errors = [float(np.linalg.norm(X - problem.codes)) for X in codes]
    supports = [int(np.sum((X != 0) != (problem.codes != 0))) for X in codes]
    return atom_error(last, problem.components), errors, supports


@claim(
    paper=PAPER,
    where="Theorem 1",
    says="From ||D0 - D*||_F = O(1/log n) Algorithm 1 at least halves the error in a pass, theta <= 1/144.",
)
def dictionary_linear_rate(quick: bool = False) -> Evidence:
    """Rate of Algorithm 1 over theta, from a start at distance 1/2."""
    n, p = (20, 4000) if quick else (50, 20000)
    rows = []
    for theta in (1 / 144, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4):
        problem = make_sparse_dictionary(p, n, density=theta, kind="gap", orthogonal=True, random_state=0)
        nudge = np.random.default_rng(0).standard_normal((n, n))
        start = polar(problem.components + 0.5 * nudge / np.linalg.norm(nudge))
        path = algorithm_1(problem.X, start, 0.25, 30)
        errors = np.array([np.linalg.norm(D - problem.components) for D, _ in path])
        moving = errors[errors > 1e-11]
        rates = moving[1:] / moving[:-1]
        rows.append({"theta": theta, "rate": float(np.median(rates)), "last error": float(errors[-1])})
    worst = max(row["rate"] for row in rows[:2])
    return Evidence(
        judge(worst <= 0.5, all(row["rate"] <= 0.5 for row in rows)),
        f"rate {rows[0]['rate']:.2f} at theta=1/144, {rows[3]['rate']:.2f} at .1, "
        f"{rows[-1]['rate']:.2f} at .4.",
        f"n={n}, p={p}, nonzeros +-(.5+|N|), threshold Gamma/2, ||D0 - D*||_F about 1/2",
        measured={f"rate, theta={row['theta']:.3g}": row["rate"] for row in rows},
        tables={"rate of Algorithm 1": rows},
    )
