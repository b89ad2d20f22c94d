"""
Topics that stay the same between halves
========================================

*Which topics are in the news, and which are in my algorithm?* Topics of 395 news stories are found twice,
in two halves that share no story. A topic that both halves have is about the news; one that only one of
them has may be an accident. Nothing about a single fit tells the two apart.
"""

import warnings

import lda.datasets
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import NMF
from sklearn.feature_extraction.text import TfidfTransformer

from altmin import AND
from altmin.metrics import match_components

warnings.simplefilter("ignore")  # NMF uses up its iterations
counts = lda.datasets.load_reuters()
common = (counts > 0).sum(axis=0) >= 5
words = np.array(lda.datasets.load_reuters_vocab())[common]
X = TfidfTransformer(sublinear_tf=True).fit_transform(counts[:, common]).toarray()


def topics(X, seed):
    return AND(8, nonnegative_components=True).fit(X).components_


def nmf(X, seed):
    return NMF(8, init="random", max_iter=300, random_state=seed).fit(X).components_


def top(topic):
    return " ".join(words[np.argsort(-topic)[:5]])


# %%
# How alike are the topics of two halves, on average over six splits of the stories?
splits = [np.random.default_rng(seed).permutation(len(X)) for seed in range(6)]
for find in (topics, nmf):
    pairs = [(find(X[split[:197]], 2 * s), find(X[split[197:]], 2 * s + 1)) for s, split in enumerate(splits)]
    cosines = [match_components(a, b, signed=True)[1].mean() for a, b in pairs]
    print(f"{find.__name__}: cosine of matched topics {np.mean(cosines):.3f} +- {np.std(cosines):.3f}")

# %%
# One of the splits: each topic of the second half beside its match in the first. Long bars are in the news.
first, second = topics(X[splits[0][:197]], 0), topics(X[splits[0][197:]], 0)
index, cosine = match_components(first, second, signed=True)
order = np.argsort(cosine)
figure, ax = plt.subplots(figsize=(10, 4.8))
ax.barh(np.arange(8), cosine[order], color=plt.colormaps["RdYlGn"](cosine[order]), height=0.8, alpha=0.75)
for y, j in enumerate(order):
    ax.text(0.01, y + 0.18, top(first[index[j]]), va="center", fontsize=9.5)
    ax.text(0.01, y - 0.2, top(second[j]), va="center", fontsize=9.5, color="0.35")
ax.set(yticks=[], xlim=(0, 1), xlabel="cosine between the topic in one half (black) and in the other (grey)")
ax.set_title("Is it in the news, or in the algorithm?")
plt.show()
