"""
Move to Dask
============

*What changes when the data live on a cluster?* The type of X. Blocks stay on the workers, small sums
travel, and as they are added in the same tree as on a laptop, the result has the same bits. This example
runs on two local workers; a ``Client("scheduler:8786")`` instead is the only difference on a real cluster.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client, LocalCluster

from altmin import AND
from altmin.datasets import make_dir
from altmin.metrics import sine_errors

problem = make_dir(n_samples=20_000, n_features=50, n_components=16, concentration=2, random_state=0)

# %%
# The same fit from an array, from chunks cut in another way, from two threads, and on the workers of a
# cluster.
fits = {"1 thread": AND(16, max_iter=30, n_jobs=1).fit(problem.X)}
fits["2 threads"] = AND(16, max_iter=30, n_jobs=2).fit(problem.X)
pieces = np.array_split(problem.X, [137, 5000, 5001, 13_333])
fits["5 pieces"] = AND(16, max_iter=30).fit(pieces)
cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
with cluster, Client(cluster):
    fits["Dask, 4 chunks"] = AND(16, max_iter=30).fit(da.from_array(problem.X, chunks=(5_000, -1)))
    fits["Dask, 7 chunks"] = AND(16, max_iter=30).fit(da.from_array(problem.X, chunks=(3_333, -1)))

# %%
# Every pair of fits, entry by entry: the largest difference of a component.
names = list(fits)
different = np.array(
    [[np.abs(fits[a].components_ - fits[b].components_).max() for a in names] for b in names]
)
error = sine_errors(fits["1 thread"].components_, problem.components).max()
print(f"largest difference between any two: {different.max():g}; distance to the truth: {error:.0e}")

# %%
figure, ax = plt.subplots(figsize=(8, 4.6))
ax.imshow(different == 0, cmap="RdYlGn", vmin=-0.4, vmax=1.6)
for (i, j), value in np.ndenumerate(different):
    ax.text(j, i, "0" if value == 0 else f"{value:.0e}", ha="center", va="center", fontsize=13)
ax.set_xticks(range(len(names)), [name.replace(", ", ",\n") for name in names], fontsize=10)
ax.set_yticks(range(len(names)), names, fontsize=10)
ax.grid(visible=False)
ax.set_title("Laptop or cluster: the difference between any two fits")
plt.show()
