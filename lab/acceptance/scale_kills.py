"""kill -9 at any moment: two hundred resumes with the same bits, no checkpoint that can't be read."""

from __future__ import annotations

import os
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from harness import Figure, promise

import altmin.engine.checkpoint as checkpoints
from altmin import (
    AND,
    ApproximateDictionaryLearning,
    CompleteDictionaryLearning,
    FactorizationMachineClassifier,
    FactorizationMachineRegressor,
    InductiveMatrixCompletion,
    OnlineDictionaryLearning,
    OrthogonalDictionaryLearning,
    PhaseRetrieval,
    RankOneSensing,
)
from altmin.datasets import make_dir, make_planted_sparse, make_quadratic, make_sparse_dictionary
from altmin.io.container import ContainerError, read_container
from altmin.text import TopicModel

KILLS = 200


@dataclass(frozen=True)
class Case:
    """A fit that takes some tenths of a second."""

    model: Callable[..., Any]
    data: tuple[Any, ...]

    def fit(self, folder: Path | None) -> Any:
        """Fit, or go on."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.model(checkpoint=folder, n_jobs=1, random_state=0).fit(*self.data)


def _clicks(rng: np.random.Generator) -> Any:
    clicks = sp.csr_array(sp.random(400, 120, density=0.08, format="csr", random_state=rng))
    clicks.data[:] = 1.0
    return clicks


def _cases(folder: Path) -> dict[str, Case]:
    """Every family, and every way in which a fit may end."""
    rng = np.random.default_rng(0)
    topics = make_dir(1500, 100, 8, random_state=0).X
    rotated = make_sparse_dictionary(8000, 12, density=0.2, orthogonal=True, random_state=0).X
    sparse = make_sparse_dictionary(8000, 12, density=0.2, random_state=0).X
    planted = make_planted_sparse(3000, 16, 24, 2, 0.05, random_state=0).X
    law = make_quadratic(10_000, 12, 2, noise=0.1, random_state=0)
    label = np.where(law.y > np.median(law.y), "yes", "no")
    np.save(folder / "x.npy", law.X)
    left, right = rng.standard_normal((2, 5000, 10))
    sensed = np.einsum("ij,jk,ik->i", left, np.outer(*rng.standard_normal((2, 10))), right)
    designs = rng.standard_normal((6000, 16))
    intensity = (designs @ rng.standard_normal(16)) ** 2
    users, items = rng.integers(0, 60, 4000), rng.integers(60, 100, 4000)
    one_hot = sp.csr_array(
        (np.ones(8000), np.column_stack([users, items]).ravel(), np.arange(0, 8001, 2)), (4000, 100)
    )
    tastes = rng.standard_normal((100, 2))
    rating = np.sum(tastes[users] * tastes[items], axis=1) + 0.1 * rng.standard_normal(4000)
    A, B = rng.standard_normal((80, 6)), rng.standard_normal((60, 5))
    whole = A @ np.outer(rng.standard_normal(6), rng.standard_normal(5)) @ B.T
    seen = sp.csr_array(np.where(rng.random(whole.shape) < 0.3, whole, 0.0))
    ids = sp.csr_array((rating, (users, items - 60)), (60, 40))
    batches = {"max_iter": 30, "tol": 0.0, "batch_size": 3000}
    return {
        "AND, schedule": Case(lambda **c: AND(8, threshold=(0.1, 1.01), max_iter=150, **c), (topics,)),
        "AND, max_iter": Case(lambda **c: AND(8, max_iter=7, **c), (topics,)),
        "AND, tol": Case(lambda **c: AND(8, tol=1e-3, **c), (topics,)),
        "AND, holes": Case(
            lambda **c: AND(8, missing="mask", max_iter=10, **c),
            (np.where(rng.random(topics.shape) < 0.1, np.nan, topics),),
        ),
        "topics": Case(lambda **c: TopicModel(8, **c), (np.round(300 * topics),)),
        "Orthogonal": Case(lambda **c: OrthogonalDictionaryLearning(**c), (rotated,)),
        "Complete": Case(lambda **c: CompleteDictionaryLearning(**c), (sparse,)),
        "Complete, tol": Case(lambda **c: CompleteDictionaryLearning(tol=1e-3, **c), (sparse,)),
        "Online": Case(lambda **c: OnlineDictionaryLearning(batch_size=500, **c), (sparse,)),
        "Approximate, max_iter": Case(
            lambda **c: ApproximateDictionaryLearning(
                24, n_nonzero_coefs=2, peeling="sampled", max_iter=8, tol=0.0, **c
            ),
            (planted,),
        ),
        "Approximate, tol": Case(
            lambda **c: ApproximateDictionaryLearning(24, n_nonzero_coefs=2, tol=1e-2, **c), (planted,)
        ),
        "machine, all rows": Case(lambda **c: FactorizationMachineRegressor(2, **c), (law.X, law.y)),
        "machine, tol": Case(
            lambda **c: FactorizationMachineRegressor(2, batch_size=2000, tol=1e-2, **c), (law.X, law.y)
        ),
        "machine, batches of a file": Case(
            lambda **c: FactorizationMachineRegressor(2, **batches, **c), (folder / "x.npy", law.y)
        ),
        "machine, one-hot": Case(lambda **c: FactorizationMachineRegressor(2, **c), (one_hot, rating)),
        "classifier": Case(lambda **c: FactorizationMachineClassifier(2, **c), (law.X, label)),
        "sensing, max_iter": Case(
            lambda **c: RankOneSensing(1, max_iter=30, tol=0.0, **c), ((left, right), sensed)
        ),
        "sensing, tol": Case(lambda **c: RankOneSensing(1, tol=1e-6, **c), ((left, right), sensed)),
        "phase, max_iter": Case(
            lambda **c: PhaseRetrieval(max_iter=30, tol=0.0, **c), (designs, intensity)
        ),
        "phase, tol": Case(lambda **c: PhaseRetrieval(tol=1e-6, **c), (designs, intensity)),
        "completion, features": Case(lambda **c: InductiveMatrixCompletion(1, **c), (seen, A, B)),
        "completion, ids": Case(lambda **c: InductiveMatrixCompletion(2, **c), (ids,)),
        "completion, clicks": Case(lambda **c: InductiveMatrixCompletion(2, **c), (_clicks(rng),)),
    }  # fmt: skip


def _bits(model: Any) -> list[tuple[str, Any]]:
    """Every fitted number, how the fit ended and when; but for the seconds that it took."""
    found: list[tuple[str, Any]] = []
    for name, value in sorted(vars(model).items()):
        if isinstance(value, np.ndarray | float | int):
            found.append((name, np.asarray(value).tobytes()))
        elif sp.issparse(value):
            found.append((name, value.tocsr().toarray().tobytes()))
    rows = [{key: value for key, value in row.items() if key != "seconds"} for row in model.history_]
    return [*found, ("outcome", str(model.outcome_)), ("history", repr(rows))]


def _killed_fit(case: Case, folder: Path, delay: float, eager: bool) -> bool:
    """Fit in a process of its own, and kill it; False if it had ended before."""
    child = os.fork()
    if child == 0:
        if eager:  # checkpoints as often as they can be written: the kill falls into one of them
            checkpoints._SHARE = 1.0
        try:
            case.fit(folder)
        finally:
            os._exit(0)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def _unreadable(folder: Path) -> int:
    """Files under their final name that aren't sound."""
    damaged = 0
    for path in folder.rglob("*.altmin"):
        try:
            read_container(path)
        except ContainerError:
            damaged += not path.name.startswith(".")
    return damaged


