"""Run the acceptance scripts, collect their figures, print a table.

    altmin-lab accept            everything
    altmin-lab accept and_       only the promises whose "script.promise" contains "and_"

A script is a module with functions decorated with ``@promise``; each yields :class:`Figure` rows. A figure
is kept with the commit it was measured at; ``+`` says that files had changed since.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
# Threads that a peer's runtime keeps spinning would count as ours. Where two are promised, two are asked for.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from harness import PROMISES, Figure  # noqa: E402

FIGURES = HERE / "figures.json"


def main(patterns: list[str]) -> int:
    """Run what matches, merge into figures.json, and fail if a promise isn't kept."""
    scripts = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in ("run", "harness"))
    commit, broken, ran = _commit(), 0, 0
    for script in scripts:
        importlib.import_module(script)
        for where, function in list(PROMISES.items()):
            # A script may have been imported by another one before: a promise belongs to where it stands.
            own = where.startswith(f"{script}.")
            if not own or (patterns and not any(pattern in where for pattern in patterns)):
                continue
            ran += 1
            begin = time.perf_counter()
            figures: list[Figure] = list(function())
            seconds = time.perf_counter() - begin
            for figure in figures:
                broken += not figure.kept
                print(f"{'ok  ' if figure.kept else 'MISS'} {where}: {figure}", flush=True)
            _keep(
                where,
                {
                    "promise": (function.__doc__ or "").strip().split("\n")[0],
                    "seconds": round(seconds, 1),
                    "commit": commit,
                    "figures": [figure.to_dict() for figure in figures],
                },
            )
    if not ran:
        print(f"no promise has one of {patterns} in its name")
        return 2
    print(f"{broken} figure(s) missed" if broken else "all figures as promised")
    return 1 if broken else 0


def _keep(where: str, row: dict[str, object]) -> None:
    """Merge into what the file holds now: two runs side by side don't undo each other."""
    kept = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    FIGURES.write_text(json.dumps({**kept, where: row}, indent=1, sort_keys=True) + "\n")


def _commit() -> str:
    """Short name of the commit beneath, or '' outside of a checkout."""
    name, changed = (
        subprocess.run(["git", *words], cwd=HERE, capture_output=True, text=True, check=False).stdout.strip()
        for words in (("rev-parse", "--short=8", "HEAD"), ("status", "--porcelain", "--", "../../src"))
    )
    return f"{name}+" if changed else name


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
