"""
Sparse codes at what speed?
===========================

*How long does it take to code a million patches?* :func:`altmin.omp` computes the same codes as
scikit-learn's orthogonal matching pursuit: the supports agree, the coefficients to rounding. The time
differs. CPU seconds of one process, and all signals by the Gram matrix in both.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import orthogonal_mp_gram

from altmin import omp

rng = np.random.default_rng(0)
X = rng.standard_normal((1500, 64))
D = rng.standard_normal((128, 64))
D /= np.linalg.norm(D, axis=1)[:, None]
omp(X[:10], D, 2)  # compiled once, and kept on disk


def seconds(call):
    begin = time.process_time()
    result = call()
    return time.process_time() - begin, result


# %%
sparsities = [2, 4, 8, 16, 24]
ours, theirs, same = [], [], []
for k in sparsities:
    spent, codes = seconds(lambda k=k: omp(X, D, k, n_jobs=1))
    ours.append(len(X) / spent)
    gram, products = D @ D.T, D @ X.T
    spent, others = seconds(lambda k=k, g=gram, p=products: orthogonal_mp_gram(g, p, n_nonzero_coefs=k).T)
    theirs.append(len(X) / spent)
    same.append(np.abs(codes - others).max())
print(f"largest difference of a coefficient: {max(same):.0e}")

# %%
figure, ax = plt.subplots()
ax.semilogy(sparsities, ours, "o-", label="altmin.omp")
ax.semilogy(sparsities, theirs, "s--", label="sklearn.linear_model.orthogonal_mp_gram")
for k, a, b in zip(sparsities, ours, theirs, strict=True):
    ax.annotate(f"{a / b:.0f}x", (k, np.sqrt(a * b)), ha="center", color="0.4")
ax.set(xlabel="nonzeros of a signal", ylabel="signals a CPU second", title="The same codes, sooner")
ax.legend()
plt.show()
