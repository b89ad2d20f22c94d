"""Threshold correlation and hypercontractive norms: certificates, refinement, speed of the scan."""

from __future__ import annotations

import numpy as np
from harness import Figure, cpu_time, promise

from altmin import hypercontractive_norm, threshold_correlation
from altmin.datasets import make_star
from altmin.kernels.correlation import RowScores


def _ball(rng, n, d):
    V = rng.standard_normal((n, d))
    return V / np.linalg.norm(V, axis=1, keepdims=True) * rng.random((n, 1)) ** 0.3


def _plain_scan(V, w, threshold):
    U = V / np.linalg.norm(V, axis=1, keepdims=True)
    g2 = (U @ V.T) ** 2
    return np.where(g2 >= threshold, g2, 0) @ w


@promise
def star_family():
    """Star family tau=.1, n=2000: unrefined value between .05 and .11 of OPT, refined at least .99."""
    star, optimum = make_star(2000, 0.1), 200.0
    plain = threshold_correlation(star, 0.1, refine=False).value / optimum
    yield Figure("unrefined / OPT", plain, at_least=0.05, at_most=0.11)
    yield Figure("refined / OPT", threshold_correlation(star, 0.1).value / optimum, at_least=0.99)


@promise
def certificate_against_dense_search():
    """(alpha, beta) against dense search in d=2, 3: never violated in 200 instances."""
    violated = {"value >= beta OPT": 0, "OPT <= upper bound": 0}
    for seed in range(200):
        rng = np.random.default_rng(seed)
        d, n = 2 + seed % 2, int(rng.integers(5, 200))
        V, w, tau = _ball(rng, n, d), rng.random(n), rng.uniform(0.02, 0.98)
        D = rng.standard_normal((20000, d)) if d == 3 else None
        if D is None:
            angle = np.linspace(0, np.pi, 20000)
            D = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        # Optima lie where rows just reach tau: the directions of the rows and near them belong in.
        D = np.vstack([D, V, np.repeat(V, 20, axis=0) + 0.05 * rng.standard_normal((20 * n, d))])
        D /= np.linalg.norm(D, axis=1, keepdims=True)
        g2 = (V @ D.T) ** 2
        best = float((np.where(g2 >= tau, g2, 0) * w[:, None]).sum(axis=0).max())
        method = "exact" if seed % 4 < 3 else "sampled"
        found = threshold_correlation(V, tau, sample_weight=w, method=method, random_state=seed)
        violated["value >= beta OPT"] += found.value < found.beta * best * (1 - 1e-12)
        violated["OPT <= upper bound"] += best > found.upper_bound * (1 + 1e-12)
    for what, number in violated.items():
        yield Figure(f"violations of {what} in 200 instances", number, at_most=0)


@promise
def refinement_never_loses():
    """Refinement never returns less than its start (300 random instances)."""
    lost = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(10, 150)), int(rng.integers(2, 12))
        V, w, tau = _ball(rng, n, d), rng.random(n), rng.uniform(0.02, 0.95)
        start = threshold_correlation(V, tau, sample_weight=w, refine=False)
        lost += threshold_correlation(V, tau, sample_weight=w).value < start.value
    yield Figure("instances that lost value", lost, at_most=0)


@promise
def speed_of_exact_scoring():
    """Exact scoring at least 2 times a NumPy scan; incremental equals brute force to 1e-12."""
    for n in (2000, 4000):
        rng = np.random.default_rng(0)
        V, w = _ball(rng, n, 64), rng.random(n)
        RowScores(V[:64], w[:64], 0.03).change(np.arange(4), V[:4])  # compile
        ours, plain = [], []
        for _ in range(3):
            with cpu_time() as clock:
                scores = RowScores(V, w, 0.03)
            ours.append(clock.cpu)
            with cpu_time() as clock:
                _plain_scan(V, w, 0.03)
            plain.append(clock.cpu)
        yield Figure(f"NumPy scan / exact scoring, CPU, n={n}", min(plain) / min(ours), at_least=2)
    for _ in range(20):
        rows = np.sort(rng.choice(n, n // 20, replace=False))
        direction = rng.standard_normal(64) / 8
        V[rows] -= (V[rows] @ direction)[:, None] * direction
        scores.change(rows, V[rows])
    expected = _plain_scan(V, w, 0.03)
    worst = np.abs(scores.scores() - expected).max() / expected.max()
    yield Figure("incremental against brute force after 20 changes, relative", worst, at_most=1e-12)


@promise
def hypercontractive_norms():
    """2 -> p norm: at least .999 of brute force on 150 small matrices, upper bound never violated."""
    worst, violated = np.inf, 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((int(rng.integers(2, 30)), int(rng.integers(2, 7))))
        A *= rng.random((len(A), 1)) ** rng.integers(0, 4)
        p = float(rng.choice([2.5, 3, 4, 6, 10]))
        X = rng.standard_normal((3000, A.shape[1]))
        for _ in range(100):
            X /= np.linalg.norm(X, axis=1, keepdims=True)
            G = X @ A.T
            X = (np.abs(G) ** (p - 2) * G) @ A
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        brute = float((np.abs(X @ A.T) ** p).sum(axis=1).max() ** (1 / p))
        found = hypercontractive_norm(A, p)
        worst = min(worst, found.value / brute)
        violated += brute > found.upper_bound * (1 + 1e-12)
    yield Figure("smallest value / brute force", worst, at_least=0.999)
    yield Figure("upper bounds violated", violated, at_most=0)
