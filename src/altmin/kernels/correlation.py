r"""Sums of squared correlations above a threshold, tile by tile.

The score of a candidate direction :math:`c` (any length, :math:`\hat c` its unit vector) over rows
:math:`v_i` with weights :math:`w_i` is

.. math:: s(c) = \sum_i w_i \langle \hat c, v_i \rangle^2 \,[\langle \hat c, v_i \rangle^2 \ge \theta].

Products come from BLAS, a tile that fits the cache at a time; the comparison and the sum are one
compiled pass over the tile while it is hot. NumPy's way makes four passes over an n x n array.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.compiled import compiled

_TILE = 256


def tie(threshold: Any, dtype: Any) -> Any:
    """The threshold less its rounding: what reaches it up to rounding has reached it."""
    return threshold * (1.0 - 32.0 * float(np.finfo(dtype).eps))


@compiled
def add_candidates(G, weights, limits, scores, counts):
    """Add rows' contributions to unit candidates: G (rows, candidates), one limit and one weight per row."""
    n, q = G.shape
    for i in range(n):
        w, limit = weights[i], limits[i]
        for c in range(q):
            g2 = G[i, c] * G[i, c]
            hit = g2 >= limit
            scores[c] += w * g2 if hit else 0.0
            counts[c] += 1.0 if hit else 0.0


@compiled
def add_symmetric(G, left_weights, right_weights, left_limits, right_limits, left, right):
    """Both sides of a tile of the Gram matrix: rows on the left score those on the right and back."""
    a, b = G.shape
    for i in range(a):
        w, limit = left_weights[i], left_limits[i]
        total = 0.0
        for j in range(b):
            g2 = G[i, j] * G[i, j]
            total += right_weights[j] * g2 if g2 >= limit else 0.0
            right[j] += w * g2 if g2 >= right_limits[j] else 0.0
        left[i] += total


@compiled
def add_changes(old, new, weights, limits, changed_weights, changed_limits, scores, changed_scores):
    """Rows that changed: take their old share out of every score and put the new one in.

    ``old`` and ``new`` are (rows, changed) products of all rows with the changed ones before and after;
    ``changed_scores`` collects the scores of the changed rows themselves from scratch.
    """
    n, r = new.shape
    for i in range(n):
        w, limit = weights[i], limits[i]
        total = 0.0
        for j in range(r):
            g2, o2 = new[i, j] * new[i, j], old[i, j] * old[i, j]
            total += changed_weights[j] * g2 if g2 >= limit else 0.0
            total -= changed_weights[j] * o2 if o2 >= limit else 0.0
            changed_scores[j] += w * g2 if g2 >= changed_limits[j] else 0.0
        scores[i] += total


def score_candidates(
    candidates: NDArray[Any], V: NDArray[Any], weights: NDArray[Any], limits: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Scores and numbers of rows above their limits, for unit candidates.

    Parameters
    ----------
    candidates : ndarray of shape (n_candidates, n_features)
        Unit rows.
    V : ndarray of shape (n_rows, n_features)
        The rows.
    weights, limits : ndarray of shape (n_rows,)
        Weight of a row's squared product, and the least squared product that counts.

    Returns
    -------
    scores, counts : ndarray of shape (n_candidates,)
        In float64.
    """
    scores, counts = np.zeros(len(candidates)), np.zeros(len(candidates))
    transposed = np.ascontiguousarray(candidates.T)
    rows = max(_TILE * _TILE // max(len(candidates), 1), 16)
    for low in range(0, len(V), rows):
        part = slice(low, low + rows)
        add_candidates(V[part] @ transposed, weights[part], limits[part], scores, counts)
    return scores, counts


class RowScores:
    """The score of every row as a candidate, exact, and kept exact while rows change.

    A full scan costs half of the n x n Gram matrix; after ``change`` only two products with the rows
    that changed are needed.

    Parameters
    ----------
    V : ndarray of shape (n_rows, n_features)
        The rows; copied.
    weights : ndarray of shape (n_rows,)
        Their weights.
    threshold : float
        Least squared product (with a unit candidate) that counts.
    """

    def __init__(self, V: NDArray[Any], weights: NDArray[Any], threshold: float) -> None:
        self.V = np.array(V, order="C")
        self.weights = np.ascontiguousarray(weights, dtype=np.float64)
        self.threshold = tie(threshold, V.dtype)
        self.norms2 = np.einsum("ij,ij->i", self.V, self.V, dtype=np.float64)
        self.raw = np.zeros(len(V))
        self._scan()

    def scores(self) -> NDArray[Any]:
        """Scores of the rows as unit candidates; 0 for a row of zeros."""
        return np.divide(self.raw, self.norms2, out=np.zeros_like(self.raw), where=self.norms2 > 0)

    def change(self, rows: NDArray[np.intp], new: NDArray[Any]) -> None:
        """Replace some rows and bring all scores up to date."""
        old = self.V[rows]
        self.V[rows] = new
        self.norms2[rows] = np.einsum("ij,ij->i", new, new, dtype=np.float64)
        fresh = np.zeros(len(rows))
        limits = self.threshold * self.norms2
        old_T, new_T = np.ascontiguousarray(old.T), np.ascontiguousarray(new.T)
        tile = max(_TILE * _TILE // max(len(rows), 1), 16)
        for low in range(0, len(self.V), tile):
            part = slice(low, low + tile)
            add_changes(
                self.V[part] @ old_T,
                self.V[part] @ new_T,
                self.weights[part],
                limits[part],
                self.weights[rows],
                limits[rows],
                self.raw[part],
                fresh,
            )
        self.raw[rows] = fresh

    def _scan(self) -> None:
        limits = self.threshold * self.norms2
        starts = range(0, len(self.V), _TILE)
        for low in starts:
            a = slice(low, low + _TILE)
            for high in starts[low // _TILE :]:
                b = slice(high, high + _TILE)
                right = self.raw[b] if high > low else np.zeros(len(self.raw[b]))
                add_symmetric(
                    self.V[a] @ self.V[b].T,
                    self.weights[a],
                    self.weights[b],
                    limits[a],
                    limits[b],
                    self.raw[a],
                    right,
                )
