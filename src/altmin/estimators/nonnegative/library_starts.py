"""Starts that scikit-learn computes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from altmin.engine import AnySource

_LIBRARY_ROWS = 10_000


def library_start(name: str, source: AnySource, n_components: int, seed: int | None) -> Any:
    """Centres of k-means, or components of NMF, of scikit-learn on some of the samples."""
    rows = source.require_replayable(f"init={name!r}")
    rng = np.random.default_rng(seed)
    ids = np.sort(rng.permutation(rows.n_rows)[:_LIBRARY_ROWS])
    table = rows.take(ids)
    X = table.X if table.weight is None else table.X[table.weight > 0]
    if name == "kmeans":
        from sklearn.cluster import KMeans

        return KMeans(n_components, n_init=1, random_state=seed).fit(X).cluster_centers_
    from sklearn.decomposition import NMF

    lowest = X.data.min(initial=0.0) if sp.issparse(X) else X.min(initial=0.0)
    if lowest < 0:
        raise ValueError(f"init='nmf': X has negative entries (smallest {lowest:.3g}); use init='spa'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a start need not have converged
        return NMF(n_components, init="nndsvda", max_iter=100, random_state=seed).fit(X).components_
