"""Pairs of codes that lie on an oblique line more often than chance: compiled loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.compiled import compiled

_FEW = 4  # a window with fewer is none, whatever the shuffles give


@compiled
def _fullest(angles: NDArray[Any], window: float) -> int:
    """Most angles (modulo pi) in any window of this width."""
    a = np.sort(angles)
    n, best, end = len(a), 0, 0
    for begin in range(n):
        while end < begin + n and (a[end % n] + (np.pi if end >= n else 0.0)) - a[begin] <= window:
            end += 1
        best = max(best, end - begin)
    return best


@compiled
def crowded_lines(Z: NDArray[Any], windows: NDArray[Any], most: int) -> NDArray[Any]:
    """For each pair of columns, how many more rows share an angle than chance explains.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_components)
        Codes in units of their size, 0 where an atom is off.
    windows : ndarray of shape (n_components,)
        Width of an angle, of each column; those of a pair are added.
    most : int
        Rows with both on that are looked at, at most.

    Returns
    -------
    ndarray of shape (n_components, n_components)
        The fullest window's count over what it may be: the largest of four shuffles, and four deviations.
        Above 1 a combination of the two atoms is sparser than the atoms themselves.
    """
    columns = np.ascontiguousarray(Z.T)
    k = len(columns)
    found = np.zeros((k, k))
    first, second = np.empty(most), np.empty(most)
    for i in range(k):
        used = np.flatnonzero(columns[i])
        for j in range(i):
            m = 0
            for row in used:
                if columns[j, row] != 0.0:
                    first[m], second[m] = columns[i, row], columns[j, row]
                    m += 1
                    if m == most:
                        break
            if m < 4:
                continue
            window = windows[i] + windows[j]
            seen = _fullest(np.arctan2(second[:m], first[:m]) % np.pi, window)
            null = 1  # every angle is in a window of its own
            for shift in range(1, 5 if seen >= _FEW else 1):
                step = (shift * m) // 5
                moved = np.concatenate((first[step:m], first[:step]))
                null = max(null, _fullest(np.arctan2(second[:m], moved) % np.pi, window))
            found[i, j] = found[j, i] = seen / (null + 4.0 * np.sqrt(null + 1.0) + 2.0)
    return found
