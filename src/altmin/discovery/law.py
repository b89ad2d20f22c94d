"""A table with a target: which law of the columns gives it?"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import RidgeCV

from altmin.discovery.look import look_at
from altmin.discovery.result import ENOUGH, Candidate, Discovery
from altmin.estimators.quadratic.regressor import FactorizationMachineRegressor

_RANKS = (1, 2, 3, 4, 6)
_ALPHAS = np.logspace(-4, 4, 9)


def discover_law(table: NDArray[Any], y: Any, most: int, seed: int) -> Discovery:
    """Compare no relation, a linear law, and quadratic laws of growing rank on held-out rows.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_features)
        The columns.
    y : array-like of shape (n_rows,)
        The target, numbers.
    most : int
        Rows that the search looks at.
    seed : int
        Of samples and fits.

    Returns
    -------
    Discovery
        The law, or that there is none.
    """
    target = np.asarray(y, dtype=np.float64).ravel()
    if len(target) != len(table) or not np.isfinite(target).all():
        raise ValueError(
            f"y has shape {np.shape(y)}: one finite number for each of the {len(table)} rows is needed"
        )
    order = np.random.default_rng([seed, 1]).permutation(len(table))
    held, rows = order[: len(table) // 5], np.sort(order[len(table) // 5 :][:most])
    candidates = [_constant(target[rows], target[held]), _linear(table, target, rows, held)]
    for rank in (r for r in _RANKS if r <= table.shape[1]):
        candidates.append(_quadratic(table, target, rows, held, rank, seed))
        if len(candidates) > 3 and candidates[-1].error > candidates[-2].error - candidates[-2].spread:
            break  # a higher rank predicts no better
    return _answer(candidates, table, target, seed)


def _constant(seen: NDArray[Any], hidden: NDArray[Any]) -> Candidate:
    error, spread = _score(hidden, np.full(len(hidden), seen.mean()))
    return Candidate("no relation", 0, error, spread, "", {}, 0.0)


def _linear(table: NDArray[Any], y: NDArray[Any], rows: NDArray[Any], held: NDArray[Any]) -> Candidate:
    begin = time.process_time()
    model = RidgeCV(_ALPHAS).fit(table[rows], y[rows])
    error, spread = _score(y[held], model.predict(table[held]))
    return Candidate("linear law", table.shape[1], error, spread, "", {}, time.process_time() - begin)


def _quadratic(
    table: NDArray[Any], y: NDArray[Any], rows: NDArray[Any], held: NDArray[Any], rank: int, seed: int
) -> Candidate:
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = FactorizationMachineRegressor(rank, random_state=seed).fit(table[rows], y[rows])
    error, spread = _score(y[held], fitted.predict(table[held]))
    report = fitted.guarantee_
    counts = dict(Counter(factor.verdict for factor in report.factors))
    seconds = time.process_time() - begin
    return Candidate("quadratic law", rank, error, spread, report.verdict, counts, seconds, model=fitted)


def _score(truth: NDArray[Any], predicted: NDArray[Any]) -> tuple[float, float]:
    left = (truth - predicted) ** 2
    size = max(float(np.sum((truth - truth.mean()) ** 2)), 1e-300)
    return float(left.sum() / size), float(np.sqrt(len(left)) * left.std() / size)


def _answer(candidates: list[Candidate], table: NDArray[Any], y: NDArray[Any], seed: int) -> Discovery:
    ranked = sorted(candidates, key=lambda candidate: candidate.error)
    best = ranked[0]
    simpler = [c for c in candidates if c.error <= best.error + best.spread]
    best = min(
        simpler,
        key=lambda c: (("no relation", "linear law", "quadratic law").index(c.family), c.n_components),
    )
    look = look_at(table)
    if best.family != "quadratic law":
        answer = {
            "no relation": "The columns don't predict the target: no relation was found.",
            "linear law": "A linear law of the columns predicts the target as well as any quadratic one.",
        }[best.family]
        sure = f"It leaves {best.error:.0%} of the target's variance on held-out rows."
        return Discovery(best.family, 0, answer, (answer, sure, "More rows would show weaker effects."), None,
                         tuple(ranked), look, "")  # fmt: skip
    model = FactorizationMachineRegressor(best.n_components, random_state=seed).fit(table, y)
    model.guarantee_ = model.guarantee(table, y, effort="full")
    report = model.guarantee_
    answer = (
        f"A quadratic law with {best.n_components} directions beyond the linear part predicts the target, "
        f"with {best.error:.1%} of its variance left on held-out rows."
    )
    sure = f"The report says '{report.verdict}'."
    surer = f"To be surer: {report.advice}." if report.advice else ENOUGH
    code = (
        f"import altmin\n\nmodel = altmin.{' '.join(str(model).split())}.fit(X, y)\nmodel.guarantee(X, y)\n"
    )
    return Discovery("quadratic law", best.n_components, answer, (answer, sure, surer), model, tuple(ranked),
                     look, code)  # fmt: skip
