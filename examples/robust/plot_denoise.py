"""
Noise taken out of a photograph
===============================

*Can the noise be told from the picture?* :func:`altmin.images.denoise` estimates the noise, learns a
transform from the noisy picture itself, and estimates each patch together with those that look alike. No
training data, no parameter.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage import data, restoration

from altmin.images import denoise, estimate_noise
from altmin.metrics import psnr, ssim

clean = data.camera()[90:282, 130:322] / 255
noisy = clean + np.random.default_rng(0).normal(0, 25 / 255, clean.shape)
noise = estimate_noise(noisy)
print(f"noise: {25 / 255:.4f}, estimated {noise:.4f} ± {noise.error:.4f}")

# %%
# The peer with the settings of its documentation, and the true strength of the noise.
peer = restoration.denoise_nl_means(noisy, 5, 6, 0.8 * 25 / 255, fast_mode=True, sigma=25 / 255)
ours = denoise(noisy)

# %%
figure, axes = plt.subplots(1, 4, figsize=(10, 3.1))
shown = {"noisy": noisy, "non-local means": peer, "altmin": ours, "the original": clean}
for ax, (name, image) in zip(axes, shown.items(), strict=True):
    quality = "" if image is clean else f"\n{psnr(image, clean):.1f} dB, SSIM {ssim(image, clean):.2f}"
    ax.imshow(image, vmin=0, vmax=1)
    ax.set_title(name + quality, fontsize=10)
    ax.set_axis_off()
plt.show()
