"""'recovered' is never wrong, and mostly said where it is true: the last judged round, spot-checked."""

from __future__ import annotations

from pathlib import Path

from harness import Figure, promise

from altmin_lab.calibration.campaign import examine
from altmin_lab.calibration.rounds import final_results, seed_of
from altmin_lab.calibration.tally import tally
from altmin_lab.calibration.trial import kinds

DOCS = Path(__file__).parents[2] / "docs" / "calibration"
CLAIMING = ("and", "complete", "orthogonal", "online", "machine", "sensing")


def results():
    """Each family's rows of the last round that judged it."""
    return final_results(DOCS)


@promise
def never_wrong():
    """On at least 200 wrong fits a family 'recovered' is wrong 0 times at either effort."""
    rows = results()
    for family in CLAIMING:
        counts = tally(rows, family)
        yield Figure(f"{family}: wrong fits", counts["wrong"], at_least=200)
        for effort in ("cheap", "full"):
            yield Figure(f"{family}, {effort}: false 'recovered'", counts[f"false {effort}"], at_most=0)


@promise
def mostly_said():
    """True recovery is said: 90 % without noise and 70 % with noise at full effort, half at the cheap one."""
    rows = results()
    for family in CLAIMING:
        counts = tally(rows, family)
        right = counts["clean"] + counts["noisy"]
        cheap = counts["clean"] * counts["clean cheap"] + counts["noisy"] * counts["noisy cheap"]
        yield Figure(f"{family}, full, no noise ({counts['clean']})", counts["clean full"], at_least=0.9)
        yield Figure(f"{family}, full, noise ({counts['noisy']})", counts["noisy full"], at_least=0.7)
        yield Figure(f"{family}, cheap, all {right}", cheap / max(right, 1), at_least=0.5)


@promise
def other_models():
    """Pure noise and data of another model are never called plausible, let alone recovered."""
    rows = results()
    for family in (*CLAIMING, "approximate"):
        counts = tally(rows, family)
        green = counts["too green cheap"] + counts["too green full"]
        yield Figure(f"{family}: too green of {counts['foreign']}", green, at_most=0)


@promise
def approximate_is_plausible_at_most():
    """Approximate dictionaries never say 'recovered'."""
    rows = results()
    said = [row for row in rows if row["family"] == "approximate" and row["error"] is not None]
    green = sum(row[effort]["verdict"] == "recovered" for row in said for effort in ("cheap", "full"))
    yield Figure(f"'recovered' of {len(said)}", green, at_most=0)


@promise
def spot_check():
    """The committed table is what the code gives: one problem of each kind again."""
    rows = results()
    known = {(row["family"], row["kind"], row["number"]): row for row in rows}
    for family in CLAIMING:
        false = different = 0
        for each in kinds(family):
            row, before = examine(each, 0, seed_of(family, DOCS)), known[family, each.name, "0"]
            if row["error"] is None or before["error"] is None:
                different += (row["error"] is None) != (before["error"] is None)
                continue
            different += any(
                row[effort]["verdict"] != before[effort]["verdict"] for effort in ("cheap", "full")
            )
            false += sum(tally([row], family)[f"false {effort}"] for effort in ("cheap", "full"))
        yield Figure(f"{family}: other verdicts than in the table", different, at_most=2)
        yield Figure(f"{family}: false 'recovered'", false, at_most=0)