@promise
def two_hundred_kills() -> Iterator[Figure]:
    """Kill -9 at random instants over the families: 200 resumes from a checkpoint, all with the same bits.

    A fit that was killed before its first checkpoint starts anew; it counts among the kills alone.
    """
    rng = np.random.default_rng()
    killed = ended = equal = unreadable = found = twice = 0
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        cases = _cases(home)
        wanted, seconds = {}, {}
        for key, case in cases.items():
            case.fit(None)  # compiles, so that the children need not
            begin = time.perf_counter()
            wanted[key] = _bits(case.fit(home / key))
            seconds[key] = time.perf_counter() - begin
        turn = 0
        while found < KILLS:
            key = list(cases)[turn % len(cases)]
            folder = home / f"{key} {turn}"
            turn += 1
            eager = bool(rng.integers(2))
            if not _killed_fit(cases[key], folder, rng.uniform(0, 1.0) * seconds[key], eager):
                continue
            killed += 1
            if rng.random() < 0.2:  # and once more while it goes on
                again = _killed_fit(cases[key], folder, rng.uniform(0, 0.5) * seconds[key], eager)
                killed += again
                twice += again
            unreadable += _unreadable(folder)
            found += any(folder.rglob("checkpoint-?.altmin"))
            same = _bits(cases[key].fit(folder)) == wanted[key]
            equal += same
            ended += 1
            if not same:
                print(f"differs: {key}, {folder.name}", flush=True)
    yield Figure(f"kills, of which {twice} hit a fit that was going on after another", killed, at_least=KILLS)
    yield Figure("killed fits that went on from a checkpoint", found, at_least=KILLS)
    yield Figure("killed fits that did not end in the same bits", ended - equal, at_most=0)
    yield Figure("checkpoint files that can't be read", unreadable, at_most=0)


@promise
def a_finished_fit_stays_what_it_is() -> Iterator[Figure]:
    """A fit repeated three times on its finished checkpoint: the same bits, for every family and ending."""
    differ = 0
    with tempfile.TemporaryDirectory() as name:
        cases = _cases(Path(name))
        for key, case in cases.items():
            alone, folder = _bits(case.fit(None)), Path(name) / key
            again = [_bits(case.fit(folder)) for _ in range(4)]
            if any(found != alone for found in again):
                differ += 1
                names = {pair[0] for found in again for pair in set(found) ^ set(alone)}
                print(f"differs: {key}: {sorted(names)}", flush=True)
    yield Figure(f"of {len(cases)} fits, those that a repetition changes", differ, at_most=0)
