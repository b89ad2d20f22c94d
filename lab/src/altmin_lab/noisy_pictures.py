"""The middles of Set12 and of scikit-image's pictures with noise, and what a denoiser makes of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from altmin.images import denoise
from altmin.metrics import psnr
from altmin_lab.peers import denoisers
from altmin_lab.pictures import data_folder, load_set12

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
        raise SystemExit("this needs ALTMIN_DATA, the folder with images_set12")
    found = {} if names else load_set12(folder)
    found |= {name: getattr(data, name)().astype(np.float64) for name in names or GREY}
    return {name: _middle(image) for name, image in found.items()}


def whole_pictures(names: tuple[str, ...]) -> dict[str, Any]:
    """These of Set12, uncut."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("this needs ALTMIN_DATA, the folder with images_set12")
    found = load_set12(folder)
    return {name: found[name] for name in names}


def _middle(image: Any) -> Any:
    top, left = ((extent - min(extent, SIDE)) // 2 for extent in image.shape[:2])
    return image[top : top + SIDE, left : left + SIDE]


def noisy(name: str, image: Any, sigma: float) -> Any:
    """The same noise for everyone."""
    seed = [*name.encode(), int(sigma), int(os.environ.get("ALTMIN_SEED", "1"))]
    return image + sigma * np.random.default_rng(seed).standard_normal(image.shape)


def measure(call: Callable[..., Any], sigma: float, images: dict[str, Any] | None = None) -> Measured:
    """Quality and time of a denoiser over images by name, or over the middles of all grey pictures."""
    quality, seconds = [], 0.0
    for name, image in (pictures() if images is None else images).items():
        before = noisy(name, image, sigma)
        begin = time.process_time()
        after = call(before, sigma)
        seconds += time.process_time() - begin
        quality.append(psnr(np.clip(after, 0, 255), image, data_range=255))
    return Measured(quality, seconds)


def warm_up() -> None:
    """Compile, so that nobody's first image pays for it."""
    tiny = np.random.default_rng(0).uniform(0, 255, (64, 64))
    for call in (denoise, denoisers.quick_ksvd):
        call(tiny, 20.0)
