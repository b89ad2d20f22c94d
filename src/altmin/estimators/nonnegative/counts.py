"""Fits to counts: AND on data whose noise was made even, finished on their own likelihood.

Poisson noise goes with the mean, so AND looks at counts divided by the roots of sample totals and feature
frequencies. Its components start a fit of the Poisson likelihood. Where the problem is small, that fit has
few components in each sample, as exposures to mutational signatures have; and as the evidence of such has
many maxima, the purest samples are tried as a start, too, and components from which others were taken out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.algorithms.nonnegative.and_nmf import AndNmf, lift, restated
from altmin.algorithms.nonnegative.nmf import EVERY, Nmf, NmfState, is_sparse
from altmin.algorithms.nonnegative.pure_samples import spa
from altmin.contract import Block, Done, Info
from altmin.engine import AnySource, Result, Source
from altmin.engine.threads import one_thread

_LOOK_AT = 200  # samples that say whether the data are counts
_FEW, _SOME = 5, 0.01  # counts up to the first are few; this share of the entries has to be
_SMALL = 2e7  # samples x features x components up to which codes are pruned
_DISPERSION = (0.3, 10.0)  # variance over that of Poisson counts
_OVER = 1.3  # variance over that of Poisson counts up to which these are taken for such
_UNMIXED = 4  # fits from components that were unmixed, where the first is better
_TAKEN, _SLACK = 0.3, 0.2  # of what can be taken out; of the mean of a component's entries, which is noise
_ALIKE = 0.995  # cosine of components that two fits agree on
_UPDATES = 15  # of large problems
STAGES = 60  # of AND: its fit to counts is a start


def are_counts(noise: str, source: AnySource) -> bool:
    """Whether to try the data as counts: as asked for, or where they are whole numbers, none negative.

    Some have to be small. Where all are large (grey levels, raw spectra) noise isn't that of counting.
    """
    if noise != "auto" or not isinstance(source, Source):
        return noise == "poisson"
    X = source.take(np.arange(0, source.n_rows, -(-source.n_rows // _LOOK_AT))).X
    values = X.data if sp.issparse(X) else X
    with np.errstate(invalid="ignore"):
        whole = bool(np.all((values >= 0) & (values == np.round(values))))
    large = np.sum(values > _FEW)
    return whole and bool(np.max(values, initial=0.0) > 1) and large <= (1 - _SOME) * np.prod(X.shape)


def overdispersed(found: Result) -> bool:
    """Whether the noise that a fit to counts left over isn't that of counts."""
    low, high = _DISPERSION
    return not low < found.state.view.noise**2 < high


def finish_counts(
    model: Any, how: AndNmf, source: Source, found: Result, **changes: Any
) -> tuple[Result, str]:
    """The fit, finished on the Poisson likelihood, and a sentence about it.

    Parameters
    ----------
    model : AND
        Whose settings of the engine count.
    how : AndNmf
        The algorithm of the fit.
    source : Source
        The counts.
    found : Result
        The fit to the counts with even noise.
    **changes
        Settings that differ from the estimator's.

    Returns
    -------
    result : Result
        Components that sum to 1, times the largest expected counts.
    why : str
        With the dispersion.
    """
    start, dispersion = lift(found.state), found.state.view.noise**2
    sparse = source.n_rows * start.shape[1] * len(start) <= _SMALL
    left = max(model.max_iter - found.n_iter, 2)
    compares = sparse and left >= EVERY + 2
    nmf = Nmf(start, "counts", sparse=sparse)
    if sparse and not compares:
        nmf = replace(nmf, dispersion=_rounded(dispersion), looking=True)
    if compares:
        with one_thread():
            nmf = _better_start(nmf, source, left)
    updates = left if sparse else min(_UPDATES, left)
    settings = {"max_iter": updates, "tol": 0.0 if nmf.sparse else 1e-5}
    folder = model._folder_for(f"counts after {found.n_iter}")  # a longer fit starts it elsewhere
    finish = model._run(nmf, source, **{"checkpoint": folder, **changes, **settings})
    A, largest = finish.state.A, finish.state.largest
    scaled = (A * np.where(largest > 0, largest, 1.0)[:, None]).astype(start.dtype)
    state = replace(
        restated(found.state, scaled),
        phase="done",
        deviance=2 * finish.state.error,
        mass=finish.state.mass / np.where(largest > 0, largest, 1.0),
    )
    history = [{**row, "iteration": found.n_iter + row["iteration"]} for row in finish.history]
    result = replace(
        found,
        state=state,
        outcome=finish.outcome if sparse else found.outcome,
        history=[*found.history, *history],
        n_iter=found.n_iter + finish.n_iter,
    )
    few = ", with few components in each sample" if finish.state.sparse else ""
    return result, f"counts, so the Poisson likelihood was fitted{few} (dispersion {dispersion:.2f})"


