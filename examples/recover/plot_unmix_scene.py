"""
Unmix a hyperspectral scene
===========================

*What is on the ground, and how much of it?* Each pixel of an airborne image has a spectrum of 200 bands, a
mixture of the spectra of the materials in it. :func:`altmin.hyperspectral.unmix` finds the materials and
their shares, from the cube alone. The labels of this scene (fields of Indiana in June) are used only to
look at the result.
"""

import matplotlib.pyplot as plt
import numpy as np
from tensorly.datasets import load_indian_pines

from altmin.hyperspectral import unmix

data = load_indian_pines()
radiance = (np.asarray(data.tensor, dtype=float) - 1000) / 500  # the sensor's offset and gain
labels = data.ticks[0]

# %%
# One call. Bands without signal are found and left out.
result = unmix(np.maximum(radiance, 0), 4)
print(f"{result.bad_bands.sum()} band(s) left out; verdict: {result.guarantee.verdict}")
print(result.guarantee.advice)

# %%
# The report doesn't vouch for a real scene whose materials vary from place to place. But do the maps mean
# anything? Mean shares of each material in fields with the same label:
named = {2: "corn", 6: "trees and grass", 8: "windrowed hay", 11: "soybeans", 14: "woods"}
for label, name in named.items():
    print(f"{name:>16}:", result.abundances[labels == label].mean(axis=0).round(2))

# %%
# Material 1 has the red edge of green leaves (around band 35), and woods consist of it; bare soil between
# young corn and soybeans is material 2; roads and roofs are material 4.
figure = plt.figure(figsize=(11, 5.2))
top, bottom = figure.subfigures(2, 1, height_ratios=[1.35, 1])
colours = ["tab:green", "tab:orange", "tab:blue", "tab:red"]
axes = top.subplots(1, 5)
colour = radiance[:, :, [29, 19, 9]]
axes[0].imshow(np.clip(colour / np.quantile(colour, 0.99, axis=(0, 1)), 0, 1))
axes[0].set_title("the scene", fontsize=11)
order = np.argsort(-result.abundances.mean(axis=(0, 1)))
for ax, i in zip(axes[1:], order, strict=True):
    ax.imshow(result.abundances[:, :, i], cmap="magma", vmin=0, vmax=1)
for number, (ax, tint) in enumerate(zip(axes[1:], colours, strict=True), start=1):
    ax.set_title(f"material {number}", color=tint, fontsize=11)
for ax in axes:
    ax.set_axis_off()
ax = bottom.subplots()
for i, tint in zip(order, colours, strict=True):
    ax.plot(result.endmembers[i], color=tint)
ax.set(xlabel="band", ylabel="radiance", ylim=(0, None))
plt.show()
