"""Run the acceptance scripts, collect their figures, print a table.

    python acceptance/run.py            everything
    python acceptance/run.py and_       only the scripts whose name contains "and_"

A script is a module with functions decorated with ``@promise``; each yields :class:`Figure` rows.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from harness import PROMISES, Figure  # noqa: E402

FIGURES = HERE / "figures.json"


def main(patterns: list[str]) -> int:
    """Run what matches, merge into figures.json, and fail if a promise isn't kept."""
    kept = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    scripts = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in ("run", "harness"))
    broken = 0
    for script in scripts:
        if patterns and not any(pattern in script for pattern in patterns):
            continue
        PROMISES.clear()
        importlib.import_module(script)
        for name, function in list(PROMISES.items()):
            begin = time.perf_counter()
            figures: list[Figure] = list(function())
            seconds = time.perf_counter() - begin
            for figure in figures:
                broken += not figure.kept
                print(f"{'ok  ' if figure.kept else 'MISS'} {script}.{name}: {figure}", flush=True)
            kept[f"{script}.{name}"] = {
                "promise": (function.__doc__ or "").strip().split("\n")[0],
                "seconds": round(seconds, 1),
                "figures": [figure.to_dict() for figure in figures],
            }
            FIGURES.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    print(f"{broken} figure(s) missed" if broken else "all figures as promised")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
