"""Denoising the middles of Set12 and of scikit-image's pictures, against K-SVD and scikit-image."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from harness import Figure, cpu_time, data_folder, promise

from altmin.images import denoise
from altmin.metrics import psnr
from altmin_lab.peers import denoisers
from altmin_lab.pictures import load_set12

SIGMAS = (10, 15, 25, 50)
SIDE = 128  # of the middles: whole pictures keep BM3D busy for half an hour
# The settings of the denoiser were chosen on (parts of) these, with another seed of the noise.
TUNED = ("cameraman", "starfish", "barbara", "couple", "moon")
COLOUR = ("astronaut", "coffee", "chelsea", "rocket", "retina", "immunohistochemistry")
GREY = ("camera", "brick", "grass", "gravel", "moon", "coins", "text", "clock")


@dataclass(frozen=True)
class Measured:
    """PSNR of each picture, and CPU seconds of all."""

    quality: list[float]
    cpu: float


@cache
def pictures(names: tuple[str, ...] = ()) -> dict[str, Any]:
    """The middles of the pictures by name: Set12 and scikit-image's grey ones, or these of scikit-image."""
    from skimage import data

    folder = data_folder()
    if folder is None:
        raise SystemExit("images_denoise needs ALTMIN_DATA, the folder with images_set12")
    found = {} if names else load_set12(Path(folder))
    found |= {name: getattr(data, name)().astype(np.float64) for name in names or GREY}
    return {name: _middle(image) for name, image in found.items()}


def _middle(image: Any) -> Any:
    top, left = ((extent - min(extent, SIDE)) // 2 for extent in image.shape[:2])
    return image[top : top + SIDE, left : left + SIDE]


def noisy(name: str, image: Any, sigma: float) -> Any:
    """The same noise for everyone."""
    seed = [*name.encode(), int(sigma), int(os.environ.get("ALTMIN_SEED", "1"))]
    return image + sigma * np.random.default_rng(seed).standard_normal(image.shape)


def measure(call: Callable[..., Any], sigma: float, names: tuple[str, ...] = ()) -> Measured:
    """Quality and time of a denoiser over the pictures."""
    quality, seconds = [], 0.0
    for name, image in pictures(names).items():
        before = noisy(name, image, sigma)
        with cpu_time() as clock:
            after = call(before, sigma)
        quality.append(psnr(np.clip(after, 0, 255), image, data_range=255))
        seconds += clock.cpu
    return Measured(quality, seconds)


def warm_up() -> None:
    """Compile, so that nobody's first image pays for it."""
    tiny = np.random.default_rng(0).uniform(0, 255, (24, 24))
    for call in (denoise, denoisers.quick_ksvd):
        call(tiny, 20.0)


@promise
def on_every_picture() -> Iterator[Figure]:
    """Above K-SVD, non-local means, total variation and wavelets on every picture, by at least -.05 dB."""
    warm_up()
    ours = {sigma: measure(denoise, sigma) for sigma in SIGMAS}
    for name, call in {
        "K-SVD": denoisers.quick_ksvd,
        "non-local means": denoisers.non_local_means,
        "total variation": denoisers.total_variation,
        "wavelets": denoisers.wavelets,
    }.items():
        for sigma in SIGMAS:
            theirs = measure(call, sigma)
            gap = np.array(ours[sigma].quality) - np.array(theirs.quality)
            worst = list(pictures())[int(gap.argmin())]
            yield Figure(f"dB above {name}, sigma {sigma}, worst ({worst})", float(gap.min()), at_least=-0.05)
            yield Figure(f"dB above {name}, sigma {sigma}, mean", float(gap.mean()))
            yield Figure(f"CPU of that of {name}, sigma {sigma}", ours[sigma].cpu / theirs.cpu)
    for sigma in SIGMAS:
        yield Figure(f"PSNR, sigma {sigma}", float(np.mean(ours[sigma].quality)))
