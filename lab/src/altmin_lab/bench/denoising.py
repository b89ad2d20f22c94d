"""Noise taken out of photographs: root mean square error, in grey levels of 0 to 255."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.images import denoise
from altmin_lab.bench.board import Point, Problem, clocked
from altmin_lab.peers import denoisers

PROBLEM = Problem(
    "denoising",
    "Denoising: against BM3D, non-local means, K-SVD and wavelets, noise level known to all",
    "root mean square error (grey levels)",
    (),
    (20.0, 60.0),
)
Data = tuple[NDArray[Any], NDArray[Any], float]


def _photograph(name: str, sigma: float) -> None:
    def make(quick: bool) -> Data:
        import skimage.data

        image = np.asarray(getattr(skimage.data, name)(), dtype=np.float64)
        image = image[128:384, 128:384] if quick else image
        return image, image + sigma * np.random.default_rng(0).standard_normal(image.shape), sigma

    PROBLEM.dataset(f"{name}, sigma {sigma:.0f}")(make)


for _picture in ("camera", "moon"):
    for _sigma in (15.0, 25.0, 50.0):
        _photograph(_picture, _sigma)


def _method(name: str, settings: str, call: Callable[[Any, float], Any], ours: bool = False) -> None:
    def solve(data: Data, budget: float) -> Iterator[Point]:
        image, noisy, sigma = data
        call(noisy[:24, :24], sigma)  # compiled code is loaded
        seconds, result = clocked(lambda: call(noisy, sigma))
        yield seconds, float(np.sqrt(np.mean((np.clip(result, 0, 255) - image) ** 2)))

    PROBLEM.solver(name, settings, ours)(solve)


_method("altmin images.denoise", "defaults", lambda noisy, sigma: denoise(noisy, sigma, n_jobs=1), ours=True)
_method("BM3D", "of its authors, defaults", denoisers.block_matching)
_method("non-local means", "scikit-image, fast mode, h = .8 sigma", denoisers.non_local_means)
_method("K-SVD", "Elad and Aharon's settings, 20000 patches", denoisers.quick_ksvd)
_method("wavelets", "scikit-image, BayesShrink, cycle spinning", denoisers.wavelets)
