"""AND, lemmas of the appendix that say something exact: the update, a stage, and the noisy inverse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin_lab.curves import curves
from altmin_lab.laws import law
from altmin_lab.ledger import Check, Evidence, Wrong, claim, judge

PAPER = "and-nmf"
SEMIDEFINITE = "Delta positive semidefinite"


def _moments(rng: np.random.Generator, D: int) -> NDArray[Any]:
    x = (rng.random((4 * D, D)) < 0.3) * rng.random((4 * D, D))
    return np.asarray(x.T @ x / len(x))


def _iterate(
    rng: np.random.Generator, D: int, eta: float, n_steps: int, size: float
) -> tuple[list[float], list[float]]:
    """Distances to Sigma under errors R_t of norm C'' that push along what is left, and the lemma's bound."""
    second = _moments(rng, D)
    values = np.linalg.eigvalsh(second)
    step = eta / values[-1]
    left = rng.standard_normal((D, D))
    most = size * values[0]
    found, bound = [], []
    first = np.linalg.norm(left, 2)
    with np.errstate(all="ignore"):
        for t in range(n_steps):
            found.append(float(np.linalg.norm(left, 2)))
            bound.append(float(first * (1 - step * values[0]) ** t + most / values[0]))
            push = left / max(float(np.linalg.norm(left, 2)), 1e-300)  # the worst direction: away from Sigma
            left = left @ (np.eye(D) - step * second) + step * most * push
            if not np.isfinite(left).all():
                break
    return found, bound


@claim(
    paper=PAPER,
    where="Lemma 10 (update)",
    says="With errors of norm C'' at most, the gradient steps contract to within C'' / lambda_min(Delta).",
    sentence="Suppose we have an update rule that is given by Sigma_{t+1} + E_{t+1} = (Sigma_t + E_t)(1 - "
    "eta Delta) + eta Sigma Delta + eta R_t for some positive semidefinite matrix Delta and some R_t such "
    "that ||R_t||_2 <= C''. Then for every t >= 0, ||Sigma_t + E_t - Sigma||_2 <= ||Sigma_0 + E_0 - "
    "Sigma||_2 (1 - eta lambda_min(Delta))^t + C'' / lambda_min(Delta).",
    assumes=(SEMIDEFINITE,),
    wrong=Wrong("the errors are ten times as large as the bound counts", {"louder": 10.0}),
)
def and_update_lemma(quick: bool = False, louder: float = 1.0) -> Evidence:
    """Errors that always push away from the fixed point; with steps that are too long it fails as printed."""
    D, n_seeds, n_steps = 12, 5 if quick else 40, 400
    share = {"eta lambda_max = 1": 0.0, "eta lambda_max = .1": 0.0, "eta lambda_max = 2.5": 0.0}
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, eta in zip(share, (1.0, 0.1, 2.5), strict=True):
        for seed in range(n_seeds):
            found, bound = _iterate(np.random.default_rng(seed), D, eta, n_steps, 0.05 * louder)
            bound = [b + (0.05 - 0.05 * louder) for b in bound]  # the lemma's own C''
            share[name] = max(share[name], max(f / b for f, b in zip(found, bound, strict=True)))
        lines[name] = [(float(t), min(v, 1e6)) for t, v in enumerate(found)]
    smallest = min(
        float(np.linalg.eigvalsh(_moments(np.random.default_rng(s), D))[0]) for s in range(n_seeds)
    )
    good = [share["eta lambda_max = 1"] <= 1 + 1e-9, share["eta lambda_max = .1"] <= 1 + 1e-9]
    return Evidence(
        judge(*good, share["eta lambda_max = 2.5"] <= 1, mended=good),
        f"left over right side at most {share['eta lambda_max = 1']:.2f} and "
        f"{share['eta lambda_max = .1']:.2f} for eta lambda_max = 1 and .1; for 2.5, which the lemma doesn't "
        f"rule out and the proof does, {share['eta lambda_max = 2.5']:.0e}",
        f"D={D}, {n_seeds} seeds, {n_steps} steps, errors along what is left",
        measured=share,
        figures={"and_update_lemma": curves({"distance to Sigma": lines}, "steps", "spectral norm")},
        hypotheses={SEMIDEFINITE: Check(smallest >= 0, f"smallest eigenvalue {smallest:.1e}")},
    )


