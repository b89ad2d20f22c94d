"""Results as files: JSON and curves for each problem, and one page of tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from textwrap import fill
from typing import Any

from altmin_lab.bench.board import Problem, Result, best_point, problems, time_to
from altmin_lab.bench.machine import describe_machine


def save(folder: Path, problem: Problem, results: Sequence[Result], quick: bool) -> Path:
    """Write one problem's results as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{problem.name}.json"
    content = {
        "quick": quick,
        "budget": problem.budget[not quick],
        "machine": describe_machine(),
        "settings": problem.settings,
        "results": [asdict(result) for result in results],
    }
    path.write_text(json.dumps(content, separators=(",", ":"), allow_nan=True) + "\n")
    return path


def draw(folder: Path, problem: Problem, results: Sequence[Result]) -> Path | None:
    """Error against CPU seconds, a panel a data set; None where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    shown = results[:4]
    figure = Figure(figsize=(3.6 * len(shown), 3.6), layout="constrained")
    for ax, result in zip(figure.subplots(1, len(shown), squeeze=False)[0], shown, strict=True):
        for name, curve in result.curves.items():
            x, y = zip(*[(max(t, 1e-4), max(e, 1e-16)) for t, e in curve if e == e], strict=True) or ((), ())
            own = name in problem.ours
            ax.loglog(x, y, "o-" if own else ".--", lw=2 if own else 1, ms=4, label=name)
        ax.set(title=result.data, xlabel="CPU seconds")
    figure.axes[0].set_ylabel(fill(problem.measure, 30))
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=7
    )
    path = folder / f"{problem.name}.png"
    figure.savefig(path, dpi=80)
    return path


def write_page(folder: Path) -> Path:
    """Make README.md of all results that the folder holds."""
    lines = ["# Side by side", "", "Made by `make bench`; errors against CPU time of one thread.", ""]
    machine: dict[str, Any] = {}
    for problem in problems():
        path = folder / f"{problem.name}.json"
        if path.exists():
            content = json.loads(path.read_text())
            machine = content["machine"]
            lines += problem_lines(problem, content, folder)
    lines += machine_lines(machine)
    page = folder / "README.md"
    page.write_text("\n".join(lines) + "\n")
    return page


def problem_lines(problem: Problem, content: dict[str, Any], folder: Path, link: str = "") -> list[str]:
    """One problem: picture, a table for each data set, and where we aren't ahead."""
    lines = [f"## {problem.title}", ""]
    if (folder / f"{problem.name}.png").exists():
        lines += [f"![{problem.title}]({link}{problem.name}.png)", ""]
    if content["quick"]:
        lines += [f"*Quick run: small data, {content['budget']:g} CPU s for each solver.*", ""]
    for name, settings in content["settings"].items():
        lines += [f"- {name}: {settings}"]
    lines += [""]
    for result in content["results"]:
        lines += [f"**{result['data']}** ({problem.measure})", "", *_table(problem, result), ""]
        lines += [f"- {line}" for line in (*not_ahead(problem, result), *_skips(result))]
        lines += [""]
    return lines


def not_ahead(problem: Problem, result: dict[str, Any]) -> Iterator[str]:
    """Sentences on peers that are more exact, or sooner at a target; one that says so if there are none."""
    curves = result["curves"]
    own = {name: curve for name, curve in curves.items() if name in problem.ours}
    peers = {name: curve for name, curve in curves.items() if name not in problem.ours}
    seconds, error = min((best_point(curve) for curve in own.values()), key=lambda point: point[1])
    behind = False
    for name, curve in peers.items():
        their_seconds, their_error = best_point(curve)
        if their_error < 0.98 * error:
            behind = True
            ours = f"{error:.3g} in {seconds:.2g} s"
            yield f"not ahead: {name} reaches {their_error:.3g} in {their_seconds:.2g} CPU s, we {ours}"
        elif not problem.targets and their_error < 1.02 * error and their_seconds < 0.9 * seconds:
            behind = True
            yield f"not ahead: {name} takes {their_seconds:.2g} CPU s for the same, we {seconds:.2g}"
        for target in problem.targets:
            theirs = time_to(curve, target)
            mine = min((t for c in own.values() if (t := time_to(c, target)) is not None), default=None)
            if theirs is not None and mine is not None and theirs < 0.9 * mine:
                behind = True
                yield f"not ahead: {name} is at {target:g} after {theirs:.2g} CPU s, we after {mine:.2g}"
    if not behind:
        yield "ahead: no peer is more exact, and none is sooner at an error that we reach"


