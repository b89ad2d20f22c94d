"""Online dictionaries: the error of Theorem 3, and Algorithm 5 against recomputation."""

from __future__ import annotations

from typing import Any

import numpy as np

from altmin.datasets import make_sparse_dictionary
from altmin.metrics import atom_error
from altmin_lab.cholesky import update_preconditioner
from altmin_lab.ledger import Evidence, claim, judge
from altmin_lab.literal_dictionaries import algorithm_3, algorithm_5

PAPER = "complete-dictionary-learning"


@claim(
    paper=PAPER,
    where="Theorem 3",
    says="The statistical error of Algorithm 3 falls as 1/sqrt(p1 + t) as samples arrive.",
)
def dictionary_online_error(quick: bool = False) -> Evidence:
    """Error of Algorithm 3, sample by sample, and of the blocked tracker on the same stream."""
    from altmin import OnlineDictionaryLearning

    n, first, window = 10, 500, 500
    total = 4000 if quick else 32000
    n_seeds = 2 if quick else 4
    marks = [mark for mark in (1000, 2000, 4000, 8000, 16000, 32000) if mark <= total]
    found = {mark: [] for mark in marks}  # type: dict[int, list[float]]
    ours = []
    for seed in range(n_seeds):
        problem = make_sparse_dictionary(total, n, density=0.1, kind="rad", condition=5, random_state=seed)
        start = problem.components + 0.02 * np.random.default_rng(seed).standard_normal((n, n)) / n
        for t, atoms in enumerate(algorithm_3(problem.X, start, 0.5, 0.1, first, window), start=first + 1):
            if t in found:
                found[t].append(atom_error(atoms, problem.components))
        ours.append(
            atom_error(
                OnlineDictionaryLearning(random_state=seed).fit(problem.X).components_, problem.components
            )
        )
    rows = [{"p1 + t": mark, "Algorithm 3": float(np.median(found[mark]))} for mark in marks]
    errors = [row["Algorithm 3"] for row in rows]
    slope = float(np.polyfit(np.log(marks), np.log(errors), 1)[0])

    def draw() -> Any:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(5, 3.5), layout="constrained")
        axes = figure.subplots()
        axes.loglog(marks, errors, "o-", label="Algorithm 3")
        axes.loglog(marks, errors[0] * np.sqrt(marks[0] / np.array(marks)), "--", label="1/sqrt(p1 + t)")
        axes.set(xlabel="samples so far", ylabel="largest atom error")
        axes.legend()
        return figure

    return Evidence(
        judge(abs(slope + 0.5) < 0.2),
        f"the error falls as (p1+t)^{slope:.2f}, to {errors[-1]:.1e}; "
        f"blocks with least squares reach {max(ours):.0e}.",
        f"n={n}, p1={first}, window {window}, theta=.1, +-1 codes, condition 5, {n_seeds} seeds",
        measured={"exponent": slope, "blocked tracker": max(ours)},
        tables={"largest atom error": rows},
        figures={"online_error": draw},
    )


@claim(
    paper=PAPER,
    where="Algorithm 5",
    says="The preconditioner can be updated by triangular rank-one updates instead of being recomputed.",
)
def dictionary_rank_one_updates(quick: bool = False) -> Evidence:
    """Whitening error of three ways to keep the preconditioner, at condition 100."""
    n, blocks = (30, 5) if quick else (100, 100)
    rng = np.random.default_rng(0)
    U, _, Vt = np.linalg.svd(rng.standard_normal((n, n)))
    A = (U * np.geomspace(1, 0.01, n)) @ Vt
    Y = rng.standard_normal((1000, n)) @ A
    C = Y.T @ Y
    inverse = np.linalg.inv(C)
    meant = (np.linalg.cholesky(inverse), inverse.copy())
    printed = (np.linalg.cholesky(inverse), inverse.copy())
    P = np.linalg.inv(np.linalg.cholesky(C))
    with np.errstate(invalid="ignore"):
        for _ in range(blocks):
            Y = rng.standard_normal((1000, n)) @ A
            C += Y.T @ Y
            for y in Y:
                algorithm_5(*meant, y, False)
                P = update_preconditioner(P, y)
            for y in Y[:50]:
                algorithm_5(*printed, y, True)

    def error(factor: Any) -> float:
        return float(np.abs(factor @ C @ factor.T - np.eye(n)).max())

    as_meant, ours = error(meant[0].T), error(P)
    fails = not np.isfinite(printed[0]).all()
    return Evidence(
        judge(not fails, as_meant < 1e-6),
        f"as printed (w_j for w_j^2 in line 8) the factor {'becomes NaN' if fails else 'stays finite'}; "
        f"as meant its whitening error is {as_meant:.0e} after {1000 * blocks:,} samples; "
        f"updating P alone {ours:.0e}.",
        f"n={n}, condition 100, {1000 * blocks:,} rank-one updates",
        measured={"as meant": as_meant, "P alone": ours, "printed fails": float(fails)},
    )
