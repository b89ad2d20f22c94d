"""Which samples speak of uses, and whether three atoms keep together: what no pair of them shows.

Where two atoms occur together always with a third one, each pair may look independent: the third one is often
there without them. What made such samples may as well be mixtures of the three.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, ndtri

from altmin.kernels.threes import unlikely_threes

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
    k = used.shape[1]
    worst = np.zeros(k)
    if k < 3:
        return worst
    most = np.argsort(-used.sum(axis=0), kind="stable")[:_MOST]
    ones = used[:, most].astype(np.float32)
    both = (ones.T @ ones).astype(np.float64)
    found = np.zeros(len(most))
    for i in range(len(most)):
        pairs, facts = unlikely_threes(ones, i, both, _FEWEST, _LIKELY, _WORTH)
        seen, of, bound, side = facts.T
        tail = np.where(side > 0, bdtrc(seen - 1, of.astype(int), bound), bdtr(seen, of.astype(int), bound))
        t = -ndtri(np.clip(tail, 1e-300, 0.5))
        np.maximum.at(found, pairs, t[:, None])
        found[i] = max(found[i], t.max(initial=0.0))
    several = max(k * (k - 1) * (k - 2), 2)
    worst[most] = found / (np.sqrt(2 * np.log(several)) + _CHANCE)
    return worst
