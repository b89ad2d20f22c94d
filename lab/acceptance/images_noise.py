"""What an estimated strength of the noise costs against the true one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from harness import Figure, promise

from altmin.images import denoise
from altmin.metrics import psnr
from altmin_lab.noisy_pictures import noisy, pictures


@promise
def estimated_sigma() -> Iterator[Figure]:
    """At most .15 dB lost on textured, smooth and small (32 x 32) pictures, sigma 5 to 75."""
    names = ("house", "peppers", "boat", "man", "gravel", "brick", "grass", "moon", "coins", "clock")
    for label, side in {"64 x 64": 64, "32 x 32": 32}.items():
        for sigma in (5, 10, 25, 75):
            lost = {}
            for name in names:
                image = pictures()[name][16 : 16 + side, 16 : 16 + side]
                before = noisy(name, image, sigma)
                known, blind = (
                    psnr(np.clip(denoise(before, s), 0, 255), image, data_range=255) for s in (sigma, None)
                )
                lost[name] = known - blind
            worst = max(lost, key=lambda name: lost[name])
            what = f"dB lost where sigma is estimated, {label}, sigma {sigma}"
            yield Figure(f"{what}, mean", float(np.mean(list(lost.values()))), at_most=0.15)
            yield Figure(f"{what}, worst ({worst})", lost[worst], at_most=0.15)
