"""Pictures that are computed from a few thousand single measurements."""

from __future__ import annotations

import numpy as np

from altmin import PhaseRetrieval, RankOneSensing
from altmin.demo.story import Story, side_by_side, story, timed


@story
def intensities() -> Story:
    """A face from brightnesses through random masks, all signs lost."""
    from skimage.data import lfw_subset

    face = lfw_subset()[0]
    rng, signal = np.random.default_rng(0), face.ravel()
    masks = rng.standard_normal((6 * len(signal), len(signal)))
    model, seconds = timed(PhaseRetrieval(random_state=0), masks, (masks @ signal) ** 2)
    found = model.signal_ * np.sign(model.signal_ @ signal)
    error = np.linalg.norm(found - signal) / np.linalg.norm(signal)
    guess = np.abs(np.linalg.lstsq(masks, np.abs(masks @ signal), rcond=None)[0])
    shown = {
        "signs ignored": guess / guess.max(),
        "altmin": found,
        "the truth": signal,
    }
    return Story(
        "Which face gave these intensities?",
        f"{len(masks)} measurements, each the squared brightness of a face through a random "
        "mask, so that all "
        f"signs are lost. In {seconds:.1f} s altmin finds the {len(signal)} pixels to a relative error of "
        f"{error:.0e}. (Only the overall sign can't be known.)",
        "PhaseRetrieval",
        "a face of lfw_subset (comes with scikit-image)",
        "altmin.PhaseRetrieval().fit(masks, intensities)",
        {
            "intensities": lambda: side_by_side(
                {k: np.clip(v, 0, 1).reshape(face.shape) for k, v in shown.items()}, width=2.2
            )
        },
        model=model,
    )


@story
def stripes() -> Story:
    """A picture of low rank from products u'Mv with random u and v."""
    from skimage import data
    from skimage.transform import resize

    image = resize(data.camera() / 255, (64, 64), anti_aliasing=True)
    U, s, Vt = np.linalg.svd(image)
    rank = 10
    truth = (U[:, :rank] * s[:rank]) @ Vt[:rank]
    rng = np.random.default_rng(0)
    n = 8 * rank * 128
    u, v = rng.standard_normal((n, 64)), rng.standard_normal((n, 64))
    model, seconds = timed(RankOneSensing(rank, random_state=0), (u, v), np.einsum("ij,ij->i", u @ truth, v))
    error = np.linalg.norm(model.matrix() - truth) / np.linalg.norm(truth)
    shown = {"altmin": np.clip(model.matrix(), 0, 1), "the truth, of rank 10": np.clip(truth, 0, 1)}
    return Story(
        "Which picture gave these products?",
        f"{n:,} measurements of a picture M, each of the form u'Mv with random vectors u and v. altmin finds "
        f"all {truth.size:,} pixels to a relative error of {error:.0e} in {seconds:.1f} s.",
        "RankOneSensing",
        "camera (comes with scikit-image), at 64 x 64 and rank 10",
        "altmin.RankOneSensing(10).fit((u, v), y).matrix()",
        {"sensing": lambda: side_by_side(shown, width=2.6)},
        model=model,
    )
