"""
A dictionary that drifts, and one that changes
==============================================

*What if the atoms move while the data come in?* :class:`altmin.OnlineDictionaryLearning` takes a block at a
time, in constant memory. A dictionary that turns slowly is followed; when it is replaced by another one,
the learner notices that it no longer explains what it sees, and searches again.
"""

import matplotlib.pyplot as plt
import numpy as np

from altmin import OnlineDictionaryLearning, polar
from altmin.metrics import atom_error

rng = np.random.default_rng(0)
n, block, noise = 24, 1000, 0.05

# %%
# 30 blocks at rest, 60 that turn a little with each block, then a wholly new dictionary.
atoms = polar(rng.standard_normal((n, n)))
S = rng.standard_normal((n, n))
turn = polar(np.eye(n) + 0.002 * (S - S.T) / np.sqrt(n))
model = OnlineDictionaryLearning(batch_size=block, start_size=block, memory=3 * block, random_state=0)
errors, lost, searches = [], [], []
for step in range(120):
    if 30 <= step < 90:
        atoms = atoms @ turn
    if step == 90:
        atoms = polar(rng.standard_normal((n, n)))
    codes = rng.standard_normal((block, n)) * (rng.random((block, n)) < 0.1)
    model.partial_fit(codes @ atoms + noise * rng.standard_normal((block, n)))
    if step == 29:
        frozen = model.components_.copy()
    errors.append(atom_error(model.components_, atoms))
    lost.append(atom_error(frozen, atoms) if step >= 29 else np.nan)
    searches.append(model.n_searches_)

# %%
figure, ax = plt.subplots()
thousands = np.arange(1, len(errors) + 1)
ax.semilogy(thousands, lost, color="tab:orange", label="learnt once, from the first 30,000")
ax.semilogy(thousands, errors, color="tab:blue", label="OnlineDictionaryLearning")
for again in np.flatnonzero(np.diff(searches)) + 2:
    ax.annotate(
        "searches\nagain", (again, errors[again - 1]), (again + 4, 0.08), arrowprops={"arrowstyle": "->"}
    )
for start, stop, name in ((0, 30, "at rest"), (30, 90, "turning"), (90, 120, "another dictionary")):
    ax.axvspan(start, stop, color="0.5", alpha=0.08 if name == "turning" else 0.0)
    ax.text((start + stop) / 2, 1.75, name, ha="center", color="0.4")
ax.set(xlabel="samples seen, thousands", ylabel="largest error of an atom", ylim=(0.008, 2.6))
ax.set_title("Atoms that move")
ax.legend(loc="upper left", bbox_to_anchor=(0, 0.85))
plt.show()
