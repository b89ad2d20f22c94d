"""The calibration's page of the documentation: tables and a picture of the judged rounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from altmin_lab.calibration.rounds import (
    FOLDER,
    JudgedRound,
    final_results,
    judged_rounds,
    read_results,
)
from altmin_lab.calibration.tally import EFFORTS, false_claim, tally, truly_recovered
from altmin_lab.calibration.trial import FAMILIES, kinds

NAMES = {
    "and": "AND",
    "complete": "complete dictionaries",
    "orthogonal": "orthogonal dictionaries",
    "online": "online dictionaries",
    "machine": "factorization machine",
    "sensing": "rank-one sensing",
    "approximate": "approximate dictionaries",
}
_MARK = "<!-- tables: written by `make calibrate`, not by hand -->"


def write_page(folder: Path = FOLDER) -> None:
    """Renew the tables below the mark in ``index.md``, and the picture."""
    rounds, last = judged_rounds(folder), final_results(folder)
    page = folder / "index.md"
    text = page.read_text(encoding="utf-8").split(_MARK)[0].rstrip()
    parts = [text, _MARK, "## The last judged round of each family", summary(last)]
    parts += ["![Claimed against true recovery by family and effort](claimed.png)"]
    parts += ["## Every judged round", history(rounds, folder)]
    parts += ["## By kind of problem (the same rounds)", *(by_kind(last, family) for family in FAMILIES)]
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    draw(last).savefig(folder / "claimed.png", dpi=120)


def summary(rows: list[dict[str, Any]]) -> str:
    """A line a family: wrong fits and false claims, true fits and how many were said."""
    lines = [
        "| family | problems | wrong fits | false 'recovered' (cheap / full) | recovered, no noise "
        "| said (cheap / full) | recovered, noise | said (cheap / full) | other models and noise "
        "| 'plausible' or more (cheap / full) |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for family in FAMILIES:
        t = tally(rows, family)
        if not t["problems"]:
            continue
        lines.append(
            f"| {NAMES[family]} | {t['problems']} | {t['wrong']} | {t['false cheap']} / {t['false full']} "
            f"| {t['clean']} | {_share(t, 'clean')} | {t['noisy']} | {_share(t, 'noisy')} "
            f"| {t['foreign']} | {t['too green cheap']} / {t['too green full']} |"
        )
    return "\n".join(lines)


def history(rounds: list[JudgedRound], folder: Path) -> str:
    """All rounds with their false claims, the failed ones too."""
    lines = [
        "| round | seed | rules | finished | problems | wrong fits | false 'recovered' | too green "
        "| what came of it |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for each in rounds:
        rows = read_results(folder / f"{each.name}.csv")
        counts = [tally(rows, family) for family in FAMILIES]
        total = {key: sum(t[key] for t in counts) for key in ("problems", "wrong")}
        false = sum(t[f"false {effort}"] for t in counts for effort in EFFORTS)
        green = sum(t[f"too green {effort}"] for t in counts for effort in EFFORTS)
        lines.append(
            f"| {each.name} | {each.seed} | `{each.rules}` | {', '.join(each.finished) or 'none'} "
            f"| {total['problems']} | {total['wrong']} "
            f"| {false} | {green} | {each.note} |"
        )
    return "\n".join(lines)


def by_kind(rows: list[dict[str, Any]], family: str) -> str:
    """Truly recovered and said, kind by kind."""
    mine = [row for row in rows if row["family"] == family and row["error"] is not None]
    lines = [
        f"### {NAMES[family]}",
        "",
        "| kind | data | fits | truly recovered | 'recovered' cheap / full | false cheap / full |",
        "|---|---|---|---|---|---|",
    ]
    for each in kinds(family):
        of = [row for row in mine if row["kind"] == each.name]
        right = sum(each.group in ("clean", "noisy") and truly_recovered(row) for row in of)
        said = [sum(row[effort]["verdict"] == "recovered" for row in of) for effort in EFFORTS]
        false = [sum(false_claim(row, effort) for row in of) for effort in EFFORTS]
        lines.append(
            f"| {each.name} | {each.group} | {len(of)} | {right} | {said[0]} / {said[1]} "
            f"| {false[0]} / {false[1]} |"
        )
    return "\n".join(lines)


def draw(rows: list[dict[str, Any]]) -> Any:
    """Each fit as a dot: its error, by what the full report said of it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np

    rng = np.random.default_rng(0)
    colours = {"recovered": "#1a7f37", "plausible": "#b98900", "neither": "#b42318"}
    figure, axes = plt.subplots(1, 2, figsize=(12, 5), sharey=True, layout="constrained")
    for ax, effort in zip(axes, EFFORTS, strict=True):
        for level, (verdict, colour) in enumerate(reversed(colours.items())):
            for place, family in enumerate(FAMILIES):
                errors = [
                    max(row["error"], 1e-16)
                    for row in rows
                    if row["error"] is not None
                    and row["family"] == family
                    and (row[effort]["verdict"] if row[effort]["verdict"] in colours else "neither")
                    == verdict
                ]
                x = place + 0.27 * (level - 1) + rng.uniform(-0.11, 0.11, len(errors))
                ax.scatter(
                    x, errors, s=7, color=colour, alpha=0.6, linewidths=0, label=verdict if not place else ""
                )
        ax.axhline(0.01, color="black", linewidth=0.8, linestyle=":")
        ax.axhline(0.1, color="black", linewidth=0.8, linestyle="--")
        ax.set(yscale="log", ylim=(1e-16, 10), title=f"{effort} effort")
        ax.set_xticks(range(len(FAMILIES)), [NAMES[f].replace(" ", "\n") for f in FAMILIES], fontsize=8)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("true error (dotted: .01; above the dashed line: wrong)")
    axes[0].legend(frameon=False, markerscale=3, loc="lower left", title="the report said", fontsize=8)
    return figure


def _share(counts: dict[str, Any], group: str) -> str:
    if not counts[group]:
        return "-"
    return " / ".join(f"{counts[f'{group} {effort}']:.0%}" for effort in EFFORTS)
