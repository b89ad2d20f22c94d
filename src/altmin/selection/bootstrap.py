"""How far each component spreads when the samples change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from altmin.selection.alignment import align_components
from altmin.selection.rows import n_rows, quiet_fit, take_rows


@dataclass(frozen=True)
class Bootstrap:
    """Components of fits to resampled data, each aligned with the fit to all of them.

    Parameters
    ----------
    components : ndarray of shape (n_components, n_features)
        The fit to all samples.
    samples : ndarray of shape (n_resamples, n_components, n_features)
        Those of the resampled fits, of unit norm.
    angles : ndarray of shape (n_resamples, n_components)
        Between them, in radians.
    """

    components: NDArray[Any]
    samples: NDArray[Any]
    angles: NDArray[Any]

    @property
    def spread(self) -> NDArray[Any]:
        """Standard deviation of each entry of each component."""
        return self.samples.std(axis=0)

    def angle(self, level: float = 0.9) -> NDArray[Any]:
        """The angle that a share ``level`` of the fits stays within, for each component."""
        return np.quantile(self.angles, level, axis=0)

    def interval(self, level: float = 0.9) -> tuple[NDArray[Any], NDArray[Any]]:
        """Lower and upper bounds of each entry, by quantiles."""
        tail = (1 - level) / 2
        low, high = np.quantile(self.samples, [tail, 1 - tail], axis=0)
        return low, high


def bootstrap_components(
    estimator: Any, X: Any, *, n_resamples: int = 20, random_state: Any = 0
) -> Bootstrap:
    r"""Fit again to samples drawn with replacement, and see how far each component moves.

    .. math:: \theta_i^{(b)} = \angle\big(a_i(X), a_{\pi(i)}(X^{(b)})\big), \qquad
       X^{(b)} \text{ drawn from } X \text{ with replacement}

    A component that the data hardly fix moves by a large angle. The bootstrap sees sampling error alone: a
    model that doesn't fit can be stable and wrong, for which ``guarantee_`` looks.

    Parameters
    ----------
    estimator : estimator
        With ``components_`` after ``fit``; cloned.
    X : array-like or sparse of shape (n_samples, n_features)
        The data.
    n_resamples : int
        Fits.
    random_state : int or Generator
        Seed of the draws.

    Returns
    -------
    Bootstrap
        Aligned components and their angles to the fit to all samples.

    Notes
    -----
    **Guarantee.** None for a given number of samples; it shows sampling error and nothing else.

    **Cost.** n_resamples + 1 fits.

    References
    ----------
    B. Efron, Bootstrap methods: another look at the jackknife, Annals of Statistics 1979.

    Examples
    --------
    >>> from altmin import AND, bootstrap_components
    >>> from altmin.datasets import make_dir
    >>> X = make_dir(400, 30, 3, concentration=1.0, random_state=0).X
    >>> bool(bootstrap_components(AND(3), X, n_resamples=3).angles.max() < 1e-3)
    True
    """
    if n_resamples < 2:
        raise ValueError(f"n_resamples={n_resamples}: a spread needs at least 2")
    rng = np.random.default_rng(random_state)
    whole = _unit(quiet_fit(clone(estimator), X).components_)
    samples, angles = [], []
    for _ in range(n_resamples):
        rows = np.sort(rng.integers(0, n_rows(X), n_rows(X)))
        found = align_components(quiet_fit(clone(estimator), take_rows(X, rows)), whole)
        samples.append(_unit(found.components))
        angles.append(found.angles)
    return Bootstrap(whole, np.array(samples), np.array(angles))


def _unit(components: Any) -> NDArray[Any]:
    norms = np.linalg.norm(components, axis=1, keepdims=True)
    return np.asarray(components / np.where(norms > 0, norms, 1.0))
