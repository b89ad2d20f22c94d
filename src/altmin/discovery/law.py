"""A table with a target: which law of the columns gives it?"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression, RidgeCV

from altmin.discovery.ctrl_c import heard
from altmin.discovery.look import Look, look_at
from altmin.discovery.result import ENOUGH, Candidate, Discovery, Term
from altmin.discovery.table import Sampled
from altmin.estimators.quadratic.regressor import FactorizationMachineRegressor

_RANKS = (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20)
_TERMS = 12
_SIMPLEST = ("no relation", "linear law", "quadratic law")
_ALPHAS = np.logspace(-4, 4, 9)


def discover_law(table: Sampled, seed: int, say: Callable[[Candidate, int], None]) -> Discovery:
    """Compare no relation, a linear law, and quadratic laws of growing rank on held-out rows.

    Parameters
    ----------
    table : Sampled
        Columns and target.
    seed : int
        Of samples and fits.
    say : callable
        Told of each candidate, and of how many are ahead.

    Returns
    -------
    Discovery
        The law, or that there is none.
    """
    candidates = [_constant(table), _linear(table)]
    ranks = [rank for rank in _RANKS if rank <= table.rows.shape[1]]
    stopped = False
    with heard():
        try:
            for number, rank in enumerate(ranks):
                candidates.append(_quadratic(table, rank, seed))
                say(candidates[-1], len(ranks) - number - 1)
                if (
                    len(candidates) > 3
                    and candidates[-1].error > candidates[-2].error - candidates[-2].spread
                ):
                    break  # a higher rank predicts no better
            best = _simplest(candidates)
            if best.family == "quadratic law" and best.n_components > 4:  # from here on by steps of two
                candidates.append(_quadratic(table, best.n_components - 1, seed))
        except KeyboardInterrupt:
            stopped = True
    return _answer(candidates, table, seed, stopped)


def _constant(table: Sampled) -> Candidate:
    error, spread = _score(table.held_target, np.full(len(table.held_target), table.target.mean()))
    return Candidate("no relation", 0, error, spread, "", {}, 0.0)


def _linear(table: Sampled) -> Candidate:
    begin = time.process_time()
    model = RidgeCV(_ALPHAS).fit(table.rows, table.target)
    error, spread = _score(table.held_target, model.predict(table.held_out))
    return Candidate("linear law", table.rows.shape[1], error, spread, "", {}, time.process_time() - begin)


def _quadratic(table: Sampled, rank: int, seed: int) -> Candidate:
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = FactorizationMachineRegressor(rank, random_state=seed).fit(table.rows, table.target)
    error, spread = _score(table.held_target, fitted.predict(table.held_out))
    report = fitted.guarantee_
    counts = dict(Counter(factor.verdict for factor in report.factors))
    seconds = time.process_time() - begin
    return Candidate("quadratic law", rank, error, spread, report.verdict, counts, seconds, model=fitted)


def _score(truth: NDArray[Any], predicted: NDArray[Any]) -> tuple[float, float]:
    left = (truth - predicted) ** 2
    size = max(float(np.sum((truth - truth.mean()) ** 2)), 1e-300)
    return float(left.sum() / size), float(np.sqrt(len(left)) * left.std() / size)


def _simplest(candidates: list[Candidate]) -> Candidate:
    """Of the laws that predict as well as the best one within a standard error."""
    first = min(candidates, key=lambda candidate: candidate.error)
    good = [c for c in candidates if c.error <= first.error + first.spread]
    return min(good, key=lambda c: (_SIMPLEST.index(c.family), c.n_components))


def _answer(candidates: list[Candidate], table: Sampled, seed: int, stopped: bool) -> Discovery:
    """The simplest law that predicts as well as the best one within a standard error."""
    ranked = tuple(sorted(candidates, key=lambda candidate: candidate.error))
    best = _simplest(candidates)
    look, notes = look_at(table.rows), tuple(table.notes)
    if stopped:
        notes = ("The search was stopped before it ended, so this may change.", *notes)
    if best.family == "quadratic law":
        return _quadratic_law(best, ranked, table, look, notes, seed)
    if best.family == "linear law":
        return _linear_law(best, ranked, table, look, notes)
    answer = "The columns don't predict the target: no relation was found."
    sure = f"The best guess leaves {ranked[0].error:.0%} of the target's variance on held-out rows."
    why = (answer, sure, _MORE)
    return Discovery(best.family, 0, answer, why, None, ranked, look, "", notes)


def _linear_law(
    best: Candidate, ranked: tuple[Candidate, ...], table: Sampled, look: Look, notes: tuple[str, ...]
) -> Discovery:
    """The linear law, fitted to the rows of the search and to those that were held out."""
    X, y = np.vstack([table.rows, table.held_out]), np.concatenate([table.target, table.held_target])
    named = hasattr(table.X, "columns")  # a data frame gives its names to the model
    model = LinearRegression().fit(table.X, table.y) if named else LinearRegression().fit(X, y)
    answer = f"A linear law of the columns predicts the target, with {best.error:.1%} of its variance left."
    sure = "On rows that were held out, quadratic laws predict no better."
    code = "from sklearn.linear_model import LinearRegression\n\nmodel = LinearRegression().fit(X, y)\n"
    terms = _terms(X, y, {(i,): float(value) for i, value in enumerate(model.coef_)})
    return Discovery("linear law", X.shape[1], answer, (answer, sure, _MORE), model, ranked, look, code,
                     notes, terms)  # fmt: skip


def _quadratic_law(
    best: Candidate,
    ranked: tuple[Candidate, ...],
    table: Sampled,
    look: Look,
    notes: tuple[str, ...],
    seed: int,
) -> Discovery:
    """The quadratic law, fitted to all rows, with its full report."""
    k = best.n_components
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = FactorizationMachineRegressor(k, random_state=seed).fit(table.X, table.y)
        report = model.guarantee_ = model.guarantee(table.X, table.y, effort="full")
    answer = (
        f"A quadratic law with {k} direction{'s' if k > 1 else ''} beyond the linear part predicts the "
        f"target, with {best.error:.1%} of its variance left on held-out rows."
    )
    sure = _SURE[report.verdict]
    surer = f"To be surer: {report.advice}." if report.advice else ENOUGH
    code = (
        f"import altmin\n\nmodel = altmin.{' '.join(str(model).split())}.fit(X, y)\nmodel.guarantee(X, y)\n"
    )
    found: dict[tuple[int, ...], float] = {(i,): float(value) for i, value in enumerate(model.coef_)}
    for i, j in combinations_with_replacement(range(table.rows.shape[1]), 2):
        found[i, j] = float(model.interaction(i, j))
    terms = _terms(table.rows, table.target, found)
    return Discovery(
        "quadratic law", k, answer, (answer, sure, surer), model, ranked, look, code, notes, terms
    )


def _terms(X: NDArray[Any], y: NDArray[Any], found: dict[tuple[int, ...], float]) -> tuple[Term, ...]:
    """The terms that move the target most, largest first."""
    size = max(float(y.std()), 1e-300)
    terms = [
        Term(columns, value, abs(value) * float(X[:, columns].prod(axis=1).std()) / size)
        for columns, value in found.items()
    ]
    return tuple(sorted(terms, key=lambda term: -term.weight)[:_TERMS])


_MORE = "More rows would show weaker effects."
_SURE = {
    "recovered": "The report says 'recovered': these are the coefficients that made the target.",
    "plausible": "The report says 'plausible': it may be what made the target, but an alternative remains.",
    "unknown": "The report says 'unknown': it predicts, but whether it made the target can't be seen.",
    "contradicted": "The report says 'contradicted': it predicts, but it isn't what made the target.",
}
