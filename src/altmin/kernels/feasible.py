"""Moves between factorizations that explain the same data: C S = (C T^-1)(T S), within bounds.

A *row move* adds multiples of the other spectra to spectrum k, and takes the same multiples of contribution k
from the other contributions; a *column move* adds multiples of spectrum k to the others. Along either, all
that is bounded is linear in the step, so the feasible steps are an interval that ratios give exactly.
"""

from __future__ import annotations

import numpy as np

from altmin.kernels.compiled import compiled

_LEAST = 0.05  # a spectrum keeps at least this share of its size in one move: T stays invertible


@compiled
def above(a, e, slack, ends):  # type: ignore[no-untyped-def] # numba
    """Narrow ``ends`` to the steps t at which a + t e >= -slack everywhere (0 stays allowed)."""
    for i in range(a.shape[0]):
        room = max(a[i] + slack, 0.0)
        if e[i] < 0.0:
            ends[1] = min(ends[1], -room / e[i])
        elif e[i] > 0.0:
            ends[0] = max(ends[0], -room / e[i])


@compiled
def profile_room(c, e, slack, absent, unimodal, runs, ends):  # type: ignore[no-untyped-def] # numba
    """Narrow ``ends`` to the steps at which a contribution c + t e keeps all that is asked of it."""
    above(c, e, slack, ends)
    n = c.shape[0]
    for i in range(n):
        if absent[i] and e[i] != 0.0:
            room = max(slack - c[i], 0.0)
            if e[i] > 0.0:
                ends[1] = min(ends[1], room / e[i])
            else:
                ends[0] = max(ends[0], room / e[i])
    if unimodal:
        for run in range(runs.shape[0] - 1):
            peak = runs[run]
            for i in range(runs[run], runs[run + 1]):
                if c[i] > c[peak]:
                    peak = i
            for i in range(runs[run] + 1, runs[run + 1]):
                sign = 1.0 if i <= peak else -1.0
                rise = sign * (c[i] - c[i - 1])
                change = sign * (e[i] - e[i - 1])
                room = max(rise + 1.5 * slack, 0.0)
                if change < 0.0:
                    ends[1] = min(ends[1], -room / change)
                elif change > 0.0:
                    ends[0] = max(ends[0], -room / change)


@compiled
def slacks(C, S, sigma, z, of_profiles, of_spectra):  # type: ignore[no-untyped-def] # numba
    """How far below 0 noise of this size takes entries of profiles and spectra whose truth is 0."""
    K = S.shape[0]
    G, H = S @ S.T, C.T @ C
    for k in range(K):
        G[k, k] *= 1.0 + 1e-10
        H[k, k] *= 1.0 + 1e-10
    G, H = np.linalg.inv(G), np.linalg.inv(H)
    for k in range(K):
        of_profiles[k] = z * sigma * np.sqrt(max(G[k, k], 0.0))
        of_spectra[k] = z * sigma * np.sqrt(max(H[k, k], 0.0))


@compiled
def wander(C, S, T, noise, limits, asked, goal, chances, directions, bounds):  # type: ignore[no-untyped-def] # numba
    """Random moves in place, each to the end of its interval that serves the goal; bounds widen as it goes.

    Parameters
    ----------
    C, S, T : arrays of shapes (n, K), (K, W), (K, K)
        Contributions, spectra, and the spectra in terms of those at the start.
    noise : (float, float, float)
        Its size, how many of it entries may be below 0, the norm of the data.
    limits : array of shape (4, K)
        Least slack of contributions and of spectra, so that the start is feasible, and the most, as the noise
        of spectra that are nearly alike would allow anything.
    asked : tuple
        Absent entries, unimodal components, beginnings of the runs, known spectra.
    goal : (int, int, int)
        Component, other, sign: the share of spectrum ``other`` in this one, or, where other is the component
        itself, the size of what it contributes; sign 1 is the largest, -1 the smallest.
    chances, directions : arrays of shapes (n_moves, 5) and (n_moves, K)
        Uniform and normal random numbers.
    bounds : tuple of arrays
        Lowest and highest contributions, spectra, and sizes of what components contribute, so far.
    """
    n, K = C.shape
    k0, known = goal[0], asked[3]
    loose, tight, ends = np.empty(K), np.empty(K), np.empty(2)
    change = np.zeros((K, n))
    for move in range(len(chances)):
        chance, d = chances[move], directions[move]
        if move % 10 == 0:
            slacks(C, S, noise[0], noise[1], loose, tight)
            loose = np.minimum(np.maximum(loose, limits[0]), limits[2])
            tight = np.minimum(np.maximum(tight, limits[1]), limits[3])
        k = k0 if chance[0] < 0.5 else int(chance[1] * K)
        row = chance[2] < 0.5
        single = int(2 * K * chance[3])  # half of the moves change one pair
        for i in range(K):
            if i == k or (single < K and i != single) or (not row and known[i]):
                d[i] = 0.0
        if (row and known[k]) or not d.any():
            continue
        _interval(C, S, k, d, row, loose, tight, asked, change, ends)
        step = _step(C, S, T, goal, k, d, row, ends, chance[4])
        if step == 0.0:
            continue
        before = C.copy(), S.copy(), T.copy()
        _apply(C, S, T, k, d, step, row)
        if not _fits(C, S, noise[2]):
            C[:], S[:], T[:] = before
            continue
        _widen(C, bounds[0], bounds[1])
        _widen(S, bounds[2], bounds[3])
        size = np.sqrt(np.sum(C[:, k0] ** 2) * np.sum(S[k0] ** 2))
        bounds[4][0, k0], bounds[4][1, k0] = min(bounds[4][0, k0], size), max(bounds[4][1, k0], size)


