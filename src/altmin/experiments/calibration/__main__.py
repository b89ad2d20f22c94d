"""Run a round of the calibration and write its page.

python -m altmin.experiments.calibration --seed 7 --out work/train.jsonl --families and machine
"""

from __future__ import annotations

import argparse
from pathlib import Path

from altmin.experiments.calibration.campaign import read, run
from altmin.experiments.calibration.tally import tally
from altmin.experiments.calibration.trial import FAMILIES


def main() -> int:
    """Parse, run, print the table."""
    parser = argparse.ArgumentParser(prog="altmin.experiments.calibration", description=__doc__)
    parser.add_argument("--seed", type=int, required=True, help="of the round")
    parser.add_argument("--out", type=Path, required=True, help="JSON lines; a run goes on where it was")
    parser.add_argument("--families", nargs="*", choices=FAMILIES, default=FAMILIES)
    parser.add_argument("--per-kind", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="CPU time at most")
    given = parser.parse_args()
    left = run(given.out, tuple(given.families), given.seed, given.per_kind, given.seconds)
    rows = read(given.out)
    for family in given.families:
        print(tally(rows, family))
    print(f"{left} problem(s) left to run")
    return 0 if left == 0 else 2


if __name__ == "__main__":
    raise SystemExit(main())
