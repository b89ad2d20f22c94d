"""Lin and Ye 2016, Theorem 1: linear convergence, and what its rate and sample size depend on."""

from __future__ import annotations

from typing import Any

import numpy as np

from altmin.datasets import make_quadratic
from altmin.estimators.quadratic.regressor import FactorizationMachineRegressor
from altmin_lab.checks import gaussian_rows
from altmin_lab.curves import curves
from altmin_lab.laws import exponent, law, rate
from altmin_lab.ledger import Check, Evidence, Wrong, beside, claim, judge
from altmin_lab.literal_machine import distance, gaussian_batches, law_of, one_pass

PAPER = "one-pass-gfm"
PRINTED: dict[str, Any] = {"step": 1.0, "fit_intercept": False, "moments": "gaussian", "whiten": False}
GAUSSIAN = "standard Gaussian features, M* of rank k, no noise"
ENOUGH = "n at least (4 sqrt 5 sigma_1/sigma_k + 3)^2 k^3 d / delta^2 (constant 1)"
SMALL = "delta at most (4 sqrt 5 sigma_1 + 3 sigma_k) / (4 sqrt 5 sigma_1 + 3 sigma_k + 4 sqrt 5 ||w||^2)"
THEOREM = (
    "Suppose x_i's are independently sampled from the standard Gaussian distribution. M* is a rank k "
    "matrix. The noise xi = 0. Then with a probability at least 1 - eta, there exists a constant C and a "
    "constant delta < 1 such that ||w* - w(t)||_2 + ||M* - M(t)||_2 <= delta^t (||w*||_2 + ||M*||_2) "
    "provided n >= C (4 sqrt(5) sigma_1*/sigma_k* + 3)^2 k^3 d / delta^2, delta <= (4 sqrt(5) "
    "sigma_1*/sigma_k* + 3) sigma_k* / (4 sqrt(5) sigma_1* + 3 sigma_k* + 4 sqrt(5) ||w*||_2^2)."
)


def printed_errors(
    d: int,
    k: int,
    n: int,
    n_batches: int,
    seed: int,
    *,
    condition: float = 1.0,
    norm: float = 1.0,
    **how: Any,
) -> list[float]:
    """Errors of the printed algorithm: before it, and after each batch."""
    values = np.geomspace(1.0, 1.0 / condition, k) * np.where(np.arange(k) % 2, -1.0, 1.0)
    w, M, _ = law_of(d, values, seed, norm)
    path = one_pass(gaussian_batches(n, n_batches, w, M, seed=seed), k, **how)
    next(path)
    with np.errstate(all="ignore"):
        errors = [norm + 1.0]
        for state in path:
            error = distance(state, w, M) if np.isfinite(state.M).all() else np.inf
            errors.append(error)
            if not error < 1e6:
                break
    return errors


def our_error(d: int, k: int, n: int, n_batches: int, seed: int, **kind: Any) -> float:
    """Error of altmin's machine with its defaults on batches of the same size."""
    problem = make_quadratic(n * n_batches, d, k, random_state=seed, **kind)
    model = FactorizationMachineRegressor(k, batch_size=n, max_iter=n_batches, random_state=seed)
    model.fit(problem.X, problem.y)
    return problem.error(model.coef_, model.factors_, model.eigenvalues_)


def gaussian_check(d: int, k: int, n: int = 10_000) -> Check:
    """The rows and the law of a run with seed 0."""
    w, M, _ = law_of(d, np.where(np.arange(k) % 2, -1.0, 1.0), 0)
    X, _ = next(gaussian_batches(n, 1, w, M, seed=0))
    return gaussian_rows(X, M, k)