def _stage(rng: np.random.Generator, D: int, shorter: float) -> dict[str, float]:
    """One stage from a random start, with errors that push along what is left."""
    first, second = (float(value) for value in rng.uniform(0.01, 0.124, 2))
    E = rng.standard_normal((D, D))
    np.fill_diagonal(E, 0.0)
    E *= second / np.linalg.norm(E, 2)
    start = np.diag(1 + first * rng.choice([-1.0, 1.0], D)) + E
    target = np.diag(1 / np.diag(np.linalg.inv(start)))
    moments = _moments(rng, D) + 0.02 * np.eye(D)
    values = np.linalg.eigvalsh(moments)
    eta, most, loudest = 1 / values[-1], values[0] * second / 160, 0.0
    left = start - target
    for _ in range(int(np.ceil(np.log(400 / second) / (eta * values[0]) / shorter))):
        error = most * left / np.linalg.norm(left, 2)
        loudest = max(loudest, float(np.linalg.norm(error, 2) / most))
        left = left @ (np.eye(D) - eta * moments) + eta * error
    now = left + target
    diagonal = np.diag(np.diag(now))
    return {
        "l_1": first,
        "l_2": second,
        "loudest error": loudest,
        "Sigma moved / (l_1 + 4 l_2)": float(np.linalg.norm(diagonal - np.eye(D), 2)) / (first + 4 * second),
        "E / (l_2 / 40)": float(np.linalg.norm(now - diagonal, 2)) / (second / 40),
    }


@claim(
    paper=PAPER,
    where="Lemma 11 (stage)",
    says="A stage with small errors divides the mixing E by 40 and moves Sigma by 4 l_2 at most.",
    sentence="Suppose initially for l_1, l_2 in [0, 1/8) we have ||Sigma_0 - I||_2 <= l_1, ||E_0|| <= l_2, "
    "Sigma = (Diag[(Sigma_0 + E_0)^-1])^-1. Moreover, suppose in each iteration, the error R_t satisfies "
    "that ||R_t||_2 <= lambda_min(Delta) l_2 / 160. Then after t = log(400 / l_2) / (eta lambda_min(Delta)) "
    "iterations, we have 1. ||Sigma_t - I||_2 <= l_1 + 4 l_2, 2. ||E_t||_2 <= l_2 / 40.",
    assumes=("l_1 and l_2 below 1/8", "errors at most lambda_min(Delta) l_2 / 160"),
    wrong=Wrong("a tenth of the iterations", {"shorter": 10.0}),
)
def and_stage_lemma(quick: bool = False, shorter: float = 1.0) -> Evidence:
    """Stages from random starts at the edge of what is allowed, errors along what is left."""
    D, n_seeds = 10, 6 if quick else 60
    rows = [_stage(np.random.default_rng(seed), D, shorter) for seed in range(n_seeds)]
    loudest = max(row["loudest error"] for row in rows)
    widest = max(max(row["l_1"], row["l_2"]) for row in rows)
    moved = max(row["Sigma moved / (l_1 + 4 l_2)"] for row in rows)
    mixing = max(row["E / (l_2 / 40)"] for row in rows)
    return Evidence(
        judge(moved <= 1, mixing <= 1),
        f"Sigma moves by {moved:.2f} of what is allowed at most, E is {mixing:.2f} of what is allowed",
        f"D={D}, {n_seeds} seeds, eta = 1 / lambda_max",
        measured={"Sigma": moved, "E": mixing},
        tables={"stages": rows[:20]},
        figures={
            "and_stage_lemma": law(
                {
                    name: sorted((row["l_2"], row[name]) for row in rows)
                    for name in ("Sigma moved / (l_1 + 4 l_2)", "E / (l_2 / 40)")
                },
                "l_2",
                "share of what is allowed",
                {"1": [(0.01, 1.0), (0.125, 1.0)]},
            )
        },
        hypotheses={
            "l_1 and l_2 below 1/8": Check(widest < 1 / 8, f"up to {widest:.3f}"),
            "errors at most lambda_min(Delta) l_2 / 160": Check(
                loudest <= 1 + 1e-9, f"{loudest:.2f} of it, along what is left"
            ),
        },
    )


