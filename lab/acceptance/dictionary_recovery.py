"""Complete dictionaries: exact recovery, ill conditioning, fewer atoms, and the starts' success rates."""

from __future__ import annotations

import numpy as np
from harness import Figure, cpu_time, promise

from altmin import CompleteDictionaryLearning, OrthogonalDictionaryLearning
from altmin.datasets import make_sparse_dictionary
from altmin.metrics import atom_error, crosstalk, support_recovery


def learn(seed, n_samples, n_features, n_components=None, **model):
    """Fit a planted problem; the model, the problem."""
    problem = make_sparse_dictionary(n_samples, n_features, n_components, random_state=seed, **model)
    fitted = CompleteDictionaryLearning(n_components, random_state=seed).fit(problem.X)
    return fitted, problem


def errors(seeds, *shape, **model):
    """Atom error of each seed."""
    fits = (learn(seed, *shape, **model) for seed in seeds)
    return np.array([atom_error(fit.components_, problem.components) for fit, problem in fits])


@promise
def exact():
    """Atoms to 1e-12 with the exact support."""
    for seeds, shape, model in (
        (range(10), (5000, 100), {"kind": "gauss", "density": 0.1}),
        (range(10), (10000, 200), {"kind": "gap", "density": 0.1}),
    ):
        worst, support = 0.0, 1.0
        with cpu_time() as clock:
            for seed in seeds:
                fit, problem = learn(seed, *shape, **model)
                worst = max(worst, atom_error(fit.components_, problem.components))
                codes = fit.transform(problem.X)
                support = min(
                    support, support_recovery(codes, problem.codes, fit.components_, problem.components)
                )
        what = f"n={shape[1]}, p={shape[0]}, {model['kind']} {model['density']}, {len(seeds)} seeds"
        yield Figure(f"{what}: largest atom error", worst, at_most=1e-12)
        yield Figure(f"{what}: support agrees", support, at_least=1.0)
        yield Figure(f"{what}: CPU seconds a fit", clock.cpu / len(seeds))


@promise
def ill_conditioned():
    """Condition 1e6 at n=30: crosstalk below 1e-10."""
    worst = 0.0
    for seed in range(10):
        fit, problem = learn(seed, 3000, 30, density=0.1, kind="gap", condition=1e6)
        worst = max(worst, crosstalk(fit.components_, problem.components))
    yield Figure("crosstalk, n=30, p=3000, gap .1, 10 seeds", worst, at_most=1e-10)


@promise
def fewer_atoms():
    """30 atoms in 100 dimensions: below 1e-10."""
    yield Figure(
        "30 atoms, n=100, p=5000, gap .1, 10 seeds", errors(range(10), 5000, 100, 30).max(), at_most=1e-10
    )


@promise
def starts():
    """n=50: recovered on at least 9 of 10 seeds (rad .3 at p=2500: 7)."""
    cases = [("rad", theta, 2500, 9) for theta in (0.02, 0.1, 0.2)]
    cases += [(kind, theta, 2500, 9) for kind in ("gap", "gauss") for theta in (0.05, 0.1, 0.2, 0.3)]
    cases += [("rad", 0.2, 1000, 9), ("rad", 0.3, 10000, 9), ("rad", 0.3, 2500, 7), ("rad", 0.5, 10000, 9)]
    for kind, theta, p, least in cases:
        with cpu_time() as clock:
            good = int(np.sum(errors(range(10), p, 50, kind=kind, density=theta) < 1e-10))
        what = f"{kind} {theta}, p={p}: seeds of 10 recovered ({clock.cpu / 10:.1f} s a fit)"
        yield Figure(what, good, at_least=least)


@promise
def hard_starts():
    """Larger and denser: the rate that is reached."""
    for n, p, kind, theta in ((100, 5000, "rad", 0.2), (100, 5000, "gap", 0.4), (200, 10000, "rad", 0.2)):
        seeds = range(5 if n == 100 else 2)
        with cpu_time() as clock:
            good = np.mean(errors(seeds, p, n, kind=kind, density=theta) < 1e-10)
        yield Figure(
            f"n={n}, p={p}, {kind} {theta}: share recovered of {len(seeds)} "
            f"({clock.cpu / len(seeds):.0f} s a fit)",
            good,
        )


@promise
def figure_2():
    """n=5, p=100, theta=.3, gap: at least 19 of 20 seeds."""
    good = 0
    for seed in range(20):
        problem = make_sparse_dictionary(100, 5, density=0.3, kind="gap", orthogonal=True, random_state=seed)
        fit = OrthogonalDictionaryLearning().fit(problem.X)
        good += atom_error(fit.components_, problem.components) < 1e-10
    yield Figure("seeds of 20 recovered", good, at_least=19)
