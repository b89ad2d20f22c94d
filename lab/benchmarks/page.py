"""Make docs/benchmarks.md, of all speed lines and all results side by side, and the table of README.md.

python lab/benchmarks/page.py
"""

from __future__ import annotations

import json
import re
from itertools import chain
from pathlib import Path
from typing import Any

from altmin_lab.bench.board import problems
from altmin_lab.bench.page import (
    headline,
    headline_lines,
    least_flattering,
    machine_lines,
    problem_lines,
)

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "lab"
RESULTS = LAB / "benchmarks" / "results"
SPEED = re.compile(
    r"_speed\.|_cost\.|^bench_|_scale\.|^scale_|speed_of|quality_and_time|recovery_against_peers|"
    r"images_faces\.reconstruction"
)

HEAD = """# Benchmarks

How fast altmin is, beside others and beside what the machine can do, and where it isn't ahead. The page is
made by `python lab/benchmarks/page.py` from `lab/acceptance/figures.json` (`make accept`) and
`lab/benchmarks/results/` (`make bench`). Times are CPU seconds of one thread unless a line says otherwise;
ratios are of runs that took turns on the same machine; peers run at their good settings, which are named.
Counts are drawn five times, overcomplete dictionaries and complete ones in noise three times: their curves
are medians over the draws, as on a single one a solver may be lucky, or lost. Of fits under a tenth of a
second the least of three turns counts.

Our fits to small data (4 MiB of rows) make their report when it is first looked at. Peers give factors and no
report, so on counts our times are those of the fit alone, and a line of its own gives them with a look at the
report, which takes three times as long as the shortest fit. In the times on overcomplete dictionaries it is.

## In one table

Each line: the least error that any peer ends with on a data set, the peer that is first within 2 % of it, and
how long we take to come as near.
"""

BEHIND = """## Where we aren't ahead
"""

LINES = """## Every speed line of the acceptance scripts

A promise is *met* where all of its figures are within their bounds. Lines without one are for information.
"""


BEGIN, END = "<!-- headlines: written by lab/benchmarks/page.py -->", "<!-- end of headlines -->"


def speed_lines(figures: dict[str, Any], reasons: dict[str, str]) -> list[str]:
    """One table of all promises on time, memory and growth."""
    rows = ["| promise | measured | bound | |", "|---|---|---|---|"]
    for key in sorted(figures):
        if not SPEED.search(key):
            continue
        entry = figures[key]
        missed = sum(not figure["kept"] for figure in entry["figures"])
        verdict = "met" if not missed else f"{missed} missed: {reasons.get(key, 'see the figures')}"
        rows.append(f"| **{_cell(entry['promise'])}** `{key}` | | | {verdict} |")
        for figure in entry["figures"]:
            bounds = [("at most", figure["at_most"]), ("at least", figure["at_least"])]
            bound = ", ".join(f"{word} {value:g}" for word, value in bounds if value is not None)
            mark = "" if not bound else ("met" if figure["kept"] else "**missed**")
            rows.append(f"| {_cell(figure['what'])} | {figure['value']:.4g} | {bound} | {mark} |")
    waiting = sorted(set(reasons) - set(figures))
    return rows + [f"| `{key}` | | | not measured: {reasons[key]} |" for key in waiting]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def behind(lines: list[str], tried: dict[str, str]) -> list[str]:
    """The sentences that say so, with problem and data set; after those of a problem, what was tried."""
    found: dict[str, list[str]] = {}
    title = data = ""
    for line in lines:
        if line.startswith("## "):
            title = line[3:].split(":")[0]
        elif line.startswith("**") and line.endswith(")"):
            data = line[2:].split("**")[0]
        elif line.startswith("- not ahead: "):
            found.setdefault(title, []).append(f"- {title}, {data}: {line.removeprefix('- not ahead: ')}")
    for title, sentences in found.items():
        if title in tried:
            sentences.append(f"  - *tried*: {tried[title]}")
    return list(chain.from_iterable(found.values())) or ["Nowhere, on these data sets."]


def main() -> None:
    """Write the page."""
    figures = json.loads((LAB / "acceptance" / "figures.json").read_text())
    reasons = json.loads((LAB / "benchmarks" / "reasons.json").read_text())
    tried = json.loads((LAB / "benchmarks" / "tried.json").read_text())
    side_by_side: list[str] = []
    headlines: list[dict[str, str]] = []
    machine: dict[str, Any] = {}
    for problem in problems():
        path = RESULTS / f"{problem.name}.json"
        if path.exists():
            content = json.loads(path.read_text())
            machine = content["machine"]
            side_by_side += problem_lines(problem, content, RESULTS, "../lab/benchmarks/results/")
            headlines += [headline(problem, result) for result in content["results"]]
    page = [
        HEAD,
        *headline_lines(headlines),
        "",
        BEHIND,
        *behind(side_by_side, tried),
        "",
        LINES,
        *speed_lines(figures, reasons),
        "",
        *side_by_side,
    ]
    target = ROOT / "docs" / "benchmarks.md"
    target.write_text("\n".join([*page, *machine_lines(machine)]) + "\n")
    readme = ROOT / "README.md"
    before, _, rest = readme.read_text().partition(BEGIN)
    table = "\n".join(headline_lines(least_flattering(headlines)))
    readme.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}")
    print(f"wrote {target.relative_to(ROOT)} and a table of {readme.name}")


if __name__ == "__main__":
    main()