@claim(
    paper=PAPER,
    where="Theorem 1",
    says="The error of w and M falls by a constant factor with each batch, to zero without noise.",
    sentence=THEOREM,
    assumes=(GAUSSIAN, ENOUGH, SMALL),
    wrong=Wrong("the whole of h2 is subtracted, as in Lemma 10, instead of half of it", {"shift": 1.0}),
    literal=True,
)
def fm_linear_convergence(quick: bool = False, shift: float = 0.5) -> Evidence:
    """Error after each batch against delta^t, with the delta that the batch size allows with constant 1."""
    d, k, seeds, n_batches, delta = (20, 2, 2, 22, 0.5) if quick else (30, 3, 4, 25, 0.5)
    wide = 4 * np.sqrt(5) + 3  # sigma_1 = sigma_k = 1
    n = int(np.ceil(wide**2 * k**3 * d / delta**2))
    runs = {"as asked": [printed_errors(d, k, n, n_batches, s, shift=shift) for s in range(seeds)]}
    runs["20kd rows"] = [printed_errors(d, k, 20 * k * d, n_batches, s, shift=shift) for s in range(seeds)]
    found = {
        name: max(
            (e / run[0]) ** (1 / t) for run in group for t, e in enumerate(run) if t and (e > 1e-12 or t < 3)
        )
        for name, group in runs.items()
    }
    last = max(run[-1] for run in runs["20kd rows"])
    kept = all(e <= max(delta**t * run[0], 1e-12) for run in runs["as asked"] for t, e in enumerate(run))
    cap = wide / (wide + 4 * np.sqrt(5))  # ||w|| = 1
    return Evidence(
        judge(kept, last < 1e-8),
        f"with the {n} rows in a batch that delta = {delta} asks for, the error is at most "
        f"{found['as asked']:.3f}^t of what it was, in every batch of {seeds} seeds; with 20kd = "
        f"{20 * k * d} rows {found['20kd rows']:.2f}^t, to {last:.0e} after {n_batches} batches",
        f"d={d}, k={k}, eigenvalues 1 and -1, ||w|| = 1, Gaussian rows",
        {f"delta, {name}": value for name, value in found.items()} | {"last error": last},
        tables=beside({"error at the end, 20kd rows": (last, our_error(d, k, 20 * k * d, n_batches, 0))}),
        figures={
            "convergence": curves(
                {
                    "as printed": {name: list(enumerate(group[0])) for name, group in runs.items()}
                    | {f"{delta}^t": [(t, delta**t * runs["as asked"][0][0]) for t in range(n_batches)]}
                },
                "batch",
                "error",
            )
        },
        hypotheses={
            GAUSSIAN: gaussian_check(d, k),
            ENOUGH: Check(n >= wide**2 * k**3 * d / delta**2, f"n {n}, delta {delta}"),
            SMALL: Check(delta <= cap, f"delta {delta}, at most {cap:.2f}"),
        },
    )


@claim(
    paper=PAPER,
    where="Theorem 1, the rate",
    says="The convergence rate delta is of the order 1/sqrt(n) in the batch size n.",
    sentence="The convergence rate is controlled by delta, whose value is on order of O(1/sqrt(n)).",
    assumes=(GAUSSIAN,),
    wrong=Wrong("the whole of h2 is subtracted, as in Lemma 10, instead of half of it", {"shift": 1.0}),
    literal=True,
)
def fm_rate_against_batch_size(quick: bool = False, shift: float = 0.5) -> Evidence:
    """Rates over batch sizes and ranks: the exponent of n, and the law sqrt((k + 2.6) d / n) beside it."""
    d, n_batches = (40, 14) if quick else (100, 20)
    lines = {k: _rates(d, k, n_batches, shift) for k in ((1, 2, 4) if quick else (1, 2, 3, 5, 8))}
    powers = {k: exponent(*zip(*line, strict=True)) for k, line in lines.items()}
    off = max(abs(np.log(r / np.sqrt((k + 2.6) * d / n))) for k, line in lines.items() for n, r in line)
    printed, ours = printed_errors(d, 2, 40 * d, n_batches, 0)[-1], our_error(d, 2, 40 * d, n_batches, 0)
    return Evidence(
        judge(all(abs(power + 0.5) < 0.15 for power in powers.values())),
        "the rate falls as n to the power "
        + ", ".join(f"{power:.2f} (k = {k})" for k, power in powers.items())
        + f"; sqrt((k + 2.6) d / n) predicts every rate within a factor of {np.exp(off):.2f}",
        f"d={d}, one seed, batches of 10, 20, 40 and 80 k d rows",
        {f"exponent, k {k}": power for k, power in powers.items()},
        beside({"error with 20kd rows, k = 2": (printed, ours)}),
        figures={
            "rates": law(
                {f"k {k}": line for k, line in lines.items()},
                "rows n in a batch",
                "rate",
                {"1/sqrt(n)": [(x * d, 0.9 * (x / 10) ** -0.5) for x in (10, 320)]},
            )
        },
        hypotheses={GAUSSIAN: gaussian_check(d, max(lines))},
    )


def _rates(d: int, k: int, n_batches: int, shift: float) -> list[tuple[float, float]]:
    """Factor by which a batch multiplies the error, over the batch size; 100 where it overflows."""
    found = []
    for n in (10 * k * d, 20 * k * d, 40 * k * d, 80 * k * d):
        factor = rate(printed_errors(d, k, n, n_batches, 0, shift=shift)[2:], 1e-11)
        found.append((float(n), min(factor, 100.0)))
    return found


