"""Write values.txt anew: ``python tests/golden/renew.py``. Read the difference before it is committed.

``python tests/golden/renew.py AND machine`` renews the cases whose name begins so.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import applications  # noqa: F401 (enters its cases)
import evidence  # noqa: F401
import pages  # noqa: F401
import roads  # noqa: F401
import verdicts  # noqa: F401
from cases import CASES
from describe import describe

VALUES = Path(__file__).with_name("values.txt")


def read() -> dict[str, dict[str, str]]:
    """What is kept of each case."""
    kept: dict[str, dict[str, str]] = {}
    for line in VALUES.read_text().splitlines() if VALUES.exists() else []:
        if line.startswith("## "):
            now = kept.setdefault(line[3:], {})
        elif line:
            name, _, text = line.partition(" = ")
            now[name] = text
    return kept


def main(beginnings: tuple[str, ...]) -> None:
    """Compute, and write all cases in the order of their names."""
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
    sections = [
        "\n".join([f"## {name}", *(f"{key} = {text}" for key, text in kept[name].items())])
        for name in sorted(set(kept) & set(CASES))
    ]
    VALUES.write_text("\n\n".join(sections) + "\n")


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
