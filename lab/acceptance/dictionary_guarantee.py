"""The report of complete dictionaries never says 'recovered' when it isn't so, and mostly when it is."""

from __future__ import annotations

import numpy as np
from harness import Figure, promise

from altmin import CompleteDictionaryLearning
from altmin.datasets import make_sparse_dictionary
from altmin.metrics import atom_error


def shared(seed):
    """Two codes that are always used together."""
    problem = make_sparse_dictionary(2000, 10, density=0.15, random_state=seed)
    codes = problem.codes.copy()
    codes[:, 1] = np.where(codes[:, 0] != 0, np.random.RandomState(seed).standard_normal(len(codes)), 0.0)
    return codes @ problem.components, problem.components, 10


def copies(seed):
    """Few samples, many times over."""
    problem = make_sparse_dictionary(25, 12, density=0.15, random_state=seed)
    rows = np.random.RandomState(seed).randint(25, size=2000)
    return problem.X[rows], problem.components, 12


def dense(seed):
    """Non-negative dense weights: there is no sparse dictionary."""
    rng = np.random.RandomState(seed)
    A = rng.standard_normal((12, 12))
    return rng.random_sample((2000, 12)) @ A, A, 12


def gaussian(seed):
    """No structure at all."""
    rng = np.random.RandomState(seed)
    A = rng.standard_normal((12, 12))
    return rng.standard_normal((2000, 12)) @ A, A, 12


def too_few_atoms(seed):
    """One atom less is asked for than there are."""
    problem = make_sparse_dictionary(2000, 12, density=0.15, random_state=seed)
    return problem.X, problem.components, 11


def planted(n_samples, n_features, kind, density, **rest):
    """A problem of the model itself."""

    def make(seed):
        problem = make_sparse_dictionary(
            n_samples, n_features, kind=kind, density=density, random_state=seed, **rest
        )
        return problem.X, problem.components, n_features

    return make


CASES = {
    "gap .1": planted(2000, 20, "gap", 0.1),
    "gauss .2": planted(2000, 20, "gauss", 0.2),
    "rad .3": planted(2000, 20, "rad", 0.3),
    "rad .3, few samples": planted(300, 20, "rad", 0.3),
    "rad 1/3": planted(2500, 20, "rad", 1 / 3),
    "rad 1/3, few samples": planted(600, 20, "rad", 1 / 3),
    "rad .45, few samples": planted(400, 12, "rad", 0.45),
    "gap .5, few samples": planted(300, 12, "gap", 0.5),
    "gauss .1, very few samples": planted(60, 12, "gauss", 0.1),
    "shared support": shared,
    "copies": copies,
    "dense weights": dense,
    "gaussian": gaussian,
    "too few atoms": too_few_atoms,
    "noise 20 dB": planted(2000, 12, "gap", 0.15, condition=5, snr_db=20),
    "noise 5 dB": planted(1000, 12, "gap", 0.3, condition=20, snr_db=5),
}


def judge(make, seed, effort="cheap"):
    """Error (of the atoms that were asked for) and verdict."""
    X, truth, k = make(seed)
    try:
        model = CompleteDictionaryLearning(k, random_state=seed).fit(X)
    except ValueError:  # a clear refusal
        return None
    report = model.guarantee_ if effort == "cheap" else model.guarantee(X)
    error = atom_error(truth, model.components_) if k < len(truth) else atom_error(model.components_, truth)
    return error, report.verdict


def tally(cases, seeds, effort):
    """Right fits, those said to be recovered, wrong fits, lies."""
    right = said = wrong = lies = 0
    for name in cases:
        wrong_at = 0.2 if "noise" in name else 0.05
        for seed in seeds:
            result = judge(CASES[name], seed, effort)
            if result is None:
                continue
            error, verdict = result
            right += error < 0.01
            said += error < 0.01 and verdict == "recovered"
            wrong += error > wrong_at
            lies += error > wrong_at and verdict == "recovered"
            if error > wrong_at and verdict == "recovered":
                print(f"a false 'recovered': {name}, seed {seed}, error {error:.2g}")
    return right, said, wrong, lies


@promise
def cheap():
    """guarantee_: no false 'recovered', and at least 90 % of the exact recoveries said."""
    right, said, wrong, lies = tally(CASES, range(100, 106), "cheap")
    yield Figure(f"false 'recovered' among {wrong} wrong fits", lies, at_most=0)
    yield Figure(f"share said of {right} right fits", said / right, at_least=0.9)


@promise
def full():
    """guarantee(X): no false 'recovered' with noise either."""
    cases = ["noise 20 dB", "noise 5 dB", "shared support", "rad 1/3, few samples", "gaussian"]
    right, said, wrong, lies = tally(cases, range(200, 203), "full")
    yield Figure(f"false 'recovered' among {wrong} wrong fits", lies, at_most=0)
    yield Figure(f"share said of {right} right fits", said / max(right, 1))


@promise
def third():
    """Rad 1/3 at n=50, p=10000: recovers or refuses."""
    results = [judge(planted(10000, 50, "rad", 1 / 3), seed) for seed in range(3)]
    found = [result for result in results if result is not None]
    yield Figure("false 'recovered'", sum(e > 0.05 and v == "recovered" for e, v in found), at_most=0)
    yield Figure("recovered of 3", sum(e < 1e-10 for e, v in found))
