"""Faces of the paper's Section 4: reconstruction from 35 atoms, half of the pixels filled in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from harness import Figure, data_folder, promise

from altmin_lab import faces as experiment
from altmin_lab.pictures import Faces, load_faces

SEED = int(os.environ.get("ALTMIN_SEED", "0"))
KSVD_SECONDS = 25.0


@cache
def problem(fold: int = 0) -> tuple[Faces, dict[str, experiment.Learnt]]:
    """Faces and the dictionaries learnt from them; compiled code is warmed up first."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("images_faces needs ALTMIN_DATA, the folder with olivetti and yale")
    faces = load_faces(Path(folder), fold=fold)
    few = Faces(faces.train[:20], faces.test[:1], "")
    warm = experiment.learn_all(few, 0.0, peers_too=False)["DCT"]
    experiment.filling_quality(few, warm.atoms, experiment.missing_pixels(few), max_iter=1)
    return faces, experiment.learn_all(faces, KSVD_SECONDS, SEED, peers_too=False)


@promise
def reconstruction() -> Iterator[Figure]:
    """L=35: at least DCT + .7 dB and K-SVD (data start, 25 s) + 1.5 dB, in .15 of its CPU."""
    faces, learnt = problem()
    quality = {name: experiment.reconstruction_quality(faces, learnt[name], 35) for name in learnt}
    ours = quality["orthogonal"]
    yield Figure("PSNR of orthogonal learning, L=35", ours)
    yield Figure("dB above DCT", ours - quality["DCT"], at_least=0.7)
    yield Figure("dB above K-SVD", ours - quality["K-SVD, 35 atoms"], at_least=1.5)
    share = learnt["orthogonal"].seconds / learnt["K-SVD, 35 atoms"].seconds
    yield Figure("share of K-SVD's CPU", share, at_most=0.15)


@promise
def filling_in() -> Iterator[Figure]:
    """Half missing: iterated threshold at least K-SVD with masked OMP + 1.2 dB, DCT so coded + .3 dB."""
    faces, learnt = problem()
    missing = experiment.missing_pixels(faces, SEED)

    def fill(name: str, **options: object) -> float:
        return experiment.filling_quality(faces, learnt[name].atoms, missing, **options)

    ours, cosines = fill("orthogonal, sparser"), fill("DCT")
    pursuits = {
        f"{name}, masked OMP, L={L}": fill(name, method="omp", n_nonzero_coefs=L)
        for name in ("K-SVD, 35 atoms", "K-SVD, 10 atoms")
        for L in (5, 10)
    }
    best = max(pursuits, key=lambda name: pursuits[name])
    yield Figure("PSNR of orthogonal learning, iterated threshold", ours)
    yield Figure(f"dB above the best K-SVD ({best})", ours - pursuits[best], at_least=1.2)
    yield Figure("dB above DCT with the same coder", ours - cosines, at_least=0.3)
    linear = {step: fill("DCT", method="mmse", step=step) for step in ("tile", 5)}
    yield Figure(
        "dB above DCT's best coder (of threshold, linear MMSE)", ours - max(cosines, *linear.values())
    )


@promise
def other_people() -> Iterator[Figure]:
    """The same lines on people on whom no setting was chosen."""
    for fold in (1, 2):
        faces, learnt = problem(fold)
        quality = {name: experiment.reconstruction_quality(faces, learnt[name], 35) for name in learnt}
        ours = quality["orthogonal"]
        yield Figure(f"fold {fold}: dB above DCT, L=35", ours - quality["DCT"], at_least=0.7)
        yield Figure(f"fold {fold}: dB above K-SVD, L=35", ours - quality["K-SVD, 35 atoms"], at_least=1.5)
        missing = experiment.missing_pixels(faces, SEED)
        filled = {
            name: experiment.filling_quality(faces, learnt[name].atoms, missing)
            for name in ("orthogonal, sparser", "DCT")
        }
        gain = filled["orthogonal, sparser"] - filled["DCT"]
        yield Figure(f"fold {fold}: filling in, dB above DCT with the same coder", gain, at_least=0.3)
