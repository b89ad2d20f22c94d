"""
When is a factorization machine the right tool?
===============================================

*Would boosting do?* On two laws, with ever more rows: one that is quadratic in many variables, and one that
isn't quadratic at all. :class:`altmin.FactorizationMachineRegressor` wins where its model is true, and its
report says so; where it isn't, gradient boosting is ahead, and the report says that too.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from altmin import FactorizationMachineRegressor
from altmin.datasets import make_quadratic

rng = np.random.default_rng(0)
law = make_quadratic(6000, 25, 2, mixed_signs=True, noise=0.2, random_state=0)
other = 3 * np.abs(law.X[:, 0]) + 4 * (law.X[:, 1] > 0.5) * (law.X[:, 2] > 0) + np.sin(2 * law.X[:, 3])
targets = {"a quadratic law": law.y, "steps and kinks": other + 0.2 * rng.standard_normal(len(other))}
makers = {
    "factorization machine (altmin)": lambda: FactorizationMachineRegressor(2, random_state=0),
    "ridge on all products": lambda: make_pipeline(PolynomialFeatures(2), RidgeCV([0.1, 1, 10, 100])),
    "gradient boosting": lambda: HistGradientBoostingRegressor(random_state=0),
}

# %%
# Share of the variance of 3000 new rows that is left over.
sizes, test = [200, 400, 800, 1600, 3000], slice(3000, None)
left, verdicts = {}, {}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for name, y in targets.items():
        left[name] = {}
        for method, make in makers.items():
            fits = [make().fit(law.X[:n], y[:n]) for n in sizes]
            left[name][method] = [1 - fit.score(law.X[test], y[test]) for fit in fits]
            if method.endswith("(altmin)"):
                verdicts[name] = fits[-1].guarantee_.verdict
print(verdicts)

# %%
figure, axes = plt.subplots(1, 2, sharey=True)
for ax, (name, curves) in zip(axes, left.items(), strict=True):
    for (method, values), style in zip(curves.items(), ("o-", "s--", "^:"), strict=True):
        ax.loglog(sizes, values, style, label=method)
    ax.set_xticks(sizes, [str(n) for n in sizes])
    ax.minorticks_off()
    ax.set(title=f"{name}\nreport: {verdicts[name]}", xlabel="rows")
axes[0].set_ylabel("share of variance left over")
axes[1].legend(loc="lower left", fontsize=9)
plt.show()
