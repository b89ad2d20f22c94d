"""Denoising the 11 images of Set12, against BM3D (five minutes of it)."""

from __future__ import annotations

from collections.abc import Iterator

from harness import Figure, promise
from images_denoise import SIGMAS, measure

from altmin.images import denoise
from altmin_lab.peers.denoisers import block_matching


@promise
def against_block_matching() -> Iterator[Figure]:
    """Mean at least BM3D's - 1.0 dB."""
    for sigma in SIGMAS:
        ours, theirs = measure(denoise, sigma), measure(block_matching, sigma)
        yield Figure(f"dB above BM3D, sigma {sigma}", ours[0] - theirs[0], at_least=-1.0)
        yield Figure(f"share of BM3D's CPU, sigma {sigma}", ours[1] / theirs[1])
