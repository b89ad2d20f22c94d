"""What the machines promise on tables, clicks, streams and diffraction patterns, beside their peers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from harness import Figure, cpu_time, promise
from scipy.optimize import minimize
from sklearn.linear_model import RidgeCV
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from altmin import (
    FactorizationMachineClassifier,
    FactorizationMachineRegressor,
    RankOneSensing,
)
from altmin.datasets import make_quadratic

SEEDS = range(500, 510)


def features(kind: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Features that are anything but Gaussian."""
    match kind:
        case "binary":
            return (rng.random((n, d)) < 0.1).astype(float)
        case "lognormal counts":
            return rng.poisson(np.exp(rng.standard_normal((n, d)))).astype(float)
        case "t3":
            return rng.standard_t(3, (n, d))
        case "t1.5":
            return rng.standard_t(1.5, (n, d))
        case "correlated lognormal":
            L = np.linalg.cholesky(0.5 * np.eye(d) + 0.5)
            return np.exp(rng.standard_normal((n, d)) @ L.T)
    return rng.standard_normal((n, d))


def law(kind: str, seed: int, n: int, d: int, k: int, noise: float) -> tuple:
    """Rows to learn from and rows to judge by (without noise)."""
    rng = np.random.default_rng([seed, d, k])
    X = features(kind, n + 2000, d, rng)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    U = np.linalg.qr(rng.standard_normal((d, k)))[0]
    f = Z @ rng.standard_normal(d) / np.sqrt(d) + np.square(Z @ U) @ np.where(np.arange(k) % 2, -1.0, 1.0)
    f /= f.std()
    return X[:n], (f + noise * rng.standard_normal(len(f)))[:n], X[n:], f[n:]


def lbfgs(X: np.ndarray, y: np.ndarray, k: int, seed: int, *, ftol: float = 1e-15, n_starts: int = 2):
    """SciPy's L-BFGS on the loss of b + z'w + sum (z'u)(z'v), standardised; the best of some starts."""
    n, d = X.shape
    centre, unit = X.mean(axis=0), np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    Z, t = (X - centre) / unit, (y - y.mean()) / y.std()

    def loss(p: np.ndarray) -> tuple[float, np.ndarray]:
        U, V = p[1 + d :].reshape(2, d, k)
        P, Q = Z @ U, Z @ V
        r = p[0] + Z @ p[1 : 1 + d] + np.sum(P * Q, axis=1) - t
        back = [[r.sum()], Z.T @ r, (Z.T @ (r[:, None] * Q)).ravel(), (Z.T @ (r[:, None] * P)).ravel()]
        return r @ r / (2 * n), np.concatenate(back) / n

    options = {"maxiter": 3000, "maxfun": 5000, "ftol": ftol, "gtol": 1e-10}
    rngs = [np.random.default_rng([seed, i]) for i in range(n_starts)]
    starts = [rng.standard_normal(1 + d + 2 * d * k) * 0.1 for rng in rngs]
    best = min(
        (minimize(loss, p, jac=True, method="L-BFGS-B", options=options) for p in starts), key=lambda s: s.fun
    )

    def predict(new: np.ndarray) -> np.ndarray:
        new = (new - centre) / unit
        U, V = best.x[1 + d :].reshape(2, d, k)
        value = best.x[0] + new @ best.x[1 : 1 + d] + np.sum((new @ U) * (new @ V), axis=1)
        return value * y.std() + y.mean()

    return predict