def headline(problem: Problem, result: dict[str, Any]) -> dict[str, str]:
    """How long the quickest peer takes to within 2 % of the least error of any peer, and how long we do.

    Parameters
    ----------
    problem : Problem
        Which solvers are ours.
    result : dict
        Curves of one data set.

    Returns
    -------
    dict
        Job, best peer with its error and CPU seconds, our CPU seconds to that error (or the error we end
        with, if we don't get there), the ratio, and our least error.
    """
    curves = result["curves"]
    own = {name: curve for name, curve in curves.items() if name in problem.ours}
    peers = {name: best_point(curve) for name, curve in curves.items() if name not in problem.ours}
    job = f"{problem.title.split(':')[0]}, {result['data']}"
    error = min((best_point(curve) for curve in own.values()), key=lambda point: point[1])[1]
    if not peers:
        return {
            "job": job,
            "best peer": "none runs",
            "we": "",
            "ratio": "",
            "our least error": f"{error:.2g}",
        }
    least = min(error for _, error in peers.values())
    # The same 2 % for them: the quickest that comes so near to the least error of any, not the last digit's.
    times = {name: time_to(curves[name], 1.02 * least) for name in peers}
    seconds, name = min((t, name) for name, t in times.items() if t is not None)
    mine = min((t for c in own.values() if (t := time_to(c, 1.02 * least)) is not None), default=None)
    return {
        "job": job,
        "best peer": f"{name}: {least:.2g} in {seconds:.2g} s",
        "we": f"{mine:.2g} s" if mine is not None else f"{error:.2g} at the end",
        "ratio": f"{seconds / max(mine, 1e-4):.2g} times as fast" if mine is not None else "not reached",
        "our least error": f"{error:.2g}",
    }


def least_flattering(rows: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Of the lines of one problem's data sets the one with the smallest ratio; not reached is smallest."""
    ratio = lambda row: 0.0 if row["ratio"] == "not reached" else float(row["ratio"].split()[0] or "inf")  # noqa: E731
    problems: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        if row["ratio"]:
            problems.setdefault(row["job"].split(",")[0], []).append(row)
    return [min(lines, key=ratio) for lines in problems.values()]


def headline_lines(rows: Sequence[dict[str, str]]) -> list[str]:
    """The headlines as a table in Markdown."""
    if not rows:
        return []
    heads = list(rows[0])
    return [
        "| " + " | ".join(heads) + " |",
        "|" + "---|" * len(heads),
        *("| " + " | ".join(row.values()) + " |" for row in rows),
    ]


def _table(problem: Problem, result: dict[str, Any]) -> list[str]:
    heads = ["solver", "least error", "CPU s", *(f"s to {target:g}" for target in problem.targets)]
    rows = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for name, curve in result["curves"].items():
        seconds, error = best_point(curve)
        label = f"**{name}**" if name in problem.ours else name
        times = (time_to(curve, target) for target in problem.targets)
        shown = [label, f"{error:.3g}", f"{seconds:.3g}", *("-" if t is None else f"{t:.2g}" for t in times)]
        rows.append("| " + " | ".join(shown) + " |")
    return rows


def _skips(result: dict[str, Any]) -> Iterator[str]:
    for name, reason in result["skipped"].items():
        yield f"skipped: {name}: {reason}"


def machine_lines(machine: dict[str, Any]) -> list[str]:
    """The machine as a list."""
    if not machine:
        return []
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items() if number)
    return [
        "## The machine",
        "",
        f"- {machine['processor']}, {machine['cores']} cores, {machine['memory']}, {machine['system']}",
        f"- Python {machine['python']}, {', '.join(machine['blas'])}",
        f"- {versions}",
    ]
