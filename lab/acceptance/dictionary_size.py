"""Large dictionaries: CPU beside FastICA, memory beside the data, few atoms in many columns."""

from __future__ import annotations

import resource
import warnings

import numpy as np
from harness import Figure, cpu_time, promise
from sklearn.decomposition import FastICA

from altmin import CompleteDictionaryLearning
from altmin.datasets import make_sparse_dictionary
from altmin.metrics import atom_error


def peak():
    """Most memory that this process has held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def warmed():
    """Compiled code is loaded before anything is measured."""
    problem = make_sparse_dictionary(1000, 10, density=0.1, random_state=0)
    CompleteDictionaryLearning(random_state=0).fit(problem.X)


@promise
def beside_fastica():
    """n=400, p=12000: 1e-12 in at most 1.5 times the CPU of FastICA."""
    warmed()
    problem = make_sparse_dictionary(12_000, 400, density=0.1, random_state=90210)
    with cpu_time() as ours:
        model = CompleteDictionaryLearning(random_state=0).fit(problem.X)
    with warnings.catch_warnings(), cpu_time() as theirs:
        warnings.simplefilter("ignore")
        ica = FastICA(whiten="unit-variance", max_iter=1000, random_state=0).fit(problem.X)
    yield Figure("our error", atom_error(model.components_, problem.components), at_most=1e-12)
    yield Figure("error of FastICA", atom_error(ica.mixing_.T, problem.components))
    yield Figure("our CPU seconds", ours.cpu)
    yield Figure("our CPU / FastICA's", ours.cpu / theirs.cpu, at_most=1.5)


@promise
def a_thousand_atoms():
    """k=1000, p=30000: 1e-12; memory at most 3 times the data."""
    warmed()
    problem = make_sparse_dictionary(30_000, 1000, density=0.05, random_state=90210)
    X, truth = problem.X, problem.components
    del problem
    before = peak()
    with cpu_time() as ours:
        model = CompleteDictionaryLearning(random_state=0).fit(X)
    yield Figure("error", atom_error(model.components_, truth), at_most=1e-12)
    yield Figure("CPU seconds", ours.cpu)
    yield Figure("memory of the fit over that of the data", (peak() - before) / X.nbytes, at_most=3)


@promise
def few_atoms():
    """20 atoms in 20,000 columns: seconds."""
    warmed()
    problem = make_sparse_dictionary(2000, 20, density=0.15, random_state=90210)
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((20_000, 20)))[0].T
    with cpu_time() as ours:
        model = CompleteDictionaryLearning(20, random_state=0).fit(problem.X @ axes)
    yield Figure("error", atom_error(model.components_, problem.components @ axes), at_most=1e-12)
    yield Figure("CPU seconds", ours.cpu, at_most=10)
