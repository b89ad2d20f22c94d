"""Frames with categorical columns, as one-hot columns; plain lists, so that a model file can hold them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from altmin.engine import AnySource, open_source
from altmin.estimators.base import Estimator


class OpensFrames(Estimator):
    """An estimator that one-hot encodes the categorical columns of a frame."""

    def _open_encoded(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> AnySource:
        """As ``_open``; a frame with categorical columns is one-hot encoded first."""
        if reset:
            self._categories: dict[str, list[str]] = learn_categories(X) if has_categories(X) else {}
            self.encoded_names_: list[str] = encoded_names(self._categories)
        if not getattr(self, "_categories", None):
            return self._open(X, y, sample_weight, reset=reset)
        if not hasattr(X, "columns"):
            raise ValueError("X: this model was fitted on a frame with categorical columns, and needs one")
        encoded = encode(X, self._categories)
        if reset:
            self.n_features_in_ = X.shape[1]
            self.feature_names_in_ = np.asarray([str(name) for name in X.columns], dtype=object)
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight, dtype=np.float64)
        return open_source(encoded, y, sample_weight)


def has_categories(X: Any) -> bool:
    """Whether X is a pandas or polars frame with a column that isn't numeric."""
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
        return False
    return any(not _numeric(X[name]) for name in X.columns)


def learn_categories(X: Any) -> dict[str, list[str]]:
    """Sorted values of each column that isn't numeric, as strings; an empty list for numeric ones."""
    return {str(name): [] if _numeric(X[name]) else sorted(set(_strings(X[name]))) for name in X.columns}


def encode(X: Any, categories: dict[str, list[str]]) -> Any:
    """Numeric columns as they are, others one-hot; values never seen have no column."""
    names = [str(name) for name in X.columns]
    if names != list(categories):
        raise ValueError(f"X has the columns {names}; {list(categories)} are expected, in this order")
    parts = []
    for name in X.columns:
        known = categories[str(name)]
        if not known:
            parts.append(sp.csr_array(np.asarray(X[name], dtype=np.float64)[:, None]))
            continue
        values = np.asarray(_strings(X[name]))
        place = np.minimum(np.searchsorted(known, values), len(known) - 1)
        found = np.asarray(known)[place] == values
        rows = np.flatnonzero(found)
        shape = (len(values), len(known))
        parts.append(sp.csr_array((np.ones(len(rows)), (rows, place[found])), shape=shape))
    return sp.hstack(parts, format="csr")


def encoded_names(categories: dict[str, list[str]]) -> list[str]:
    """Names of the columns that :func:`encode` makes."""
    return [
        label
        for name, known in categories.items()
        for label in ([name] if not known else [f"{name}={value}" for value in known])
    ]


def _strings(column: Any) -> list[str]:
    return [str(value) for value in np.asarray(column).tolist()]


def _numeric(column: Any) -> bool:
    kind = getattr(column.dtype, "kind", None)
    if kind is not None:
        return kind in "fiub"
    return bool(getattr(column.dtype, "is_numeric", lambda: False)())
