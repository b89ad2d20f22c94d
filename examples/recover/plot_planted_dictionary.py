"""
A planted dictionary, found to rounding
=======================================

*Which atoms were these signals mixed from?* Signals are sparse combinations of 64 patterns on an 8 x 8
grid. Learning the patterns back is a non-convex problem, and most solvers get some of them nearly right.
:class:`altmin.CompleteDictionaryLearning` gets all of them, to machine precision, and knows it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import MiniBatchDictionaryLearning

from altmin import CompleteDictionaryLearning
from altmin.metrics import match_components, sine_errors
from altmin.plots import plot_dictionary

# %%
# The truth: waves inside blobs, each new one with something of its own, so that the atoms are independent.
rng = np.random.default_rng(0)
row, column = np.mgrid[0:8, 0:8]
atoms = np.zeros((0, 64))
while len(atoms) < 64:
    r, c, angle, width = *rng.uniform(0, 7, 2), rng.uniform(0, np.pi), rng.uniform(0.7, 1.8)
    wave = np.cos(2.2 * (np.cos(angle) * (row - r) + np.sin(angle) * (column - c)) + rng.uniform(0, np.pi))
    atom = (wave * np.exp(-((row - r) ** 2 + (column - c) ** 2) / (2 * width**2))).ravel()
    atom /= np.linalg.norm(atom)
    if np.linalg.norm(atom - np.linalg.lstsq(atoms.T, atom)[0] @ atoms) > 0.15:
        atoms = np.vstack([atoms, atom])
print(f"condition of the atoms: {np.linalg.cond(atoms):.0f}")

codes = rng.standard_normal((6000, 64)) * (rng.random((6000, 64)) < 0.08)
X = codes @ atoms

# %%
# Two learners on the same signals; of the penalties .03, .1, .3 and 1, .3 serves scikit-learn best.
ours = CompleteDictionaryLearning(random_state=0).fit(X)
peer = MiniBatchDictionaryLearning(64, alpha=0.3, batch_size=256, max_iter=10, random_state=0).fit(X)
print(ours.guarantee_.verdict)
for name, model in (("altmin", ours), ("scikit-learn", peer)):
    print(f"{name}: largest error of an atom {sine_errors(model.components_, atoms).max():.1e}")

# %%
# The same atoms in the same order; a red frame where an atom is off by more than five degrees.
figure, axes = plt.subplots(1, 3, figsize=(9, 3.4))
shown = {"the truth": atoms}
for name, model in (("altmin", ours), ("scikit-learn", peer)):
    index, _ = match_components(model.components_, atoms)
    matched = model.components_[index]
    shown[name] = matched * np.sign(np.sum(matched * atoms, axis=1, keepdims=True))
for ax, (name, found) in zip(axes, shown.items(), strict=True):
    error = np.linalg.norm(found / np.linalg.norm(found, axis=1)[:, None] - atoms, axis=1)
    plot_dictionary(found, ax=ax, title=f"{name}: {int((error < 0.087).sum())} of 64")
    for i in np.flatnonzero(error >= 0.087):
        corner = (9 * (i % 8) - 0.9, 9 * (i // 8) - 0.9)
        ax.add_patch(plt.Rectangle(corner, 8.8, 8.8, fill=False, edgecolor="tab:red", lw=1.5))
plt.show()
