"""
Topics that stay the same between halves
========================================

*Which topics are in the news, and which are in my algorithm?* Topics of 395 news stories are found twice, in
two halves that share no story. A topic that both halves have is about the news; one that only one of them
has may be an accident. Nothing about a single fit tells the two apart.
"""

import warnings

import lda.datasets
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import NMF
from sklearn.feature_extraction.text import TfidfTransformer

from altmin.metrics import match_components
from altmin.text import TopicModel, top_words, topic_stability

warnings.simplefilter("ignore")
counts = lda.datasets.load_reuters()
common = (counts > 0).sum(axis=0) >= 5
words = np.array(lda.datasets.load_reuters_vocab())[common]
X = sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(counts[:, common]))

# %%
# How alike are the topics of two halves, on average over four splits of the stories? The text is short
# and there is little of it: scikit-learn's NMF, from its default start, does about as well.
model = TopicModel(8, weighting=None)
for name, estimator in (("altmin", model), ("NMF", NMF(8, max_iter=2000))):
    print(f"{name}: cosine of matched topics {topic_stability(estimator, X, n_splits=4):.3f}")

# %%
# One split: each topic of the second half beside its match in the first. Long bars are in the news.
order = np.random.default_rng(0).permutation(X.shape[0])
first, second = (model.fit(X[half]).components_ for half in (order[:197], order[197:]))
index, cosine = match_components(first, second, signed=True)
order = np.argsort(cosine)
figure, ax = plt.subplots(figsize=(10, 4.8))
ax.barh(np.arange(8), cosine[order], color=plt.colormaps["RdYlGn"](cosine[order]), height=0.8, alpha=0.75)
for y, j in enumerate(order):
    here, there = top_words([first[index[j]], second[j]], words, 5)
    ax.text(0.01, y + 0.18, " ".join(here), va="center", fontsize=9.5)
    ax.text(0.01, y - 0.2, " ".join(there), va="center", fontsize=9.5, color="0.35")
ax.set(yticks=[], xlim=(0, 1), xlabel="cosine between the topic in one half (black) and in the other (grey)")
ax.set_title("Is it in the news, or in the algorithm?")
plt.show()
