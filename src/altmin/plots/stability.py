"""Stability: does another half of the data give the same components?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state

from altmin.docstrings import fill_class, fill_function
from altmin.metrics import match_components
from altmin.plots._panels import fitted, one_axes


@fill_class
class StabilityDisplay:
    """Each component's likeness to its partner in refits on random halves of the data.

    Parameters
    ----------
    similarities : array-like of shape (n_fits, n_components)
        Magnitude of the cosine between a component and its partner: 1 is the same direction.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
        After :meth:`plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.plots import StabilityDisplay
    >>> StabilityDisplay(np.array([[1.0, 0.4], [1.0, 0.6]])).unstable(0.9).tolist()
    [1]
    """

    def __init__(self, similarities: ArrayLike) -> None:
        self.similarities = np.asarray(similarities, dtype=np.float64)
        if self.similarities.ndim != 2:
            raise ValueError(f"similarities has shape {self.similarities.shape}; one row per refit is needed")

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, n_fits: int = 4, random_state: Any = None, ax: Any = None
    ) -> StabilityDisplay:
        """Refit a fitted estimator on random halves and draw how alike the components are.

        Parameters
        ----------
        estimator : fitted estimator
            An estimator with ``components_``; it is cloned, not changed.
        X : array-like or sparse of shape (n_samples, n_features)
            What it was fitted to.
        n_fits : int
            Refits; every two of them share no sample.
        random_state : int, RandomState instance or None
            Seed of the halves.
        """
        components = fitted(estimator, "components_")
        X = X if hasattr(X, "shape") and not hasattr(X, "iloc") else np.asarray(X)
        rng = check_random_state(random_state)
        found: list[np.ndarray] = []
        while len(found) < n_fits:
            for half in np.array_split(rng.permutation(X.shape[0]), 2):
                refit = clone(estimator).fit(X[np.sort(half)]).components_
                found.append(np.abs(match_components(refit, components)[1]))
        return cls(np.array(found[:n_fits])).plot(ax=ax)

    def unstable(self, threshold: float = 0.95) -> np.ndarray:
        """Components whose likeness falls under the threshold in some refit."""
        return np.flatnonzero(self.similarities.min(axis=0) < threshold)

    def plot(self, *, ax: Any = None) -> StabilityDisplay:
        """Draw."""
        ax = one_axes(ax, (7, 3.2))
        place = np.arange(self.similarities.shape[1])
        ax.vlines(place, self.similarities.min(axis=0), self.similarities.max(axis=0), alpha=0.5)
        for row in self.similarities:
            ax.plot(place, row, "o", markersize=4, color="C0", alpha=0.7)
        ax.set(xlabel="component", ylabel="likeness in refits on halves", ylim=(-0.03, 1.03))
        self.ax_, self.figure_ = ax, ax.figure
        return self


@fill_function
def plot_stability(model: Any, X: Any, *, n_fits: int = 4, random_state: Any = None, ax: Any = None) -> Any:
    """Refit on random halves and draw how alike the components are.

    Parameters
    ----------
    model : fitted estimator
        An estimator with ``components_``.
    X : array-like or sparse of shape (n_samples, n_features)
        What it was fitted to.
    n_fits : int
        Refits.
    random_state : int, RandomState instance or None
        Seed of the halves.

    Returns
    -------
    matplotlib Axes
        One line per component.

    Examples
    --------
    >>> from altmin import AND
    >>> from altmin.datasets import make_dir
    >>> X = make_dir(200, 30, 3, random_state=0).X
    >>> model = AND(3).fit(X)
    >>> from altmin.plots import plot_stability
    >>> ax = plot_stability(model, X, n_fits=2, random_state=0)
    """
    return StabilityDisplay.from_estimator(model, X, n_fits=n_fits, random_state=random_state, ax=ax).ax_
