"""Each fresh batch gives a noisy picture of what the model still misses."""

import matplotlib.pyplot as plt
import numpy as np

from altmin import FactorizationMachineRegressor
from altmin.datasets import make_quadratic

d, n = 24, 1500
law = make_quadratic(4 * n, d, 2, mixed_signs=True, random_state=1)
M = (law.factors.T * law.eigenvalues) @ law.factors
model = FactorizationMachineRegressor(2, batch_size=n, random_state=0)

figure, axes = plt.subplots(1, 4, figsize=(9.8, 2.8), layout="constrained")
axes[0].imshow(M, cmap="RdBu_r", vmin=-0.5, vmax=0.5)
axes[0].set_title("the law: M", fontsize=10)
for batch, ax in enumerate(axes[1:]):
    rows = slice(batch * n, (batch + 1) * n)
    X, y = law.X[rows], law.y[rows]
    r = y - model.predict(X) if batch else y - y.mean()
    H = (X.T * r) @ X / (2 * n) - r.mean() / 2 * np.eye(d)
    ax.imshow(H, cmap="RdBu_r", vmin=-0.5, vmax=0.5)
    ax.set_title(f"batch {batch + 1}: what is missing", fontsize=10)
    model.partial_fit(X, y)
for ax in axes:
    ax.set_axis_off()
