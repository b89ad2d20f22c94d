"""kill -9 at any moment: a hundred resumes with the same bits, no checkpoint that can't be read."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from harness import Figure, promise

import altmin.engine.checkpoint as checkpoints
from altmin import (
    AND,
    ApproximateDictionaryLearning,
    CompleteDictionaryLearning,
    FactorizationMachineRegressor,
    OnlineDictionaryLearning,
    OrthogonalDictionaryLearning,
    PhaseRetrieval,
    RankOneSensing,
)
from altmin.datasets import make_dir, make_planted_sparse, make_quadratic, make_sparse_dictionary
from altmin.io.container import ContainerError, read_container

KILLS = 100


@dataclass(frozen=True)
class Case:
    """A fit that takes about half a second, and what has to be the same in the end."""

    model: Callable[..., Any]
    data: tuple[Any, ...]
    attributes: tuple[str, ...] = ("components_", "component_scales_")

    def fit(self, folder: Path | None) -> Any:
        """Fit, or go on."""
        return self.model(checkpoint=folder, n_jobs=1).fit(*self.data)


def _cases(folder: Path) -> dict[str, Case]:
    topics = make_dir(3000, 200, 10, random_state=0).X
    rotated = make_sparse_dictionary(20_000, 16, density=0.2, orthogonal=True, random_state=0).X
    sparse = make_sparse_dictionary(30_000, 16, density=0.2, random_state=0).X
    planted = make_planted_sparse(6000, 16, 24, 2, 0.05, random_state=0).X
    quadratic = make_quadratic(40_000, 16, 2, noise=0.1, random_state=0)
    np.save(folder / "x.npy", quadratic.X)
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((2, 20_000, 12))
    sensed = np.einsum("ij,jk,ik->i", left, np.outer(*rng.standard_normal((2, 12))), right)
    designs = rng.standard_normal((20_000, 20))
    intensity = (designs @ rng.standard_normal(20)) ** 2
    machine = ("coef_", "factors_", "eigenvalues_", "intercept_")

    def regressor(**changes: Any) -> Any:
        options = {"random_state": 0, "max_iter": 40, "tol": 0.0, **changes}
        return FactorizationMachineRegressor(2, **options)

    return {
        "AND": Case(lambda **c: AND(10, threshold=(0.1, 1.01), max_iter=150, **c), (topics,)),
        "Orthogonal": Case(lambda **c: OrthogonalDictionaryLearning(random_state=0, **c), (rotated,)),
        "Complete": Case(lambda **c: CompleteDictionaryLearning(random_state=0, **c), (sparse,)),
        "Online": Case(lambda **c: OnlineDictionaryLearning(batch_size=500, random_state=0, **c), (sparse,)),
        "Approximate": Case(
            lambda **c: ApproximateDictionaryLearning(
                24, n_nonzero_coefs=2, peeling="sampled", random_state=0, max_iter=15, tol=0.0, **c
            ),
            (planted,),
        ),
        "machine, all rows": Case(regressor, (quadratic.X, quadratic.y), machine),
        "machine, batches of a file": Case(
            lambda **c: regressor(batch_size=6000, **c), (folder / "x.npy", quadratic.y), machine
        ),
        "sensing": Case(
            lambda **c: RankOneSensing(1, random_state=0, max_iter=40, tol=0.0, **c),
            ((left, right), sensed),
            (),
        ),
        "phase": Case(
            lambda **c: PhaseRetrieval(random_state=0, max_iter=40, tol=0.0, **c),
            (designs, intensity),
            ("signal_",),
        ),
    }


def _bits(case: Case, model: Any) -> bytes:
    values = [np.asarray(getattr(model, name)) for name in case.attributes]
    if not case.attributes:
        values = [np.asarray(model.matrix())]
    return b"".join(np.ascontiguousarray(value).tobytes() for value in values)


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
def a_hundred_kills() -> Iterator[Figure]:
    """Kill -9 at random instants over the families: 100 resumes from a checkpoint, all with the same bits.

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
            wanted[key] = _bits(case, case.fit(home / key))
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
            same = _bits(cases[key], cases[key].fit(folder)) == wanted[key]
            equal += same
            ended += 1
            if not same:
                print(f"differs: {key}, {folder.name}", flush=True)
    yield Figure(f"kills, of which {twice} hit a fit that was going on after another", killed, at_least=KILLS)
    yield Figure("killed fits that went on from a checkpoint", found, at_least=KILLS)
    yield Figure("killed fits that did not end in the same bits", ended - equal, at_most=0)
    yield Figure("checkpoint files that can't be read", unreadable, at_most=0)
