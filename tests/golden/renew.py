"""Write values.txt and walks.txt anew: ``python tests/golden/renew.py``. Read the difference, then commit it.

``python tests/golden/renew.py AND machine`` renews the cases whose name begins so.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import applications  # noqa: F401 (enters its cases)
import constants  # noqa: F401
import evidence  # noqa: F401
import pages  # noqa: F401
import parameters  # noqa: F401
import roads  # noqa: F401
import shell  # noqa: F401
import sizes  # noqa: F401
import verdicts  # noqa: F401
from cases import CASES
from describe import describe

HERE = Path(__file__).parent
VALUES, WALKS = HERE / "values.txt", HERE / "walks.txt"  # results, and the ways to them


def read() -> dict[str, dict[str, str]]:
    """What is kept of each case."""
    kept: dict[str, dict[str, str]] = {}
    lines = [line for file in (VALUES, WALKS) if file.exists() for line in file.read_text().splitlines()]
    for line in lines:
        if line.startswith("## "):
            now = kept.setdefault(line[3:], {})
        elif line:
            name, _, text = line.partition(" = ")
            now[name] = text
    return kept


def write(kept: dict[str, dict[str, str]], file: Path, walks: bool) -> None:
    """Cases in the order of their names, each with its results or its ways."""
    sections = []
    for name in sorted(set(kept) & set(CASES)):
        lines = [f"{key} = {text}" for key, text in kept[name].items() if ("walk" in key) == walks]
        sections += ["\n".join([f"## {name}", *lines])] if lines else []
    file.write_text("\n\n".join(sections) + "\n")


def main(beginnings: tuple[str, ...]) -> None:
    """Compute, and write all cases."""
    kept = read()
    for name, make in CASES.items():
        if not beginnings or name.startswith(beginnings):
            begin = time.perf_counter()
            try:
                kept[name] = dict(describe(make()))
            except Exception as error:
                print(f"{name}: {type(error).__name__}: {error}")
                continue
            print(f"{name}: {len(kept[name])} lines, {time.perf_counter() - begin:.2f} s", flush=True)
    write(kept, VALUES, walks=False)
    write(kept, WALKS, walks=True)


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
