"""Unmixing Samson and Jasper Ridge with one set of defaults, against VCA and NMF."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from harness import Figure, data_folder, promise

from altmin import AND
from altmin.datasets.scenes import Scene
from altmin.hyperspectral import abundances, unmix, vca
from altmin.metrics import abundance_rmse, match_components, spectral_angle
from altmin_lab.peers import unmixing
from altmin_lab.scenes import load_scene

SEED = int(os.environ.get("ALTMIN_SEED", "0"))
SCENES = {"samson": (3, 0.045, 0.6), "jasper_ridge": (4, 0.1, 0.4)}


def scene(name: str) -> Scene:
    """The scene, or an end with a reason."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("real_scenes needs ALTMIN_DATA, the folder with hyperspectral")
    return load_scene(Path(folder), name)


def rmse(endmembers: np.ndarray, truth: Scene) -> float:
    """Of the abundances that these spectra give, by the decode that everyone shares."""
    order, _ = match_components(endmembers, truth.endmembers, signed=True)
    return abundance_rmse(abundances(truth.cube, endmembers), truth.abundances, order)


@promise
def spectral_angles() -> Iterator[Figure]:
    """Samson at most .045 and .6 of VCA's, Jasper Ridge at most .10 and .4 of VCA's; defaults, no seed."""
    for name, (n, bound, share) in SCENES.items():
        truth = scene(name)
        pixels = truth.cube.reshape(-1, truth.cube.shape[2])
        own = float(spectral_angle(unmix(truth.cube, n).endmembers, truth.endmembers).mean())
        yield Figure(f"{name}: mean spectral angle", own, at_most=bound)
        for which in ("as published", "altmin.vca"):
            angles = []
            for seed in range(SEED, SEED + 5):
                if which == "altmin.vca":
                    found = pixels[vca(pixels, n, random_state=seed)]
                else:
                    found = unmixing.vca_endmembers(pixels, n, seed)
                angles.append(spectral_angle(found, truth.endmembers).mean())
            yield Figure(f"{name}: VCA ({which}), mean of 5 seeds", float(np.mean(angles)))
            yield Figure(f"{name}: angle / VCA's ({which})", own / np.mean(angles), at_most=share)


@promise
def subsets() -> Iterator[Figure]:
    """Spread of the mean spectral angle over five 70 % subsets of the pixels at most .02."""
    for name, (n, _, _) in SCENES.items():
        truth = scene(name)
        pixels = truth.cube.reshape(-1, truth.cube.shape[2])
        rng = np.random.default_rng(SEED)
        angles = []
        for _ in range(5):
            rows = np.sort(rng.permutation(len(pixels))[: int(0.7 * len(pixels))])
            model = AND(n, nonnegative_components=True, decoder="nnls").fit(pixels[rows])
            angles.append(spectral_angle(model.components_, truth.endmembers).mean())
        yield Figure(f"{name}: largest - smallest angle, 5 subsets", float(np.ptp(angles)), at_most=0.02)


@promise
def abundance_maps() -> Iterator[Figure]:
    """Abundance RMSE at most .6 times NMF's (the best of two starts and of 100 and 1000 iterations)."""
    for name, (n, _, _) in SCENES.items():
        truth = scene(name)
        pixels = truth.cube.reshape(-1, truth.cube.shape[2])
        own = rmse(unmix(truth.cube, n).endmembers, truth)
        peers = {
            (start, count): rmse(unmixing.nmf_endmembers(pixels, n, start=start, max_iter=count), truth)
            for start in ("nndsvda", "spa")
            for count in (30, 100, 1000)
        }
        best = min(value for (_, count), value in peers.items() if count > 30)
        yield Figure(f"{name}: RMSE", own)
        yield Figure(f"{name}: NMF's RMSE, best of nndsvda and SPA starts", best)
        yield Figure(f"{name}: RMSE / NMF's", own / best, at_most=0.6)
        # Stopped after 30 iterations it has hardly left SPA's pixels, which are nearer to the truth.
        yield Figure(f"{name}: RMSE / that of NMF stopped after 30 iterations", own / min(peers.values()))
