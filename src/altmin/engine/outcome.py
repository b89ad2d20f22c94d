"""How a fit ended, in a value that says what probably happened and what to try."""

from __future__ import annotations

from altmin.contract import OutcomeKind, record

_ADVICE: dict[str, tuple[str, str]] = {
    "converged": ("the factors stopped changing", ""),
    "max_iter": (
        "the factors still changed when max_iter was reached",
        "raise max_iter, or look at history_ to see whether this is precise enough",
    ),
    "stalled": (
        "the fit no longer gets better, but has not reached the tolerance",
        "look at guarantee_; try another init or n_components, or more samples",
    ),
    "diverged": (
        "the factors became infinite or NaN; the last finite ones were kept",
        "rescale the data, use a smaller step, or another init",
    ),
    "interrupted": (
        "Ctrl-C: the model is that of the last finished iteration",
        "with checkpoint= the next fit continues where this one stopped",
    ),
    "end_of_stream": ("the stream ended", "to go on, call partial_fit with more rows"),
}


@record
class Outcome:
    """The end of a fit; it equals its kind, so that ``outcome_ == "converged"`` can be asked.

    Parameters
    ----------
    kind : str
        'converged', 'max_iter', 'stalled', 'diverged', 'interrupted' or 'end_of_stream'.
    message : str
        The likely cause.
    advice : str
        What to try, empty where nothing is needed.
    """

    kind: str
    message: str
    advice: str

    def __eq__(self, other: object) -> bool:
        return str(other) == (self.kind if isinstance(other, str) else str(self))

    def __hash__(self) -> int:
        return hash(self.kind)

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}" + (f" ({self.advice})" if self.advice else "")


def make_outcome(kind: OutcomeKind, message: str = "") -> Outcome:
    """The outcome of this kind, with the algorithm's own message where it has one."""
    cause, advice = _ADVICE[kind]
    return Outcome(kind, message or cause, advice)
