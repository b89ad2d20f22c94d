"""Disjoint halves of the samples, for reports that compare fits on them."""

from __future__ import annotations

import numpy as np

from altmin.engine import Source
from altmin.kernels.gram import row_norms2
from altmin.kernels.masked import observed


def apart_halves(source: Source) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers of two halves; near copies of a sample fall into the same one.

    Samples are sorted into narrow cells by a random projection of their directions, and the cells are
    dealt out.
    """
    rng = np.random.default_rng(0)
    probe = rng.standard_normal(source.info.n_features)
    scores = np.empty(source.n_rows)
    for low in range(0, source.n_rows, 4096):
        X = source.read(low, min(low + 4096, source.n_rows)).X
        X = observed(X)[0]
        norms = np.sqrt(row_norms2(X))
        scores[low : low + X.shape[0]] = (X @ probe) / np.where(norms > 0, norms, 1.0)
    spread = np.std(scores)
    cells = np.round(scores / (spread if spread > 0 else 1.0) * 50).astype(np.int64)
    _, cells = np.unique(cells, return_inverse=True)
    side = rng.permutation(cells.max() + 1) % 2
    return np.flatnonzero(side[cells] == 0), np.flatnonzero(side[cells] == 1)
