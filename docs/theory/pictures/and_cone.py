"""Samples fill a cone; its extreme rays are the features. Seen in the plane x1 + x2 + x3 = 1."""

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(3)
corners = np.array([[0.0, 0.0], [1.0, 0.1], [0.42, 0.95]])
weights = rng.dirichlet([0.45] * 3, 500)
points = weights @ corners

figure, axes = plt.subplots(1, 3, figsize=(9.5, 3.1), layout="constrained")
titles = (
    "the shape says which features",
    "any triangle around explains the data",
    "decode, threshold, refit: it shrinks",
)
for ax, title in zip(axes, titles, strict=True):
    ax.plot(*points.T, ".", color="0.65", ms=3)
    ax.set_title(title, fontsize=10)
    ax.set(xlim=(-0.45, 1.4), ylim=(-0.4, 1.4))
    ax.set_axis_off()
axes[0].fill(*corners.T, facecolor="none", edgecolor="tab:blue", lw=2)
axes[0].plot(*corners.T, "o", color="tab:blue", ms=9)
for corner, name in zip(corners, ("$a_1$", "$a_2$", "$a_3$"), strict=True):
    axes[0].annotate(
        name, corner, xytext=(0, -16 if corner[1] < 0.5 else 8), textcoords="offset points", ha="center"
    )
centre = corners.mean(axis=0)
for scale, angle, colour in ((1.55, 0.25, "tab:orange"), (1.75, -0.3, "tab:red"), (1.45, 0.0, "tab:green")):
    c, s = np.cos(angle), np.sin(angle)
    wrong = centre + scale * (corners - centre) @ np.array([[c, s], [-s, c]])
    axes[1].fill(*wrong.T, facecolor="none", edgecolor=colour, lw=1.5)
for stage in range(6):
    off = 0.55 * 0.5**stage
    c, s = np.cos(0.5 * off), np.sin(0.5 * off)
    near = centre + (1 + off) * (corners - centre) @ np.array([[c, s], [-s, c]])
    axes[2].fill(*near.T, facecolor="none", edgecolor="tab:blue", lw=1.2, alpha=0.25 + 0.13 * stage)