@claim(
    paper=PAPER,
    where="Theorem 1, sigma_1/sigma_k and ||w||",
    says="With (sigma_1/sigma_k)^2 k^3 d rows in a batch the rate stays below a constant, however "
    "ill-conditioned M is.",
    sentence="The largest allowed delta is bounded by O(1/(||M*||_2 + ||w*||_2)). The sampling complexity "
    "is O((sigma_1*/sigma_k*)^2 k^3 d).",
    assumes=(GAUSSIAN,),
    wrong=Wrong("the whole of h2 is subtracted, as in Lemma 10, instead of half of it", {"shift": 1.0}),
    literal=True,
)
def fm_condition_number(quick: bool = False, shift: float = 0.5) -> Evidence:
    """A sufficient condition, judged by whether it suffices; that fewer rows do too is shown beside it."""
    d, k, n_batches = (20, 2, 14) if quick else (40, 3, 16)
    rows: list[dict[str, Any]] = []
    for condition in (1.0, 3.0, 10.0):
        for norm in (1.0, 10.0):
            few, many = 20 * k * d, int(2 * condition**2 * k**3 * d)
            how = {"condition": condition, "norm": norm, "shift": shift}
            row: dict[str, Any] = {"condition": condition, "||w||": norm, "n": max(many, few)}
            row["rate"] = rate(printed_errors(d, k, max(many, few), n_batches, 1, **how)[2:], 1e-11)
            row["rate with 20kd rows"] = rate(printed_errors(d, k, few, n_batches, 1, **how)[2:], 1e-11)
            rows.append(row)
    rates = [row["rate"] for row in rows]
    fewer = [row["rate with 20kd rows"] for row in rows]
    ours = our_error(d, k, 20 * k * d, n_batches, 1, condition=10.0, coef_norm=10.0)
    printed = printed_errors(d, k, 20 * k * d, n_batches, 1, condition=10.0, norm=10.0)[-1]
    return Evidence(
        judge(max(rates) < 0.7),
        f"with the rows that are asked for the rate is at most {max(rates):.2f}; with 20kd rows, whatever "
        f"the condition, {max(fewer):.2f}"
        + (": the condition suffices and isn't needed" if max(*rates, *fewer) < 0.7 else ""),
        f"d={d}, k={k}, one seed, batches of 2 (sigma_1/sigma_k)^2 k^3 d rows, 20kd at least",
        {"largest rate": max(rates), "largest rate with 20kd rows": max(fewer)},
        {"settings": rows} | beside({"error, condition 10, ||w|| 10, 20kd rows": (printed, ours)}),
        figures={
            "condition_number": law(
                {
                    f"||w|| {norm:g}, {name}": [
                        (row["condition"], row[name]) for row in rows if row["||w||"] == norm
                    ]
                    for norm in (1.0, 10.0)
                    for name in ("rate", "rate with 20kd rows")
                },
                "sigma_1 / sigma_k",
                "rate",
            )
        },
        hypotheses={GAUSSIAN: gaussian_check(d, k)},
    )


@claim(
    paper=PAPER,
    where="Theorem 1, sample complexity",
    says="O(k^3 d log(1/eps)) rows in all are enough for an error of eps.",
    sentence="By theorem 1, gFM achieves eps recovery error after retrieving nT = O(k^3 d log((||w*||_2 + "
    "||M*||_2)/eps)) instances.",
    assumes=(GAUSSIAN,),
    wrong=Wrong("batches of k d / 2 rows instead of k^3 d", {"power": 0.0}),
    literal=True,
)
def fm_sample_complexity(quick: bool = False, power: float = 3.0) -> Evidence:
    """Rows until the error is 1e-2 .. 1e-8 with batches of C k^3 d, over k and log(1/eps)."""
    d = 20 if quick else 50
    rows: list[dict[str, Any]] = []
    runs: list[dict[str, Any]] = []
    for k in (2, 3, 4):
        n = int(8 * k**3 * d) if power == 3.0 else k * d // 2
        errors = printed_errors(d, k, n, 24, 0)
        runs.append({"k": k, "errors": errors})
        row: dict[str, Any] = {"k": k, "n": n}
        for eps in (1e-2, 1e-4, 1e-8):
            used = next((t for t, e in enumerate(errors) if e <= eps * errors[0]), np.inf)
            row[f"rows / (k^3 d log 1/eps), eps {eps:g}"] = used * n / (k**3 * d * np.log(1 / eps))
        rows.append(row)
    shares = [value for row in rows for key, value in row.items() if key.startswith("rows")]
    least = {k: _least(d, k) for k in (1, 3)}
    return Evidence(
        judge(max(shares) < 40, max(shares) < 6 * min(shares)),
        f"rows needed: {min(shares):.1f} to {max(shares):.1f} times k^3 d log(1/eps), for all k and eps; "
        "what converges at all: from "
        + ", ".join(f"{c:g} k d rows in a batch on (k = {k})" for k, c in least.items()),
        f"d={d}, batches of 8 k^3 d rows, one seed",
        {"largest constant": max(shares), "smallest constant": min(shares)},
        {"rows": rows}
        | beside(
            {
                "error with 2kd rows in a batch, k = 3": (
                    printed_errors(d, 3, 6 * d, 40, 0)[-1],
                    our_error(d, 3, 6 * d, 40, 0),
                )
            }
        ),
        figures={
            "sample_complexity": curves(
                {
                    f"batches of {8 if power == 3 else 0.5:g} k^{power:g} d": {
                        f"k {row['k']}": list(enumerate(row["errors"])) for row in runs
                    }
                },
                "batch",
                "error",
            )
        },
        hypotheses={GAUSSIAN: gaussian_check(d, 4)},
    )


def _least(d: int, k: int) -> float:
    """Smallest n/(kd) whose batches bring the printed algorithm below .01."""
    for c in (1, 2, 3, 4, 6, 8, 12, 20):
        if printed_errors(d, k, c * k * d, 40, 0)[-1] < 1e-2:
            return float(c)
    return float("inf")
