"""A photograph of 12 megapixels in colour."""

from __future__ import annotations

import io
import resource
from collections.abc import Iterator
from contextlib import redirect_stderr
from unittest import mock

import numpy as np
from harness import Figure, cpu_time, promise

from altmin.images import denoise


class Terminal(io.StringIO):
    """Keeps what is shown on a screen: progress isn't told to files."""

    def isatty(self) -> bool:
        """As a screen says."""
        return True


def photograph() -> tuple[np.ndarray, np.ndarray]:
    """A tile, and 4000 x 3000 pixels of it in colour with noise of 20."""
    from skimage import data

    tile = data.astronaut()
    image = np.tile(tile, (6, 8, 1))[:3000, :4000]
    noise = np.random.default_rng(0).normal(0, 20, image.shape).astype(np.float32)
    return tile, np.clip(np.rint(image + noise), 0, 255).astype(np.uint8)


@promise
def memory() -> Iterator[Figure]:
    """4000 x 3000 in colour (uint8), sigma estimated, no search for groups: at most 2.5 GB at the peak."""
    before = photograph()[1]
    shown = Terminal()
    # Groups of one patch: the search takes the time, and no memory.
    with mock.patch("altmin.images.groups._RADIUS", 0), redirect_stderr(shown), cpu_time() as clock:
        denoise(before, verbose=True)
    yield Figure("peak memory, GB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, at_most=2.5)
    yield Figure("lines of progress", shown.getvalue().count("%"), at_least=1)
    yield Figure("CPU seconds", clock.cpu)


@promise
def twelve_megapixels() -> Iterator[Figure]:
    """4000 x 3000 in colour (uint8): at most 2.5 GB at the peak, and progress is shown."""
    tile, before = photograph()
    shown = Terminal()
    with redirect_stderr(shown), cpu_time() as clock:
        after = denoise(before, 20, verbose=True)
    errors = [float(np.mean((x[:512, :512].astype(float) - tile) ** 2)) for x in (before, after)]
    yield Figure("peak memory, GB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, at_most=2.5)
    yield Figure("lines of progress", shown.getvalue().count("%"), at_least=1)
    yield Figure("dB gained", 10 * np.log10(errors[0] / errors[1]), at_least=5)
    yield Figure("CPU seconds", clock.cpu)
