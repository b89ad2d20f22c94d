"""How the cost of a pass grows with the rows, and what float32 saves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from harness import Figure, cpu_time, promise
from threadpoolctl import threadpool_limits

from altmin import (
    AND,
    CompleteDictionaryLearning,
    FactorizationMachineRegressor,
    OnlineDictionaryLearning,
    omp,
)
from altmin.algorithms.dictionary.orthogonal import Orthogonal
from altmin.datasets import make_dir, make_quadratic, make_sparse_dictionary
from altmin.engine import Settings, open_source, run
from altmin.metrics import atom_error

SIZES = (20_000, 40_000, 80_000)
Pass = Callable[[int], Callable[[], object]]


def least_in_turn(calls: dict[Any, Callable[[], object]], turns: int = 5) -> dict[Any, float]:
    """Least CPU seconds of each call; they take turns, so that all see the same machine."""
    least = dict.fromkeys(calls, np.inf)
    for _ in range(turns):
        for key, call in calls.items():
            with cpu_time() as clock:
                call()
            least[key] = min(least[key], clock.cpu)
    return least


def exponent(sizes: tuple[int, ...], seconds: list[float]) -> float:
    """Slope of log time against log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def repeated(make: Callable[[int, int], object], n: int, few: int, many: int) -> dict[Any, Any]:
    """Two fits of ``few`` and ``many`` iterations: their difference is what iterations cost."""
    return {(n, count): lambda count=count: make(n, count) for count in (few, many)}


def nonnegative() -> Callable[[int, int], object]:
    """AND's stages."""
    p = make_dir(max(SIZES), 200, 50, random_state=0)
    return lambda n, stages: AND(50, init=p.start, max_iter=stages, n_jobs=1).fit(p.X[:n])


def orthogonal() -> Callable[[int, int], object]:
    """Passes of the orthogonal dictionary, without the report at the end, whose cost depends on the codes."""
    p = make_sparse_dictionary(max(SIZES), 100, density=0.1, orthogonal=True, random_state=0)

    def fit(n: int, passes: int) -> object:
        return run(Orthogonal(), open_source(p.X[:n]), Settings(max_iter=passes, n_jobs=1, seed=0))

    return fit


def machine() -> Callable[[int, int], object]:
    """Steps of the machine on all rows."""
    p = make_quadratic(max(SIZES), 50, 5, noise=0.1, random_state=0)

    def fit(n: int, steps: int) -> object:
        model = FactorizationMachineRegressor(
            5, batch_size=n, tol=0.0, max_iter=steps, random_state=0, n_jobs=1
        )
        return model.fit(p.X[:n], p.y[:n])

    return fit


def polish_pass(X: np.ndarray) -> float:
    """Median seconds of the passes over all rows; how many there are depends on the data's luck, not on n."""
    model = CompleteDictionaryLearning(random_state=0, n_jobs=1).fit(X)
    seconds = np.diff([0.0] + [row["seconds"] for row in model.history_])
    return float(np.median(seconds[[row["phase"] == "polish" for row in model.history_]]))


@promise
def growth_of_a_pass() -> Iterator[Figure]:
    """CPU time of a pass grows with the rows by an exponent of at most 1.1 (20000 to 80000 rows)."""
    families = {"AND": (nonnegative, 5, 25), "orthogonal": (orthogonal, 2, 12), "machine": (machine, 4, 24)}
    with threadpool_limits(1):
        for name, (make, few, many) in families.items():
            fit = make()
            calls = {key: call for n in SIZES for key, call in repeated(fit, n, few, many).items()}
            least = least_in_turn(calls)
            seconds = [(least[n, many] - least[n, few]) / (many - few) for n in SIZES]
            yield Figure(f"{name}: exponent in n", exponent(SIZES, seconds), at_most=1.1)
        p = make_sparse_dictionary(max(SIZES), 64, density=0.1, random_state=0)
        yield Figure(
            "complete dictionary: exponent in n",
            exponent(SIZES, [min(polish_pass(p.X[:n]) for _ in range(3)) for n in SIZES]),
            at_most=1.1,
        )
        whole = {
            "online dictionary, one pass": lambda n: OnlineDictionaryLearning(random_state=0, n_jobs=1).fit(
                p.X[:n]
            ),
            "OMP": lambda n: omp(p.X[:n], p.components, 8, n_jobs=1),
        }
        for name, call in whole.items():
            least = least_in_turn({n: lambda n=n, call=call: call(n) for n in SIZES}, 3)
            yield Figure(f"{name}: exponent in n", exponent(SIZES, list(least.values())), at_most=1.1)


def precision_cases() -> dict[str, tuple[Any, Any, tuple[int, int]]]:
    """A fit of so many iterations, the data, and two numbers of iterations (0: no fit)."""
    topics = make_dir(20_000, 200, 100, random_state=0)
    sparse = make_sparse_dictionary(40_000, 100, density=0.1, random_state=0)
    square = make_sparse_dictionary(40_000, 100, density=0.1, orthogonal=True, random_state=0)

    def nonnegative_fit(X: Any, count: int) -> Any:
        return AND(100, init=topics.start, max_iter=count, n_jobs=1).fit(X).components_

    def orthogonal_fit(X: Any, count: int) -> Any:
        return run(Orthogonal(), open_source(X), Settings(max_iter=count, n_jobs=1, seed=0)).state.atoms

    def complete_fit(X: Any, count: int) -> Any:
        return CompleteDictionaryLearning(random_state=0, max_iter=count, n_jobs=1).fit(X).components_

    return {
        "AND": (nonnegative_fit, topics, (5, 45)),
        "orthogonal dictionary": (orthogonal_fit, square, (5, 45)),
        "complete dictionary": (complete_fit, sparse, (0, 2000)),
    }


@promise
def single_precision() -> Iterator[Figure]:
    """float32 at least 1.5 times float64 where products dominate, with errors as the precision allows."""
    with threadpool_limits(1):
        for name, (fit, problem, counts) in precision_cases().items():
            tables = {"double": problem.X, "single": problem.X.astype(np.float32)}
            calls = {
                (precision, count): lambda fit=fit, table=table, count=count: fit(table, count)
                for precision, table in tables.items()
                for count in counts
                if count
            }
            least = least_in_turn(calls)
            times = {key: least[key, counts[1]] - least.get((key, counts[0]), 0.0) for key in tables}
            found = {key: fit(table, counts[1]) for key, table in tables.items()}
            errors = {key: atom_error(found[key], problem.components) for key in tables}
            yield Figure(
                f"{name}: float64 over float32, CPU", times["double"] / times["single"], at_least=1.5
            )
            yield Figure(f"{name}: error in float64", errors["double"])
            # Twice the other's error where that is the algorithm's, or some thousand units of rounding.
            allowed = max(2 * errors["double"], 1e-4)
            yield Figure(f"{name}: error in float32", errors["single"], at_most=allowed)
