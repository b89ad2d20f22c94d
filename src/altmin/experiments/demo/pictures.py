"""Pictures: parts of digits, noise taken away, holes filled in, outliers found."""

from __future__ import annotations

import numpy as np

from altmin import AND, ApproximateDictionaryLearning
from altmin.experiments.demo.story import Story, story
from altmin.plots.components import plot_components


@story
def parts_of_digits() -> Story:
    """Non-negative parts of handwritten digits."""
    from sklearn.datasets import load_digits

    X = load_digits().data
    model = AND(16, nonnegative_components=True, decoder="nnls").fit(X)
    explained = 1 - (model.reconstruction_err_ / np.linalg.norm(X)) ** 2
    return Story(
        "What are handwritten digits made of?",
        f"16 parts, added in non-negative amounts, explain {explained:.0%} of 1797 digits. Whether they are "
        "the true parts is what the guarantee report says.",
        "altmin.AND(16, nonnegative_components=True, decoder='nnls').fit(load_digits().data)",
        {"digits": plot_components(model.components_, (8, 8), columns=8, title="16 parts")},
        model=model,
    )


@story
def noise() -> Story:
    """Noise taken out of a photograph."""
    from skimage import data, restoration

    from altmin.images import denoise, estimate_noise
    from altmin.metrics import psnr

    clean = data.camera()[100:356, 100:356] / 255
    noisy = clean + np.random.default_rng(0).normal(0, 25 / 255, clean.shape)
    ours = denoise(noisy)
    level = estimate_noise(noisy)
    other = restoration.denoise_nl_means(noisy, 7, 11, 0.8 * level, fast_mode=True, sigma=level)
    shown = {"noisy": noisy, "non-local means (scikit-image)": other, "altmin": ours}
    named = {f"{name}: {psnr(image, clean):.1f} dB": image for name, image in shown.items()}
    return Story(
        "Can the noise be told from the picture?",
        f"Noise of unknown strength on a photograph: altmin learns a transform from the noisy picture itself "
        f"and reaches {psnr(ours, clean):.1f} dB; non-local means {psnr(other, clean):.1f} dB.",
        "altmin.images.denoise(noisy)",
        {"denoised": _side_by_side(named)},
    )


@story
def holes() -> Story:
    """Half of the pixels of a face, filled in."""
    from skimage import data

    from altmin.images import inpaint
    from altmin.metrics import psnr

    clean = data.astronaut()[0:200, 130:330].mean(axis=2) / 255
    known = np.random.default_rng(0).random(clean.shape) < 0.5
    filled = inpaint(np.where(known, clean, 0), ~known)
    named = {
        "half of the pixels": np.where(known, clean, 0),
        f"filled in: {psnr(filled, clean):.1f} dB": filled,
        "the original": clean,
    }
    return Story(
        "What stood where the pixels are missing?",
        f"Half of the pixels are gone at random; filled in from the other half to "
        f"{psnr(filled, clean):.1f} dB.",
        "altmin.images.inpaint(image, missing)",
        {"inpainted": _side_by_side(named)},
    )


@story
def strangers() -> Story:
    """Corrupted images among digits, found by the dictionary that ignores them."""
    from sklearn.datasets import load_digits
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    X = load_digits().data[:1200]
    strange = rng.random(len(X)) < 0.1
    X = np.where(strange[:, None], rng.permuted(X, axis=1), X)
    model = ApproximateDictionaryLearning(
        40, n_nonzero_coefs=5, contamination=0.1, max_iter=20, random_state=0
    ).fit(X)
    area = roc_auc_score(strange, model.outlier_scores_)
    worst = np.argsort(-model.outlier_scores_)[:16]
    return Story(
        "Which images don't belong?",
        f"In a tenth of the digits the pixels were shuffled. A dictionary that leaves out what it can't "
        f"explain ranks shuffled above true digits in {area:.1%} of all pairs.",
        "altmin.ApproximateDictionaryLearning(40, n_nonzero_coefs=5, contamination=.1).fit(X)",
        {"outliers": plot_components(X[worst], (8, 8), columns=8, title="the 16 most outlying images")},
        model=model,
    )


def _side_by_side(images: dict[str, np.ndarray]) -> object:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(images), figsize=(3.2 * len(images), 3.5), layout="constrained")
    for ax, (title, image) in zip(axes, images.items(), strict=True):
        ax.imshow(image, cmap="gray", vmin=0, vmax=1)
        ax.set_title(title, fontsize=10)
        ax.set_axis_off()
    return figure
