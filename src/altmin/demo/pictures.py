"""Pictures: parts of digits, materials of a field, noise taken away, holes filled in, outliers found."""

from __future__ import annotations

from typing import Any

import numpy as np

from altmin import AND, ApproximateDictionaryLearning
from altmin.demo.story import Story, side_by_side, story, timed
from altmin.plots import ComponentsDisplay, plot_components


@story
def parts_of_digits() -> Story:
    """Non-negative parts of handwritten digits."""
    from sklearn.datasets import load_digits

    X = load_digits().data
    model = AND(16, nonnegative_components=True, decoder="nnls").fit(X)
    left = X - model.transform(X) @ model.components_
    explained = 1 - (np.linalg.norm(left) / np.linalg.norm(X)) ** 2
    return Story(
        "What are handwritten digits made of?",
        f"Sums of 16 parts explain {explained:.0%} of the ink of 1797 digits.",
        "AND",
        "digits (comes with scikit-learn)",
        "altmin.AND(16, nonnegative_components=True, decoder='nnls').fit(load_digits().data)",
        {"digits": lambda: plot_components(model.components_, (8, 8))},
        model=model,
    )


@story
def materials() -> Story:
    """Materials of a landscape from an airborne spectrometer: their spectra, and where they lie."""
    from tensorly.datasets import load_indian_pines

    cube = np.asarray(load_indian_pines()["tensor"], dtype=np.float64)
    X = cube.reshape(-1, cube.shape[2]) / cube.max()
    model, seconds = timed(AND(4, nonnegative_components=True, decoder="nnls"), X)
    codes = model.transform(X)
    left = np.linalg.norm(X - codes @ model.components_) / np.linalg.norm(X)
    return Story(
        "What grows in these fields?",
        f"An aircraft took a picture of farmland: {cube.shape[0]} x {cube.shape[1]} pixels in "
        f"{cube.shape[2]} "
        f"colours. In {seconds:.0f} s altmin finds four materials, each with its spectrum and a map of where "
        f"it is, that explain all but {left:.0%} of the light. Nobody told it about roads, fields and woods.",
        "AND",
        "Indian Pines (comes with tensorly)",
        "altmin.AND(4, nonnegative_components=True, decoder='nnls').fit(cube.reshape(-1, 200))",
        {"materials": lambda: _maps(codes, model.components_, cube.shape[:2])},
        model=model,
    )


def _maps(codes: Any, spectra: Any, shape: tuple[int, int]) -> Any:
    """A map over each spectrum."""
    import matplotlib.pyplot as plt

    n = len(spectra)
    figure, axes = plt.subplots(2, n, figsize=(2.4 * n, 3.6), layout="constrained", height_ratios=[2, 1])
    for j in range(n):
        axes[0, j].imshow(codes[:, j].reshape(shape), cmap="magma", vmax=np.quantile(codes[:, j], 0.99))
        axes[0, j].set_axis_off()
        axes[1, j].plot(spectra[j])
        axes[1, j].set(yticks=[], xticks=[0, 100, 200], xlabel="band")
    return figure


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
    shown = {"noisy": noisy, "non-local means": other, "altmin": ours}
    named = {f"{name}: {psnr(image, clean):.1f} dB": image for name, image in shown.items()}
    return Story(
        "Can the noise be told from the picture?",
        "A photograph with noise of unknown strength. altmin compares similar patches of the "
        "picture and reaches "
        f"{psnr(ours, clean):.1f} dB; scikit-image's non-local means reach {psnr(other, clean):.1f} dB (more "
        "is better).",
        "OrthogonalDictionaryLearning",
        "camera (comes with scikit-image)",
        "altmin.images.denoise(noisy)",
        {"denoised": lambda: side_by_side(named)},
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
        "What was where pixels are missing?",
        f"Half of the pixels, chosen at random, are missing. altmin fills them in from the other half, to "
        f"{psnr(filled, clean):.1f} dB.",
        "OrthogonalDictionaryLearning",
        "astronaut (comes with scikit-image)",
        "altmin.images.inpaint(image, missing)",
        {"inpainted": lambda: side_by_side(named)},
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
    worst = np.argsort(-model.outlier_scores_)[:20]
    return Story(
        "Which images don't belong?",
        f"In a tenth of the pictures of digits the pixels were shuffled. altmin learns what digits look like "
        "and gives each picture an outlier score; a shuffled picture scores above a true digit "
        f"in {area:.1%} "
        f"of all pairs, and {int(strange[worst].sum())} of the 20 highest scores belong to shuffled ones.",
        "ApproximateDictionaryLearning",
        "digits (comes with scikit-learn)",
        "altmin.ApproximateDictionaryLearning(40, n_nonzero_coefs=5, contamination=.1).fit(X)",
        {"outliers": lambda: ComponentsDisplay(X[worst], image_shape=(8, 8)).plot().figure_},
        model=model,
    )


@story
def few_numbers() -> Story:
    """A photograph from five numbers a tile, with a dictionary learnt on another photograph."""
    from sklearn.datasets import load_sample_image

    from altmin.images import Patches, reconstruct
    from altmin.images.learn import cosine_patches
    from altmin.metrics import psnr

    flower, china = (load_sample_image(f"{name}.jpg").mean(axis=2) / 255 for name in ("flower", "china"))
    X = Patches([china], 8, step=1).sample(6000, 0)
    model = ApproximateDictionaryLearning(256, n_nonzero_coefs=4, max_iter=10, random_state=0)
    model.fit(X - X.mean(axis=1, keepdims=True))
    view = flower[40:296, 160:544]
    atoms = {"64 cosines": cosine_patches(8, 8), "256 learnt atoms": model.components_}
    results = {name: reconstruct(view, dictionary, 4) for name, dictionary in atoms.items()}
    quality = {name: psnr(image, view) for name, image in results.items()}
    named = {f"{name}: {quality[name]:.1f} dB": image for name, image in results.items()}
    return Story(
        "How few numbers are enough to draw a flower?",
        f"Five numbers for each tile of 64 pixels. With the cosines of JPEG the picture reaches "
        f"{quality['64 cosines']:.1f} dB, with a dictionary learnt from a photograph of something else "
        f"{quality['256 learnt atoms']:.1f} dB (more is better).",
        "ApproximateDictionaryLearning, omp",
        "china.jpg and flower.jpg (comes with scikit-learn)",
        "model = altmin.ApproximateDictionaryLearning(256, n_nonzero_coefs=4).fit(patches)\n"
        "altmin.images.reconstruct(image, model.components_, 4)",
        {"flower": lambda: side_by_side({"the original": view, **named})},
        model=model,
    )
