"""The claims ledger: every theorem, figure and table of the papers as a claim with a computed verdict.

A claim is a function that runs an experiment and returns :class:`Evidence`; ``@claim`` says what the
paper says and where. ``quick=True`` asks for a smaller run of the same experiment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal

Verdict = Literal["holds", "holds partly", "does not hold", "cannot be run here"]
Experiment = Callable[[bool], "Evidence"]


@dataclass(frozen=True)
class Evidence:
    """What an experiment found.

    Parameters
    ----------
    verdict : {'holds', 'holds partly', 'does not hold', 'cannot be run here'}
        Computed from the measurements, never typed in.
    summary : str
        One sentence with the figures that decide.
    setting : str
        What was run: sizes, seeds, peers with their settings.
    measured : dict
        Name to number.
    tables : dict
        Title to list of row dicts.
    figures : dict
        Name to a function that draws the picture on a new matplotlib figure and returns it.
    """

    verdict: Verdict
    summary: str
    setting: str
    measured: dict[str, float] = field(default_factory=dict)
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    figures: dict[str, Callable[[], Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, and the experiment that judges it."""

    name: str
    paper: str
    where: str
    says: str
    experiment: Experiment
    together: str = ""


CLAIMS: dict[str, Claim] = {}


def claim(*, paper: str, where: str, says: str, together: str = "") -> Callable[[Experiment], Experiment]:
    """Register an experiment as the judge of a claim.

    Parameters
    ----------
    paper : {'and-nmf', 'complete-dictionary-learning', 'one-pass-gfm', 'approximate-dictionary-learning'}
        The paper; 'beyond' for what goes beyond all four.
    where : str
        'Theorem 4', 'Figure 1', 'Table 1' ...
    says : str
        What the paper says, in one sentence.
    together : str
        Claims of the same word are judged in one process, one after the other: they share what they prepare.

    Returns
    -------
    callable
        The experiment, unchanged.
    """

    def register(experiment: Experiment) -> Experiment:
        name = experiment.__name__
        if name in CLAIMS:
            raise ValueError(f"two claims are called {name}")
        CLAIMS[name] = Claim(name, paper, where, says, experiment, together)
        return experiment

    return register


def all_claims() -> dict[str, Claim]:
    """Every claim of :mod:`altmin_lab.claims`, by name."""
    package = import_module("altmin_lab.claims")
    for module in sorted(found.name for found in iter_modules(package.__path__)):
        import_module(f"altmin_lab.claims.{module}")
    return dict(CLAIMS)


def judge(*tests: bool) -> Verdict:
    """Turn the tests of a claim into a verdict: all, some or none of them hold."""
    if all(tests):
        return "holds"
    return "holds partly" if any(tests) else "does not hold"
