"""A problem of the calibration: data, an estimator at its defaults, and how wrong its answer is."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np

FAMILIES = ("and", "complete", "orthogonal", "online", "machine", "sensing", "approximate")
_MODULES = {name: f"altmin_lab.calibration.{name}_problems" for name in FAMILIES}

Group = Literal["clean", "noisy", "other", "noise"]
"""Data of the model itself, without and with noise; of another model; of none."""


@dataclass(frozen=True)
class Trial:
    """One problem.

    Parameters
    ----------
    model : estimator
        At its defaults but for the number of components.
    data : tuple
        Arguments of ``fit`` and ``guarantee``.
    error : callable or None
        From the fitted model to its largest relative error; None: the data are of no such model, so every
        answer is wrong.
    """

    model: Any
    data: tuple[Any, ...]
    error: Callable[[Any], float] | None = None


@dataclass(frozen=True)
class Kind:
    """A way to draw problems of a family."""

    family: str
    name: str
    group: Group
    share: int
    make: Callable[[np.random.Generator], Trial]

    def trial(self, seed: int, number: int) -> Trial:
        """The problem of this number in the round of this seed."""
        key = zlib.crc32(f"{self.family}/{self.name}".encode())
        return self.make(np.random.default_rng([seed, key, number]))


_KINDS: dict[str, list[Kind]] = {}


def kind(
    family: str, name: str, group: Group, share: int = 1
) -> Callable[[Callable[[np.random.Generator], Trial]], Callable[[np.random.Generator], Trial]]:
    """Register a way to draw problems; a round has ``share`` times its size of them."""

    def register(make: Callable[[np.random.Generator], Trial]) -> Callable[[np.random.Generator], Trial]:
        _KINDS.setdefault(family, []).append(Kind(family, name, group, share, make))
        return make

    return register


def kinds(family: str) -> list[Kind]:
    """All kinds of problems of a family."""
    if family not in FAMILIES:
        raise ValueError(f"family={family!r}: allowed are {', '.join(FAMILIES)}")
    import_module(_MODULES[family])
    return _KINDS[family]


def between(rng: np.random.Generator, low: float, high: float) -> float:
    """A number, evenly on the log scale."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def whole(rng: np.random.Generator, low: int, high: int) -> int:
    """An integer from low to high, both included."""
    return int(rng.integers(low, high + 1))
