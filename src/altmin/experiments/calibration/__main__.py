"""Run rounds of the calibration and renew its page.

``python -m altmin.experiments.calibration`` runs what is missing of the last judged round and renews the
tables; ``--seed`` runs a round for training the rules, which is never published.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from altmin.experiments.calibration.campaign import read, run
from altmin.experiments.calibration.page import summary, write_page
from altmin.experiments.calibration.rounds import FOLDER, judged_rounds, write_results
from altmin.experiments.calibration.trial import FAMILIES


def main() -> int:
    """Parse, run, print the table; 2 where time ran out before the round."""
    parser = argparse.ArgumentParser(prog="altmin.experiments.calibration", description=__doc__)
    parser.add_argument("--seed", type=int, help="of a round for training; without it: a judged round again")
    parser.add_argument("--round", help="name of the judged round; without it: the last one")
    parser.add_argument("--per-kind", type=int, default=10, help="problems of a kind, in training")
    parser.add_argument("--out", type=Path, default=Path("calibration"), help="folder of the JSON lines")
    parser.add_argument("--families", nargs="*", choices=FAMILIES, default=FAMILIES)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="CPU time at most")
    parser.add_argument(
        "--part", type=int, nargs=2, default=(0, 1), help="i n: every n-th problem, into its own file"
    )
    given = parser.parse_args()
    part = tuple(given.part)
    judged = None
    if given.seed is None:
        known = {each.name: each for each in judged_rounds()}
        judged = known[given.round or list(known)[-1]]
    seed = judged.seed if judged else given.seed
    name = judged.name if judged else f"training-{seed}"
    path = given.out / (f"{name}.jsonl" if part[1] == 1 else f"{name}.{part[0]}-of-{part[1]}.jsonl")
    left = 0
    for family in [each for each in given.families if not judged or each in judged.per_kind]:
        per_kind = judged.per_kind[family] if judged else given.per_kind
        left += run(path, (family,), seed, per_kind, given.seconds, part)
    rows = [row for each in sorted(given.out.glob(f"{name}*.jsonl")) for row in read(each)]
    print(summary(rows))
    print(f"{left} problem(s) left to run")
    if judged and not left and part[1] == 1:
        write_results(
            FOLDER / f"{name}.csv", sorted(rows, key=lambda row: (row["family"], row["kind"], row["number"]))
        )
        write_page()
        print(f"wrote {FOLDER / 'index.md'}")
    return 2 if left else 0


if __name__ == "__main__":
    raise SystemExit(main())
