"""A story of the demo: one question, one answer in plain words, pictures and tables."""

from __future__ import annotations

from collections.abc import Callable
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
        A sentence or two that a layman understands, with the figures.
    code : str
        The lines that did it.
    figures : dict
        Name to a matplotlib figure.
    rows : list of dict
        A small table.
    model : estimator or None
        Whose guarantee is shown.
    """

    title: str
    answer: str
    code: str
    figures: dict[str, Any] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    model: Any = None


STORIES: list[Callable[[], Story]] = []


def story(function: Callable[[], Story]) -> Callable[[], Story]:
    """Put a function into the demo, in the order of definition."""
    STORIES.append(function)
    return function
