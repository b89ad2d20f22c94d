"""'recovered' is never wrong, and mostly said where it is true: the last judged round of each family."""

from __future__ import annotations

from pathlib import Path

from harness import Figure, promise

from altmin_lab.adversary.campaign import examine
from altmin_lab.adversary.kinds import FAMILIES, kinds
from altmin_lab.adversary.rounds import judged_rounds, last_results, results
from altmin_lab.adversary.tally import EFFORTS, tally

DOCS = Path(__file__).parents[2] / "docs" / "calibration"


def counts():
    """The line of each family that was judged."""
    rows = last_results(DOCS)
    return {family: tally(rows, family) for family in FAMILIES}


@promise
def never_wrong():
    """On 250 wrong fits of held-out kinds a family 'recovered' is wrong 0 times; nor on 5,000 factors."""
    every = counts()
    for family, found in every.items():
        yield Figure(f"{family}: wrong fits", found["wrong"], at_least=250)
        for effort in EFFORTS:
            yield Figure(f"{family}, {effort}: false 'recovered'", found[f"false {effort}"], at_most=0)
            yield Figure(f"{family}, {effort}: false factors", found[f"false factors {effort}"], at_most=0)
    said = sum(found[f"factors said {effort}"] for found in every.values() for effort in EFFORTS)
    yield Figure("factors said, all efforts", said, at_least=5000)


@promise
def mostly_said():
    """True recoveries are said: 90 % without noise, 80 % with it, 70 % on counts; 60 % by the fit alone."""
    for family, found in counts().items():
        for group, wanted in (("clean", 0.9), ("noisy", 0.8), ("counts", 0.7)):
            if n := found[group]:
                share = found[f"{group} assumed"] / n
                yield Figure(
                    f"{family}, {group} ({n}), full, true assumption declared", share, at_least=wanted
                )
        n = sum(found[group] for group in ("clean", "noisy", "counts"))
        cheap = sum(found[f"{group} declared"] for group in ("clean", "noisy", "counts"))
        yield Figure(
            f"{family}, all {n}, with the fit, true assumption declared", cheap / max(n, 1), at_least=0.6
        )


@promise
def bounds_hold():
    """The 90 % bound of a factor's error covers 85 to 97 % of those that are called recovered."""
    for family, found in counts().items():
        if found["bounds"]:
            share = found["covered"] / found["bounds"]
            yield Figure(f"{family}: of {found['bounds']}", share, at_least=0.85, at_most=0.97)


@promise
def spot_check():
    """The committed table is what the code gives: a few problems of each family again."""
    last = judged_rounds(DOCS)[-1]
    known = {(row["family"], row["kind"], row["number"]): row for row in results(last, DOCS)}
    for family in {name for name, _, _ in known}:
        different = 0
        for each in list(kinds(True, (family,)))[::16]:
            before = known.get((family, each.name, 0))
            if before is None or before["error"] is None:
                continue
            row = examine(each, 0, last.seed)
            different += row["full"]["verdict"] != before["full"]["verdict"]
        yield Figure(f"{family}: other verdicts than in the table", different, at_most=0)
