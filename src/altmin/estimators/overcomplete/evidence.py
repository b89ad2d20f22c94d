"""What the guarantee report of approximate dictionaries rests on: sums of the fit, and further fits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from altmin.algorithms.overcomplete.unit_rows import unit_rows
from altmin.engine import AnySource, Source, collect_rows
from altmin.guarantees.overcomplete import Fitted, Stability
from altmin.metrics.matching import sine_errors

_SAME = 1e-3  # rows closer than this (in direction) count as one


def sparsity(n_nonzero_coefs: int | None, n_features: int) -> int:
    """Nonzeros of a row at most: as asked for, or a tenth of the number of features."""
    return min(n_nonzero_coefs or max(n_features // 10, 1), n_features)


def fitted_quantities(model: Any, figures: dict[str, Any]) -> Fitted:
    """What the cheap report needs, from a fitted model and the sums of its closing pass."""
    trace = figures["total"] or 1.0
    spectra = [
        np.linalg.eigvalsh(figures[name])[::-1].clip(0) / trace if len(figures[name]) else None
        for name in ("data_gram", "left_gram")
    ]
    worst, rest = model.outlier_scores_[model.outlier_mask_], model.outlier_threshold_
    theory = model.mode == "theory"
    return Fitted(
        error=model.relative_error_,
        n_atoms=len(model.components_),
        n_features=model.n_features_in_,
        n_rows=int(figures["rows"]),
        nonzeros=int(figures["nonzeros"]),
        most_nonzeros=int(figures["most_nonzeros"].value),
        largest_code=float(figures["largest_code"].value),
        data_spectrum=spectra[0],
        residual_spectrum=spectra[1],
        n_nonzero=sparsity(model.n_nonzero_coefs, model.n_features_in_),
        bound=float(model.coefficient_bound),
        target=model.target_error or (0.3 if theory else None),
        contamination=float(model.contamination),
        theory=theory,
        n_asked=model.n_components or model.n_features_in_,
        trimmed_gap=float(worst.min() / rest) if len(worst) and rest > 0 else None,
    )


def gather_evidence(model: Any, given: AnySource) -> Stability:
    """Fit disjoint halves and a Gaussian surrogate, and compare.

    Parameters
    ----------
    model : ApproximateDictionaryLearning
        The fit in question.
    given : Source
        Its data.

    Returns
    -------
    Stability
        Agreement of the halves with the full fit, use of the atoms, held-out errors.
    """
    source = given.require_replayable("the full guarantee")
    seed = model._seed()
    halves = [source.take(ids).X for ids in independent_halves(source, seed)]
    fits = [_fit(model, half) for half in halves]
    sines = np.max([_worst_match(fit.components_, model.components_) for fit in fits], axis=0)
    held_out = float(np.mean([_held_out(fits[0], halves[1]), _held_out(fits[1], halves[0])]))
    surrogate = gaussian_surrogate(source, seed)
    parts = np.array_split(surrogate, 2)
    fake = _fit(model, parts[0])
    use = np.diff(model.codes_.tocsc().indptr)
    return Stability(sines, use, held_out, _held_out(fake, parts[1]))


def independent_halves(source: Source, seed: int) -> list[NDArray[np.intp]]:
    """Row numbers of two random halves; near-duplicates stay in one of them."""
    keys = collect_rows(lambda block: np.round(unit_rows(block.X)[0] / _SAME).astype(np.int16), source)
    group = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    side = np.random.default_rng(seed).permutation(group.max() + 1) % 2
    halves = [np.flatnonzero(side[group] == number) for number in (0, 1)]
    if min(map(len, halves)) == 0:
        raise ValueError("X: two halves that differ are needed, and all rows point in the same direction")
    return halves


def gaussian_surrogate(source: Source, seed: int) -> NDArray[Any]:
    """Gaussian rows, as many, with the covariance of the data: nothing in them is sparse."""
    rows = collect_rows(lambda block: np.asarray(_dense(block.X), np.float64), source)
    root = np.linalg.qr(rows, mode="r") / np.sqrt(len(rows))
    return np.random.default_rng([seed, 3]).standard_normal((len(rows), len(root))) @ root


def _fit(model: Any, X: Any) -> Any:
    fresh = clone(model).set_params(checkpoint=None, verbose=0, init="peel")
    fresh.set_params(n_components=len(model.components_), random_state=model._seed() % 1000)
    return fresh.fit(X)


def _held_out(fit: Any, X: Any) -> float:
    """Mean relative error of rows that the fit has not seen; the worst share trimmed as in the fit."""
    scores = np.sort(fit.outlier_scores(X))
    return float(np.mean(scores[: max(len(scores) - int(fit.contamination * len(scores)), 1)]))


def _worst_match(components: NDArray[Any], reference: NDArray[Any]) -> NDArray[Any]:
    if len(components) < len(reference):
        return np.ones(len(reference))
    return sine_errors(components, reference)


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X
