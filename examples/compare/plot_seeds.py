"""
Other seed, other factors?
==========================

*If I run it again, do I get the same?* Non-negative factorizations are used to say what data consist of.
Then the answer should depend on neither the seed nor which half of the data was looked at. Here each method
factors the data six times, on random halves and with other seeds, and each pair of results is compared.
"""

import itertools
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF

from altmin import AND
from altmin.datasets import make_dir
from altmin.metrics import match_components

topics = make_dir(1500, 300, 25, concentration=5, noise=0.01, random_state=0)
data = {"topics with noise": (np.maximum(topics.X, 0), 25), "digits": (load_digits().data, 8)}
methods = {
    "AND": lambda k, seed: AND(k),
    "NMF, nndsvda start": lambda k, seed: NMF(k, init="nndsvda", max_iter=400, random_state=seed),
    "NMF, random start": lambda k, seed: NMF(k, init="random", max_iter=400, random_state=seed),
}


warnings.simplefilter("ignore")  # NMF uses up its iterations, which are many enough


# %%
def agreement(X, k, make):
    """Cosines of matched components, for every pair of fits to random halves."""
    halves = [np.random.default_rng(seed).permutation(len(X))[: len(X) // 2] for seed in range(6)]
    fits = [make(k, seed).fit(X[half]).components_ for seed, half in enumerate(halves)]
    pairs = itertools.combinations(fits, 2)
    return np.concatenate([match_components(a, b, signed=True)[1] for a, b in pairs])


results = {name: [agreement(X, k, make) for make in methods.values()] for name, (X, k) in data.items()}

# %%
# 1 means: the same component. On data that follow the model AND always finds the same ones.
figure, axes = plt.subplots(1, 2, sharey=True)
for ax, (name, values) in zip(axes, results.items(), strict=True):
    parts = ax.violinplot(values, showmedians=True, widths=0.8)
    for body, colour in zip(parts["bodies"], ("tab:blue", "tab:orange", "tab:red"), strict=True):
        body.set(facecolor=colour, alpha=0.6)
    ax.set_xticks([1, 2, 3], [label.replace(", ", ",\n") for label in methods])
    ax.set(title=name)
axes[0].set_ylabel("cosine of matched components")
plt.show()
