"""Denoising against BM3D: the middles of Set12 and of scikit-image's pictures, grey and colour."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from harness import Figure, promise

from altmin.images import denoise
from altmin_lab.noisy_pictures import COLOUR, SIGMAS, TUNED, measure, pictures, warm_up, whole_pictures
from altmin_lab.peers.denoisers import block_matching, colour_block_matching


@promise
def grey() -> Iterator[Figure]:
    """Mean at least BM3D's - .10 dB, in at most a third of its CPU, at four strengths of noise."""
    warm_up()
    fresh = [name not in TUNED for name in pictures()]
    for sigma in SIGMAS:
        ours, theirs = measure(denoise, sigma), measure(block_matching, sigma)
        gap = np.array(ours.quality) - np.array(theirs.quality)
        yield Figure(f"dB above BM3D, sigma {sigma}, {len(gap)} pictures", float(gap.mean()), at_least=-0.1)
        yield Figure(f"the same on {sum(fresh)} pictures that nothing was tuned on", float(gap[fresh].mean()))
        yield Figure(f"worst picture, dB above BM3D, sigma {sigma}", float(gap.min()))
        yield Figure(f"share of BM3D's CPU, sigma {sigma}", ours.cpu / theirs.cpu, at_most=1 / 3)


@promise
def colour() -> Iterator[Figure]:
    """Colour: the same against colour BM3D."""
    warm_up()
    images = pictures(COLOUR)
    for sigma in (10, 25, 50):
        ours, theirs = measure(denoise, sigma, images), measure(colour_block_matching, sigma, images)
        gap = np.array(ours.quality) - np.array(theirs.quality)
        yield Figure(f"dB above colour BM3D, sigma {sigma}, {len(gap)} pictures", gap.mean(), at_least=-0.1)
        yield Figure(f"worst picture, dB above colour BM3D, sigma {sigma}", float(gap.min()))
        yield Figure(f"share of colour BM3D's CPU, sigma {sigma}", ours.cpu / theirs.cpu, at_most=1 / 3)


@promise
def whole() -> Iterator[Figure]:
    """Uncut pictures, three of 256 x 256 and two of 512 x 512, sigma 25: the same against BM3D."""
    warm_up()
    images = whole_pictures(("house", "peppers", "parrot", "boat", "man"))
    ours, theirs = measure(denoise, 25, images), measure(block_matching, 25, images)
    gap = np.array(ours.quality) - np.array(theirs.quality)
    yield Figure("dB above BM3D, sigma 25, mean", float(gap.mean()), at_least=-0.1)
    for name, value in zip(images, gap, strict=True):
        yield Figure(f"dB above BM3D, sigma 25, {name}", float(value))
    yield Figure("share of BM3D's CPU", ours.cpu / theirs.cpu, at_most=1 / 3)
