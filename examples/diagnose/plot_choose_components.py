"""
How many components?
====================

*What if I don't know the number?* The residual falls with every component that is added, so it can't tell.
What can: fits to disjoint halves of the data. As long as there are no more components than there are true
ones, both halves find the same; with one too many, each half fills it with its own noise. The largest number
whose worst component still agrees is the answer of :func:`altmin.select_n_components`, and the curve shows
how clear it is.
"""

import matplotlib.pyplot as plt
import numpy as np

from altmin import AND, select_n_components
from altmin.datasets import make_scene

scene = make_scene(60, 60, 100, n_endmembers=5, random_state=0)
X = scene.cube.reshape(-1, 100)

# %%
# Every candidate is fitted to both halves of three random splits.
chosen = select_n_components(AND(2), X, range(2, 11), search="all")
print(chosen)
print(f"{len(scene.endmembers)} materials made the scene")

# %%
# For comparison, the residual of a fit to everything.
numbers = [row["n_components"] for row in chosen.curve]
residual = [AND(k).fit(X).reconstruction_err_ / np.linalg.norm(X) for k in numbers]

# %%
figure, ax = plt.subplots()
angles = [row["angle"] for row in chosen.curve]
ax.semilogy(numbers, angles, "o-", color="tab:blue", label="worst angle between halves (radians)")
ax.semilogy(numbers, residual, "s--", color="tab:orange", label="relative residual")
ax.axhline(chosen.tolerance, color="0.4", lw=1, ls=":")
ax.axvline(len(scene.endmembers), color="tab:green", alpha=0.2, lw=14, label="the truth")
ax.set(xlabel="number of components", title="The residual can't tell, halves can")
ax.legend(loc="lower right")
plt.show()
