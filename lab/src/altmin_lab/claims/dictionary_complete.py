"""Complete dictionaries: Theorem 2, its linear rate, its statistical error, and how that scales."""

from __future__ import annotations

from typing import Any

import numpy as np

from altmin import CompleteDictionaryLearning
from altmin.datasets import make_sparse_dictionary
from altmin.metrics import atom_error
from altmin_lab.curves import curves
from altmin_lab.laws import exponent, law, rate
from altmin_lab.ledger import Check, Evidence, Wrong, beside, claim, judge
from altmin_lab.literal_dictionaries import algorithm_2

PAPER = "complete-dictionary-learning"
SPARSE = "theta at most 1/5600"
MANY = "p at least n^2 log n sigma^2 kappa^12 / (theta^2 Gamma) (constant 1)"
BATCH = "batch at least n / theta^2 (constant 1)"
THEOREM = (
    "Suppose Assumption 1 holds with sparsity level theta <= 1/5600, and the initial dictionary A(0) "
    "satisfies ||A(0) - A*||_F <= O(1/(kappa^6 log n)). Moreover, suppose that the sample size and batch "
    "size satisfy p >= Omega(n^2 log n sigma^2 kappa^12 / (theta^2 Gamma)) and p~ >= Omega(n/theta^2). "
    "Then, with high probability and for some 0 < rho < 1, the iterations of Algorithm 2 with zeta = "
    "Gamma/2 satisfy: ||A(t) - A*||_F <= rho^t ||A(0) - A*||_F + O(n kappa^6 / (theta sqrt(p)))."
)


def hypotheses(n: int, p: int, batch: int, theta: float, condition: float) -> dict[str, Check]:
    """The theorem's hypotheses at these sizes, for +-1 codes."""
    least = n**2 * np.log(n) * condition**12 / theta**2
    return {
        SPARSE: Check(theta <= 1 / 5600, f"theta {theta:g}"),
        MANY: Check(p >= least, f"p {p:g}, asked for {least:.1g}"),
        BATCH: Check(batch >= n / theta**2, f"batch {batch}, asked for {n / theta**2:.0f}"),
    }


def problem_of(p: int, n: int, theta: float, condition: float, seed: int) -> tuple[Any, np.ndarray]:
    """+-1 codes under a dictionary of spectral norm 1, and a start near it."""
    problem = make_sparse_dictionary(p, n, density=theta, kind="rad", condition=condition, random_state=seed)
    start = problem.components + 0.02 * np.random.default_rng(seed).standard_normal((n, n)) / n
    return problem, start


def errors_of(
    p: int, n: int, theta: float, condition: float, seed: int, batch: int, n_passes: int, off: float = 1.0
) -> list[float]:
    """||A(t) - A*||_F over ||A*||_2, pass by pass; ``off`` misstates theta sigma^2 by a factor."""
    problem, start = problem_of(p, n, theta, condition, seed)
    path = algorithm_2(problem.X, start, 0.5, off * theta, batch=batch, n_passes=n_passes, seed=seed)
    size = np.linalg.norm(problem.components, 2)
    return [float(np.linalg.norm(A - problem.components) / size) for A in path]


@claim(
    paper=PAPER,
    where="Theorem 2",
    says="Algorithm 2 converges linearly up to a statistical error that falls as 1/sqrt(p).",
    sentence=THEOREM,
    assumes=(SPARSE, MANY, BATCH),
    wrong=Wrong("the preconditioner is built with a theta sigma^2 that is 1.5 times too large", {"off": 1.5}),
    literal=True,
)
def dictionary_statistical_error(quick: bool = False, off: float = 1.0) -> Evidence:
    """Error of Algorithm 2 with batches and its own D0, and of altmin's fit, over the sample size."""
    sizes = (2000, 8000, 32000) if quick else (1000, 2000, 4000, 8000, 16000, 32000, 64000, 128_000)
    n, theta, condition, batch, n_seeds = 10, 0.1, 3.0, 1000, 2 if quick else 5
    printed, mine = [], []
    for p in sizes:
        ends = [np.median(errors_of(p, n, theta, condition, s, batch, 40, off)[-10:]) for s in range(n_seeds)]
        printed.append(float(np.median(ends)))
        errors = []
        for seed in range(n_seeds):
            problem, start = problem_of(p, n, theta, condition, seed)
            atoms = CompleteDictionaryLearning(init=start).fit(problem.X).components_
            errors.append(atom_error(atoms, problem.components))
        mine.append(max(errors))
    slope = exponent(sizes, printed)
    return Evidence(
        judge(abs(slope + 0.5) < 0.15),
        f"as printed the error falls as p^{slope:.2f} ({printed[0]:.1e} to {printed[-1]:.1e}); as altmin "
        f"does it, with the least-squares polish, it is at most {max(mine):.0e} at every p",
        f"n={n}, theta={theta}, +-1 codes, condition {condition:g}, batches of {batch}, 40 passes, "
        f"{n_seeds} seeds, threshold Gamma/2, D0 by line 4, Frobenius error over the norm of A*",
        measured={"exponent": slope, "as altmin does it": max(mine)},
        tables=beside({f"error, p = {p}": (a, b) for p, a, b in zip(sizes, printed, mine, strict=True)}),
        figures={
            "statistical_error": law(
                {
                    "as printed": list(zip(sizes, printed, strict=True)),
                    "as altmin does it": list(zip(sizes, mine, strict=True)),
                },
                "samples p",
                "error",
                {"1/sqrt(p)": [(p, printed[0] * (sizes[0] / p) ** 0.5) for p in sizes]},
            )
        },
        hypotheses=hypotheses(n, sizes[-1], batch, theta, condition),
    )


