"""
Read a guarantee report
=======================

*Did it find the truth?* After every fit ``guarantee_`` says 'recovered', 'plausible', 'unknown' or
'contradicted', and why. Here are four problems on which the true error is known, so that the verdict can be
held against it: one that is fine, one with too few samples, one without pure samples, and one asked for
too few components.
"""

import textwrap
import warnings

import matplotlib.pyplot as plt
import numpy as np

from altmin import AND
from altmin.datasets import make_binary, make_dir
from altmin.metrics import sine_errors

fine = make_dir(2000, 100, 12, concentration=2, random_state=0)
few = make_dir(25, 100, 12, concentration=2, random_state=0)
binary = make_binary(2000, 100, 12, n_active=3, random_state=0)
problems = {
    "fine": (fine, 12),
    "25 samples": (few, 12),
    "none is pure": (binary, 12),
    "10 asked of 12": (fine, 10),
}

# %%
# The report of the first: what is claimed and assumed, and a line for each component. The tests that hold are
# folded away; each says what was measured and what is required.
model = AND(12).fit(fine.X)
model.guarantee_

# %%
# Conditions of the theorem are for information (their constants don't discriminate). The verdict rests on
# ``report.decisive``: where data have noise and ``effort="full"``, refits to disjoint halves and from other
# starts are among them.
reports, errors = {}, {}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for name, (problem, n_components) in problems.items():
        fit = AND(n_components).fit(problem.X)
        reports[name] = fit.guarantee(problem.X, effort="full")
        errors[name] = sine_errors(problem.components, fit.components_).max()
decisive = [c.name for c in reports["fine"].conditions if c.decisive]

# %%
# Green holds, red is violated, grey cannot be checked. 'recovered' is said only where the true error is tiny.
colours = {"holds": "#2e9e5b", "violated": "#d1495b", "cannot be checked": "#c9c9c9"}
figure, ax = plt.subplots(figsize=(10, 5.2))
for x, (name, report) in enumerate(reports.items()):
    status = {c.name: c.status for c in report.conditions}
    for y, row in enumerate(decisive):
        ax.scatter(x, y, s=220, color=colours[status.get(row, "cannot be checked")])
    ax.text(x, len(decisive) + 0.1, report.verdict, ha="center", fontweight="bold", fontsize=9)
    ax.text(x, len(decisive) + 0.9, f"{errors[name]:.0e}", ha="center", color="0.4", fontsize=9)
ax.set_xticks(np.arange(len(reports)), list(reports))
ax.set_yticks(
    np.arange(len(decisive) + 2),
    [*(textwrap.fill(row, 32) for row in decisive), "verdict", "true error (known here)"],
    fontsize=9,
)
ax.set(ylim=(len(decisive) + 1.5, -0.6), xlim=(-0.5, len(reports) - 0.5), title="What the verdict rests on")
ax.grid(visible=False)
plt.show()

# %%
# The last has fewer dots than tests: what the missing components leave over was taken for noise, so tests of
# noise decide there. Its report explains those that contradict it, and says what to try.
print(reports["10 asked of 12"])
