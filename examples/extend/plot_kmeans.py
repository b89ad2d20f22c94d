"""
k-means on the engine
=====================

*What does a new algorithm need?* Its mathematics. This file is k-means as a record of the contract, some
thirty lines: out-of-core data, streams of blocks, threads, Dask, checkpoints, Ctrl-C, progress and the
stopping rule come with the engine. The tutorial *Write a new algorithm on the engine* walks through it.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from altmin.contract import All, Done, Round, Take, record
from altmin.engine import Settings, open_source, run


# begin state
@record
class KMeansState:
    """What survives between rounds: arrays and numbers, so that it can be saved."""

    centres: np.ndarray
    ids: np.ndarray | None  # rows to start from, then None
    change: float = np.inf
    error: float = np.inf


# end state
# begin algorithm
@record
class KMeans:
    """Lloyd's algorithm; the fields are its parameters."""

    n_clusters: int

    def init(self, info, seed):
        ids = np.random.default_rng(seed).choice(info.n_rows, self.n_clusters, replace=False)
        return KMeansState(np.zeros((self.n_clusters, info.n_features)), np.sort(ids))

    def next_round(self, state):
        if state.ids is not None:
            return Round(start_map, Take(state.ids), name="start", then=self.begin)
        if state.change == 0:
            return Done()
        return Round(assign_map, All(), name="assign", iteration=True, then=self.move)

    def begin(self, state, rows):
        return replace(state, centres=rows, ids=None)

    def move(self, state, stats):
        sums, counts, error = stats
        kept = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], state.centres)
        change = float(np.abs(kept - state.centres).max())
        return replace(state, centres=kept, change=change, error=error)

    def finish(self, state):
        return state

    def measure(self, state):
        return {"change": state.change, "error": state.error}


# end algorithm
# begin maps
def start_map(algorithm, state, block):
    """The sampled rows, each at its place: sums over blocks put the start together."""
    return (state.ids[:, None] == block.ids).astype(float) @ block.X


def assign_map(algorithm, state, block):
    """What a block contributes: sums and numbers of the rows nearest to each centre, and their error."""
    distance = ((block.X[:, None] - state.centres) ** 2).sum(axis=2)
    nearest = np.eye(algorithm.n_clusters)[distance.argmin(axis=1)]
    return nearest.T @ block.X, nearest.sum(axis=0), float(distance.min(axis=1).sum())


# end maps

# %%
# Fit a list of arrays: any input of altmin would do, and a path or a Dask array needs no other line.
rng = np.random.default_rng(1)
true = rng.uniform(-4, 4, (6, 2))
blocks = [true[rng.integers(0, 6, 2000)] + 0.35 * rng.standard_normal((2000, 2)) for _ in range(5)]
source = open_source(blocks)
runs = [run(KMeans(6), source, Settings(max_iter=100, seed=seed)) for seed in range(8)]
result = min(runs, key=lambda run: run.state.error)  # k-means depends on its start
print(result.outcome, result.n_iter)

figure, ax = plt.subplots()
ax.plot(*np.concatenate(blocks)[::5].T, ".", color="0.7", ms=2)
ax.plot(*result.state.centres.T, "o", ms=12, mfc="none", mew=3, label=f"centres, {result.n_iter} rounds")
ax.set_title("k-means in thirty lines, on every backend")
ax.legend()
plt.show()
