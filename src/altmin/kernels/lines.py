"""Pairs of codes that lie on an oblique line more often than chance: compiled loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.kernels.compiled import compiled

_FEW = 4  # a window with fewer is none, whatever the shuffles give
_CELLS = 1 << 14  # of angles that are counted together, at most
_NARROW, _NEVER = 0.1, 1e-5  # angles expected in a window without noise; windows by chance, that aren't


@compiled
def _fullest(angles: NDArray[Any], window: float) -> int:
    """Most angles (modulo pi, within a range of pi) in any window of this width."""
    a = np.sort(angles)
    n, best, end = len(a), 0, 0
    for begin in range(n):
        while end < begin + n:
            angle = a[end] if end < n else a[end - n] + np.pi
            if angle - a[begin] > window:
                break
            end += 1
        best = max(best, end - begin)
    return best


@compiled
def _may_crowd(angles: NDArray[Any], window: float, cells: NDArray[Any]) -> bool:
    """Whether some window may hold a few angles; counted in cells of its width, without sorting them."""
    n_cells = min(int(np.pi / window), len(cells)) if window > 0.0 else len(cells)
    if n_cells < 3 * _FEW:
        return True
    crowded = False
    for angle in angles:
        place = int((angle / np.pi + 0.5) * n_cells) % n_cells
        cells[place] += 1
        beside = max(cells[(place + n_cells - 1) % n_cells], cells[(place + 1) % n_cells])
        crowded |= cells[place] + beside >= _FEW
    for angle in angles:
        cells[int((angle / np.pi + 0.5) * n_cells) % n_cells] = 0
    return crowded


@compiled
def _most_by_chance(m: int, window: float, null: int) -> float:
    """What the fullest of all windows may hold: the shuffles' count and deviations, or what is ever expected.

    Windows as narrow as rounding are empty but for codes of few sizes, which shuffles show: there a handful
    of angles is no chance. Angles are crowded by a factor of three at most.
    """
    loose = null + 4.0 * np.sqrt(null + 1.0) + 2.0
    expected = 3.0 * m * window / np.pi
    if expected > _NARROW:
        return loose
    count, windows = 1, float(m)
    while windows > _NEVER or count < _FEW:
        windows *= expected / count
        count += 1
    return loose if null >= _FEW else min(loose, count - 0.5)


@compiled
def crowded_lines(Z: NDArray[Any], windows: NDArray[Any], most: int) -> NDArray[Any]:
    """For each column, how many more rows share an angle with another one than chance explains.

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
    ndarray of shape (n_components,)
        Of the worst pair the fullest window's count over what it may be: the largest of four shuffles, and
        four deviations, or what exact codes of many sizes ever give; 0 where it holds fewer than four. Above
        1 a combination of the two atoms is sparser than the atoms themselves.
    """
    columns = np.ascontiguousarray(Z.T)
    k = len(columns)
    found = np.zeros(k)
    first, second, cells = np.empty(most), np.empty(most), np.zeros(_CELLS, np.int32)
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
            window = windows[i] + windows[j]
            angles = np.arctan(second[:m] / first[:m])
            if m < _FEW or not _may_crowd(angles, window, cells):
                continue
            seen = _fullest(angles, window)
            if seen < _FEW:
                continue
            null, least = 1, min(found[i], found[j])  # every angle is in a window of its own
            for shift in range(1, 5):
                if seen <= least * _most_by_chance(m, window, null):  # another pair is worse, for both
                    break
                step = (shift * m) // 5
                moved = np.concatenate((first[step:m], first[:step]))
                null = max(null, _fullest(np.arctan(second[:m] / moved), window))
            crowded = seen / _most_by_chance(m, window, null)
            found[i], found[j] = max(found[i], crowded), max(found[j], crowded)
    return found
