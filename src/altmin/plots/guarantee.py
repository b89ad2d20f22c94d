"""The guarantee report as a picture: one line per condition."""

from __future__ import annotations

from typing import Any

from altmin.docstrings import fill_class, fill_function
from altmin.guarantees.report import GuaranteeReport
from altmin.plots._panels import BAD, DOUBTFUL, GOOD, NEUTRAL, fitted, one_axes

_STATUS = {"holds": GOOD, "violated": BAD, "cannot be checked": NEUTRAL}
_VERDICT = {"recovered": GOOD, "plausible": DOUBTFUL, "unknown": NEUTRAL, "contradicted": BAD}


@fill_class
class GuaranteeDisplay:
    """Conditions of a guarantee report, each with what was measured and what is required.

    Conditions that the verdict rests on have a full dot, those for information a hollow one.

    Parameters
    ----------
    report : GuaranteeReport
        As ``guarantee_`` of a fitted estimator.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
        After :meth:`plot`.

    Examples
    --------
    >>> from altmin.guarantees import GuaranteeReport, check
    >>> from altmin.plots import GuaranteeDisplay
    >>> row = check("halves agree", "c", "evidence", 0.99, at_least=0.9, meaning="they do")
    >>> GuaranteeDisplay(GuaranteeReport("plausible", (row,))).plot().ax_.get_title(loc="left")
    'plausible'
    """

    def __init__(self, report: GuaranteeReport) -> None:
        self.report = report

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> GuaranteeDisplay:
        """Draw ``guarantee_`` of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            A model with ``guarantee_``.
        """
        return cls(fitted(estimator, "guarantee_")).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> GuaranteeDisplay:
        """Draw."""
        rows = list(self.report)
        ax = one_axes(ax, (8.5, 0.8 + 0.34 * len(rows)))
        for place, row in enumerate(rows):
            colour = _STATUS[row.status]
            ax.plot(
                0.02, place, "o", color=colour, markersize=9, fillstyle="full" if row.decisive else "none"
            )
            ax.text(0.05, place, row.name.replace("$", r"\$"), va="center")
            value = "not measured" if row.measured is None else f"{row.measured:.3g}"
            ax.text(0.60, place, value, va="center", ha="right")
            ax.text(0.63, place, f"required {row.required}".replace("$", r"\$"), va="center", color=NEUTRAL)
            ax.text(1.0, place, row.status, va="center", ha="right", color=colour)
        ax.set(xlim=(0, 1), ylim=(len(rows) - 0.4, -0.6))
        ax.set_axis_off()
        ax.set_title(
            self.report.verdict,
            loc="left",
            color=_VERDICT.get(self.report.verdict, NEUTRAL),
            fontweight="bold",
        )
        self.ax_, self.figure_ = ax, ax.figure
        return self


@fill_function
def plot_guarantee(model: Any, *, ax: Any = None) -> Any:
    """Draw the guarantee report of a fitted estimator.

    Parameters
    ----------
    model : fitted estimator
        A model with ``guarantee_``.

    Returns
    -------
    matplotlib Axes
        One line per condition.

    Examples
    --------
    >>> from altmin import AND
    >>> from altmin.datasets import make_dir
    >>> X = make_dir(200, 30, 3, random_state=0).X
    >>> model = AND(3).fit(X)
    >>> from altmin.plots import plot_guarantee
    >>> ax = plot_guarantee(model)
    """
    return GuaranteeDisplay.from_estimator(model, ax=ax).ax_
