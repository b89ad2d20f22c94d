"""AND, Figures 1 to 4: convergence, thresholds, noise, starts, sparsity."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from altmin import AND
from altmin.datasets import make_ctm, make_dir, make_neg
from altmin.datasets.nonnegative import Planted
from altmin.metrics import total_correlation_error
from altmin_lab.curves import curves
from altmin_lab.ledger import Evidence, claim, judge
from altmin_lab.literal_and import algorithm_and
from altmin_lab.peers import nmf

PRINTED = "AND, paper's schedule"
_SCHEDULE: dict[str, Any] = {"threshold": (0.1, 1.1), "inner_steps": 50}


def _sizes(quick: bool) -> tuple[int, int, int]:
    return (1000, 150, 20) if quick else (5000, 1000, 100)


def _error(problem: Planted, components: np.ndarray) -> float:
    return total_correlation_error(components, problem.components)


def _follow(
    problem: Planted, stages: Sequence[int], start: Any, **options: Any
) -> Iterator[tuple[int, float]]:
    """Error after each number of stages: a checkpointed fit goes on, so no stage is run twice."""
    with TemporaryDirectory() as folder:
        for n in stages:
            model = AND(len(problem.components), init=start, max_iter=n, checkpoint=folder, **options)
            yield n, _error(problem, model.fit(problem.X).components_)


def _by_stage(problem: Planted, stages: Sequence[int], start: Any = None, **options: Any) -> nmf.Curve:
    """Error after each number of stages, from the paper's start unless another is given."""
    start = problem.start if start is None else start
    return [(float(n), error) for n, error in _follow(problem, stages, start, **options)]


def _by_time(problem: Planted, stages: Sequence[int], **options: Any) -> nmf.Curve:
    """Error against CPU seconds, everything that a fit does besides stages on the clock."""
    begin = time.process_time()
    steps = _follow(problem, stages, problem.start, **options)
    return [(time.process_time() - begin, error) for _, error in steps]


def _explicit_stage(problem: Planted) -> dict[str, float]:
    """One stage with its 50 gradient steps taken one by one, as printed, beside the closed form."""
    begin = time.process_time()
    literal = algorithm_and(problem.X, problem.start, 1, 0.1, 1.1, 50)
    middle = time.process_time()
    model = AND(len(problem.components), init=problem.start, max_iter=1, **_SCHEDULE).fit(problem.X)
    return {
        "a stage of 50 explicit steps: CPU s": middle - begin,
        "the whole fit of one stage in closed form: CPU s": time.process_time() - middle,
        "largest difference of their components": float(np.abs(literal - model.components_).max()),
    }


@claim(
    paper="and-nmf",
    where="Figure 1",
    says="AND converges linearly to the truth on DIR, CTM, NEG; ANLS, MU, LDA, HALS are slower or fail.",
)
def and_figure_1(quick: bool = False) -> Evidence:
    """Error against CPU time, the same start for all."""
    n, W, D = _sizes(quick)
    budget = 0.5 if quick else 20.0
    problems = {
        "DIR": make_dir(n, W, D, random_state=0),
        "CTM": make_ctm(n, W, D, random_state=0),
        "NEG": make_neg(n, W, D, weights="dir", random_state=0),
    }
    peers = {
        "HALS": nmf.hals_chunks,
        "ANLS": nmf.alternating_nnls,
        "MU": nmf.multiplicative,
        "LDA": nmf.online_lda,
    }
    panels: dict[str, dict[str, nmf.Curve]] = {}
    for name, problem in problems.items():
        lines = {
            PRINTED: _by_time(problem, (10, 50, 100, 200), **_SCHEDULE),
            "AND, automatic": _by_time(problem, (5, 10, 20, 40, 80, 160)),
        }
        if name != "NEG":  # the others need non-negative data
            for peer, steps in peers.items():
                watch = partial(_error, problem)
                lines[peer] = nmf.follow(steps(problem.X, problem.start), watch, budget)
        panels[name] = lines
    last = {f"{p}: {name}": curve[-1][1] for p, lines in panels.items() for name, curve in lines.items()}
    recovered = [last[f"{p}: {PRINTED}"] < 1e-2 for p in ("DIR", "CTM", "NEG")]
    ahead = [
        last[f"{p}: {peer}"] > 10 * last[f"{p}: AND, automatic"] for p in ("DIR", "CTM") for peer in peers
    ]
    explicit = _explicit_stage(problems["DIR"])
    return Evidence(
        judge(*recovered, all(ahead)),
        "error at the end with the paper's schedule: "
        + ", ".join(f"{p} {last[f'{p}: {PRINTED}']:.0e}" for p in panels)
        + "; the best of the other methods comes to "
        + " and ".join(f"{min(last[f'{p}: {peer}'] for peer in peers):.0e} on {p}" for p in ("DIR", "CTM")),
        f"n={n}, W={W}, D={D}; topics drawn around a Zipf law stand in for the NIPS topics; CTM with one "
        f"covariance for all documents; NEG with Dirichlet weights; peers stopped after {budget} CPU s; the "
        "gradient steps of a stage in closed form, one stage taken step by step for comparison",
        measured=last | explicit,
        figures={"and_figure_1": curves(panels, "CPU seconds", "total correlation error")},
    )