@claim(
    paper=PAPER,
    where="Lemma 24 (noisy inverse)",
    says="Decoding with a start that has out-of-span noise N errs by 32 ||N|| / sigma_min at most.",
    sentence="Let A be a matrix such that A = A*(Sigma + E) + N, for diagonal matrix Sigma >= I/2, off "
    "diagonal matrix E with ||E||_2 <= l <= 1/8 and ||N||_2 <= sigma_min(A*) / 4. Then ||A^+ A* - (Sigma + "
    "E)^-1||_2 <= 2 ||N||_2 / ((1/2 - 3l/2) sigma_min(A*) - ||N||_2) <= 32 ||N||_2 / sigma_min(A*).",
    assumes=("Sigma >= I/2, ||E|| <= 1/8, ||N|| <= sigma_min / 4",),
    wrong=Wrong("the transpose decodes instead of the pseudo-inverse", {"decoder": "transpose"}),
)
def and_noisy_inverse(quick: bool = False, decoder: str = "pseudo-inverse") -> Evidence:
    """Random and aligned noise, up to the edge of what is allowed."""
    W, D, n_draws = 30, 8, 60 if quick else 600
    first, last, met = 0.0, 0.0, True
    points: tuple[list[tuple[float, float]], list[tuple[float, float]]] = ([], [])
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((W, D))
        U, values, Vt = np.linalg.svd(A, full_matrices=False)
        E = rng.standard_normal((D, D))
        np.fill_diagonal(E, 0.0)
        E *= rng.uniform(0, 0.125) / np.linalg.norm(E, 2)
        mixing = np.diag(rng.uniform(0.5, 1.5, D)) + E
        N = rng.standard_normal((W, D)) if seed % 2 else -np.outer(U[:, -1], Vt[-1])  # against the weakest
        edge = (0.5 - 1.5 * np.linalg.norm(E, 2)) * values[-1]
        size = rng.uniform(0.01, 1) * min(values[-1] / 4, 0.99 * edge)
        N *= size / np.linalg.norm(N, 2)
        start = A @ mixing + N
        inverse = start.T if decoder == "transpose" else np.linalg.pinv(start)
        error = np.linalg.norm(inverse @ A - np.linalg.inv(mixing), 2)
        first = max(first, error * (edge - size) / (2 * size))
        last = max(last, error * values[-1] / (32 * size))
        points[seed % 2].append((float(size / values[-1]), float(error)))
        met &= bool(np.linalg.norm(E, 2) <= 1 / 8 and size <= values[-1] / 4)
    return Evidence(
        judge(first <= 1 + 1e-9, last <= 1 + 1e-9),
        f"error over the first bound {first:.2f}, over the second {last:.2f} at most",
        f"W={W}, D={D}, {n_draws} draws, half of them with N against the weakest direction of A*",
        measured={"over the first bound": first, "over the second bound": last},
        figures={
            "and_noisy_inverse": law(
                {"against the weakest direction": sorted(points[0]), "random noise": sorted(points[1])},
                "||N|| / sigma_min",
                "error of the decoder",
                {"32 ||N|| / sigma_min": [(0.001, 0.032), (0.25, 8.0)]},
            )
        },
        hypotheses={"Sigma >= I/2, ||E|| <= 1/8, ||N|| <= sigma_min / 4": Check(met, "drawn so")},
    )
