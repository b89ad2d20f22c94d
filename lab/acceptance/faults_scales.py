"""Scales from the smallest to the largest normal numbers: the same factors, or a sentence that refuses."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from harness import Figure, promise

import altmin
from altmin.datasets import make_dir, make_quadratic, make_sparse_dictionary
from altmin.engine import SourceError

TOPICS = make_dir(300, 10, 3, random_state=1).X
SPARSE = make_sparse_dictionary(600, 5, density=0.3, random_state=1).X
LAW = make_quadratic(600, 5, 1, random_state=1)
SIGNAL = np.square(LAW.X @ np.arange(1.0, 6.0))
LABEL = LAW.y > np.median(LAW.y)
DECADES = {
    "f8": (-300, -200, -155, -100, -20, 20, 100, 155, 200, 300),
    "f4": (-37, -25, -14, -8, 8, 14, 25, 37),
}

FITS: dict[str, tuple[Callable[[], Any], Any, Any]] = {
    "AND": (lambda: altmin.AND(3, random_state=0, max_iter=20), TOPICS, None),
    "orthogonal": (lambda: altmin.OrthogonalDictionaryLearning(max_iter=20, random_state=0), SPARSE, None),
    "complete": (lambda: altmin.CompleteDictionaryLearning(random_state=0), SPARSE, None),
    "online": (
        lambda: altmin.OnlineDictionaryLearning(batch_size=100, start_size=300, random_state=0), SPARSE, None,
    ),
    "approximate": (
        lambda: altmin.ApproximateDictionaryLearning(8, n_nonzero_coefs=2, max_iter=3, random_state=0),
        SPARSE[:300], None,
    ),
    "regressor": (
        lambda: altmin.FactorizationMachineRegressor(1, random_state=0, max_iter=20), LAW.X, LAW.y,
    ),
    "classifier": (
        lambda: altmin.FactorizationMachineClassifier(1, random_state=0, max_iter=20), LAW.X, LABEL,
    ),
    "sensing": (lambda: altmin.RankOneSensing(1, random_state=0, max_iter=20), LAW.X, SIGNAL),
    "phase": (lambda: altmin.PhaseRetrieval(random_state=0, max_iter=40), LAW.X, SIGNAL),
}  # fmt: skip


def _found(make: Callable[[], Any], X: Any, y: Any) -> Any:
    """Unit components, or predictions: what the scale of X must not change."""
    model = make().fit(X) if y is None else make().fit(X, y)
    if y is None:
        return model.components_ / np.linalg.norm(model.components_, axis=1, keepdims=True)
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


@promise
def scales_change_nothing_or_are_refused() -> Iterator[Figure]:
    """1e-300 .. 1e300 in float64, 1e-37 .. 1e37 in float32, each family: to 100 eps, or refused."""
    warnings.simplefilter("ignore")
    for name, (make, X, y) in FITS.items():
        for dtype, decades in DECADES.items():
            rows, target = X.astype(dtype), y if y is None or y.dtype == bool else y.astype(dtype)
            wanted = _found(make, rows, target)
            worst, refused = 0.0, []
            for decade in decades:
                with np.errstate(all="ignore"):
                    scaled = np.ldexp(rows, int(np.floor(decade * np.log2(10))))
                try:
                    found = _found(make, scaled, target)
                except SourceError:
                    refused.append(decade)
                    continue
                error = float(np.abs(found - wanted).max() / np.abs(wanted).max())
                worst = max(worst, error if np.isfinite(error) else np.inf)
            told = f"{name}, {dtype}: largest error over eps (refused: {refused or 'none'})"
            yield Figure(told, worst / float(np.finfo(dtype).eps), at_most=100)
