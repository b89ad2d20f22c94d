"""Shares of threes of atoms, counted over samples: a compiled loop."""

from __future__ import annotations

import numpy as np

from altmin.kernels.compiled import compiled


@compiled
def unlikely_threes(ones, i, both, fewest, likely, worth):  # type: ignore[no-untyped-def] # numba
    """Pairs with which atom i is there far more, or far less, often than with either one or without both.

    Parameters
    ----------
    ones : ndarray of float32 of shape (n_samples, m)
        1 where a sample uses an atom.
    i : int
        The atom.
    both : ndarray of shape (m, m)
        How many samples use two atoms.
    fewest : int
        Samples with two of them that say anything of a third one.
    likely : float
        By which a share has to be beyond those of the others.
    worth : float
        Standard deviations beyond that, from which on a pair is named.

    Returns
    -------
    pairs : ndarray of int of shape (n, 2)
        The second atom, and the third.
    facts : ndarray of shape (n, 4)
        Samples with all three, samples with the first two, the share that the third may have in those, and
        1 or -1 where that is its upper or its lower bound.
    """
    m, n = len(both), len(ones)
    mine = ones[ones[:, i] > 0]
    three = np.dot(mine.T, mine)
    pairs, facts, found = np.empty((2 * m * m, 2), np.intp), np.empty((2 * m * m, 4)), 0
    for j in range(m):
        on = three[j, j]
        if j == i or on < fewest:
            continue
        for k in range(m):
            if k in (i, j):
                continue
            seen = three[j, k]
            # with the first alone, with the second alone, without both
            first = (both[i, k] - seen + 1) / (both[i, i] - on + 2)
            second = (both[j, k] - seen + 1) / (both[j, j] - on + 2)
            neither = (both[k, k] - both[i, k] - both[j, k] + seen + 1) / (
                n - both[i, i] - both[j, j] + on + 2
            )
            high = min(max(first, second, neither) + likely, 1.0)
            low = max(min(first, second, neither) - likely, 0.0)
            for bound, side in ((high, 1.0), (low, -1.0)):
                beyond, variance = side * (seen - on * bound), max(on * bound * (1 - bound), 1e-12)
                if beyond > 0 and beyond * beyond > worth * worth * variance:
                    pairs[found, 0], pairs[found, 1] = j, k
                    facts[found, 0], facts[found, 1] = seen, on
                    facts[found, 2], facts[found, 3] = bound, side
                    found += 1
    return pairs[:found].copy(), facts[:found].copy()
