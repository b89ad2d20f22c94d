"""The table at the top of the page of benchmarks as a picture."""

import re
from pathlib import Path

import matplotlib.pyplot as plt

PAGE = Path("../benchmarks.md")  # the directive runs a script in its own folder


def speeds(text):
    """Jobs, and how many times as fast as the best peer altmin is; None where it doesn't get as far."""
    table = text.split("## In one table")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]
    found = {}
    for job, peer, _, ratio, *_ in rows:
        fast = re.match(r"([\d.]+) times as fast", ratio)
        slow = re.match(r"([\d.]+) times as (?:slow|long)", ratio)
        value = float(fast[1]) if fast else 1 / float(slow[1]) if slow else None
        found[f"{job}  ({peer.split(':')[0]})"] = value
    return found


ratios = speeds(PAGE.read_text(encoding="utf-8"))
names = list(ratios)[::-1]
figure, ax = plt.subplots(figsize=(10, 0.32 * len(names) + 0.9), layout="constrained")
for place, name in enumerate(names):
    if ratios[name] is None:
        ax.text(1.05, place, "doesn't get there", va="center", color="C3")
    else:
        ax.barh(place, ratios[name] - 1, left=1, color="C0" if ratios[name] > 1 else "C3", height=0.7)
        ax.text(max(ratios[name], 1) * 1.05, place, f"{ratios[name]:.2g} x", va="center")
ax.axvline(1, color="0.4", lw=1)
ax.set_xscale("log")
ax.set(xlabel="times as fast as the best peer", ylim=(-0.6, len(names) - 0.4))
ax.set_yticks(range(len(names)), names)
ax.set_xlim(None, 300)
