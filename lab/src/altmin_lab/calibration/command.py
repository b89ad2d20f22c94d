"""Rounds of the calibration: ``altmin-lab calibrate`` runs what is missing and renews its page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from altmin_lab.calibration.campaign import read, run
from altmin_lab.calibration.page import summary, write_page
from altmin_lab.calibration.rounds import FOLDER, judged_rounds, write_results
from altmin_lab.calibration.trial import FAMILIES


def calibrate(
    seed: int | None,
    name: str | None,
    per_kind: int,
    out: Path,
    families: Sequence[str] | None,
    seconds: float,
    part: tuple[int, int],
) -> int:
    """Run a round, print its table; 2 where time ran out before the round did.

    Without a ``seed`` a judged round runs (the last one, or the one of this name) and its tables are renewed;
    with one, a round for training the rules, which is never published.
    """
    chosen = tuple(families or FAMILIES)
    if unknown := set(chosen) - set(FAMILIES):
        raise ValueError(f"unknown family {', '.join(sorted(unknown))}; there are {', '.join(FAMILIES)}")
    judged = None
    if seed is None:
        known = {each.name: each for each in judged_rounds()}
        judged = known[name or list(known)[-1]]
        seed = judged.seed
    name = judged.name if judged else f"training-{seed}"
    path = out / (f"{name}.jsonl" if part[1] == 1 else f"{name}.{part[0]}-of-{part[1]}.jsonl")
    left = 0
    for family in [each for each in chosen if not judged or each in judged.per_kind]:
        number = judged.per_kind[family] if judged else per_kind
        left += run(path, (family,), seed, number, seconds, part)
    rows = [row for each in sorted(out.glob(f"{name}*.jsonl")) for row in read(each)]
    print(summary(rows))
    print(f"{left} problem(s) left to run")
    if judged and not left and part[1] == 1:
        write_results(
            FOLDER / f"{name}.csv", sorted(rows, key=lambda row: (row["family"], row["kind"], row["number"]))
        )
        write_page()
        print(f"wrote {FOLDER / 'index.md'}")
    return 2 if left else 0