@claim(
    paper="and-nmf",
    where="Figure 2 (a, b)",
    says="Constant thresholds stop making progress after a few steps, a decreasing one converges.",
)
def and_figure_2_thresholds(quick: bool = False) -> Evidence:
    """The paper's schedule against constants .1, .01, .001."""
    n, W, D = _sizes(quick)
    stages = (10, 50, 100, 200)
    panels: dict[str, dict[str, nmf.Curve]] = {}
    measured: dict[str, float] = {}
    for name, problem in {
        "DIR": make_dir(n, W, D, random_state=0),
        "CTM": make_ctm(n, W, D, random_state=0),
    }.items():
        lines = {"decreasing": _by_stage(problem, stages, **_SCHEDULE)}
        for constant in (0.1, 0.01, 0.001):
            lines[f"constant {constant:g}"] = _by_stage(problem, stages, threshold=constant, inner_steps=50)
        panels[name] = lines
        measured |= {f"{name}: {line}": curve[-1][1] for line, curve in lines.items()}
    constants = [line for line in panels["DIR"] if line != "decreasing"]
    tests = [
        measured[f"{name}: {c}"] > 10 * measured[f"{name}: decreasing"] for name in panels for c in constants
    ]
    return Evidence(
        judge(*tests),
        "error after 200 stages: "
        + "; ".join(
            f"{name} {measured[f'{name}: decreasing']:.0e} with decreasing thresholds, "
            f"{min(measured[f'{name}: {c}'] for c in constants):.0e} with the best constant"
            for name in panels
        ),
        f"n={n}, W={W}, D={D}, T=50, thresholds .1/1.1^i",
        measured=measured,
        figures={"and_figure_2_thresholds": curves(panels, "stages", "total correlation error")},
    )


@claim(
    paper="and-nmf",
    where="Figure 2 (c)",
    says="With noise the error falls and then stabilizes around a constant related to the noise level.",
)
def and_figure_2_noise(quick: bool = False) -> Evidence:
    """The paper's schedule rises again once its threshold is under the noise; automatic thresholds don't."""
    n, W, D = _sizes(quick)
    stages, printed = (10, 25, 50, 100, 200), "paper's schedule"
    panels: dict[str, dict[str, nmf.Curve]] = {printed: {}, "automatic": {}}
    measured: dict[str, float] = {}
    for gamma in (1e-4, 1e-3, 1e-2):
        problem = make_dir(n, W, D, noise=gamma, random_state=0)
        for title, options in ((printed, _SCHEDULE | {"inner_steps": 100}), ("automatic", {})):
            curve = _by_stage(problem, stages, **options)
            panels[title][f"gamma {gamma:g}"] = curve
            measured[f"{title}, {gamma:g}: least"] = min(error for _, error in curve)
            measured[f"{title}, {gamma:g}: last"] = curve[-1][1]
    rises = {
        title: max(
            measured[f"{title}, {g:g}: last"] / measured[f"{title}, {g:g}: least"] for g in (1e-4, 1e-3, 1e-2)
        )
        for title in panels
    }
    floors = [measured[f"automatic, {g:g}: last"] for g in (1e-4, 1e-3, 1e-2)]
    return Evidence(
        judge(rises[printed] < 1.5, rises["automatic"] < 1.1, floors[0] < floors[1] < floors[2]),
        f"last error over the least: {rises[printed]:.1f} for the paper's schedule, "
        f"{rises['automatic']:.2f} for automatic thresholds",
        f"n={n}, W={W}, D={D}, DIR with noise gamma N(0, I/W), T=100",
        measured=measured | rises,
        figures={"and_figure_2_noise": curves(panels, "stages", "total correlation error")},
    )


