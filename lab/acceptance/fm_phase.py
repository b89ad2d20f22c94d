"""What phase retrieval promises: coded diffraction, and few intensities, beside reweighted amplitude flow."""

from __future__ import annotations

import resource
from collections.abc import Iterator

import numpy as np
from harness import Figure, cpu_time, promise

from altmin import CodedDiffraction, PhaseRetrieval

SEEDS = range(500, 510)


@promise
def diffraction() -> Iterator[Figure]:
    """Coded diffraction, 65,536 complex unknowns, 6 patterns: exact, a minute of CPU, below 1 GB."""
    rng = np.random.default_rng(501)
    d = 65_536
    s = rng.standard_normal(d) + 1j * rng.standard_normal(d)
    heights = np.where(rng.random((6, d)) < 0.8, np.sqrt(0.5), np.sqrt(3.0))
    designs = CodedDiffraction(rng.choice([1, -1, 1j, -1j], (6, d)) * heights)
    with cpu_time() as clock:
        found = PhaseRetrieval(random_state=0).fit(designs, designs.intensities(s)).signal_
    turn = np.vdot(found, s)
    yield Figure(
        "relative error",
        float(np.linalg.norm(found * turn / abs(turn) - s) / np.linalg.norm(s)),
        at_most=1e-6,
    )
    yield Figure("CPU seconds", clock.cpu, at_most=60)
    yield Figure("MB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, at_most=1000)


@promise
def few_intensities() -> Iterator[Figure]:
    """Two real, or three complex, rows an unknown (d = 100): at least as often found as by RAF."""
    for kind, n in (("real", 200), ("complex", 300)):
        rates = {"ours": 0, "RAF": 0}
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            X, x = rng.standard_normal((n, 100)), rng.standard_normal(100)
            if kind == "complex":
                X, x = X + 1j * rng.standard_normal(X.shape), x + 1j * rng.standard_normal(100)
            y = np.abs(X @ x) ** 2
            ours = PhaseRetrieval(random_state=0).fit(X, y).signal_
            for name, z in (("ours", ours), ("RAF", _raf(X, y, rng))):
                turn = np.vdot(z, x)
                rates[name] += np.linalg.norm(z * turn / abs(turn) - x) < 1e-3 * np.linalg.norm(x)
        what = f"{kind}, {n // 100} rows an unknown: found of 10 (RAF: {rates['RAF']})"
        yield Figure(what, int(rates["ours"]), at_least=int(rates["RAF"]))


def _raf(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Reweighted amplitude flow as published (Wang, Giannakis, Saad and Chen 2018)."""
    size, back = np.sqrt(y / np.mean(np.abs(X) ** 2)), X.conj().T.copy()
    X = X / np.sqrt(np.mean(np.abs(X) ** 2))
    scale = float(np.mean(np.abs(back) ** 2)) ** 0.5
    back = back / scale
    top = np.argsort(-size)[: 3 * len(y) // 13]
    z = rng.standard_normal(X.shape[1]).astype(X.dtype)
    for _ in range(100):
        z = back[:, top] @ (np.sqrt(size[top]) * (X[top] @ z))
        z /= np.linalg.norm(z)
    z *= np.sqrt(np.mean(size**2))
    for _ in range(2000):
        a = X @ z
        weight = np.abs(a) / (np.abs(a) + 5 * size + 1e-300)
        z = z - 2 * back @ (weight * (a - size * a / np.maximum(np.abs(a), 1e-300))) / len(y)
    return z
