"""Outlier scores: who stands apart, and where the line is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from altmin.docstrings import fill_class, fill_function
from altmin.plots._panels import BAD, NEUTRAL, fitted, one_axes


@fill_class
class OutliersDisplay:
    """Histogram of outlier scores, those called outliers in red.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Larger is more outlying.
    mask : array-like of bool of shape (n_samples,), optional
        Who is called an outlier.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
        After :meth:`plot`.

    Examples
    --------
    >>> from altmin.plots import OutliersDisplay
    >>> OutliersDisplay([0.1, 0.2, 0.9], [False, False, True]).worst(1).tolist()
    [2]
    """

    def __init__(self, scores: ArrayLike, mask: ArrayLike | None = None) -> None:
        self.scores = np.asarray(scores, dtype=np.float64)
        self.mask = np.zeros(self.scores.shape, bool) if mask is None else np.asarray(mask, dtype=bool)
        if self.scores.ndim != 1 or self.scores.shape != self.mask.shape:
            raise ValueError(
                f"scores has shape {self.scores.shape} and mask {self.mask.shape}; both need one a sample"
            )

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> OutliersDisplay:
        """Draw ``outlier_scores_`` and ``outlier_mask_`` of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            A model with ``outlier_scores_``.
        """
        scores = fitted(estimator, "outlier_scores_")
        return cls(scores, getattr(estimator, "outlier_mask_", None)).plot(ax=ax)

    def worst(self, n: int = 20) -> np.ndarray:
        """Numbers of the n most outlying samples, the worst first."""
        return np.argsort(-self.scores, kind="stable")[:n]

    def plot(self, *, ax: Any = None, bins: int = 50) -> OutliersDisplay:
        """Draw.

        Parameters
        ----------
        bins : int
            Number of bars of the histogram.
        """
        ax = one_axes(ax, (7, 3.2))
        edges = np.histogram_bin_edges(self.scores, bins)
        parts = {"the others": (~self.mask, NEUTRAL), "outliers": (self.mask, BAD)}
        shown = {f"{n}: {where.sum()}": (where, c) for n, (where, c) in parts.items() if where.any()}
        ax.hist(
            [self.scores[where] for where, _ in shown.values()],
            bins=edges,
            stacked=True,
            color=[colour for _, colour in shown.values()],
            label=list(shown),
        )
        ax.set(xlabel="outlier score", ylabel="samples")
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


@fill_function
def plot_outliers(model: Any, *, ax: Any = None) -> Any:
    """Draw the outlier scores of a fitted estimator.

    Parameters
    ----------
    model : fitted estimator
        A model with ``outlier_scores_``.

    Returns
    -------
    matplotlib Axes
        The histogram.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin import ApproximateDictionaryLearning
    >>> from altmin.plots import plot_outliers
    >>> X = np.random.default_rng(0).standard_normal((60, 8))
    >>> model = ApproximateDictionaryLearning(8, contamination=0.1, max_iter=2, random_state=0).fit(X)
    >>> ax = plot_outliers(model)
    """
    return OutliersDisplay.from_estimator(model, ax=ax).ax_
