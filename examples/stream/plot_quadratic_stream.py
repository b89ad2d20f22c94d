"""
A quadratic model from a stream
===============================

*Can a model of all products of 200 variables be learnt from rows that are seen once?* There are 20,100
products. The state of :class:`altmin.FactorizationMachineRegressor` holds a few thousand numbers, each
batch of rows makes one step, and the error falls by a constant factor with each batch, as Theorem 1 of Lin
and Ye (2016) says.
"""

import matplotlib.pyplot as plt
import numpy as np

from altmin import FactorizationMachineRegressor
from altmin.datasets import make_quadratic

law = make_quadratic(10, n_features=200, rank=3, mixed_signs=True, random_state=0)
M = (law.factors.T * law.eigenvalues) @ law.factors


def stream(n_batches, noise, n_rows=8000):
    """Rows as they come; none of them is kept."""
    for seed in range(n_batches):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n_rows, 200))
        y = law.intercept + X @ law.coef + np.sum((X @ M) * X, axis=1)
        yield X, y + noise * rng.standard_normal(n_rows)


# %%
# Errors of the law itself, not of predictions, after each batch; without noise, and with some.
errors = {}
for noise in (0.0, 0.3, 3.0):
    model = FactorizationMachineRegressor(3, batch_size=8000, random_state=0)
    errors[noise] = []
    for X, y in stream(16, noise):
        model.partial_fit(X, y)
        errors[noise].append(law.error(model.coef_, model.factors_, model.eigenvalues_))

# %%
# Without noise the error falls to rounding. With noise steps become shorter once the floor of a single
# batch is reached, and the error goes on falling as that of an average does.
figure, ax = plt.subplots()
rows = 8000 * np.arange(1, 17)
for (noise, values), colour in zip(errors.items(), ("tab:blue", "tab:green", "tab:red"), strict=True):
    ax.semilogy(rows, values, "o-", color=colour, label=f"noise {noise:g}")
ax.set(xlabel="rows seen, each once", ylabel="relative error of w and M", title="20,100 products in one pass")
ax.legend(title="standard deviation")
plt.show()
