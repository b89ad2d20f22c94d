"""Which samples speak of uses, and whether three atoms keep together: what no pair of them shows.

Where two atoms occur together always with a third one, each pair may look independent: the third one is often
there without them. What made such samples may as well be mixtures of the three.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, ndtri

Array = NDArray[Any]
_FEWEST = 6  # samples with two atoms that say anything of a third one
_LIKELY, _WORTH = 0.1, 2.0  # shares that differ by less are no matter; deviations from which p is computed
_CHANCE = 0.8  # deviations beyond what the largest of so many is expected to be
_SILENT, _STEPS = 0.05, 100  # share of the samples; of a fixed point
_MOST = 64  # atoms of which all threes are looked at: those that are used most


def with_fewer_silent(used: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The samples, but of those that hold nothing no more than independent uses explain.

    Silence makes all atoms seem to come together. A few such samples too many are left, because atoms that do
    come together make them, too.

    Parameters
    ----------
    used : ndarray of bool of shape (n_samples, n_components)
        Which sample uses which atom.

    Returns
    -------
    ndarray of bool
        The same, or fewer rows.
    """
    count, n, kept, none = used.sum(axis=0), len(used), float(len(used)), 1.0
    silent = np.flatnonzero(~used.any(axis=1))
    for _ in range(_STEPS):
        share = np.minimum(count / max(kept, 1), 0.99)
        none = float(np.prod(1 - share))
        kept = n - len(silent) + min(none * kept, len(silent))
    surplus, slope = int(n - kept), none * (1 + float(np.sum(share / (1 - share))))
    chance = (
        4 * float(np.sqrt(none * (1 - none) * kept)) / max(1 - slope, 1e-9)
    )  # of rare atoms little is known
    return np.delete(used, silent[:surplus], axis=0) if surplus > max(_SILENT * n, chance) else used


def threes(used: NDArray[np.bool_]) -> Array:
    """Is an atom there with two others far more, or far less, often than with either one or without both?

    Parameters
    ----------
    used : ndarray of bool of shape (n_samples, n_components)
        Which sample uses which atom.

    Returns
    -------
    ndarray of shape (n_components,)
        Of the worst three that an atom is in: standard deviations beyond the nearest of those shares, over
        what the largest of so many is by chance.
    """
    n, k = used.shape
    worst = np.zeros(k)
    if k < 3:
        return worst
    most = np.argsort(-used.sum(axis=0), kind="stable")[:_MOST]
    ones = used[:, most].astype(np.float32)
    both = (ones.T @ ones).astype(np.float64)
    count, found = np.diag(both), np.zeros(len(most))
    for i in range(len(most)):
        mine = ones[ones[:, i] > 0]
        all_three = (mine.T @ mine).astype(np.float64)
        t = _beyond(all_three, both[i], both, count, float(count[i]), n)
        t[i, :] = t[:, i] = 0.0
        np.fill_diagonal(t, 0.0)
        found = np.maximum(found, np.maximum(t.max(axis=0), t.max(axis=1)))
        found[i] = max(found[i], t.max())
    several = max(k * (k - 1) * (k - 2), 2)
    worst[most] = found / (np.sqrt(2 * np.log(several)) + _CHANCE)
    return worst


def _beyond(three: Array, mine: Array, both: Array, count: Array, own: float, n: int) -> Array:
    """Of one atom with each second one (rows): how far the share of each third one (columns) is off."""
    m = np.diag(three)[:, None]
    parts = (  # the third one with the first alone, with the second alone, without both; and samples of each
        (mine[None, :] - three, own - m),
        (both - three, count[:, None] - m),
        (count[None, :] - mine[None, :] - both + three, n - own - count[:, None] + m),
    )
    shares = np.stack([(there + 1) / (samples + 2) for there, samples in parts])
    high = np.clip(shares.max(axis=0) + _LIKELY, 0.0, 1.0)
    low = np.clip(shares.min(axis=0) - _LIKELY, 0.0, 1.0)
    t = np.zeros(three.shape)
    for bound, side in ((high, 1.0), (low, -1.0)):
        spread = np.sqrt(np.maximum(m * bound * (1 - bound), 1e-12))
        i, j = np.nonzero((m >= _FEWEST) & (side * (three - m * bound) > _WORTH * spread))
        if len(i):
            seen, of, p = three[i, j], m[i, 0].astype(int), bound[i, j]
            tail = bdtrc(seen - 1, of, p) if side > 0 else bdtr(seen, of, p)
            t[i, j] = np.maximum(t[i, j], -ndtri(np.clip(tail, 1e-300, 0.5)))
    return t
