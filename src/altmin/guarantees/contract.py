"""The guarantee's contract: what a family of models says about a fit, and how that becomes a report.

A family provides

    measure(fit, rows) -> Evidence          a record of numbers, from a fit and some rows of data
    conditions(evidence) -> [Condition]     each number held against a bound, under an id
    rules(evidence) -> [Rule]               a verdict, and the ids of the conditions that it needs
    error(evidence, rule) -> float or None  the estimated error, which depends on the rule that held

and :func:`judge` is the one place in which conditions and rules become a :class:`GuaranteeReport`. Code
refers to a condition by its id; its symbol and name are for show and may be reworded at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from altmin.guarantees.report import Condition, Factor, GuaranteeReport

E = TypeVar("E")
_ORDER = ("recovered", "plausible")
_MOST_ADVICE = 3


@dataclass(frozen=True)
class Rule:
    """A verdict and what it needs.

    Parameters
    ----------
    verdict : {'recovered', 'plausible'}
        What may be said where the rule holds.
    name : str
        For example 'exact' or 'stable'.
    needs : tuple of str
        Ids of the conditions that must be there and hold.
    loosely : mapping of str to float
        Wider bounds for conditions by id; a condition that isn't there is no obstacle.
    """

    verdict: str
    name: str
    needs: tuple[str, ...]
    loosely: Mapping[str, float] = field(default_factory=dict)

    def holds(self, rows: Mapping[str, Condition]) -> bool:
        """Whether all that it needs is there."""
        needed = all(name in rows and rows[name].status == "holds" for name in self.needs)
        return needed and all(
            _within(rows[name], bound) for name, bound in self.loosely.items() if name in rows
        )


@dataclass(frozen=True)
class Family(Generic[E]):
    """What a family of models says; see the module's docstring.

    Parameters
    ----------
    claim : str
        What is claimed to be found where the verdict is 'recovered'.
    conditions, rules, error : callable
        Of the evidence; rules are tried in their order, and the first that holds gives the verdict.
    advice : mapping of str to str
        What to do where the condition of this id doesn't hold.
    closer : str
        Advice where only a cheap look was taken.
    otherwise : str
        Advice where no condition asks for anything.
    factors : callable or None
        Of the evidence: one line per component.
    """

    claim: str
    conditions: Callable[[E], Iterable[Condition]]
    rules: Callable[[E], Sequence[Rule]]
    error: Callable[[E, Rule | None], float | None]
    advice: Mapping[str, str]
    closer: str = "guarantee(X, effort='full') compares fits on halves and from other starts"
    otherwise: str = "more samples, or less noise"
    factors: Callable[[E], tuple[Factor, ...]] | None = None


def judge(family: Family[E], evidence: E, *, effort: str = "cheap") -> GuaranteeReport:
    """Turn evidence into a report.

    Parameters
    ----------
    family : Family
        Whose conditions and rules apply.
    evidence : record
        What was measured.
    effort : {'cheap', 'full'}
        How much was spent on it.

    Returns
    -------
    GuaranteeReport
        The verdict of the first rule that holds. Decisive are the conditions that this rule needs or, where
        a better verdict was possible, those that the last rule for that one would have needed.
    """
    found = list(family.conditions(evidence))
    rows = {row.id: row for row in found}
    if len(rows) < len(found):
        raise ValueError(f"conditions share an id: {sorted(row.id for row in found)}")
    rules = family.rules(evidence)
    held = next((rule for rule in rules if rule.holds(rows)), None)
    verdict = "not supported" if held is None else held.verdict
    needed = _deciding(rules, held)
    judged = tuple(replace(row, decisive=row.id in needed) for row in rows.values())
    error = family.error(evidence, held)
    return GuaranteeReport(
        verdict,
        judged,
        effort=effort,
        estimated_error=None if error is None else float(error),
        advice="" if verdict == "recovered" else _advice(family, judged, effort),
        claim=family.claim,
        factors=() if family.factors is None else family.factors(evidence),
    )


def _deciding(rules: Sequence[Rule], held: Rule | None) -> tuple[str, ...]:
    """Ids that the rule that held needs or, where a better verdict was possible, the last rule for that."""
    best = min(rules, key=lambda rule: _ORDER.index(rule.verdict), default=None)
    if best is not None and (held is None or held.verdict != best.verdict):
        held = [rule for rule in rules if rule.verdict == best.verdict].pop()
    return () if held is None else (*held.needs, *held.loosely)


def _advice(family: Family[Any], rows: tuple[Condition, ...], effort: str) -> str:
    lacking = [row.id for row in rows if row.decisive and row.status != "holds"]
    notes = list(dict.fromkeys(family.advice[name] for name in lacking if name in family.advice))
    notes = notes[:_MOST_ADVICE]
    if effort == "cheap" and family.closer:
        notes.append(family.closer)
    return "; ".join(notes) or family.otherwise


def _within(row: Condition, bound: float) -> bool:
    if row.measured is None:
        return False
    return row.measured >= bound if row.at_least is not None else row.measured <= bound
