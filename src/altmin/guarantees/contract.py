"""The guarantee's contract: what a family of models says about a fit, and how that becomes a report.

A family provides

    measure(fit, rows) -> Evidence     a record of numbers, from a fit and some rows of data
    tests(evidence) -> [Test]          each number held against a bound, under an id, for each factor or all
    rule(evidence) -> Rule             which tests decide: data without noise ask for others than noisy ones

and :func:`judge` is the one place in which tests become verdicts. A test that rejects makes the verdict
*contradicted*, one without power *unknown*, one that leaves a named alternative *plausible*; where all tests
of the rule hold it is *recovered*. The whole is the least of its factors and of the tests that speak of the
whole, such as "nothing is missing". No test outvotes another.

Code refers to a test by its id; its symbol and name are for show and may be reworded at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from altmin.guarantees.report import VERDICTS, Condition, Factor, GuaranteeReport, check

E = TypeVar("E")
_MOST_ADVICE = 3
_FAILED = {"violated": "fails", "cannot be checked": "could not be checked"}


@dataclass(frozen=True)
class Test:
    """A condition, and what it says of each factor.

    Parameters
    ----------
    row : Condition
        For the report; of the worst factor.
    allows : tuple of str or None
        Of each factor, the best verdict that the test leaves; None: it speaks of the fit as a whole.
    everywhere : bool
        Whether a test of the whole speaks of each factor, too ("nothing is missing" doesn't).
    against : str
        What stands against a factor that it doesn't let pass, in a few words.
    """

    __test__ = False  # not one of pytest's

    row: Condition
    allows: tuple[str, ...] | None = None
    everywhere: bool = True
    against: str = ""


@dataclass(frozen=True)
class Rule:
    """Which tests decide.

    Parameters
    ----------
    name : str
        For example 'exact' or 'noisy'.
    needs : tuple of str
        Ids of the tests; one that is not there has no power.
    """

    name: str
    needs: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """What is known of each factor beside its tests: arrays of one number per component."""

    error: NDArray[Any]
    bound: NDArray[Any]
    samples: NDArray[Any]


@dataclass(frozen=True)
class Family(Generic[E]):
    """What a family of models says; see the module's docstring.

    Parameters
    ----------
    claim : callable
        Of the evidence: what is claimed where the verdict is 'recovered', in whole sentences.
    tests, rule : callable
        Of the evidence.
    error : callable
        Of the evidence: the estimated error of the worst factor, or None.
    advice : mapping of str to str
        What to do where the test of this id doesn't hold.
    assumptions : callable
        Of the evidence: what data can't decide, in whole sentences.
    closer : str
        Advice where only a cheap look was taken.
    otherwise : str
        Advice where no test asks for anything.
    table : callable or None
        Of the evidence: error, bound and samples of each factor.
    """

    claim: Callable[[E], str]
    tests: Callable[[E], Iterable[Test]]
    rule: Callable[[E], Rule]
    error: Callable[[E], float | None]
    advice: Mapping[str, str]
    assumptions: Callable[[E], tuple[str, ...]] = field(default=lambda evidence: ())
    closer: str = "guarantee(X, effort='full') also fits halves of the samples, and compares"
    otherwise: str = "more samples, or less noise"
    table: Callable[[E], Table | None] | None = None


def judge(family: Family[E], evidence: E, *, effort: str = "cheap") -> GuaranteeReport:
    """Turn evidence into a report.

    Parameters
    ----------
    family : Family
        Whose tests and rule apply.
    evidence : record
        What was measured.
    effort : {'cheap', 'full'}
        How much was spent on it.

    Returns
    -------
    GuaranteeReport
        Verdicts of the whole and of each factor, with what they rest on.
    """
    tests = list(family.tests(evidence))
    known = {test.row.id: test for test in tests}
    if len(known) < len(tests):
        raise ValueError(f"tests share an id: {sorted(test.row.id for test in tests)}")
    rule = family.rule(evidence)
    deciding = [known[name] for name in rule.needs if name in known]
    table = None if family.table is None else family.table(evidence)
    complete = (
        "recovered" if len(deciding) == len(rule.needs) else "unknown"
    )  # a test that is missing has no power
    factors = () if table is None else _factors(deciding, table, complete)
    verdict = least([complete, *(allowed(test.row) for test in deciding), *(f.verdict for f in factors)])
    rows = tuple(replace(test.row, decisive=test.row.id in rule.needs) for test in tests)
    error = family.error(evidence)
    return GuaranteeReport(
        verdict,
        rows,
        effort=effort,
        estimated_error=None if error is None else float(error),
        advice="" if verdict == "recovered" else _advice(family, rows, effort),
        claim=family.claim(evidence),
        factors=factors,
        assumptions=family.assumptions(evidence),
    )


def least(verdicts: Iterable[str]) -> str:
    """The worst of some verdicts; 'recovered' of none."""
    return max(verdicts, key=VERDICTS.index, default="recovered")


def allowed(row: Condition) -> str:
    """The best verdict that a condition leaves."""
    return row.leaves


def whole(name: str, symbol: str, measured: float | None, *, everywhere: bool = True, **options: Any) -> Test:
    """A test that speaks of the fit as a whole; ``options`` go to :func:`altmin.guarantees.check`."""
    row = check(name, symbol, options.pop("reference", "evidence"), measured, **options)
    return Test(row, everywhere=everywhere)


def each(
    name: str,
    symbol: str,
    values: NDArray[Any],
    *,
    against: str,
    at_most: float | None = None,
    at_least: float | None = None,
    **options: Any,
) -> Test:
    """A test of each factor; NaN says that it has no power there. Exactly one bound is needed."""
    values = np.asarray(values, dtype=np.float64)
    known = values[~np.isnan(values)]
    worst = None if not len(known) else float(known.max() if at_least is None else known.min())
    bounds: dict[str, Any] = {"at_most": at_most, "at_least": at_least}
    row = check(name, symbol, options.pop("reference", "evidence"), worst, **bounds, **options)
    if row.status == "holds" and len(known) < len(values):
        row = replace(row, status="cannot be checked")
    kept = values >= at_least if at_least is not None else values <= at_most
    best = [allowed(replace(row, status=status)) for status in ("cannot be checked", "violated", "holds")]
    status = np.where(np.isnan(values), 0, 1 + kept)
    return Test(row, tuple(best[number] for number in status.tolist()), against=against)


def shown(*rows: Condition) -> list[Test]:
    """Conditions for information, such as those of the theorems."""
    return [Test(row) for row in rows]


def _factors(tests: list[Test], table: Table, complete: str) -> tuple[Factor, ...]:
    """One line per component: the least of the tests of it, and of those that speak of all."""
    of_all = [test.row for test in tests if test.allows is None and test.everywhere]
    general = least([complete, *map(allowed, of_all)])
    found = []
    for number in range(len(table.error)):
        own = {test.against: test.allows[number] for test in tests if test.allows is not None}
        verdict = least([general, *own.values()])
        against = [words for words, allows in own.items() if allows == verdict != "recovered"]
        if verdict == general != "recovered":
            against += [f"'{row.name}' {_FAILED[row.status]}" for row in of_all if allowed(row) == general]
        if verdict == complete != "recovered":
            against.append("not all tests could be made")
        numbers = (float(table.error[number]), float(table.bound[number]), int(table.samples[number]))
        found.append(Factor(number, verdict, *numbers, "; ".join(against[:2])))
    return tuple(found)


def _advice(family: Family[Any], rows: tuple[Condition, ...], effort: str) -> str:
    later = effort == "cheap" and bool(family.closer)  # what isn't measured may be so at full effort
    lacking = sorted(
        (
            row
            for row in rows
            if row.decisive and row.status != "holds" and not (later and row.measured is None)
        ),
        key=lambda row: -VERDICTS.index(allowed(row)),
    )
    rejected = [row for row in lacking if allowed(row) == "contradicted"]  # no effort mends that
    asked = (row.id for row in rejected or lacking)
    notes = list(dict.fromkeys(family.advice[id] for id in asked if id in family.advice))[:_MOST_ADVICE]
    if later and not rejected:
        notes.append(family.closer)
    return "; ".join(notes) or family.otherwise
