"""Filling in: noisy half pictures, and holes of several kinds against the biharmonic filler."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from harness import Figure, cpu_time, promise

from altmin.images import denoise, inpaint
from altmin.metrics import psnr
from altmin_lab.noisy_pictures import noisy, pictures
from altmin_lab.peers.denoisers import block_matching

NAMES = ("house", "peppers", "monarch", "parrot", "boat")
SIDE = 96  # of crops


def quality(result: np.ndarray, image: np.ndarray) -> float:
    """PSNR of pixels that are shown."""
    return psnr(np.clip(result, 0, 255), image, data_range=255)


def halves() -> np.ndarray:
    """Half of the pixels, at random."""
    return np.random.default_rng(5).random((SIDE, SIDE)) < 0.5


@promise
def noisy_halves() -> Iterator[Figure]:
    """Half of the pixels missing, the others noisy: joint at least .5 dB above inpaint then denoise."""
    from skimage.restoration import inpaint_biharmonic

    missing = halves()
    for sigma in (10, 25, 50):
        gains, blind, others = [], [], []
        for name in NAMES:
            image = pictures()[name][:SIDE, :SIDE]
            before = np.where(missing, 0.0, noisy(name, image, sigma))
            joint = quality(inpaint(before, missing, sigma=sigma), image)
            filled = inpaint(before, missing)
            gains.append(joint - quality(denoise(filled, sigma), image))
            smooth = inpaint_biharmonic(before / 255, missing) * 255
            others.append(joint - quality(block_matching(smooth, sigma), image))
            blind.append(
                quality(inpaint(before, missing, sigma="auto"), image) - quality(denoise(filled), image)
            )
        what = f"dB above inpaint then denoise, sigma {sigma}"
        yield Figure(f"{what}, mean", float(np.mean(gains)), at_least=0.5)
        yield Figure(f"{what}, worst picture", min(gains))
        yield Figure(
            f"dB above biharmonic then BM3D, sigma {sigma}, mean", float(np.mean(others)), at_least=0.5
        )
        yield Figure(f"dB above biharmonic then BM3D, sigma {sigma}, worst picture", min(others))
        yield Figure(f"{what} estimated by both, mean", float(np.mean(blind)), at_least=0.5)


@promise
def holes() -> Iterator[Figure]:
    """Random holes and stripes of 4 pixels: above the biharmonic filler on every picture."""
    from skimage.restoration import inpaint_biharmonic

    stripes = np.zeros((SIDE, SIDE), bool)
    for offset in range(4):
        stripes[10 + offset :: 24] = True
    for label, missing in {"half at random": halves(), "stripes of 4 pixels": stripes}.items():
        gains, ours, theirs = [], 0.0, 0.0
        for name in NAMES:
            image = pictures()[name][:SIDE, :SIDE]
            before = np.where(missing, 0.0, image)
            with cpu_time() as clock:
                filled = inpaint(before, missing)
            ours += clock.cpu
            with cpu_time() as clock:
                peer = inpaint_biharmonic(before / 255, missing) * 255
            theirs += clock.cpu
            gains.append(quality(filled, image) - quality(peer, image))
        yield Figure(f"{label}: dB above biharmonic, mean", float(np.mean(gains)))
        yield Figure(f"{label}: dB above biharmonic, worst picture", min(gains), at_least=0.0)
        yield Figure(f"{label}: CPU of that of biharmonic", ours / theirs)
