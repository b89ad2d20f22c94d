"""
A file larger than memory
=========================

*What does a fit cost in memory?* Rows on disk are read block by block, so the peak doesn't depend on how
many there are. Here :class:`altmin.OrthogonalDictionaryLearning` reads ``.npy`` files of growing length, by
path. What Python and NumPy allocate is counted, and compared with loading the file first. A longer file
takes longer, and no more memory.
"""

import tempfile
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from altmin import OrthogonalDictionaryLearning
from altmin.datasets import make_sparse_dictionary
from altmin.metrics import atom_error

folder = Path(tempfile.mkdtemp())
truth = make_sparse_dictionary(10, 40, orthogonal=True, random_state=0).components

# %%
# Write the files piece by piece, as any producer of data would.
sizes = [20_000, 50_000, 100_000, 200_000, 300_000]
for n_rows in sizes:
    X = np.lib.format.open_memmap(folder / f"{n_rows}.npy", "w+", dtype=np.float32, shape=(n_rows, 40))
    for start in range(0, n_rows, 10_000):
        rng = np.random.default_rng(start)
        codes = rng.standard_normal((10_000, 40)) * (rng.random((10_000, 40)) < 0.1)
        X[start : start + 10_000] = codes @ truth
    del X


# %%
# The same fit from the path and from the array; the peak of what was allocated meanwhile.
def peak(load, n_rows):
    tracemalloc.start()
    model = OrthogonalDictionaryLearning(max_iter=20).fit(load(folder / f"{n_rows}.npy"))
    megabytes = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return megabytes, atom_error(model.components_, truth)


OrthogonalDictionaryLearning(max_iter=5).fit(folder / f"{sizes[0]}.npy")  # imports aren't counted
by_path = [peak(lambda path: path, n_rows) for n_rows in sizes]
by_array = [peak(np.load, n_rows) for n_rows in sizes]
print("errors of the atoms (float32):", [f"{error:.0e}" for _, error in by_path])

# %%
files = [(folder / f"{n_rows}.npy").stat().st_size / 2**20 for n_rows in sizes]
figure, ax = plt.subplots()
ax.plot(
    files, [megabytes for megabytes, _ in by_array], "s--", color="tab:orange", label="fit(np.load(path))"
)
ax.plot(files, [megabytes for megabytes, _ in by_path], "o-", color="tab:blue", label="fit(path)")
ax.set(
    xlabel="size of the file, MB",
    ylabel="peak of memory, MB",
    title="Give the path, not the array",
    ylim=(0, None),
)
ax.legend()
plt.show()
for path in folder.iterdir():
    path.unlink()
