"""Sparse samples lie on lines through the atoms; whitening makes them orthogonal, the polish exact."""

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
A = np.array([[1.0, 0.25], [0.72, 0.7]])
A /= np.linalg.norm(A, axis=1)[:, None]
X = rng.standard_normal((900, 2)) * (rng.random((900, 2)) < 0.25)
Y = X @ A
values, vectors = np.linalg.eigh(Y.T @ Y / len(Y))
P = vectors / np.sqrt(values) @ vectors.T
white = A @ P

figure, axes = plt.subplots(1, 3, figsize=(9.5, 3.1), layout="constrained")
shown = (
    (Y, A, "samples: lines along the atoms"),
    (Y @ P, white, "whitened: nearly at right angles"),
    (X, np.eye(2), "decoded: most codes are zero"),
)
for ax, (points, atoms, title) in zip(axes, shown, strict=True):
    reach = np.abs(points).max()
    ax.plot(*points.T, ".", color="0.6", ms=3)
    for atom, colour in zip(
        atoms / np.linalg.norm(atoms, axis=1)[:, None], ("tab:blue", "tab:red"), strict=True
    ):
        ax.annotate(
            "", 0.6 * reach * atom, (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2.5}
        )
    ax.set_title(title, fontsize=10)
    ax.set_aspect("equal")
    ax.set_axis_off()
