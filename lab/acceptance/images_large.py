"""A photograph of 12 megapixels in colour."""

from __future__ import annotations

import io
import resource
from collections.abc import Iterator
from contextlib import redirect_stderr

import numpy as np
from harness import Figure, cpu_time, promise

from altmin.images import denoise


@promise
def twelve_megapixels() -> Iterator[Figure]:
    """4000 x 3000 in colour (uint8): at most 2.5 GB at the peak, and progress is shown."""
    from skimage import data

    tile = data.astronaut()
    image = np.tile(tile, (6, 8, 1))[:3000, :4000]
    noise = np.random.default_rng(0).normal(0, 20, image.shape).astype(np.float32)
    before = np.clip(np.rint(image + noise), 0, 255).astype(np.uint8)
    del noise
    shown = io.StringIO()
    with redirect_stderr(shown), cpu_time() as clock:
        after = denoise(before, 20, verbose=True)
    errors = [float(np.mean((x[:512, :512].astype(float) - tile) ** 2)) for x in (before, after)]
    yield Figure("peak memory, GB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, at_most=2.5)
    yield Figure("lines of progress", shown.getvalue().count("%"), at_least=1)
    yield Figure("dB gained", 10 * np.log10(errors[0] / errors[1]), at_least=5)
    yield Figure("CPU seconds", clock.cpu)
