"""What real data do to dictionaries: a mean, scales, outliers, sorted rows, signs, atoms that change."""

from __future__ import annotations

import os
import warnings

import numpy as np
from dictionary_noise import unit, worst
from harness import Figure, promise

from altmin import CompleteDictionaryLearning, OnlineDictionaryLearning, OrthogonalDictionaryLearning
from altmin.datasets import make_sparse_dictionary

SEED = int(os.environ.get("ALTMIN_SEED", "90210"))
N_SEEDS = int(os.environ.get("ALTMIN_SEEDS", "5"))


def fit(X, seed, **options):
    """The atoms of a fit, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return CompleteDictionaryLearning(random_state=seed, **options).fit(X)


@promise
def mean():
    """A mean of 5 and 100 times the signal: 1e-12 without noise, 1.5 times the oracle at 30 dB."""
    for size in (5, 100):
        errors, ratios = [], []
        for seed in range(N_SEEDS):
            rng = np.random.default_rng([SEED, seed])
            for snr_db in (None, 30):
                problem = make_sparse_dictionary(
                    4000, 20, density=0.1, kind="gauss", snr_db=snr_db, random_state=SEED + seed
                )
                shift = size * np.sqrt(np.mean(problem.X**2)) * rng.standard_normal(20)
                error = worst(fit(problem.X + shift, seed).components_, problem.components)
                if snr_db is None:
                    errors.append(error)
                else:
                    oracle = np.linalg.lstsq(problem.codes, problem.X, rcond=None)[0]
                    ratios.append(error / worst(oracle, problem.components))
        yield Figure(f"mean {size}, no noise: worst of {N_SEEDS}", max(errors), at_most=1e-12)
        yield Figure(f"mean {size}, 30 dB: worst ratio to the oracle", max(ratios), at_most=1.5)


def spoilt(X, kind, rng):
    """The data with uneven rows or outliers."""
    X, size, n_rows = X.copy(), np.sqrt(np.mean(X**2)), len(X)
    if kind == "six decades":
        return X * 10 ** rng.uniform(-3, 3, (n_rows, 1))
    if kind == "gross entries":
        gross = rng.random(X.shape) < 0.001
        X[gross] += 100 * size * rng.standard_normal(gross.sum())
        return X
    outliers = rng.random(n_rows) < {"1 % outliers": 0.01, "10 % outliers": 0.1}[kind]
    X[outliers] = 30 * size * rng.standard_normal((outliers.sum(), X.shape[1]))
    return X


@promise
def uneven_rows():
    """Rows scaled over six decades, 1 and 10 % dense outliers, .1 % gross entries: 1e-12."""
    for kind in ("six decades", "1 % outliers", "10 % outliers", "gross entries"):
        errors = []
        for seed in range(N_SEEDS):
            rng = np.random.default_rng([SEED, seed])
            problem = make_sparse_dictionary(3000, 20, density=0.15, kind="gauss", random_state=SEED + seed)
            model = fit(spoilt(problem.X, kind, rng), seed)
            errors.append(worst(model.components_, problem.components))
        yield Figure(f"{kind}: worst of {N_SEEDS}", max(errors), at_most=1e-12)


@promise
def signs():
    """+-1 codes of density .2 and .3, n = 20 and 50, orthogonal or not: all found."""
    for density in (0.2, 0.3):
        for n in (20, 50):
            for orthogonal in (True, False):
                found = 0
                for seed in range(N_SEEDS):
                    problem = make_sparse_dictionary(
                        200 * n,
                        n,
                        density=density,
                        kind="rad",
                        orthogonal=orthogonal,
                        random_state=SEED + seed,
                    )
                    kind = OrthogonalDictionaryLearning if orthogonal else CompleteDictionaryLearning
                    model = kind(random_state=seed).fit(problem.X)
                    found += worst(model.components_, problem.components) < 1e-12
                what = f"density {density}, n={n}, {'orthogonal' if orthogonal else 'complete'}"
                yield Figure(f"{what}: share found of {N_SEEDS}", found / N_SEEDS, at_least=1.0)


@promise
def sorted_rows():
    """Sorted rows, batches of 200 to 2000: as shuffled ones."""
    errors = []
    for seed in range(N_SEEDS):
        problem = make_sparse_dictionary(4000, 20, density=0.1, random_state=SEED + seed)
        order = np.argsort(problem.X[:, 0])
        for batch_size in (200, 500, 2000):
            model = fit(problem.X[order], seed, batch_size=batch_size)
            errors.append(worst(model.components_, problem.components))
    yield Figure("sorted rows: worst error", max(errors), at_most=1e-12)


def changed_stream(n_changed, snr_db, seed, n=12, batch_size=500):
    """Error and ratio to the oracle 3000 rows after some atoms have changed."""
    rng = np.random.default_rng([SEED, seed, n_changed, snr_db or 0])
    before = unit(rng.standard_normal((n, n)))
    after = before.copy()
    after[rng.choice(n, n_changed, replace=False)] = unit(rng.standard_normal((n_changed, n)))
    codes = (rng.random((10_000, n)) < 0.15) * rng.standard_normal((10_000, n))
    change = 5000 + int(rng.integers(0, batch_size))
    X = np.vstack([codes[:change] @ before, codes[change:] @ after])
    if snr_db:
        X = X + np.sqrt(np.mean(X**2)) * 10 ** (-snr_db / 20) * rng.standard_normal(X.shape)
    end = change + 3000
    model = OnlineDictionaryLearning(batch_size=batch_size, random_state=seed).fit(X[:end])
    oracle = np.linalg.lstsq(codes[change:end], X[change:end], rcond=None)[0]
    error = worst(model.components_, after)
    return error, error / worst(oracle, after)


@promise
def changes():
    """1, 2, 4, 6 or 12 of 12 atoms change: found within 3000 rows."""
    for snr_db in (None, 40, 30):
        found = [changed_stream(m, snr_db, seed) for m in (1, 2, 4, 6, 12) for seed in range(N_SEEDS)]
        errors, ratios = np.array(found).T
        if snr_db is None:
            yield Figure(f"no noise, {len(found)} streams: worst error", errors.max(), at_most=1e-12)
        else:
            share = np.mean(ratios <= 2)
            yield Figure(f"{snr_db} dB, {len(found)} streams: share within 2 times", share, at_least=0.9)
            yield Figure(f"{snr_db} dB: worst ratio to the oracle", ratios.max())


def stationary_stream(rng, n, n_blocks, snr_db):
    """Blocks of 1000 rows of one dictionary."""
    atoms = unit(rng.standard_normal((n, n)))
    for _ in range(n_blocks):
        X = ((rng.random((1000, n)) < 0.15) * rng.standard_normal((1000, n))) @ atoms
        size = 0.0 if snr_db is None else np.sqrt(np.mean(X**2)) * 10 ** (-snr_db / 20)
        yield X + size * rng.standard_normal(X.shape)


@promise
def stationary():
    """1e6 rows of one dictionary: no change is said."""
    for snr_db in (None, 30):
        rng = np.random.default_rng([SEED, snr_db or 0])
        model = OnlineDictionaryLearning(random_state=0).fit(stationary_stream(rng, 12, 1000, snr_db))
        what = "no noise" if snr_db is None else f"{snr_db} dB"
        yield Figure(f"1e6 rows, {what}: changes said", len(model.changes_), at_most=0)
        yield Figure(f"1e6 rows, {what}: searches", model.n_searches_, at_most=1)
