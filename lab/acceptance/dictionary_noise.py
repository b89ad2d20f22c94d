"""Noise: worst atoms beside the oracle that knows the codes; SPAMS, FastICA and Picard in the same run."""

from __future__ import annotations

import os
import warnings

import numpy as np
from harness import Figure, promise
from sklearn.decomposition import FastICA

from altmin import CompleteDictionaryLearning
from altmin.metrics import sine_errors

SEED = int(os.environ.get("ALTMIN_SEED", "90210"))
N_PROBLEMS = int(os.environ.get("ALTMIN_PROBLEMS", "24"))


def unit(A):
    """Rows of unit norm."""
    return A / np.linalg.norm(A, axis=1, keepdims=True)


def draw(rng, n, p, kind, density, snr_db, condition=None):
    """A square Gaussian dictionary as it is drawn, or with one direction that is nearly lost."""
    A = unit(rng.standard_normal((n, n)))
    if condition is not None:
        U, s, Vt = np.linalg.svd(A)
        s[-1] = s[0] / condition
        A = unit((U * s) @ Vt)
    nonzero = {
        "gauss": lambda: rng.standard_normal((p, n)),
        "gap": lambda: (0.5 + np.abs(rng.standard_normal((p, n)))) * rng.choice([-1, 1], (p, n)),
        "laplace": lambda: rng.laplace(size=(p, n)),
    }[kind]()
    X = (rng.random((p, n)) < density) * nonzero
    Y = X @ A
    noise = np.sqrt(np.mean(Y**2)) * 10 ** (-snr_db / 20)
    return Y + noise * rng.standard_normal(Y.shape), A, X


def worst(atoms, truth):
    """Sine of the angle of the worst atom."""
    return float(np.max(sine_errors(unit(atoms), truth)))


def spams_atoms(Y, n, seed):
    """Online l1 learning of SPAMS, the better of two penalties by its own objective on these data."""
    import spams

    size = np.sqrt(np.mean(np.sum(Y**2, axis=1)))
    data, found = np.asfortranarray(Y.T / size), []
    for penalty in (0.05, 0.15):
        D = spams.trainDL(data, K=n, lambda1=penalty, iter=1500, numThreads=1, verbose=False, batchsize=256)
        Z = spams.lasso(data, D=D, lambda1=penalty, numThreads=1)
        left = data - D @ Z.toarray()
        objective = 0.5 * np.sum(left**2) + penalty * np.abs(Z.data).sum()
        found.append((objective / penalty, D.T))
    return min(found, key=lambda pair: pair[0])[1]


def peers(Y, n, seed):
    """Atoms of SPAMS, FastICA and Picard."""
    from picard import picard

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ica = FastICA(whiten="unit-variance", max_iter=1000, random_state=seed).fit(Y)
        K, W, _ = picard(Y.T, ortho=False, random_state=seed, max_iter=500)
    return {
        "SPAMS": spams_atoms(Y, n, seed),
        "FastICA": ica.mixing_.T,
        "Picard": np.linalg.pinv(W @ K).T,
    }


def compare(problems):
    """Ratios to the oracle, of ours and of the peers: one row per problem."""
    rows = []
    for number, (n, rows_per_atom, kind, density, snr_db, condition) in enumerate(problems):
        rng = np.random.default_rng([SEED, number])
        Y, A, X = draw(rng, n, rows_per_atom * n, kind, density, snr_db, condition)
        oracle = worst(np.linalg.lstsq(X, Y, rcond=None)[0], A)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model = CompleteDictionaryLearning(random_state=number).fit(Y)
        row = {"ours": worst(model.components_, A) / oracle}
        row |= {name: worst(atoms, A) / oracle for name, atoms in peers(Y, n, number).items()}
        rows.append({"density": density, "snr_db": snr_db, **row})
        ratios = ", ".join(f"{name} {value:.3g}" for name, value in row.items())
        print(f"  n={n} {kind} density {density} {snr_db} dB condition {condition}: {ratios}", flush=True)
    return rows


def drawn(n_problems, rows_per_atom=200, conditions=(None,)):
    """Cells of the promise's grid at random; levels, laws, densities and sizes take turns."""
    rng = np.random.default_rng([SEED, rows_per_atom, len(conditions)])
    levels = (20, 25, 30, 40, 50, 60)
    cells = [(kind, density) for kind in ("gauss", "gap", "laplace") for density in (0.05, 0.1, 0.2, 0.3)]
    order = [cells[i] for i in np.concatenate([rng.permutation(12) for _ in range(-(-n_problems // 12))])]
    for number, (kind, density) in enumerate(order[:n_problems]):
        n = 50 if number % 4 == 3 else 20
        snr_db = levels[(number + number // 6) % 6]
        yield n, rows_per_atom, kind, density, snr_db, conditions[number % len(conditions)]


def figures(what, rows, strict=0.95, loose=0.9):
    """Shares within a factor of the oracle, and the peers' medians."""
    easy = [row["ours"] for row in rows if row["density"] <= 0.1 or row["snr_db"] >= 30]
    rest = [row["ours"] for row in rows if not (row["density"] <= 0.1 or row["snr_db"] >= 30)]
    if easy:
        share = np.mean(np.array(easy) <= 1.5)
        yield Figure(
            f"{what}: share of {len(easy)} problems (density <= .1 or >= 30 dB) within 1.5 times the oracle",
            share, at_least=strict,
        )  # fmt: skip
    if rest:
        share = np.mean(np.array(rest) <= 2.0)
        yield Figure(f"{what}: share of the other {len(rest)} within 2 times", share, at_least=loose)
    ours = np.array([row["ours"] for row in rows])
    yield Figure(f"{what}: worst ratio to the oracle", ours.max())
    yield Figure(f"{what}: median ratio to the oracle", np.median(ours))
    for name in ("SPAMS", "FastICA", "Picard"):
        theirs = np.array([row[name] for row in rows])
        yield Figure(f"{what}: median ratio of {name}", np.median(theirs))
        yield Figure(f"{what}: worst of ours over {name}", np.max(ours / theirs), at_most=1.0)


@promise
def noise():
    """20 to 60 dB, three laws, four densities, n = 20 and 50: at the oracle; ahead of the peers."""
    yield from figures("p = 200 n", compare(drawn(N_PROBLEMS)))


@promise
def conditions():
    """A direction nearly lost, condition 1e3 to 1e5: the same."""
    yield from figures("condition 1e3 to 1e5", compare(drawn(N_PROBLEMS // 3, 200, (1e3, 1e4, 1e5))))


@promise
def few_samples():
    """50 samples per atom: its figure, with no promise beyond being ahead of the peers."""
    yield from figures("p = 50 n", compare(drawn(N_PROBLEMS // 3, 50)), strict=0.0, loose=0.0)
