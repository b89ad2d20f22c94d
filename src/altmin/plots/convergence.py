"""How a fit converged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from altmin.docstrings import fill_class, fill_function
from altmin.plots._panels import fitted, one_axes

_NO_MEASURES = ("iteration", "seconds")
_UNBOUNDED = 1e100


@fill_class
class ConvergenceDisplay:
    """Measures of a fit against its iterations, on a log scale.

    Parameters
    ----------
    history : sequence of dict
        One row per iteration, like ``history_`` of a fitted estimator.
    measures : sequence of str
        Which of its numbers; by default every one that varies and isn't a time.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
        After :meth:`plot`.
    lines_ : list of matplotlib Line2D
        One a measure.

    Examples
    --------
    >>> from altmin.plots import ConvergenceDisplay
    >>> rows = [{"iteration": i, "change": 0.5**i} for i in range(1, 9)]
    >>> [line.get_label() for line in ConvergenceDisplay(rows).plot().lines_]
    ['change']
    """

    def __init__(
        self, history: Sequence[Mapping[str, Any]], *, measures: Sequence[str] = (), title: str = ""
    ) -> None:
        if not history:
            raise ValueError("history is empty: the fit took no iteration")
        self.history = history
        self.measures = list(measures) or self._varying()
        self.title = title

    def _points(self, name: str) -> list[tuple[float, float]]:
        """Iterations and values that a log scale can show (a first change may be without bound)."""
        rows = ((row["iteration"], row.get(name, 0.0)) for row in self.history)
        return [(iteration, value) for iteration, value in rows if 0 < value < _UNBOUNDED]

    def _varying(self) -> list[str]:
        numbers = [key for key, value in self.history[-1].items() if _is_number(value)]
        names = [key for key in numbers if key not in _NO_MEASURES]
        return [key for key in names if len({value for _, value in self._points(key)}) > 1] or names

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, measures: Sequence[str] = (), ax: Any = None
    ) -> ConvergenceDisplay:
        """Draw the history of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            A model with ``history_`` and ``outcome_``.
        measures : sequence of str
            Which measures.
        """
        title = f"{type(estimator).__name__}: {fitted(estimator, 'outcome_').kind}"
        return cls(fitted(estimator, "history_"), measures=measures, title=title).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ConvergenceDisplay:
        """Draw."""
        ax = one_axes(ax, (6, 3.5))
        self.lines_ = []
        for name in self.measures:
            if points := self._points(name):
                marker = "o" if len(points) == 1 else None
                self.lines_ += ax.plot(*zip(*points, strict=True), label=name, marker=marker)
        ax.set(yscale="log", xlabel="iteration", title=self.title)
        if self.lines_:
            ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


@fill_function
def plot_convergence(model: Any, measures: Sequence[str] = (), ax: Any = None) -> Any:
    """Draw the measures of ``model.history_`` against the iteration, on a log scale.

    Parameters
    ----------
    model : fitted estimator
        A model with ``history_`` and ``outcome_``.
    measures : sequence of str
        Which columns of the history; by default every number that varies and isn't a time.

    Returns
    -------
    matplotlib Axes
        One line per measure, with the outcome as the title.

    Examples
    --------
    >>> from altmin import AND
    >>> from altmin.datasets import make_dir
    >>> X = make_dir(200, 30, 3, random_state=0).X
    >>> model = AND(3).fit(X)
    >>> from altmin.plots import plot_convergence
    >>> plot_convergence(model, ["change"]).get_yscale()
    'log'
    """
    return ConvergenceDisplay.from_estimator(model, measures=measures, ax=ax).ax_


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
