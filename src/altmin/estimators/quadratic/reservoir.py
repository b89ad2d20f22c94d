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

    @classmethod
    def of(cls, rows: Any, seed: int) -> Reservoir:
        """The first rows."""
        return cls(rows.X[:0], rows.y[:0], None if rows.weight is None else rows.weight[:0], 0, seed).more(
            rows
        )

    def more(self, rows: Any) -> Reservoir:
        """With more rows: those that were drawn replace others at random (reservoir sampling)."""
        n, room = rows.X.shape[0], max(ROWS - len(self.y), 0)
        numbers = self.n_seen + np.arange(n)
        rng = np.random.default_rng([self.seed, self.n_seen])
        drawn = rng.integers(numbers + 1)
        replacing = np.flatnonzero((np.arange(n) >= room) & (drawn < ROWS))
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
        return Reservoir(X, np.concatenate([self.y, rows.y])[places], weight, self.n_seen + n, self.seed)

    def source(self) -> Source:
        """As a table."""
        return open_source(self.X, self.y, self.weight).require_replayable("the sample")