@claim(
    paper=PAPER,
    where="Theorem 2, its rate",
    says="Algorithm 2 contracts by a constant factor in each pass until the statistical error is reached.",
    sentence=THEOREM,
    assumes=(SPARSE, MANY, BATCH),
    wrong=Wrong("the threshold is 0: every code is kept", {"threshold": 0.0}),
    literal=True,
)
def dictionary_theorem_2_rate(quick: bool = False, threshold: float = 0.5) -> Evidence:
    """How fast the error falls to its floor from a start at distance .4, over theta."""
    n, p, condition = (10, 40_000, 2.0) if quick else (20, 200_000, 2.0)
    lines, factors, mine = {}, {}, {}
    for theta in (0.05, 0.1, 0.2):
        problem, _ = problem_of(p, n, theta, condition, 0)
        nudge = np.random.default_rng(0).standard_normal((n, n))
        start = problem.components + 0.4 * nudge / np.linalg.norm(nudge)
        errors = [float(np.linalg.norm(start - problem.components))]
        for A in algorithm_2(problem.X, start, threshold, theta, batch=2000, n_passes=25):
            errors.append(float(np.linalg.norm(A - problem.components)))
        floor = float(np.median(errors[-8:]))
        lines[f"theta {theta:g}"] = [(float(t), e) for t, e in enumerate(errors)]
        above = [e for e in errors if e > 2 * floor]
        factors[f"theta {theta:g}"] = rate([*above, 2 * floor]) if above else float("inf")
        fit = CompleteDictionaryLearning(init=start).fit(problem.X).components_
        mine[f"error, theta {theta:g}"] = (errors[-1], atom_error(fit, problem.components))
    return Evidence(
        judge(
            max(factors.values()) < 369 / 400, all(line[-1][1] < 0.5 * line[0][1] for line in lines.values())
        ),
        "a pass multiplies the error by "
        + ", ".join(f"{v:.2f} ({name})" for name, v in factors.items())
        + " until it meets its floor; the proof has 369/400",
        f"n={n}, p={p}, +-1 codes, condition {condition:g}, batches of 2000, ||A0 - A*||_F = .4",
        measured=factors,
        tables=beside(mine),
        figures={"theorem_2_rate": curves({"Algorithm 2": lines}, "pass", "Frobenius error")},
        hypotheses=hypotheses(n, p, 2000, 0.05, condition),
    )


@claim(
    paper=PAPER,
    where="Theorem 2, n kappa^6 / theta",
    says="The statistical error grows at most like n, like kappa^6 and like 1/theta.",
    sentence=THEOREM,
    assumes=(SPARSE, MANY, BATCH),
    wrong=Wrong("a bound with kappa^0 and theta^2: n theta^2 / sqrt(p)", {"powers": (1.0, 0.0, -2.0)}),
    literal=True,
)
def dictionary_theorem_2_scaling(
    quick: bool = False, powers: tuple[float, float, float] = (1.0, 6.0, 1.0)
) -> Evidence:
    """Exponents of the floor in n, kappa and 1/theta; the paper's are upper bounds."""
    p, n_seeds = (20_000, 2) if quick else (60_000, 5)

    def floor(n: int, condition: float, theta: float) -> float:
        ends = [errors_of(p, n, theta, condition, seed, 4000, 15)[-1] for seed in range(n_seeds)]
        return float(np.median(ends))

    sweeps: dict[str, dict[float, float]] = {
        "n": {n: floor(n, 2.0, 0.1) for n in (5, 10, 20)},
        "kappa": {c: floor(10, c, 0.1) for c in (1.5, 3.0, 6.0)},
        "1/theta": {1 / t: floor(10, 2.0, t) for t in (0.2, 0.1, 0.05)},
    }
    found = {name: exponent(list(line), list(line.values())) for name, line in sweeps.items()}
    tests = [found[name] <= power + 0.1 for name, power in zip(found, powers, strict=True)]
    problem, start = problem_of(p, 10, 0.1, 6.0, 0)
    fit = CompleteDictionaryLearning(init=start).fit(problem.X).components_
    return Evidence(
        judge(*tests),
        "measured exponents: "
        + ", ".join(
            f"{name}^{value:.2f} (at most {power:g})"
            for (name, value), power in zip(found.items(), powers, strict=True)
        ),
        f"p={p}, batches of 4000, 15 passes, {n_seeds} seeds, around n=10, kappa=2, theta=.1",
        measured=found,
        tables=beside({"error, kappa = 6": (sweeps["kappa"][6.0], atom_error(fit, problem.components))})
        | {
            "floors": [
                {"over": k, "value": x, "error": y} for k, line in sweeps.items() for x, y in line.items()
            ]
        },
        figures={"theorem_2_scaling": law({k: list(v.items()) for k, v in sweeps.items()}, "value", "error")},
        hypotheses=hypotheses(10, p, 4000, 0.1, 2.0),
    )
