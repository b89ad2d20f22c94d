"""
A few samples that are simply wrong
===================================

*What do fifty broken samples in five thousand do to the factors?* To most factorizations: everything. A
start that takes extreme samples takes the broken ones. :class:`altmin.AND` screens them out before it
starts, names them in ``outlier_mask_``, and finds the features of the others as if nothing had happened: up
to a percent or so of broken samples. Beyond that they are still named, and should be taken out before a
second fit.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import NMF

from altmin import AND
from altmin.datasets import add_outliers, make_dir
from altmin.metrics import total_correlation_error

problem = make_dir(n_samples=5000, n_features=200, n_components=15, concentration=2, random_state=0)

warnings.simplefilter("ignore")  # NMF uses up its iterations

# %%
# Ever more samples are replaced by rubbish of three times the usual size.
shares = [0.0, 0.001, 0.01, 0.03, 0.1]
errors = {
    "AND": [],
    "AND without its screen (trim=None)": [],
    "AND, again without those it named": [],
    "NMF (scikit-learn)": [],
}
for share in shares:
    X, broken = add_outliers(problem.X, share, scale=3.0, random_state=1)
    first = AND(15).fit(X)
    fits = [
        first,
        AND(15, trim=None, max_iter=60).fit(X),
        AND(15).fit(X[~first.outlier_mask_]),
        NMF(15, init="nndsvda", max_iter=200, random_state=0).fit(np.maximum(X, 0)),
    ]
    for name, fit in zip(errors, fits, strict=True):
        errors[name].append(total_correlation_error(fit.components_, problem.components))
    named = first.outlier_mask_[broken].sum()
    print(f"{len(broken)} broken samples: {named} named, {first.outlier_mask_.sum() - named} wrongly")

# %%
figure, ax = plt.subplots()
places = np.arange(len(shares))
for (name, values), style in zip(errors.items(), ("o-", "^:", "d-.", "s--"), strict=True):
    ax.semilogy(places, np.maximum(values, 1e-12), style, label=name)
ax.set_xticks(places, [f"{share:.1%}" for share in shares])
ax.set(
    xlabel="share of broken samples", ylabel="total error of 15 features", title="Rubbish in, features out"
)
ax.legend(loc="center left")
plt.show()
