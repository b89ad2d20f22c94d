"""
A quadratic law, read off its data
==================================

*Which products of variables does y depend on?* The law has a diagonal and eigenvalues of both signs, which
ordinary factorization machines cannot represent. :class:`altmin.FactorizationMachineRegressor` finds the
matrix itself, so its entries can be read as interactions, from fewer rows than a full quadratic has
coefficients.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.preprocessing import PolynomialFeatures

from altmin import FactorizationMachineRegressor

# %%
# Two groups of variables act: one by its square, one against it. The features are skewed, not Gaussian.
rng = np.random.default_rng(0)
n_features = 60
directions = np.zeros((2, n_features))
directions[0, [5, 6, 7, 8, 30, 31, 32]] = rng.uniform(0.5, 1, 7)
directions[1, [15, 16, 17, 45, 46, 47, 48]] = rng.uniform(0.5, 1, 7)
M = directions.T @ np.diag([1.0, -1.0]) @ directions
X = rng.exponential(size=(2700, n_features)) - 1
w = rng.standard_normal(n_features)
y = 2 + X @ w + np.einsum("ni,ij,nj->n", X, M, X) + 0.1 * rng.standard_normal(len(X))
train, test = slice(0, 1700), slice(1700, None)

# %%
# The machine has some 180 free numbers, a full quadratic 1891: more than there are rows.
machine = FactorizationMachineRegressor(2, random_state=0).fit(X[train], y[train])
expand = PolynomialFeatures(2)
ridge = Ridge(1.0).fit(expand.fit_transform(X[train]), y[train])
full = np.zeros((n_features, n_features))
pairs = expand.powers_.sum(axis=1) == 2
for power, value in zip(expand.powers_[pairs], ridge.coef_[pairs], strict=True):
    i, j = np.repeat(np.arange(n_features), power)
    full[i, j] += value / 2
    full[j, i] += value / 2
scores = machine.score(X[test], y[test]), ridge.score(expand.transform(X[test]), y[test])
print(machine.guarantee_.verdict)

# %%
# What each of them believes about the interactions.
figure, axes = plt.subplots(1, 3, figsize=(9.5, 3.5))
shown = {
    "the truth": M,
    f"altmin (new rows: R² = {scores[0]:.4f})": machine.matrix(),
    f"ridge on all products (R² = {scores[1]:.2f})": full,
}
for ax, (name, matrix) in zip(axes, shown.items(), strict=True):
    ax.imshow(matrix, cmap="RdBu_r", vmin=-1, vmax=1)
    ax.set_title(name, fontsize=11)
    ax.set_axis_off()
plt.show()
