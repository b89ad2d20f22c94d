"""Doubts of all sorts together: what isn't made of these atoms leaves a little in several tests at once.

With much noise a data set of another model can pass each test. Each number is held against what one right
fit in fifty has (measured on fits of 3 to 100 atoms with noise of 15 to 40 dB), and the fourth powers are
added up. One alone never objects, as each has a test of its own; two or more that are unusually large do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.guarantees.dictionary_atoms import AtomFacts

Array = NDArray[Any]
_LINE, _SECOND, _RELATED, _CURVED, _TIED, _MULTIPLIED = 0.75, 0.9, 0.72, 2.5, 3.0, 0.88
_ALL_SECOND = 0.7  # in the mean of all atoms
_FOLLOWS, _BENDS = 0.8, 0.8
_UNEVEN, _DENSE = 3.8, 0.0015  # standard deviations of the spread of counts; share of dense samples
_TOGETHER, _LEAST = 1.8, 0.12  # deviations beyond the largest of so many; a correlation that is none
_ALONE = 2.6  # of the sum, at most
_DRIFT = (2.0, 6.0)  # standard deviations of a mean square: what is usual, and what the test allows


def doubts(a: AtomFacts, related: Array, n_features: int) -> Array:
    """Sums of the fourth powers: what tells of one atom, and what tells of all.

    Parameters
    ----------
    a : AtomFacts
        What samples say.
    related : ndarray of shape (n_components,)
        How far each atom's codes and another one's depend on each other, over its bound.
    n_features : int
        Of the samples.

    Returns
    -------
    ndarray of shape (n_components,)
        Where there is noise: about 1 for the worst of a few atoms that are right, 2 for that of many.
    """
    k, n = len(a.theta), max(a.n_samples, 1)
    largest = np.sqrt(2 * np.log(max(k * (k - 1) / 2, 1.0))) + _TOGETHER
    spread = np.sqrt(2 / (k * max(n_features - 1, 1)))
    usual, allowed = (1 + some * spread for some in _DRIFT)
    of_all = (
        a.curved / _CURVED,
        a.lean / np.sqrt(2 * np.log(2 * n_features)),
        max(a.tied, 0.0) / _TIED,
        a.multiplied / _MULTIPLIED,
        float(np.mean(np.nan_to_num(a.second))) / _ALL_SECOND,
        a.all_follow / _FOLLOWS,
        a.bends / _BENDS,
        max(a.spread - 1, 0.0) / (_UNEVEN * np.sqrt(2 / n)),
        a.dense / _DENSE,
    )
    of_each = (
        np.maximum(a.together, 0.0) / max(largest / np.sqrt(n), _LEAST),
        a.line / _LINE,
        related / _RELATED,
        a.second / _SECOND,
        a.drift * allowed / usual,
    )
    common = np.nansum(_powers(np.array(of_all)))  # what isn't known of all has a test that says so
    return np.asarray(common + np.sum([_powers(part * np.ones(k)) for part in of_each], axis=0))


def _powers(found: Array) -> Array:
    return np.minimum(found**4, _ALONE)