@claim(
    paper="and-nmf",
    where="Figure 3",
    says="Starts with in-span noise r_l up to 2 and out-of-span noise as large as the signal still recover.",
)
def and_figure_3(quick: bool = False) -> Evidence:
    """A0 = A*(I + r_l U) + r_n N, the entries of U and N uniform in [-.05, .05)."""
    n, W, D = _sizes(quick)
    problem = make_dir(n, W, D, random_state=0)
    rng = np.random.default_rng(0)
    A = problem.components
    U, N = rng.uniform(-0.05, 0.05, (D, D)) * np.sqrt(100 / D), rng.uniform(-0.05, 0.05, (D, W))
    # r_n is in absolute units: 1 makes N as long as a feature here
    N *= np.linalg.norm(A, axis=1).mean() / np.linalg.norm(N, axis=1).mean()
    stages = (50, 100, 200)
    panels: dict[str, dict[str, nmf.Curve]] = {"in-span noise": {}, "out-of-span noise": {}}
    for r in (0.5, 1.0, 2.0, 3.0):
        panels["in-span noise"][f"r_l {r:g}"] = _by_stage(problem, stages, A + r * U @ A, **_SCHEDULE)
    for r in (0.5, 1.0, 2.0):
        panels["out-of-span noise"][f"r_n {r:g}"] = _by_stage(problem, stages, A + r * N, **_SCHEDULE)
    measured = {line: curve[-1][1] for lines in panels.values() for line, curve in lines.items()}
    return Evidence(
        judge(*(measured[line] < 1e-2 for line in measured if line != "r_l 3")),
        "recovered from "
        + ", ".join(line for line, error in measured.items() if error < 1e-2)
        + "; not from "
        + (", ".join(line for line, error in measured.items() if error >= 1e-2) or "none"),
        f"n={n}, W={W}, D={D}, DIR, T=50; r_n in units of the mean norm of a feature",
        measured=measured,
        figures={"and_figure_3": curves(panels, "stages", "total correlation error")},
    )


@claim(
    paper="and-nmf",
    where="Figure 4",
    says="For Dirichlet alpha up to 20 AND converges exponentially; at 80 it stabilizes at a small error.",
)
def and_figure_4(quick: bool = False) -> Evidence:
    """Denser and denser weights."""
    n, W, D = _sizes(quick)
    alphas = (1, 5, 10, 20, 40, 80)
    stages = (50, 100, 200)
    lines = {
        f"alpha {alpha}": _by_stage(
            make_dir(n, W, D, concentration=alpha * D / 100, random_state=0), stages, **_SCHEDULE
        )
        for alpha in alphas
    }
    measured = {line: curve[-1][1] for line, curve in lines.items()}
    sparse = [measured[f"alpha {alpha}"] < 1e-2 for alpha in (1, 5, 10, 20)]
    return Evidence(
        judge(*sparse, measured["alpha 80"] / D < 0.1),
        "error after 200 stages: "
        + ", ".join(f"{measured[f'alpha {a}']:.0e} at alpha {a}" for a in (1, 20, 80))
        + f" (of {D} at most)",
        f"n={n}, W={W}, D={D}; alpha as for 100 topics, T=50",
        measured=measured,
        figures={"and_figure_4": curves({"DIR": lines}, "stages", "total correlation error")},
    )
