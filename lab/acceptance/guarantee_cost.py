"""What a report costs: beside the fit it belongs to, and in memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from harness import Figure, cpu_time, promise

import altmin
from altmin.datasets import make_dir, make_quadratic, make_sparse_dictionary
from altmin.engine.side_by_side import side_by_side
from altmin.guarantees.dictionary_atoms import atom_facts

_PROMISED = 1.0  # CPU seconds of a fit from which on the promise speaks


def cases() -> Iterator[tuple[str, Callable[[], Any], tuple[Any, ...]]]:
    """Of each family a fit of a second and more, and smaller ones for information."""
    large = make_dir(20_000, 1000, 50, concentration=2.0, random_state=0).X
    yield "AND, large", lambda: altmin.AND(50), (large,)
    noisy = make_sparse_dictionary(60_000, 60, snr_db=25, random_state=0).X
    yield "complete, 25 dB, large", lambda: altmin.CompleteDictionaryLearning(random_state=0), (noisy,)
    sparse = make_sparse_dictionary(100_000, 100, random_state=0).X
    yield "complete, no noise, large", lambda: altmin.CompleteDictionaryLearning(random_state=0), (sparse,)
    stream = make_sparse_dictionary(400_000, 80, random_state=0).X
    yield "online, large", lambda: altmin.OnlineDictionaryLearning(random_state=0), (stream,)
    law = make_quadratic(400_000, 60, 5, noise=0.1, random_state=0)
    yield "machine, large", lambda: altmin.FactorizationMachineRegressor(5, random_state=0), (law.X, law.y)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400_000, 60))
    y = np.square(X @ rng.standard_normal((60, 4))).sum(axis=1) + 0.1 * rng.standard_normal(len(X))
    yield "sensing, large", lambda: altmin.RankOneSensing(4, random_state=0), (X, y)
    yield from small_cases()


def small_cases() -> Iterator[tuple[str, Callable[[], Any], tuple[Any, ...]]]:
    """Fits that may be quicker than a second."""
    yield "AND", lambda: altmin.AND(30), (make_dir(6000, 500, 30, concentration=2.0, random_state=0).X,)
    noisy = make_sparse_dictionary(20_000, 30, snr_db=25, random_state=0).X
    yield "complete, 25 dB", lambda: altmin.CompleteDictionaryLearning(random_state=0), (noisy,)
    sparse = make_sparse_dictionary(20_000, 50, random_state=0).X
    yield "complete, no noise", lambda: altmin.CompleteDictionaryLearning(random_state=0), (sparse,)
    stream = make_sparse_dictionary(60_000, 20, random_state=0).X
    yield "online", lambda: altmin.OnlineDictionaryLearning(random_state=0), (stream,)
    law = make_quadratic(200_000, 40, 3, noise=0.1, random_state=0)
    yield "machine", lambda: altmin.FactorizationMachineRegressor(3, random_state=0), (law.X, law.y)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200_000, 30))
    y = np.square(X @ rng.standard_normal((30, 2))).sum(axis=1) + 0.1 * rng.standard_normal(len(X))
    yield "sensing", lambda: altmin.RankOneSensing(2, random_state=0), (X, y)


@promise
def time() -> Iterator[Figure]:
    """With a fit of a second and more at most 10 % of its CPU time, at full effort at most 4 fits."""
    for name, make, data in cases():
        with cpu_time() as fit:
            model = make().fit(*data)
            model.guarantee_.verdict  # noqa: B018 (made on demand where blocks come fast)
        with cpu_time() as cheap:
            model.guarantee(*data, effort="cheap")
        with cpu_time() as full:
            model.guarantee(*data, effort="full")
        most = 0.1 if fit.cpu >= _PROMISED else None  # of quicker ones: for information
        yield Figure(
            f"{name} (fit {fit.cpu:.1f} s): cheap report over fit", cheap.cpu / fit.cpu, at_most=most
        )
        yield Figure(f"{name}: full report over fit", full.cpu / fit.cpu, at_most=4.0)


@promise
def memory() -> Iterator[Figure]:
    """400 atoms, without noise and with it: the report takes at most twice the memory of the data."""
    for name, snr in (("no noise", None), ("25 dB", 25.0)):
        truth = make_sparse_dictionary(20_000, 400, density=0.02, snr_db=snr, random_state=0)
        X = np.ascontiguousarray(truth.X, dtype=np.float64)
        atom_facts(X[:500], truth.components)  # compiled code is loaded once, and is no memory of a report
        for n_jobs, most in ((1, 2.0), (2, None)):  # tests side by side each need their own: for information
            tracemalloc.start()
            with side_by_side(n_jobs) as begin:
                atom_facts(X, truth.components, begin=begin)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            yield Figure(f"{name}, {n_jobs} thread(s): peak over data", peak / X.nbytes, at_most=most)
