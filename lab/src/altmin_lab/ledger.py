"""The claims ledger: every theorem, figure and table of the papers as a claim with a computed verdict.

A claim is a function that runs an experiment and returns :class:`Evidence`; ``@claim`` says what the
paper says, where, and under which hypotheses, and names a *wrong program*: keyword arguments of the
experiment under which its verdict must change. A test runs them, so no claim is judged by an experiment that
cannot fail. ``quick=True`` asks for a smaller run of the same experiment.

Misprints are treated alike everywhere. The sentence is judged as it is printed; where it fails as printed
and holds once a misprint is mended, it 'holds partly', and the summary says what was mended. What a printed
algorithm leaves open (the D of step 0, the rows of the first batch) is filled in and said in the setting.

A theorem is judged on data that meet its hypotheses: each of them is computed from the data of the run, with
a constant that the check names where the paper doesn't (mostly 1). Where no data of a size that fits here
meet them, or where the bound is kept by any program, the sentence is 'vacuous at these sizes', and the checks
name the size that would be needed. Runs beyond the hypotheses stand in tables of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal

Verdict = Literal["holds", "holds partly", "does not hold", "vacuous at these sizes", "cannot be run here"]
Experiment = Callable[..., "Evidence"]

VACUOUS: Verdict = "vacuous at these sizes"
CANNOT: Verdict = "cannot be run here"
BESIDE = "As printed, and as altmin does it"


@dataclass(frozen=True)
class Check:
    """A hypothesis of the paper, computed from the data of the run: whether they meet it, and by how much."""

    met: bool
    found: str


@dataclass(frozen=True)
class Wrong:
    """A wrong program: what is wrong with it, and the arguments that make an experiment run it."""

    says: str
    change: dict[str, Any]


@dataclass(frozen=True)
class Evidence:
    """What an experiment found.

    Parameters
    ----------
    verdict : str
        'holds', 'holds partly', 'does not hold', 'vacuous at these sizes' or 'cannot be run here': computed
        from the measurements by :func:`judge`, never typed in.
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
    hypotheses : dict
        Name of each hypothesis that the claim assumes to its :class:`Check`.
    """

    verdict: Verdict
    summary: str
    setting: str
    measured: dict[str, float] = field(default_factory=dict)
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    figures: dict[str, Callable[[], Any]] = field(default_factory=dict)
    hypotheses: dict[str, Check] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, and the experiment that judges it."""

    name: str
    paper: str
    where: str
    says: str
    experiment: Experiment
    sentence: str = ""
    assumes: tuple[str, ...] = ()
    wrong: Wrong | None = None
    literal: bool = False
    data: bool = False
    together: str = ""

    def mutant(self) -> Evidence:
        """Evidence of the small run with the wrong program."""
        if self.wrong is None:
            raise ValueError(f"{self.name} has no wrong program")
        return self.experiment(True, **self.wrong.change)


CLAIMS: dict[str, Claim] = {}


def claim(
    *,
    paper: str,
    where: str,
    says: str,
    sentence: str = "",
    assumes: Iterable[str] = (),
    wrong: Wrong,
    literal: bool = False,
    data: bool = False,
    together: str = "",
) -> Callable[[Experiment], Experiment]:
    """Register an experiment as the judge of a claim.

    Parameters
    ----------
    paper : {'and-nmf', 'complete-dictionary-learning', 'one-pass-gfm', 'approximate-dictionary-learning'}
        The paper; 'beyond' for what goes beyond all four.
    where : str
        'Theorem 4', 'Figure 1', 'Table 1' ...
    says : str
        What is claimed, in one plain sentence.
    sentence : str
        The paper's own words. Empty only for claims beyond the papers.
    assumes : iterable of str
        Names of the paper's hypotheses; the evidence checks each of them on the data of the run.
    wrong : Wrong
        A wrong program that must change the verdict.
    literal : bool
        Whether a printed algorithm runs: the evidence then has the table ``BESIDE``.
    data : bool
        Whether real data are needed.
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
        CLAIMS[name] = Claim(
            name, paper, where, says, experiment, sentence, tuple(assumes), wrong, literal, data, together
        )
        return experiment

    return register


def all_claims() -> dict[str, Claim]:
    """Every claim of :mod:`altmin_lab.claims`, by name."""
    package = import_module("altmin_lab.claims")
    for module in sorted(found.name for found in iter_modules(package.__path__)):
        import_module(f"altmin_lab.claims.{module}")
    return dict(CLAIMS)


def judge(*tests: Any, mended: Iterable[Any] | None = None, speaks: Any = True) -> Verdict:
    """Turn the tests of a claim into a verdict.

    Parameters
    ----------
    *tests : bool
        Whether what the sentence says, as printed, was found: all, some or none.
    mended : iterable of bool, optional
        The same tests with a misprint mended; they count where a printed one fails.
    speaks : bool
        Whether the bound is smaller than what is true of any program. One that isn't can be kept without
        saying anything.

    Returns
    -------
    str
        The verdict.

    Examples
    --------
    >>> from altmin_lab.ledger import judge
    >>> judge(True, True), judge(True, False), judge(False, mended=[True]), judge(True, speaks=False)
    ('holds', 'holds partly', 'holds partly', 'vacuous at these sizes')
    """
    repaired = mended is not None and all(mended)
    if not speaks:
        return VACUOUS if all(tests) or repaired else "does not hold"
    if all(tests):
        return "holds"
    return "holds partly" if repaired or (mended is None and any(tests)) else "does not hold"


def turned(before: Verdict, after: Verdict) -> bool:
    """Whether a wrong program changed the verdict: for the worse, where there is a worse one."""
    order = ("does not hold", "holds partly", "holds")
    if before in order[1:]:
        return after == VACUOUS or (after in order and order.index(after) < order.index(before))
    return after not in (before, CANNOT)


def beside(rows: Mapping[str, tuple[Any, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The table of a claim whose printed algorithm was run: what was measured, for it and for altmin."""
    return {
        BESIDE: [
            {"measured": name, "as printed": printed, "as altmin does it": ours}
            for name, (printed, ours) in rows.items()
        ]
    }


def needs(what: str) -> Evidence:
    """Evidence of a claim whose data aren't here."""
    return Evidence(CANNOT, f"{what} is not here: ALTMIN_DATA must name the folder with the real data", "")
