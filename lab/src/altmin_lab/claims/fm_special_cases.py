"""Lin and Ye 2016, special cases: symmetric and asymmetric sensing, inductive completion, phase retrieval."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.quadratic.phase import distance
from altmin.estimators.quadratic.phase_retrieval import PhaseRetrieval
from altmin.estimators.quadratic.sensing import RankOneSensing
from altmin_lab.checks import gaussian_rows
from altmin_lab.claims.fm_theorem1 import PAPER
from altmin_lab.curves import curves
from altmin_lab.laws import law, rate
from altmin_lab.ledger import Evidence, Wrong, beside, claim, judge
from altmin_lab.literal_machine import distance as machine_error
from altmin_lab.literal_machine import gaussian_batches, law_of, one_pass
from altmin_lab.sabotage import as_found, shuffled

INDEPENDENT = "left and right designs standard Gaussian and independent of each other"
DESIGNS = "standard Gaussian designs"
SENTENCE = (
    "As special cases of gFM, our framework can be applied to symmetric or asymmetric rank-one matrix "
    "sensing problems, such as inductive matrix completion and phase retrieval."
)


@claim(
    paper=PAPER,
    where="Section 2.1 (symmetric sensing)",
    says="With w* = 0 the machine is symmetric rank-one sensing, y = x'Mx, and is solved at the same "
    "linear rate.",
    sentence="When w* = 0, gFM is equal to the symmetric rank-one matrix sensing problem. ... " + SENTENCE,
    assumes=("standard Gaussian designs, M* symmetric of rank k",),
    wrong=Wrong("the whole of h2 is subtracted, as in Lemma 10, instead of half of it", {"shift": 1.0}),
    literal=True,
)
def fm_symmetric(quick: bool = False, shift: float = 0.5) -> Evidence:
    """Errors batch by batch for eigenvalues of one sign and of both, with w estimated though it is zero."""
    d, k, n_batches = (30, 2, 22) if quick else (80, 5, 25)
    n = 20 * k * d
    lines, mine = {}, {}
    for name, values in (("one sign", np.ones(k)), ("both signs", (-1.0) ** np.arange(k))):
        w, M, _ = law_of(d, values, 0, 0.0)
        with np.errstate(all="ignore"):
            path = one_pass(gaussian_batches(n, n_batches, w, M), k, shift=shift)
            errors = [min(machine_error(state, w, M), 1e12) for state in path][1:]
        lines[name] = errors
        X, y = next(gaussian_batches(n * n_batches, 1, w, M, seed=1))
        model = RankOneSensing(k, batch_size=n, max_iter=n_batches, random_state=0).fit(X, y)
        mine[f"error, {name}"] = (errors[-1], float(np.linalg.norm(model.matrix() - M, 2)))
    rates = {name: rate(errors, 1e-11) for name, errors in lines.items()}
    last = max(errors[-1] for errors in lines.values())
    return Evidence(
        judge(last < 1e-8, max(rates.values()) < 0.6),
        f"error {last:.0e} at most after {n_batches} batches; a batch multiplies it by "
        + ", ".join(f"{value:.2f} ({name})" for name, value in rates.items()),
        f"d={d}, k={k}, batches of 20kd rows, one seed",
        {f"rate, {name}": value for name, value in rates.items()},
        beside(mine),
        {
            "symmetric": curves(
                {"w* = 0": {k: list(enumerate(v, 1)) for k, v in lines.items()}}, "batch", "error"
            )
        },
        {"standard Gaussian designs, M* symmetric of rank k": gaussian_rows(X, M, k)},
    )


@claim(
    paper=PAPER,
    where="Section 1 and 4 (asymmetric sensing)",
    says="The framework covers y = u'Mv, inductive matrix completion.",
    sentence="An asymmetric rank-one matrix sensing operator is clearly CI-RIP due to the independency "
    "between left/right design vectors. ... " + SENTENCE,
    assumes=(INDEPENDENT,),
    wrong=Wrong("the measurements are shuffled", {"finish": shuffled}),
    literal=True,
)
def fm_asymmetric(quick: bool = False, finish: Callable[[NDArray[Any]], NDArray[Any]] = as_found) -> Evidence:
    """Rates over n / (k (d1 + d2)), and correlated binary designs raw and whitened."""
    d1, d2, k = (30, 15, 2) if quick else (100, 40, 5)
    rng = np.random.default_rng(0)
    M = np.linalg.qr(rng.standard_normal((d1, k)))[0] @ np.linalg.qr(rng.standard_normal((d2, k)))[0].T
    rows = []
    for c in (5, 10, 20):
        n = c * k * (d1 + d2)
        U, V = rng.standard_normal((20 * n, d1)), rng.standard_normal((20 * n, d2))
        model = RankOneSensing(k, batch_size=n, step=1.0, max_iter=20, random_state=0)
        model.fit((U, V), finish(np.einsum("ij,ij->i", U @ M, V)))
        losses = [row["loss"] for row in model.history_]
        rows.append(
            {
                "n / k(d1+d2)": c,
                "rate": float((losses[12] / losses[3]) ** (0.5 / 9)),
                "error": float(np.linalg.norm(model.matrix() - M, 2)),
            }
        )
    mine = RankOneSensing(k, random_state=0).fit((U, V), finish(np.einsum("ij,ij->i", U @ M, V)))
    ours = float(np.linalg.norm(mine.matrix() - M, 2))
    designs = gaussian_rows(np.hstack([U, V]))
    n = 40 * k * (d1 + d2)
    U, V = (((rng.random((n, d)) < 0.3) | (rng.random((n, 1)) < 0.3)).astype(float) for d in (d1, d2))
    y = finish(np.einsum("ij,ij->i", U @ M, V))
    raw, white = (
        float(np.linalg.norm(RankOneSensing(k, whiten=w, random_state=0).fit((U, V), y).matrix() - M, 2))
        for w in (False, True)
    )
    return Evidence(
        judge(rows[-1]["error"] < 1e-6, white < 1e-8),
        f"rates {', '.join(format(row['rate'], '.2f') for row in rows)} for c = 5, 10, 20; correlated "
        f"binary features: error {raw:.1e} raw, {white:.1e} whitened",
        f"{d1} x {d2}, k={k}, one seed",
        {"error, c = 20": rows[-1]["error"], "binary, raw": raw, "binary, whitened": white},
        beside(
            {
                "error with 20 k (d1 + d2) Gaussian rows in a batch": (rows[-1]["error"], ours),
                "error, correlated binary features": (raw, white),
            }
        )
        | {"rates": rows},
        {
            "asymmetric": law(
                {"full steps": [(row["n / k(d1+d2)"], row["rate"]) for row in rows]},
                "n / k(d1 + d2)",
                "rate",
                {"1/sqrt(n)": [(c, rows[0]["rate"] * np.sqrt(5 / c)) for c in (5, 20)]},
            )
        },
        {INDEPENDENT: designs},
    )


@claim(
    paper=PAPER,
    where="Section 1 (phase retrieval)",
    says="Phase retrieval is the special case M = ss', and is solved.",
    sentence="In a special case when the target matrix is of rank one, the problem is called "
    "phase retrieval. ... " + SENTENCE,
    assumes=(DESIGNS,),
    wrong=Wrong("the entries of the signals found are shuffled", {"finish": shuffled}),
    literal=True,
)
def fm_phase_retrieval(
    quick: bool = False, finish: Callable[[NDArray[Any]], NDArray[Any]] = as_found
) -> Evidence:
    """Share of signals recovered over N/d: one-pass reused, altmin's polish, Wirtinger flow, AltMinPhase."""
    d, seeds = (30, 4) if quick else (100, 10)
    rows = []
    for c in (3, 6, 10) if quick else (2, 3, 4, 6, 8, 12):
        solved: dict[str, int] = {
            "polish": 0,
            "one-pass, reused": 0,
            "Wirtinger flow": 0,
            "alternating minimisation": 0,
        }
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            s, X = rng.standard_normal(d), rng.standard_normal((c * d, d))
            y = np.square(X @ s)
            found = {
                "polish": PhaseRetrieval(random_state=seed).fit(X, y).signal_,
                "one-pass, reused": PhaseRetrieval(
                    batch_size=c * d, step=0.4, max_iter=150, random_state=seed
                ).fit(X, y).signal_,
                "Wirtinger flow": wirtinger_flow(X, y),
                "alternating minimisation": alternating(X, y),
            }  # fmt: skip
            for name, signal in found.items():
                solved[name] += int(distance(finish(signal), s) < 1e-5 * np.linalg.norm(s))
        rows.append({"N / d": c, **{name: count / seeds for name, count in solved.items()}})
    at_six = next(row for row in rows if row["N / d"] == 6)
    return Evidence(
        judge(at_six["polish"] >= 0.9, rows[-1]["one-pass, reused"] >= 0.5),
        "from 6d rows: "
        + ", ".join(f"{name} {share:.0%}" for name, share in at_six.items() if name != "N / d"),
        f"real Gaussian designs, d={d}, {seeds} seeds, recovered: relative error below 1e-5; both peers "
        "start from the truncated spectral vector and take 500 steps",
        {f"{name} at 6d": value for name, value in at_six.items() if name != "N / d"},
        beside({"share recovered from 6d rows": (at_six["one-pass, reused"], at_six["polish"])})
        | {"recovered": rows},
        {
            "phase_retrieval": curves(
                {"recovered": {name: [(row["N / d"], row[name] + 0.01) for row in rows] for name in solved}},
                "N / d",
                "share recovered + .01",
            )
        },
        {DESIGNS: gaussian_rows(X)},
    )


def spectral_start(X: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """Truncated spectral start (Chen and Candes 2015)."""
    kept = y <= 9 * y.mean()
    vectors = np.linalg.eigh((X[kept].T * y[kept]) @ X[kept])[1]
    return vectors[:, -1] * np.sqrt(y.mean())


def wirtinger_flow(X: NDArray[Any], y: NDArray[Any], steps: int = 500) -> NDArray[Any]:
    """Candes, Li and Soltanolkotabi 2015, with their growing step."""
    s = spectral_start(X, y)
    size = float(y.mean())
    for t in range(steps):
        Xs = X @ s
        s = s - min(1 - np.exp(-t / 330), 0.2) / size * (X.T @ ((Xs**2 - y) * Xs)) / len(y)
        if not np.isfinite(s).all():
            return spectral_start(X, y)
    return s


def alternating(X: NDArray[Any], y: NDArray[Any], steps: int = 500) -> NDArray[Any]:
    """Netrapalli, Jain and Sanghavi 2013: signs, then least squares."""
    s, inverse, amplitude = spectral_start(X, y), np.linalg.pinv(X), np.sqrt(y)
    for _ in range(steps):
        s = inverse @ (amplitude * np.sign(X @ s))
    return s
