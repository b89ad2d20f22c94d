"""Denoising the 11 images of Set12 at three noise levels, against K-SVD and scikit-image."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from harness import Figure, cpu_time, data_folder, promise

from altmin.images import denoise
from altmin.metrics import psnr
from altmin_lab.peers import denoisers
from altmin_lab.pictures import load_set12

SIGMAS = (15, 25, 50)


def measure(call: Callable[..., np.ndarray], sigma: float) -> tuple[float, float]:
    """Mean PSNR and CPU seconds over the images; the same noise for everyone."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("images_denoise needs ALTMIN_DATA, the folder with images_set12")
    quality, seconds = [], 0.0
    for name, image in load_set12(Path(folder)).items():
        seed = [*name.encode(), int(sigma), int(os.environ.get("ALTMIN_SEED", "0"))]
        noisy = image + sigma * np.random.default_rng(seed).standard_normal(image.shape)
        with cpu_time() as clock:
            result = call(noisy, sigma)
        quality.append(psnr(np.clip(result, 0, 255), image, data_range=255))
        seconds += clock.cpu
    return float(np.mean(quality)), seconds


def warm_up() -> None:
    """Compile, so that nobody's first image pays for it."""
    tiny = np.random.default_rng(0).uniform(0, 255, (24, 24))
    for call in (denoise, denoisers.quick_ksvd):
        call(tiny, 20.0)


@promise
def quality_and_time() -> Iterator[Figure]:
    """Mean at least K-SVD's - .1 dB in half of its CPU, above wavelets and non-local means."""
    warm_up()
    ours = {sigma: measure(denoise, sigma) for sigma in SIGMAS}
    for name, call in {
        "K-SVD (toolbox)": denoisers.toolbox_ksvd,
        "K-SVD (quick)": denoisers.quick_ksvd,
    }.items():
        theirs = {sigma: measure(call, sigma) for sigma in SIGMAS}
        for sigma in SIGMAS:
            yield Figure(f"dB above {name}, sigma {sigma}", ours[sigma][0] - theirs[sigma][0], at_least=-0.1)
        spent = [sum(seconds for _, seconds in table.values()) for table in (ours, theirs)]
        yield Figure(f"CPU of that of {name}", spent[0] / spent[1], at_most=0.5)
    for name, call in {"wavelets": denoisers.wavelets, "non-local means": denoisers.non_local_means}.items():
        for sigma in SIGMAS:
            yield Figure(
                f"dB above {name}, sigma {sigma}", ours[sigma][0] - measure(call, sigma)[0], at_least=0
            )
    for sigma in SIGMAS:
        yield Figure(f"PSNR, sigma {sigma}", ours[sigma][0])
        blind = measure(lambda noisy, _: denoise(noisy), sigma)[0]
        yield Figure(f"dB lost where sigma is estimated, sigma {sigma}", ours[sigma][0] - blind, at_most=0.2)
