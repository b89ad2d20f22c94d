"""What the guarantee report of approximate dictionaries rests on: sums of the fit, and further fits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from altmin.engine import Source
from altmin.guarantees.overcomplete import AtomEvidence
from altmin.guarantees.refits import gaussian_surrogate, halves, worst_sines


def sparsity(n_nonzero_coefs: int | None, n_features: int) -> int:
    """Nonzeros of a row at most: as asked for, or a tenth of the number of features."""
    return min(n_nonzero_coefs or max(n_features // 10, 1), n_features)


def fitted_quantities(model: Any, figures: dict[str, Any]) -> AtomEvidence:
    """What the cheap report needs, from a fitted model and the sums of its closing pass."""
    trace = figures["total"] or 1.0
    spectra = [
        np.linalg.eigvalsh(figures[name])[::-1].clip(0) / trace if len(figures[name]) else None
        for name in ("data_gram", "left_gram")
    ]
    worst, rest = model.outlier_scores_[model.outlier_mask_], model.outlier_threshold_
    theory = model.mode == "theory"
    return AtomEvidence(
        error=float(figures["left"] / trace),
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


def compared(model: Any, evidence: AtomEvidence, source: Source) -> AtomEvidence:
    """The evidence, with the fit held against those on two halves and on a Gaussian surrogate.

    Parameters
    ----------
    model : ApproximateDictionaryLearning
        The fit in question.
    evidence : AtomEvidence
        Of the fit itself.
    source : Source
        Its data.

    Returns
    -------
    AtomEvidence
        With the agreement of the halves, the use of the atoms, and held-out errors.
    """
    seed = model._seed() or 0
    parts = [source.take(ids).X for ids in halves(source, seed)]
    fits = [_fit(model, part) for part in parts]
    fake, unseen = np.array_split(gaussian_surrogate(source, seed), 2)
    return replace(
        evidence,
        sines=worst_sines([fit.components_ for fit in fits], model.components_),
        use=np.count_nonzero(model.transform(source), axis=0),
        held_out=float(np.mean([_held_out(fits[0], parts[1]), _held_out(fits[1], parts[0])])),
        surrogate=_held_out(_fit(model, fake), unseen),
    )


def _fit(model: Any, X: Any) -> Any:
    fresh = clone(model).set_params(checkpoint=None, verbose=0, init="peel")
    fresh.set_params(n_components=len(model.components_), random_state=(model._seed() or 0) % 1000)
    return fresh.fit(X)


def _held_out(fit: Any, X: Any) -> float:
    """Mean relative error of rows that the fit has not seen; the worst share trimmed as in the fit."""
    scores = np.sort(fit.outlier_scores(X))
    return float(np.mean(scores[: max(len(scores) - int(fit.contamination * len(scores)), 1)]))
