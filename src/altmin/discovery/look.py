"""What can be seen at once in a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Look:
    """Facts about a table that decide what can be in it.

    Parameters
    ----------
    n_rows, n_features : int
        Its size.
    negative : float
        Share of the squared size that sits in negative entries.
    counts : bool
        Whether the entries are whole numbers, none negative, and some above 1.
    zeros : float
        Share of entries that are exactly 0.
    copies : int
        Rows that are copies of another row.
    constant : int
        Columns with one value only.
    scales : float
        Largest spread of a column over the smallest of those that vary.
    """

    n_rows: int
    n_features: int
    negative: float
    counts: bool
    zeros: float
    copies: int
    constant: int
    scales: float

    @property
    def notes(self) -> list[str]:
        """What a person should know of the table, in whole sentences; empty where nothing is unusual."""
        found = []
        if self.counts:
            found.append("The entries are counts.")
        if self.copies:
            rows = "row is a copy of another" if self.copies == 1 else "rows are copies of others"
            found.append(f"{self.copies} {rows}; copies count as one observation.")
        if self.constant:
            found.append(
                f"Columns with one value only ({self.constant} of {self.n_features}) say nothing of how rows "
                "are made; in a table in memory they count as 0."
            )
        if self.scales > 1e3:
            found.append(
                f"The spreads of the columns differ by a factor of {self.scales:,.0f}: large columns decide "
                "what is found. Divide each column by its spread if their units have no common meaning."
            )
        return found


def are_categories(table: NDArray[Any]) -> bool:
    """Whether half of the columns that vary, or more, have two values only: yes or no, and no amounts."""
    low, high = table.min(axis=0), table.max(axis=0)
    two = ((table == low) | (table == high)).all(axis=0)
    return bool(2 * np.sum(two & (low < high)) >= np.sum(low < high))


def look_at(table: NDArray[Any]) -> Look:
    """Look at a table of numbers without holes.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_features)
        The rows.

    Returns
    -------
    Look
        What was seen.
    """
    size = float(np.sum(table**2))
    whole = bool(np.all((table >= 0) & (table == np.round(table)))) and bool(table.max() > 1)
    spread = table.std(axis=0)
    varying = spread[spread > 1e-12 * max(float(np.abs(table).max()), 1e-300)]
    return Look(
        n_rows=table.shape[0],
        n_features=table.shape[1],
        negative=float(np.sum(np.minimum(table, 0) ** 2)) / size if size else 0.0,
        counts=whole,
        zeros=float(np.mean(table == 0)),
        copies=len(table) - len(np.unique(table @ np.sqrt(1.0 + np.arange(table.shape[1])))),
        constant=table.shape[1] - len(varying),
        scales=float(varying.max() / varying.min()) if len(varying) else 1.0,
    )