def signed_lbfgs(X: np.ndarray, y: np.ndarray, k: int, seed: int):
    """The same with k squares, whose true signs are given away; the better of two starts."""
    n, d = X.shape
    centre, unit = X.mean(axis=0), X.std(axis=0)
    Z, t = (X - centre) / unit, (y - y.mean()) / y.std()
    signs = np.where(np.arange(k) % 2, -1.0, 1.0)

    def values(p: np.ndarray, P: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return p[0] + rows @ p[1 : 1 + d] + np.square(P) @ signs

    def loss(p: np.ndarray) -> tuple[float, np.ndarray]:
        P = Z @ p[1 + d :].reshape(d, k)
        r = values(p, P, Z) - t
        back = [[r.sum()], Z.T @ r, (2 * Z.T @ (r[:, None] * P * signs)).ravel()]
        return r @ r / (2 * n), np.concatenate(back) / n

    options = {"maxiter": 3000, "maxfun": 5000, "ftol": 1e-15, "gtol": 1e-10}
    size = 0.3 / np.sqrt(d)
    starts = [np.random.default_rng([seed, i]).standard_normal(1 + d + d * k) * size for i in range(2)]
    best = min(
        (minimize(loss, p, jac=True, method="L-BFGS-B", options=options) for p in starts), key=lambda s: s.fun
    )

    def predict(new: np.ndarray) -> np.ndarray:
        new = (new - centre) / unit
        return values(best.x, new @ best.x[1 + d :].reshape(d, k), new) * y.std() + y.mean()

    return predict


def _missed(predict, X: np.ndarray, f: np.ndarray) -> bool:
    return bool(np.mean((predict(X) - f) ** 2) > 0.01 * f.var())


def _duel(kind: str, seeds: range, n: int, d: int, k: int, noise: float, peer) -> tuple[int, int, float]:
    """Laws found by us and by the peer, and our CPU time over the peer's."""
    data = [law(kind, seed, n, d, k, noise) for seed in seeds]
    FactorizationMachineRegressor(1, random_state=0).fit(data[0][0][:60, :2], data[0][1][:60])  # imports
    with cpu_time() as ours:
        fits = [FactorizationMachineRegressor(k, random_state=0).fit(X, y).predict for X, y, *_ in data]
    with cpu_time() as theirs:
        others = [peer(X, y, k, seed) for (X, y, *_), seed in zip(data, seeds, strict=True)]
    found = [
        sum(not _missed(fit, *rest) for fit, (_, _, *rest) in zip(each, data, strict=True))
        for each in (fits, others)
    ]
    return found[0], found[1], ours.cpu / theirs.cpu


@promise
def heavy_tails() -> Iterator[Figure]:
    """Laws of rank 2 in binary, lognormal and t3 features, 6000 rows, 10 % noise: none of 10 missed."""
    for kind in ("binary", "lognormal counts", "t3", "correlated lognormal", "t1.5"):
        found, theirs, cpu = _duel(kind, SEEDS, 6000, 20, 2, 0.1, lbfgs)
        least = theirs if kind == "t1.5" else 10
        yield Figure(f"{kind}: laws found of 10 (L-BFGS: {theirs})", found, at_least=least)
        yield Figure(f"{kind}: CPU over L-BFGS'", cpu, at_most=1.0)


@promise
def information_limit() -> Iterator[Figure]:
    """Noiseless laws, d = 30: all of 10 at 1.6 rows a degree of freedom; below, at least L-BFGS's rate."""
    for k in (1, 3, 6):
        for ratio in (1.1, 1.3, 1.6):
            yield from near_the_limit(k, ratio)


def near_the_limit(k: int, ratio: float, d: int = 30) -> Iterator[Figure]:
    """What is found at so many rows a degree of freedom."""
    n = int(ratio * (1 + d + d * k - k * (k - 1) // 2))
    found, theirs, cpu = _duel("gaussian", SEEDS[:5], n, d, k, 0.0, signed_lbfgs)
    what = f"k={k}, {ratio} rows a degree"
    yield Figure(f"{what}: found of 5 (L-BFGS told the signs: {theirs})", found, at_least=theirs)
    for seed in SEEDS[5:]:
        X, y, new, f = law("gaussian", seed, n, d, k, 0.0)
        model = FactorizationMachineRegressor(k, random_state=0).fit(X, y)
        found += not _missed(model.predict, new, f)
    yield Figure(f"{what}: found of 10", found, at_least=10 if ratio >= 1.6 else None)
    yield Figure(f"{what}: CPU over L-BFGS'", cpu, at_most=1.0)


@promise
def many_features() -> Iterator[Figure]:
    """300 and 1000 features, k = 2, 8 k d rows: found, with at most the CPU of L-BFGS from one start."""
    peer = partial(lbfgs, ftol=1e-8, n_starts=1)
    for d, seeds in ((300, range(500, 503)), (1000, range(500, 501))):
        found, theirs, cpu = _duel("gaussian", seeds, 16 * d, d, 2, 0.1, peer)
        yield Figure(f"d={d}: found of {len(seeds)} (L-BFGS: {theirs})", found, at_least=len(seeds))
        yield Figure(f"d={d}: CPU over L-BFGS'", cpu, at_most=1.0)


@promise
def asymmetric_limit() -> Iterator[Figure]:
    """Noiseless u'Mv, 20 x 15, rank 3, even and steep spectra: all of 6 at 1.6 rows a degree of freedom."""
    d1, d2, k = 20, 15, 3
    for name, values in (("even", np.ones(3)), ("1, .1, .01", np.array([1, 0.1, 0.01]))):
        for ratio in (1.1, 1.3, 1.6):
            found = 0
            for seed in range(500, 506):
                rng = np.random.default_rng([seed, 2])
                left, right = (np.linalg.qr(rng.standard_normal((d, k)))[0] for d in (d1, d2))
                n = int(ratio * k * (d1 + d2 - k))
                A, B = rng.standard_normal((n, d1)), rng.standard_normal((n, d2))
                M = (left * values) @ right.T
                fitted = RankOneSensing(k, random_state=0).fit((A, B), np.einsum("ij,jk,ik->i", A, M, B))
                found += np.linalg.norm(fitted.matrix() - M) < 1e-4 * np.linalg.norm(M)
            what = f"spectrum {name}, {ratio} rows a degree: found of 6"
            yield Figure(what, found, at_least=6 if ratio >= 1.6 else None)


@promise
def log_loss() -> Iterator[Figure]:
    """Two classes in features of four kinds, 4000 rows: AUC within .01 of the true odds'."""
    for kind in ("gaussian", "binary", "t3", "lognormal counts"):
        gaps = []
        for seed in range(500, 503):
            X, f, new, truth = law(kind, seed, 4000, 15, 2, 0.0)
            rng = np.random.default_rng(seed)
            y, later = (rng.random(len(odds)) < 1 / (1 + np.exp(-2 * odds)) for odds in (f, truth))
            scores = FactorizationMachineClassifier(2, random_state=0).fit(X, y).decision_function(new)
            gaps.append(roc_auc_score(later, truth) - roc_auc_score(later, scores))
        yield Figure(
            f"{kind}: mean AUC below the true odds' (worst {max(gaps):.4f})", np.mean(gaps), at_most=0.01
        )


@promise
def error_falls_with_rows() -> Iterator[Figure]:
    """D = 6, k = 2, noise .3, 1e4 to 1e6 rows: at most 1.1 times the error of least squares on products."""
    scaled = []
    for n in (10_000, 100_000, 1_000_000):
        ours, theirs = [], []
        for seed in range(500, 504):
            planted = make_quadratic(n, 6, 2, noise=0.3, random_state=seed)
            model = FactorizationMachineRegressor(2, random_state=0).fit(planted.X, planted.y)
            ours.append(planted.error(model.coef_, model.factors_, model.eigenvalues_))
            w, values, vectors = _all_products(planted.X, planted.y)
            theirs.append(planted.error(w, vectors.T, values))
        mine, other = (float(np.sqrt(np.mean(np.square(errors)) * n)) for errors in (ours, theirs))
        scaled.append(mine)
        yield Figure(f"{n:,} rows: error over that of all products", mine / other, at_most=1.1)
    yield Figure("error times sqrt(n): largest over smallest", max(scaled) / min(scaled), at_most=1.2)


def _all_products(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Least squares on all squares and products: w, and M's eigenvalues and vectors."""
    d = X.shape[1]
    i, j = np.triu_indices(d)
    gram, right = np.zeros((1 + d + len(i),) * 2), np.zeros(1 + d + len(i))
    for part, target in zip(np.array_split(X, 100), np.array_split(y, 100), strict=True):
        J = np.column_stack([np.ones(len(part)), part, part[:, i] * part[:, j]])
        gram, right = gram + J.T @ J, right + J.T @ target
    p = np.linalg.solve(gram, right)
    M = np.zeros((d, d))
    M[i, j] = p[1 + d :]
    return p[1 : 1 + d], *np.linalg.eigh(0.5 * (M + M.T))


@promise
def tables() -> Iterator[Figure]:
    """UCI tables, 5 folds: within 2 % of ridge on all products, and never 1 % above RidgeCV."""
    folder = os.environ.get("ALTMIN_DATA")
    if folder is None:
        print("skipped: set ALTMIN_DATA to the folder with uci_regression")
        return
    z = np.load(Path(folder) / "uci_regression" / "uci_regression.npz")
    alphas = np.logspace(-3, 4, 15)
    for name in sorted({key[:-2] for key in z.files}):
        X, y = z[f"{name}_X"].astype(float), z[f"{name}_y"].astype(float)
        squares = np.zeros(3)
        for train, test in KFold(5, shuffle=True, random_state=7).split(X):
            linear = make_pipeline(StandardScaler(), RidgeCV(alphas))
            products = make_pipeline(
                StandardScaler(), PolynomialFeatures(2, include_bias=False), StandardScaler(), RidgeCV(alphas)
            )
            models = [linear, products, FactorizationMachineRegressor(8, random_state=0)]
            found = [model.fit(X[train], y[train]).predict(X[test]) for model in models]
            squares += [np.mean((values - y[test]) ** 2) for values in found]
        error = np.sqrt(squares)
        yield Figure(f"{name}: RMSE over that of ridge on all products", error[2] / error[1], at_most=1.02)
        yield Figure(f"{name}: RMSE over RidgeCV's", error[2] / error[0], at_most=1.01)


@promise
def streams() -> Iterator[Figure]:
    """Small first chunks, sorted rows and a change end within 2 times a shuffled stream's error."""
    planted = make_quadratic(40_000, 12, 2, mixed_signs=True, noise=0.1, random_state=501)
    other = make_quadratic(20_000, 12, 2, mixed_signs=True, noise=0.1, random_state=502)

    def run(X: np.ndarray, y: np.ndarray, model: object = None) -> FactorizationMachineRegressor:
        model = model or FactorizationMachineRegressor(2, random_state=0)
        for start in range(0, len(y), 500):
            model.partial_fit(X[start : start + 500], y[start : start + 500])
        return model

    def error(model: FactorizationMachineRegressor) -> float:
        return float(planted.error(model.coef_, model.factors_, model.eigenvalues_))

    plain = run(planted.X, planted.y)
    whole = FactorizationMachineRegressor(2, random_state=0).fit(planted.X, planted.y)
    yield Figure(
        "shuffled: verdict as fit's", float(plain.guarantee_.verdict == whole.guarantee_.verdict), at_least=1
    )
    small = planted.X.copy()
    small[:500] *= 0.1
    M = (planted.factors.T * planted.eigenvalues) @ planted.factors
    y = planted.y.copy()
    y[:500] = (
        planted.intercept + small[:500] @ planted.coef + np.einsum("ij,jk,ik->i", small[:500], M, small[:500])
    )
    yield Figure(
        "first chunk at a tenth: error over shuffled", error(run(small, y)) / error(plain), at_most=2.0
    )
    order = np.argsort(planted.X[:20_000, 0])
    half = run(planted.X[:20_000][order], planted.y[:20_000][order])
    half = run(planted.X[20_000:], planted.y[20_000:], half)
    yield Figure(
        "sorted, then as many shuffled: error over shuffled", error(half) / error(plain), at_most=2.0
    )
    changed = run(planted.X, planted.y, run(other.X, other.y))
    yield Figure("after a change: error over shuffled", error(changed) / error(plain), at_most=2.0)


@promise
def stream_verdicts() -> Iterator[Figure]:
    """Streams in batches of 400, without and with noise, and of noise alone: the verdicts of fit."""
    for noise in (0.0, 0.1, 0.5, np.inf):
        yield verdicts_of_streams(noise)


def verdicts_of_streams(noise: float) -> Figure:
    """How often a stream and a fit say the same; infinite noise: a target that was shuffled."""
    same, said = 0, []
    for seed in range(510, 513):
        planted = make_quadratic(4800, 8, 2, mixed_signs=True, noise=min(noise, 1.0), random_state=seed)
        y = np.random.default_rng(seed).permutation(planted.y) if np.isinf(noise) else planted.y
        whole = FactorizationMachineRegressor(2, random_state=0).fit(planted.X, y)
        parts = FactorizationMachineRegressor(2, random_state=0)
        for start in range(0, 4800, 400):
            parts.partial_fit(planted.X[start : start + 400], y[start : start + 400])
        same += parts.guarantee_.verdict == whole.guarantee_.verdict
        said.append(f"{parts.guarantee_.verdict} / {whole.guarantee_.verdict}")
    name = "noise alone" if np.isinf(noise) else f"noise {noise:g}"
    return Figure(f"{name}: same verdicts of 3 ({', '.join(said)})", same, at_least=3)
