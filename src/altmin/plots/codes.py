"""Codes: how many components a sample has, and how often each component is used."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from altmin.docstrings import fill_class, fill_function
from altmin.plots._panels import panels


@fill_class
class CodesDisplay:
    """How sparse the codes are, and which components they use.

    Parameters
    ----------
    threshold : float
        Entries up to this share of the largest magnitude count as zero.

    Attributes
    ----------
    counts : ndarray of shape (n_samples,)
        Components of each sample.
    usage : ndarray of shape (n_components,)
        Share of the samples that use each component.
    axes_, figure_ : ndarray of matplotlib Axes, Figure
        After :meth:`plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.plots import CodesDisplay
    >>> CodesDisplay(np.eye(3)).usage.round(2).tolist()
    [0.33, 0.33, 0.33]
    """

    def __init__(self, codes: Any, *, threshold: float = 1e-12) -> None:
        Z = sp.csr_array(codes) if sp.issparse(codes) else np.asarray(codes)
        if Z.ndim != 2:
            raise ValueError(f"codes has shape {Z.shape}; one sample per row is needed")
        largest = float(abs(Z).max()) if min(Z.shape) else 0.0
        active = abs(Z) > threshold * (largest or 1.0)
        self.counts = np.asarray(active.sum(axis=1)).ravel()
        self.usage = np.asarray(active.mean(axis=0)).ravel()

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, threshold: float = 1e-12, ax: Any = None
    ) -> CodesDisplay:
        """Draw the codes of data under a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            A model with ``transform``.
        X : data as for ``transform``
            What is coded.
        threshold : float
            As in the class.
        """
        return cls(estimator.transform(X), threshold=threshold).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> CodesDisplay:
        """Draw."""
        self.axes_ = panels(ax, 1, 2, (9, 3.2))
        left, right = self.axes_[0]
        edges = np.arange(self.counts.max(initial=0) + 2) - 0.5
        left.hist(self.counts, bins=edges if len(edges) < 60 else 50)
        left.set(xlabel="components in a sample", ylabel="samples")
        right.bar(np.arange(len(self.usage)), self.usage, width=0.9)
        right.set(xlabel="component", ylabel="share of samples that use it")
        self.figure_ = left.figure
        return self


@fill_function
def plot_codes(codes: Any, *, ax: Any = None) -> Any:
    """Draw how many components a sample has and how often each component is used.

    Returns
    -------
    matplotlib Figure
        The figure, with two panels.

    Examples
    --------
    >>> from altmin.plots import plot_codes
    >>> len(plot_codes([[0.0, 2.0], [1.0, 1.0]]).axes)
    2
    """
    return CodesDisplay(codes).plot(ax=ax).figure_
