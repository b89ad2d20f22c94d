"""Denoising the middles of Set12 and of scikit-image's pictures, against K-SVD and scikit-image."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from harness import Figure, promise

from altmin.images import denoise
from altmin_lab.noisy_pictures import SIGMAS, measure, pictures, warm_up
from altmin_lab.peers import denoisers


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