@compiled
def _interval(C, S, k, d, row, loose, tight, asked, change, ends):  # type: ignore[no-untyped-def] # numba
    """The feasible steps of a move."""
    absent, unimodal, runs, _ = asked
    K = S.shape[0]
    ends[0], ends[1] = -1e6, 1e6
    change[:] = 0.0
    if row:
        g, total = np.zeros(S.shape[1]), d.sum()
        for i in range(K):
            if d[i] != 0.0:
                g += d[i] * S[i]
                change[i] = -d[i] * C[:, k]
                profile_room(C[:, i], change[i], loose[i], absent[:, i], unimodal[i], runs, ends)
        above(S[k], g + tight[k] * total, tight[k], ends)
        _keep_size(total, ends)
    else:
        for i in range(K):
            if d[i] != 0.0:
                change[k] -= d[i] * C[:, i]
                above(S[i], d[i] * (S[k] + tight[i]), tight[i], ends)
                _keep_size(d[i], ends)
        profile_room(C[:, k], change[k], loose[k], absent[:, k], unimodal[k], runs, ends)
    ends[0], ends[1] = min(0.999 * ends[0], 0.0), max(0.999 * ends[1], 0.0)


@compiled
def _step(C, S, T, goal, k, d, row, ends, chance):  # type: ignore[no-untyped-def] # numba
    """To the better end; where neither is better, a little of the way, so that other moves find room."""
    k0, other, sign = goal
    here = sign * _score(C, S, T, k0, other, k, d, 0.0, row)
    below = sign * _score(C, S, T, k0, other, k, d, ends[0], row)
    beyond = sign * _score(C, S, T, k0, other, k, d, ends[1], row)
    if max(below, beyond) > here:
        return ends[0] if below > beyond else ends[1]
    return 0.0 if k == k0 else 0.1 * (ends[0] + chance * (ends[1] - ends[0]))


@compiled
def _fits(C, S, total):  # type: ignore[no-untyped-def] # numba
    """Whether no component is larger than the data: parts that aren't negative can't exceed the whole."""
    largest = 0.0
    for k in range(S.shape[0]):
        largest = max(largest, np.sum(C[:, k] ** 2) * np.sum(S[k] ** 2))
    return largest <= 1.02 * total**2


@compiled
def _widen(values, low, high):  # type: ignore[no-untyped-def] # numba
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            low[i, j] = min(low[i, j], values[i, j])
            high[i, j] = max(high[i, j], values[i, j])


@compiled
def _keep_size(total, ends):  # type: ignore[no-untyped-def] # numba
    if total > 0.0:
        ends[0] = max(ends[0], (_LEAST - 1.0) / total)
    elif total < 0.0:
        ends[1] = min(ends[1], (_LEAST - 1.0) / total)


@compiled
def _apply(C, S, T, k, d, step, row):  # type: ignore[no-untyped-def] # numba
    """The move; spectra keep their sums (or, with closure, contributions theirs)."""
    K = S.shape[0]
    if row:
        size = 1.0 + step * d.sum()
        for i in range(K):
            if d[i] != 0.0:
                S[k] += step * d[i] * S[i]
                T[k] += step * d[i] * T[i]
                C[:, i] -= step * d[i] * C[:, k]
        S[k] /= size
        T[k] /= size
        C[:, k] *= size
    else:
        for i in range(K):
            if d[i] != 0.0:
                C[:, k] -= step * d[i] * C[:, i]
        for i in range(K):
            if d[i] != 0.0:
                size = 1.0 + step * d[i]
                S[i] = (S[i] + step * d[i] * S[k]) / size
                T[i] = (T[i] + step * d[i] * T[k]) / size
                C[:, i] *= size


@compiled
def _score(C, S, T, k0, other, k, d, step, row):  # type: ignore[no-untyped-def] # numba
    """The goal after a move, without making it."""
    K = S.shape[0]
    size = 1.0
    if row and k == k0:
        size = 1.0 + step * d.sum()
    elif not row and k != k0:
        size = 1.0 + step * d[k0]
    if other != k0:  # share of another spectrum: linear in T
        t = T[k0, other]
        if row and k == k0:
            for i in range(K):
                t += step * d[i] * T[i, other]
        elif not row and k != k0:
            t += step * d[k0] * T[k, other]
        return t / size
    c, s = C[:, k0].copy(), S[k0].copy()
    if row and k == k0:
        for i in range(K):
            s += step * d[i] * S[i]
    elif row:
        c -= step * d[k0] * C[:, k]
    elif k == k0:
        for i in range(K):
            c -= step * d[i] * C[:, i]
    else:
        s += step * d[k0] * S[k]
    return np.sqrt(np.sum(c * c) * np.sum(s * s))