def _better_start(nmf: Nmf, source: Source, most: int) -> Nmf:
    """From the fit's start, or from the purest samples: whose components have more evidence.

    If counts don't vary more than Poisson counts, the components are unmixed, too: where most samples have
    several at once, fits end at mixtures of them.

    Before it is pruned a second time a fit says nothing of the evidence of the components that it leads to:
    those of fewer iterations aren't compared, and all begin at AND's own components.
    """
    table = source.take(np.arange(source.n_rows))
    rows = np.asarray(table.X.toarray() if sp.issparse(table.X) else table.X, np.float64)
    fit = partial(_short_fit, nmf, Block(0, 0, rows, weight=table.weight), source.info, most)
    best = fit(nmf.start)
    profiles = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1.0)
    if len(pure := spa(profiles, len(nmf.start))) == len(nmf.start):
        best = min(best, fit(profiles[pure], best.A), key=attrgetter("score"))
    free = rows.size - best.used - best.A.size
    dispersion = _rounded(2 * best.error / free if free > 0 else 1.0)
    if dispersion == 1.0:
        best = _unmixed_fit(fit, best, source.n_rows)
    return replace(nmf, start=best.A, dispersion=dispersion, sparse=is_sparse(best, dispersion))


def _rounded(dispersion: float) -> float:
    """1 for counts that hardly vary more than Poisson counts."""
    return dispersion if dispersion > _OVER else 1.0


def _unmixed_fit(fit: Callable[..., NmfState], best: NmfState, n_rows: int) -> NmfState:
    """The best fit from unmixed components, if it gains anything to speak of in a sample."""
    fits = [fit(unmixed(best.A), best.A)]
    if best.score - fits[0].score <= n_rows:
        return best
    while len(fits) < _UNMIXED:  # some are worse than the one before, and lead to a better one
        fits.append(fit(unmixed(fits[-1].A)))
    return min(fits, key=attrgetter("score"))


def _short_fit(
    nmf: Nmf, rows: Block, info: Info, most: int, start: NDArray[Any], known: NDArray[Any] | None = None
) -> NmfState:
    """Pruned, fitted, pruned, fitted, pruned; less of it where the fit comes to components that are known.

    The rows are in memory and nobody watches, so the rounds follow each other without the engine, whose care
    for blocks, files and checkpoints costs as much as such a round.
    """
    how = replace(nmf, start=start)
    state: NmfState = how.init(info, 0)
    columns: dict[str, Any] = {}
    for count in range(min(2 * EVERY + 3, most)):
        if count == EVERY + 2 and known is not None and _alike(state.A, known):
            break
        step = how.next_round(state)
        if isinstance(step, Done):
            break
        stats, columns = step.map(how, state, replace(rows, columns=columns))
        state = step.then(state, stats)
    return state


def _alike(A: NDArray[Any], B: NDArray[Any]) -> bool:
    """Whether each row of A is nearly one of B, and each another."""
    unit = [M / np.linalg.norm(M, axis=1, keepdims=True) for M in (A, B)]
    cosines = unit[0] @ unit[1].T
    return bool(cosines.max(axis=1).min() >= _ALIKE) and len(set(cosines.argmax(axis=1))) == len(A)


def unmixed(A: NDArray[Any]) -> NDArray[Any]:
    """Components that sum to 1, less some of the other one of which each of them has room for most."""
    found = np.empty_like(A)
    for k, row in enumerate(A):
        room = np.min((row + _SLACK * row.mean()) / np.maximum(A, np.finfo(float).tiny), axis=1)
        room[k] = 0.0
        other = int(np.argmax(room))
        found[k] = np.maximum(row - _TAKEN * min(room[other], 1.0) * A[other], 0.0)
    return found / found.sum(axis=1, keepdims=True)
