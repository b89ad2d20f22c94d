"""A fair sample of a stream of labelled rows, of bounded size."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from altmin.contract import record
from altmin.engine import Source, open_source

ROWS = 20_000  # at most


@record
class Reservoir:
    """A fair sample of all rows so far: each has the same chance to be in it."""

    X: Any
    y: Any
    weight: Any
    n_seen: int
    seed: int
    size: int

    @classmethod
    def of(cls, rows: Any, seed: int, size: int | None = None) -> Reservoir:
        """The first rows."""
        weight = None if rows.weight is None else rows.weight[:0]
        return cls(rows.X[:0], rows.y[:0], weight, 0, seed, ROWS if size is None else size).more(rows)

    def more(self, rows: Any) -> Reservoir:
        """With more rows: those that were drawn replace others at random (reservoir sampling)."""
        n, room = rows.X.shape[0], max(self.size - len(self.y), 0)
        numbers = self.n_seen + np.arange(n)
        rng = np.random.default_rng([self.seed, self.n_seen])
        drawn = rng.integers(numbers + 1)
        replacing = np.flatnonzero((np.arange(n) >= room) & (drawn < self.size))
        places = np.concatenate([np.arange(len(self.y)), len(self.y) + np.arange(min(room, n))])
        new = len(self.y) + replacing
        places[drawn[replacing]] = new  # a later row wins over an earlier one
        weight = None
        if self.weight is not None and rows.weight is not None:
            weight = np.concatenate([self.weight, rows.weight])[places]
        if sp.issparse(rows.X):
            X = sp.vstack([self.X, rows.X], format="csr")[places]
        else:
            X = np.concatenate([self.X, rows.X])[places]
        y = np.concatenate([self.y, rows.y])[places]
        return Reservoir(X, y, weight, self.n_seen + n, self.seed, self.size)

    @property
    def complete(self) -> bool:
        """Whether all rows so far are in it."""
        return self.n_seen <= len(self.y)

    def source(self) -> Source:
        """As a table."""
        return open_source(self.X, self.y, self.weight).require_replayable("the sample")
