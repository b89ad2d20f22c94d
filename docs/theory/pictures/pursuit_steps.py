"""Orthogonal matching pursuit on a signal of five atoms: the residual as atoms join."""

import matplotlib.pyplot as plt
import numpy as np

from altmin import omp

rng = np.random.default_rng(2)
t = np.arange(64)
frequencies, phases = np.meshgrid(np.arange(1, 33), [0.0, np.pi / 2])
D = np.cos(np.pi / 64 * frequencies.ravel()[:, None] * (t + 0.5) + phases.ravel()[:, None])
D = np.vstack([D, np.eye(64)])
D /= np.linalg.norm(D, axis=1)[:, None]
x = 3 * D[6] - 2 * D[40] + 1.6 * D[64 + 20] - 1.5 * D[64 + 45] + 1.2 * D[17]

figure, axes = plt.subplots(1, 4, figsize=(9.8, 2.3), sharey=True, layout="constrained")
for ax, k in zip(axes, (0, 1, 3, 5), strict=True):
    codes = omp(x[None], D, k)[0] if k else np.zeros(len(D))
    left = x - codes @ D
    ax.plot(x, color="0.8", lw=3)
    ax.plot(left, color="tab:blue", lw=1.3)
    ax.set_title(f"{k} atoms: {np.linalg.norm(left) / np.linalg.norm(x):.0%} left", fontsize=10)
    ax.set_axis_off()
