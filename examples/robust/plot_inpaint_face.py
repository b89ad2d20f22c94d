"""
A face with two thirds of its pixels gone
=========================================

*What stood where the pixels are missing?* :func:`altmin.images.inpaint` learns an orthogonal dictionary
from the picture with holes, fills them in with what is sparse under it, and does both again. No other
picture is needed.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import ndimage
from skimage import data

from altmin.images import inpaint
from altmin.metrics import psnr

face = data.astronaut()[0:180, 130:310].mean(axis=2) / 255
missing = np.random.default_rng(0).random(face.shape) < 0.67

# %%
# One call. For comparison, each hole takes the value of its nearest neighbour.
filled = inpaint(np.where(missing, 0, face), missing)
nearest = face[tuple(ndimage.distance_transform_edt(missing, return_distances=False, return_indices=True))]

# %%
figure, axes = plt.subplots(1, 4, figsize=(10, 3.1))
shown = {
    "a third of the pixels": np.where(missing, 0, face),
    f"nearest pixel: {psnr(nearest, face):.1f} dB": nearest,
    f"altmin: {psnr(filled, face):.1f} dB": filled,
    "the original": face,
}
for ax, (name, image) in zip(axes, shown.items(), strict=True):
    ax.imshow(image, vmin=0, vmax=1)
    ax.set_title(name, fontsize=11)
    ax.set_axis_off()
plt.show()
