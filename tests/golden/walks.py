"""The way of a fit, round by round: which rows were asked for, what they were summed to, where that led.

Many bugs of an algorithm only make it slower, or matter where rows are more: its factors are those of a sound
one, its way isn't.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any
from unittest import mock

import numpy as np
import scipy.sparse as sp
from describe import number

from altmin.engine.local import LocalRounds

EACH = 2  # rounds of each kind that are told; what many of them lead to stands in the results
# Directions of an eigenvector have the sign that rounding gives them; so has what is drawn along them.
UNSTEADY = (
    "sums.sums", "sums.magnitudes", "sums.leftover", "sigma", "alpha", "descent.gain", "progress.passes",
    "progress.waited",
)  # fmt: skip
UNSTEADY_FROM = "l1_map"  # a start along such directions: what follows is told by the results alone


@contextmanager
def walk() -> Iterator[list[str]]:
    """A line for the first rounds of each kind: what has changed in the state, and the sums."""
    lines: list[str] = []
    before: dict[str, Any] = {}
    times: Counter[Any] = Counter()
    run = LocalRounds.reduce

    def tell(self: Any, algorithm: Any, state: Any, step: Any, *rest: Any) -> Any:
        sums = run(self, algorithm, state, step, *rest)
        kind = (step.name, step.map.__name__, type(step.rows).__name__, str(getattr(state, "phase", "")))
        times[kind] += 1
        times[step.map.__name__] += 1
        if times[kind] <= EACH and not times[UNSTEADY_FROM]:
            now = dict(_leaves(state, ""))
            # what is the same object was left alone; what was computed anew may differ by rounding
            new = {name: value for name, value in now.items() if before.get(name, before) is not value}
            told = {**new, **{f"sums.{name}": value for name, value in _leaves(sums, "")}}
            sizes = [f"{name}: {_size(value)}" for name, value in told.items() if name not in UNSTEADY]
            lines.append(" ".join([*kind[:3], *sizes]))
            before.update(now)
        return sums

    with mock.patch.object(LocalRounds, "reduce", tell):
        yield lines


def _leaves(thing: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Name and value of every number, word and array in it."""
    if is_dataclass(thing):
        thing = {field.name: getattr(thing, field.name) for field in fields(thing)}
    if isinstance(thing, list | tuple):
        thing = {str(index): value for index, value in enumerate(thing)}
    if isinstance(thing, Mapping):
        for key, value in thing.items():
            yield from _leaves(value, f"{name}.{key}".lstrip("."))
    elif thing is not None:
        yield name, thing.data if sp.issparse(thing) else thing


def _size(value: Any) -> str:
    """Numbers and words as they are; of arrays the norm, as signs and directions may be rounding's."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fciub":
        known = value[np.isfinite(value)]
        size = np.linalg.norm(known.astype(complex if known.dtype.kind == "c" else float))
        return f"{value.dtype} {number(float(size))}"
    if isinstance(value, float | np.floating):
        return number(float(value))
    return "_".join(str(value).split())
