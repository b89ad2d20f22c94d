"""A story of the demo: one question, one answer in plain words, pictures and tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Story:
    """What one part of the demo found.

    Parameters
    ----------
    title : str
        The question.
    answer : str
        A sentence or two for a reader who knows no algorithm, with the measured numbers.
    uses : str
        The algorithm at work.
    data : str
        Where the data come from.
    code : str
        The lines that did it.
    figures : dict
        From the name of a picture to a function that draws it; called only where matplotlib is installed.
    rows : list of dict
        A small table.
    model : estimator or None
        Whose guarantee is shown.
    doubt : str
        Why the report doubts an answer that is known to be right here.
    """

    title: str
    answer: str
    uses: str
    data: str
    code: str
    figures: dict[str, Callable[[], Any]] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    model: Any = None
    doubt: str = ""

    @property
    def verdict(self) -> str:
        """Whether to believe the answer, in words; empty where no model was fitted."""
        report = getattr(self.model, "guarantee_", None)
        if report is None:
            return ""
        said = f"Is it the truth? Verdict: {report.verdict}. {_MEANING[report.verdict]}"
        if report.verdict == "recovered":
            return said
        return f"{said} {self.doubt or 'What to try: ' + report.advice.split('; ')[0] + '.'}"


_MEANING = {
    "recovered": "Yes, up to the error that the guarantee report prints.",
    "plausible": "It may well be, but the data can't rule out something else.",
    "unknown": "It describes the data, but the data can't show whether it is the truth.",
    "contradicted": "It describes the data, but not as their true origin: a test speaks against that.",
}

STORIES: list[Callable[[], Story]] = []


def story(function: Callable[[], Story]) -> Callable[[], Story]:
    """Put a function into the demo, in the order of definition."""
    STORIES.append(function)
    return function


def timed(estimator: Any, *data: Any) -> tuple[Any, float]:
    """The fitted estimator, and the seconds that it took."""
    begin = time.perf_counter()
    return estimator.fit(*data), time.perf_counter() - begin


def side_by_side(images: Mapping[str, Any], *, width: float = 3.1, cmap: str = "gray") -> Any:
    """Pictures in a line, each under its name, on a new figure."""
    import matplotlib.pyplot as plt

    shape = next(iter(images.values())).shape
    size = (width * len(images), width * shape[0] / shape[1] + 0.2)
    figure, axes = plt.subplots(1, len(images), figsize=size, layout="constrained", squeeze=False)
    for ax, (title, image) in zip(axes[0], images.items(), strict=True):
        ax.imshow(image, cmap=cmap, vmin=0, vmax=1)
        ax.set_title(title)
        ax.set_axis_off()
    return figure
