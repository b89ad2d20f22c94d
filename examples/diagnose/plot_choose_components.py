"""
How many components?
====================

*What if I don't know the number?* The residual falls with every component that is added, so it can't tell.
What can: fits to disjoint halves of the data. As long as there are no more components than there are true
ones, both halves find the same; with one too many, each half fills it with its own noise. The largest
number whose worst component still agrees is the answer, and the curve shows how clear it is.
"""

import matplotlib.pyplot as plt
import numpy as np

from altmin import AND
from altmin.datasets import make_scene
from altmin.metrics import spectral_angle

scene = make_scene(60, 60, 100, n_endmembers=5, random_state=0)
X = scene.cube.reshape(-1, 100)
numbers = range(2, 11)

# %%
# Three random splits; the worst angle between matched components of the two halves, and the residual.
worst, residual = np.zeros((3, len(numbers))), []
for column, k in enumerate(numbers):
    residual.append(AND(k).fit(X).reconstruction_err_ / np.linalg.norm(X))
    for split in range(3):
        order = np.random.default_rng(split).permutation(len(X))
        halves = [AND(k).fit(X[half]).components_ for half in np.array_split(order, 2)]
        worst[split, column] = spectral_angle(*halves).max()
agreed = [k for k, angle in zip(numbers, worst.max(axis=0), strict=True) if angle < 0.25]
print(f"halves agree up to {max(agreed)} components; {len(scene.endmembers)} made the scene")

# %%
figure, ax = plt.subplots()
ax.semilogy(numbers, worst.T, color="tab:blue", alpha=0.35)
ax.semilogy(numbers, worst.max(axis=0), "o-", color="tab:blue", label="worst angle between halves (radians)")
ax.semilogy(numbers, residual, "s--", color="tab:orange", label="relative residual")
ax.axhline(0.25, color="0.4", lw=1, ls=":")
ax.axvline(len(scene.endmembers), color="tab:green", alpha=0.2, lw=14, label="the truth")
ax.set(xlabel="number of components", title="The residual can't tell, halves can")
ax.legend(loc="lower right")
plt.show()
