"""
Ratings of films that nobody has rated
======================================

*What will people think of a new film?* Ratings follow from features of people and of films through a matrix
of rank 3. :class:`altmin.InductiveMatrixCompletion` learns that matrix from a few percent of the ratings,
so it can speak of films that have no rating at all. A factorization of the rating matrix alone cannot.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from altmin import InductiveMatrixCompletion

# %%
# 600 people with 12 features, 400 films with 15; the features are correlated. The last 100 films are new.
rng = np.random.default_rng(0)
mix = [np.eye(d) + 0.5 * rng.standard_normal((d, d)) / np.sqrt(d) for d in (12, 15)]
people, films = rng.standard_normal((600, 12)) @ mix[0], rng.standard_normal((400, 15)) @ mix[1]
law = rng.standard_normal((12, 3)) @ rng.standard_normal((3, 15)) / 6
ratings = people @ law @ films.T
noisy = ratings + 0.2 * ratings.std() * rng.standard_normal(ratings.shape)
old, new = slice(0, 300), slice(300, None)

# %%
# Learn from ever more ratings of the old films, predict the new ones.
shares = [0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256]
with_features, without = [], []
for share in shares:
    seen = rng.random(noisy[:, old].shape) < share
    R = sp.csr_array(np.where(seen, noisy[:, old], 0.0))
    model = InductiveMatrixCompletion(3, random_state=0).fit(R, people, films[old])
    error = model.complete(people, films[new]) - ratings[:, new]
    with_features.append(error.std() / ratings.std())
    # Without features only further ratings of the old films can be predicted.
    ids = InductiveMatrixCompletion(3, random_state=0).fit(R)
    without.append((ids.complete() - ratings[:, old])[~seen].std() / ratings.std())

# %%
# Relative error of ratings that were never seen. With features 250 ratings do what
# takes 20,000 without.
figure, ax = plt.subplots()
ax.loglog(shares, with_features, "o-", label="people and films with features: films without any rating")
ax.loglog(shares, without, "s--", label="ids alone: further ratings of films that were rated")
ax.axhline(1, color="0.6", lw=1)
ax.text(shares[-1], 1.06, "predicting the mean", color="0.4", ha="right")
ax.set(
    xlabel="share of ratings that were seen", ylabel="relative error", title="A film that nobody has rated"
)
ax.set_xticks(shares, [f"{share:.1%}" for share in shares])
ax.minorticks_off()
ax.legend(loc="lower left")
plt.show()
