"""Reports that are made when they are first looked at.

A report on a few hundred rows takes as long as the fit to them, and most fits of a grid search, a bootstrap
or a cross-validation are never asked for theirs. So a fit to small data keeps what its report needs, a copy
of the rows and of its own figures, and ``guarantee_`` is made of these when it is first read; then they are
let go. Nothing that happens in between tells: no change of the caller's arrays, and none of the model.
Larger fits are judged at once: a copy of their rows would be much to hold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from altmin.guarantees.report import GuaranteeReport

KEPT_BYTES = 1 << 22  # of rows that a report may hold until it is looked at
_OWED = "_unjudged"


class MadeWhenAsked:
    """The attribute ``guarantee_``: the report, or what makes it."""

    def __get__(self, model: Any, owner: type | None = None) -> GuaranteeReport:
        """Of two threads that ask at once both make the report, and to both it is the same."""
        held = {} if model is None else vars(model)
        make = held.get(_OWED)
        if make is not None:
            report = make()
            if held.get(_OWED) is make:  # nobody has fitted the model in between
                self.__set__(model, report)
            return report
        if "guarantee_" not in held:  # the class itself has none either
            name = getattr(owner, "__name__", "model")
            raise AttributeError(f"this {name} is not fitted yet: it has no guarantee_")
        return held["guarantee_"]

    def __set__(self, model: Any, report: GuaranteeReport) -> None:
        """Set the report: there is nothing to make it of any more."""
        vars(model)["guarantee_"] = report
        vars(model).pop(_OWED, None)


def owe(model: Any, make: Callable[[], GuaranteeReport]) -> None:
    """From now on the report of the model is what ``make()`` gives."""
    vars(model)[_OWED] = make


def forget(model: Any) -> None:
    """Let go of the report of an earlier fit, and of what it would be made of."""
    vars(model).pop("guarantee_", None)
    vars(model).pop(_OWED, None)


def settle(model: Any) -> None:
    """Make the report if it wasn't looked at yet: copies and files of a model hold no rows."""
    if _OWED in vars(model):
        model.guarantee_  # noqa: B018
