"""Fits to counts: AND on data whose noise was made even, finished on their own likelihood.

Poisson noise goes with the mean, so AND looks at counts divided by the roots of sample totals and feature
frequencies. Its components start a fit of the Poisson likelihood. Where the problem is small, that fit has
few components in each sample, as exposures to mutational signatures have; and as the likelihood of such has
many maxima, the purest samples are tried as a start, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from altmin.algorithms.nonnegative.and_nmf import AndNmf, lift, restated
from altmin.algorithms.nonnegative.nmf import EVERY, Nmf
from altmin.algorithms.nonnegative.pure_samples import spa
from altmin.engine import AnySource, Result, Settings, Source, run

_LOOK_AT = 200  # samples that say whether the data are counts
_FEW, _SOME = 5, 0.01  # counts up to the first are few; this share of the entries has to be
_SMALL = 2e7  # samples x features x components up to which codes are pruned
_DISPERSION = (0.3, 10.0)  # variance over that of Poisson counts
_OVER = 1.3  # variance over that of Poisson counts up to which these are taken for such
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
    start, dispersion = lift(found.state).A, found.state.view.noise**2
    sparse = source.n_rows * start.shape[1] * len(start) <= _SMALL
    nmf = Nmf(start, "counts", sparse=sparse)
    if sparse:
        nmf = _better_start(nmf, source)
    left = max(model.max_iter - found.n_iter, 2)  # codes are pruned, then fitted
    settings = {"max_iter": left if sparse else min(_UPDATES, left), "tol": 0.0 if sparse else 1e-5}
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
    few = ", with few components in each sample" if sparse else ""
    return result, f"counts, so the Poisson likelihood was fitted{few} (dispersion {dispersion:.2f})"


def _better_start(nmf: Nmf, source: Source) -> Nmf:
    """From the fit's start, or from the purest samples: whose components explain more at less cost.

    What the better one leaves over says by how much counts vary more than Poisson counts.
    """
    rows = source.take(np.arange(source.n_rows)).X
    rows = np.asarray(rows.toarray() if sp.issparse(rows) else rows, np.float64)
    profiles = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1.0)
    pure = spa(profiles, len(nmf.start))
    starts = [nmf.start, *([profiles[pure]] if len(pure) == len(nmf.start) else [])]
    short = Settings(max_iter=2 * EVERY + 3, tol=0.0, seed=0)  # pruned, fitted, pruned, fitted, pruned
    fits = [run(replace(nmf, start=start), source, short).state for start in starts]
    best = min(fits, key=lambda fit: fit.score)
    free = rows.size - best.used - best.A.size
    dispersion = 2 * best.error / free if free > 0 else 1.0
    return replace(nmf, start=best.A, dispersion=dispersion if dispersion > _OVER else 1.0)
