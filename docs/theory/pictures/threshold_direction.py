"""The direction that many vectors agree with, counted only above a threshold."""

import matplotlib.pyplot as plt
import numpy as np

from altmin import threshold_correlation

rng = np.random.default_rng(1)
angles = np.concatenate([np.deg2rad(35) + 0.12 * rng.standard_normal(40), rng.uniform(0, 2 * np.pi, 60)])
V = np.c_[np.cos(angles), np.sin(angles)]
found = threshold_correlation(V, 0.85)
grid = np.linspace(0, np.pi, 400)
G = (np.c_[np.cos(grid), np.sin(grid)] @ V.T) ** 2
top = np.linalg.svd(V)[2][0]

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.1), width_ratios=[1, 2], layout="constrained")
counted = (V @ found.vector) ** 2 >= 0.85
for v, on in zip(V, counted, strict=True):
    left.plot([0, v[0]], [0, v[1]], color="tab:blue" if on else "0.8", lw=0.8)
left.annotate(
    "", 1.25 * found.vector, (0, 0), arrowprops={"arrowstyle": "-|>", "color": "tab:red", "lw": 2.5}
)
left.set(title="a direction, and who agrees", xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), aspect="equal")
left.set_axis_off()
right.plot(np.rad2deg(grid), G.sum(axis=1), color="0.6", label="all squares ($\\tau = 0$: a singular vector)")
right.plot(
    np.rad2deg(grid),
    np.where(G >= 0.85, G, 0).sum(axis=1),
    color="tab:blue",
    label="squares above $\\tau = .85$",
)
right.axvline(np.rad2deg(np.arctan2(*found.vector[::-1])) % 180, color="tab:red", lw=1.5)
right.set(xlabel="direction in degrees", ylabel="value", title="what is maximised")
right.legend(frameon=False, fontsize=9)
for side in ("top", "right"):
    right.spines[side].set_visible(False)
